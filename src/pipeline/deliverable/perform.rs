//! Making the call of a deliverable, and writing down what was seen.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::artefact::{Artefact, Look, Made, file_time};
use super::recording::{Recording, RecordingFault, recording};
use super::runner::{Counts, RunnerFault};
use super::ticket::{Ticket, TicketFault, tickets};
use super::{Kind, Need};
use crate::clock::Clock;
use crate::fault::Fault;
use crate::pipeline::process::{self, Command, Environment, ProcessError};

/// Where a call is made, and its bounds.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The tree: where the call runs, and where its files are.
    pub tree: &'a Path,
    /// A folder of ours, outside of the tree, that exists.
    pub scratch: &'a Path,
    /// All that the call sees of the environment.
    pub environment: &'a Environment,
    /// The time after which it is ended.
    pub timeout: Duration,
    /// Bytes that are kept of each of its outputs.
    pub max_output_bytes: usize,
    /// What time it is.
    pub clock: &'a dyn Clock,
}

/// What the harness saw of a call. There is no other way to a fact than [`perform`] and a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The deliverable it is for.
    pub need: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The argument by which it only pretended, if it had one.
    pub dry_run: Option<String>,
    /// The exit code; `None` when it did not end by itself.
    pub exit: Option<i32>,
    /// How it ended, in words.
    pub end: String,
    /// When it began, in milliseconds since 1970.
    pub started_ms: u64,
    /// How long it took, in milliseconds.
    pub elapsed_ms: u64,
    /// The blake3 hash of what it wrote to both outputs, in hexadecimal.
    pub output_blake3: String,
    /// The file it should leave, if it is there.
    pub artefact: Option<Artefact>,
    /// What the file or the output holds.
    pub content: Content,
}

/// What was found in what a call left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Of a test run.
    Tests(Result<Counts, RunnerFault>),
    /// Of a recording.
    Recording(Result<Recording, RecordingFault>),
    /// Of a tracker: the tickets that are new or changed, in whole.
    Tickets(Result<BTreeMap<String, Ticket>, TicketFault>),
}

/// A call that could not be made or observed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliverableError {
    /// It did not start.
    #[error("the call of the deliverable `{need}` was not made")]
    Call {
        /// The deliverable.
        need: String,
        /// Why.
        #[source]
        source: ProcessError,
    },
    /// A file could not be looked at.
    #[error("cannot look at the files of the deliverable `{need}`")]
    Look {
        /// The deliverable.
        need: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The task names a file outside of the tree.
    #[error("the deliverable `{need}` names the file `{file}`, which is not in the tree")]
    Outside {
        /// The deliverable.
        need: String,
        /// As the task names it.
        file: String,
    },
}

impl DeliverableError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Call { source, .. } => source.fault(),
            Self::Look { .. } => Fault::Environment,
            Self::Outside { .. } => Fault::Data,
        }
    }
}

/// Makes the call that a deliverable needs: looks at its file, runs the call, looks again.
///
/// A call that fails, hangs or writes nothing is a fact like any other.
///
/// # Errors
/// [`DeliverableError`], when the call could not be started or its files not be seen.
pub fn perform(need: &Need, place: &Place<'_>) -> Result<Fact, DeliverableError> {
    let look_error = |source| DeliverableError::Look { need: need.name.clone(), source };
    if let Some(file) = need.file().filter(|file| !is_inside(file)) {
        let (need, file) = (need.name.clone(), file.to_owned());
        return Err(DeliverableError::Outside { need, file });
    }
    let look = || match need.file() {
        Some(file) => Look::at(&place.tree.join(file)),
        None => Ok(Look::default()),
    };
    let before = look().map_err(look_error)?;
    let since = file_time(place.scratch).map_err(look_error)?;
    let started = place.clock.now();
    let command = Command {
        argv: &need.call,
        folder: place.tree,
        environment: place.environment,
        input: b"",
        timeout: place.timeout,
        max_output_bytes: place.max_output_bytes,
    };
    let ran = process::run(&command, &mut |_, _| ())
        .map_err(|source| DeliverableError::Call { need: need.name.clone(), source })?;
    let elapsed = place.clock.now().saturating_sub(started);
    let after = look().map_err(look_error)?;
    let artefact = need.file().and_then(|file| after.artefact(file, &before, since));
    let content = match &need.kind {
        Kind::TestRun { runner, report } => {
            let is_cut = ran.out.n_dropped + ran.err.n_dropped > 0 && report.is_none();
            let text = match report {
                Some(_) => String::from_utf8_lossy(after.bytes()).into_owned(),
                // Some runners report on standard error.
                None => format!("{}\n{}", ran.out.text(), ran.err.text()),
            };
            Content::Tests(if is_cut { Err(RunnerFault::NoCounts) } else { runner.counts(&text) })
        }
        Kind::Recording { .. } => Content::Recording(recording(after.bytes())),
        Kind::Ticket { format, .. } => {
            // What cannot be read of the tracker as it was is no ticket that was there.
            let old = tickets(before.bytes(), *format).unwrap_or_default();
            let changed = tickets(after.bytes(), *format).map(|mut new| {
                new.retain(|id, ticket| old.get(id) != Some(ticket));
                new
            });
            Content::Tickets(changed)
        }
    };
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(ran.out.bytes.len() as u64).to_le_bytes());
    hasher.update(&ran.out.bytes).update(&ran.err.bytes);
    Ok(Fact {
        need: need.name.clone(),
        argv: need.call.clone(),
        dry_run: need.dry_run_argument().map(str::to_owned),
        exit: ran.end.code(),
        end: ran.end.to_string(),
        started_ms: millis(started),
        elapsed_ms: millis(elapsed),
        output_blake3: hasher.finalize().to_hex().to_string(),
        artefact,
        content,
    })
}

impl Fact {
    /// Whether the file that proves the deliverable was made by this call.
    pub fn is_fresh(&self) -> bool {
        self.artefact.as_ref().is_some_and(|artefact| artefact.made == Made::ByThisCall)
    }
}

/// Whether a path of a task stays in the tree, as far as its text tells.
fn is_inside(file: &str) -> bool {
    use std::path::Component;
    let path = Path::new(file);
    path.file_name().is_some() && path.components().all(|it| matches!(it, Component::Normal(_)))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
