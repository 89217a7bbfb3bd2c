//! What is to be done next: a pure function of the state.

use crate::pipeline::class::Class;
use crate::pipeline::deliverable::Repeat;
use crate::pipeline::event::{Delivers, Purpose};
use crate::pipeline::plan::PlanStep;
use crate::pipeline::source::Depth;
use crate::pipeline::state::{Hand, State};

/// Something to do. Each is over with one or two entries of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Search the whole tree for what the task names.
    Survey(String),
    /// Get the descriptions of the records that fit the question.
    Describe,
    /// Get a tier of records that a cheaper tier selected.
    Retrieve {
        /// Which.
        depth: Depth,
        /// For which call.
        purpose: Purpose,
        /// Whose.
        ids: Vec<String>,
    },
    /// Put an input together, and note that it is going to be sent.
    Ask(Purpose),
    /// Send it.
    Call(Purpose),
    /// Hold the plan against the guard.
    Guard,
    /// Check what a step found.
    Check(String),
    /// Look at what is there before the deliverable is made, and note that it is going to be made.
    Begin(String),
    /// Make the deliverable.
    Deliver(String),
    /// Look at what a call of the deliverable left whose end nobody saw.
    Inspect(String),
    /// Close the run.
    End,
    /// Nothing: the run is over.
    Rest,
}

/// Says what to do next.
pub fn next(state: &State) -> Action {
    if state.ended.is_some() {
        return Action::Rest;
    }
    if let Some(pending) = &state.pending {
        return Action::Call(pending.purpose.clone());
    }
    match state.stopped {
        // Without leave, or without a way to the model, there is nothing to ask.
        Some((Class::GateRefusal | Class::Credential, _)) => return Action::End,
        Some(_) => {}
        None => {
            if let Some(action) = before_steps(state) {
                return action;
            }
        }
    }
    if let Some(action) = steps(state) {
        return action;
    }
    let has_findings = !state.findings.is_empty();
    if has_findings && state.stopped.is_none() && !state.is_closed(&Purpose::Review) {
        return Action::Ask(Purpose::Review);
    }
    if !state.is_closed(&Purpose::Synthesis) {
        return Action::Ask(Purpose::Synthesis);
    }
    Action::End
}

/// Orientation and the plan.
fn before_steps(state: &State) -> Option<Action> {
    if let (Some(survey), None) = (&state.task.survey, &state.survey) {
        return Some(Action::Survey(survey.pattern.clone()));
    }
    if !state.retrieved.contains_key(&Purpose::Orient) {
        return Some(Action::Describe);
    }
    if !state.is_closed(&Purpose::Orient) {
        return Some(Action::Ask(Purpose::Orient));
    }
    if !state.retrieved.contains_key(&Purpose::Plan) {
        let (depth, ids) = (Depth::Summary, state.selected());
        return Some(Action::Retrieve { depth, purpose: Purpose::Plan, ids });
    }
    if state.steps.is_some() {
        return None;
    }
    if !state.is_closed(&Purpose::Plan) {
        return Some(Action::Ask(Purpose::Plan));
    }
    let Some(faults) = &state.guarded else { return Some(Action::Guard) };
    if faults.is_empty() {
        return None;
    }
    let is_repaired = state.is_closed(&Purpose::Repair);
    Some(if is_repaired { Action::Guard } else { Action::Ask(Purpose::Repair) })
}

/// The first thing that is left to do for a step; of a stopped run, for the one that delivers.
fn steps(state: &State) -> Option<Action> {
    state.steps.iter().flatten().find_map(|step| of_step(state, step))
}

fn of_step(state: &State, step: &PlanStep) -> Option<Action> {
    let purpose = Purpose::Step(step.id.clone());
    let delivers = state.delivers(&purpose);
    if !state.is_closed(&purpose) {
        if state.stopped.is_some() && delivers == Delivers::No {
            return None;
        }
        if !state.retrieved.contains_key(&purpose) && !step.targets.is_empty() {
            let ids = step.targets.clone();
            return Some(Action::Retrieve { depth: Depth::Detail, purpose, ids });
        }
        return Some(Action::Ask(purpose));
    }
    state.value(&purpose)?;
    match delivers {
        Delivers::No if !state.checked.contains(&step.id) => Some(Action::Check(step.id.clone())),
        Delivers::Yes if state.fact.is_none() => Some(of_deliverable(state, step.id.clone())),
        _ => None,
    }
}

/// What is to be done for a deliverable that is not made yet. A call that was begun and whose end nobody saw is
/// made again only when the task says that it may be; otherwise what it left is all that will be known.
fn of_deliverable(state: &State, step: String) -> Action {
    let repeat = state.task.deliverable.as_ref().map(|need| need.repeat).unwrap_or_default();
    match (&state.begun, repeat) {
        (Some(begun), _) if begun.hand == Hand::First => Action::Deliver(step),
        (Some(_), Repeat::Never) => Action::Inspect(step),
        (Some(_), Repeat::WhenInterrupted) | (None, _) => Action::Begin(step),
    }
}
