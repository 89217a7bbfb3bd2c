//! The loop: asks the state what is next, does it, writes down what came of it. Everything that is decided
//! is decided elsewhere; everything that is not pure happens here.

use std::fmt::Debug;
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::Value;

use crate::clock::Clock;
use crate::fault::Fault;
use crate::ledger::{Actor, ActorKind, Entry, Head, Ledger, LedgerError, RunId};
use crate::pipeline::ceiling;
use crate::pipeline::class::Class;
use crate::pipeline::event::{Checked, Event, ModelFact, Purpose, Settings};
use crate::pipeline::finding;
use crate::pipeline::model::{Model, Request};
use crate::pipeline::next::{Action, next};
use crate::pipeline::plan::{self, Guard, Plan};
use crate::pipeline::prompt::compose;
use crate::pipeline::report;
use crate::pipeline::source::{Depth, SourceError, Sources};
use crate::pipeline::state::{FoldError, State};
use crate::pipeline::task::Task;
use crate::pipeline::truth::{Beginning, DeliverableCall, Delivery, Fact, Search, Truth};

/// Where a run writes down what happens.
pub trait Journal: Debug {
    /// Appends an event.
    ///
    /// # Errors
    /// [`LedgerError`] when it is not written, which ends the run.
    fn append(&mut self, at: Duration, actor: &Actor, event: &Event) -> Result<Entry, LedgerError>;
}

/// A journal in a ledger.
#[derive(Debug)]
pub struct RunJournal<'a> {
    ledger: &'a Ledger,
    run: RunId,
    head: Head,
}

impl<'a> RunJournal<'a> {
    /// The journal of a run that goes as far as `head`.
    pub fn new(ledger: &'a Ledger, run: RunId, head: Head) -> Self {
        Self { ledger, run, head }
    }
}

impl Journal for RunJournal<'_> {
    fn append(&mut self, at: Duration, actor: &Actor, event: &Event) -> Result<Entry, LedgerError> {
        let (kind, body) = event.to_parts();
        let entry = self.ledger.append(&self.run, &self.head, at, actor, (&kind, body))?;
        self.head = entry.head();
        Ok(entry)
    }
}

/// A journal in memory, for what nobody needs to continue.
#[derive(Debug)]
pub struct MemoryJournal {
    run: RunId,
    /// What was written.
    pub entries: Vec<Entry>,
}

impl MemoryJournal {
    /// An empty journal of a run.
    pub fn new(run: RunId) -> Self {
        Self { run, entries: Vec::new() }
    }
}

impl Journal for MemoryJournal {
    fn append(&mut self, at: Duration, actor: &Actor, event: &Event) -> Result<Entry, LedgerError> {
        let head = self.entries.last().map_or(Head::START, Entry::head);
        let (kind, body) = event.to_parts();
        let entry = Entry::after(&head, &self.run, at, actor, &kind, body);
        self.entries.push(entry.clone());
        Ok(entry)
    }
}

/// All that a run works with.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The model.
    pub model: &'a mut dyn Model,
    /// Where it gets what the model is shown.
    pub sources: &'a mut dyn Sources,
    /// Where it looks things up.
    pub truth: &'a mut dyn Truth,
    /// What makes deliverables; [`Forbidden`](crate::pipeline::Forbidden) when nobody allowed it.
    pub delivery: &'a mut dyn Delivery,
    /// What time it is.
    pub clock: &'a dyn Clock,
    /// Where it writes down what happens.
    pub journal: &'a mut dyn Journal,
    /// Who hears of every entry.
    pub watch: &'a mut dyn Watch,
}

/// Hears of every entry as it is written.
pub trait Watch: Debug {
    /// An entry was written, and this is the state with it.
    fn entry(&mut self, entry: &Entry, state: &State);
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Watch for Quiet {
    fn entry(&mut self, _entry: &Entry, _state: &State) {}
}

/// Why a run could not go on. It can be resumed from its journal.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The journal cannot be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The store cannot be asked.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The journal is not one of a run.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

impl RunError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Ledger(error) => error.fault(),
            Self::Source(error) => error.fault(),
            Self::Fold(_) => Fault::Data,
        }
    }
}

