//! The state of a run: a fold of its events. Nothing else is remembered, so whoever has the journal has
//! the run.

mod fold;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::ledger::RunId;
use crate::pipeline::class::{Class, Verdict};
use crate::pipeline::deliverable::{Before, Claim, Mismatch, mismatches};
use crate::pipeline::event::{Bound, Delivers, ModelFact, Purpose, Settings};
use crate::pipeline::finding::Finding;
use crate::pipeline::input::{Carried, Omission, Sent, SpanKey};
use crate::pipeline::plan::{DELIVER, MustDeliver, Plan, PlanStep};
use crate::pipeline::source::{Depth, Piece};
use crate::pipeline::task::Task;
use crate::pipeline::truth::{Fact, Search};

pub use fold::FoldError;

/// How often a model is asked for one purpose: once, and once more with what was wrong.
pub(super) const MAX_ASKED: u32 = 2;

/// A run, as far as it has come.
#[derive(Debug, Clone)]
pub struct State {
    /// Its name.
    pub run: RunId,
    /// The task.
    pub task: Task,
    /// The models, in the order in which they worked on it; the last one is at it now.
    pub models: Vec<ModelFact>,
    /// How it is to behave.
    pub settings: Settings,
    /// The most that it can cost.
    pub bound: Bound,
    /// When it began, since 1970.
    pub started: Duration,
    /// When the last thing happened, since 1970.
    pub now: Duration,
    /// What the harness found by itself.
    pub survey: Option<Search>,
    /// What was retrieved for each call.
    pub retrieved: BTreeMap<Purpose, Vec<Piece>>,
    /// Every piece that was disclosed, with the tier and the call, in order.
    pub disclosed: Vec<(Depth, String, Purpose)>,
    /// What came of each call.
    pub slots: BTreeMap<Purpose, Slot>,
    /// What the guard says about the plan; `None` before it was asked.
    pub guarded: Option<Vec<String>>,
    /// The steps, in the order in which they are taken; `None` before there is a plan that holds.
    pub steps: Option<Vec<PlanStep>>,
    /// What was found, verified or not.
    pub findings: Vec<Finding>,
    /// The steps whose findings were checked.
    pub checked: BTreeSet<String>,
    /// The call of the deliverable, from when it was about to be made.
    pub begun: Option<Begun>,
    /// What was delivered, or not.
    pub fact: Option<Fact>,
    /// Why no further step is taken.
    pub stopped: Option<(Class, String)>,
    /// What went wrong, in order.
    pub failures: Vec<Failure>,
    /// What it cost.
    pub spent: Spent,
    /// What is established, in text; grows at its end only.
    pub digest: String,
    /// What was replied, in order, for [`Cache::Transcript`](crate::pipeline::Cache).
    pub replies: Vec<(Purpose, String)>,
    /// What was sent of each span.
    pub carried: BTreeMap<SpanKey, Carried>,
    /// What was left out of inputs, by the call.
    pub omitted: Vec<(Purpose, Omission)>,
    /// The hashes of the prefixes that were sent; one, in a run that keeps its promise.
    pub prefixes: BTreeSet<String>,
    /// The call that is under way.
    pub pending: Option<Pending>,
    /// Calls since there was progress.
    pub idle_calls: u32,
    /// How it ended.
    pub ended: Option<Verdict>,
}

/// What came of asking for one purpose.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slot {
    /// How often the model replied or failed.
    pub asked: u32,
    /// What was wrong with the last reply.
    pub fault: Option<String>,
    /// The last reply that was wrong.
    pub echo: String,
    /// What arrived whole of spans. It is read when something valid is made of it.
    pub arrived: Vec<Sent>,
    /// What came of it in the end.
    pub closed: Option<Result<Value, Class>>,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its class.
    pub class: Class,
    /// The call that it belongs to.
    pub purpose: Option<Purpose>,
    /// What happened.
    pub message: String,
}

/// What a run has cost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Calls that were begun.
    pub calls: u32,
    /// Their inputs, counted.
    pub input_tokens: u32,
    /// The replies, counted.
    pub output_tokens: u32,
    /// Replies whose input had arrived whole.
    pub intact: u32,
    /// Of those whose provider counted: its counts.
    pub provider: Provided,
    /// Of the same calls: the counted inputs.
    pub counted_beside: u64,
    /// Calls whose outcome was lost in a crash.
    pub lost: u32,
    /// Calls of the deliverable whose end nobody saw, since psos was ended during them.
    pub lost_deliveries: u32,
}

