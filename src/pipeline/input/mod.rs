//! The one place where an input for a model is put together, and the declared rules by which one that is
//! too long is reduced.
//!
//! Rules. The prefix, the digest and the request at the end are never cut: when they alone are too long,
//! the input is refused. Of the spans, the last is reduced first, line by line from its end, then left
//! out; then the one before it. What was sent before in this run is not sent again. Nothing is
//! rephrased, and nothing that was reduced is reduced again: every input starts from the whole spans.
//! Every cut is marked where it was made, with how much and how to get it, and is declared in the
//! manifest. Sent, carried and omitted bytes of a span are together exactly the span.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::pipeline::model::{Message, Role};
use crate::pipeline::write::push;
use crate::record::Hash;
use crate::text;

/// What a message costs beside its content: the marks of a chat template around it.
pub(super) const MESSAGE_TOKENS: u32 = 4;

/// Something that is meant to be in an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What it is, such as `src/a.rs:10-40`.
    pub label: String,
    /// Its text.
    pub text: String,
    /// The line of its source that it starts on.
    pub first_line: u32,
    /// What to do when it does not fit.
    pub rule: Rule,
    /// Whether its text counts as read when it was sent, so that it is not sent again.
    pub kind: SpanKind,
    /// How to get what was left out.
    pub get: String,
}

/// What is done with a span that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// It is shown up to the last line that fits.
    Lines,
    /// It is left out as a whole.
    Whole,
}

/// Where a span comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// From the tree.
    Source,
    /// From the model itself, which is asked again.
    Echo,
}

/// The content of a span, whatever its label: the first half of a blake3 hash, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SpanKey(String);

impl SpanKey {
    /// The key of a text.
    pub fn of(text: &str) -> Self {
        Self(short_hash(text, 32))
    }
}

/// How much of a span was sent before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Bytes from its beginning.
    pub bytes: u64,
    /// The call that sent them, such as `step s1`.
    pub by: String,
}

/// Bytes of a span that an input has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// What it is.
    pub label: String,
    /// Its content.
    pub key: SpanKey,
    /// Which bytes.
    pub bytes: Range<u64>,
    /// Whether these are the last bytes of the span.
    pub complete: bool,
}

/// Bytes of a span that an input has not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omission {
    /// What it is.
    pub label: String,
    /// Its content.
    pub key: SpanKey,
    /// Which bytes.
    pub bytes: Range<u64>,
    /// The lines of the source that they stand on, first and last.
    pub lines: (u32, u32),
    /// What they would have cost.
    pub tokens: u32,
    /// Why they are missing.
    pub why: Why,
    /// How to get them.
    pub get: String,
}

/// Why something is missing from an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It did not fit.
    TooLong,
    /// It was sent before, by this call; what it established is in the digest.
    Carried(String),
}

/// What an input is to be made of.
#[derive(Debug, Clone, Copy)]
pub struct Intended<'a> {
    /// The same bytes in every call of a run.
    pub prefix: &'a str,
    /// What is established; grows at its end only.
    pub digest: &'a str,
    /// What is new.
    pub spans: &'a [Span],
    /// What was sent before.
    pub carried: &'a BTreeMap<SpanKey, Carried>,
    /// What the model is to do now.
    pub ask: &'a str,
    /// The most tokens that the input may have.
    pub max_tokens: u32,
    /// What is done with what does not fit.
    pub mode: Mode,
}

/// What is done with an input that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It is reduced by the rules.
    Reduce,
    /// It is refused. What was sent before in the run is no omission.
    Strict,
}

/// An input, and what is and is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The messages: the prefix, the digest if there is any, and what is new.
    pub messages: Vec<Message>,
    /// What they cost, in tokens.
    pub counted: u32,
    /// What is in it of the spans.
    pub sent: Vec<Sent>,
    /// What is not in it of the spans.
    pub omitted: Vec<Omission>,
    /// The code at its very end, which the reply has to repeat.
    pub tail: String,
    /// The hash of the prefix.
    pub prefix_hash: String,
    /// The hash of all messages.
    pub hash: String,
}

