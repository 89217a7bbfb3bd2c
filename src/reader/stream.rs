//! Files of any length, a piece at a time: rows, lines and plain text, in bounded memory.

use std::ops::Range;

use super::csv::{End, Table};
use super::decode::{self, Base, Encoding, Source};
use super::diagnostic::Diagnostic;
use super::format::{Format, format_of};
use super::plain::Long;
use super::row::Rows;
use super::{Document, Options, Sidecar, jsonl};
use crate::record::Record;

/// Bytes from which plain text is read in pieces.
pub(super) const LONG_TEXT: u64 = 4 << 20;
/// Bytes from which a file of another format is taken for plain text: what its reader makes of it would not fit
/// into memory.
pub(super) const TOO_LONG: u64 = 64 << 20;
/// How much is looked at.
const BOUNDS: Bounds = Bounds { piece_bytes: 1 << 20, row_bytes: 16 << 20 };

/// Whether a file of this many bytes is to be read as a [`Stream`], and not with [`super::read`], which holds all of
/// it in memory. Both give the same records.
pub fn is_streamed(path: &str, n_bytes: u64) -> bool {
    match format_of(path).unwrap_or(Format::Text) {
        Format::Jsonl | Format::Csv | Format::Text => n_bytes > LONG_TEXT,
        _ => n_bytes > TOO_LONG,
    }
}

/// A first look through a file that is read piece by piece: how its bytes become text depends on all of them.
#[derive(Debug)]
pub struct Survey(decode::Survey);

impl Survey {
    /// Nothing has been seen yet.
    pub fn new() -> Self {
        Self(decode::Survey::new())
    }

    /// Looks at the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.push(bytes);
    }
}

impl Default for Survey {
    fn default() -> Self {
        Self::new()
    }
}

/// A file that is read piece by piece. How its bytes are cut into pieces makes no difference.
#[derive(Debug)]
pub struct Stream<'a> {
    path: &'a str,
    encoding: Encoding,
    shape: Shape<'a>,
    /// What stands before the bytes that are kept.
    base: Base,
    /// Bytes that belong to no finished row.
    kept: Vec<u8>,
    /// How many bytes must be kept before they are looked at again.
    wanted: usize,
    /// Inside a line that is too long.
    skipping: bool,
    diagnostics: Vec<Diagnostic>,
    bounds: Bounds,
}

/// How much is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Bytes that are read at a time.
    pub piece_bytes: usize,
    /// Bytes from which a line or a row is too long to be one.
    pub row_bytes: usize,
}

