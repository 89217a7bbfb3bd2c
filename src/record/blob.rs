//! Which stretches of a text are data and not words: encoded bytes and minified code. They are
//! shown, but indexing them would fill the index with terms nobody asks for.

use std::borrow::Cow;

/// Characters from which an unbroken run of a base64 or hex alphabet is data.
const RUN_CHARS: usize = 120;
/// Characters from which a whole line of that alphabet is data: the width of PEM and MIME.
const LINE_CHARS: usize = 60;
/// Bytes from which a line with hardly a space is minified code.
const MINIFIED_BYTES: usize = 2_000;
/// The least share of white space in a long line that people wrote, one in so many bytes.
const BYTES_PER_SPACE: usize = 20;

/// Returns the text without the stretches that are data.
pub(crate) fn without_blobs(text: &str) -> Cow<'_, str> {
    // Most texts have no line that could hold any.
    if text.lines().all(|line| line.len() < LINE_CHARS || !may_hold_blob(line)) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if !is_minified(line) && !is_encoded_line(line.trim()) {
            push_without_runs(line, &mut kept);
        } else if line.ends_with('\n') {
            kept.push('\n');
        }
    }
    Cow::Owned(kept)
}

fn may_hold_blob(line: &str) -> bool {
    is_minified(line)
        || is_encoded_line(line.trim())
        || runs(line).any(|run| run.len() >= RUN_CHARS && is_encoded(run))
}

fn is_minified(line: &str) -> bool {
    if line.len() < MINIFIED_BYTES {
        return false;
    }
    let n_spaces = line.bytes().filter(u8::is_ascii_whitespace).count();
    // Scripts without spaces are no code.
    let n_ascii = line.bytes().filter(u8::is_ascii).count();
    n_spaces * BYTES_PER_SPACE < line.len() && n_ascii * 10 > line.len() * 9
}

fn is_encoded_line(line: &str) -> bool {
    line.len() >= LINE_CHARS && line.bytes().all(is_alphabet) && is_encoded(line)
}

/// Digits among letters of both cases, or nothing but hex digits: no word or path looks like that.
fn is_encoded(run: &str) -> bool {
    let n_digits = run.bytes().filter(u8::is_ascii_digit).count();
    let has_lower = run.bytes().any(|b| b.is_ascii_lowercase());
    let has_upper = run.bytes().any(|b| b.is_ascii_uppercase());
    let is_hex = run.bytes().all(|b| b.is_ascii_hexdigit());
    let n_joints = run.bytes().filter(|b| matches!(b, b'-' | b'_' | b'/')).count();
    n_digits * 50 >= run.len() && (is_hex || has_lower && has_upper && n_joints * 10 < run.len())
}

fn is_alphabet(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_')
}

fn runs(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !u8::try_from(c).is_ok_and(is_alphabet))
}

fn push_without_runs(line: &str, kept: &mut String) {
    let mut rest = line;
    for run in runs(line).filter(|run| run.len() >= RUN_CHARS && is_encoded(run)) {
        if let Some((before, after)) = rest.split_once(run) {
            kept.push_str(before);
            rest = after;
        }
    }
    kept.push_str(rest);
}
