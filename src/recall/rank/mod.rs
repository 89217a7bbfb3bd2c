//! The final order of the candidates: a fixed weighted sum of features, then the id.
//!
//! The features are in `feature`, what a question weighs in `model`, and the weights in [`WEIGHTS`].

mod feature;
mod model;

use crate::recall::candidate::Found;
use crate::recall::lexicon::Role;
use crate::recall::query::QueryWord;
use crate::recall::{Explanation, Feature, Handles, Query, Ranked, RecallError, Why};
use crate::record::Origin;
use crate::text::Form;

pub(crate) use feature::{N_FEATURES, NAMES};

/// What each feature counts for, in the order of [`NAMES`].
///
/// Fitted by `eval/fit/fit.py` (see `eval/fit/README.md`) on public question sets, with the sign of
/// each feature that measures a match held at or above zero.
pub(crate) const WEIGHTS: [f64; N_FEATURES] = [
    0.052, 1.223, 1.568, 1.852, 0.075, 0.984, -0.698, 11.532, 1.420, 3.309, 0.460, 1.011, 0.742,
    3.698, 4.655, 0.0, 0.0, 1.676, 2.613, 2.071, 1.893, -10.250, 0.812, 1.807,
];

/// Orders the candidates: score descending, then id ascending.
pub(super) fn rank(
    handles: Handles<'_>,
    query: &Query,
    found: &mut Found,
) -> Result<Vec<Ranked>, RecallError> {
    let model = model::Model::new(handles.snapshot, query, found)?;
    let mut scratch = feature::Scratch::new(&model);
    let mut ranked = Vec::with_capacity(found.candidates.len());
    for (key, triggers) in std::mem::take(&mut found.candidates) {
        let (Some(head), Some(mut forward)) =
            (handles.snapshot.head(key)?, handles.snapshot.forward(key)?)
        else {
            continue;
        };
        query.limit(&mut forward);
        let values = feature::features(&model, &forward, &triggers, &mut scratch);
        let terms = scratch.terms(&model);
        let features: Vec<Feature> = NAMES
            .into_iter()
            .zip(values)
            .zip(WEIGHTS)
            .map(|((name, value), weight)| Feature { name, value, weight })
            .collect();
        let score = features.iter().map(|feature| feature.value * feature.weight).sum();
        let why = if triggers.is_empty() { Why::Words } else { Why::Trigger };
        let explanation = Explanation { triggers, terms, features, score };
        ranked.push(Ranked { key, head, why, explanation });
    }
    ranked.sort_by(|a, b| {
        b.explanation.score.total_cmp(&a.explanation.score).then_with(|| a.head.id.cmp(&b.head.id))
    });
    Ok(ranked)
}

/// How much of a question a record with authored triggers must cover to be an answer: the share of
/// the question's weight that stands anywhere in the record, plus the share that stands in its triggers, title,
/// breadcrumb or description; at most 2. Somebody wrote down what such a record is for, so a question
/// that neither its words nor its triggers cover is about something else.
const AUTHORED_FLOOR: f64 = 0.55;
/// How much of a question a record with derived triggers must have in similar words or synonyms to be an
/// answer, as a share of its weight: a question in other words may still be about it, so only next to nothing
/// in common is refused.
const DERIVED_FLOOR: f64 = 0.10;

/// Whether the best candidate is an answer at all.
///
/// Each floor is the highest, in steps of 0.05, that refuses no standard tuning question of the field
/// guide, the one for derived triggers lowered until short records elsewhere are answered, too;
/// `eval/README.md` has what they refuse.
pub(super) fn is_answer(best: &Ranked) -> bool {
    let features = &best.explanation.features;
    let value = |name: &str| features.iter().find(|f| f.name == name).map_or(0.0, |f| f.value);
    if best.head.triggers.iter().any(|trigger| trigger.origin != Origin::Derived) {
        value("coverage") + value("coverage-tiers") >= AUTHORED_FLOOR
    } else {
        value("like") + value("synonyms") >= DERIVED_FLOOR
    }
}

/// What a word of a question counts for beside the others, before its rarity: less for words that only
/// wrap the question, for single characters of a script without spaces, and for repeats.
pub(super) fn query_weight(word: &QueryWord, only_filler: bool) -> f64 {
    let role = if only_filler { 1.0 } else { Role::of(&word.text).weight() };
    let form = match word.form {
        Form::Char => 0.3,
        Form::Whole => 0.7,
        Form::Plain | Form::Pair => 1.0,
    };
    role * form * f64::from(word.n).sqrt()
}
