//! Findings: what a model says, beside what the tree says about it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::pipeline::event::Checked;
use crate::pipeline::truth::{Citation, Search, Standing};
use crate::pipeline::write::one_line;

/// Something that a step found, or found to be absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its name, such as `s1.2`.
    pub id: String,
    /// The step that found it.
    pub step: String,
    /// What is claimed.
    pub claim: String,
    /// What it rests on.
    pub basis: Basis,
    /// Whether that holds.
    pub verified: bool,
}

/// What a finding rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A quote in a file.
    Citation {
        /// What was cited.
        citation: Citation,
        /// What the tree says.
        standing: Standing,
    },
    /// A search over the whole tree that found nothing.
    Absence {
        /// What was searched for.
        pattern: String,
        /// How many files were read.
        n_files: u32,
        /// How many lines have it.
        n_hits: u64,
        /// Whether every file was read.
        exhaustive: bool,
    },
}

impl Finding {
    /// What it rests on, in one text: two findings with the same ground are the same in other words.
    pub fn ground(&self) -> String {
        match &self.basis {
            Basis::Citation { citation, standing } => {
                format!(
                    "{}:{}:{}",
                    citation.file,
                    line_of(citation, standing),
                    one_line(&citation.quote)
                )
            }
            Basis::Absence { pattern, .. } => format!("no {pattern}"),
        }
    }

    /// What the digest says of it.
    pub fn digest_line(&self) -> String {
        let Self { id, claim, .. } = self;
        let claim = one_line(claim);
        match &self.basis {
            Basis::Citation { citation, standing } => {
                let place = format!("{}:{}", citation.file, line_of(citation, standing));
                match standing {
                    Standing::Refuted(why) => format!("{id} refuted, {why}: {claim} ({place})\n"),
                    Standing::Unverifiable(why) => format!("{id} not verified, {why}: {claim}\n"),
                    _ => format!("{id} verified: {claim} ({place})\n"),
                }
            }
            Basis::Absence { pattern, n_files, .. } if self.verified => {
                format!("{id} verified: {claim} (no `{pattern}` in {n_files} files)\n")
            }
            Basis::Absence { pattern, exhaustive: false, .. } => {
                format!("{id} not verified, `{pattern}` was not searched everywhere: {claim}\n")
            }
            Basis::Absence { pattern, n_hits, .. } => {
                format!("{id} refuted: {claim} (`{pattern}` on {n_hits} lines)\n")
            }
        }
    }
}

/// The citations that a reply of a step has, in order.
pub(super) fn citations(reply: &Value) -> Vec<Citation> {
    items(reply, "findings").filter_map(|item| Citation::deserialize(item).ok()).collect()
}

/// The texts that a reply of a step says are absent, in order.
pub(super) fn absences(reply: &Value) -> Vec<String> {
    items(reply, "absent").map(|item| text(item, "pattern")).collect()
}

/// Puts together what a step said and what the tree says.
pub(super) fn of_step(
    step: &str,
    reply: Option<&Value>,
    citations: &[Checked],
    searches: &[Search],
) -> Vec<Finding> {
    let Some(reply) = reply else { return Vec::new() };
    let mut findings = Vec::new();
    let name = |n: usize| format!("{step}.{}", n + 1);
    for (item, checked) in items(reply, "findings").zip(citations) {
        findings.push(Finding {
            id: name(findings.len()),
            step: step.to_owned(),
            claim: text(item, "claim"),
            verified: checked.standing.is_verified(),
            basis: Basis::Citation {
                citation: checked.citation.clone(),
                standing: checked.standing.clone(),
            },
        });
    }
    for (item, search) in items(reply, "absent").zip(searches) {
        findings.push(Finding {
            id: name(findings.len()),
            step: step.to_owned(),
            claim: text(item, "claim"),
            verified: search.exhaustive && search.hits.is_empty(),
            basis: Basis::Absence {
                pattern: search.pattern.clone(),
                n_files: search.n_files,
                n_hits: search.hits.len() as u64,
                exhaustive: search.exhaustive,
            },
        });
    }
    findings
}

fn items<'a>(reply: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    reply.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text(item: &Value, key: &str) -> String {
    item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn line_of(citation: &Citation, standing: &Standing) -> i64 {
    match standing {
        Standing::Moved(line) => i64::from(*line),
        _ => citation.line,
    }
}
