//! CSV and TSV: one row, one record; the first line names the fields.

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::node::Node;
use super::row::Rows;
use super::sidecar::Entries;
use super::{Document, Options, Sidecar};

/// Separators that occur, the likeliest first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Reads a file of rows. The separator is the one that the first line has most of.
///
/// The first line is no record. When its cells are no names (empty, repeated or numbers), it is a
/// row like the others, and the fields are `column 1`, `column 2` and so on.
pub(super) fn read(
    source: &Source<'_>,
    sidecar: Option<Sidecar<'_>>,
    options: &Options,
) -> Document {
    let mut diagnostics = Vec::new();
    let entries = Entries::read(sidecar, options.tiers, &mut diagnostics);
    let mut rows = Rows::new(source, &options.fields, entries, diagnostics);
    let base = if source.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let text = source.slice(base..source.text.len());
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator(text))
        .from_reader(text.as_bytes());
    let mut cells = ::csv::StringRecord::new();
    let mut names: Option<Vec<String>> = None;
    loop {
        let start = offset(reader.position().byte());
        match reader.read_record(&mut cells) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                let line = source.line_of(base + start);
                rows.skip(Diagnostic::error(
                    source.path,
                    line,
                    format!("row cannot be read: {error}"),
                ));
                continue;
            }
        }
        let end = offset(reader.position().byte()).min(text.len());
        let raw = text.get(start..end).unwrap_or_default();
        let start = base + start + (raw.len() - raw.trim_start_matches(['\r', '\n']).len());
        let range = start..(base + end).min(start + raw.trim_matches(['\r', '\n']).len());
        let names = match &mut names {
            Some(names) => names,
            none if is_header(&cells) => {
                *none = Some(cells.iter().map(|cell| cell.trim().to_owned()).collect());
                continue;
            }
            none => none.insert((1..=cells.len()).map(|n| format!("column {n}")).collect()),
        };
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        if cells.len() != names.len() {
            let (n, wanted) = (cells.len(), names.len());
            let line = source.line_of(range.start);
            let message = format!("row has {n} fields, the first line has {wanted}");
            rows.remark(Diagnostic::warning(source.path, line, message));
        }
        let entries = cells.iter().enumerate().map(|(idx, cell)| {
            let name = names.get(idx).cloned().unwrap_or_else(|| format!("column {}", idx + 1));
            (name, Node::Text(cell.to_owned()))
        });
        rows.push(&Node::Map(entries.collect()), range);
    }
    let (records, diagnostics) = rows.finish();
    Document { records, diagnostics, links: Vec::new() }
}

fn separator(text: &str) -> u8 {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let count = |separator: u8| first.bytes().filter(|&b| b == separator).count();
    let most = SEPARATORS.into_iter().rev().max_by_key(|&separator| count(separator));
    most.unwrap_or(b',')
}

fn is_header(cells: &::csv::StringRecord) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    cells.iter().all(|cell| {
        let cell = cell.trim();
        !cell.is_empty() && cell.parse::<f64>().is_err() && cell.len() <= 64 && seen.insert(cell)
    })
}

fn offset(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
