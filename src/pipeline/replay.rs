//! A run, once more, from its journal: what it would cost, whether it happened as the rules say, and what
//! another model or other limits would have made of it. Nothing of it touches the journal that is read.

use serde::Serialize;

use crate::clock::Clock;
use crate::ledger::{Actor, Entry};
use crate::pipeline::class::Verdict;
use crate::pipeline::deliverable::Before;
use crate::pipeline::drive::{Journal, Parts, Quiet, RunError, ask, begin, drive, guard};
use crate::pipeline::event::{Event, Purpose, Settings};
use crate::pipeline::model::Model;
use crate::pipeline::next::{Action, next};
use crate::pipeline::prompt::compose;
use crate::pipeline::redact::redact;
use crate::pipeline::report::{self, RunReport};
use crate::pipeline::source::Recorded;
use crate::pipeline::state::{FoldError, State};
use crate::pipeline::task::Task;
use crate::pipeline::truth::{
    Beginning, Citation, DeliverableCall, Delivery, Fact, Search, Standing, Truth,
};

/// What a run costs, call by call, when every prompt is put together again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostReport {
    /// The version of the format, 1.
    pub schema_version: u32,
    /// The run.
    pub run: String,
    /// The calls, in order.
    pub calls: Vec<CallCost>,
    /// What all inputs have now.
    pub input_tokens: u64,
    /// What all inputs had when the run was made.
    pub recorded_tokens: u64,
}

/// What one call costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallCost {
    /// What for.
    pub call: String,
    /// What its input has now, in tokens; `None` when there could be none.
    pub input_tokens: Option<u32>,
    /// What it had when the run was made.
    pub recorded_tokens: u32,
    /// Whether the input is the same, byte for byte.
    pub same: bool,
}

/// Puts every prompt of a run together again and counts it. No model is asked.
///
/// # Errors
/// [`FoldError`] when the journal is not one of a run.
pub fn cost(entries: &[Entry]) -> Result<CostReport, FoldError> {
    let mut calls = Vec::new();
    walk(entries, |state, _, event| {
        if let Event::Asked { purpose, request, counted, .. } = event {
            let input = compose(state, purpose).ok();
            calls.push(CallCost {
                call: purpose.to_string(),
                input_tokens: input.as_ref().map(|input| input.counted),
                recorded_tokens: *counted,
                same: input.is_some_and(|input| input.hash == *request),
            });
        }
        Going::On
    })?;
    Ok(CostReport {
        schema_version: 1,
        run: entries.first().map(|entry| entry.run.to_string()).unwrap_or_default(),
        input_tokens: calls.iter().filter_map(|call| call.input_tokens).map(u64::from).sum(),
        recorded_tokens: calls.iter().map(|call| u64::from(call.recorded_tokens)).sum(),
        calls,
    })
}

/// Where a journal is not what the rules make of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// The entry.
    pub seq: u64,
    /// What the journal says, without secrets.
    pub recorded: String,
    /// What the rules say, without secrets.
    pub expected: String,
}

/// Goes through a run entry by entry, with everything that came from outside taken from the journal, and
/// returns the first entry that is not what the rules make of those before it.
///
/// # Errors
/// [`FoldError`] when the journal is not one of a run.
pub fn strict(entries: &[Entry]) -> Result<Option<Divergence>, FoldError> {
    let mut found = None;
    walk(entries, |state, entry, event| {
        let Some(expected) = disagreement(state, entry, event) else { return Going::On };
        let recorded = serde_json::to_string(event).unwrap_or_default();
        found = Some(Divergence {
            seq: entry.seq,
            recorded: redact(&recorded),
            expected: redact(&expected),
        });
        Going::Stop
    })?;
    Ok(found)
}

/// What comes of a run with another model, or another task file, and everything else from the journal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIf {
    /// The version of the format, 1.
    pub schema_version: u32,
    /// What came of the run that was recorded.
    pub recorded: Brief,
    /// What comes of it now.
    pub replayed: Brief,
    /// How many times fewer input tokens that is; below one when it is more.
    pub times_fewer: f64,
    /// What was asked for and is not in the journal, so that it could not be shown or checked.
    pub missing: Vec<String>,
    /// The whole report of the replay.
    pub report: RunReport,
}

