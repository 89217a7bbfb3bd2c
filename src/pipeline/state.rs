//! The state of a run: a fold of its events. Nothing else is remembered, so whoever has the journal has
//! the run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::ledger::{Entry, RunId};
use crate::pipeline::class::{Class, Verdict};
use crate::pipeline::event::{Bound, Delivers, Event, ModelFact, Purpose, Settings};
use crate::pipeline::finding::{self, Finding};
use crate::pipeline::input::{Carried, InputError, Omission, Sent, SpanKey};
use crate::pipeline::model::{Finish, Reply, Usage};
use crate::pipeline::plan::{self, DELIVER, MustDeliver, Plan, PlanStep};
use crate::pipeline::reply::object_in;
use crate::pipeline::schema;
use crate::pipeline::source::{Depth, Piece};
use crate::pipeline::task::Task;
use crate::pipeline::truth::{Fact, Search};
use crate::pipeline::write::{one_line, push};

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
    /// Whether a span was read for it that had not been read before.
    pub read_new: bool,
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

/// Why a journal is no run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// There is nothing, or not the beginning.
    #[error("the journal does not begin with the start of a run")]
    NoStart,
    /// An entry of a newer build, or one that does not say what its kind should.
    #[error("entry {seq} of the journal, of kind {kind:?}, is not one that this build understands")]
    Unknown {
        /// Its place.
        seq: u64,
        /// Its kind.
        kind: String,
    },
}

impl State {
    /// Folds a journal.
    ///
    /// # Errors
    /// [`FoldError`] for entries that are no events of a run.
    pub fn fold(entries: &[Entry]) -> Result<Self, FoldError> {
        let (first, rest) = entries.split_first().ok_or(FoldError::NoStart)?;
        let mut state = Self::start(first)?;
        for entry in rest {
            state.apply(entry)?;
        }
        Ok(state)
    }

    /// The state after the first entry.
    ///
    /// # Errors
    /// [`FoldError::NoStart`] when that is not the start of a run.
    pub fn start(first: &Entry) -> Result<Self, FoldError> {
        let Some(Event::Started { task, model, settings, bound }) = Event::of(first) else {
            return Err(FoldError::NoStart);
        };
        Ok(Self {
            run: first.run.clone(),
            task,
            models: vec![model],
            settings,
            bound,
            started: first.at(),
            now: first.at(),
            survey: None,
            retrieved: BTreeMap::new(),
            disclosed: Vec::new(),
            slots: BTreeMap::new(),
            guarded: None,
            steps: None,
            findings: Vec::new(),
            checked: BTreeSet::new(),
            fact: None,
            stopped: None,
            failures: Vec::new(),
            spent: Spent::default(),
            digest: String::new(),
            replies: Vec::new(),
            carried: BTreeMap::new(),
            omitted: Vec::new(),
            prefixes: BTreeSet::new(),
            pending: None,
            idle_calls: 0,
            ended: None,
        })
    }

