//! Rows of data to records, whatever the format that they were written in.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::field::{Fields, first};
use super::node::{Node, squeeze};
use super::sidecar::Entries;
use super::sketch::Sketch;
use super::tiers::{Authored, Material, settle};
use super::{Options, Sidecar, markdown};
use crate::record::{Kind, Record, RecordId};
use crate::text::{self, Language, head};

/// Bytes of a row that its language is guessed from.
const SAMPLE_BYTES: usize = 1_000;
/// Words of a text that stand in for a missing title.
const TITLE_WORDS: usize = 10;
/// Remarks on rows of a file that are shown one by one.
const MAX_NAMED: usize = 20;

/// Anchors that are kept to find the nearest to an entry of the sidecar without a row.
const MAX_ANCHORS: usize = 10_000;

/// Turns the rows of one file into records, one after the other.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    path: &'a str,
    fields: &'a Fields,
    entries: Entries,
    keys: Keys,
    anchors: Vec<String>,
    records: Vec<Record>,
    diagnostics: Vec<Diagnostic>,
    /// How many rows were remarked on, and the line of the last of them.
    n_remarks: usize,
    last_line: u32,
    /// What is shown of a row without a text field.
    without_text: WithoutText,
}

/// What is shown of a row that has no field for its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WithoutText {
    /// The other fields, one `name: value` a line.
    Fields,
    /// The row as it stands.
    Source,
}

impl<'a> Rows<'a> {
    /// Starts on a file.
    pub(super) fn open(path: &'a str, sidecar: Option<Sidecar<'_>>, options: &'a Options) -> Self {
        let mut diagnostics = Vec::new();
        let entries = Entries::read(sidecar, options.tiers, &mut diagnostics);
        Self {
            path,
            fields: &options.fields,
            entries,
            keys: Keys::default(),
            anchors: Vec::new(),
            records: Vec::new(),
            diagnostics,
            n_remarks: 0,
            last_line: 1,
            without_text: WithoutText::Fields,
        }
    }

    /// Shows rows without a text field as they stand.
    pub(super) fn shown_as_they_stand(self) -> Self {
        Self { without_text: WithoutText::Source, ..self }
    }

