//! How good answers are: judges anything that is a [`Retriever`] against questions with known answers.
//!
//! What is not here: no engine and no index, so that a baseline is judged by the same code as psos;
//! no reading of files outside `load`; no terminal. Ids are plain text, since the ids of a foreign
//! set are not record ids.

pub mod baseline;
pub mod beir;
pub mod compare;
pub mod leak;
pub mod load;
pub mod metric;
pub mod report;
pub mod suite;
pub mod trec;

mod bm25;
mod contender;
mod cost;
mod curve;
mod error;
mod evidence;
mod html;
mod problem;
mod random;
mod render;
mod run;
mod svg;
mod sweep;

pub use bm25::{Bm25, Shows, Text};
pub use contender::Contender;
pub use cost::{Costs, Spread};
pub use curve::{Curve, Point, curve};
pub use error::{EvalError, RetrieveError};
pub use evidence::{Evidence, ScopeEvidence};
pub use problem::{Parsed, Problem, ProblemKind, tally};
pub use render::ListLimits;
pub use report::{Answered, Report};
pub use run::{Outcome, Verdict, ask, explain_misses, judge, run, to_run};
pub use suite::{Form, Questions, Role, Split, Suite, TokenBaseline};
pub use sweep::{Faults, Seen, Sweep};

use std::collections::BTreeMap;

use crate::record::Tier;

/// What is judged: something that answers questions with ranked ids.
///
/// psos is one implementation; a plain BM25, a constant list or a recorded run are others. A
/// retriever is handed [`Question`]s only: what the right answer is, it cannot see.
pub trait Retriever {
    /// The name under which its numbers are reported, such as `psos` or `bm25`.
    fn name(&self) -> &str;

    /// The digest of the index that it answers from, when it has one.
    fn digest(&self) -> Option<String> {
        None
    }

    /// Answers one question.
    ///
    /// # Errors
    /// [`RetrieveError`] when it cannot answer at all. Finding nothing is an answer
    /// ([`Answer::no_match`]), not an error.
    fn retrieve(&mut self, question: &Question) -> Result<Answer, RetrieveError>;

    /// Answers one question once for each budget, in that order.
    ///
    /// # Errors
    /// Those of [`Retriever::retrieve`].
    fn retrieve_under(
        &mut self,
        question: &Question,
        budgets_tokens: &[u32],
    ) -> Result<Vec<Answer>, RetrieveError> {
        let under = |&budget_tokens| Question { budget_tokens, ..question.clone() };
        budgets_tokens.iter().map(|budget| self.retrieve(&under(budget))).collect()
    }

    /// Says in words how these records came to their ranks, for a miss; none when it cannot.
    ///
    /// Called after the answer, with its first hit and a right record, so it must not change what
    /// later answers are.
    ///
    /// # Errors
    /// Those of [`Retriever::retrieve`].
    fn explain(
        &self,
        _question: &Question,
        _ids: &[&str],
    ) -> Result<Option<String>, RetrieveError> {
        Ok(None)
    }
}

/// A question as it is put to a [`Retriever`]: without its right answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The name of the question in its set.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// The partition that the answer must lie in, when the question has one. A filter, to be
    /// applied inside the search and not to its cut.
    pub scope: Option<String>,
    /// What the rendered answer may cost, in tokens of [`crate::text::count`].
    pub budget_tokens: u32,
}

/// A question with what is known about its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The question.
    pub question: Question,
    /// The ids that answer it, with grades of 1 and up. Empty for a question that nothing in the
    /// corpus answers: the right answer to it is "no match".
    pub gold: BTreeMap<String, u32>,
    /// The difficulty that its author gave it, such as `standard`, `hard` or `negative`; questions
    /// of different levels are reported apart.
    pub level: String,
}

impl Judged {
    /// Whether the right answer is "no match".
    pub fn is_negative(&self) -> bool {
        self.gold.is_empty()
    }
}

/// What a [`Retriever`] answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// What was found, best first: no id twice, scores finite and never rising.
    pub hits: Vec<Scored>,
    /// Whether the user was told that nothing matches, or got no answer for its size. Measures count
    /// no hit of such an answer, since nobody saw them; [`Verdict::ranked`] does.
    pub no_match: bool,
    /// What the whole rendered answer cost, in tokens of [`crate::text::count`].
    pub tokens: u32,
    /// What of which record the rendered answer showed.
    pub disclosed: Vec<Disclosed>,
    /// Why the hits stand where they stand, in words; shown beside a miss. When it is missing,
    /// [`Retriever::explain`] is asked.
    pub explanation: Option<String>,
}

impl Answer {
    /// The hits that the user saw: none when the answer was "no match".
    pub fn seen(&self) -> &[Scored] {
        if self.no_match { &[] } else { &self.hits }
    }
}

/// An id with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// What was found.
    pub id: String,
    /// How well it fits; higher is better.
    pub score: f64,
}

impl Scored {
    /// An id with its score.
    pub fn new(id: impl Into<String>, score: f64) -> Self {
        Self { id: id.into(), score }
    }
}

/// What of a record was part of a rendered answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disclosed {
    /// The record.
    pub id: String,
    /// How deep it was shown.
    pub tier: Tier,
    /// Whether that tier was shown whole.
    pub complete: bool,
}

#[cfg(test)]
mod tests;