/// What is made of the text.
#[derive(Debug)]
enum Shape<'a> {
    Lines(Rows<'a>),
    Cells(Rows<'a>, Table),
    Text(Long<'a>),
}

/// Why bytes are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// There are enough of them.
    Full,
    /// There are too many for one row.
    Overlong,
    /// There are no more.
    Last,
}

impl<'a> Stream<'a> {
    /// Begins to read a file that was looked through.
    pub fn new(
        path: &'a str,
        survey: Survey,
        sidecar: Option<Sidecar<'_>>,
        options: &'a Options,
    ) -> Self {
        let (encoding, note) = survey.0.finish(path);
        let mut diagnostics: Vec<Diagnostic> = note.into_iter().collect();
        let shape = match format_of(path).unwrap_or(Format::Text) {
            Format::Jsonl => Shape::Lines(Rows::open(path, sidecar, options)),
            Format::Csv => Shape::Cells(Rows::open(path, sidecar, options), Table::default()),
            format => {
                if format != Format::Text {
                    let n = TOO_LONG >> 20;
                    let message = format!("longer than {n} MiB: read as plain text");
                    let note = Diagnostic::warning(path, 1, message);
                    diagnostics.push(note.help("split it, or leave it out with .psosignore"));
                }
                Shape::Text(Long::open(path, sidecar, options.tiers))
            }
        };
        Self {
            path,
            encoding,
            shape,
            base: Base::default(),
            kept: Vec::new(),
            wanted: BOUNDS.piece_bytes,
            skipping: false,
            diagnostics,
            bounds: BOUNDS,
        }
    }

    /// The same with other bounds.
    #[cfg(test)]
    pub(super) fn bounded(self, bounds: Bounds) -> Self {
        Self { wanted: bounds.piece_bytes, bounds, ..self }
    }

    /// Takes the next bytes, and returns the records that are complete with them.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Record> {
        if self.encoding == Encoding::Binary {
            return Vec::new();
        }
        for piece in bytes.chunks(self.bounds.piece_bytes) {
            self.kept.extend_from_slice(piece);
            while self.kept.len() >= self.wanted && self.turn() {}
        }
        self.take()
    }

    /// Returns the last records, and the remarks on the file.
    pub fn finish(mut self) -> (Vec<Record>, Vec<Diagnostic>) {
        while self.skipping && self.skip() {}
        let kept = self.kept.len();
        if kept > 0 && !self.skipping {
            self.read(kept, Turn::Last);
        }
        let (records, mut diagnostics) = match self.shape {
            Shape::Lines(rows) | Shape::Cells(rows, _) => rows.finish(),
            Shape::Text(long) => long.finish(),
        };
        self.diagnostics.append(&mut diagnostics);
        super::sort(&mut self.diagnostics);
        (records, self.diagnostics)
    }

    fn take(&mut self) -> Vec<Record> {
        match &mut self.shape {
            Shape::Lines(rows) | Shape::Cells(rows, _) => rows.take(),
            Shape::Text(long) => long.take(),
        }
    }

    /// Reads what is kept up to the last end of a line. Returns whether that left less to read.
    fn turn(&mut self) -> bool {
        if self.skipping {
            return self.skip();
        }
        let n_read = match self.last_end() {
            Some(end) => self.read(end, Turn::Full),
            None => 0,
        };
        if n_read > 0 {
            self.wanted = self.kept.len() + self.bounds.piece_bytes;
            return true;
        }
        if self.kept.len() < self.bounds.row_bytes {
            self.wanted = self.kept.len() + self.bounds.piece_bytes;
            return false;
        }
        self.read(self.last_character(), Turn::Overlong);
        self.wanted = self.kept.len().max(self.bounds.piece_bytes);
        true
    }

    /// Hands the first `n` bytes that are kept to the reader, and drops what it is done with.
    fn read(&mut self, n: usize, turn: Turn) -> usize {
        let bytes = self.kept.get(..n).unwrap_or_default();
        let source = Source::piece(self.path, bytes, self.encoding, self.base);
        let n_done = match (&mut self.shape, turn) {
            (Shape::Lines(rows), Turn::Overlong) => {
                rows.remark(too_long(self.path, source.line_of(0), self.bounds));
                self.skipping = true;
                source.text.len()
            }
            (Shape::Lines(rows), _) => {
                jsonl::read(&source, rows);
                source.text.len()
            }
            (Shape::Cells(rows, _), Turn::Overlong) if source.text.contains('\n') => {
                Table::skip(&source, rows)
            }
            (Shape::Cells(rows, _), Turn::Overlong) => {
                rows.remark(too_long(self.path, source.line_of(0), self.bounds));
                self.skipping = true;
                source.text.len()
            }
            (Shape::Cells(rows, table), Turn::Full) => table.read(&source, End::Open, rows),
            (Shape::Cells(rows, table), Turn::Last) => table.read(&source, End::File, rows),
            (Shape::Text(long), Turn::Full) => long.read(&source, End::Open),
            (Shape::Text(long), _) => long.read(&source, End::File),
        };
        let base = source.base_at(n_done);
        self.advance(base)
    }

    /// Drops the rest of a line that is too long.
    fn skip(&mut self) -> bool {
        let end = self.ends().next();
        let n = end.unwrap_or(self.kept.len() / self.encoding.unit() * self.encoding.unit());
        let lines = self.base.lines + u32::from(end.is_some());
        self.skipping = end.is_none();
        self.advance(Base { bytes: self.base.bytes + n as u64, lines });
        self.wanted = self.bounds.piece_bytes;
        end.is_some()
    }

    /// Drops the bytes before a place in the file, and returns how many.
    fn advance(&mut self, base: Base) -> usize {
        let n = usize::try_from(base.bytes - self.base.bytes).unwrap_or(usize::MAX);
        let n = n.min(self.kept.len());
        self.kept.drain(..n);
        self.base = base;
        n
    }

    /// Where the lines of what is kept end.
    fn ends(&self) -> impl DoubleEndedIterator<Item = usize> {
        let (unit, encoding) = (self.encoding.unit(), self.encoding);
        let units = self.kept.chunks_exact(unit).enumerate();
        units.filter(move |(_, it)| encoding.is_end(it)).map(move |(idx, _)| (idx + 1) * unit)
    }

    fn last_end(&self) -> Option<usize> {
        self.ends().next_back()
    }

    /// Where what is kept can be cut in no line: between two characters.
    fn last_character(&self) -> usize {
        let unit = self.encoding.unit();
        let end = self.kept.len() / unit * unit;
        let is_inside =
            |at: usize| unit == 1 && self.kept.get(at).is_some_and(|b| (0x80..0xC0).contains(b));
        let candidates: Range<usize> = end.saturating_sub(4)..end;
        match self.encoding {
            Encoding::Utf8 | Encoding::Broken => {
                candidates.rev().find(|&at| !is_inside(at)).unwrap_or(end)
            }
            _ => end,
        }
    }
}

/// Reads a whole file as a stream.
pub(super) fn read(
    path: &str,
    bytes: &[u8],
    sidecar: Option<Sidecar<'_>>,
    options: &Options,
) -> Document {
    let mut survey = Survey::new();
    survey.push(bytes);
    let mut stream = Stream::new(path, survey, sidecar, options);
    let mut records = stream.push(bytes);
    let (mut rest, diagnostics) = stream.finish();
    records.append(&mut rest);
    Document { records, diagnostics, ..Document::default() }
}

fn too_long(path: &str, line: u32, bounds: Bounds) -> Diagnostic {
    let message = format!("line is longer than {} bytes", bounds.row_bytes);
    Diagnostic::error(path, line, message).help("a row this long is found by no question")
}
