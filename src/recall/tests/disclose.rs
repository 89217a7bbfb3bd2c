//! Claims about disclosure, over arbitrary prices:
//! 1. an answer is never over its budget, and costs what it says;
//! 2. a larger budget never costs less, and never shows less of the first record;
//! 3. a record that is shown is shown by the deepest tier that fitted when its turn came;
//! 4. names come after all tiers, best first;
//! 5. without an answer, the smallest budget that has one is told exactly.

use proptest::prelude::*;

use crate::recall::{Budget, Depth, Price, Wish, disclose, smallest};
use crate::record::Tier;

fn price() -> impl Strategy<Value = Price> {
    (0_u32..40, 0_u32..60, [1_u32..50, 1_u32..200, 1_u32..900])
        .prop_map(|(name, frame, tiers)| Price { name, frame, tiers })
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        Just(Wish::FirstDeep),
        Just(Wish::Every(Tier::Description)),
        Just(Wish::Every(Tier::Summary)),
        Just(Wish::Every(Tier::Detail)),
    ]
}

/// What a depth costs; of a cut description, at most this.
fn cost(price: &Price, depth: Depth) -> u32 {
    let [description, summary, detail] = price.tiers;
    match depth {
        Depth::Nothing => 0,
        Depth::Name => price.name,
        Depth::Cut { bytes } => price.frame + 8 + bytes,
        Depth::Whole(Tier::Detail) => price.frame + detail,
        Depth::Whole(Tier::Summary) => price.frame + summary,
        Depth::Whole(_) => price.frame + description,
    }
}

/// Whether a wish allows a tier of the first record, or of another one.
fn allows(wish: Wish, is_first: bool, price: &Price, tier: Tier) -> bool {
    let depth = Depth::Whole(tier);
    match wish {
        Wish::Every(deepest) => tier <= deepest,
        Wish::FirstDeep if is_first => true,
        Wish::FirstDeep => cost(price, depth) <= cost(price, Depth::Whole(Tier::Description)),
    }
}

const SHOWN: [Tier; 3] = [Tier::Description, Tier::Summary, Tier::Detail];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_over_budget_and_the_sum_is_that_of_the_parts(
        prices in proptest::collection::vec(price(), 1..12), wish in wish(), base in 0_u32..40, budget in 0_u32..3_000,
    ) {
        let Some(found) = disclose(&prices, wish, base, Budget::tokens(budget)) else { return Ok(()) };
        prop_assert!(found.tokens <= budget);
        prop_assert_eq!(found.depths.len(), prices.len());
        let sum: u32 = prices.iter().zip(&found.depths).map(|(price, &depth)| cost(price, depth)).sum();
        prop_assert_eq!(found.tokens, base + sum);
        prop_assert!(found.depths[0] > Depth::Name, "the first record has a text");
    }

    #[test]
    fn a_larger_budget_costs_no_less_and_shows_no_less_of_the_first(
        prices in proptest::collection::vec(price(), 1..12), wish in wish(), base in 0_u32..40,
        budget in 0_u32..3_000, more in 1_u32..200,
    ) {
        let small = disclose(&prices, wish, base, Budget::tokens(budget));
        let large = disclose(&prices, wish, base, Budget::tokens(budget + more));
        if let Some(small) = small {
            let large = large.expect("what has an answer has one under a larger budget");
            prop_assert!(small.tokens <= large.tokens, "{:?} {:?}", small, large);
            prop_assert!(small.depths[0] <= large.depths[0], "{:?} {:?}", small, large);
        }
    }

    #[test]
    fn every_record_is_as_deep_as_fitted_and_names_come_last(
        prices in proptest::collection::vec(price(), 1..12), wish in wish(), base in 0_u32..40, budget in 60_u32..3_000,
    ) {
        let Some(found) = disclose(&prices, wish, base, Budget::tokens(budget)) else { return Ok(()) };
        let mut room = budget - base;
        for (idx, (price, &depth)) in prices.iter().zip(&found.depths).enumerate() {
            let fits = |tier: &Tier| {
                allows(wish, idx == 0, price, *tier) && cost(price, Depth::Whole(*tier)) <= room
            };
            let deepest = SHOWN.into_iter().rfind(fits);
            match (depth, deepest) {
                (Depth::Whole(tier), Some(deepest)) => prop_assert_eq!(tier, deepest),
                (Depth::Cut { .. }, None) => prop_assert_eq!(idx, 0),
                (Depth::Name | Depth::Nothing, None) => prop_assert!(idx > 0),
                other => prop_assert!(false, "{}: {:?}", idx, other),
            }
            if depth > Depth::Name {
                room -= cost(price, depth);
            }
        }
        // What is left goes to names, from the best record on.
        for (price, &depth) in prices.iter().zip(&found.depths) {
            match depth {
                Depth::Name => {
                    prop_assert!(price.name <= room);
                    room -= price.name;
                }
                Depth::Nothing => prop_assert!(price.name > room),
                _ => {}
            }
        }
    }

    #[test]
    fn the_smallest_budget_is_told_exactly(price in price(), wish in wish(), base in 0_u32..40) {
        let least = smallest(&price, wish, base);
        prop_assert!(disclose(&[price], wish, base, least).is_some());
        let less = Budget::tokens(least.as_tokens() - 1);
        prop_assert_eq!(disclose(&[price], wish, base, less), None);
    }
}

#[test]
fn no_record_and_no_room_have_no_disclosure() {
    let price = Price { name: 5, frame: 10, tiers: [20, 50, 100] };
    for (prices, base, budget) in [(&[][..], 0, 1_000), (&[price], 50, 40), (&[price], 50, 60)] {
        assert_eq!(disclose(prices, Wish::FirstDeep, base, Budget::tokens(budget)), None);
    }
}

#[test]
fn huge_prices_do_not_overflow() {
    let huge = Price { name: u32::MAX, frame: u32::MAX - 1, tiers: [u32::MAX; 3] };
    assert_eq!(disclose(&[huge, huge], Wish::FirstDeep, 20, Budget::UNLIMITED), None);
    assert_eq!(smallest(&huge, Wish::FirstDeep, u32::MAX), Budget::UNLIMITED);
    let tiny = Price { name: 1, frame: 1, tiers: [1; 3] };
    let found = disclose(&[tiny, huge], Wish::FirstDeep, 0, Budget::UNLIMITED).unwrap();
    assert_eq!(found.depths, [Depth::Whole(Tier::Detail), Depth::Nothing]);
}
