//! The bytes of a file as text, and the way back from places in the text to places in the bytes.

use std::borrow::Cow;
use std::ops::Range;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::Diagnostic;
use crate::record::{Lines, Span};

/// Bytes at the start of a file in which a NUL tells that it is no text.
const BINARY_BYTES: usize = 8_000;

/// A decoded file.
#[derive(Debug)]
pub(super) struct Source<'a> {
    /// The path of the file.
    pub path: &'a str,
    /// The whole text, with a byte order mark if it has one; empty for a binary file.
    pub text: Cow<'a, str>,
    /// Where the lines of the text begin.
    line_starts: Vec<usize>,
    /// How the bytes were decoded.
    origin: Origin,
}

/// The way from text back to bytes.
#[derive(Debug)]
enum Origin {
    /// The bytes are the text.
    Utf8,
    /// After each replaced byte sequence: the place in the text, and in the bytes.
    Replaced(Vec<(usize, usize)>),
    /// Another encoding, with the places in the bytes where the lines begin, and the end.
    Encoded(&'static Encoding, Vec<usize>),
}

impl<'a> Source<'a> {
    /// Decodes a file; the diagnostic says what was replaced or guessed.
    pub(super) fn decode(path: &'a str, bytes: &'a [u8]) -> (Self, Option<Diagnostic>) {
        if let Some((encoding, _)) = Encoding::for_bom(bytes).filter(|&(it, _)| it != UTF_8) {
            return (Self::encoded(path, bytes, encoding), None);
        }
        let error = match str::from_utf8(bytes) {
            Ok(text) => return (Self::new(path, Cow::Borrowed(text), Origin::Utf8), None),
            Err(error) => error,
        };
        let head = bytes.get(..BINARY_BYTES.min(bytes.len())).unwrap_or_default();
        if let Some(encoding) = utf_16_without_mark(head) {
            return (Self::encoded(path, bytes, encoding), Some(guessed(path, encoding)));
        }
        if head.contains(&0) {
            let note = Diagnostic::error(path, 1, "not text: it holds NUL bytes")
                .help("leave it out with .psosignore");
            return (Self::new(path, Cow::Borrowed(""), Origin::Utf8), Some(note));
        }
        if let Some(encoding) = guess(bytes) {
            return (Self::encoded(path, bytes, encoding), Some(guessed(path, encoding)));
        }
        let (text, shifts) = replace_invalid(bytes);
        let n = shifts.len();
        let source = Self::new(path, Cow::Owned(text), Origin::Replaced(shifts));
        let line = source.line_of(error.valid_up_to());
        let note = Diagnostic::warning(
            path,
            line,
            format!("not UTF-8: {n} byte sequences are shown as U+FFFD"),
        );
        (source, Some(note.help("save the file as UTF-8")))
    }

    /// The text of a range, empty if the range is none of this text.
    pub(super) fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// The line that a place of the text stands on, counted from 1.
    pub(super) fn line_of(&self, at: usize) -> u32 {
        u32::try_from(self.line_idx(at) + 1).unwrap_or(u32::MAX)
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

    fn new(path: &'a str, text: Cow<'a, str>, origin: Origin) -> Self {
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(at, _)| at + 1))
            .collect();
        Self { path, text, line_starts, origin }
    }

    fn encoded(path: &'a str, bytes: &'a [u8], encoding: &'static Encoding) -> Self {
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
        source.origin = Origin::Encoded(encoding, starts);
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
            Origin::Encoded(encoding, starts) => {
                let idx = self.line_idx(at);
                let end = starts.last().copied().unwrap_or_default();
                if at >= self.text.len() {
                    end
                } else {
                    let start = starts.get(idx).copied().unwrap_or(end);
                    let next = starts.get(idx + 1).copied().unwrap_or(end);
                    let before = self.slice(self.start_of(idx)..at);
                    (start + encoded_len(encoding, before)).min(next)
                }
            }
        };
        raw as u64
    }
}

fn guessed(path: &str, encoding: &'static Encoding) -> Diagnostic {
    let message = format!("not UTF-8: read as {}, a guess", encoding.name());
    Diagnostic::warning(path, 1, message).help("save the file as UTF-8")
}

/// UTF-16 that nothing marks: every other byte of its ASCII characters is zero.
fn utf_16_without_mark(head: &[u8]) -> Option<&'static Encoding> {
    let (pairs, _) = head.as_chunks::<2>();
    let n_high = pairs.iter().filter(|[high, low]| *high == 0 && *low != 0).count();
    let n_low = pairs.iter().filter(|[low, high]| *high == 0 && *low != 0).count();
    let is_most = |n: usize| n >= 8 && n * 10 > pairs.len() * 6;
    if is_most(n_low) { Some(UTF_16LE) } else { is_most(n_high).then_some(UTF_16BE) }
}

/// The encoding of a file that is not UTF-8, `None` if it is UTF-8 with a few broken bytes.
fn guess(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut n_valid = 0;
    let mut n_invalid = 0;
    for chunk in bytes.utf8_chunks() {
        n_valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        n_invalid += usize::from(!chunk.invalid().is_empty());
    }
    if n_valid >= n_invalid {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    Some(detector.guess(None, Utf8Detection::Deny))
}

/// How many bytes a text has in an encoding.
fn encoded_len(encoding: &'static Encoding, text: &str) -> usize {
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return text.chars().map(char::len_utf16).sum::<usize>() * 2;
    }
    encoding.encode(text).0.len()
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
