//! Which tier of which record goes into an answer: the budget, and nothing but the budget, decides.
//!
//! Disclosure is a list of steps in a fixed order, each of which adds something to the answer at a
//! known cost; a step that does not fit is left out and the next one is tried. So an answer
//! is never over budget, and never costs less under a larger budget: at the first step on
//! which two budgets differ, the smaller one could not pay what the larger one did.

use crate::recall::Budget;
use crate::record::Tier;

/// What one record would cost in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Its id alone.
    pub name: u32,
    /// Everything around its text that is the same at every tier.
    pub frame: u32,
    /// The text of its description, summary and detail, with what names the tier.
    pub tiers: [u32; 3],
}

/// How deep the disclosure of one record goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Not at all.
    Nothing,
    /// Its id.
    Name,
    /// The first bytes of its description: the last resort for the first record.
    Cut {
        /// At most this many bytes.
        bytes: u32,
    },
    /// A whole tier.
    Whole(Tier),
}

/// How deep a caller wants to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// The first record as deep as it fits, the others by their descriptions.
    FirstDeep,
    /// Every record down to this tier, best first.
    Every(Tier),
}

/// Which tiers of one record may be disclosed.
#[derive(Debug, Clone, Copy)]
enum Allowed {
    /// No tier deeper than this.
    AtMost(Tier),
    /// The description, and any tier that costs no more.
    AsCheapAsDescription,
}

impl Wish {
    fn of_first(self) -> Allowed {
        match self {
            Self::FirstDeep => Allowed::AtMost(Tier::Detail),
            Self::Every(tier) => Allowed::AtMost(tier),
        }
    }

    fn of_others(self) -> Allowed {
        match self {
            Self::FirstDeep => Allowed::AsCheapAsDescription,
            Self::Every(tier) => Allowed::AtMost(tier),
        }
    }
}

/// The disclosure of a list of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disclosure {
    /// One depth a record, in the order of the prices.
    pub depths: Vec<Depth>,
    /// What the answer costs.
    pub tokens: u32,
}

/// Returns how deep to disclose records with these prices, best first.
///
/// `base` is what an answer costs without any record. `None` if not even the start of the
/// first description fits; [`smallest`] tells what would.
pub fn disclose(prices: &[Price], wish: Wish, base: u32, budget: Budget) -> Option<Disclosure> {
    let mut room = budget.as_tokens().checked_sub(base)?;
    let mut depths = vec![Depth::Nothing; prices.len()];
    let (first, others) = prices.split_first()?;

    let (depth, cost) = match deepest_that_fits(first, wish.of_first(), room) {
        Some(found) => found,
        None => {
            let bytes = room
                .checked_sub(first.frame)?
                .checked_sub(CUT_MARK_TOKENS)
                .filter(|&bytes| bytes > 0)?;
            (Depth::Cut { bytes }, room)
        }
    };
    if let Some(slot) = depths.first_mut() {
        *slot = depth;
    }
    room -= cost;

    for (price, slot) in others.iter().zip(depths.iter_mut().skip(1)) {
        if let Some((depth, cost)) = deepest_that_fits(price, wish.of_others(), room) {
            *slot = depth;
            room -= cost;
        }
    }
    // Names come last: a record must not lose its description to the name of a worse one.
    for (price, slot) in prices.iter().zip(depths.iter_mut()) {
        if *slot == Depth::Nothing && price.name <= room {
            *slot = Depth::Name;
            room -= price.name;
        }
    }
    Some(Disclosure { depths, tokens: budget.as_tokens() - room })
}

/// What the mark of a cut description costs at most, in tokens.
const CUT_MARK_TOKENS: u32 = 8;

/// Returns the smallest budget under which [`disclose`] finds an answer.
pub fn smallest(first: &Price, wish: Wish, base: u32) -> Budget {
    let cheapest = allowed_tiers(first, wish.of_first()).map(|(_, cost)| cost).min();
    let cheapest = cheapest.unwrap_or(u32::MAX);
    let text = cheapest.min(CUT_MARK_TOKENS + 1);
    Budget::tokens(base.saturating_add(first.frame).saturating_add(text))
}

fn deepest_that_fits(price: &Price, allowed: Allowed, room: u32) -> Option<(Depth, u32)> {
    allowed_tiers(price, allowed)
        .map(|(tier, cost)| (tier, cost.saturating_add(price.frame)))
        .find(|&(_, cost)| cost <= room)
        .map(|(tier, cost)| (Depth::Whole(tier), cost))
}

/// The tiers that may be disclosed, deepest first, with what their texts cost.
fn allowed_tiers(price: &Price, allowed: Allowed) -> impl Iterator<Item = (Tier, u32)> {
    let [description, _, _] = price.tiers;
    [Tier::Description, Tier::Summary, Tier::Detail].into_iter().zip(price.tiers).rev().filter(
        move |&(tier, cost)| match allowed {
            Allowed::AtMost(deepest) => tier <= deepest,
            Allowed::AsCheapAsDescription => cost <= description,
        },
    )
}