    /// Adds a remark on a row. Only the first ones are kept, the rest is counted.
    pub(super) fn remark(&mut self, diagnostic: Diagnostic) {
        self.n_remarks += 1;
        self.last_line = self.last_line.max(diagnostic.line);
        if self.n_remarks <= MAX_NAMED {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Takes the records out that were added since the last time.
    pub(super) fn take(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    /// Adds the row that stands at `range`.
    pub(super) fn push(&mut self, source: &Source<'_>, row: &Node, range: Range<usize>) {
        let line = source.line_of(range.start);
        let anchor = self.anchor(row, line);
        let title = first(row, &self.fields.title).and_then(|(_, value)| value.line());
        let text = first(row, &self.fields.text);
        let mut own = Authored::of(row);
        // A description that is the only text is the text.
        if text.is_some_and(|(name, _)| name == "description") {
            own.description = None;
        }
        let text = text.map(|(_, value)| value.block()).unwrap_or_default().replace('\0', "");
        let has_text = !text.is_empty();
        let text = match self.without_text {
            _ if has_text => text,
            WithoutText::Fields => self.rest(row),
            WithoutText::Source => source.slice(range.clone()).to_owned(),
        };
        let is_source = !has_text && self.without_text == WithoutText::Source;
        let body = match &title {
            Some(title) if !is_source && !text.starts_with(title.as_str()) => {
                format!("{title}\n\n{text}").trim_end().to_owned()
            }
            _ => text.clone(),
        };
        let names = title.clone().map_or_else(Vec::new, |title| vec![title]);
        let title = title.unwrap_or_else(|| short_title(&text, &anchor));
        let authored = self.entries.take(&anchor).over(own);
        if !self.entries.is_empty() && self.anchors.len() < MAX_ANCHORS {
            self.anchors.push(anchor.clone());
        }
        let mut sketch = if is_source { paragraphs(&text) } else { sketch(&text) };
        // The code in a row is that of an example more often than its name.
        sketch.code.clear();
        let settled = settle(Material {
            title: &title,
            names: &names,
            authored: &authored,
            sketch: &sketch,
            text: &text,
            children: &[],
        });
        self.records.push(Record {
            id: RecordId::of_part(self.path, &anchor),
            path: self.path.to_owned(),
            kind: Kind::Row,
            title,
            breadcrumb: Vec::new(),
            scope: first(row, &self.fields.scope)
                .and_then(|(_, value)| value.line())
                .unwrap_or_default(),
            span: source.span(&range),
            language: Language::detect(head(&body, SAMPLE_BYTES)),
            triggers: settled.triggers,
            description: settled.description,
            summary: settled.summary,
            detail: source.slice(range).to_owned(),
            hidden: Vec::new(),
            body: if is_source { None } else { Some(body) },
            children: Vec::new(),
        });
    }

    /// The last records, and the remarks on the file.
    pub(super) fn finish(mut self) -> (Vec<Record>, Vec<Diagnostic>) {
        if self.n_remarks > MAX_NAMED {
            let message = format!("{} more such lines", self.n_remarks - MAX_NAMED);
            self.diagnostics.push(Diagnostic::error(self.path, self.last_line, message));
        }
        let anchors = self.anchors.iter().map(String::as_str);
        self.entries.check_rest(&anchors, &mut self.diagnostics);
        (self.records, self.diagnostics)
    }

    fn anchor(&mut self, row: &Node, line: u32) -> String {
        let key = first(row, &self.fields.id).and_then(|(_, value)| value.line());
        let key: Option<String> = key
            .map(|key| key.chars().filter(|c| !c.is_control()).collect())
            .filter(|key: &String| !key.is_empty());
        let Some(key) = key else { return self.keys.unique(&format!("L{line}")) };
        let anchor = self.keys.unique(&key);
        if anchor != key {
            let message = format!("key `{key}` occurs again, this row is `{anchor}`");
            self.remark(
                Diagnostic::warning(self.path, line, message)
                    .help("give every row a key of its own"),
            );
        }
        anchor
    }

    /// The row without key, title, scope and tiers, one `name: value` a line, for rows without a
    /// text.
    fn rest(&self, row: &Node) -> String {
        let Node::Map(entries) = row else { return row.block().replace('\0', "") };
        let known = [&self.fields.id, &self.fields.title, &self.fields.scope];
        let entries = entries.iter().filter(|(name, _)| {
            !known.iter().any(|names| names.contains(name))
                && name != "triggers"
                && name != "summary"
        });
        Node::Map(entries.cloned().collect()).block().replace('\0', "")
    }
}

/// What derivation sees of the text of a row, which may be Markdown.
fn sketch(text: &str) -> Sketch {
    let marks = ["# ", "## ", "### ", "> ", "- ", "* ", "| ", "```"];
    if text.lines().any(|line| marks.iter().any(|mark| line.starts_with(mark))) {
        return markdown::sketch(text);
    }
    paragraphs(text)
}

fn paragraphs(text: &str) -> Sketch {
    let mut sketch = Sketch::default();
    for paragraph in text.split("\n\n") {
        Sketch::push(&mut sketch.prose, paragraph);
    }
    sketch
}

/// The first words of a text, or the anchor of a row without any.
pub(super) fn short_title(text: &str, anchor: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().take(TITLE_WORDS).collect();
    let title = squeeze(head(&words.join(" "), 80));
    if title.is_empty() { anchor.to_owned() } else { title }
}

/// The anchors that the rows of a file have taken, in a few bytes each: a file may have millions.
///
/// Keys are kept as 64-bit numbers. Should two keys of a file ever meet in one, the later is numbered as if it
/// were repeated.
#[derive(Debug, Default)]
struct Keys {
    /// Numbers of the keys that rows brought.
    taken: BTreeSet<u64>,
    /// Lines of rows that are called after their line, ascending.
    lines: Vec<u32>,
    /// The last number that a repeated key was given.
    repeats: BTreeMap<u64, u32>,
}

impl Keys {
    /// Returns `key`, or `key-1`, `key-2` and so on when it is taken.
    fn unique(&mut self, key: &str) -> String {
        if self.take(key) {
            return key.to_owned();
        }
        let number = text::number(key);
        let mut n = self.repeats.get(&number).copied().unwrap_or(0);
        loop {
            n += 1;
            let name = format!("{key}-{n}");
            if self.take(&name) {
                self.repeats.insert(number, n);
                return name;
            }
        }
    }

    /// Takes a name; false when it is taken.
    fn take(&mut self, name: &str) -> bool {
        let number = text::number(name);
        let Some(line) = line_of(name) else { return self.taken.insert(number) };
        if self.taken.contains(&number) || self.lines.binary_search(&line).is_ok() {
            return false;
        }
        if self.lines.last().is_none_or(|&last| last < line) {
            self.lines.push(line);
            return true;
        }
        self.taken.insert(number)
    }
}

/// The line that `L12` names.
fn line_of(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('L')?;
    let line = digits.parse().ok()?;
    // `L012` and `L+12` are names of their own.
    (!digits.starts_with(['0', '+'])).then_some(line)
}
