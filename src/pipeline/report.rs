//! What came of a run: its verdict, its answer, and what that rests on. A pure function of the state.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use crate::pipeline::class::{Class, Verdict};
use crate::pipeline::deliverable::{Mismatch, Said};
use crate::pipeline::event::{Bound, Delivers, Purpose};
use crate::pipeline::finding::Finding;
use crate::pipeline::input::{Omission, SpanKey, Why};
use crate::pipeline::plan::MustDeliver;
use crate::pipeline::state::State;
use crate::pipeline::truth::Fact;
use crate::pipeline::write::push;

/// What came of a run, as `psos run --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// The version of the format, [`RunReport::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The run.
    pub run: String,
    /// What came of it: the same for the same replies, whoever gave them and however often the run was
    /// interrupted.
    pub outcome: Outcome,
    /// What it cost.
    pub cost: Cost,
    /// The models, in the order in which they worked on it.
    pub models: Vec<String>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The name of the task.
    pub task: String,
    /// How it ended.
    pub verdict: Verdict,
    /// The answer; what was established, line by line, when the model gave none.
    pub answer: String,
    /// Who wrote the answer: `model` or `harness`.
    pub answered_by: &'static str,
    /// The findings that the answer cites and that are verified.
    pub cites: Vec<String>,
    /// The steps of the plan.
    pub steps: Vec<StepReport>,
    /// What was found, verified or not.
    pub findings: Vec<Finding>,
    /// What was delivered, where the task wants something.
    pub deliverable: Option<Fact>,
    /// What the model said of it; null without a synthesis or where the task wants nothing.
    pub claim: Option<ClaimReport>,
    /// What the harness searched the whole tree for, where the task says so; null also when the run ended before.
    pub survey: Option<SurveyReport>,
    /// Every place that it found and that no step has read.
    pub unexamined: Vec<String>,
    /// What steps suggested beside the plan. Nothing came of it.
    pub suggestions: Vec<String>,
    /// What was left out of inputs, by the call.
    pub omissions: Vec<CallOmission>,
    /// What went wrong, in order; without what only a crash did.
    pub failures: Vec<FailureReport>,
}

/// A search of the harness over the whole tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SurveyReport {
    /// The text.
    pub pattern: String,
    /// How many files were read.
    pub files: u32,
    /// How many lines have it.
    pub lines: u64,
    /// Whether every file was read: only then are all places known.
    pub exhaustive: bool,
}

/// What a model said of a deliverable, beside what was seen. It can make a run worse, and never better.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClaimReport {
    /// Whether it said that it is there.
    pub delivered: bool,
    /// What else it said.
    pub claims: Vec<Said>,
    /// What of all that is not as the harness saw it.
    pub refuted: Vec<Mismatch>,
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepReport {
    /// Its name.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// Its goal.
    pub goal: String,
    /// Whether it has a verified finding that was not set aside, or made the deliverable.
    pub done: bool,
}

/// Something that a call was meant to have and had not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallOmission {
    /// The call.
    pub call: String,
    /// What.
    #[serde(flatten)]
    pub omission: Omission,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailureReport {
    /// Its class.
    pub class: Class,
    /// The call, if it was one.
    pub call: Option<String>,
    /// What happened.
    pub message: String,
}

/// What a run cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// The most that it could have cost.
    pub bound: Bound,
    /// Calls.
    pub calls: u32,
    /// Input tokens, counted.
    pub input_tokens: u32,
    /// Output tokens, counted.
    pub output_tokens: u32,
    /// Input tokens as the providers counted them, where they did.
    pub provider_input_tokens: u64,
    /// Of these, from the cache of the provider.
    pub provider_cached_tokens: u64,
    /// Calls whose outcome was lost in a crash.
    pub lost_calls: u32,
    /// Calls of the deliverable whose end nobody saw, since psos was ended during them.
    pub lost_deliveries: u32,
    /// How many prefixes were sent: one.
    pub prefixes: u32,
    /// From the first entry to the last, in milliseconds.
    pub took_ms: u64,
}

impl RunReport {
    /// The format that this build writes.
    pub const SCHEMA_VERSION: u32 = 2;

