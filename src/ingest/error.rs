//! Why a tree was not indexed.

use std::path::PathBuf;

use crate::bm25::Bm25Error;
use crate::fault::Fault;
use crate::store::StoreError;
use crate::trigger::TriggerError;

/// Why a tree was not indexed. The store is what it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// There is no such folder.
    #[error("there is no folder {}", path.display())]
    NoTree {
        /// What was named.
        path: PathBuf,
    },
    /// What was named is a file.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// What was named.
        path: PathBuf,
    },
    /// The folder cannot be listed.
    #[error("cannot list the folder {}", path.display())]
    UnreadableTree {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The tree has no file to read, and the store has records.
    #[error("{} has no file to read, but its store holds {n_files} files", path.display())]
    EmptyTree {
        /// The root of the tree.
        path: PathBuf,
        /// How many files the store holds.
        n_files: u64,
    },
    /// The threads that read files cannot be started.
    #[error("cannot start {threads} threads")]
    Threads {
        /// How many were asked for.
        threads: u16,
        /// What the system says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store cannot be read or written.
    #[error("the store cannot be brought up to date")]
    Store(#[from] StoreError),
    /// The lexical index cannot be written.
    #[error("the lexical index cannot be brought up to date")]
    Lexical(#[from] Bm25Error),
    /// The trigger automaton cannot be built.
    #[error("the trigger automaton cannot be built")]
    Trigger(#[from] TriggerError),
}

impl IngestError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoTree { .. } | Self::NotAFolder { .. } => Fault::Usage,
            Self::EmptyTree { .. } => Fault::Data,
            Self::UnreadableTree { .. } | Self::Threads { .. } => Fault::Environment,
            Self::Store(error) => error.fault(),
            Self::Lexical(error) => error.fault(),
            Self::Trigger(error) => error.fault(),
        }
    }
}