/// Begins a run: writes down the task, the model, and the most that it can cost.
///
/// # Errors
/// [`RunError::Ledger`].
pub fn begin(
    task: &Task,
    settings: Settings,
    actor: &Actor,
    parts: &mut Parts<'_>,
) -> Result<State, RunError> {
    let model = ModelFact::of(parts.model);
    let bound = ceiling::bound(task, model.capability.window_tokens);
    let event = Event::Started { task: task.clone(), model, settings, bound };
    let entry = parts.journal.append(parts.clock.now(), actor, &event)?;
    let state = State::start(&entry)?;
    parts.watch.entry(&entry, &state);
    Ok(state)
}

/// Takes a run over from its journal.
///
/// # Errors
/// [`RunError::Ledger`], [`RunError::Fold`].
pub fn take_over(
    entries: &[Entry],
    actor: &Actor,
    note: &str,
    parts: &mut Parts<'_>,
) -> Result<State, RunError> {
    let mut state = State::fold(entries)?;
    if state.ended.is_none() {
        let event = Event::Resumed { model: ModelFact::of(parts.model), note: note.to_owned() };
        write(&mut state, parts, actor, &event)?;
    }
    Ok(state)
}

/// Drives a run to its end.
///
/// # Errors
/// [`RunError`] when the journal cannot be written or the store cannot be asked. A model that fails, whatever
/// it does, is no error: the run ends with a verdict.
pub fn drive(mut state: State, parts: &mut Parts<'_>) -> Result<State, RunError> {
    let harness = Actor::harness();
    let tool = Actor { kind: ActorKind::Tool, name: "deliverable".to_owned() };
    loop {
        let event = match next(&state) {
            Action::Rest => return Ok(state),
            Action::Survey(pattern) => Event::Surveyed(search(parts.truth, &pattern)),
            Action::Describe => {
                let limits = &state.task.limits;
                let pieces = parts.sources.describe(&state.task.question, limits.candidates)?;
                let is_empty = pieces.is_empty();
                let event = Event::Retrieved {
                    depth: Depth::Description,
                    purpose: Purpose::Orient,
                    selected: pieces.iter().map(|piece| piece.id.clone()).collect(),
                    pieces,
                };
                if is_empty {
                    write(&mut state, parts, &harness, &event)?;
                    let why = "no record of the store shares a word with the question".to_owned();
                    Event::Stopped { purpose: None, class: Class::Ungrounded, why }
                } else {
                    event
                }
            }
            Action::Retrieve { depth, purpose, ids } => {
                let pieces = parts.sources.pieces(&ids, depth)?;
                Event::Retrieved { depth, purpose, selected: ids, pieces }
            }
            Action::Ask(purpose) => ask(&state, &purpose, parts.clock.now()),
            Action::Call(purpose) => {
                let (actor, event) = call(&state, purpose, parts.model);
                write(&mut state, parts, &actor, &event)?;
                continue;
            }
            Action::Guard => Event::Guarded { faults: guard(&state) },
            Action::Check(step) => check(&state, step, parts.truth),
            Action::Begin(step) => delivering(&state, step, parts.delivery),
            Action::Deliver(step) => {
                let event =
                    deliver(&state, &step, |call, begun| parts.delivery.deliver(call, begun));
                write(&mut state, parts, &tool, &event)?;
                continue;
            }
            Action::Inspect(step) => {
                deliver(&state, &step, |call, begun| parts.delivery.inspect(call, begun))
            }
            Action::End => Event::Ended { verdict: report::verdict(&state) },
        };
        write(&mut state, parts, &harness, &event)?;
    }
}

/// Writes an event down and takes it into the state.
///
/// # Errors
/// [`RunError::Ledger`], [`RunError::Fold`].
pub fn write(
    state: &mut State,
    parts: &mut Parts<'_>,
    actor: &Actor,
    event: &Event,
) -> Result<(), RunError> {
    let entry = parts.journal.append(parts.clock.now(), actor, event)?;
    state.apply(&entry)?;
    parts.watch.entry(&entry, state);
    Ok(())
}

