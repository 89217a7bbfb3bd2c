//! Answers as text: every format in one place, with what its parts cost.
//!
//! A format and its prices belong together: the budget holds because each piece of an answer is
//! written between the guards with which it was counted (see [`crate::text`]).

use std::fmt::Write as _;

use serde_json::Value;

use crate::recall::{Answer, Explanation, Hit, Omitted, Price, SourceState};
use crate::record::{Lines, Tier};
use crate::store::{Cost, Head};

/// The version of the JSON form, in `schema/recall.schema.json`.
pub const SCHEMA_VERSION: u32 = 1;

/// How an answer is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people and for the input of a model.
    Text,
    /// Markdown, with a heading above each record.
    Markdown,
    /// One JSON object on one line.
    Json,
    /// One record id a line.
    Paths,
    /// The six columns of a TREC run.
    Trec,
}

impl Format {
    /// What an answer costs without any record. `tag` is the name of the query, empty for none.
    pub fn base_cost(self, query: &str, tag: &str) -> u32 {
        let quoted = |text: &str| bytes(&Value::from(text).to_string());
        match self {
            Self::Text | Self::Markdown => FOOTER_TOKENS,
            Self::Json if tag.is_empty() => JSON_BASE_TOKENS.saturating_add(quoted(query)),
            Self::Json => (JSON_BASE_TOKENS + JSON_TAG_TOKENS)
                .saturating_add(quoted(query))
                .saturating_add(quoted(tag)),
            Self::Paths | Self::Trec => 0,
        }
    }

    /// What a record costs, with the labels of the copies that are listed with it. `tag` is the name of the
    /// query, empty for none.
    pub fn price(self, head: &Head, copies: &[Cost], tag: &str) -> Price {
        let [description, summary, detail] = head.costs;
        let label = head.label;
        let Lines { first, last } = head.span.lines;
        let lines = digits(first) + digits(last);
        match self {
            Self::Text | Self::Markdown => {
                // A tier in part tells how many tokens the whole has.
                let in_part = IN_PART_TOKENS + digits(detail.text);
                Price {
                    name: label.text.saturating_add(NAME_TOKENS),
                    frame: copies
                        .iter()
                        .map(|copy| copy.text.saturating_add(COPY_TOKENS))
                        .fold(label.text.saturating_add(HEADER_TOKENS + lines), u32::saturating_add)
                        .saturating_add(if copies.is_empty() { 0 } else { MORE_COPIES_TOKENS }),
                    tiers: [
                        description.text.saturating_add(in_part),
                        summary.text.saturating_add(in_part),
                        detail.text.saturating_add(1),
                    ],
                }
            }
            Self::Json => Price {
                name: label.json.saturating_add(JSON_NAME_TOKENS),
                frame: copies
                    .iter()
                    .map(|copy| copy.json.saturating_add(JSON_NAME_TOKENS))
                    .fold(
                        label.json.saturating_add(JSON_RESULT_TOKENS + lines),
                        u32::saturating_add,
                    )
                    .saturating_add(if copies.is_empty() { 0 } else { JSON_COPIES_TOKENS }),
                tiers: [description.json, summary.json, detail.json],
            },
            // An id was counted with a space before it; at the start of a line its first word may take
            // more tokens than that, though not more than it has bytes.
            Self::Paths => {
                let line = label.text.saturating_add(first_word_bytes(head.id.as_str()) + 1);
                Price { name: line, frame: line, tiers: [0; 3] }
            }
            Self::Trec => {
                let ids = bytes(&column(head.id.as_str())).saturating_add(bytes(&column(tag)));
                let line = ids.saturating_add(TREC_TOKENS);
                Price { name: line, frame: line, tiers: [0; 3] }
            }
        }
    }

    /// Renders an answer that was made for this format.
    ///
    /// `tag` names the query in a TREC run, and is `_id` in JSON; empty for a single query.
    pub fn render(self, answer: &Answer, tag: &str, explain: bool) -> String {
        match self {
            Self::Text => text(answer, ""),
            Self::Markdown => text(answer, "### "),
            Self::Json => json(answer, tag, explain),
            Self::Paths => paths(answer),
            Self::Trec => trec(answer, tag),
        }
    }
}

