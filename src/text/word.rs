//! How text becomes words, and when two words are the same.

use unicode_normalization::{UnicodeNormalization, is_nfkc_quick};

use super::Language;

/// What a word is in the text that it was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A word as it stands, or a part of a compound name: stemmed.
    Plain,
    /// A compound name as a whole, beside its parts: `gpt-4`, `snake_case`, `2026.4.10`.
    Whole,
    /// One character of a script without spaces, beside the pairs that it stands in.
    Char,
    /// Two neighbouring characters of a script without spaces.
    Pair,
}

/// A word of a text, folded but not stemmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The folded text.
    pub text: String,
    /// How it stood there.
    pub form: Form,
}

impl Word {
    /// Returns the term under which this word is indexed in a record of `language`.
    pub fn term(&self, language: Language) -> String {
        match self.form {
            // A number or a name with digits has no inflection.
            Form::Plain if self.text.chars().all(char::is_alphabetic) => language.stem(&self.text),
            _ => self.text.clone(),
        }
    }
}

/// Returns text in the form in which it is compared: NFKC, lower case, `ß` as `ss`, one sigma.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.nfkc().flat_map(char::to_lowercase) {
        match c {
            'ß' => folded.push_str("ss"),
            'ς' => folded.push('σ'),
            // The dot that lower-casing a Turkish capital I leaves behind.
            '\u{307}' if folded.ends_with('i') => {}
            c => folded.push(c),
        }
    }
    folded
}

/// Returns the terms of a text in a language, in order, as they are indexed.
pub fn terms(text: &str, language: Language) -> Vec<String> {
    words(text).iter().map(|word| word.term(language)).collect()
}

/// Returns a phrase in the form in which triggers are looked up: its words, folded and not
/// stemmed, with one space between them; compound names stay whole.
pub fn phrase(text: &str) -> String {
    let normal = nfkc(text);
    let mut words: Vec<String> = Vec::new();
    for chunk in chunks(&normal) {
        match chunk {
            Chunk::Name(name) => words.push(fold(name).replace('\u{2019}', "'")),
            Chunk::Unspaced(run) => words.push(fold(run)),
        }
    }
    words.join(" ")
}

/// Returns the words of a text in order: compound names whole and in parts, scripts without spaces
/// as single characters and pairs.
pub fn words(text: &str) -> Vec<Word> {
    let normal = nfkc(text);
    let mut words = Vec::with_capacity(normal.len() / 5);
    for chunk in chunks(&normal) {
        match chunk {
            Chunk::Name(name) => push_name(name, &mut words),
            Chunk::Unspaced(run) => push_unspaced(run, &mut words),
        }
    }
    words
}

