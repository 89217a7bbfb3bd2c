//! Where are these functions called? With a real model, on a tree and a list of true answers that are
//! handed in.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Measure, Outcome, Source};
use crate::pipeline::atomic::{Narrow, NarrowError, Probe, Question, answer};
use crate::pipeline::citation::search::{Mode, Pattern};
use crate::pipeline::model::{Capability, Model, ModelError, Reply, Request};

/// The tokens that one call may have.
const MAX_TOKENS: u32 = 443;
/// The calls that one question may take.
const MAX_CALLS: u32 = 9;
/// Windows that are declared to a server that has less and says nothing.
const DECLARED: [u32; 8] = [640, 704, 768, 896, 1024, 1280, 1536, 2048];
/// Misses that are shown.
const MAX_SHOWN: usize = 20;

/// What the scenario needs.
#[derive(Debug)]
pub struct Callsites<'a> {
    /// A folder with `tree/`, `queries.jsonl` (`_id`, `text`) and `callsites.jsonl` (`_id`, `call_sites`
    /// as `file:line`), or one with such folders in it.
    pub data: &'a Path,
    /// The model under test.
    pub model: &'a mut dyn Model,
    /// The same model behind a server that has a window of 512 tokens and cuts silently what is longer;
    /// without it, that part is skipped.
    pub silent: Option<&'a mut dyn Model>,
    /// How many questions of a folder are asked at most.
    pub max_questions: usize,
    /// For how many of them every candidate is put to the model as well, to see how often it agrees with
    /// the true answer. Without a target: it is the reason why code decides first.
    pub n_by_model: usize,
}

#[derive(Deserialize)]
struct Query {
    #[serde(rename = "_id")]
    id: String,
    text: String,
}

#[derive(Deserialize)]
struct Truth {
    #[serde(rename = "_id")]
    id: String,
    call_sites: BTreeSet<String>,
}

/// Asks the questions; skipped, with a note, when there is nothing to ask them with.
///
/// # Errors
/// When the data cannot be read as what it should be.
pub fn callsites(options: Option<Callsites<'_>>) -> io::Result<Outcome> {
    let mut outcome = Outcome {
        scenario: "callsites".to_owned(),
        source: Source::RealModel,
        measures: Vec::new(),
        notes: Vec::new(),
    };
    let Some(options) = options else {
        outcome
            .notes
            .push("skipped: it needs the endpoint of a model and a folder of data".to_owned());
        return Ok(outcome);
    };
    let Callsites { data, model, silent, max_questions, n_by_model } = options;
    let asked = questions(data, max_questions)?;
    let (mut n_asked, mut n_exact, mut n_unread) = (0_u32, 0_u32, 0_u32);
    let (mut largest, mut n_calls, mut n_decided_by_model, mut most_calls) = (0, 0, 0_usize, 0);
    for Asked { id, text, root, call_sites } in &asked {
        n_asked += 1;
        let Some(question) = Question::parse(text) else {
            n_unread += 1;
            continue;
        };
        let mut narrow = Narrow::new(model);
        let answer = answer(root, &question, &mut narrow, MAX_CALLS);
        let got: BTreeSet<String> =
            answer.sites.iter().map(|site| format!("{}:{}", site.file, site.line)).collect();
        if answer.is_complete() && got == *call_sites {
            n_exact += 1;
        } else if outcome.notes.len() < MAX_SHOWN {
            let missing: Vec<_> = call_sites.difference(&got).collect();
            let surplus: Vec<_> = got.difference(call_sites).collect();
            let n_undecided = answer.undecided.len();
            outcome.notes.push(format!(
                "{id}: missing {missing:?}, surplus {surplus:?}, undecided {n_undecided}"
            ));
        }
        largest = largest.max(largest_of(&narrow));
        n_calls += narrow.asked().len();
        most_calls = most_calls.max(narrow.asked().len());
        n_decided_by_model +=
            narrow.asked().iter().filter(|call| !call.purpose.starts_with("probe")).count();
    }
    // One measurement of the window, whether or not a question needed the model.
    let mut narrow = Narrow::new(model);
    let probe = narrow.probe();
    let is_whole = matches!(probe, Ok(Probe::Holds { .. }));
    match &probe {
        Ok(probe) => outcome.notes.push(format!("window of the model: {probe:?}")),
        Err(error) => outcome.notes.push(format!("window of the model: {error}")),
    }
    largest = largest.max(largest_of(&narrow));
    n_calls += narrow.asked().len();
    let agreement = if is_whole {
        let mut agreement = Agreement::default();
        for Asked { text, root, call_sites, .. } in asked.iter().take(n_by_model) {
            if let Some(question) = Question::parse(text) {
                agreement.add(root, question, call_sites, model);
            }
        }
        agreement
    } else {
        Agreement::default()
    };
    largest = largest.max(agreement.largest);
    let share = f64::from(n_exact) / f64::from(n_asked.max(1));
    let measure = |what: &str, value: f64, target: &str, reached| Measure {
        what: what.to_owned(),
        value,
        target: target.to_owned(),
        reached,
    };
    outcome.measures = vec![
        measure("questions", n_asked.into(), "at least 1", n_asked > 0),
        measure("exact answers, share", share, "at least 0.95", share >= 0.95),
        measure(
            "input of the size of the largest call arrives whole",
            f64::from(u8::from(is_whole)),
            "1",
            is_whole,
        ),
        measure("largest call, tokens", largest.into(), "at most 443", largest <= MAX_TOKENS),
        measure("most calls for a question", as_f64(most_calls), "at most 9", most_calls <= 9),
    ];
    outcome.notes.push(format!(
        "{n_calls} calls in all, {n_decided_by_model} of them to decide a candidate; code decided the others"
    ));
    if agreement.n_asked > 0 {
        let Agreement { n_asked, n_right, n_failed, .. } = agreement;
        outcome.notes.push(format!(
            "left to itself on {n_asked} candidates, the model is right about {n_right}, and says \
             neither yes nor no about {n_failed}"
        ));
    }
    if n_unread > 0 {
        outcome.notes.push(format!("{n_unread} questions were not understood"));
    }
    match silent {
        None => outcome.notes.push("silent overflow: skipped, no server for it".to_owned()),
        Some(silent) => {
            let mut n_detected = 0_u32;
            for window_tokens in DECLARED {
                let mut declared = Declared::new(silent, window_tokens);
                match Narrow::new(&mut declared).probe() {
                    Err(NarrowError::SilentOverflow { .. }) => n_detected += 1,
                    other => outcome.notes.push(format!("declared {window_tokens}: {other:?}")),
                }
            }
            let share = f64::from(n_detected) / as_f64(DECLARED.len());
            let is_all = n_detected as usize == DECLARED.len();
            outcome.measures.push(measure("silent overflows detected, share", share, "1", is_all));
        }
    }
    Ok(outcome)
}

