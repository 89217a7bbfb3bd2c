//! The tiers that a person wrote, how those of several places add up, and how derived ones fill the
//! rest.

use std::collections::BTreeSet;

use super::Diagnostic;
use super::derive;
use super::node::Node;
use super::sketch::Sketch;
use crate::record::{Origin, Tier, TierText, Trigger};
use crate::text;

/// The names that a comment block or an entry of a sidecar may have.
const NAMES: [&str; 3] = ["triggers", "description", "summary"];

/// Tiers that a person wrote in one place, or in several after [`Authored::over`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Authored {
    /// Phrases that select the record.
    pub triggers: Vec<String>,
    /// One line.
    pub description: Option<String>,
    /// A paragraph.
    pub summary: Option<String>,
}

/// Where tiers were written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The file.
    pub path: &'a str,
    /// The line that they begin on.
    pub line: u32,
}

/// All that the tiers of a record are made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Material<'a> {
    /// The title of the record.
    pub title: &'a str,
    /// The names that select the record even when others were authored: its title, unless that
    /// was made up, and its aliases.
    pub names: &'a [String],
    /// What a person wrote.
    pub authored: &'a Authored,
    /// What stands in the text.
    pub sketch: &'a Sketch,
    /// The raw text, searched for error messages.
    pub text: &'a str,
    /// The titles of the records nested in this one.
    pub children: &'a [&'a str],
}

/// The tiers of a record without the detail.
#[derive(Debug)]
pub(super) struct Settled {
    pub triggers: Vec<Trigger>,
    pub description: TierText,
    pub summary: TierText,
}

impl Authored {
    /// Takes the tiers out of a map; other names are left alone.
    pub(super) fn of(node: &Node) -> Self {
        Self {
            triggers: node.get("triggers").map(phrases).unwrap_or_default(),
            description: node.get("description").and_then(Node::line),
            summary: node.get("summary").and_then(Node::line),
        }
    }

    /// Whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what a weaker source says: its texts where this one has none, and all its triggers.
    pub(super) fn over(mut self, weaker: Self) -> Self {
        self.triggers.extend(weaker.triggers);
        self.description = self.description.or(weaker.description);
        self.summary = self.summary.or(weaker.summary);
        self
    }

    /// Remarks on texts that are longer than their tier is meant to be. They are kept whole.
    pub(super) fn check_length(&self, place: Place<'_>, diagnostics: &mut Vec<Diagnostic>) {
        let texts = [
            ("description", &self.description, Tier::DESCRIPTION_TOKENS),
            ("summary", &self.summary, Tier::SUMMARY_TOKENS),
        ];
        for (name, text, max_tokens) in texts {
            // A token has at least one byte, so a short text need not be counted.
            let Some(text) = text.as_ref().filter(|text| text.len() > max_tokens as usize) else {
                continue;
            };
            let n_tokens = text::count(text);
            if n_tokens > max_tokens {
                let message = format!("{name} has {n_tokens} tokens, more than {max_tokens}");
                diagnostics
                    .push(Diagnostic::warning(place.path, place.line, message).help(format!(
                        "shorten it: answers pay for the {name} of every candidate"
                    )));
            }
        }
    }
}

/// Remarks on names that no tier has.
pub(super) fn check_names(node: &Node, place: Place<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for name in node.names().filter(|name| !NAMES.contains(name)) {
        let mut diagnostic =
            Diagnostic::warning(place.path, place.line, format!("unknown name `{name}`"));
        if let Some(known) = nearest(name, NAMES) {
            diagnostic = diagnostic.help(format!("did you mean `{known}`?"));
        }
        diagnostics.push(diagnostic);
    }
}

/// Settles the tiers of a record: what was authored, and derived ones where nothing was.
pub(super) fn settle(material: Material<'_>) -> Settled {
    let Material { title, names, authored, sketch, text, children } = material;
    let mut triggers = Phrases::default();
    for phrase in &authored.triggers {
        triggers.push(phrase, Origin::Authored);
    }
    let has_authored = !triggers.list.is_empty();
    for name in names {
        triggers.push(name, Origin::Derived);
    }
    if !has_authored {
        for phrase in derive::triggers(sketch, text) {
            triggers.push(&phrase, Origin::Derived);
        }
    }
    let description = match &authored.description {
        Some(text) => TierText::authored(text),
        None => TierText::derived(derive::description(title, sketch, children)),
    };
    let summary = match &authored.summary {
        Some(text) => TierText::authored(text),
        None => TierText::derived(derive::summary(title, sketch, children)),
    };
    Settled { triggers: triggers.list, description, summary }
}

/// Returns the candidate that is closest to `name` by edit distance, if one is close at all.
pub(super) fn nearest<'a>(name: &str, all: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let max_distance = (name.chars().count() / 2).max(2);
    all.into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= max_distance)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Phrases without repetition: two are the same when their words are.
#[derive(Default)]
struct Phrases {
    list: Vec<Trigger>,
    seen: BTreeSet<String>,
}

impl Phrases {
    fn push(&mut self, phrase: &str, origin: Origin) {
        let key = text::phrase(phrase);
        if !key.is_empty() && self.seen.insert(key) {
            self.list.push(Trigger { phrase: phrase.to_owned(), origin });
        }
    }
}

/// A list as it is; a text, as some write it, split at commas and ends of lines.
fn phrases(node: &Node) -> Vec<String> {
    match node {
        Node::Text(text) => text
            .split([',', '\n'])
            .map(super::node::squeeze)
            .filter(|phrase| !phrase.is_empty())
            .collect(),
        other => other.phrases(),
    }
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut above_left = i;
        let mut left = i + 1;
        for (cell, &y) in row.iter_mut().skip(1).zip(&b) {
            let value = (above_left + usize::from(x != y)).min(left + 1).min(*cell + 1);
            above_left = *cell;
            *cell = value;
            left = value;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