/// Returns a 32-bit fingerprint of a term (FNV-1a), stable across machines and releases.
///
/// Two of a query's ten terms and a record's thousand meet by chance about once in 400,000 records; such
/// a meeting adds one occurrence to one feature of that record, the same one every time.
pub fn fingerprint(term: &str) -> u32 {
    term.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns a 16-bit fingerprint of a folded word as it stands in a text. Two words meet by chance once in
/// 65,536.
pub fn form_print(word: &str) -> u16 {
    let print = fingerprint(word).to_le_bytes();
    let [a, b, c, d] = print;
    u16::from_le_bytes([a ^ c, b ^ d])
}

/// Returns the fingerprints of the character 4-grams of a term with a space at either end, sorted
/// and without repeats; none for terms that are not made of letters, or of letters that stand for
/// whole syllables.
///
/// Two terms that share half of them are most often forms of one word, parts of one compound, or one of them
/// misspelt.
pub fn grams(term: &str) -> Vec<u32> {
    if !term.chars().all(|c| c.is_alphabetic() && !is_unspaced(c)) {
        return Vec::new();
    }
    let chars: Vec<char> = std::iter::once(' ').chain(term.chars()).chain([' ']).collect();
    let of = |gram: &[char]| fingerprint(&gram.iter().collect::<String>());
    let mut grams: Vec<u32> =
        if chars.len() < 4 { vec![of(&chars)] } else { chars.windows(4).map(of).collect() };
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// Returns a 64-bit number for a name (FNV-1a), stable across machines and releases: what a column
/// of numbers holds of a path or a scope. Two names in a million meet by chance in one of 40 million trees.
pub fn number(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn nfkc(text: &str) -> std::borrow::Cow<'_, str> {
    match is_nfkc_quick(text.chars()) {
        unicode_normalization::IsNormalized::Yes => text.into(),
        _ => text.nfkc().collect::<String>().into(),
    }
}

/// A stretch of text that words are made from.
enum Chunk<'a> {
    /// A word or a compound name.
    Name(&'a str),
    /// Characters of a script that puts no spaces between words.
    Unspaced(&'a str),
}

/// Characters that may stand inside a compound name, between two characters of a word.
const CONNECTORS: [char; 6] = ['-', '.', '\'', '\u{2019}', '_', '@'];

fn chunks(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| is_word(c)) {
        rest = rest.get(start..).unwrap_or_default();
        let unspaced = rest.chars().next().is_some_and(is_unspaced);
        let end = if unspaced { unspaced_end(rest) } else { name_end(rest) };
        let (chunk, tail) = rest.split_at(end);
        chunks.push(if unspaced { Chunk::Unspaced(chunk) } else { Chunk::Name(chunk) });
        rest = tail;
    }
    chunks
}

fn unspaced_end(text: &str) -> usize {
    text.find(|c: char| !is_unspaced(c) && !is_mark(c)).unwrap_or(text.len())
}

fn name_end(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let inside = is_word(c) && !is_unspaced(c) || c == '_';
        let joins = CONNECTORS.contains(&c)
            && chars.peek().is_some_and(|&(_, next)| is_word(next) && !is_unspaced(next));
        if inside {
            end = at + c.len_utf8();
        } else if !joins {
            break;
        }
    }
    // `C#`, `F#`, `C++`, `g++`: the sign is part of the name when the name is this short.
    let name = text.get(..end).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    if name.chars().count() <= 2 && name.chars().all(char::is_alphabetic) {
        let sign = ["++", "#"].into_iter().find(|sign| after.starts_with(sign));
        let stands_alone = |n: usize| {
            after.get(n..).and_then(|rest| rest.chars().next()).is_none_or(|c| !is_word(c))
        };
        if let Some(sign) = sign.filter(|sign| stands_alone(sign.len())) {
            end += sign.len();
        }
    }
    end
}

fn push_name(name: &str, words: &mut Vec<Word>) {
    let parts = parts(name);
    let folded = fold(name).replace('\u{2019}', "'");
    if let [only] = parts.as_slice()
        && only.len() == name.len()
    {
        words.push(Word { text: folded, form: Form::Plain });
        return;
    }
    // "don't" and "Anna's" are words, not compound names.
    if let Some((stem, ending)) = folded.split_once('\'')
        && ending.chars().count() <= 2
        && stem.chars().all(char::is_alphabetic)
    {
        let text = if ending == "s" { stem.to_owned() } else { folded.replace('\'', "") };
        words.push(Word { text, form: Form::Plain });
        return;
    }
    words.push(Word { text: folded, form: Form::Whole });
    words.extend(parts.iter().map(|part| Word { text: fold(part), form: Form::Plain }));
}

/// Splits a compound name at connectors, at `aB`, at the last capital of `ABc`, and between
/// letters and digits. Single letters that a digit cut off (`k8s`) are left to the whole name.
fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in name.split(|c| CONNECTORS.contains(&c) || c == '#' || c == '+') {
        let chars: Vec<(usize, char)> = piece.char_indices().collect();
        let mut from = 0;
        let mut cuts = Vec::new();
        for (i, window) in chars.windows(2).enumerate() {
            let [(_, before), (at, after)] = *window else { continue };
            let next = chars.get(i + 2).map(|&(_, c)| c);
            let hump = before.is_lowercase() && after.is_uppercase();
            let end_of_capitals = before.is_uppercase()
                && after.is_uppercase()
                && next.is_some_and(char::is_lowercase);
            let digit =
                before.is_numeric() != after.is_numeric() && !is_mark(before) && !is_mark(after);
            if hump || end_of_capitals || digit {
                cuts.push((at, digit));
            }
        }
        let has_digits = cuts.iter().any(|&(_, digit)| digit);
        cuts.push((piece.len(), false));
        for (at, _) in cuts {
            let part = piece.get(from..at).unwrap_or_default();
            from = at;
            let lone =
                has_digits && part.chars().count() == 1 && !part.starts_with(char::is_numeric);
            if !part.is_empty() && !lone {
                parts.push(part);
            }
        }
    }
    parts
}

fn push_unspaced(run: &str, words: &mut Vec<Word>) {
    let folded = fold(run);
    let chars: Vec<&str> = folded
        .char_indices()
        .map(|(at, c)| folded.get(at..at + c.len_utf8()).unwrap_or_default())
        .collect();
    for (i, c) in chars.iter().enumerate() {
        words.push(Word { text: (*c).to_owned(), form: Form::Char });
        if let Some(next) = chars.get(i + 1) {
            words.push(Word { text: format!("{c}{next}"), form: Form::Pair });
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c)
}

fn is_mark(c: char) -> bool {
    !c.is_ascii() && unicode_normalization::char::is_combining_mark(c)
}

/// Scripts written without spaces between words: Han, Kana, Hangul (whose words carry endings),
/// Thai, Lao, Khmer, Myanmar.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF
        | 0x3005 | 0x3040..=0x30FF | 0x3130..=0x318F | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFF)
}