/// `### [10000]` before an id, and ` lines`, ` `, `-`, ` missing` behind it, without the lines themselves.
const HEADER_TOKENS: u32 = 10;
/// ` description of `, ` tokens` behind the lines of a record that is shown in part, without the number.
const IN_PART_TOKENS: u32 = 4;
/// `### [10000]` before an id, and ` name only` with the end of the line behind it.
const NAME_TOKENS: u32 = 8;
/// `same text: ` before an id, and the end of the line.
const COPY_TOKENS: u32 = 6;
/// `same text in 1000 more` with the end of the line.
const MORE_COPIES_TOKENS: u32 = 8;
/// The widest last line.
const FOOTER_TOKENS: u32 = 20;
/// The object without its query and results, every number at its widest.
const JSON_BASE_TOKENS: u32 = 86;
/// `"_id": ` and the comma behind it.
const JSON_TAG_TOKENS: u32 = 8;
/// One result without its id, path, lines and text, every number at its widest.
const JSON_RESULT_TOKENS: u32 = 64;
/// `, "copies": [], "more_copies": ` with a number behind it.
const JSON_COPIES_TOKENS: u32 = 18;
/// What an id in a list of ids costs beside itself.
const JSON_NAME_TOKENS: u32 = 2;
/// A line of a run without query and id: the widest rank and score, and the rest.
const TREC_TOKENS: u32 = 32;

/// What a number costs: one token for three digits.
fn digits(n: u32) -> u32 {
    n.checked_ilog10().unwrap_or(0) / 3 + 1
}

/// How many bytes the first word of an id has, with the signs before it.
fn first_word_bytes(id: &str) -> u32 {
    let word = id.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = word.trim_start_matches(char::is_alphanumeric);
    u32::try_from(id.len() - rest.len()).unwrap_or(u32::MAX - 1)
}

/// A text has at most as many tokens as bytes.
fn bytes(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// Writes blocks of a header line that ends with a letter or digit, a text, and a blank line.
fn text(answer: &Answer, heading: &str) -> String {
    let mut out = String::new();
    for hit in &answer.results {
        header(&mut out, heading, hit);
        out.push('\n');
        out.push_str(&hit.text);
        out.push('\n');
        for id in &hit.copies {
            push(&mut out, format_args!("same text: {id}\n"));
        }
        if hit.n_more_copies > 0 {
            push(&mut out, format_args!("same text in {} more\n", hit.n_more_copies));
        }
        out.push('\n');
    }
    let shown = answer.results.len();
    for (i, id) in answer.omitted.ids.iter().enumerate() {
        push(&mut out, format_args!("{heading}[{}] {id} name only\n", shown + i + 1));
    }
    let Omitted { n_unlisted, n_past_limit, .. } = answer.omitted;
    match (n_unlisted, n_past_limit) {
        (0, 0) => {}
        (0, past) => push(&mut out, format_args!("left out: {past} weaker matches\n")),
        (unlisted, past) => push(
            &mut out,
            format_args!("left out: {unlisted} over the budget, {past} weaker matches\n"),
        ),
    }
    out
}

fn header(out: &mut String, heading: &str, hit: &Hit) {
    let Lines { first, last } = hit.lines;
    push(out, format_args!("{heading}[{}] {} lines {first}-{last} ", hit.rank, hit.id));
    match (hit.tier, hit.complete) {
        (Tier::Detail, _) => out.push_str("detail"),
        (tier, true) => out.push_str(tier.name()),
        (tier, false) => push(out, format_args!("{} of {} tokens", tier.name(), hit.detail_tokens)),
    }
    match hit.source {
        SourceState::Unchanged => {}
        SourceState::Changed => out.push_str(" stale"),
        SourceState::Missing => out.push_str(" missing"),
    }
}

/// Writes one object on one line, with a space after every colon and comma, so that its strings can be
/// counted by themselves.
fn json(answer: &Answer, tag: &str, explain: bool) -> String {
    let mut out = String::from("{");
    push(&mut out, format_args!("\"schema_version\": {SCHEMA_VERSION}, "));
    if !tag.is_empty() {
        push(&mut out, format_args!("\"_id\": {}, ", Value::from(tag)));
    }
    push(
        &mut out,
        format_args!(
            "\"query\": {}, \"budget\": {}, \"tokens_used\": {}, \"total\": {}, \"returned\": {}, \
             \"truncated\": {}, \"results\": [",
            Value::from(answer.query.as_str()),
            answer.budget.as_tokens(),
            answer.tokens_used,
            answer.total,
            answer.results.len(),
            answer.truncated(),
        ),
    );
    for (i, hit) in answer.results.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        json_hit(&mut out, hit, explain);
    }
    out.push_str("], \"omitted\": {\"ids\": [");
    for (i, id) in answer.omitted.ids.iter().enumerate() {
        push(
            &mut out,
            format_args!("{}{}", if i > 0 { ", " } else { "" }, Value::from(id.as_str())),
        );
    }
    let Omitted { n_unlisted, n_past_limit, .. } = answer.omitted;
    push(
        &mut out,
        format_args!("], \"over_budget\": {n_unlisted}, \"past_limit\": {n_past_limit}}}}}\n"),
    );
    out
}

