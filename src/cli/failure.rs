//! What went wrong, told to a person, and the exit code that tells a script.

use std::io::Write as _;
use std::process::ExitCode;

use psos::fault::Fault;

use crate::cli::output::push;

/// A failure of a command: whose fault it is, what happened, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    fault: Fault,
    error: anyhow::Error,
    hints: Vec<String>,
    about_query: bool,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.error)
    }
}

impl Failure {
    pub(crate) fn new(fault: Fault, error: impl Into<anyhow::Error>) -> Self {
        Self { fault, error: error.into(), hints: Vec::new(), about_query: false }
    }

    pub(crate) fn usage(message: impl std::fmt::Display) -> Self {
        Self::new(Fault::Usage, anyhow::anyhow!("{message}"))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Marks the failure as one of a single query, which does not end a run of many.
    pub(crate) fn about_query(mut self) -> Self {
        self.about_query = true;
        self
    }

    /// Whether other queries may still be answered.
    pub(crate) fn is_about_query(&self) -> bool {
        self.about_query
    }

    /// Tells the person on stderr and returns the code for the script.
    pub(crate) fn report(&self) -> ExitCode {
        if self.is_closed_pipe() {
            return ExitCode::SUCCESS;
        }
        let mut err = std::io::stderr().lock();
        let mut text = format!("error: {}\n", self.error);
        for cause in self.error.chain().skip(1) {
            push(&mut text, format_args!("  caused by: {cause}\n"));
        }
        for hint in &self.hints {
            push(&mut text, format_args!("\nhint: {hint}\n"));
        }
        // A closed stderr leaves nobody to tell.
        let _ = err.write_all(text.as_bytes());
        ExitCode::from(match self.fault {
            Fault::Usage => 2,
            Fault::Data => 3,
            Fault::Environment => 4,
            Fault::Bug => 70,
        })
    }

    /// Whether something may not be written that may well be read.
    pub(crate) fn is_about_writing(&self) -> bool {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        self.has_cause(|kind| matches!(kind, PermissionDenied | ReadOnlyFilesystem))
    }

    fn has_cause(&self, is: impl Fn(std::io::ErrorKind) -> bool) -> bool {
        let causes = self.error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
        causes.map(std::io::Error::kind).any(is)
    }

    /// Whoever reads the output has seen enough: that is no failure.
    fn is_closed_pipe(&self) -> bool {
        self.has_cause(|kind| kind == std::io::ErrorKind::BrokenPipe)
    }
}

/// Writing to stdout failed.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(Fault::Environment, anyhow::Error::new(error).context("cannot write the answer"))
    }
}
