//! The bytes of a file as text, and the way back from places in the text to places in the bytes.

use std::borrow::Cow;
use std::ops::Range;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};

use super::Diagnostic;
use crate::record::{Lines, Span};

/// Bytes at the start of a file in which a NUL tells that it is no text.
const BINARY_BYTES: usize = 8_000;

/// Bytes from the first broken one on that an encoding is guessed from.
const GUESS_BYTES: usize = 1 << 20;

/// How the bytes of a file become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// The bytes are the text.
    Utf8,
    /// So they are, but for a few that are no UTF-8.
    Broken,
    /// Another encoding.
    Other(&'static encoding_rs::Encoding),
    /// They are no text.
    Binary,
}

impl Encoding {
    /// How many bytes a unit has: lines end between two of them.
    pub(super) fn unit(self) -> usize {
        if self.is_utf_16() { 2 } else { 1 }
    }

    /// Whether a unit ends a line.
    pub(super) fn is_end(self, unit: &[u8]) -> bool {
        match self {
            Self::Other(it) if it == UTF_16LE => unit == b"\n\0",
            Self::Other(it) if it == UTF_16BE => unit == b"\0\n",
            _ => unit == b"\n",
        }
    }

    fn is_utf_16(self) -> bool {
        matches!(self, Self::Other(it) if it == UTF_16LE || it == UTF_16BE)
    }
}

/// Looks through the bytes of a file, in pieces of any size, to tell how they are encoded.
pub(super) struct Survey {
    /// The first bytes.
    head: Vec<u8>,
    /// The last bytes, if more may make a character of them.
    tail: Vec<u8>,
    /// Characters of UTF-8 that are no ASCII, and byte sequences that are no characters.
    n_wide: usize,
    n_broken: usize,
    /// Ends of lines before the first of those.
    n_lines: u32,
    detector: EncodingDetector,
    /// Bytes that the detector has seen.
    n_fed: usize,
}

impl std::fmt::Debug for Survey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Survey").field("n_broken", &self.n_broken).finish_non_exhaustive()
    }
}

impl Survey {
    /// Nothing has been seen yet.
    pub(super) fn new() -> Self {
        Self {
            head: Vec::new(),
            tail: Vec::new(),
            n_wide: 0,
            n_broken: 0,
            n_lines: 0,
            detector: EncodingDetector::new(Iso2022JpDetection::Deny),
            n_fed: 0,
        }
    }

    /// Looks at the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let n_head = (BINARY_BYTES - self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.get(..n_head).unwrap_or_default());
        if self.tail.is_empty() {
            self.look(bytes);
        } else {
            let mut joined = std::mem::take(&mut self.tail);
            joined.extend_from_slice(bytes);
            self.look(&joined);
        }
    }

    /// Says how the file is encoded, and what is doubtful about that.
    pub(super) fn finish(mut self, path: &str) -> (Encoding, Option<Diagnostic>) {
        if !self.tail.is_empty() {
            let tail = std::mem::take(&mut self.tail);
            self.feed(&tail);
            self.n_broken += 1;
        }
        let marked = encoding_rs::Encoding::for_bom(&self.head);
        if let Some((encoding, _)) = marked.filter(|&(it, _)| it != UTF_8) {
            return (Encoding::Other(encoding), None);
        }
        let has_nul = self.head.contains(&0);
        if has_nul && let Some(encoding) = utf_16_without_mark(&self.head) {
            return (Encoding::Other(encoding), Some(guessed(path, encoding)));
        }
        if self.n_broken == 0 {
            return (Encoding::Utf8, None);
        }
        if has_nul {
            let note = Diagnostic::error(path, 1, "not text: it holds NUL bytes")
                .help("leave it out with .psosignore");
            return (Encoding::Binary, Some(note));
        }
        // UTF-8 with a few broken bytes has more characters than those.
        if self.n_wide < self.n_broken {
            self.detector.feed(&[], true);
            let encoding = self.detector.guess(None, Utf8Detection::Deny);
            return (Encoding::Other(encoding), Some(guessed(path, encoding)));
        }
        let message = format!("not UTF-8: {} byte sequences are shown as U+FFFD", self.n_broken);
        let note = Diagnostic::warning(path, self.n_lines.saturating_add(1), message);
        (Encoding::Broken, Some(note.help("save the file as UTF-8")))
    }

    fn look(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        loop {
            let Err(error) = str::from_utf8(rest) else { return self.count(rest) };
            let (valid, broken) = rest.split_at(error.valid_up_to());
            self.count(valid);
            let Some(n_bytes) = error.error_len() else {
                broken.clone_into(&mut self.tail);
                return;
            };
            let (broken, after) = broken.split_at(n_bytes);
            self.feed(broken);
            self.n_broken += 1;
            rest = after;
        }
    }

    /// Counts what is UTF-8.
    fn count(&mut self, valid: &[u8]) {
        // Each character that is no ASCII has one such byte.
        self.n_wide += valid.iter().filter(|&&b| b >= 0xC0).count();
        if self.n_broken == 0 {
            let n_ends: usize = valid.iter().map(|&b| usize::from(b == b'\n')).sum();
            self.n_lines = self.n_lines.saturating_add(u32::try_from(n_ends).unwrap_or(u32::MAX));
        } else {
            self.feed(valid);
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        let n = (GUESS_BYTES - self.n_fed).min(bytes.len());
        self.detector.feed(bytes.get(..n).unwrap_or_default(), false);
        self.n_fed += n;
    }
}

