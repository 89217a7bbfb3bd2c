//! Rows of data to records, whatever the format that they were written in.

use std::ops::Range;

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::field::{Fields, first};
use super::node::{Node, squeeze};
use super::sidecar::Entries;
use super::sketch::{Sketch, head};
use super::tiers::{Authored, Material, settle};
use crate::record::{Kind, Record, RecordId, Slugger};
use crate::text::Language;

/// Bytes of a row that its language is guessed from.
const SAMPLE_BYTES: usize = 1_000;
/// Words of a text that stand in for a missing title.
const TITLE_WORDS: usize = 10;
/// Bad rows of a file that are named one by one.
const MAX_NAMED: usize = 20;

/// Turns the rows of one file into records, one after the other.
pub(super) struct Rows<'a> {
    source: &'a Source<'a>,
    fields: &'a Fields,
    entries: Entries,
    keys: Slugger,
    records: Vec<Record>,
    diagnostics: Vec<Diagnostic>,
    n_bad: usize,
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
    pub(super) fn new(
        source: &'a Source<'a>,
        fields: &'a Fields,
        entries: Entries,
        diagnostics: Vec<Diagnostic>,
    ) -> Self {
        let keys = Slugger::default();
        Self {
            source,
            fields,
            entries,
            keys,
            records: Vec::new(),
            diagnostics,
            n_bad: 0,
            without_text: WithoutText::Fields,
        }
    }

    /// Shows rows without a text field as they stand.
    pub(super) fn shown_as_they_stand(self) -> Self {
        Self { without_text: WithoutText::Source, ..self }
    }

    /// Adds a remark on a row that is read all the same.
    pub(super) fn remark(&mut self, diagnostic: Diagnostic) {
        self.skip(diagnostic);
    }

    /// Adds the row that stands at `range`.
    pub(super) fn push(&mut self, row: &Node, range: Range<usize>) {
        let line = self.source.line_of(range.start);
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
            WithoutText::Source => self.source.slice(range.clone()).to_owned(),
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
        let mut sketch = Sketch::default();
        for paragraph in text.split("\n\n") {
            Sketch::push(&mut sketch.prose, paragraph);
        }
        let settled = settle(Material {
            title: &title,
            names: &names,
            authored: &authored,
            sketch: &sketch,
            text: &text,
            children: &[],
        });
        self.records.push(Record {
            id: RecordId::of_part(self.source.path, &anchor),
            path: self.source.path.to_owned(),
            kind: Kind::Row,
            title,
            breadcrumb: Vec::new(),
            scope: first(row, &self.fields.scope)
                .and_then(|(_, value)| value.line())
                .unwrap_or_default(),
            span: self.source.span(&range),
            language: Language::detect(head(&body, SAMPLE_BYTES)),
            triggers: settled.triggers,
            description: settled.description,
            summary: settled.summary,
            detail: self.source.slice(range).to_owned(),
            hidden: Vec::new(),
            body: if is_source { None } else { Some(body) },
            children: Vec::new(),
        });
    }

    /// Leaves out a row that cannot be read. Only the first ones are named, the rest is counted.
    pub(super) fn skip(&mut self, diagnostic: Diagnostic) {
        self.n_bad += 1;
        if self.n_bad <= MAX_NAMED {
            self.diagnostics.push(diagnostic);
        }
    }

    /// The records and diagnostics of the file.
    pub(super) fn finish(mut self) -> (Vec<Record>, Vec<Diagnostic>) {
        if self.n_bad > MAX_NAMED {
            let message = format!("{} more such lines", self.n_bad - MAX_NAMED);
            let last = self.diagnostics.iter().map(|it| it.line).max().unwrap_or(1);
            self.diagnostics.push(Diagnostic::error(self.source.path, last, message));
        }
        let path = self.source.path;
        let anchors = self.records.iter().map(|record| record.id.anchor_in(path));
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
            self.diagnostics.push(
                Diagnostic::warning(self.source.path, line, message)
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

/// The first words of a text, or the anchor of a row without any.
fn short_title(text: &str, anchor: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().take(TITLE_WORDS).collect();
    let title = squeeze(head(&words.join(" "), 80));
    if title.is_empty() { anchor.to_owned() } else { title }
}