/// A question, with its true answer.
struct Asked {
    id: String,
    text: String,
    root: PathBuf,
    call_sites: BTreeSet<String>,
}

/// The questions of a folder, or of those in it, in the order of their names.
fn questions(data: &Path, max_questions: usize) -> io::Result<Vec<Asked>> {
    const TRUTHS: &str = "callsites.jsonl";
    let mut folders = vec![data.to_owned()];
    if !data.join(TRUTHS).exists() {
        let inner = fs::read_dir(data)?.map(|entry| entry.map(|entry| entry.path()));
        folders = inner.collect::<Result<_, _>>()?;
        folders.retain(|folder| folder.join(TRUTHS).is_file());
        folders.sort();
    }
    let mut asked = Vec::new();
    for folder in &folders {
        let truths: Vec<Truth> = lines(&folder.join(TRUTHS))?;
        let mut truths: BTreeMap<String, BTreeSet<String>> =
            truths.into_iter().map(|truth| (truth.id, truth.call_sites)).collect();
        let queries: Vec<Query> = lines(&folder.join("queries.jsonl"))?;
        for Query { id, text } in queries.into_iter().take(max_questions) {
            let Some(call_sites) = truths.remove(&id) else {
                let message = format!("{TRUTHS} of {} has no line for {id}", folder.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            };
            asked.push(Asked { id, text, root: folder.join("tree"), call_sites });
        }
    }
    Ok(asked)
}

/// How often the model, asked about every candidate, says what is true.
#[derive(Debug, Default)]
struct Agreement {
    n_asked: u32,
    n_right: u32,
    n_failed: u32,
    largest: u32,
}

impl Agreement {
    fn add(
        &mut self,
        root: &Path,
        question: Question,
        truth: &BTreeSet<String>,
        model: &mut dyn Model,
    ) {
        let Question::Calls { name } = question else { return };
        let ask = format!(
            "Does the line marked > call the function `{name}`? To define it, or to name it in a comment \
             or string, is no call."
        );
        let pattern = Pattern { text: name, mode: Mode::Word };
        let mut narrow = Narrow::new(model);
        let answer = answer(root, &Question::Lines { pattern, ask }, &mut narrow, u32::MAX);
        self.largest = self.largest.max(largest_of(&narrow));
        let lines: BTreeSet<String> =
            answer.search.hits.iter().map(|hit| format!("{}:{}", hit.file, hit.line)).collect();
        let yes: BTreeSet<String> =
            answer.sites.iter().map(|site| format!("{}:{}", site.file, site.line)).collect();
        let failed: BTreeSet<String> =
            answer.undecided.iter().map(|it| format!("{}:{}", it.hit.file, it.hit.line)).collect();
        for line in lines {
            self.n_asked += 1;
            if failed.contains(&line) {
                self.n_failed += 1;
            } else {
                self.n_right += u32::from(yes.contains(&line) == truth.contains(&line));
            }
        }
    }
}

/// A model under another declaration of its window.
#[derive(Debug)]
struct Declared<'m> {
    model: &'m mut dyn Model,
    capability: Capability,
}

impl<'m> Declared<'m> {
    fn new(model: &'m mut dyn Model, window_tokens: u32) -> Self {
        let capability = Capability { window_tokens, ..model.capability().clone() };
        Self { model, capability }
    }
}

impl Model for Declared<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        self.model.complete(request)
    }
}

fn largest_of(narrow: &Narrow<'_>) -> u32 {
    let counted = narrow.asked().iter().filter_map(|call| call.usage);
    counted.map(|usage| usage.input).max().unwrap_or_default()
}

fn lines<T: serde::de::DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
    let text = fs::read_to_string(path)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn as_f64(n: usize) -> f64 {
    n as f64
}
