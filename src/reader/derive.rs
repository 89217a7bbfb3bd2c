//! Tiers from content: a pure function of the text, with a version. Decides nothing about whose
//! tiers win.

use super::node::squeeze;
use super::sketch::Sketch;
use crate::record::Tier;
use crate::text::{self, head};

/// The version of derivation: with another one, the same content may get other tiers.
pub const DERIVE_VERSION: u32 = 2;

/// The most inline code spans that become triggers.
const MAX_CODE: usize = 8;
/// The most bold terms that become triggers.
const MAX_TERMS: usize = 6;
/// The most error messages, and the most error codes, that become triggers.
const MAX_ERRORS: usize = 4;
/// Bytes up to which a lead is too short to stand alone in a summary.
const SHORT_LEAD: usize = 80;
/// The most titles of nested records in a summary; more never fit.
const MAX_CHILDREN: usize = 60;
/// Lines of code in a summary.
const SUMMARY_LINES: usize = 6;
/// Ends of sentences.
const STOPS: [char; 6] = ['.', '!', '?', '\u{3002}', '\u{ff01}', '\u{ff1f}'];
/// Bytes of a text that are searched for errors.
const MAX_SEARCHED: usize = 64 * 1024;
/// Bytes from which a cut at a number of tokens starts: 24 bytes a token is more than any prose has.
const BYTES_PER_TOKEN: usize = 24;

/// Words that are often set as code and select nothing.
const WEAK: [&str; 36] = [
    "true", "false", "null", "none", "nil", "name", "type", "types", "value", "values", "key",
    "keys", "data", "list", "string", "number", "int", "bool", "boolean", "object", "array",
    "file", "files", "path", "text", "yes", "not", "and", "for", "the", "with", "src", "main",
    "index", "test", "foo",
];

/// Returns phrases that select a record, strongest first, beside its title and names: error
/// messages and codes, commands and identifiers set as code, bold terms.
pub(super) fn triggers(sketch: &Sketch, text: &str) -> Vec<String> {
    let mut phrases = errors(head(text, MAX_SEARCHED));
    let mut code: Vec<&str> =
        sketch.code.iter().map(String::as_str).filter(|code| is_name(code)).collect();
    // The longest says the most; equal ones in the order of the text.
    code.sort_by_key(|code| std::cmp::Reverse(code.chars().count()));
    code.dedup();
    phrases.extend(code.into_iter().take(MAX_CODE).map(str::to_owned));
    let terms = sketch.terms.iter().map(|term| term.trim_end_matches([':', '.', ',', ';']));
    phrases.extend(terms.filter(|term| is_term(term)).take(MAX_TERMS).map(str::to_owned));
    phrases
}

/// Returns one line on what a record is for: the first sentence of its prose, or of what stands
/// there in place of prose; else its title with the first words below it, or with the titles of the
/// records in it. Never empty unless the title is.
pub(super) fn description(title: &str, sketch: &Sketch, children: &[&str]) -> String {
    let own = sketch.own();
    let sketch = own.as_ref();
    let lead = lead(sketch);
    let line = if let Some(lead) = lead {
        let sentence = first_sentence(lead);
        // "Run this:" says nothing without what follows.
        match following(sketch).filter(|_| sentence.ends_with(':')) {
            Some(rest) => format!("{sentence} {rest}"),
            None => sentence.to_owned(),
        }
    } else {
        match first_texts(sketch) {
            Some(texts) => with_title(title, &texts.join("; ")),
            None if children.is_empty() => title.to_owned(),
            None => with_title(title, &children.join("; ")),
        }
    };
    let line = squeeze(&line);
    let cut = cut(&line, Tier::DESCRIPTION_TOKENS);
    if cut.is_empty() { squeeze(title) } else { cut.to_owned() }
}

/// Returns a paragraph on what a record says: its lead, the titles of the records in it, and the
/// first lines of its first block of code, as far as they fit.
pub(super) fn summary(title: &str, sketch: &Sketch, children: &[&str]) -> String {
    let mut pieces: Vec<String> = Vec::new();
    match lead(sketch) {
        Some(lead) => pieces.push(squeeze(lead)),
        None => pieces.extend(sketch.prose.first().map(|paragraph| squeeze(paragraph))),
    }
    let n_bytes = pieces.iter().map(String::len).sum::<usize>();
    if n_bytes < SHORT_LEAD || pieces.iter().any(|piece| piece.ends_with(':')) {
        let items: Vec<String> = sketch
            .asides
            .iter()
            .map(|aside| squeeze(aside))
            .filter(|aside| !pieces.contains(aside))
            .collect();
        pieces.extend(Some(items.join("; ")).filter(|items| !items.is_empty()));
    }
    if !children.is_empty() {
        let mut names: Vec<&str> = Vec::new();
        for name in children {
            if !names.contains(name) && names.len() < MAX_CHILDREN {
                names.push(name);
            }
        }
        pieces.push(format!("Contains: {}", names.join("; ")));
    }
    let commands: Vec<&str> =
        sketch.commands.iter().map(String::as_str).take(SUMMARY_LINES).collect();
    if !commands.is_empty() {
        pieces.push(commands.join(" | "));
    }
    let whole = pieces.join(" ");
    if whole.is_empty() {
        return squeeze(title);
    }
    cut(&whole, Tier::SUMMARY_TOKENS).to_owned()
}

