//! Source code: a record an item, with its comment, its signature and the scopes it stands in.
//! Knows names and places, not meaning.
//!
//! A record runs from the comment above its item to where the next one begins, so that nothing
//! between two items is lost. Short constants, aliases and prototypes without a comment get no
//! record of their own; they stay in the one before them. A header that only opens a scope (`impl`,
//! `namespace`) goes with the first item in it.

mod comment;
mod item;
mod usage;

#[cfg(feature = "code")]
mod call;
#[cfg(feature = "code")]
mod grammar;
#[cfg(feature = "code")]
mod walk;

pub use usage::{Usage, usages};

use super::decode::Source;
use super::sidecar::Entries;
use super::{Document, Sidecar, Tiers, plain};
use crate::record::without_blobs;

/// A language whose items are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "a language says what it is")]
pub enum Syntax {
    Bash,
    C,
    Cpp,
    CSharp,
    Go,
    Java,
    JavaScript,
    Php,
    Python,
    Ruby,
    Rust,
    Tsx,
    TypeScript,
}

/// Bytes up to which a file is parsed; what is longer was generated.
const MAX_BYTES: usize = 2 << 20;

impl Syntax {
    /// The language of files with this extension.
    pub(super) fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "sh" | "bash" | "zsh" | "ksh" | "bats" => Self::Bash,
            "c" => Self::C,
            // A header may be either; C++ reads both.
            "h" | "hpp" | "hh" | "hxx" | "cpp" | "cc" | "cxx" | "c++" | "ipp" | "cu" | "cuh" => {
                Self::Cpp
            }
            "cs" | "csx" => Self::CSharp,
            "go" => Self::Go,
            "java" => Self::Java,
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            "php" | "phtml" => Self::Php,
            "py" | "pyi" | "pyw" => Self::Python,
            "rb" | "rake" | "gemspec" => Self::Ruby,
            "rs" => Self::Rust,
            "tsx" => Self::Tsx,
            "ts" | "mts" | "cts" => Self::TypeScript,
            _ => return None,
        })
    }

    /// What stands between a scope and a name in it.
    const fn separator(self) -> &'static str {
        match self {
            Self::Bash | Self::C | Self::Cpp | Self::Php | Self::Ruby | Self::Rust => "::",
            Self::CSharp
            | Self::Go
            | Self::Java
            | Self::JavaScript
            | Self::Python
            | Self::Tsx
            | Self::TypeScript => ".",
        }
    }
}

/// Reads a source file. One without items, or too long to be written by people, is plain text.
pub(super) fn read(
    source: &Source<'_>,
    syntax: Syntax,
    sidecar: Option<Sidecar<'_>>,
    tiers: Tiers,
) -> Document {
    let has_items = source.text.len() <= MAX_BYTES && !is_minified(&source.text);
    let items = if has_items { items(source, syntax) } else { None };
    let Some(items) = items.filter(|items| !items.is_empty()) else {
        return plain::read(source, sidecar, tiers);
    };
    let mut diagnostics = Vec::new();
    let entries = Entries::read(sidecar, tiers, &mut diagnostics);
    item::records(source, syntax.separator(), &items, entries, diagnostics)
}

/// Whether most of a source file is written for machines: its items are thousands, and nobody asks for one.
fn is_minified(text: &str) -> bool {
    without_blobs(text).len() * 2 < text.len()
}

#[cfg(feature = "code")]
fn items(source: &Source<'_>, syntax: Syntax) -> Option<Vec<item::Item>> {
    walk::items(source, syntax)
}

#[cfg(not(feature = "code"))]
fn items(_: &Source<'_>, _: Syntax) -> Option<Vec<item::Item>> {
    None
}
