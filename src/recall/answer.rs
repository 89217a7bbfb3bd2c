//! What a recall returns: plain values, from which every output format is rendered.

use crate::recall::{Budget, Explanation};
use crate::record::{Kind, Lines, RecordId, Tier};

/// The records that answer a query, as deep as the budget allows, and what was left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The query as it was asked.
    pub query: String,
    /// The most tokens the rendered answer may cost.
    pub budget: Budget,
    /// An upper bound of the tokens that the rendered answer costs in the format it was made for;
    /// exact but for numbers and the echo of the query, which are counted by their bytes.
    pub tokens_used: u32,
    /// How many records in the scope share a word or a trigger with the query.
    pub total: u64,
    /// The disclosed records, best first.
    pub results: Vec<Hit>,
    /// What was left out.
    pub omitted: Omitted,
}

impl Answer {
    /// Whether any record that was asked for is missing from the results, or shown in part.
    pub fn truncated(&self) -> bool {
        !self.omitted.ids.is_empty()
            || self.omitted.n_unlisted > 0
            || self.results.iter().any(|hit| !hit.complete)
    }
}

/// One disclosed record.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its rank, from 1.
    pub rank: u32,
    /// Its id.
    pub id: RecordId,
    /// The file it comes from.
    pub path: String,
    /// Where it stands in the file.
    pub lines: Lines,
    /// What it is a piece of.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// The tier that `text` is.
    pub tier: Tier,
    /// Whether `text` is the whole of the deepest tier.
    pub complete: bool,
    /// Its final score; only comparable within one answer.
    pub score: f64,
    /// What selected it.
    pub why: Why,
    /// What is disclosed of it.
    pub text: String,
    /// What the whole detail costs, in tokens.
    pub detail_tokens: u32,
    /// Whether its source is still what was indexed.
    pub source: SourceState,
    /// Further records that say the same, best first; the first few of them.
    pub copies: Vec<RecordId>,
    /// How many more there are.
    pub n_more_copies: usize,
    /// How it came to its score.
    pub explanation: Explanation,
}

/// What selected a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// A trigger phrase that stands in the query, and words beside it.
    Trigger,
    /// Words that it shares with the query.
    Words,
}

impl Why {
    /// The name in lower case, as JSON shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Words => "words",
        }
    }
}

/// Whether a source is still what was indexed, told by a cheap look at its size and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceState {
    /// Size and time are those that were indexed.
    Unchanged,
    /// Size or time differ.
    Changed,
    /// There is no such file any more.
    Missing,
}

impl SourceState {
    /// The name in lower case, as JSON shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Missing => "missing",
        }
    }
}

/// What an answer left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Records among those asked for of which nothing but the id fitted the budget, best first.
    pub ids: Vec<RecordId>,
    /// Further records among those asked for of which not even the id fitted.
    pub n_unlisted: u32,
    /// Records past the number asked for.
    pub n_past_limit: u64,
}