/// The paragraph that says what a text is about: the first of some words; where there is no prose,
/// a quote or item that is a sentence.
fn lead(sketch: &Sketch) -> Option<&str> {
    let prose = sketch.prose.iter().find(|paragraph| says_something(paragraph));
    let aside =
        || sketch.asides.first().filter(|aside| says_something(aside) && aside.ends_with(STOPS));
    prose.or_else(aside).map(String::as_str)
}

/// What stands below a line that ends in a colon.
fn following(sketch: &Sketch) -> Option<String> {
    let texts = [&sketch.asides, &sketch.commands].into_iter().find(|texts| !texts.is_empty())?;
    Some(texts.join("; "))
}

fn first_texts(sketch: &Sketch) -> Option<&Vec<String>> {
    [&sketch.prose, &sketch.asides, &sketch.commands].into_iter().find(|texts| !texts.is_empty())
}

/// A text behind its title, unless it begins with it.
fn with_title(title: &str, text: &str) -> String {
    if text.starts_with(title) { text.to_owned() } else { format!("{title}: {text}") }
}

/// Returns the first sentence of a paragraph: up to a stop that is followed by white space and no
/// small letter, outside code, and not after an abbreviation.
pub(super) fn first_sentence(paragraph: &str) -> &str {
    let mut in_code = false;
    for (at, c) in paragraph.char_indices() {
        match c {
            '`' => in_code = !in_code,
            '\u{3002}' | '\u{ff01}' | '\u{ff1f}' => {
                return paragraph.get(..at + c.len_utf8()).unwrap_or(paragraph);
            }
            '.' | '!' | '?' if !in_code => {
                let end = at + c.len_utf8();
                let rest = paragraph.get(end..).unwrap_or_default();
                let rest = rest.trim_start_matches(['"', '\'', ')', '*', '\u{201d}']);
                let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
                let next = rest.trim_start().chars().next();
                let sentence = paragraph.get(..end).unwrap_or_default();
                if ends && !next.is_some_and(char::is_lowercase) && !is_abbreviated(sentence) {
                    let n_closing = paragraph.len() - end - rest.len();
                    return paragraph.get(..end + n_closing).unwrap_or(paragraph);
                }
            }
            _ => {}
        }
    }
    paragraph
}

/// Cuts a text to a number of tokens. Only a text that may be too long is counted.
fn cut(text: &str, max_tokens: u32) -> &str {
    let max = max_tokens as usize;
    if text.len() <= max {
        return text;
    }
    text::cut_to_tokens(head(text, max * BYTES_PER_TOKEN), max_tokens)
}

/// At least three words, two that end in a stop, or some in a script without spaces.
fn says_something(text: &str) -> bool {
    let n_words = text.split_whitespace().take(3).count();
    let is_sentence = || n_words == 2 && text.ends_with(STOPS);
    let n_unspaced =
        || text.chars().filter(|&c| u32::from(c) >= 0x0E00 && c.is_alphabetic()).count();
    n_words == 3 || is_sentence() || n_unspaced() >= 4
}

fn is_abbreviated(sentence: &str) -> bool {
    const SHORT: [&str; 18] = [
        "e.g.", "i.e.", "etc.", "vs.", "cf.", "no.", "mr.", "mrs.", "dr.", "st.", "fig.",
        "approx.", "incl.", "z.b.", "d.h.", "bzw.", "ca.", "p.ex.",
    ];
    let last = sentence.rsplit(char::is_whitespace).next().unwrap_or_default();
    let last = last.trim_start_matches(['(', '[', '"']).to_lowercase();
    // "etc." may well end a sentence, but a capital after it is as often a name.
    SHORT.contains(&last.as_str())
        || last.chars().count() == 2 && last.ends_with('.') && {
            last.starts_with(char::is_alphabetic)
        }
}