/// Why there is no input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum InputError {
    /// What may not be cut is too long by itself.
    #[error("the input has {counted} tokens without its spans, and {max_tokens} are allowed")]
    Fixed {
        /// What prefix, digest and request cost.
        counted: u32,
        /// What is allowed.
        max_tokens: u32,
    },
    /// Something would have been left out, and nothing may be.
    #[error(
        "the input would leave out {n_omitted} spans ({tokens} tokens): --strict allows no omission"
    )]
    Strict {
        /// How many spans would have been cut.
        n_omitted: u32,
        /// What the cuts would have cost.
        tokens: u32,
    },
}

/// How much of one span an input has.
#[derive(Debug, Clone, Copy)]
struct Shown {
    /// Where what was sent before ends.
    from: usize,
    /// Where what is sent now ends.
    to: usize,
}

/// Puts an input together, by the rules of this module.
///
/// # Errors
/// [`InputError`] when it cannot be reduced far enough, or may not be.
pub fn assemble(intended: &Intended<'_>) -> Result<Input, InputError> {
    let mut shown: Vec<Shown> = intended
        .spans
        .iter()
        .map(|span| Shown { from: carried_bytes(intended, span), to: span.text.len() })
        .collect();
    let mut input = render(intended, &shown);
    for (at, span) in intended.spans.iter().enumerate().rev() {
        if input.counted <= intended.max_tokens {
            break;
        }
        input = reduce(intended, &mut shown, at, span);
    }
    if input.counted > intended.max_tokens {
        return Err(InputError::Fixed { counted: input.counted, max_tokens: intended.max_tokens });
    }
    let cut = || input.omitted.iter().filter(|omission| omission.why == Why::TooLong);
    if intended.mode == Mode::Strict && cut().next().is_some() {
        return Err(InputError::Strict {
            n_omitted: u32::try_from(cut().count()).unwrap_or(u32::MAX),
            tokens: cut().map(|omission| omission.tokens).sum(),
        });
    }
    Ok(input)
}

/// Counts the tokens of some messages.
pub fn count(messages: &[Message]) -> u32 {
    messages.iter().map(|message| MESSAGE_TOKENS + text::count(&message.content)).sum()
}

