//! The final order of the candidates: a fixed weighted sum of features, then the id.
//!
//! The features are in `feature`, what a question weighs in `model`, and the weights in [`WEIGHTS`].

mod feature;
mod model;

use crate::recall::candidate::Found;
use crate::recall::lexicon::Role;
use crate::recall::query::QueryWord;
use crate::recall::rank::feature::Stand;
use crate::recall::{
    Explanation, Feature, Handles, ParaphraseMatch, Query, RecallError, TermMatch, TriggerMatch,
    Why,
};
use crate::record::Origin;
use crate::store::{Head, RecordKey, StoreError};
use crate::text::{Form, Language};

pub(crate) use feature::{N_FEATURES, NAMES};

/// What each feature counts for, in the order of [`NAMES`].
///
/// Fitted by `eval/fit/fit.py` (see `eval/fit/README.md`) on public question sets, with the sign of
/// each feature that measures a match held at or above zero.
pub(crate) const WEIGHTS: [f64; N_FEATURES] = [
    1.256, 2.984, 1.017, 1.026, -0.940, 10.496, 1.487, 3.539, 0.621, 4.344, 5.618, 0.0, 0.0, 1.091,
    2.436, 2.174, 1.754, -9.966, 3.338, 2.139, 0.790, 1.076, -6.488, 1.480, 1.241,
];

/// A candidate among the best.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    pub(crate) head: Head,
    pub(crate) measured: Measured,
}

/// A candidate with its final score.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) key: RecordKey,
    pub(crate) score: f64,
    /// How many words its detail has.
    n_words: usize,
    /// The trigger phrases of the record that stand in the question.
    pub(crate) triggers: Vec<TriggerMatch>,
    /// In the order of [`NAMES`].
    values: [f64; N_FEATURES],
    /// The words of the question that it has, as places among the terms of [`Reasons`].
    matched: Vec<(usize, [u32; 6])>,
    /// The words of paraphrases that it has, as places among those of [`Reasons`].
    said: Vec<usize>,
}

/// What the candidates of a question share when their scores are explained.
#[derive(Debug, Clone)]
pub(crate) struct Reasons {
    /// The terms, without counts.
    terms: Vec<TermMatch>,
    /// What was asked, in words of the question, and the places of what may be said instead.
    paraphrases: Vec<(String, Vec<usize>)>,
    said: Vec<&'static str>,
}

impl Measured {
    /// What selected it.
    pub(crate) fn why(&self) -> Why {
        if self.triggers.is_empty() { Why::Words } else { Why::Trigger }
    }

    /// The summands of its score.
    pub(crate) fn features(&self) -> impl Iterator<Item = Feature> {
        let summands = NAMES.into_iter().zip(self.values).zip(WEIGHTS);
        summands.map(|((name, value), weight)| Feature { name, value, weight })
    }

    /// How it came to its score.
    pub(crate) fn explanation(&self, reasons: &Reasons) -> Explanation {
        let terms = self.matched.iter().filter_map(|&(term, counts)| {
            Some(TermMatch { counts, ..reasons.terms.get(term)?.clone() })
        });
        let paraphrases = reasons.paraphrases.iter().filter_map(|(asked, said)| {
            let said: Vec<String> = said
                .iter()
                .filter(|place| self.said.contains(place))
                .filter_map(|&place| reasons.said.get(place).map(|&word| word.to_owned()))
                .collect();
            (!said.is_empty()).then(|| ParaphraseMatch { asked: asked.clone(), said })
        });
        Explanation {
            triggers: self.triggers.clone(),
            terms: terms.collect(),
            paraphrases: paraphrases.collect(),
            features: self.features().collect(),
            score: self.score,
        }
    }
}

/// Returns the best `n_hits` candidates, one at least: score descending, then id ascending.
pub(super) fn rank(
    handles: Handles<'_>,
    query: &Query,
    found: &mut Found,
    n_hits: usize,
) -> Result<(Vec<Ranked>, Reasons), RecallError> {
    let model = model::Model::new(handles, query, found)?;
    let mut scratch = feature::Scratch::new(&model);
    let mut measured = Vec::with_capacity(found.candidates.len());
    for (key, triggers) in std::mem::take(&mut found.candidates) {
        let leads = handles.snapshot.leads(key)?.ok_or_else(|| torn("heads", key))?;
        let mut forward = handles.snapshot.forward(key)?.ok_or_else(|| torn("forwards", key))?;
        let n_words = forward.detail.len();
        query.limit(&mut forward);
        let stand = if leads { Stand::Lead } else { Stand::Body };
        let values = feature::features(&model, &forward, stand, &triggers, &mut scratch);
        let score = values.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum();
        let (matched, said) = (scratch.matched(), scratch.said());
        measured.push(Measured { key, score, n_words, triggers, values, matched, said });
    }
    measured.sort_by(|a, b| b.score.total_cmp(&a.score));
    let last = measured.get(n_hits.saturating_sub(1)).map_or(f64::NEG_INFINITY, |last| last.score);
    // Heads cost more to read than all the rest of a candidate, so only those are read that can decide.
    let n_read = measured.partition_point(|one| one.score.total_cmp(&last).is_ge());
    measured.truncate(n_read);
    let mut ranked = Vec::with_capacity(n_read);
    for measured in measured {
        let head = handles.snapshot.head(measured.key)?;
        let head = head.ok_or_else(|| torn("heads", measured.key))?;
        ranked.push(Ranked { head, measured });
    }
    ranked.sort_by(|a, b| {
        b.measured.score.total_cmp(&a.measured.score).then_with(|| a.head.id.cmp(&b.head.id))
    });
    ranked.truncate(n_hits.max(1));
    Ok((ranked, model.reasons()))
}

/// A store without a row of a record that its indexes know.
fn torn(table: &'static str, key: RecordKey) -> StoreError {
    StoreError::corrupt(table, &key.0, "the row is missing")
}

/// The scores under which an English text of some length is no answer, by whether somebody wrote its triggers:
/// somebody who did wrote down what it is for, so a question that misses it is about something else. Each is one less
/// than the highest whole number that refuses no standard tuning question of the field guide; the one is
/// left to questions in other words. `eval/README.md` has what they refuse.
const AUTHORED_FLOOR: f64 = 8.0;
const DERIVED_FLOOR: f64 = 7.0;
/// From how many words of detail on these floors hold: a short text scores little whatever it is about.
const MIN_WORDS: usize = 40;
/// How much of a question another text must have in like words, synonyms or paraphrases, as a share of its
/// weight: next to nothing in common is refused.
const SHORT_FLOOR: f64 = 0.10;

/// Whether the best candidate is an answer at all.
pub(super) fn is_answer(best: &Ranked) -> bool {
    let Ranked { head, measured } = best;
    let value = |name: &str| measured.features().find(|f| f.name == name).map_or(0.0, |f| f.value);
    // In other languages there are no synonyms and paraphrases to score by.
    if measured.n_words < MIN_WORDS || head.language != Language::English {
        value("like") + value("synonyms") + value("paraphrase") >= SHORT_FLOOR
    } else if head.triggers.iter().any(|trigger| trigger.origin != Origin::Derived) {
        measured.score >= AUTHORED_FLOOR
    } else {
        measured.score >= DERIVED_FLOOR
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
