//! Rows of tables and items of lists that carry an id: which of them are records of their own.
//!
//! An ordinary table or list stays in its section. Its entries become records nested in the section when all of this
//! holds:
//! - it stands outside lists and quotes, and nothing but blank lines follows it in its section;
//! - it has at least [`MIN_ENTRIES`] entries, and the section has at least [`SHORT_BYTES`] bytes: a shorter one is an
//!   answer as it is;
//! - each of its entries has an id, no two have the same, and they are ids of one sort: an anchor that the author put
//!   there (`<a id="x">`, `{#x}`), an error code, or a number behind the same capitals (`REQ-12`, `FR-1.2`, `R052`),
//!   set apart from what follows (`**REQ-12** ...`, `[REQ-12] ...`, `REQ-12: ...`). In a table the id is all of the first
//!   cell, or any word of the column that is called `ID` but a long number;
//! - no comment block stands in it.
//!
//! A record of a list shows its item, one of a table its cells with the names of their columns. It is called by its id;
//! by its first words where the id is an anchor.

use std::collections::BTreeSet;
use std::ops::Range;

use super::decode::Source;
use super::derive::is_error_code;
use super::markdown;
use super::row::short_title;
use super::section::{Anchors, Body, Mark, SHORT_BYTES, Section};
use crate::record::Kind;

/// Fewer entries are read together.
const MIN_ENTRIES: usize = 3;
/// The most characters of an id.
const MAX_ID_CHARS: usize = 64;
/// Characters from which digits to the base of 16 are no name.
const OPAQUE_CHARS: usize = 16;
/// Stands for the level of entries: they are nested in whatever heading is above them.
const LEVEL: u8 = u8::MAX;

/// A table or list, as it is met while a section is read.
#[derive(Debug)]
pub(super) struct Run {
    /// What the section has before it.
    before: Mark,
    /// Where it ends.
    end: usize,
    /// The cells of the head of a table.
    head: Option<Vec<Range<usize>>>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    range: Range<usize>,
    /// How many links the section has before it.
    n_links: usize,
    cells: Vec<Range<usize>>,
}

/// What names an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// An anchor that the author put there, which need not say anything to people.
    Anchor(String),
    /// An id in the text.
    Id(String),
    /// A word of a column of ids.
    Word(String),
}

impl Run {
    /// Begins with a list that ends at `end`.
    pub(super) fn of_list(before: Mark, end: usize) -> Self {
        Self { before, end, head: None, entries: Vec::new() }
    }

    /// Begins with a table.
    pub(super) fn of_table(before: Mark, end: usize) -> Self {
        Self { head: Some(Vec::new()), ..Self::of_list(before, end) }
    }

    /// Adds an item or a row, before which the section has `n_links` links.
    pub(super) fn push(&mut self, range: Range<usize>, n_links: usize) {
        self.entries.push(Entry { range, n_links, cells: Vec::new() });
    }

    /// Adds a cell to the last row, or to the head if there is none.
    pub(super) fn push_cell(&mut self, range: Range<usize>) {
        match (self.entries.last_mut(), &mut self.head) {
            (Some(entry), _) => entry.cells.push(range),
            (None, Some(head)) => head.push(range),
            (None, None) => {}
        }
    }

    /// The keys of the entries, and the column that they stand in; `None` unless they are ids of one sort.
    fn keys(&self, source: &Source<'_>) -> Option<(Vec<Key>, usize)> {
        let Some(head) = &self.head else {
            let items = self.entries.iter().map(|it| key_of_item(source.slice(it.range.clone())));
            let keys: Vec<Key> = items.collect::<Option<_>>()?;
            return are_of_one_sort(&keys).then_some((keys, 0));
        };
        let named = head.iter().position(|cell| is_id_column(source.slice(cell.clone())));
        let column = named.unwrap_or(0);
        let key = |entry: &Entry| {
            let cell = source.slice(entry.cells.get(column)?.clone()).trim();
            key_of_cell(cell, named.is_some())
        };
        let keys: Vec<Key> = self.entries.iter().map(key).collect::<Option<_>>()?;
        are_of_one_sort(&keys).then_some((keys, column))
    }

    /// The names and contents of the cells of a row that have any, without that of its key.
    fn cells(&self, source: &Source<'_>, entry: &Entry, column: usize) -> Vec<(String, String)> {
        let plain = |cell: &Range<usize>| source.slice(cell.clone()).trim().replace("\\|", "|");
        let head = self.head.iter().flatten().map(plain);
        let cells = head.zip(entry.cells.iter().map(plain)).enumerate();
        let cells = cells.filter(|(idx, (_, value))| *idx != column && !value.is_empty());
        cells.map(|(_, cell)| cell).collect()
    }
}