/// A run in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Brief {
    /// How it ended; `None` when it did not.
    pub verdict: Option<Verdict>,
    /// Calls.
    pub calls: u32,
    /// Input tokens, counted.
    pub input_tokens: u32,
    /// Verified findings.
    pub verified: u64,
}

impl Brief {
    fn of(state: &State) -> Self {
        Self {
            verdict: state.ended,
            calls: state.spent.calls,
            input_tokens: state.spent.input_tokens,
            verified: state.findings.iter().filter(|finding| finding.verified).count() as u64,
        }
    }
}

/// What a replay may differ in.
#[derive(Debug)]
pub struct Variation<'a> {
    /// The model.
    pub model: &'a mut dyn Model,
    /// The task; that of the journal when there is none.
    pub task: Option<Task>,
    /// How it is to behave; as the journal says when there is nothing.
    pub settings: Option<Settings>,
    /// What makes deliverables. One that writes outside of a scratch folder breaks the promise of a
    /// replay.
    pub delivery: &'a mut dyn Delivery,
    /// What time it is.
    pub clock: &'a dyn Clock,
    /// Where the replay is written down: in a scratch folder, or in memory.
    pub journal: &'a mut dyn Journal,
}

/// Drives a recorded run again, with what was retrieved and looked up taken from its journal.
///
/// # Errors
/// [`RunError`] when the journal is not one of a run, or the new one cannot be written.
pub fn what_if(entries: &[Entry], with: Variation<'_>) -> Result<WhatIf, RunError> {
    let Variation { model, task, settings, delivery, clock, journal } = with;
    let recorded = State::fold(entries)?;
    let events: Vec<Event> = entries.iter().filter_map(Event::of).collect();
    let mut sources = Recorded::of(&events);
    let mut truth = RecordedTruth::of(&events);
    let mut quiet = Quiet;
    let mut parts = Parts {
        model,
        sources: &mut sources,
        truth: &mut truth,
        delivery,
        clock,
        journal,
        watch: &mut quiet,
    };
    let task = task.as_ref().unwrap_or(&recorded.task);
    let settings = settings.unwrap_or(recorded.settings);
    let state = begin(task, settings, &Actor::harness(), &mut parts)?;
    let state = drive(state, &mut parts)?;
    let (before, now) = (Brief::of(&recorded), Brief::of(&state));
    let mut missing = sources.missing;
    missing.extend(truth.missing);
    Ok(WhatIf {
        schema_version: 1,
        recorded: before,
        replayed: now,
        times_fewer: f64::from(before.input_tokens) / f64::from(now.input_tokens.max(1)),
        missing,
        report: RunReport::of(&state),
    })
}

/// Delivers what was delivered when the run was recorded, and runs nothing.
#[derive(Debug, Clone, Default)]
pub struct RecordedDelivery(Option<Fact>);

impl RecordedDelivery {
    /// What a run delivered.
    pub fn of(entries: &[Entry]) -> Self {
        let fact = entries.iter().filter_map(Event::of).find_map(|event| match event {
            Event::Delivered(fact) => Some(fact),
            _ => None,
        });
        Self(fact)
    }
}

impl Delivery for RecordedDelivery {
    fn before(&mut self, _call: &DeliverableCall<'_>) -> Result<Before, Box<Fact>> {
        Ok(Before::default())
    }

    fn inspect(&mut self, call: &DeliverableCall<'_>, begun: Beginning<'_>) -> Fact {
        self.deliver(call, begun)
    }

    fn deliver(&mut self, call: &DeliverableCall<'_>, _begun: Beginning<'_>) -> Fact {
        match &self.0 {
            Some(fact) => Fact {
                step: call.step.to_owned(),
                arguments: call.arguments.to_vec(),
                ..fact.clone()
            },
            None => Fact::not_made(call.step, call.arguments, "the journal has none"),
        }
    }
}

/// What was looked up when a run was recorded. A quote that was not checked then is held against the details
/// that were retrieved; beyond those, nobody can tell.
#[derive(Debug, Clone, Default)]
struct RecordedTruth {
    checked: Vec<(Citation, Standing)>,
    searches: Vec<Search>,
    details: Recorded,
    missing: Vec<String>,
}

