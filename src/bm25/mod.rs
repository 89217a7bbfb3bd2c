//! Which records share words with a query, and how much that says. Knows no record, no text and no
//! store: it is given terms and numbers, and its one mutable file is handed in and out as bytes.
//!
//! tantivy keeps postings, term dictionary, deletions and merges. Scores are computed here, since
//! those of tantivy depend on history: deleted documents count in its statistics, and lengths are
//! rounded. Here equal sets of live documents give equal scores to the last bit, in however many
//! segments they lie and in whatever order they came.
//!
//! - [`Writer`] changes the index; nothing of it is visible before its `meta.json` is handed out.
//! - [`Index`] searches what one `meta.json` describes.
//! - [`sweep`] removes the files that no `meta.json` needs any more.

mod directory;
mod error;
mod index;
mod merge;
mod schema;
mod writer;

pub use error::Bm25Error;
pub use index::Index;
pub use writer::{Writer, files, orphans, sweep};

/// What the index is told of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document<'a> {
    /// Its number, never used for another document.
    pub key: u64,
    /// A number for its file.
    pub file: u64,
    /// A number for its kind.
    pub kind: u64,
    /// A number for its scope.
    pub scope: u64,
    /// Its terms in any order, each as often as it occurs. Empty ones are left out and do not count.
    pub terms: &'a [String],
}

/// A word of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The same word as several languages stem it. They count as one term: a document has it as
    /// often as the variant that it has most.
    pub variants: Vec<String>,
    /// What a match is worth, usually how often the word stands in the query. A term with a weight
    /// of zero or less is counted, and matches nothing.
    pub weight: f32,
}

/// The live documents that scores are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// How many there are.
    pub n_docs: u64,
    /// How many terms they have together.
    pub total_len: u64,
}

/// What a filter may decide by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocInfo {
    /// The number of the document.
    pub key: u64,
    /// The number of its file.
    pub file: u64,
    /// The number of its kind.
    pub kind: u64,
    /// The number of its scope.
    pub scope: u64,
}

/// A document that matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The number of the document.
    pub key: u64,
    /// Its score, above zero.
    pub score: f64,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The best documents by falling score, equal scores by rising key. Every document that scores
    /// as much as the last is among them, so there may be more than were asked for: keys differ
    /// between equal stores, and only the caller can break ties by something that does not.
    pub hits: Vec<Hit>,
    /// How many live documents that the filter lets through have a term of the query.
    pub n_matched: u64,
    /// For each term of the query, how many live documents have it, whether the filter lets them
    /// through or not.
    pub df: Vec<u64>,
}

/// A term of the index that is nearly another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NearTerm {
    /// How many letters must be inserted, removed or replaced to get from one to the other.
    pub distance: u32,
    /// The term.
    pub term: String,
    /// How many live documents have it.
    pub df: u64,
}

#[cfg(test)]
mod tests;