/// Finds the most of one span with which the input fits, or leaves it out.
fn reduce(intended: &Intended<'_>, shown: &mut [Shown], at: usize, span: &Span) -> Input {
    let from = shown.get(at).map_or(0, |shown| shown.from);
    let mut with = |to: usize| {
        if let Some(place) = shown.get_mut(at) {
            place.to = to;
        }
        render(intended, shown)
    };
    // Ends of lines, from which the last that fits is found by bisection: costs grow with the text.
    let ends: Vec<usize> = match span.rule {
        Rule::Whole => Vec::new(),
        Rule::Lines => line_ends(&span.text).into_iter().filter(|&end| end > from).collect(),
    };
    let (mut fits, mut too_long) = (0, ends.len());
    while too_long - fits > 1 {
        let middle = fits.midpoint(too_long);
        let end = ends.get(middle - 1).copied().unwrap_or(from);
        if with(end).counted <= intended.max_tokens {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    let end = fits.checked_sub(1).and_then(|i| ends.get(i)).copied().unwrap_or(from);
    with(end)
}

/// How much of a span was sent before, on a boundary of its characters.
fn carried_bytes(intended: &Intended<'_>, span: &Span) -> usize {
    if span.kind == SpanKind::Echo {
        return 0;
    }
    let before = intended.carried.get(&SpanKey::of(&span.text));
    let bytes = before.map_or(0, |carried| usize::try_from(carried.bytes).unwrap_or(usize::MAX));
    if span.text.is_char_boundary(bytes) { bytes.min(span.text.len()) } else { 0 }
}

fn render(intended: &Intended<'_>, shown: &[Shown]) -> Input {
    let mut delta = String::new();
    let (mut sent, mut omitted) = (Vec::new(), Vec::new());
    for (span, shown) in intended.spans.iter().zip(shown) {
        let key = SpanKey::of(&span.text);
        let bytes = |range: Range<usize>| range.start as u64..range.end as u64;
        let omission = |range: Range<usize>, why: Why| Omission {
            label: span.label.clone(),
            key: key.clone(),
            bytes: bytes(range.clone()),
            lines: lines_of(span, &range),
            tokens: text::count(span.text.get(range).unwrap_or_default()),
            why,
            get: span.get.clone(),
        };
        delta.push_str("### ");
        delta.push_str(&span.label);
        delta.push('\n');
        if shown.from > 0 {
            let by = intended.carried.get(&key).map_or("", |carried| carried.by.as_str());
            let gone = omission(0..shown.from, Why::Carried(by.to_owned()));
            delta.push_str(&mark(&gone, &format!("read before in {by}: see what is established")));
            omitted.push(gone);
        }
        let text = span.text.get(shown.from..shown.to).unwrap_or_default();
        if shown.to > shown.from || span.text.is_empty() {
            delta.push_str(text);
            if !text.ends_with('\n') {
                delta.push('\n');
            }
            sent.push(Sent {
                label: span.label.clone(),
                key: key.clone(),
                bytes: bytes(shown.from..shown.to),
                complete: shown.to == span.text.len(),
            });
        }
        if shown.to < span.text.len() {
            let gone = omission(shown.to..span.text.len(), Why::TooLong);
            delta.push_str(&mark(&gone, &format!("get it with: {}", gone.get)));
            omitted.push(gone);
        }
    }
    let prefix_hash = Hash::of(intended.prefix.as_bytes()).to_string();
    delta.push_str(intended.ask);
    let tail = short_hash(&format!("{prefix_hash}\n{}\n{delta}", intended.digest), 6);
    push(&mut delta, format_args!("\ntail: {tail}"));
    let mut messages = vec![message(Role::System, intended.prefix)];
    if !intended.digest.is_empty() {
        messages.push(message(Role::User, intended.digest));
    }
    messages.push(message(Role::User, &delta));
    let hash = hash_of(&messages);
    Input { counted: count(&messages), messages, sent, omitted, tail, prefix_hash, hash }
}

/// Returns the hash of some messages, in hexadecimal.
pub fn hash_of(messages: &[Message]) -> String {
    let mut hasher = blake3::Hasher::new();
    for message in messages {
        let role = match message.role {
            Role::System => 0,
            Role::User => 1,
            Role::Assistant => 2,
        };
        hasher.update(&[role]);
        hasher.update(&(message.content.len() as u64).to_le_bytes());
        hasher.update(message.content.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn message(role: Role, content: &str) -> Message {
    Message { role, content: content.to_owned() }
}

fn mark(gone: &Omission, what: &str) -> String {
    let (first, last) = gone.lines;
    format!("[left out: lines {first}-{last}, {} tokens; {what}]\n", gone.tokens)
}

/// The lines of the source that some bytes of a span stand on.
fn lines_of(span: &Span, bytes: &Range<usize>) -> (u32, u32) {
    let n_ends = |to: usize| {
        let text = span.text.get(..to).unwrap_or_default();
        u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
    };
    let last = bytes.end.saturating_sub(1).max(bytes.start);
    let to = (0..=last).rev().find(|&at| span.text.is_char_boundary(at)).unwrap_or(0);
    (
        span.first_line.saturating_add(n_ends(bytes.start)),
        span.first_line.saturating_add(n_ends(to)),
    )
}

/// The places behind every end of line, and that of the end of the text.
fn line_ends(text: &str) -> Vec<usize> {
    let mut ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    if ends.last() != Some(&text.len()) {
        ends.push(text.len());
    }
    ends
}

fn short_hash(text: &str, n_digits: usize) -> String {
    Hash::of(text.as_bytes()).to_string().chars().take(n_digits).collect()
}

#[cfg(test)]
mod tests;
