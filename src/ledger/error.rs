//! What can go wrong with a ledger, and whose fault it is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::entry::RunId;
use crate::fault::Fault;

/// Why a ledger could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// There is no ledger in this place.
    #[error("no ledger at {}: `psos run` makes one", path.display())]
    NotFound {
        /// The file that was looked for.
        path: PathBuf,
    },
    /// The ledger has no such run.
    #[error("the ledger has no run {run}")]
    NoRun {
        /// The run.
        run: RunId,
    },
    /// The journal does not hold together.
    #[error("the ledger of run {run} is damaged at entry {seq}: {what}")]
    Cut {
        /// The run.
        run: RunId,
        /// The first place that does not hold.
        seq: u64,
        /// What is wrong there.
        what: String,
    },
    /// Somebody else appended to the run.
    #[error("somebody else continues the run {run}")]
    Moved {
        /// The run.
        run: RunId,
    },
    /// Another run holds the resource.
    #[error("{resource} is held by run {holder}, until {} s since 1970", until.as_secs())]
    Held {
        /// What was claimed.
        resource: String,
        /// Who has it.
        holder: RunId,
        /// The end of its lease, since 1970.
        until: Duration,
    },
    /// The lease ran out, and another run has the resource.
    #[error("the lease on {resource} was lost")]
    Lost {
        /// What was held.
        resource: String,
    },
    /// The resource changed while it was held.
    #[error("{resource} was changed by somebody else while it was held")]
    Changed {
        /// What was held.
        resource: String,
    },
    /// Another process is writing, and did not finish in time.
    #[error("another process is writing to the ledger (waited {} ms)", waited.as_millis())]
    Busy {
        /// How long this process waited.
        waited: Duration,
    },
    /// The file is of a newer build.
    #[error("the ledger has format {found}, newer than {supported}, the newest this build reads")]
    FormatTooNew {
        /// The format of the file.
        found: u32,
        /// The newest that is read.
        supported: u32,
    },
    /// The file is no ledger, or was cut off.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was met.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file system refuses.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl LedgerError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoRun { .. } => Fault::Usage,
            Self::Cut { .. } | Self::FormatTooNew { .. } | Self::Damaged { .. } => Fault::Data,
            Self::NotFound { .. }
            | Self::Moved { .. }
            | Self::Held { .. }
            | Self::Lost { .. }
            | Self::Changed { .. }
            | Self::Busy { .. }
            | Self::Io { .. } => Fault::Environment,
        }
    }

    pub(super) fn of_redb(path: &Path, error: impl Into<redb::Error>) -> Self {
        match error.into() {
            redb::Error::Io(source) if !speaks_of_content(source.kind()) => {
                Self::Io { path: path.to_owned(), source }
            }
            error => Self::Damaged { path: path.to_owned(), source: Box::new(error) },
        }
    }
}

/// Whether a failed read says that the file is not what it should be, and nothing of the machine.
fn speaks_of_content(kind: std::io::ErrorKind) -> bool {
    matches!(kind, std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidData)
}
