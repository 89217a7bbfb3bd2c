//! A command with bounds: a time, an amount of output, an environment that is handed in. Knows nothing
//! of what a command is for.
//!
//! Everything that psos runs goes through [`run`]: a model in another program, the tests of a project,
//! a scene of a storyboard. A command cannot outlive it: it is the head of a process group, and the
//! group is ended when the time is up, when it writes without end, and when its head ends. A process
//! that leaves the group on purpose is not followed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::fault::Fault;

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use other as system;
#[cfg(unix)]
use unix as system;

/// Bytes of output that are taken, for each byte that is kept, before a command is ended for writing
/// without end.
const FLOOD_FACTOR: u64 = 64;

/// The variables that a command sees. Nothing is inherited, so no key of ours reaches it.
pub type Environment = BTreeMap<String, String>;

/// A command and its bounds.
#[derive(Debug, Clone)]
pub struct Command<'a> {
    /// The program and its arguments. No shell reads them.
    pub argv: &'a [String],
    /// Where it runs.
    pub folder: &'a Path,
    /// All that it sees of the environment. `PATH` is also where the program is looked for.
    pub environment: &'a Environment,
    /// What it reads from its standard input, which then ends.
    pub input: &'a [u8],
    /// The time after which it is ended.
    pub timeout: Duration,
    /// Bytes that are kept of each of its outputs; the rest is counted. A command that writes 64
    /// times as much is ended.
    pub max_output_bytes: usize,
}

/// One of the two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// The standard output.
    Out,
    /// The standard error.
    Err,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// Its standard output.
    pub out: Output,
    /// Its standard error.
    pub err: Output,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with an exit code.
    Code(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// It was ended: the time was up.
    TimedOut,
    /// It was ended: it wrote without end.
    Flooded,
}

/// What is kept of an output: its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// The bytes that are kept.
    pub bytes: Vec<u8>,
    /// How many bytes followed that are not.
    pub n_dropped: u64,
}

/// A command that did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// There is no program to run.
    #[error("the command is empty")]
    Empty,
    /// The program was not found, or may not be run.
    #[error("cannot run `{program}`")]
    Start {
        /// The first word of the command.
        program: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The system failed us while it ran.
    #[error("lost touch with `{program}`")]
    Lost {
        /// The first word of the command.
        program: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
}

impl ProcessError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Empty => Fault::Usage,
            Self::Start { .. } | Self::Lost { .. } => Fault::Environment,
        }
    }
}

impl End {
    /// The exit code, of a command that ended by itself.
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) | Self::TimedOut | Self::Flooded => None,
        }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("ended: the time was up"),
            Self::Flooded => f.write_str("ended: it wrote without end"),
        }
    }
}

impl Output {
    /// The kept bytes as text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Keeps as much of some more bytes as fits.
    fn take(&mut self, bytes: &[u8], max_bytes: usize) {
        let room = max_bytes.saturating_sub(self.bytes.len()).min(bytes.len());
        let (kept, dropped) = bytes.split_at(room);
        self.bytes.extend_from_slice(kept);
        self.n_dropped = self.n_dropped.saturating_add(dropped.len() as u64);
    }

    fn n_bytes(&self) -> u64 {
        (self.bytes.len() as u64).saturating_add(self.n_dropped)
    }
}

/// Runs a command to its end. `heard` is told of each piece of output when it comes.
///
/// # Errors
/// [`ProcessError`], when the command did not start. One that fails, hangs or floods is no error: see
/// [`Ran::end`].
pub fn run(
    command: &Command<'_>,
    heard: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Ran, ProcessError> {
    system::run(command, heard)
}

/// Returns where a program is, as [`run`] would find it; `None` when it would not. A name with a `/` is a
/// path from `folder`.
pub fn find_program(program: &str, folder: &Path, environment: &Environment) -> Option<PathBuf> {
    let is_file = |path: &PathBuf| path.is_file();
    if program.contains('/') {
        return Some(folder.join(program)).filter(is_file);
    }
    let path = environment.get("PATH")?;
    path.split(':')
        .filter(|dir| !dir.is_empty())
        .map(|dir| Path::new(dir).join(program))
        .find(is_file)
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
