//! What can go wrong with a store, and whose fault it is.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::fault::Fault;

/// A cause from a library below, whose type is not part of our interface.
type Cause = Box<dyn Error + Send + Sync + 'static>;

/// Why a store could not be opened, read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store in this folder.
    #[error("no store at {}: `psos index` makes one", dir.display())]
    NotFound {
        /// The folder that was looked at.
        dir: PathBuf,
    },
    /// Another process is writing, and did not finish in the time that the caller had.
    #[error("another process is writing to the store (waited {} ms)", waited.as_millis())]
    Busy {
        /// How long this process waited.
        waited: Duration,
    },
    /// An earlier commit through this handle failed: what the handle knows may not be on disk.
    #[error("the store refuses writes after a failed commit until it is opened again")]
    Poisoned,
    /// An earlier step of the same change failed, so the change is not whole.
    #[error("an earlier step of this change failed, so none of it is written")]
    Abandoned,
    /// The store was opened for reading.
    #[error("the store was opened for reading only")]
    ReadOnly,
    /// The store was written by a newer psos.
    #[error("store format {found} is newer than {supported}, the newest this build reads")]
    FormatTooNew {
        /// The format of the store.
        found: u32,
        /// The newest format that this build reads.
        supported: u32,
    },
    /// The store was written by an older psos; the next `psos index` builds it anew.
    #[error(
        "store format {found} of {} is older than {supported}, the oldest this build reads: run \
         `psos index` to build it again from the tree",
        dir.display()
    )]
    FormatTooOld {
        /// The format of the store.
        found: u32,
        /// The oldest format that this build reads.
        supported: u32,
        /// The folder of the store.
        dir: PathBuf,
    },
    /// The file is not a store, or no longer one. It is left as it is.
    #[error(
        "{} is damaged or is not a store: remove its folder and run `psos index` to build it \
         again from the tree",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What gave it away.
        #[source]
        source: Cause,
    },
    /// The last writer was stopped in the middle, and the file cannot be repaired from here.
    #[error("{} was not closed by its last writer and cannot be repaired from here", path.display())]
    Unclean {
        /// The file.
        path: PathBuf,
        /// Why the repair was not possible.
        #[source]
        source: Cause,
    },
    /// A row does not decode.
    #[error(
        "the row `{key}` of table `{table}` is corrupt ({what}): remove the store and run \
         `psos index` to build it again from the tree"
    )]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The key of the row, as text.
        key: String,
        /// What is wrong with it.
        what: String,
    },
    /// The operating system refused.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The refusal.
        #[source]
        source: std::io::Error,
    },
    /// The database library refused for a reason that psos does not know.
    #[error("the database at {} failed", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// The refusal.
        #[source]
        source: Cause,
    },
}

impl StoreError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NotFound { .. }
            | Self::Busy { .. }
            | Self::Unclean { .. }
            | Self::ReadOnly
            | Self::Io { .. }
            | Self::Poisoned => Fault::Environment,
            Self::FormatTooNew { .. }
            | Self::FormatTooOld { .. }
            | Self::Damaged { .. }
            | Self::Corrupt { .. } => Fault::Data,
            Self::Database { .. } | Self::Abandoned => Fault::Bug,
        }
    }

    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn corrupt(
        table: &'static str,
        key: &(impl ToString + ?Sized),
        what: &(impl ToString + ?Sized),
    ) -> Self {
        Self::Corrupt { table, key: key.to_string(), what: what.to_string() }
    }

    /// Sorts an error of redb into ours. `path` is the file of the database.
    pub(super) fn of_redb(path: &Path, error: impl Into<redb::Error>) -> Self {
        let path = path.to_owned();
        match error.into() {
            redb::Error::Io(source)
                if matches!(
                    source.kind(),
                    std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof
                ) =>
            {
                Self::Damaged { path, source: Box::new(source) }
            }
            redb::Error::Io(source) => Self::Io { path, source },
            redb::Error::Backend(source) => match source.downcast::<super::wait::TimedOut>() {
                Ok(timed_out) => Self::Busy { waited: timed_out.0 },
                Err(source) => Self::Database { path, source },
            },
            redb::Error::PreviousIo => Self::Poisoned,
            error @ (redb::Error::Corrupted(_)
            | redb::Error::UpgradeRequired(_)
            | redb::Error::TableDoesNotExist(_)
            | redb::Error::TableTypeMismatch { .. }
            | redb::Error::TableIsMultimap(_)
            | redb::Error::TableIsNotMultimap(_)
            | redb::Error::TypeDefinitionChanged { .. }) => {
                Self::Damaged { path, source: error.to_string().into() }
            }
            error => Self::Database { path, source: error.to_string().into() },
        }
    }
}
