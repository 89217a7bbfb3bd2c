//! A run that is killed at any event is continued from its journal, with another model, to the same end.

use std::cell::Cell;
use std::time::Duration;

use crate::clock::FixedClock;
use crate::ledger::{Actor, Entry, Head, Ledger, LedgerError, RunId};
use crate::pipeline::model::ModelError;
use crate::pipeline::scenario::sim::{Seen, Simulated, diligent};
use crate::pipeline::*;

use super::{Bench, T0, WIDE, person, shelf, task};

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
fn model(name: &str) -> Simulated<impl FnMut(&Seen) -> Result<String, ModelError>> {
    Simulated::new(name, WIDE, |seen: &Seen| {
        let balks = seen.purpose == "step s2" || (seen.purpose == "step s3" && !seen.again);
        Ok(if balks { "Let me see.".to_owned() } else { diligent(seen, 8) })
    })
}

#[test]
fn killed_at_any_event_and_continued_by_another_model_a_run_ends_the_same() {
    let task = task("[survey]\npattern = 'line 3'\n[limits]\ncall_input_tokens = 2000");
    let whole = Bench::new(task.clone(), 4).run(&mut model("first"));
    let n_entries = whole.entries.len();
    assert!(n_entries > 20, "{n_entries} entries");
    for killed_after in 1..n_entries {
        let dir = tempfile::tempdir().unwrap();
        let run = RunId::from_text("r");
        let clock = FixedClock(T0);
        let (mut sources, mut tree) = (shelf(4), shelf(4).tree());
        {
            let ledger = Ledger::open(dir.path(), Duration::from_secs(5)).unwrap();
            let inner = RunJournal::new(&ledger, run.clone(), Head::START);
            let mut journal = Dying { inner, left: Cell::new(killed_after) };
            let mut first = model("first");
            let mut parts = Parts {
                model: &mut first,
                sources: &mut sources,
                truth: &mut tree,
                delivery: &mut Forbidden,
                clock: &clock,
                journal: &mut journal,
                watch: &mut Quiet,
            };
            let state = begin(&task, Settings::default(), &person(), &mut parts).unwrap();
            drive(state, &mut parts).unwrap_err();
        }
        // Another process, a day later, from the file alone.
        let ledger = Ledger::open_existing(dir.path(), Duration::from_secs(5)).unwrap();
        let entries = ledger.entries(&run).unwrap();
        assert_eq!(entries.len(), killed_after);
        let mut journal = RunJournal::new(&ledger, run.clone(), entries.last().unwrap().head());
        let mut second = model("second");
        let mut parts = Parts {
            model: &mut second,
            sources: &mut sources,
            truth: &mut tree,
            delivery: &mut Forbidden,
            clock: &FixedClock(T0 + Duration::from_hours(24)),
            journal: &mut journal,
            watch: &mut Quiet,
        };
        let state = take_over(&entries, &person(), "the first was killed", &mut parts).unwrap();
        let state = drive(state, &mut parts).unwrap();
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
fn of_two_that_continue_a_run_one_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(dir.path(), Duration::from_secs(5)).unwrap();
    let run = RunId::from_text("r");
    let clock = FixedClock(T0);
    let (mut sources, mut tree) = (shelf(2), shelf(2).tree());
    let mut journal = RunJournal::new(&ledger, run.clone(), Head::START);
    let mut first = model("first");
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
    let ran = Bench::new(task(""), 2).run(&mut model("m"));
    let kinds: std::collections::BTreeSet<String> = ran
        .entries
        .iter()
        .map(|entry| format!("{} {:?} {}", entry.kind, entry.actor.kind, entry.actor.name))
        .collect();
    assert!(kinds.contains("started Human tester"), "{kinds:?}");
    assert!(kinds.contains("answered Model m"), "{kinds:?}");
    assert!(kinds.contains("asked Harness psos"), "{kinds:?}");
}