    /// Reports a run, as far as it has come.
    pub fn of(state: &State) -> Self {
        let spent = &state.spent;
        let took = state.now.saturating_sub(state.started);
        let mut models: Vec<String> = Vec::new();
        for model in &state.models {
            if models.last() != Some(&model.name) {
                models.push(model.name.clone());
            }
        }
        Self {
            schema_version: Self::SCHEMA_VERSION,
            run: state.run.to_string(),
            outcome: outcome(state),
            cost: Cost {
                bound: state.bound,
                calls: spent.calls,
                input_tokens: spent.input_tokens,
                output_tokens: spent.output_tokens,
                provider_input_tokens: spent.provider.input,
                provider_cached_tokens: spent.provider.cached,
                lost_calls: spent.lost,
                lost_deliveries: spent.lost_deliveries,
                prefixes: u32::try_from(state.prefixes.len()).unwrap_or(u32::MAX),
                took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            },
            models,
        }
    }

    /// Writes it as JSON, with an end of line.
    pub fn to_json(&self) -> String {
        // Only texts, numbers and lists: always JSON.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Writes it for people.
    pub fn to_text(&self) -> String {
        let outcome = &self.outcome;
        let mut text =
            format!("{}: {}\n\n{}\n", self.run, outcome.verdict, outcome.answer.trim_end());
        for finding in outcome.findings.iter().filter(|finding| finding.verified) {
            push(&mut text, format_args!("\n  {}", finding.digest_line().trim_end()));
        }
        if let Some(fact) = &outcome.deliverable {
            push(&mut text, format_args!("\n  deliverable: {}", fact.observed));
        }
        if let Some(survey) = &outcome.survey {
            let (n, pattern) = (survey.lines, &survey.pattern);
            let places = match outcome.unexamined.as_slice() {
                [] => "all examined".to_owned(),
                places => format!("not examined: {}", places.join(", ")),
            };
            push(&mut text, format_args!("\n  {n} lines have {pattern:?}, {places}"));
            if !survey.exhaustive {
                text.push_str("; not every file could be read, so there may be more");
            }
        }
        for failure in &outcome.failures {
            let call = failure.call.as_deref().unwrap_or("run");
            push(&mut text, format_args!("\n  {call}: {}: {}", failure.class, failure.message));
        }
        let cost = &self.cost;
        push(
            &mut text,
            format_args!(
                "\n\n{} calls of at most {}, {} input tokens of at most {}, {} output tokens\n",
                cost.calls,
                cost.bound.calls,
                cost.input_tokens,
                cost.bound.input_tokens,
                cost.output_tokens
            ),
        );
        text
    }
}

/// Says how a run ended, from what the harness observed; what the model says counts only downwards.
pub fn verdict(state: &State) -> Verdict {
    let said = state.value(&Purpose::Synthesis).and_then(|value| value.get("verdict"));
    let said = said.and_then(Value::as_str);
    if matches!(state.stopped, Some((Class::GateRefusal, _))) || said == Some("refused") {
        return Verdict::Refused;
    }
    if state.spent.intact == 0 {
        return Verdict::InfraFailed;
    }
    let steps = step_reports(state);
    let all_done = !steps.is_empty() && steps.iter().all(|step| step.done);
    let delivered = state.must_deliver() == MustDeliver::No
        || state.fact.as_ref().is_some_and(|fact| fact.satisfied);
    if said == Some("answered") && all_done && delivered && state.false_claims().is_empty() {
        Verdict::Answered
    } else {
        Verdict::Partial
    }
}

fn outcome(state: &State) -> Outcome {
    let synthesis = state.value(&Purpose::Synthesis);
    let answer = synthesis.and_then(|value| value.get("answer")).and_then(Value::as_str);
    let answer = answer.filter(|answer| !answer.trim().is_empty());
    let said: BTreeSet<String> = strings(synthesis, "cites").into_iter().collect();
    let verified = state.findings.iter().filter(|finding| finding.verified);
    Outcome {
        task: state.task.name.clone(),
        verdict: state.ended.unwrap_or_else(|| verdict(state)),
        answer: answer.map_or_else(|| composed(state), str::to_owned),
        answered_by: if answer.is_some() { "model" } else { "harness" },
        cites: verified
            .filter(|finding| said.contains(&finding.id))
            .map(|f| f.id.clone())
            .collect(),
        steps: step_reports(state),
        findings: state.findings.clone(),
        deliverable: state.fact.clone(),
        claim: state.claim().map(|claim| ClaimReport {
            delivered: claim.delivered,
            claims: claim.claims,
            refuted: state.false_claims(),
        }),
        survey: state.survey.as_ref().map(|survey| SurveyReport {
            pattern: survey.pattern.clone(),
            files: survey.n_files,
            lines: survey.hits.len() as u64,
            exhaustive: survey.exhaustive,
        }),
        unexamined: unexamined(state),
        suggestions: state
            .steps
            .iter()
            .flatten()
            .flat_map(|step| strings(state.value(&Purpose::Step(step.id.clone())), "suggest"))
            .collect(),
        omissions: state
            .omitted
            .iter()
            .filter(|(_, omission)| omission.why == Why::TooLong)
            .map(|(call, omission)| CallOmission {
                call: call.to_string(),
                omission: omission.clone(),
            })
            .collect(),
        failures: failures(state),
    }
}

fn failures(state: &State) -> Vec<FailureReport> {
    let mut failures: Vec<FailureReport> = state
        .failures
        .iter()
        .filter(|failure| failure.class != Class::Crash)
        .map(|failure| FailureReport {
            class: failure.class,
            call: failure.purpose.as_ref().map(ToString::to_string),
            message: failure.message.clone(),
        })
        .collect();
    if state.must_deliver() == MustDeliver::Yes && state.fact.is_none() {
        failures.push(FailureReport {
            class: Class::DeliverableMissing,
            call: None,
            message: match state.begun {
                Some(_) => "the call was begun, and nobody saw how it ended".to_owned(),
                None => "no step made what the task must produce".to_owned(),
            },
        });
    }
    failures
}

fn step_reports(state: &State) -> Vec<StepReport> {
    let dropped: BTreeSet<String> =
        strings(state.value(&Purpose::Review), "drop").into_iter().collect();
    let mut done: BTreeMap<&str, bool> = BTreeMap::new();
    for finding in state.findings.iter().filter(|finding| finding.verified) {
        *done.entry(&finding.step).or_default() |= !dropped.contains(&finding.id);
    }
    let steps = state.steps.iter().flatten().map(|step| {
        let done = match state.delivers(&Purpose::Step(step.id.clone())) {
            Delivers::Yes => state.fact.as_ref().is_some_and(|fact| fact.satisfied),
            Delivers::No => done.get(step.id.as_str()).copied().unwrap_or_default(),
        };
        StepReport { id: step.id.clone(), kind: step.kind.clone(), goal: step.goal.clone(), done }
    });
    steps.collect()
}

/// The answer of the harness, for when the model gave none: what is established, and nothing else.
fn composed(state: &State) -> String {
    let lines: Vec<String> = state
        .findings
        .iter()
        .filter(|finding| finding.verified)
        .map(|finding| finding.digest_line().trim_end().to_owned())
        .collect();
    match (lines.as_slice(), &state.stopped) {
        ([], Some((class, why))) => format!("Nothing was established: {class}, {why}."),
        ([], None) => "Nothing was established.".to_owned(),
        _ => format!("Established so far:\n{}", lines.join("\n")),
    }
}

/// The lines that the harness found by itself and that no step has read: none that ended with a valid reply had them
/// in its input.
fn unexamined(state: &State) -> Vec<String> {
    let Some(survey) = &state.survey else { return Vec::new() };
    let read: BTreeSet<(&str, u32)> = state
        .retrieved
        .iter()
        .filter(|(purpose, _)| {
            matches!(purpose, Purpose::Step(_)) && state.value(purpose).is_some()
        })
        .flat_map(|(purpose, pieces)| pieces.iter().map(move |piece| (purpose, piece)))
        .flat_map(|(purpose, piece)| {
            let gone = cut(state, purpose, &SpanKey::of(&piece.text));
            let (first, last) = piece.lines;
            (first..=last)
                .filter(move |line| !gone.iter().any(|(from, to)| (from..=to).contains(&line)))
                .map(|line| (piece.path.as_str(), line))
        })
        .collect();
    let unread = survey.hits.iter().filter(|(file, line)| !read.contains(&(file.as_str(), *line)));
    unread.map(|(file, line)| format!("{file}:{line}")).collect()
}

/// The lines of a span that did not fit into the input of a step. What was sent before is read: something valid was
/// made of it then.
fn cut(state: &State, purpose: &Purpose, key: &SpanKey) -> Vec<(u32, u32)> {
    let of_span = |(call, gone): &&(Purpose, Omission)| call == purpose && gone.key == *key;
    let cut = state.omitted.iter().filter(of_span).filter(|(_, gone)| gone.why == Why::TooLong);
    cut.map(|(_, gone)| gone.lines).collect()
}

fn strings(value: Option<&Value>, key: &str) -> Vec<String> {
    let list = value.and_then(|value| value.get(key));
    list.and_then(|list| Vec::<String>::deserialize(list).ok()).unwrap_or_default()
}
