//! Making the call of a deliverable, and writing down what was seen.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::artefact::{Artefact, Look, Made, file_time};
use super::recording::{Recording, RecordingFault, recording};
use super::runner::{Counts, RunnerFault};
use super::ticket::{Ticket, TicketFault, tickets};
use super::{Kind, Need};
use crate::clock::Clock;
use crate::fault::Fault;
use crate::pipeline::process::{self, Command, Environment, ProcessError};
use crate::record::Hash;

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

/// What there was before a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// The time by the clock of the file system, in nanoseconds since 1970. What the call writes is not older.
    pub since_ns: u64,
    /// The blake3 hash of its file, in hexadecimal, if it was there.
    pub blake3: Option<String>,
    /// The tickets of its tracker, each with the blake3 hash of its fields.
    pub tickets: BTreeMap<String, String>,
}

/// What the harness saw of a call. There is no other way to a fact than [`perform`], [`inspect`] and a ledger.
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

/// Looks at what is there before the call that a deliverable needs. Written down before the call is made, it
/// tells afterwards what the call left, also when nobody saw the call end.
///
/// # Errors
/// [`DeliverableError::Outside`] and [`DeliverableError::Look`].
pub fn look(need: &Need, place: &Place<'_>) -> Result<Before, DeliverableError> {
    let file = look_at(need, place)?;
    let since = file_time(place.scratch).map_err(look_error(need))?;
    let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let tickets = match &need.kind {
        // What cannot be read of the tracker as it was is no ticket that was there.
        Kind::Ticket { format, .. } => tickets(file.bytes(), *format).unwrap_or_default(),
        Kind::TestRun { .. } | Kind::Recording { .. } => BTreeMap::new(),
    };
    Ok(Before {
        since_ns: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
        blake3: file.content.map(|content| content.blake3),
        tickets: tickets.iter().map(|(id, ticket)| (id.clone(), hash_of(ticket))).collect(),
    })
}

/// Makes the call that a deliverable needs, and looks at what it left. `before` is what [`look`] saw.
///
/// A call that fails, hangs or writes nothing is a fact like any other.
///
/// # Errors
/// [`DeliverableError`], when the call could not be started or its files not be seen.
pub fn perform(need: &Need, before: &Before, place: &Place<'_>) -> Result<Fact, DeliverableError> {
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
    let fact = inspect(need, before, started, place)?;
    let content = match &need.kind {
        Kind::TestRun { runner, report: None } => {
            let is_cut = ran.out.n_dropped + ran.err.n_dropped > 0;
            // Some runners report on standard error.
            let text = format!("{}\n{}", ran.out.text(), ran.err.text());
            Content::Tests(if is_cut { Err(RunnerFault::NoCounts) } else { runner.counts(&text) })
        }
        _ => fact.content,
    };
    Ok(Fact {
        exit: ran.end.code(),
        end: ran.end.to_string(),
        elapsed_ms: millis(elapsed),
        output_blake3: hash_of_output(&ran.out.bytes, &ran.err.bytes),
        content,
        ..fact
    })
}

/// Looks at what a call left that was begun at `started`, since 1970, and whose end nobody saw. Its exit code
/// and its outputs are unknown, so that the fact never is a deliverable.
///
/// # Errors
/// [`DeliverableError::Outside`] and [`DeliverableError::Look`].
pub fn inspect(
    need: &Need,
    before: &Before,
    started: Duration,
    place: &Place<'_>,
) -> Result<Fact, DeliverableError> {
    let after = look_at(need, place)?;
    let content = match &need.kind {
        Kind::TestRun { report: None, .. } => Content::Tests(Err(RunnerFault::NoCounts)),
        Kind::TestRun { runner, report: Some(_) } => {
            Content::Tests(runner.counts(&String::from_utf8_lossy(after.bytes())))
        }
        Kind::Recording { .. } => Content::Recording(recording(after.bytes())),
        Kind::Ticket { format, .. } => {
            let is_new =
                |id: &String, ticket: &mut Ticket| before.tickets.get(id) != Some(&hash_of(ticket));
            let changed = tickets(after.bytes(), *format).map(|mut tickets| {
                tickets.retain(is_new);
                tickets
            });
            Content::Tickets(changed)
        }
    };
    Ok(Fact {
        need: need.name.clone(),
        argv: need.call.clone(),
        dry_run: need.dry_run_argument().map(str::to_owned),
        exit: None,
        end: "nobody saw how it ended".to_owned(),
        started_ms: millis(started),
        elapsed_ms: 0,
        output_blake3: hash_of_output(b"", b""),
        artefact: need.file().and_then(|file| after.artefact(file, before)),
        content,
    })
}

fn look_at(need: &Need, place: &Place<'_>) -> Result<Look, DeliverableError> {
    match need.file() {
        Some(file) if !is_inside(file) => {
            let (need, file) = (need.name.clone(), file.to_owned());
            Err(DeliverableError::Outside { need, file })
        }
        Some(file) => Look::at(&place.tree.join(file)).map_err(look_error(need)),
        None => Ok(Look::default()),
    }
}

fn look_error(need: &Need) -> impl FnOnce(io::Error) -> DeliverableError + use<'_> {
    |source| DeliverableError::Look { need: need.name.clone(), source }
}

/// The hash of a ticket, in hexadecimal. Its fields are sorted, so that their order in the tracker does not count.
fn hash_of(ticket: &Ticket) -> String {
    // Texts by texts are always JSON.
    Hash::of(&serde_json::to_vec(ticket).unwrap_or_default()).to_string()
}

fn hash_of_output(out: &[u8], err: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(out.len() as u64).to_le_bytes());
    hasher.update(out).update(err);
    hasher.finalize().to_hex().to_string()
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