/// Sets the entries with an id apart from the sections that they end. `start` is where the lead begins.
pub(super) fn set_apart(
    source: &Source<'_>,
    start: usize,
    lead: &mut Body,
    sections: Vec<Section>,
    anchors: &mut Anchors,
) -> Vec<Section> {
    let ends: Vec<usize> =
        sections.iter().map(|section| section.start).chain([source.text.len()]).collect();
    let mut ends = ends.into_iter();
    let mut all = entries(source, start..ends.next().unwrap_or(start), lead, anchors);
    for (mut section, end) in sections.into_iter().zip(ends) {
        let entries = entries(source, section.start..end, &mut section.body, anchors);
        all.push(section);
        all.extend(entries);
    }
    all
}

/// The entries at the end of the section that stands at `range`, taken out of its body.
fn entries(
    source: &Source<'_>,
    range: Range<usize>,
    body: &mut Body,
    anchors: &mut Anchors,
) -> Vec<Section> {
    let Some(run) = body.run.take() else { return Vec::new() };
    let is_last = source.slice(run.end..range.end).trim().is_empty();
    let is_long = range.len() >= SHORT_BYTES && run.entries.len() >= MIN_ENTRIES;
    if !is_last || !is_long || !body.hides_nothing_since(&run.before) {
        return Vec::new();
    }
    let Some((keys, column)) = run.keys(source) else { return Vec::new() };
    let mut links = body.rewind(&run.before).into_iter();
    let next = run.entries.iter().skip(1);
    let next = next.map(|it| (it.range.start, it.n_links)).chain([(range.end, usize::MAX)]);
    let entries = run.entries.iter().zip(next).zip(keys);
    let entries = entries.map(|((entry, (end, n_links)), key)| {
        let cells = run.cells(source, entry, column);
        let row = run.head.as_ref().map(|_| lines(&cells));
        let text = row.as_deref().unwrap_or_else(|| source.slice(entry.range.start..end));
        let mut sketch = markdown::sketch(text);
        // As in rows of other formats, code is that of an example more often than its name.
        sketch.code.clear();
        let (anchor, title) = match key {
            Key::Anchor(anchor) => {
                let cell = cells.first().map(|(_, value)| value);
                let said = cell.or_else(|| sketch.prose.iter().chain(&sketch.asides).next());
                let title = short_title(said.map_or("", String::as_str), &anchor);
                (anchor, title)
            }
            Key::Id(id) | Key::Word(id) => (id.clone(), id),
        };
        let shown = row.map(|row| format!("{title}\n\n{row}").trim_end().to_owned());
        Section {
            kind: Kind::Row,
            level: LEVEL,
            anchor: anchors.next(&title, Some(&anchor)),
            title,
            start: entry.range.start,
            body: Body {
                sketch,
                links: links.by_ref().take(n_links.saturating_sub(entry.n_links)).collect(),
                ..Body::default()
            },
            folded: Vec::new(),
            shown,
        }
    });
    entries.collect()
}

