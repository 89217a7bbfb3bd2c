//! What was looked at, of what the harness found itself; and when "there is none" may be said.

use serde::{Deserialize, Serialize};

use super::search::{Hit, Search, Unsearched};

/// Lines of a file, both counted from 1 and included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// From the root, with `/` between folders.
    pub file: String,
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl Span {
    /// Whether a place is in it.
    pub fn holds(&self, file: &str, line: u32) -> bool {
        self.file == file && (self.first..=self.last).contains(&line)
    }
}

/// The candidates of a search by whether they were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage<'a> {
    /// Candidates within what was looked at.
    pub examined: Vec<&'a Hit>,
    /// The others: to be scheduled, or to be listed in the answer.
    pub unexamined: Vec<&'a Hit>,
}

/// Sorts the candidates of a search by whether they are within the spans that were looked at.
pub fn coverage<'a>(search: &'a Search, looked_at: &[Span]) -> Coverage<'a> {
    let is_examined = |hit: &&Hit| looked_at.iter().any(|span| span.holds(&hit.file, hit.line));
    let (examined, unexamined) = search.hits.iter().partition(is_examined);
    Coverage { examined, unexamined }
}

/// Why "there is none" may not be said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotGrounded {
    /// The search looked for nothing.
    #[error("the search was for an empty text, which proves nothing")]
    EmptyPattern,
    /// There are some.
    #[error("the text stands in {n_hits} places, first in {first}")]
    Found {
        /// How many.
        n_hits: usize,
        /// The first, as `file:line`.
        first: String,
    },
    /// Not every file was searched.
    #[error("{} files could not be searched, first `{}`: {}", .0.len(), .0.first().map_or("", |it| &it.file), .0.first().map_or("", |it| &it.why))]
    Unsearched(
        /// Those that were not.
        Vec<Unsearched>,
    ),
}

/// Returns the hash of a search that proves that something is nowhere in the tree.
///
/// # Errors
/// [`NotGrounded`], when it proves no such thing.
pub fn ground_absence(search: &Search) -> Result<&str, NotGrounded> {
    if search.pattern.text.is_empty() {
        return Err(NotGrounded::EmptyPattern);
    }
    if let Some(hit) = search.hits.first() {
        let first = format!("{}:{}", hit.file, hit.line);
        return Err(NotGrounded::Found { n_hits: search.hits.len(), first });
    }
    if !search.unsearched.is_empty() {
        return Err(NotGrounded::Unsearched(search.unsearched.clone()));
    }
    Ok(&search.blake3)
}