impl RecordedTruth {
    fn of(events: &[Event]) -> Self {
        let mut truth = Self { details: Recorded::of(events), ..Self::default() };
        for event in events {
            match event {
                Event::Surveyed(search) => truth.searches.push(search.clone()),
                Event::Checked { citations, searches, .. } => {
                    truth.searches.extend(searches.iter().cloned());
                    let checked = citations.iter();
                    truth.checked.extend(checked.map(|c| (c.citation.clone(), c.standing.clone())));
                }
                _ => {}
            }
        }
        truth
    }
}

impl Truth for RecordedTruth {
    fn check(&mut self, citation: &Citation) -> Standing {
        if let Some((_, standing)) = self.checked.iter().find(|(known, _)| known == citation) {
            return standing.clone();
        }
        let line = u32::try_from(citation.line).unwrap_or(0);
        match self.details.line_of(&citation.file, line) {
            Some(text) if !citation.quote.trim().is_empty() && text.contains(&citation.quote) => {
                Standing::Verified
            }
            Some(_) => Standing::Refuted("the line says something else".to_owned()),
            None => {
                self.missing.push(format!("line {} of {}", citation.line, citation.file));
                Standing::Unverifiable("the journal does not have that line".to_owned())
            }
        }
    }

    fn search(&mut self, pattern: &str) -> Search {
        if let Some(search) = self.searches.iter().find(|search| search.pattern == pattern) {
            return search.clone();
        }
        self.missing.push(format!("the search for {pattern:?}"));
        let pattern = pattern.to_owned();
        Search { pattern, n_files: 0, hits: Vec::new(), exhaustive: false }
    }
}

/// Whether to look at the next entry.
enum Going {
    On,
    Stop,
}

/// Shows every entry behind the first, with the state before it.
fn walk(
    entries: &[Entry],
    mut look: impl FnMut(&State, &Entry, &Event) -> Going,
) -> Result<(), FoldError> {
    let (first, rest) = entries.split_first().ok_or(FoldError::NoStart)?;
    let mut state = State::start(first)?;
    for entry in rest {
        if let Some(event) = Event::of(entry)
            && matches!(look(&state, entry, &event), Going::Stop)
        {
            return Ok(());
        }
        state.apply(entry)?;
    }
    Ok(())
}

/// What the rules make of a state, if it is not what the journal has.
fn disagreement(state: &State, entry: &Entry, event: &Event) -> Option<String> {
    if matches!(event, Event::Resumed { .. }) {
        return None;
    }
    let action = next(state);
    let exact = |expected: Event| {
        let is_same = expected == *event;
        (!is_same).then(|| serde_json::to_string(&expected).unwrap_or_default())
    };
    let agrees = match (&action, event) {
        (Action::Ask(purpose), _) => return exact(ask(state, purpose, entry.at())),
        (Action::Guard, _) => return exact(Event::Guarded { faults: guard(state) }),
        (Action::End, _) => return exact(Event::Ended { verdict: report::verdict(state) }),
        (Action::Call(asked), Event::Answered { purpose, .. } | Event::Failed { purpose, .. }) => {
            asked == purpose
        }
        (Action::Survey(pattern), Event::Surveyed(search)) => search.pattern == *pattern,
        (Action::Describe, Event::Retrieved { purpose, .. }) => *purpose == Purpose::Orient,
        (
            Action::Retrieve { depth, purpose, ids },
            Event::Retrieved { depth: d, purpose: p, selected, .. },
        ) => depth == d && purpose == p && ids == selected,
        (Action::Check(step), Event::Checked { step: checked, .. }) => step == checked,
        (Action::Begin(step), Event::Delivering { step: begun, .. }) => step == begun,
        // It could not be begun, so that there is nothing that was seen of it.
        (Action::Begin(step), Event::Delivered(fact)) => *step == fact.step && fact.seen.is_none(),
        (Action::Deliver(step) | Action::Inspect(step), Event::Delivered(fact)) => {
            *step == fact.step
        }
        // A rule outside of the state: a resource, or a store without an answer.
        (_, Event::Stopped { purpose: None, .. }) => true,
        _ => false,
    };
    (!agrees).then(|| format!("{action:?}"))
}
