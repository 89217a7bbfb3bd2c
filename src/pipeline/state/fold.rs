//! The fold itself: what each event makes of a state.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Begun, Failure, Hand, MAX_ASKED, Pending, Slot, Spent, State};
use crate::ledger::Entry;
use crate::pipeline::class::Class;
use crate::pipeline::event::{Event, ModelFact, Purpose};
use crate::pipeline::finding::{self, Finding};
use crate::pipeline::input::{Carried, InputError, SpanKey};
use crate::pipeline::model::{Finish, Reply, Usage};
use crate::pipeline::plan::{self, Plan};
use crate::pipeline::reply::object_in;
use crate::pipeline::schema;
use crate::pipeline::truth::Fact;
use crate::pipeline::write::{one_line, push};

/// The most characters of what was observed of a deliverable that the digest has.
const MAX_OBSERVED_CHARS: usize = 400;

/// Why a journal is no run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// There is nothing, or not the beginning.
    #[error("the journal does not begin with the start of a run")]
    NoStart,
    /// Its entries are of a version whose events said something else.
    #[error(
        "the journal has entries of version {found}, and this build understands runs of version {}; \
         it can still be exported as JSON lines",
        Entry::VERSION
    )]
    Older {
        /// The version.
        found: u32,
    },
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
        if first.v < Entry::VERSION {
            return Err(FoldError::Older { found: first.v });
        }
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
            begun: None,
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
            Event::Delivering { before, .. } => {
                // What was there before it was begun for the first time is what tells what it left.
                let before = self.begun.take().map_or(before, |begun| begun.before);
                self.begun = Some(Begun { before, at: self.now, hand: Hand::First });
            }
            Event::Delivered(fact) => self.deliver(fact),
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
        if *purpose == Purpose::Synthesis {
            for mismatch in self.false_claims() {
                self.fail(Class::Ungrounded, Some(purpose.clone()), mismatch.to_string());
            }
        }
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
        if let (Some(begun), None) = (&mut self.begun, &self.fact)
            && begun.hand == Hand::First
        {
            begun.hand = Hand::Nobody;
            self.spent.lost_deliveries += 1;
            let message = "the process ended while the deliverable was being made".to_owned();
            self.fail(Class::Crash, None, message);
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

    fn deliver(&mut self, fact: Fact) {
        // Ids and messages in it are from outside, and what stands in the digest is sent with every call.
        let observed: String = one_line(&fact.observed).chars().take(MAX_OBSERVED_CHARS).collect();
        push(&mut self.digest, format_args!("{} deliverable: {observed}\n", fact.step));
        if fact.satisfied {
            self.idle_calls = 0;
        } else {
            let purpose = Purpose::Step(fact.step.clone());
            self.fail(Class::DeliverableMissing, Some(purpose), fact.observed.clone());
        }
        self.fact = Some(fact);
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
        let schema = purpose.shape(self.delivers(purpose)).schema(self.task.deliverable.as_ref());
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
                if self.read(purpose) {
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

    /// Notes that an input arrived whole.
    fn arrived(&mut self, purpose: &Purpose, pending: &Pending, usage: Option<Usage>) {
        self.spent.intact += 1;
        if let Some(usage) = usage {
            self.spent.counted_beside += u64::from(pending.counted);
            self.spent.provider.input += u64::from(usage.input);
            self.spent.provider.cached += u64::from(usage.cached);
            self.spent.provider.output += u64::from(usage.output);
        }
        self.slot(purpose).arrived.extend(pending.sent.iter().cloned());
    }

    /// Notes that something valid was made of what arrived: it is read, and not sent again. Returns whether any of it
    /// had not been read before.
    fn read(&mut self, purpose: &Purpose) -> bool {
        let pieces = self.retrieved.get(purpose).map(Vec::as_slice).unwrap_or_default();
        // What the model wrote itself is in its input when it is asked again, and is nothing that it read.
        let sources: BTreeSet<SpanKey> =
            pieces.iter().map(|piece| SpanKey::of(&piece.text)).collect();
        let mut arrived = std::mem::take(&mut self.slot(purpose).arrived);
        arrived.retain(|sent| sources.contains(&sent.key));
        let mut is_new = false;
        for sent in arrived {
            let before = self.carried.get(&sent.key).map_or(0, |carried| carried.bytes);
            if sent.bytes.end > before {
                let carried = Carried { bytes: sent.bytes.end, by: purpose.to_string() };
                self.carried.insert(sent.key, carried);
                is_new = true;
            }
        }
        is_new
    }
}
