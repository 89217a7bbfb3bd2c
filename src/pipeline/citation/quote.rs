//! Where a quote stands in a text.

use super::{Doubt, MAX_PLACES, Refutation, Verdict};

/// Characters other than white space that a quote has at least.
pub const MIN_QUOTE_CHARS: usize = 8;
/// Letters and digits that a quote has at least: `});` and `-----` stand everywhere.
pub const MIN_QUOTE_LETTERS: usize = 4;

/// Why a quote can prove nothing; `None` when it can.
pub(super) fn doubt(quote: &str) -> Option<Doubt> {
    let quote = quote.trim();
    if quote.is_empty() {
        return Some(Doubt::NoQuote);
    }
    let n_chars = quote.chars().filter(|c| !c.is_whitespace()).count();
    let n_letters = quote.chars().filter(|c| c.is_alphanumeric()).count();
    (n_chars < MIN_QUOTE_CHARS || n_letters < MIN_QUOTE_LETTERS).then_some(Doubt::QuoteTooShort)
}

/// Looks for a quote in a text, on its line first.
pub(super) fn judge(text: &str, line: u32, quote: &str) -> Verdict {
    let exact = places(&Exact::of(text), &exact_needle(quote));
    if exact.contains(&line) {
        return Verdict::Verified;
    }
    let loose = places(&Loose::of(text), &words(quote).join(" "));
    if loose.contains(&line) {
        return Verdict::VerifiedWhitespace;
    }
    // Where it stands exactly counts before where it stands nearly.
    let found = if exact.is_empty() { loose } else { exact };
    match found.as_slice() {
        [only] => Verdict::Moved { line: *only },
        [] => {
            let n_lines = count_lines(text);
            let reason = if line == 0 || line > n_lines {
                Refutation::MissingLine { n_lines }
            } else {
                Refutation::MissingText
            };
            Verdict::Refuted { reason }
        }
        many => {
            let lines = many.iter().copied().take(MAX_PLACES).collect();
            Verdict::Refuted { reason: Refutation::Ambiguous { lines } }
        }
    }
}

/// A text to search, and the line of each of its bytes.
trait Haystack {
    fn text(&self) -> &str;
    fn line_of(&self, at: usize) -> u32;
}

/// A text with one kind of end of line.
struct Exact {
    text: String,
    line_starts: Vec<usize>,
}

impl Exact {
    fn of(text: &str) -> Self {
        let text = text.replace("\r\n", "\n");
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(starts).collect();
        Self { text, line_starts }
    }
}

impl Haystack for Exact {
    fn text(&self) -> &str {
        &self.text
    }

    fn line_of(&self, at: usize) -> u32 {
        to_line(self.line_starts.partition_point(|&start| start <= at))
    }
}

/// A text whose runs of white space are one space.
struct Loose {
    text: String,
    /// Where each word begins in `text`, and its line.
    words: Vec<(usize, u32)>,
}

impl Loose {
    fn of(text: &str) -> Self {
        let mut loose = Self { text: String::with_capacity(text.len()), words: Vec::new() };
        for (line_idx, line) in text.split('\n').enumerate() {
            for word in words(line) {
                if !loose.text.is_empty() {
                    loose.text.push(' ');
                }
                loose.words.push((loose.text.len(), to_line(line_idx + 1)));
                loose.text.push_str(word);
            }
        }
        loose
    }
}

impl Haystack for Loose {
    fn text(&self) -> &str {
        &self.text
    }

    fn line_of(&self, at: usize) -> u32 {
        let after = self.words.partition_point(|&(start, _)| start <= at);
        after.checked_sub(1).and_then(|i| self.words.get(i)).map_or(0, |&(_, line)| line)
    }
}

/// The lines on which a needle begins, ascending, each once.
fn places(haystack: &impl Haystack, needle: &str) -> Vec<u32> {
    let text = haystack.text();
    let mut lines = Vec::new();
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(needle)) {
        let at = from + found;
        if is_whole(text, at, at + needle.len()) {
            lines.push(haystack.line_of(at));
        }
        // Occurrences may overlap; on to the next character.
        from = at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    }
    lines.dedup();
    lines
}

/// Whether a part of a text begins and ends at the border of a word.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let before = text.get(..start).and_then(|it| it.chars().next_back());
    let first = text.get(start..).and_then(|it| it.chars().next());
    let last = text.get(..end).and_then(|it| it.chars().next_back());
    let after = text.get(end..).and_then(|it| it.chars().next());
    !(is_word(before) && is_word(first) || is_word(last) && is_word(after))
}

/// A quote without what surrounds it: empty lines, the indentation of its first line, and white space
/// at its end say nothing.
fn exact_needle(quote: &str) -> String {
    quote.replace("\r\n", "\n").trim().to_owned()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn count_lines(text: &str) -> u32 {
    to_line(text.lines().count())
}

fn to_line(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
