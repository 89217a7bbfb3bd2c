//! Records, their tiers, names and places: plain values. No input, no output, no storage, no ranking.

mod blob;
mod id;
mod source;
mod tier;

pub(crate) use blob::without_blobs;
pub use id::{RecordId, Slugger, slug};
pub use source::{Hash, Lines, Span};
pub use tier::{Origin, Tier, TierText, Trigger};

use crate::text::Language;

/// What a record is a piece of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A whole file, or the part of a file before its first section.
    File,
    /// A section of a document under a heading.
    Section,
    /// The entry of an Agent Skill (`SKILL.md`).
    Skill,
    /// A row of a JSONL, CSV or TSV file.
    Row,
    /// A named item of source code.
    Item,
}

impl Kind {
    /// All kinds, in their order.
    pub const ALL: [Self; 5] = [Self::File, Self::Section, Self::Skill, Self::Row, Self::Item];

    /// The name in lower case, as `--kind` takes it and JSON shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Section => "section",
            Self::Skill => "skill",
            Self::Row => "row",
            Self::Item => "item",
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The smallest self-contained unit that can be recalled, with its four tiers.
///
/// Invariants, held by the readers and checked by `psos verify`:
/// - `description.text` is never empty;
/// - `detail` is the text of `span` in the source, byte for byte when the source is UTF-8;
/// - the ranges of `hidden` lie inside `detail`, in order, on character boundaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The name that stays the same across edits.
    pub id: RecordId,
    /// The file it comes from, relative to the root of the tree, with `/` between folders.
    pub path: String,
    /// What it is a piece of.
    pub kind: Kind,
    /// Its own heading or name; never empty.
    pub title: String,
    /// The titles of its ancestors, outermost first, without its own.
    pub breadcrumb: Vec<String>,
    /// The conversation, user or other partition that a row belongs to; empty for none.
    pub scope: String,
    /// Where it stands in its source.
    pub span: Span,
    /// The language that its words are stemmed in.
    pub language: Language,
    /// The phrases that select it. For the harness only: never shown to a model as an answer.
    pub triggers: Vec<Trigger>,
    /// One line on what it is for, at most [`Tier::DESCRIPTION_TOKENS`] tokens when derived.
    pub description: TierText,
    /// One paragraph on what it says, at most [`Tier::SUMMARY_TOKENS`] tokens when derived.
    pub summary: TierText,
    /// The exact text of `span`.
    pub detail: String,
    /// Byte ranges of `detail` that are not shown: the `<!-- psos … -->` block of a section.
    pub hidden: Vec<std::ops::Range<usize>>,
    /// What is shown instead of the detail, for records whose detail is not meant to be read as it
    /// stands: the title and text of a JSONL row, and not its JSON.
    pub body: Option<String>,
    /// The ids of the records nested directly in this one, in the order of the source.
    pub children: Vec<RecordId>,
}

impl Record {
    /// Returns the body, or else the detail without its hidden ranges: what is shown and
    /// counted.
    ///
    /// Blank lines at both ends are removed, and a hidden block takes the blank line after it along.
    pub fn shown(&self) -> String {
        if let Some(body) = &self.body {
            return body.clone();
        }
        without_hidden(&self.detail, self.hidden.iter().cloned())
    }

    /// Returns what of the record is indexed: what is shown, without encoded bytes and minified
    /// code, which hold no words.
    pub fn indexed(&self) -> String {
        indexed(self.shown())
    }
}

/// Returns what of a shown text is indexed: all but encoded bytes and minified code.
pub(crate) fn indexed(shown: String) -> String {
    match without_blobs(&shown) {
        std::borrow::Cow::Borrowed(_) => shown,
        std::borrow::Cow::Owned(kept) => kept,
    }
}

/// Returns a text without some byte ranges of it, each taken out together with the blank lines after
/// it, and without blank lines at both ends.
pub(crate) fn without_hidden(
    text: &str,
    hidden: impl Iterator<Item = std::ops::Range<usize>>,
) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut from = 0;
    for range in hidden {
        shown.push_str(text.get(from..range.start).unwrap_or_default());
        from = range.end;
        let rest = text.get(from..).unwrap_or_default();
        from += rest.len() - rest.trim_start_matches(['\r', '\n']).len();
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    let without_end = shown.trim_end().len();
    shown.truncate(without_end);
    let lead = shown.len() - shown.trim_start_matches(['\r', '\n']).len();
    shown.drain(..lead);
    shown
}

#[cfg(test)]
mod tests;