/// What stands in a file before a piece of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Base {
    /// Bytes.
    pub bytes: u64,
    /// Ends of lines.
    pub lines: u32,
}

/// A decoded file, or a piece of one.
#[derive(Debug)]
pub(super) struct Source<'a> {
    /// The path of the file.
    pub path: &'a str,
    /// The whole text, with a byte order mark if it has one; empty for a binary file.
    pub text: Cow<'a, str>,
    /// Where the lines of the text begin.
    line_starts: Vec<usize>,
    /// How the bytes were decoded.
    origin: Origin<'a>,
    /// What stands before it.
    base: Base,
}

/// The way from text back to bytes.
#[derive(Debug)]
enum Origin<'a> {
    /// The bytes are the text.
    Utf8,
    /// After each replaced byte sequence: the place in the text, and in the bytes.
    Replaced(Vec<(usize, usize)>),
    /// Another encoding, with the bytes, and the places in them where the lines begin, and the end.
    Encoded(&'static encoding_rs::Encoding, &'a [u8], Vec<usize>),
}

impl<'a> Source<'a> {
    /// Decodes a file; the diagnostic says what was replaced or guessed.
    pub(super) fn decode(path: &'a str, bytes: &'a [u8]) -> (Self, Option<Diagnostic>) {
        let mut survey = Survey::new();
        survey.push(bytes);
        let (encoding, note) = survey.finish(path);
        (Self::piece(path, bytes, encoding, Base::default()), note)
    }

    /// Decodes a piece of a file, which begins and ends between two characters.
    pub(super) fn piece(path: &'a str, bytes: &'a [u8], encoding: Encoding, base: Base) -> Self {
        let source = match encoding {
            Encoding::Utf8 => match str::from_utf8(bytes) {
                Ok(text) => Self::new(path, Cow::Borrowed(text), Origin::Utf8),
                // The file is another one than that which was looked through.
                Err(_) => Self::replaced(path, bytes),
            },
            Encoding::Broken => Self::replaced(path, bytes),
            Encoding::Other(encoding) => Self::encoded(path, bytes, encoding),
            Encoding::Binary => Self::new(path, Cow::Borrowed(""), Origin::Utf8),
        };
        Self { base, ..source }
    }

    /// Text that stands in no file.
    pub(super) fn of_text(path: &'a str, text: &'a str) -> Self {
        Self::new(path, Cow::Borrowed(text), Origin::Utf8)
    }

    /// Whether the file begins here.
    pub(super) fn is_start(&self) -> bool {
        self.base == Base::default()
    }

    /// Where the text goes on behind a place of it.
    pub(super) fn base_at(&self, at: usize) -> Base {
        let n_lines = u32::try_from(self.line_idx(at)).unwrap_or(u32::MAX);
        Base { bytes: self.raw(at), lines: self.base.lines.saturating_add(n_lines) }
    }

    /// The text of a range, empty if the range is none of this text.
    pub(super) fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// The line that a place of the text stands on, counted from 1.
    pub(super) fn line_of(&self, at: usize) -> u32 {
        let n_before = u32::try_from(self.line_idx(at)).unwrap_or(u32::MAX);
        self.base.lines.saturating_add(n_before).saturating_add(1)
    }

    /// Where the line begins that a place of the text stands on.
    pub(super) fn line_start(&self, at: usize) -> usize {
        self.line_starts.get(self.line_idx(at)).copied().unwrap_or(0)
    }

    /// Where a line begins, counted from 0; the end of the text for a line after the last.
    pub(super) fn start_of(&self, line_idx: usize) -> usize {
        self.line_starts.get(line_idx).copied().unwrap_or(self.text.len())
    }

    /// The place of a range of the text in the file. An end of line belongs to the line it ends.
    pub(super) fn span(&self, range: &Range<usize>) -> Span {
        let last = range.end.saturating_sub(1).max(range.start);
        Span {
            bytes: self.raw(range.start)..self.raw(range.end),
            lines: Lines { first: self.line_of(range.start), last: self.line_of(last) },
        }
    }