/// Sums of what providers counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Provided {
    /// Of the inputs.
    pub input: u64,
    /// Of the inputs, from the cache of the provider.
    pub cached: u64,
    /// Of the outputs.
    pub output: u64,
}

/// The call of a deliverable that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// What there was before it was begun for the first time.
    pub before: Before,
    /// When it was begun last, since 1970.
    pub at: Duration,
    /// Whether whoever began it is still at it.
    pub hand: Hand,
}

/// Who is at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    /// The process that began it.
    First,
    /// Nobody: that process was ended, and nobody saw how the call did.
    Nobody,
}

/// A call that was begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// What for.
    pub purpose: Purpose,
    /// Its input, counted.
    pub counted: u32,
    /// What is in it.
    pub sent: Vec<Sent>,
    /// The code at its end.
    pub tail: String,
    /// How many omissions there were before it.
    pub n_omitted_before: usize,
}

impl State {
    /// What the model says of the deliverable, where the task wants one and there is a synthesis.
    pub fn claim(&self) -> Option<Claim> {
        self.task.deliverable.as_ref()?;
        let synthesis = self.value(&Purpose::Synthesis)?;
        let part = |key: &str| synthesis.get(key).cloned().unwrap_or_default();
        Some(Claim {
            delivered: part("delivered").as_bool().unwrap_or_default(),
            claims: serde_json::from_value(part("claims")).unwrap_or_default(),
        })
    }

    /// What of the model's claim is not as the harness saw it.
    pub fn false_claims(&self) -> Vec<Mismatch> {
        let (Some(need), Some(claim)) = (&self.task.deliverable, self.claim()) else {
            return Vec::new();
        };
        let is_there = self.fact.as_ref().is_some_and(|fact| fact.satisfied);
        let seen = self.fact.as_ref().and_then(|fact| fact.seen.as_ref());
        let of_all = (claim.delivered && !is_there).then(|| {
            Mismatch::not_there(self.fact.as_ref().map_or("nothing", |fact| &fact.observed))
        });
        of_all.into_iter().chain(mismatches(need, seen, &claim)).collect()
    }

    /// The model that is at work.
    pub fn model(&self) -> Option<&ModelFact> {
        self.models.last()
    }

    /// What came of a call, when it is over and brought something.
    pub fn value(&self, purpose: &Purpose) -> Option<&Value> {
        self.slots.get(purpose)?.closed.as_ref()?.as_ref().ok()
    }

    /// Whether a call is over, whatever it brought.
    pub fn is_closed(&self, purpose: &Purpose) -> bool {
        self.slots.get(purpose).is_some_and(|slot| slot.closed.is_some())
    }

    /// Whether the task must produce something.
    pub fn must_deliver(&self) -> MustDeliver {
        if self.task.deliverable.is_some() { MustDeliver::Yes } else { MustDeliver::No }
    }

    /// Whether a call is for the step that makes the deliverable.
    pub fn delivers(&self, purpose: &Purpose) -> Delivers {
        let Purpose::Step(id) = purpose else { return Delivers::No };
        let steps = self.steps.as_deref().unwrap_or_default();
        match steps.iter().find(|step| step.id == *id) {
            Some(step) if step.kind == DELIVER => Delivers::Yes,
            _ => Delivers::No,
        }
    }

    /// The records that the model chose from their descriptions, or else the best of them.
    pub fn selected(&self) -> Vec<String> {
        let max = usize::try_from(self.task.limits.summaries).unwrap_or(usize::MAX);
        let offered = self.retrieved.get(&Purpose::Orient).map(Vec::as_slice).unwrap_or_default();
        let chosen = self.value(&Purpose::Orient).and_then(|value| value.get("select"));
        let chosen: BTreeSet<&str> = chosen
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut selected: Vec<String> = offered
            .iter()
            .filter(|piece| chosen.contains(piece.id.as_str()))
            .map(|piece| piece.id.clone())
            .collect();
        if selected.is_empty() {
            selected = offered.iter().map(|piece| piece.id.clone()).collect();
        }
        selected.truncate(max);
        selected
    }

    /// The records whose summaries were shown.
    pub fn summarised(&self) -> Vec<String> {
        let shown = self.retrieved.get(&Purpose::Plan).map(Vec::as_slice).unwrap_or_default();
        shown.iter().map(|piece| piece.id.clone()).collect()
    }

    /// The plan that the model made last, if it made one that can be read.
    pub fn planned(&self) -> Option<Plan> {
        let value = self.value(&Purpose::Repair).or_else(|| self.value(&Purpose::Plan))?;
        Plan::deserialize(value).ok()
    }
}