    /// Takes one more entry in.
    ///
    /// # Errors
    /// [`FoldError::Unknown`] when it is no event.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), FoldError> {
        let unknown = || FoldError::Unknown { seq: entry.seq, kind: entry.kind.clone() };
        let event = Event::of(entry).ok_or_else(unknown)?;
        if matches!(event, Event::Resumed { .. }) {
            // The time in which nobody worked on it does not count.
            let worked = self.now.saturating_sub(self.started);
            self.started = entry.at().saturating_sub(worked);
        }
        self.now = entry.at();
        match event {
            Event::Started { .. } => return Err(unknown()),
            Event::Resumed { model, .. } => self.resume(model),
            Event::Surveyed(search) => {
                let n = search.hits.len();
                let pattern = &search.pattern;
                push(
                    &mut self.digest,
                    format_args!("survey: {n} lines of the tree have `{pattern}`\n"),
                );
                self.survey = Some(search);
            }
            Event::Retrieved { depth, purpose, pieces, .. } => {
                let shown = pieces.iter().map(|piece| (depth, piece.id.clone(), purpose.clone()));
                self.disclosed.extend(shown);
                self.retrieved.insert(purpose, pieces);
            }
            Event::Asked { purpose, prefix, counted, sent, omitted, tail, .. } => {
                self.spent.calls += 1;
                self.spent.input_tokens = self.spent.input_tokens.saturating_add(counted);
                self.prefixes.insert(prefix);
                let n_omitted_before = self.omitted.len();
                self.omitted.extend(omitted.into_iter().map(|gone| (purpose.clone(), gone)));
                self.pending = Some(Pending { purpose, counted, sent, tail, n_omitted_before });
            }
            Event::Answered { purpose, reply } => self.answered(&purpose, &reply),
            Event::Failed { purpose, error } => {
                self.pending = None;
                self.idle_calls += 1;
                let class = Class::from(error.kind);
                self.fail(class, Some(purpose.clone()), error.message.clone());
                self.slot(&purpose).asked += 1;
                self.close(&purpose, Err(class));
                if class == Class::Credential {
                    // Every further call would fail the same way.
                    self.stopped.get_or_insert((class, error.message));
                }
            }
            Event::Unsendable { purpose, error } => {
                let class = match error {
                    InputError::Fixed { .. } => Class::InputIntegrity,
                    InputError::Strict { .. } => Class::GateRefusal,
                };
                self.fail(class, Some(purpose.clone()), error.to_string());
                if class == Class::GateRefusal {
                    self.stopped.get_or_insert((class, error.to_string()));
                }
                self.close(&purpose, Err(class));
            }
            Event::Guarded { faults } => self.guard(faults),
            Event::Checked { step, citations, searches } => {
                let found = finding::of_step(&step, self.reply_of(&step), &citations, &searches);
                self.check(&step, found);
            }
            Event::Delivered(fact) => {
                push(
                    &mut self.digest,
                    format_args!("{} deliverable: {}\n", fact.step, fact.observed),
                );
                if fact.satisfied {
                    self.idle_calls = 0;
                } else {
                    let purpose = Purpose::Step(fact.step.clone());
                    self.fail(Class::DeliverableMissing, Some(purpose), fact.observed.clone());
                }
                self.fact = Some(fact);
            }
            Event::Stopped { purpose, class, why } => {
                self.fail(class, purpose.clone(), why.clone());
                self.stopped.get_or_insert((class, why));
                if let Some(purpose) = purpose {
                    self.close(&purpose, Err(class));
                }
            }
            Event::Ended { verdict } => self.ended = Some(verdict),
        }
        Ok(())
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

    fn goal_of(&self, step: &str) -> String {
        let found = self.steps.iter().flatten().find(|planned| planned.id == step);
        found.map(|step| one_line(&step.goal)).unwrap_or_default()
    }

    fn reply_of(&self, step: &str) -> Option<&Value> {
        self.value(&Purpose::Step(step.to_owned()))
    }

    fn slot(&mut self, purpose: &Purpose) -> &mut Slot {
        self.slots.entry(purpose.clone()).or_default()
    }

    fn fail(&mut self, class: Class, purpose: Option<Purpose>, message: String) {
        self.failures.push(Failure { class, purpose, message });
    }

    fn close(&mut self, purpose: &Purpose, with: Result<Value, Class>) {
        if let (Purpose::Step(id), Err(class)) = (purpose, &with) {
            let goal = self.goal_of(id);
            push(&mut self.digest, format_args!("{id}: nothing established ({class}): {goal}\n"));
        }
        if let (Purpose::Review, Ok(value)) = (purpose, &with) {
            for (key, says) in [("drop", "set aside"), ("gaps", "open")] {
                for item in value.get(key).and_then(Value::as_array).into_iter().flatten() {
                    let item = one_line(item.as_str().unwrap_or_default());
                    push(&mut self.digest, format_args!("review, {says}: {item}\n"));
                }
            }
        }
        self.slot(purpose).closed = Some(with);
        // Without a plan of the model, the harness has one.
        if *purpose == Purpose::Plan && self.value(purpose).is_none() {
            let steps = self.task.limits.steps;
            let plan = plan::fallback(&self.summarised(), steps, self.must_deliver());
            self.adopt(&plan);
        }
    }

    fn resume(&mut self, model: ModelFact) {
        if let Some(lost) = self.pending.take() {
            self.spent.lost += 1;
            // It will be made again, and leave the same out.
            self.omitted.truncate(lost.n_omitted_before);
            let message = "the process ended while the call was under way".to_owned();
            self.fail(Class::Crash, Some(lost.purpose), message);
        }
        self.models.push(model);
    }

    fn guard(&mut self, faults: Vec<String>) {
        if faults.is_empty() {
            if let Some(plan) = self.planned() {
                self.adopt(&plan);
            }
        } else if self.is_closed(&Purpose::Repair) {
            let why = format!("the plan was refused: {}", faults.join("; "));
            self.fail(Class::GateRefusal, Some(Purpose::Repair), why.clone());
            self.stopped = Some((Class::GateRefusal, why));
        }
        self.guarded = Some(faults);
    }

    fn adopt(&mut self, plan: &Plan) {
        let steps = plan::in_order(plan);
        // Whatever it took to come by a plan: the steps are measured by themselves.
        self.idle_calls = 0;
        self.steps = Some(steps);
    }

