//! Asking every question, and judging each answer by itself.

use std::collections::BTreeMap;
use std::time::Duration;

use super::metric::{Measure, Ranking, Ties, rank};
use super::trec::Run;
use super::{Answer, EvalError, Judged, Question, Retriever, Scored};
use crate::clock::Clock;

/// An answer with the question it belongs to and the time it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The id of the question.
    pub question: String,
    /// The answer.
    pub answer: Answer,
    /// The time from question to answer by the clock handed in.
    pub elapsed: Duration,
}

/// Asks one question and checks that the answer can be judged.
///
/// # Errors
/// [`EvalError::Unanswered`] when the retriever fails, [`EvalError::RepeatedHit`] and
/// [`EvalError::Unordered`] when its hits are not a ranking.
pub fn ask(
    retriever: &mut dyn Retriever,
    question: &Question,
    clock: &dyn Clock,
) -> Result<Outcome, EvalError> {
    let start = clock.now();
    let answer = retriever
        .retrieve(question)
        .map_err(|source| EvalError::Unanswered { question: question.id.clone(), source })?;
    let elapsed = clock.now().saturating_sub(start);
    check(question, &answer.hits)?;
    Ok(Outcome { question: question.id.clone(), answer, elapsed })
}

/// Asks every question, in order. Calls `on_answer` after each, for a progress bar.
///
/// A question without a word in it is not asked; it has no outcome, and counts as zero.
///
/// # Errors
/// The first error of [`ask`].
pub fn run(
    retriever: &mut dyn Retriever,
    judged: &[Judged],
    clock: &dyn Clock,
    on_answer: &mut dyn FnMut(),
) -> Result<Vec<Outcome>, EvalError> {
    let mut outcomes = Vec::with_capacity(judged.len());
    for question in judged.iter().map(|judged| &judged.question) {
        if !question.text.trim().is_empty() {
            outcomes.push(ask(retriever, question, clock)?);
        }
        on_answer();
    }
    Ok(outcomes)
}

/// Asks the retriever why the answers that miss do so, where they do not say it themselves.
///
/// # Errors
/// [`EvalError::Unanswered`] when the retriever fails.
pub fn explain_misses(
    retriever: &dyn Retriever,
    judged: &[Judged],
    outcomes: &mut [Outcome],
) -> Result<(), EvalError> {
    let by_id: BTreeMap<&str, &Judged> =
        judged.iter().map(|judged| (judged.question.id.as_str(), judged)).collect();
    for outcome in outcomes {
        let Some(judged) = by_id.get(outcome.question.as_str()) else { continue };
        let verdict = judge(judged, Some(outcome));
        if verdict.is_right(judged) || outcome.answer.explanation.is_some() {
            continue;
        }
        let hits = &outcome.answer.hits;
        let is_gold = |hit: &&Scored| judged.gold.contains_key(&hit.id);
        let right = hits.iter().find(is_gold).map(|hit| hit.id.as_str());
        let right = right.or_else(|| judged.gold.keys().next().map(String::as_str));
        let mut ids: Vec<&str> = hits.first().map(|hit| hit.id.as_str()).into_iter().collect();
        ids.extend(right.filter(|id| !ids.contains(id)));
        let why = retriever.explain(&judged.question, &ids);
        outcome.answer.explanation = why.map_err(|source| EvalError::Unanswered {
            question: outcome.question.clone(),
            source,
        })?;
    }
    Ok(())
}

fn check(question: &Question, hits: &[Scored]) -> Result<(), EvalError> {
    let mut seen = std::collections::BTreeSet::new();
    let mut above = f64::INFINITY;
    for hit in hits {
        let question = || question.id.clone();
        if !hit.score.is_finite() || hit.score > above {
            return Err(EvalError::Unordered { question: question(), id: hit.id.clone() });
        }
        if !seen.insert(hit.id.as_str()) {
            return Err(EvalError::RepeatedHit { question: question(), id: hit.id.clone() });
        }
        above = hit.score;
    }
    Ok(())
}

/// How good one answer is.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The id of the question.
    pub question: String,
    /// The rank of the first relevant record, ties against it; none when it was not found, or when
    /// the right answer is "no match".
    pub rank: Option<u32>,
    /// The same in the whole ranking, even when the answer was "no match".
    pub ranked: Option<u32>,
    /// The values of [`Measure::REPORTED`], in that order; all zero for a negative question.
    pub values: Vec<f64>,
    /// Whether the answer was "no match", or had no hits.
    pub no_match: bool,
    /// Whether the two best hits have the same score.
    pub tied: bool,
    /// Whether there is an answer at all. A missing one is judged as one without hits.
    pub answered: bool,
}

impl Verdict {
    /// Whether the answer is right: a relevant record first, or "no match" where nothing is relevant.
    pub fn is_right(&self, judged: &Judged) -> bool {
        if judged.is_negative() { self.no_match } else { self.rank == Some(1) }
    }
}

/// Judges an answer, with ties against it ([`Ties::Against`]).
pub fn judge(judged: &Judged, outcome: Option<&Outcome>) -> Verdict {
    let hits = outcome.map(|outcome| outcome.answer.seen()).unwrap_or_default();
    let ranking = Ranking::of(hits, &judged.gold, Ties::Against);
    let all = outcome.map(|outcome| outcome.answer.hits.as_slice()).unwrap_or_default();
    let tied = match hits {
        [first, second, ..] => first.score.total_cmp(&second.score).is_eq(),
        _ => false,
    };
    Verdict {
        question: judged.question.id.clone(),
        rank: ranking.first_relevant(),
        ranked: Ranking::of(all, &judged.gold, Ties::Against).first_relevant(),
        values: Measure::REPORTED.iter().map(|measure| measure.value(&ranking)).collect(),
        no_match: outcome.is_some() && hits.is_empty(),
        tied,
        answered: outcome.is_some(),
    }
}

/// Returns the outcomes as a run file holds them, each ranking in the order in which it was judged.
///
/// So another tool finds in the file the numbers of the report: equal scores are written with the
/// tie broken as the report breaks it, and an answer of "no match" has no line.
pub fn to_run(tag: &str, judged: &[Judged], outcomes: &[Outcome]) -> Run {
    let mut run = Run { tag: tag.to_owned(), ..Run::default() };
    let by_id: BTreeMap<&str, &Outcome> =
        outcomes.iter().map(|outcome| (outcome.question.as_str(), outcome)).collect();
    for judged in judged {
        let Some(outcome) = by_id.get(judged.question.id.as_str()) else { continue };
        let ranked = rank(outcome.answer.seen(), &judged.gold, Ties::Against);
        if !ranked.is_empty() {
            run.hits.insert(judged.question.id.clone(), ranked.into_iter().cloned().collect());
        }
    }
    run
}
