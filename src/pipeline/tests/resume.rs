//! A run that is killed at any event is continued from its journal, with another model, to the same end.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::clock::FixedClock;
use crate::ledger::{Actor, Entry, Head, Ledger, LedgerError, RunId};
use crate::pipeline::deliverable::{Before, Repeat};
use crate::pipeline::model::ModelError;
use crate::pipeline::scenario::sim::{Seen, Simulated, diligent};
use crate::pipeline::*;

use super::{Bench, T0, WIDE, good, person, shelf, task};

/// A journal that dies after some entries, before the next is written.
#[derive(Debug)]
struct Dying<'a> {
    inner: RunJournal<'a>,
    left: Cell<usize>,
}

impl Journal for Dying<'_> {
    fn append(&mut self, at: Duration, actor: &Actor, event: &Event) -> Result<Entry, LedgerError> {
        match self.left.get() {
            0 => Err(LedgerError::Busy { waited: Duration::ZERO }),
            n => {
                self.left.set(n - 1);
                self.inner.append(at, actor, event)
            }
        }
    }
}

/// A model of some name that fails now and then, always at the same places.
fn model(
    name: &str,
    task: &Task,
) -> Simulated<impl FnMut(&Seen) -> Result<String, ModelError> + use<>> {
    let must_deliver = task.deliverable.is_some();
    Simulated::new(name, WIDE, move |seen: &Seen| {
        let balks = seen.purpose == "step s2" || (seen.purpose == "step s3" && !seen.again);
        if balks {
            return Ok("Let me see.".to_owned());
        }
        let mut reply = diligent(seen, 8);
        if seen.shape == "plan" && must_deliver {
            let step =
                r#"{"id":"d","kind":"deliver","goal":"make it","targets":[],"needs":["s1"]}"#;
            reply = reply.replacen("\"steps\":[", &format!("\"steps\":[{step},"), 1);
        }
        Ok(reply)
    })
}

/// A tool that makes a deliverable, and how often it did.
#[derive(Debug, Clone, Default)]
struct Tool(Rc<Cell<u32>>);

impl Tool {
    fn fact(call: &DeliverableCall<'_>, satisfied: bool, observed: &str) -> Fact {
        Fact { satisfied, ..Fact::not_made(call.step, call.arguments, observed) }
    }
}

impl Delivery for Tool {
    fn before(&mut self, _call: &DeliverableCall<'_>) -> Result<Before, Box<Fact>> {
        // What there is differs from time to time, once something was made.
        Ok(Before { since_ns: u64::from(self.0.get()), ..Before::default() })
    }

    fn deliver(&mut self, call: &DeliverableCall<'_>, begun: Beginning<'_>) -> Fact {
        self.0.set(self.0.get() + 1);
        // What is made is made in this run only beside what there was before the first time.
        let is_new = begun.before.since_ns == 0;
        Self::fact(call, is_new, if is_new { "made" } else { "unchanged" })
    }

    fn inspect(&mut self, call: &DeliverableCall<'_>, begun: Beginning<'_>) -> Fact {
        assert_eq!(begun.at, T0);
        Self::fact(call, false, "it left something")
    }
}