fn json_hit(out: &mut String, hit: &Hit, explain: bool) {
    push(
        out,
        format_args!(
            "{{\"id\": {}, \"path\": {}, \"lines\": [{}, {}], \"kind\": \"{}\", \"tier\": \"{}\", \
             \"complete\": {}, \"score\": {:.6}, \"why\": \"{}\", \"text\": {}, \"stale\": {}, \
             \"source\": \"{}\"",
            Value::from(hit.id.as_str()),
            Value::from(hit.path.as_str()),
            hit.lines.first,
            hit.lines.last,
            hit.kind.name(),
            hit.tier.name(),
            hit.complete,
            hit.score,
            hit.why.name(),
            Value::from(hit.text.as_str()),
            hit.source != SourceState::Unchanged,
            hit.source.name(),
        ),
    );
    if !hit.copies.is_empty() {
        let copies: Vec<String> =
            hit.copies.iter().map(|id| Value::from(id.as_str()).to_string()).collect();
        push(
            out,
            format_args!(
                ", \"copies\": [{}], \"more_copies\": {}",
                copies.join(", "),
                hit.n_more_copies
            ),
        );
    }
    if explain {
        push(out, format_args!(", \"explain\": {}", explanation(&hit.explanation)));
    }
    out.push('}');
}

/// The explanation is talk about the answer, not part of it: the budget does not cover it.
fn explanation(of: &Explanation) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    let triggers = of.triggers.iter().map(|found| {
        let (phrase, how) = (Value::from(found.phrase.as_str()), Value::from(found.how.as_str()));
        format!("{{\"phrase\": {phrase}, \"how\": {how}}}")
    });
    let terms = of.terms.iter().map(|found| {
        format!(
            "{{\"term\": {}, \"read_as\": {}, \"records\": {}, \"weight\": {}, \"counts\": {}}}",
            Value::from(found.term.as_str()),
            list(found.read_as.iter().map(|term| Value::from(term.as_str()).to_string()).collect()),
            found.n_records,
            Value::from(found.weight),
            list(found.counts.iter().map(u32::to_string).collect()),
        )
    });
    let paraphrases = of.paraphrases.iter().map(|found| {
        format!(
            "{{\"asked\": {}, \"said\": {}}}",
            Value::from(found.asked.as_str()),
            list(found.said.iter().map(|word| Value::from(word.as_str()).to_string()).collect()),
        )
    });
    let features = of.features.iter().map(|feature| {
        let (value, weight) = (Value::from(feature.value), Value::from(feature.weight));
        format!("{{\"name\": \"{}\", \"value\": {value}, \"weight\": {weight}}}", feature.name)
    });
    format!(
        "{{\"score\": {}, \"triggers\": {}, \"terms\": {}, \"paraphrases\": {}, \
         \"features\": {}}}",
        Value::from(of.score),
        list(triggers.collect()),
        list(terms.collect()),
        list(paraphrases.collect()),
        list(features.collect()),
    )
}

fn paths(answer: &Answer) -> String {
    let mut out = String::new();
    for hit in &answer.results {
        push(&mut out, format_args!("{}\n", hit.id));
    }
    out
}

/// Writes the six columns of a run. Programs that read one order it by score alone, so scores strictly
/// decrease: where records have the same, each is written a little lower than the one before.
fn trec(answer: &Answer, tag: &str) -> String {
    const STEP: f64 = 1e-9;
    let mut out = String::new();
    let mut above = f64::INFINITY;
    for hit in &answer.results {
        let score = hit.score.min(above - STEP);
        push(
            &mut out,
            format_args!(
                "{} Q0 {} {} {score:.9} psos\n",
                column(tag),
                column(hit.id.as_str()),
                hit.rank
            ),
        );
        above = score;
    }
    out
}

/// A name may hold white space, which a column of a run cannot: it is percent-encoded there.
fn column(name: &str) -> String {
    let mut column = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_whitespace() || c == '%' {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes)
                .bytes()
                .for_each(|b| push(&mut column, format_args!("%{b:02X}")));
        } else {
            column.push(c);
        }
    }
    column
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}
