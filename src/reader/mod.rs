//! Bytes in, records and diagnostics out. Never fails on content, never opens a file, and knows
//! nothing of storage or ranking.
//!
//! Every reader keeps to the same rules:
//! - the details of a file's records, in order, together with the bytes between them, are the file;
//! - a bad line costs that line and leaves a diagnostic that names it;
//! - what a person wrote (frontmatter, comment block, sidecar) wins over what is derived.

mod asciidoc;
mod check;
mod code;
mod csv;
mod decode;
mod derive;
mod diagnostic;
mod field;
mod format;
mod frontmatter;
mod headed;
mod html;
mod jsonl;
mod keyed;
mod lenient;
mod link;
mod list;
mod markdown;
mod nest;
mod node;
mod notebook;
mod org;
mod part;
mod plain;
mod rendering;
mod row;
mod rst;
mod section;
mod sidecar;
mod sketch;
mod stream;
mod tiers;

pub use check::check;
pub use code::{Syntax, Usage, usages};
pub use derive::DERIVE_VERSION;
pub use diagnostic::{Diagnostic, Severity};
pub use field::Fields;
pub use format::{Format, format_of, is_sidecar, sidecar_path, why_not};
pub use link::{Around, Call, Calls, Places, links, may_link};
pub use stream::{Stream, Survey, is_streamed};

use crate::record::{Record, RecordId};
use decode::Source;

/// The version of the readers: a store that was filled by another one is read again.
pub const VERSION: u32 = 3;

/// A file to be read.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Its path, relative to the root of the tree, with `/` between folders.
    pub path: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// The sidecar that stands beside it, see [`sidecar_path`].
    pub sidecar: Option<Sidecar<'a>>,
}

/// A file of tiers for the records of another file.
#[derive(Debug, Clone, Copy)]
pub struct Sidecar<'a> {
    /// Its path, for diagnostics.
    pub path: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// Whose tiers are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tiers {
    /// Those that a person wrote, and derived ones where nobody did.
    Authored,
    /// As if sidecars and comment blocks did not exist. Frontmatter still counts: it is part of
    /// the content.
    Derived,
}

/// How files are read.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whose tiers are taken.
    pub tiers: Tiers,
    /// Which fields of a row mean what.
    pub fields: Fields,
}

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// The records, in the order of the file.
    pub records: Vec<Record>,
    /// What could not be read as it was meant.
    pub diagnostics: Vec<Diagnostic>,
    /// The links in the text, in the order of the file; targets are not resolved.
    pub links: Vec<Link>,
    /// Anchors of headings that have no record of their own, with the record that they stand in.
    pub folded: Vec<(String, RecordId)>,
}

/// A link from a record to something else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The record that holds the link.
    pub from: RecordId,
    /// The target as it was written: a URL, a relative path, `#anchor`, or the name of a wiki page.
    pub target: String,
    /// The words that are linked.
    pub text: String,
}

/// Reads one file into records, by the format that its path tells; plain text when it tells none.
///
/// The result depends on the arguments alone.
pub fn read(input: &Input<'_>, options: &Options) -> Document {
    let format = format_of(input.path).unwrap_or(Format::Text);
    if matches!(format, Format::Jsonl | Format::Csv)
        || stream::is_streamed(input.path, input.bytes.len() as u64)
    {
        return sorted(stream::read(input.path, input.bytes, input.sidecar, options));
    }
    let (source, note) = Source::decode(input.path, input.bytes);
    let mut document = match format {
        Format::Markdown => markdown::read(&source, input.sidecar, options.tiers),
        Format::Json => list::read_json(&source, input.sidecar, options),
        Format::Yaml => list::read_yaml(&source, input.sidecar, options),
        Format::Notebook => notebook::read(&source, input.sidecar, options.tiers),
        Format::Rst => rst::read(&source, input.sidecar, options.tiers),
        Format::AsciiDoc => asciidoc::read(&source, input.sidecar, options.tiers),
        Format::Org => org::read(&source, input.sidecar, options.tiers),
        Format::Html => html::read(&source, input.sidecar, options.tiers),
        Format::Code(syntax) => code::read(&source, syntax, input.sidecar, options.tiers),
        Format::Text | Format::Jsonl | Format::Csv => {
            plain::read(&source, input.sidecar, options.tiers)
        }
    };
    document.records = part::split_long(&source, document.records);
    document.diagnostics.splice(0..0, note);
    sorted(document)
}

fn sorted(mut document: Document) -> Document {
    sort(&mut document.diagnostics);
    document
}

/// Brings remarks into the order of the file.
fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by(|a, b| (&a.path, a.line, a.column).cmp(&(&b.path, b.line, b.column)));
}

#[cfg(test)]
mod tests;