    fn check(&mut self, step: &str, found: Vec<Finding>) {
        let known: BTreeSet<String> =
            self.findings.iter().filter(|old| old.verified).map(Finding::ground).collect();
        for finding in &found {
            // The same place in other words is no progress.
            if finding.verified && !known.contains(&finding.ground()) {
                self.idle_calls = 0;
            }
            self.digest.push_str(&finding.digest_line());
        }
        if !found.iter().any(|finding| finding.verified) {
            let message = "the step brought nothing that could be verified".to_owned();
            self.fail(Class::Ungrounded, Some(Purpose::Step(step.to_owned())), message);
            let goal = self.goal_of(step);
            push(&mut self.digest, format_args!("{step}: nothing verified: {goal}\n"));
        }
        self.findings.extend(found);
        self.checked.insert(step.to_owned());
    }

    fn answered(&mut self, purpose: &Purpose, reply: &Reply) {
        let Some(pending) = self.pending.take() else { return };
        self.idle_calls += 1;
        self.spent.output_tokens =
            self.spent.output_tokens.saturating_add(crate::text::count(&reply.text));
        self.slot(purpose).asked += 1;
        self.replies.push((purpose.clone(), reply.text.clone()));
        if let Some(why) = self.doubt(&pending, reply) {
            self.fail(Class::InputIntegrity, Some(purpose.clone()), why);
            self.close(purpose, Err(Class::InputIntegrity));
            return;
        }
        if reply.finish == Finish::Filtered {
            self.fail(
                Class::Provider,
                Some(purpose.clone()),
                "the provider filtered it".to_owned(),
            );
            self.close(purpose, Err(Class::Provider));
            return;
        }
        let schema = purpose.shape(self.delivers(purpose)).schema();
        let value =
            object_in(&reply.text).and_then(|value| schema::check(&schema, &value).map(|()| value));
        let tail = value.as_ref().ok().and_then(|value| value.get("tail")).and_then(Value::as_str);
        if tail.is_some_and(|tail| tail.trim() != pending.tail) {
            let why = "the reply does not repeat the code at the end of the input".to_owned();
            self.fail(Class::InputIntegrity, Some(purpose.clone()), why);
            self.close(purpose, Err(Class::InputIntegrity));
            return;
        }
        self.arrived(purpose, &pending, reply.usage);
        match value {
            Ok(value) => {
                // A span counts as examined when something valid was made of it.
                if self.slot(purpose).read_new {
                    self.idle_calls = 0;
                }
                self.close(purpose, Ok(value));
            }
            Err(fault) => {
                let slot = self.slot(purpose);
                slot.fault = Some(fault.clone());
                slot.echo.clone_from(&reply.text);
                if slot.asked >= MAX_ASKED {
                    self.fail(Class::Schema, Some(purpose.clone()), fault);
                    self.close(purpose, Err(Class::Schema));
                }
            }
        }
    }

    /// Why a reply may not be believed, if it may not: it was cut off, or its provider counted far fewer
    /// tokens than were sent.
    fn doubt(&self, pending: &Pending, reply: &Reply) -> Option<String> {
        if reply.finish == Finish::Length {
            return Some("the reply was cut off by a limit on its length".to_owned());
        }
        let usage = reply.usage?;
        let least = self.least_usage(pending.counted);
        (u64::from(usage.input) < least).then(|| {
            format!(
                "the provider counted {} tokens of an input of {}: at least {least} were expected",
                usage.input, pending.counted
            )
        })
    }

    /// The fewest tokens that a provider can have counted of a whole input. Tokenizers differ, so it is
    /// four fifths of what its earlier counts suggest, and half as long as there are none.
    fn least_usage(&self, counted: u32) -> u64 {
        let counted = u64::from(counted);
        match self.spent.counted_beside {
            0 => counted / 2,
            beside => counted * self.spent.provider.input * 4 / (beside * 5),
        }
    }

    /// Notes that an input arrived whole: what was in it is read now.
    fn arrived(&mut self, purpose: &Purpose, pending: &Pending, usage: Option<Usage>) {
        self.spent.intact += 1;
        if let Some(usage) = usage {
            self.spent.counted_beside += u64::from(pending.counted);
            self.spent.provider.input += u64::from(usage.input);
            self.spent.provider.cached += u64::from(usage.cached);
            self.spent.provider.output += u64::from(usage.output);
        }
        for sent in &pending.sent {
            let before = self.carried.get(&sent.key).map_or(0, |carried| carried.bytes);
            if sent.bytes.end > before {
                let carried = Carried { bytes: sent.bytes.end, by: purpose.to_string() };
                self.carried.insert(sent.key.clone(), carried);
                self.slot(purpose).read_new = true;
            }
        }
    }
}
