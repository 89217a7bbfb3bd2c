//! What can go wrong with the lexical index, and whose fault it is.

use std::error::Error;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::{OpenDirectoryError, OpenReadError, OpenWriteError};
use thiserror::Error;

use crate::fault::Fault;

/// A cause from a library below, whose type is not part of our interface.
type Cause = Box<dyn Error + Send + Sync + 'static>;

/// Why the lexical index could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Bm25Error {
    /// A file that `meta.json` names is not there. A reader whose snapshot is older than the one
    /// before the last commit sees this; a newer snapshot has the answer.
    #[error("a file of the lexical index is gone: {}", path.display())]
    SegmentGone {
        /// The file.
        path: PathBuf,
    },
    /// A file is there, but is not what it should be.
    #[error("the lexical index in {} is damaged", dir.display())]
    Damaged {
        /// The folder.
        dir: PathBuf,
        /// What gave it away.
        #[source]
        source: Cause,
    },
    /// The operating system refused.
    #[error("cannot use the lexical index in {}", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// The refusal.
        #[source]
        source: Cause,
    },
    /// The search library refused for a reason that psos does not know.
    #[error("the lexical index in {} failed", dir.display())]
    Library {
        /// The folder.
        dir: PathBuf,
        /// The refusal.
        #[source]
        source: Cause,
    },
}

impl Bm25Error {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::SegmentGone { .. } | Self::Damaged { .. } => Fault::Data,
            Self::Io { .. } => Fault::Environment,
            Self::Library { .. } => Fault::Bug,
        }
    }

    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source: Box::new(source) }
    }

    pub(super) fn damaged(dir: &Path, source: impl Into<Cause>) -> Self {
        Self::Damaged { dir: dir.to_owned(), source: source.into() }
    }

    /// Sorts an error of tantivy into ours. `dir` is the folder of the index.
    pub(super) fn of_tantivy(dir: &Path, error: TantivyError) -> Self {
        match error {
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(path)) => {
                Self::SegmentGone { path: dir.join(path) }
            }
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath })
                if !is_content(&io_error) =>
            {
                Self::Io { path: dir.join(filepath), source: Box::new(io_error) }
            }
            TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath }) => {
                Self::Io { path: dir.join(filepath), source: Box::new(io_error) }
            }
            TantivyError::OpenDirectoryError(
                OpenDirectoryError::DoesNotExist(path) | OpenDirectoryError::NotADirectory(path),
            ) => Self::SegmentGone { path },
            TantivyError::IoError(error) if !is_content(&error) => {
                Self::Io { path: dir.to_owned(), source: Box::new(error) }
            }
            error @ (TantivyError::DataCorruption(_)
            | TantivyError::IoError(_)
            | TantivyError::IncompatibleIndex(_)
            | TantivyError::OpenReadError(_)
            | TantivyError::SchemaError(_)) => Self::damaged(dir, error),
            error => Self::Library { dir: dir.to_owned(), source: Box::new(error) },
        }
    }
}

/// Whether the operating system did its part, and the bytes are wrong.
fn is_content(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::Other)
}