/// A run that was killed after some entries, and continued by another model: the journal that was left, and the
/// state in the end.
fn killed(task: &Task, killed_after: usize, tool: &Tool) -> (Vec<Entry>, State) {
    let dir = tempfile::tempdir().unwrap();
    let run = RunId::from_text("r");
    let clock = FixedClock(T0);
    let (mut sources, mut tree) = (shelf(4), shelf(4).tree());
    let mut tool = tool.clone();
    {
        let ledger = Ledger::open(dir.path(), Duration::from_secs(5)).unwrap();
        let inner = RunJournal::new(&ledger, run.clone(), Head::START);
        let mut journal = Dying { inner, left: Cell::new(killed_after) };
        let mut first = model("first", task);
        let mut parts = Parts {
            model: &mut first,
            sources: &mut sources,
            truth: &mut tree,
            delivery: &mut tool,
            clock: &clock,
            journal: &mut journal,
            watch: &mut Quiet,
        };
        let state = begin(task, Settings::default(), &person(), &mut parts).unwrap();
        drive(state, &mut parts).unwrap_err();
    }
    // Another process, a day later, from the file alone.
    let ledger = Ledger::open_existing(dir.path(), Duration::from_secs(5)).unwrap();
    let entries = ledger.entries(&run).unwrap();
    assert_eq!(entries.len(), killed_after);
    let mut journal = RunJournal::new(&ledger, run.clone(), entries.last().unwrap().head());
    let mut second = model("second", task);
    let mut parts = Parts {
        model: &mut second,
        sources: &mut sources,
        truth: &mut tree,
        delivery: &mut tool,
        clock: &FixedClock(T0 + Duration::from_hours(24)),
        journal: &mut journal,
        watch: &mut Quiet,
    };
    let state = take_over(&entries, &person(), "the first was killed", &mut parts).unwrap();
    let state = drive(state, &mut parts).unwrap();
    let whole = ledger.entries(&run).unwrap();
    assert_eq!(strict(&whole).unwrap(), None, "the whole journal is as the rules say");
    (entries, state)
}

#[test]
fn killed_at_any_event_and_continued_by_another_model_a_run_ends_the_same() {
    let task = task("[survey]\npattern = 'line 3'\n[limits]\ncall_input_tokens = 2000");
    let whole = Bench::new(task.clone(), 4).run(&mut model("first", &task));
    let n_entries = whole.entries.len();
    assert!(n_entries > 20, "{n_entries} entries");
    for killed_after in 1..n_entries {
        let (entries, state) = killed(&task, killed_after, &Tool::default());
        let report = RunReport::of(&state);
        assert_eq!(report.outcome, whole.report.outcome, "killed after {killed_after} entries");
        assert_eq!(report.cost.prefixes, 1, "one prefix, across the crash");
        assert_eq!(state.prefixes, whole.state.prefixes);
        assert_eq!(report.models, ["first", "second"]);
        let asked_before = matches!(Event::of(entries.last().unwrap()), Some(Event::Asked { .. }));
        assert_eq!(report.cost.lost_calls, u32::from(asked_before));
        assert_eq!(report.cost.calls, whole.report.cost.calls + report.cost.lost_calls);
    }
}

#[test]
fn killed_at_any_event_a_call_is_made_twice_only_where_the_task_says_that_it_may_be() {
    let mut task = task(
        "[deliverable]\nname = 'd'\ncall = ['make']\nkind = {test_run = {runner = 'tap'}}\n\
         [limits]\ncall_input_tokens = 2000",
    );
    for repeat in [Repeat::Never, Repeat::WhenInterrupted] {
        task.deliverable.as_mut().unwrap().repeat = repeat;
        let mut bench = Bench::new(task.clone(), 4);
        bench.delivery = Box::new(Tool::default());
        let whole = bench.run(&mut model("first", &task));
        assert!(whole.report.outcome.deliverable.as_ref().unwrap().satisfied);
        let mut n_during = 0;
        for killed_after in 1..whole.entries.len() {
            let tool = Tool::default();
            let (entries, state) = killed(&task, killed_after, &tool);
            let report = RunReport::of(&state);
            let last = Event::of(entries.last().unwrap());
            let is_during = matches!(last, Some(Event::Delivering { .. }));
            n_during += u32::from(is_during);
            assert_eq!(report.cost.lost_deliveries, u32::from(is_during));
            let n_made = tool.0.get();
            if is_during && repeat == Repeat::Never {
                assert_eq!(n_made, 1);
                assert_eq!(report.outcome.verdict, Verdict::Partial);
                let fact = report.outcome.deliverable.unwrap();
                assert!(!fact.satisfied && fact.observed.contains("it left something"), "{fact:?}");
            } else {
                assert_eq!(n_made, 1 + u32::from(is_during), "killed after {killed_after} entries");
                assert_eq!(report.outcome, whole.report.outcome, "{killed_after}, {repeat:?}");
            }
        }
        assert_eq!(n_during, 1);
    }
}