/// Returns the event of being about to ask, or why that cannot be.
pub(super) fn ask(state: &State, purpose: &Purpose, now: Duration) -> Event {
    let purpose = purpose.clone();
    match compose(state, &purpose) {
        Err(error) => Event::Unsendable { purpose, error },
        Ok(input) => match ceiling::check(state, &purpose, input.counted, now) {
            Some((class, why)) => Event::Stopped { purpose: Some(purpose), class, why },
            None => Event::Asked {
                purpose,
                request: input.hash,
                prefix: input.prefix_hash,
                counted: input.counted,
                sent: input.sent,
                omitted: input.omitted,
                tail: input.tail,
            },
        },
    }
}

/// Returns what the guard says about the plan of the model.
pub(super) fn guard(state: &State) -> Vec<String> {
    let offered = state.summarised().into_iter().collect();
    let guard = Guard {
        max_steps: state.task.limits.steps,
        offered: &offered,
        must_deliver: state.must_deliver(),
        calls_left: ceiling::calls_for_steps(state),
    };
    plan::faults(&state.planned().unwrap_or(Plan { steps: Vec::new() }), &guard)
}

fn call(state: &State, purpose: Purpose, model: &mut dyn Model) -> (Actor, Event) {
    let limits = &state.task.limits;
    let messages = match compose(state, &purpose) {
        Ok(input) => input.messages,
        // It could be put together a moment ago.
        Err(error) => return (Actor::harness(), Event::Unsendable { purpose, error }),
    };
    let shape = purpose.shape(state.delivers(&purpose));
    let request = Request {
        purpose: purpose.to_string(),
        messages,
        schema: Some(shape.schema(state.task.deliverable.as_ref())),
        max_output_tokens: limits.call_output_tokens,
        timeout: Duration::from_secs(u64::from(limits.call_seconds)),
    };
    let actor = Actor { kind: ActorKind::Model, name: model.name().to_owned() };
    match model.complete(&request) {
        Ok(reply) => (actor, Event::Answered { purpose, reply }),
        Err(error) => (actor, Event::Failed { purpose, error }),
    }
}

fn check(state: &State, step: String, truth: &mut dyn Truth) -> Event {
    let reply = state.value(&Purpose::Step(step.clone())).cloned().unwrap_or(Value::Null);
    let citations = finding::citations(&reply)
        .into_iter()
        .map(|citation| Checked { standing: truth.check(&citation), citation })
        .collect();
    let searches = finding::absences(&reply).iter().map(|pattern| search(truth, pattern)).collect();
    Event::Checked { step, citations, searches }
}

/// A search for nothing would find everything, and grounds nothing.
fn search(truth: &mut dyn Truth, pattern: &str) -> Search {
    if pattern.trim().is_empty() {
        let pattern = pattern.to_owned();
        return Search { pattern, n_files: 0, hits: Vec::new(), exhaustive: false };
    }
    truth.search(pattern)
}

/// What the model gave for the deliverable.
fn arguments_of(state: &State, step: &str) -> Vec<String> {
    state
        .value(&Purpose::Step(step.to_owned()))
        .and_then(|value| Vec::<String>::deserialize(value.get("arguments")?).ok())
        .unwrap_or_default()
}

/// Returns the event of being about to make the deliverable, or that it cannot be made.
fn delivering(state: &State, step: String, delivery: &mut dyn Delivery) -> Event {
    let arguments = arguments_of(state, &step);
    let Some(need) = &state.task.deliverable else {
        return Event::Delivered(Fact::not_made(&step, &arguments, "the task names none"));
    };
    let call = DeliverableCall { step: &step, need, arguments: &arguments };
    match delivery.before(&call) {
        Err(fact) => Event::Delivered(*fact),
        Ok(before) => {
            // Of a call that is made again, what counts is what there was at first.
            let before = state.begun.as_ref().map_or(before, |begun| begun.before.clone());
            Event::Delivering { step, arguments, before }
        }
    }
}

/// Does something about a deliverable whose call was begun.
fn deliver(
    state: &State,
    step: &str,
    how: impl FnOnce(&DeliverableCall<'_>, Beginning<'_>) -> Fact,
) -> Event {
    let arguments = arguments_of(state, step);
    Event::Delivered(match (&state.task.deliverable, &state.begun) {
        (Some(need), Some(begun)) => how(
            &DeliverableCall { step, need, arguments: &arguments },
            Beginning { before: &begun.before, at: begun.at },
        ),
        _ => Fact::not_made(step, &arguments, "the task names none"),
    })
}
