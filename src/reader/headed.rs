//! Markup other than Markdown, told by its headings: the lines of a section are put into the words
//! of Markdown, from which tiers are derived. What is shown stays as it was written.

use super::decode::Source;
use super::frontmatter::Front;
use super::node::squeeze;
use super::section::{self, Anchors, Body, Outline, Section};
use super::sidecar::Entries;
use super::{Document, Sidecar, Tiers, markdown};
use crate::record::Kind;
use crate::text::Language;

/// Bytes of prose that the language is guessed from.
const SAMPLE_BYTES: usize = 4_000;

/// The most bytes that a link takes as it is written. Nobody looks further for its end: a text of nothing but
/// brackets would be read over and over.
pub(super) const MAX_LINK_BYTES: usize = 1_000;

/// A heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Heading {
    /// 1 for the outermost.
    pub level: u8,
    /// Its text on one line.
    pub title: String,
    /// The anchor that the author chose for it.
    pub anchor: Option<String>,
    /// Where the section begins, with what belongs to the heading above it.
    pub start: usize,
    /// Where the text below the heading begins.
    pub body: usize,
}

/// A document in a markup with headings.
#[derive(Debug, Default)]
pub(super) struct Headed {
    /// The title that stands in no heading.
    pub title: Option<String>,
    /// The headings in their order.
    pub headings: Vec<Heading>,
}

/// Turns a document into records; `to_markdown` puts the text of a section into Markdown.
pub(super) fn read(
    source: &Source<'_>,
    sidecar: Option<Sidecar<'_>>,
    tiers: Tiers,
    headed: Headed,
    to_markdown: impl Fn(&str) -> String,
) -> Document {
    let mut diagnostics = Vec::new();
    let entries = Entries::read(sidecar, tiers, &mut diagnostics);
    let mut anchors = Anchors::default();
    let mut sample = String::new();
    let mut body = |range: std::ops::Range<usize>| -> Body {
        let body = markdown::body(&to_markdown(source.slice(range)));
        if sample.len() < SAMPLE_BYTES {
            sample.push_str(&body.sketch.prose.join(" "));
        }
        body
    };
    let Headed { title, headings } = headed;
    let ends: Vec<usize> =
        headings.iter().skip(1).map(|it| it.start).chain([source.text.len()]).collect();
    let bom = if source.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let lead = body(bom..headings.first().map_or(source.text.len(), |it| it.start));
    let sections = headings
        .into_iter()
        .zip(ends)
        .map(|(heading, end)| {
            let anchor = anchors.next(&heading.title, heading.anchor.as_deref());
            Section {
                kind: Kind::Section,
                level: heading.level,
                title: if heading.title.is_empty() { anchor.clone() } else { heading.title },
                anchor,
                start: heading.start,
                body: body(heading.body..end),
                folded: Vec::new(),
                shown: None,
            }
        })
        .collect();
    let front = Front { title, end: bom, ..Front::default() };
    let language = Language::detect(&sample);
    let outline = Outline { front, lead, sections, language };
    section::records(source, Kind::File, outline, entries, diagnostics)
}

/// The links of a document: targets and texts.
pub(super) fn links(
    source: &Source<'_>,
    to_markdown: impl Fn(&str) -> String,
) -> Vec<(String, String)> {
    markdown::body(&to_markdown(&source.text)).links
}

/// Adds a link in Markdown; its text alone where Markdown could not write it, or where it leads nowhere.
pub(super) fn push_link(markdown: &mut String, text: &str, target: &str) {
    let text = squeeze(text);
    let target = target.trim();
    let can_be_written =
        !text.contains(['[', ']', '\\']) && !target.contains(['<', '>', '\\', '\n']);
    if target.is_empty() || text.is_empty() || !can_be_written {
        return markdown.push_str(&text);
    }
    for piece in ["[", &text, "](<", target, ">)"] {
        markdown.push_str(piece);
    }
}
