//! Is what a citation says there, there? Every `file:line` with its quote is looked up in the tree.
//! Knows nothing of what a finding claims about it, and never takes a model's word.
//!
//! Also here: the searches with which the harness enumerates candidates itself ([`search`]), so that
//! "there is no such thing" rests on a search of every file, and what nobody looked at is listed.

mod coverage;
mod file;
mod quote;
pub mod search;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::record::Hash;

pub use coverage::{Coverage, NotGrounded, Span, coverage, ground_absence};
pub use quote::{MIN_QUOTE_CHARS, MIN_QUOTE_LETTERS};

/// Bytes up to which a file is read to check a citation.
pub const MAX_FILE_BYTES: u64 = 8 << 20;
/// Lines that are named when a quote stands in several places.
const MAX_PLACES: usize = 5;

/// A place in the tree, and what is said to stand there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// From the root of the tree, with `/` between folders.
    pub file: String,
    /// The line on which the quote begins, counted from 1.
    pub line: u32,
    /// What stands there, word for word; a part of a line, or several lines.
    pub quote: String,
}

/// What the tree says to a citation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// The quote begins on that line, byte for byte (ends of lines aside).
    Verified,
    /// It does when white space is taken as one space.
    VerifiedWhitespace,
    /// It stands in that file, on one other line only.
    Moved {
        /// Where it begins.
        line: u32,
    },
    /// It does not stand there.
    Refuted {
        /// Why.
        reason: Refutation,
    },
    /// It cannot be told.
    Unverifiable {
        /// Why.
        reason: Doubt,
    },
}

/// Why a citation is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Refutation {
    /// The path leads out of the tree, is not written from its root, or goes through a link.
    OutsideRoot,
    /// There is no such file, under exactly this name.
    MissingFile,
    /// It is a folder, a pipe, a device.
    NotAFile,
    /// The file has fewer lines, and the quote is nowhere in it.
    MissingLine {
        /// How many it has.
        n_lines: u32,
    },
    /// The quote is nowhere in the file.
    MissingText,
    /// The quote is not on that line, but on several others.
    Ambiguous {
        /// The first of them.
        lines: Vec<u32>,
    },
}

/// Why nothing can be told of a citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// It has no quote.
    NoQuote,
    /// The quote is so short that it would stand anywhere, see [`MIN_QUOTE_CHARS`].
    QuoteTooShort,
    /// The file is longer than [`MAX_FILE_BYTES`].
    FileTooLong,
    /// The file is not text.
    NotText,
    /// The file cannot be read.
    Unreadable,
}

/// A citation after it was looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The citation, with its line corrected when it had moved.
    pub citation: Citation,
    /// What the tree says.
    pub verdict: Verdict,
    /// The blake3 hash of the file that was read, in hexadecimal.
    pub file_blake3: Option<String>,
}

impl Checked {
    /// Whether a finding may rest on it.
    pub fn grounds(&self) -> bool {
        match self.verdict {
            Verdict::Verified | Verdict::VerifiedWhitespace | Verdict::Moved { .. } => true,
            Verdict::Refuted { .. } | Verdict::Unverifiable { .. } => false,
        }
    }
}

impl Citation {
    /// Reads `path:line` or `path:line-line`; the quote comes separately. `None` when there is no line.
    pub fn parse(place: &str, quote: &str) -> Option<Self> {
        let (file, lines) = place.trim().rsplit_once(':')?;
        let first = lines.split('-').next()?.trim_start_matches('L');
        let line = first.parse().ok()?;
        Some(Self { file: file.to_owned(), line, quote: quote.to_owned() })
    }
}

/// Looks citations up in one tree. Reads files, and nothing else.
#[derive(Debug, Clone)]
pub struct Checker {
    root: PathBuf,
}

/// A tree that cannot be looked into.
#[derive(Debug, thiserror::Error)]
#[error("cannot look into the tree `{root}`")]
pub struct TreeError {
    /// The tree.
    pub root: PathBuf,
    /// What the system says.
    #[source]
    pub source: std::io::Error,
}

impl TreeError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        Fault::Environment
    }
}

impl Checker {
    /// Opens a tree.
    ///
    /// # Errors
    /// [`TreeError`], when it is not a folder that can be reached.
    pub fn open(root: &Path) -> Result<Self, TreeError> {
        let fault = |source| TreeError { root: root.to_owned(), source };
        let real = root.canonicalize().map_err(fault)?;
        if !real.is_dir() {
            return Err(fault(std::io::ErrorKind::NotADirectory.into()));
        }
        Ok(Self { root: real })
    }

    /// Looks one citation up.
    ///
    /// - A quote that does not stand on its line but on exactly one other is [`Verdict::Moved`], also
    ///   when the file has no such line.
    /// - A quote counts only where it does not begin or end within a word: `allow(x)` does not stand in
    ///   `disallow(x)`.
    /// - Case, quotation marks and every character but white space have to be those of the file.
    pub fn check(&self, citation: &Citation) -> Checked {
        let mut checked =
            Checked { citation: citation.clone(), verdict: Verdict::Verified, file_blake3: None };
        // The cheap doubts first: they need no file.
        if let Some(reason) = quote::doubt(&citation.quote) {
            checked.verdict = match file::place(&citation.file) {
                Ok(_) => Verdict::Unverifiable { reason },
                Err(reason) => Verdict::Refuted { reason },
            };
            return checked;
        }
        let bytes = match file::read(&self.root, &citation.file) {
            Ok(bytes) => bytes,
            Err(file::Refused::Wrong(reason)) => {
                checked.verdict = Verdict::Refuted { reason };
                return checked;
            }
            Err(file::Refused::Unclear(reason)) => {
                checked.verdict = Verdict::Unverifiable { reason };
                return checked;
            }
        };
        checked.file_blake3 = Some(Hash::of(&bytes).to_string());
        checked.verdict = match file::text(&bytes) {
            Some(text) => quote::judge(text, citation.line, &citation.quote),
            None => Verdict::Unverifiable { reason: Doubt::NotText },
        };
        if let Verdict::Moved { line } = checked.verdict {
            checked.citation.line = line;
        }
        checked
    }

    /// Looks several up, in their order.
    pub fn check_all(&self, citations: &[Citation]) -> Vec<Checked> {
        citations.iter().map(|citation| self.check(citation)).collect()
    }

    /// The root of the tree, without links.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

#[cfg(test)]
mod tests;
