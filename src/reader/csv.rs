//! CSV and TSV: one row, one record; the first line names the fields.

use std::ops::Range;

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::node::Node;
use super::row::Rows;

/// Separators that occur, the likeliest first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// What the first line of a file says about the others.
///
/// The separator is the one that the first line has most of. The first line is no record. When its cells are no
/// names (empty, repeated or numbers), it is a row like the others, and the fields are `column 1`, `column 2`
/// and so on.
#[derive(Debug, Default)]
pub(super) struct Table {
    separator: Option<u8>,
    names: Option<Vec<String>>,
}

/// Whether the file goes on behind a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It does, and so may the last row.
    Open,
    /// It does not.
    File,
}

impl Table {
    /// Reads a piece of a file that begins with a row, and returns where the last row begins that may go on behind
    /// the piece.
    ///
    /// A row may run over several lines, inside quotes. A quote that nothing closes before the end costs the
    /// line that it stands on, and not all the lines below.
    pub(super) fn read(&mut self, source: &Source<'_>, end: End, rows: &mut Rows<'_>) -> usize {
        let mark = source.text.strip_prefix('\u{feff}').filter(|_| source.is_start());
        let mut at = mark.map_or(0, |_| '\u{feff}'.len_utf8());
        loop {
            let text = source.slice(at..source.text.len());
            let separator = *self.separator.get_or_insert_with(|| separator(text));
            match self.read_rows(source, at, separator, end, rows) {
                Stop::End => return source.text.len(),
                Stop::Open(start) => return start,
                Stop::Unclosed(start) => {
                    let line = source.line_of(start);
                    rows.remark(unclosed(source.path, line));
                    at = start + line_len(source.slice(start..source.text.len()));
                }
            }
        }
    }

    /// Gives up on the row that a piece begins with, and returns where the next line begins.
    pub(super) fn skip(source: &Source<'_>, rows: &mut Rows<'_>) -> usize {
        rows.remark(unclosed(source.path, source.line_of(0)));
        line_len(&source.text)
    }

    fn read_rows(
        &mut self,
        source: &Source<'_>,
        base: usize,
        separator: u8,
        end: End,
        rows: &mut Rows<'_>,
    ) -> Stop {
        let text = source.slice(base..source.text.len());
        let mut reader = ::csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .from_reader(text.as_bytes());
        let mut cells = ::csv::StringRecord::new();
        loop {
            let from = offset(reader.position().byte()).min(text.len());
            match reader.read_record(&mut cells) {
                Ok(true) => {}
                Ok(false) => return Stop::End,
                Err(error) => {
                    let line = source.line_of(base + from);
                    let message = format!("row cannot be read: {error}");
                    let note = Diagnostic::error(source.path, line, message);
                    rows.remark(note.help("put it right: the other rows are read"));
                    continue;
                }
            }
            let to = offset(reader.position().byte()).min(text.len());
            let raw = text.get(from..to).unwrap_or_default();
            let lead = raw.len() - raw.trim_start_matches(['\r', '\n']).len();
            let start = base + from + lead;
            if to == text.len() {
                if end == End::Open {
                    return Stop::Open(start);
                }
                if is_unclosed(raw) {
                    return Stop::Unclosed(start);
                }
            }
            let range = start..start + raw.trim_matches(['\r', '\n']).len();
            self.row(source, &cells, range, rows);
        }
    }

    fn row(
        &mut self,
        source: &Source<'_>,
        cells: &::csv::StringRecord,
        range: Range<usize>,
        rows: &mut Rows<'_>,
    ) {
        let names = match &mut self.names {
            Some(names) => names,
            none if is_header(cells) => {
                *none = Some(cells.iter().map(|cell| cell.trim().to_owned()).collect());
                return;
            }
            none => none.insert((1..=cells.len()).map(|n| format!("column {n}")).collect()),
        };
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            return;
        }
        if cells.len() != names.len() {
            let (n, wanted) = (cells.len(), names.len());
            let line = source.line_of(range.start);
            let message = format!("row has {n} fields, the first line has {wanted}");
            let help = "put quotes around cells that hold the separator";
            rows.remark(Diagnostic::warning(source.path, line, message).help(help));
        }
        let entries = cells.iter().enumerate().map(|(idx, cell)| {
            let name = names.get(idx).cloned().unwrap_or_else(|| format!("column {}", idx + 1));
            (name, Node::Text(cell.to_owned()))
        });
        let node = Node::Map(entries.collect());
        rows.push(source, &node, range);
    }
}

/// Why no more rows are read.
enum Stop {
    /// There are none.
    End,
    /// The row that begins here may go on behind the piece.
    Open(usize),
    /// The row that begins here has a quote that nothing closes.
    Unclosed(usize),
}

fn unclosed(path: &str, line: u32) -> Diagnostic {
    Diagnostic::error(path, line, "a quote opens on this line that nothing closes")
        .help("close it, or write a quote inside a cell twice")
}

/// Whether the last row of a file ran to its end because of an open quote, over further lines.
fn is_unclosed(row: &str) -> bool {
    let n_quotes = row.bytes().filter(|&b| b == b'"').count();
    n_quotes % 2 == 1 && row.trim_end().contains('\n')
}

fn line_len(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |at| at + 1)
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