#[test]
fn a_call_that_was_begun_is_not_forgotten_when_the_run_is_refused_afterwards() {
    let mut task =
        task("[deliverable]\nname = 'd'\ncall = ['make']\nkind = {test_run = {runner = 'tap'}}");
    task.deliverable.as_mut().unwrap().repeat = Repeat::WhenInterrupted;
    let mut bench = Bench::new(task.clone(), 4);
    bench.delivery = Box::new(Tool::default());
    let entries = bench.run(&mut model("first", &task)).entries;
    let begun = entries.iter().position(|entry| entry.kind == "delivering").unwrap();
    let mut journal = MemoryJournal::new(RunId::from_text("r"));
    journal.entries = entries[..=begun].to_vec();
    // Another run holds what this one needs.
    let model = State::fold(&entries).unwrap().models[0].clone();
    for event in [
        Event::Resumed { model, note: String::new() },
        Event::Stopped { purpose: None, class: Class::GateRefusal, why: "held".to_owned() },
    ] {
        journal.append(T0, &person(), &event).unwrap();
    }
    let state = State::fold(&journal.entries).unwrap();
    assert_eq!(next(&state), Action::End);
    let report = RunReport::of(&state);
    assert_eq!(report.outcome.verdict, Verdict::Refused);
    let last = report.outcome.failures.last().unwrap();
    assert_eq!(last.class, Class::DeliverableMissing);
    assert_eq!(last.message, "the call was begun, and nobody saw how it ended");
}

#[test]
fn a_journal_of_an_older_build_is_refused_and_says_so() {
    let mut entries = Bench::new(task(""), 2).run(&mut good()).entries;
    entries[0].v = 1;
    let error = State::fold(&entries).unwrap_err();
    assert_eq!(error, FoldError::Older { found: 1 });
    assert!(error.to_string().contains("exported as JSON lines"), "{error}");
}

#[test]
fn of_two_that_continue_a_run_one_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path(), Duration::from_secs(5)).unwrap();
    let run = RunId::from_text("r");
    let clock = FixedClock(T0);
    let (mut sources, mut tree) = (shelf(2), shelf(2).tree());
    let mut journal = RunJournal::new(&ledger, run.clone(), Head::START);
    let mut first = model("first", &task(""));
    let mut parts = Parts {
        model: &mut first,
        sources: &mut sources,
        truth: &mut tree,
        delivery: &mut Forbidden,
        clock: &clock,
        journal: &mut journal,
        watch: &mut Quiet,
    };
    let state = begin(&task(""), Settings::default(), &person(), &mut parts).unwrap();
    // Somebody else takes it over meanwhile.
    let entries = ledger.entries(&run).unwrap();
    let mut other = RunJournal::new(&ledger, run, entries.last().unwrap().head());
    let taken = Event::Resumed { model: state.models[0].clone(), note: String::new() };
    other.append(T0, &person(), &taken).unwrap();
    let error = drive(state, &mut parts).unwrap_err();
    assert!(error.to_string().contains("somebody else continues the run"), "{error}");
}

#[test]
fn every_entry_says_who_did_it() {
    let ran = Bench::new(task(""), 2).run(&mut good());
    let kinds: std::collections::BTreeSet<String> = ran
        .entries
        .iter()
        .map(|entry| format!("{} {:?} {}", entry.kind, entry.actor.kind, entry.actor.name))
        .collect();
    assert!(kinds.contains("started Human tester"), "{kinds:?}");
    assert!(kinds.contains("answered Model good"), "{kinds:?}");
    assert!(kinds.contains("asked Harness psos"), "{kinds:?}");
}
