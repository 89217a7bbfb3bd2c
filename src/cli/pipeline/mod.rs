//! The pipeline on the command line: runs, storyboards, replays, reports.

pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod storyboard;

use std::path::Path;
use std::time::Duration;

use psos::clock::{SystemClock, SystemSleeper};
use psos::fault::Fault;
use psos::ledger::{Entry, Ledger, LedgerError, RunId};
use psos::pipeline::model::{Card, Model, Surroundings};
use psos::pipeline::process::Environment;
use psos::pipeline::{FoldError, Task};

use crate::cli::args::StoreArgs;
use crate::cli::failure::Failure;
use crate::cli::output::store_dir;

/// How long a command waits for another one that writes to the ledger.
const WAIT: Duration = Duration::from_secs(10);

/// What programs that psos starts see of the environment: where things are, and no keys.
const PASSED_ON: [&str; 9] =
    ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "CARGO_HOME", "RUSTUP_HOME", "SYSTEMROOT"];

/// The part of the environment that programs which psos starts may see.
pub(crate) fn environment() -> Environment {
    PASSED_ON.into_iter().filter_map(|name| Some((name.to_owned(), variable(name)?))).collect()
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name)?.into_string().ok()
}

/// Reads a file that a person named.
fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| {
        let fault = match error.kind() {
            std::io::ErrorKind::NotFound => Fault::Usage,
            std::io::ErrorKind::InvalidData => Fault::Data,
            _ => Fault::Environment,
        };
        let context = format!("cannot read {}", file.display());
        Failure::new(fault, anyhow::Error::new(error).context(context))
    })
}

fn read_task(file: &Path) -> Result<Task, Failure> {
    let text = read(file)?;
    Task::parse(&file.display().to_string(), &text)
        .map_err(|error| Failure::new(error.fault(), error))
}

/// Opens the model that a card describes.
pub(crate) fn open_model(card: &Path) -> Result<Box<dyn Model>, Failure> {
    let text = read(card)?;
    let environment = environment();
    let surroundings = Surroundings {
        folder: folder_of(card),
        environment: &environment,
        variable: &variable,
        clock: Box::new(SystemClock),
        sleeper: Box::new(SystemSleeper),
    };
    Card::parse(&text).and_then(|card| card.open(surroundings)).map_err(|error| {
        let fault = error.fault();
        Failure::new(fault, anyhow::Error::new(error).context(card.display().to_string()))
    })
}

/// The folder that a file is in.
fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Opens the ledger beside the store.
fn open_ledger(args: &StoreArgs) -> Result<Ledger, Failure> {
    Ledger::open_existing(&store_dir(args)?, WAIT).map_err(of_ledger)
}

/// The journal of a run.
fn entries_of(ledger: &Ledger, run: &str) -> Result<Vec<Entry>, Failure> {
    ledger.entries(&RunId::from_text(run)).map_err(|error| {
        let is_unknown = matches!(error, LedgerError::NoRun { .. });
        let failure = of_ledger(error);
        if is_unknown { failure.hint("`psos report` lists the runs") } else { failure }
    })
}

fn of_ledger(error: LedgerError) -> Failure {
    let failure = Failure::new(error.fault(), error);
    match failure {
        failure if failure.to_string().contains("is damaged") => failure
            .hint("nothing of what is damaged is used; move runs.redb away to begin a new ledger"),
        failure => failure,
    }
}

fn of_fold(error: FoldError) -> Failure {
    Failure::new(Fault::Data, error)
}