/// Cells, one `name: value` a line.
fn lines(cells: &[(String, String)]) -> String {
    let line = |(name, value): &(String, String)| match name.as_str() {
        "" => value.clone(),
        name => format!("{name}: {value}"),
    };
    cells.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether a column is one of ids by its name: `ID`, `Rule ID`.
fn is_id_column(head: &str) -> bool {
    let name = head.trim().trim_matches(['*', '_', '`']);
    name.rsplit(char::is_whitespace).next().is_some_and(|word| word.eq_ignore_ascii_case("id"))
}

/// Whether no two keys are the same, and all are anchors, error codes, ids with the same letters first, or words.
fn are_of_one_sort(keys: &[Key]) -> bool {
    if keys.iter().collect::<BTreeSet<_>>().len() != keys.len() {
        return false;
    }
    let letters =
        |id: &str| -> String { id.chars().take_while(char::is_ascii_uppercase).collect() };
    match keys.first() {
        Some(Key::Anchor(_)) => keys.iter().all(|key| matches!(key, Key::Anchor(_))),
        Some(Key::Word(_)) => keys.iter().all(|key| matches!(key, Key::Word(_))),
        Some(Key::Id(first)) => {
            let all = |is: &dyn Fn(&str) -> bool| {
                keys.iter().all(|key| matches!(key, Key::Id(id) if is(id)))
            };
            all(&is_error_code) || all(&|id| is_numbered(id) && letters(id) == letters(first))
        }
        None => false,
    }
}

/// The key of an item of a list, with its marker.
fn key_of_item(item: &str) -> Option<Key> {
    let line = item.lines().next().unwrap_or_default().trim();
    let text = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = text.strip_prefix(['-', '*', '+', '.', ')'])?.trim_start();
    let text = ["[ ] ", "[x] ", "[X] "].iter().find_map(|it| text.strip_prefix(it)).unwrap_or(text);
    if let Some(anchor) = anchor(text) {
        return Some(Key::Anchor(anchor));
    }
    let (marks, id, rest) = id(text)?;
    let is_apart = match marks {
        "" => {
            rest.starts_with(':')
                || [" - ", " \u{2013} ", " \u{2014} "].iter().any(|dash| rest.starts_with(dash))
        }
        // A link leads to the place where it is explained.
        _ => {
            rest.starts_with(['*', '_', '`', ']', ':'])
                && !rest.starts_with("](")
                && !rest.starts_with("][")
        }
    };
    is_apart.then(|| Key::Id(id.to_owned()))
}

/// The key of a row, from the cell that has it; in a column of ids any word is one.
fn key_of_cell(cell: &str, is_id_column: bool) -> Option<Key> {
    if let Some(anchor) = anchor(cell) {
        return Some(Key::Anchor(anchor));
    }
    if is_id_column {
        let word = cell.trim_matches(['*', '_', '`']);
        let is_word = word.chars().any(char::is_alphabetic)
            && word.chars().count() <= MAX_ID_CHARS
            && !word
                .contains(|c: char| c.is_whitespace() || c.is_control() || "[]()<>".contains(c));
        return (is_word && !is_opaque(word)).then(|| Key::Word(word.to_owned()));
    }
    let (_, id, rest) = id(cell)?;
    rest.chars().all(|c| "*_`]".contains(c)).then(|| Key::Id(id.to_owned()))
}

/// The anchor in `<a id="x">` or `<a name="x">` at the start of a text, or in `{#x}` at the end of its first line.
fn anchor(text: &str) -> Option<String> {
    let of_tag = || {
        let (tag, _) = text.strip_prefix("<a ")?.split_once('>')?;
        let value = ["id=", "name="].iter().find_map(|name| tag.trim_start().strip_prefix(name))?;
        value.split(['"', '\'']).find(|it| !it.is_empty())
    };
    let of_brace = || Some(text.strip_suffix('}')?.rsplit_once("{#")?.1);
    let anchor = of_tag().or_else(of_brace)?;
    let is_name = |c: char| c.is_alphanumeric() || "-_.:".contains(c);
    let is_anchor = !anchor.is_empty() && anchor.chars().count() <= MAX_ID_CHARS;
    (is_anchor && anchor.chars().all(is_name)).then(|| anchor.to_owned())
}

/// Whether a word is nothing but a long number to the base of 16, which nobody calls anything by.
fn is_opaque(word: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_hexdigit() || b == b'-';
    word.len() >= OPAQUE_CHARS && word.bytes().all(is_digit)
}

/// Splits a text that begins with an id into the signs of markup before it, the id, and the rest.
fn id(text: &str) -> Option<(&str, &str, &str)> {
    let bare = text.trim_start_matches(['*', '_', '`', '[']);
    let n_word =
        bare.find(|c: char| !c.is_ascii_alphanumeric() && !"_-.".contains(c)).unwrap_or(bare.len());
    let id = bare.get(..n_word)?.trim_end_matches(['_', '-', '.']);
    let is_id = id.len() <= MAX_ID_CHARS && (is_numbered(id) || is_error_code(id));
    let marks = text.get(..text.len() - bare.len())?;
    is_id.then_some((marks, id, bare.get(id.len()..)?))
}

/// Whether a word is a number behind capitals: `REQ-12`, `FR-1.2`, `R052`, `CVE-2024-1234`. One digit right behind letters
/// is none (`P1`, `H2`, `S3`): those name degrees, quarters and products.
fn is_numbered(word: &str) -> bool {
    let is_sign = |b: u8| matches!(b, b'_' | b'-' | b'.');
    let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.ends_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || is_sign(b))
        && (n_digits >= 2 || word.bytes().any(is_sign))
}