    /// The lines of the text with their ends, and where each begins.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let ends = self.line_starts.iter().skip(1).copied().chain(std::iter::once(self.text.len()));
        self.line_starts
            .iter()
            .copied()
            .zip(ends)
            .map(|(start, end)| (start, self.slice(start..end)))
    }

    fn new(path: &'a str, text: Cow<'a, str>, origin: Origin<'a>) -> Self {
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(at, _)| at + 1))
            .collect();
        Self { path, text, line_starts, origin, base: Base::default() }
    }

    fn replaced(path: &'a str, bytes: &[u8]) -> Self {
        let (text, shifts) = replace_invalid(bytes);
        Self::new(path, Cow::Owned(text), Origin::Replaced(shifts))
    }

    fn encoded(path: &'a str, bytes: &'a [u8], encoding: &'static encoding_rs::Encoding) -> Self {
        let (text, _) = encoding.decode_without_bom_handling(bytes);
        let mut source = Self::new(path, text, Origin::Utf8);
        let mut starts = vec![0];
        // The end of a line is one byte in every encoding but UTF-16, and in no other character.
        let is_utf_16 = encoding == UTF_16LE || encoding == UTF_16BE;
        let is_end = |(_, b): &(usize, &u8)| **b == b'\n' && !is_utf_16;
        let ends: Vec<usize> =
            bytes.iter().enumerate().filter(is_end).map(|(at, _)| at + 1).collect();
        if ends.len() + 1 == source.line_starts.len() {
            starts.extend(ends);
        } else {
            let mut at = 0;
            for (_, line) in source.lines() {
                at = (at + encoded_len(encoding, line)).min(bytes.len());
                starts.push(at);
            }
            starts.truncate(source.line_starts.len());
        }
        starts.push(bytes.len());
        source.origin = Origin::Encoded(encoding, bytes, starts);
        source
    }

    fn line_idx(&self, at: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= at).saturating_sub(1)
    }

    fn raw(&self, at: usize) -> u64 {
        let raw = match &self.origin {
            Origin::Utf8 => at,
            Origin::Replaced(shifts) => {
                let n = shifts.partition_point(|&(text_at, _)| text_at <= at);
                let shift = n.checked_sub(1).and_then(|i| shifts.get(i));
                shift.map_or(at, |&(text_at, raw_at)| raw_at + (at - text_at))
            }
            Origin::Encoded(encoding, bytes, starts) => {
                let idx = self.line_idx(at);
                let end = starts.last().copied().unwrap_or_default();
                if at >= self.text.len() {
                    end
                } else {
                    let start = starts.get(idx).copied().unwrap_or(end);
                    let next = starts.get(idx + 1).copied().unwrap_or(end);
                    let line = bytes.get(start..next).unwrap_or_default();
                    start + decoded_from(encoding, line, at - self.start_of(idx))
                }
            }
        };
        self.base.bytes + raw as u64
    }
}

fn guessed(path: &str, encoding: &'static encoding_rs::Encoding) -> Diagnostic {
    let message = format!("not UTF-8: read as {}, a guess", encoding.name());
    Diagnostic::warning(path, 1, message).help("save the file as UTF-8")
}

/// UTF-16 that nothing marks: every other byte of its ASCII characters is zero.
fn utf_16_without_mark(head: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let (pairs, _) = head.as_chunks::<2>();
    let n_high = pairs.iter().filter(|[high, low]| *high == 0 && *low != 0).count();
    let n_low = pairs.iter().filter(|[low, high]| *high == 0 && *low != 0).count();
    let is_most = |n: usize| n >= 8 && n * 10 > pairs.len() * 6;
    if is_most(n_low) { Some(UTF_16LE) } else { is_most(n_high).then_some(UTF_16BE) }
}

/// How many bytes a text has in an encoding.
fn encoded_len(encoding: &'static encoding_rs::Encoding, text: &str) -> usize {
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return text.chars().map(char::len_utf16).sum::<usize>() * 2;
    }
    encoding.encode(text).0.len()
}

/// How many bytes of a line a text of `n_text` bytes was decoded from. Encoding the text again would not tell: what could
/// not be decoded stands for other bytes than those it is encoded to.
fn decoded_from(encoding: &'static encoding_rs::Encoding, line: &[u8], n_text: usize) -> usize {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut room = [0; 16];
    let mut n = 0;
    for (at, byte) in line.iter().enumerate() {
        if n >= n_text {
            return at;
        }
        let (_, _, n_written, _) =
            decoder.decode_to_utf8(std::slice::from_ref(byte), &mut room, false);
        n += n_written;
    }
    line.len()
}

fn replace_invalid(bytes: &[u8]) -> (String, Vec<(usize, usize)>) {
    let mut shifts = Vec::new();
    let mut text = String::with_capacity(bytes.len());
    let mut n_read = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        n_read += chunk.valid().len() + chunk.invalid().len();
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            shifts.push((text.len(), n_read));
        }
    }
    (text, shifts)
}