/// Whether an inline code span is a command, an identifier or a message that a question may hold.
fn is_name(code: &str) -> bool {
    let n_chars = code.chars().count();
    let n_words = code.split_whitespace().count();
    (3..=60).contains(&n_chars)
        && n_words <= 8
        && code.chars().filter(|c| c.is_alphabetic()).count() >= 2
        && !WEAK.contains(&code.to_lowercase().as_str())
}

/// Whether a bold term reads like a name and not like a sentence or a call for attention.
fn is_term(term: &str) -> bool {
    const SHOUTS: [&str; 12] = [
        "note",
        "warning",
        "important",
        "tip",
        "caution",
        "example",
        "examples",
        "yes",
        "no",
        "do",
        "don't",
        "never",
    ];
    let n_words = term.split_whitespace().count();
    (3..=40).contains(&term.chars().count())
        && n_words <= 4
        && !term.ends_with(['!', '?'])
        && !SHOUTS.contains(&term.to_lowercase().as_str())
}

/// Error messages and codes in a text.
fn errors(text: &str) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    let mut codes: Vec<String> = Vec::new();
    for line in text.lines() {
        if messages.len() < MAX_ERRORS
            && let Some(message) = message(line)
        {
            messages.push(message);
        }
        if codes.len() < MAX_ERRORS {
            let found = line
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
                .map(|word| word.trim_matches(['-', '_']))
                .filter(|word| is_error_code(word));
            for code in found {
                if codes.len() < MAX_ERRORS && !codes.iter().any(|known| known == code) {
                    codes.push(code.to_owned());
                }
            }
        }
    }
    messages.append(&mut codes);
    messages
}

/// A line that is what a program prints when it fails, cut to a length that people search for.
fn message(line: &str) -> Option<String> {
    const STARTS: [&str; 9] = [
        "error:",
        "fatal:",
        "error[",
        "panic:",
        "fatal error:",
        "exception:",
        "err!",
        "e: ",
        "segmentation fault",
    ];
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "`>|*#$-".contains(c));
    let start = head(line, 24).to_ascii_lowercase();
    let is_code = start
        .strip_prefix("error ")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if !is_code && !STARTS.iter().any(|known| start.starts_with(known)) {
        return None;
    }
    let line = line.split('`').next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().take(10).collect();
    (words.len() >= 2).then(|| head(&words.join(" "), 80).trim_end().to_owned())
}

/// `E0382`, `TS2345`, `CS0103`, `ORA-01555`, `ENOENT`, `ERR_MODULE_NOT_FOUND`, `0x80070005`,
/// `ModuleNotFoundError`, `NullPointerException`.
pub(super) fn is_error_code(word: &str) -> bool {
    let is_digits = |text: &str, min: usize| {
        text.len() >= min && text.len() <= 8 && text.bytes().all(|b| b.is_ascii_digit())
    };
    let n_capitals = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = word.get(n_capitals..).unwrap_or_default();
    let numbered = (1..=5).contains(&n_capitals)
        && (is_digits(rest, 4) || rest.strip_prefix('-').is_some_and(|rest| is_digits(rest, 4)));
    let errno = n_capitals == word.len() && (5..=16).contains(&word.len()) && is_errno(word);
    let named = word.starts_with("ERR_") && word.len() > 6;
    let hex = word
        .strip_prefix("0x")
        .is_some_and(|hex| hex.len() == 8 && hex.bytes().all(|b| b.is_ascii_hexdigit()));
    let class = (n_capitals == 1 || n_capitals > 1 && !rest.is_empty())
        && word.len() > 8
        && word.bytes().all(|b| b.is_ascii_alphanumeric())
        && (word.ends_with("Error") || word.ends_with("Exception"));
    numbered || errno || named || hex || class
}

/// The names of `errno.h` that people meet.
fn is_errno(word: &str) -> bool {
    const NAMES: [&str; 26] = [
        "EACCES",
        "EADDRINUSE",
        "EADDRNOTAVAIL",
        "EAGAIN",
        "EBADF",
        "EBUSY",
        "ECHILD",
        "ECONNABORTED",
        "ECONNREFUSED",
        "ECONNRESET",
        "EEXIST",
        "EHOSTUNREACH",
        "EINTR",
        "EINVAL",
        "EISDIR",
        "ELOOP",
        "EMFILE",
        "ENOENT",
        "ENOMEM",
        "ENOSPC",
        "ENOTDIR",
        "ENOTEMPTY",
        "ENOTFOUND",
        "EPERM",
        "EPIPE",
        "ETIMEDOUT",
    ];
    NAMES.contains(&word)
}
