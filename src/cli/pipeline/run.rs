//! `psos run`: a task, a model, a report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use psos::clock::{Clock as _, SystemClock};
use psos::engine::Engine;
use psos::fault::Fault;
use psos::ledger::{Actor, ActorKind, Entry, Head, Ledger, RunId};
use psos::pipeline::deliverable::Need;
use psos::pipeline::{
    Cache, Delivery, Event, Forbidden, Grounds, Mode, Parts, Performer, RunError, RunJournal,
    RunReport, Settings, State, Store, Task, Verdict, Watch, begin, claim, drive, give_back,
    take_over,
};
use psos::record::Hash;

use crate::cli::args::RunArgs;
use crate::cli::failure::Failure;
use crate::cli::output::{failure, named_store, print, store_dir, tell};
use crate::cli::pipeline::{
    WAIT, entries_of, environment, folder_of, of_fold, of_ledger, open_model, read_task,
};
use crate::cli::{Done, NOTHING, index};

pub(crate) fn run(args: &RunArgs) -> Done {
    let task = args.task.as_deref().map(read_task).transpose()?;
    let dir = match (&args.task, &task) {
        (Some(file), Some(task)) => prepare(args, file, task)?,
        _ => store_dir(&args.store)?,
    };
    let engine = Engine::open(&dir).map_err(|error| failure(error, &dir))?;
    let status = engine.status().map_err(|error| failure(error, &dir))?;
    let root = status.root.canonicalize().unwrap_or(status.root);
    let ledger = Ledger::open(&dir, WAIT).map_err(of_ledger)?;
    let before = match &args.resume {
        Some(run) => entries_of(&ledger, run)?,
        None => Vec::new(),
    };
    let task = match task {
        Some(task) => task,
        None => State::fold(&before).map_err(of_fold)?.task,
    };
    let (run, head) = match before.last() {
        Some(last) => (last.run.clone(), last.head()),
        None => (new_run(&task), Head::START),
    };
    let scratch = tempfile::tempdir()?;
    let mut delivery = delivery(args, &task, &root, scratch.path())?;
    let mut model = open_model(&args.model)?;
    let mut journal = RunJournal::new(&ledger, run.clone(), head);
    let mut grounds = Grounds::open(&root).map_err(|error| Failure::new(error.fault(), error))?;
    let mut watch = Talk { quiet: args.quiet };
    let mut parts = Parts {
        model: model.as_mut(),
        sources: &mut Store(&engine),
        truth: &mut grounds,
        delivery: delivery.as_mut(),
        clock: &SystemClock,
        journal: &mut journal,
        watch: &mut watch,
    };
    let broken = |error: RunError| of_run(error, &run);
    let actor = Actor { kind: ActorKind::Human, name: args.by.clone() };
    let mut state = if before.is_empty() {
        let settings = Settings {
            mode: if args.strict { Mode::Strict } else { Mode::Reduce },
            cache: if args.no_run_cache { Cache::Transcript } else { Cache::Digest },
        };
        begin(&task, settings, &actor, &mut parts).map_err(broken)?
    } else {
        take_over(&before, &actor, &args.note, &mut parts).map_err(broken)?
    };
    let hold = claim(&mut state, &mut parts, &ledger, &root).map_err(broken)?;
    let state = drive(state, &mut parts).map_err(broken)?;
    if let Some(hold) = hold
        && let Err(error) = give_back(&ledger, &hold, &state)
    {
        tell(&format!("warning: {error}\n"));
    }
    let report = RunReport::of(&state);
    print(&if args.json { report.to_json() } else { report.to_text() })?;
    Ok(exit_code(report.outcome.verdict))
}

/// What the verdict of a run tells a script.
fn exit_code(verdict: Verdict) -> ExitCode {
    match verdict {
        Verdict::Answered => ExitCode::SUCCESS,
        Verdict::Partial | Verdict::Refused => ExitCode::from(NOTHING),
        // As for any other machine that does not do its part.
        Verdict::InfraFailed => ExitCode::from(4),
    }
}

/// The store of a task, up to date with its tree.
fn prepare(args: &RunArgs, file: &Path, task: &Task) -> Result<PathBuf, Failure> {
    let tree = folder_of(file).join(&task.tree);
    let dir = named_store(&args.store).unwrap_or_else(|| index::store_of(&tree));
    index::build(&tree, &dir, &index::default_options(), args.quiet)?;
    Ok(dir)
}

/// A name that no other run has: of the task and the time.
fn new_run(task: &Task) -> RunId {
    let text = format!("{} {} {}", task.name, SystemClock.now().as_nanos(), std::process::id());
    let hash = Hash::of(text.as_bytes()).to_string();
    RunId::from_text(hash.get(..12).unwrap_or(&hash))
}

/// What makes the deliverable. A task file is data: what it names runs only when the person says so.
fn delivery(
    args: &RunArgs,
    task: &Task,
    root: &Path,
    scratch: &Path,
) -> Result<Box<dyn Delivery>, Failure> {
    let Some(need) = &task.deliverable else { return Ok(Box::new(Forbidden)) };
    if !args.allow_run {
        let message = format!("the task must produce {:?} by running: {}", need.name, shown(need));
        return Err(Failure::usage(message).hint("add --allow-run if you want that to run here"));
    }
    tell(&format!("may run in {}: {}\n", root.display(), shown(need)));
    Ok(Box::new(Performer {
        tree: root.to_owned(),
        scratch: scratch.to_owned(),
        environment: environment(),
        timeout: std::time::Duration::from_secs(u64::from(task.limits.hard_seconds)),
        clock: &SystemClock,
    }))
}

/// A call as a person reads it: every argument as one.
fn shown(need: &Need) -> String {
    let shown = need.call.iter().map(|argument| match argument {
        argument if argument.contains(char::is_whitespace) => format!("{argument:?}"),
        argument => argument.clone(),
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn of_run(error: RunError, run: &RunId) -> Failure {
    let fault = error.fault();
    let failure = Failure::new(fault, error);
    if fault == Fault::Environment {
        return failure.hint(format!("continue it with `psos run --resume {run}`"));
    }
    failure
}

/// Tells the person what happens, on stderr.
#[derive(Debug)]
struct Talk {
    quiet: bool,
}

impl Watch for Talk {
    fn entry(&mut self, entry: &Entry, state: &State) {
        if self.quiet {
            return;
        }
        match Event::of(entry) {
            Some(Event::Started { .. } | Event::Resumed { .. }) => {
                let (calls, tokens) = (state.bound.calls, state.bound.input_tokens);
                tell(&format!(
                    "run {}: at most {calls} calls and {tokens} input tokens\n",
                    entry.run
                ));
            }
            Some(Event::Asked { purpose, counted, .. }) => {
                let (n, of) = (state.spent.calls, state.bound.calls);
                tell(&format!("call {n} of at most {of}: {purpose}, {counted} tokens\n"));
            }
            Some(Event::Delivering { .. }) => {
                let need = state.task.deliverable.as_ref().map_or("", |need| need.name.as_str());
                let interrupted = state.spent.lost_deliveries > 0;
                let again = if interrupted { " again: the call was interrupted" } else { "" };
                tell(&format!("makes {need:?}{again}\n"));
            }
            Some(Event::Stopped { class, why, .. }) => tell(&format!("stopped: {class}: {why}\n")),
            _ => {}
        }
    }
}
