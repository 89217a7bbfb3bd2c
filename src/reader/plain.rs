//! Plain text: one record for the file, or for each part of a long one.

use std::ops::Range;

use super::csv::End;
use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::format::{file_name, file_stem};
use super::node::squeeze;
use super::sidecar::Entries;
use super::sketch::Sketch;
use super::tiers::{Authored, Material, settle};
use super::{Document, Sidecar, Tiers};
use crate::record::{Kind, Record, RecordId};
use crate::text::{Language, head};

/// Bytes of a text that its language is guessed from.
const SAMPLE_BYTES: usize = 4_000;
/// Bytes of a paragraph that are looked at: a sketch keeps less.
const MAX_PARAGRAPH: usize = 16_000;
/// Characters up to which a first line on its own is a title.
const TITLE_CHARS: usize = 80;

/// Bytes that a part of a long text has at most, unless a single line is longer.
const PART_BYTES: usize = 4_000;
/// Bytes below which the last part is joined to the one before it.
const TINY_BYTES: usize = 500;

/// Reads a file as plain text. A blank file has no record.
pub(super) fn read(source: &Source<'_>, sidecar: Option<Sidecar<'_>>, tiers: Tiers) -> Document {
    let mut long = Long::open(source.path, sidecar, tiers);
    if !source.text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() {
        long.push(source, 0..source.text.len());
    }
    let (records, diagnostics) = long.finish();
    Document { records, diagnostics, ..Document::default() }
}

/// Text that is too long for memory, in parts: logs and dumps.
///
/// The first part is the record of the file; the others are `PATH#~2`, `PATH#~3` and so on, with the title of the
/// first and their number, and the first in their breadcrumb. They are the children of none: their number is known only
/// when the first is long written. Parts end before a blank line where there is one, else at the end of a line.
#[derive(Debug)]
pub(super) struct Long<'a> {
    path: &'a str,
    entries: Entries,
    diagnostics: Vec<Diagnostic>,
    records: Vec<Record>,
    n_parts: usize,
    title: String,
    language: Language,
}

impl<'a> Long<'a> {
    /// Starts on a file.
    pub(super) fn open(path: &'a str, sidecar: Option<Sidecar<'_>>, tiers: Tiers) -> Self {
        let mut diagnostics = Vec::new();
        let entries = Entries::read(sidecar, tiers, &mut diagnostics);
        Self {
            path,
            entries,
            diagnostics,
            records: Vec::new(),
            n_parts: 0,
            title: String::new(),
            language: Language::default(),
        }
    }

    /// Reads a piece of a file that begins with a part, and returns where the first part begins that may go on
    /// behind the piece.
    pub(super) fn read(&mut self, source: &Source<'_>, end: End) -> usize {
        let mut parts = parts(&source.text);
        match end {
            // The last part may grow, and be small enough to be joined to the one before.
            End::Open => parts.truncate(parts.len().saturating_sub(2)),
            End::File => {
                if let [.., before, last] = parts.as_mut_slice()
                    && last.len() < TINY_BYTES
                {
                    before.end = last.end;
                    parts.pop();
                }
            }
        }
        let n_done = parts.last().map_or(0, |part| part.end);
        for part in parts {
            if !source.slice(part.clone()).trim().is_empty() {
                self.push(source, part);
            }
        }
        n_done
    }

    /// Takes the records out that were added since the last time.
    pub(super) fn take(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    /// The last records, and the remarks on the file.
    pub(super) fn finish(mut self) -> (Vec<Record>, Vec<Diagnostic>) {
        self.entries.check_rest(&[file_name(self.path)].into_iter(), &mut self.diagnostics);
        (self.records, self.diagnostics)
    }

    fn push(&mut self, source: &Source<'_>, range: Range<usize>) {
        let detail = source.slice(range.clone());
        let text = detail.trim_start_matches('\u{feff}');
        let n_hidden = detail.len() - text.len();
        let stem = file_stem(self.path);
        self.n_parts += 1;
        let is_first = self.n_parts == 1;
        let (id, title, breadcrumb, names, authored) = if is_first {
            self.title = title(text).unwrap_or_else(|| stem.to_owned());
            self.language = Language::detect(head(text, SAMPLE_BYTES));
            let names = vec![self.title.clone(), stem.to_owned()];
            let authored = self.entries.take_file(self.path);
            (RecordId::of_file(self.path), self.title.clone(), Vec::new(), names, authored)
        } else {
            let id = RecordId::of_part(self.path, &format!("~{}", self.n_parts));
            let title = format!("{} ({})", self.title, self.n_parts);
            (id, title, vec![self.title.clone()], Vec::new(), Authored::default())
        };
        let settled = settle(Material {
            title: &title,
            names: &names,
            authored: &authored,
            sketch: &sketch(text, &title),
            text,
            children: &[],
        });
        self.records.push(Record {
            id,
            path: self.path.to_owned(),
            kind: Kind::File,
            title,
            breadcrumb,
            scope: String::new(),
            span: source.span(&range),
            language: self.language,
            triggers: settled.triggers,
            description: settled.description,
            summary: settled.summary,
            detail: detail.to_owned(),
            hidden: if n_hidden > 0 { std::iter::once(0..n_hidden).collect() } else { Vec::new() },
            body: None,
            children: Vec::new(),
        });
    }
}

fn sketch(text: &str, title: &str) -> Sketch {
    let mut sketch = Sketch::default();
    for paragraph in paragraphs(text) {
        Sketch::push(&mut sketch.prose, &squeeze(head(paragraph, MAX_PARAGRAPH)));
    }
    // A title on its own line says nothing about itself.
    if sketch.prose.len() > 1 && sketch.prose.first().is_some_and(|first| first == title) {
        sketch.prose.remove(0);
    }
    sketch
}

/// Where a text is cut: whole lines, as many as fit, up to the last good place. What is cut after a place depends on
/// what stands behind it alone.
fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut blank, mut at) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        while at + line.len() - start > PART_BYTES && at > start {
            let cut = if blank > start { blank } else { at };
            parts.push(start..cut);
            start = cut;
        }
        if line.trim().is_empty() {
            blank = at;
        }
        at += line.len();
    }
    if at > start {
        parts.push(start..at);
    }
    parts
}

/// The first line, if it is short and a blank line follows it.
fn title(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
    let first = squeeze(lines.next()?);
    let stands_alone = lines.next().is_none_or(|line| {
        line.trim().is_empty() || line.trim().chars().all(|c| "=-~*".contains(c))
    });
    (stands_alone
        && first.chars().count() <= TITLE_CHARS
        && first.chars().any(char::is_alphanumeric))
    .then_some(first)
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").flat_map(|it| it.split("\r\n\r\n")).filter(|it| !it.trim().is_empty())
}
