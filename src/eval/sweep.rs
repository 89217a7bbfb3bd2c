//! Whether answers keep to their budget at every size: what one question is answered under rising
//! budgets, checked in pairs.

use serde::{Deserialize, Serialize};

use crate::record::Tier;

/// How many faults a report lists.
const N_LISTED: usize = 20;

/// What came back under one budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// An error that says the budget is too small for any answer.
    TooSmall,
    /// "No match": nothing is good enough, whatever the budget.
    NoMatch,
    /// An answer.
    Answer {
        /// What it says it costs.
        claimed_tokens: u32,
        /// What the rendered text costs.
        tokens: u32,
        /// How deep its first record is shown; none when no record is.
        first: Option<Tier>,
    },
}

/// What a sweep over budgets found. All but `n_answers`, `n_no_match` and `n_too_small` have to be
/// zero.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sweep {
    /// The budgets, rising.
    pub budgets_tokens: Vec<u32>,
    /// What was found in each format.
    pub formats: Vec<Faults>,
    /// The first faults, one a line.
    pub faults: Vec<String>,
}

/// What was found in one format.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Faults {
    /// The format.
    pub format: String,
    /// How many answers were rendered and counted.
    pub n_answers: u64,
    /// How many were "no match".
    pub n_no_match: u64,
    /// How many were refused because the budget is too small for any answer: no fault, since a larger
    /// one has an answer.
    pub n_too_small: u64,
    /// Answers that cost more than their budget.
    pub n_over_budget: u64,
    /// Answers that cost more than they say.
    pub n_understated: u64,
    /// Answers that say they cost less than the one under the next smaller budget.
    pub n_cheaper: u64,
    /// Answers whose first record is less deep than under the next smaller budget, or that there are
    /// none of any more.
    pub n_shallower: u64,
    /// Answers that show no record though there is one.
    pub n_empty: u64,
}

impl Sweep {
    /// A sweep over these budgets, each once, from the smallest up.
    pub fn over(budgets_tokens: &[u32]) -> Self {
        let mut budgets_tokens = budgets_tokens.to_vec();
        budgets_tokens.sort_unstable();
        budgets_tokens.dedup();
        Self { budgets_tokens, ..Self::default() }
    }

    /// Takes what one question was answered in a format, under each budget in order.
    pub fn add(&mut self, format: &str, question: &str, seen: &[Seen]) {
        let at = self.formats.iter().position(|faults| faults.format == format);
        let at = at.unwrap_or_else(|| {
            self.formats.push(Faults { format: format.to_owned(), ..Faults::default() });
            self.formats.len() - 1
        });
        let Some(faults) = self.formats.get_mut(at) else { return };
        let mut list = |budget: u32, what: &str| {
            if self.faults.len() < N_LISTED {
                self.faults.push(format!("{question}, {format}, budget {budget}: {what}"));
            }
        };
        let mut before: Option<(u32, Option<Tier>)> = None;
        for (&budget, &seen) in self.budgets_tokens.iter().zip(seen) {
            let (claimed, tokens, first) = match seen {
                Seen::TooSmall => {
                    faults.n_too_small += 1;
                    if before.is_some() {
                        faults.n_shallower += 1;
                        list(budget, "no answer, though a smaller budget has one");
                    }
                    continue;
                }
                Seen::NoMatch => {
                    faults.n_no_match += 1;
                    continue;
                }
                Seen::Answer { claimed_tokens, tokens, first } => (claimed_tokens, tokens, first),
            };
            faults.n_answers += 1;
            if tokens > budget || claimed > budget {
                faults.n_over_budget += 1;
                list(budget, &format!("costs {tokens} tokens and says {claimed}"));
            }
            if tokens > claimed {
                faults.n_understated += 1;
                list(budget, &format!("costs {tokens} tokens and says {claimed}"));
            }
            if first.is_none() {
                faults.n_empty += 1;
                list(budget, "shows no record");
            }
            if let Some((claimed_before, first_before)) = before {
                if claimed < claimed_before {
                    faults.n_cheaper += 1;
                    list(budget, &format!("says {claimed} tokens, before {claimed_before}"));
                }
                if first < first_before {
                    faults.n_shallower += 1;
                    list(budget, "shows less of the first record than a smaller budget");
                }
            }
            before = Some((claimed, first));
        }
    }

    /// How many faults there are in all formats.
    pub fn n_faults(&self) -> u64 {
        self.formats
            .iter()
            .map(|f| f.n_over_budget + f.n_understated + f.n_cheaper + f.n_shallower + f.n_empty)
            .sum()
    }
}
