//! What can go wrong when a store is opened, filled or asked, and what to do about it.

use std::path::Path;

use crate::fault::Fault;
use crate::ingest::IngestError;
use crate::recall::RecallError;
use crate::record::RecordId;
use crate::store::StoreError;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The store cannot be opened or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The tree was not indexed.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The question was not answered.
    #[error(transparent)]
    Recall(#[from] RecallError),
    /// The store was made, and nothing was ever committed to it.
    #[error("the store has no content yet")]
    Empty,
    /// A record has no detail: the store contradicts itself.
    #[error("the record {id} has no detail")]
    Torn {
        /// The record.
        id: RecordId,
    },
    /// None of the lines that were asked for is one of the record's.
    #[error("the record {id} stands on lines {first} to {last}")]
    LinesOutside {
        /// The record.
        id: RecordId,
        /// Its first line.
        first: u32,
        /// Its last line.
        last: u32,
    },
    /// The dump could not be written.
    #[error("cannot write the dump")]
    Dump(#[source] std::io::Error),
}

impl EngineError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Store(error) => error.fault(),
            Self::Ingest(error) => error.fault(),
            Self::Recall(error) => error.fault(),
            Self::Empty | Self::Torn { .. } => Fault::Data,
            Self::LinesOutside { .. } => Fault::Usage,
            Self::Dump(_) => Fault::Environment,
        }
    }

    /// What to do about it, for the store in `dir`.
    pub fn hint(&self, dir: &Path) -> Option<String> {
        let rebuild =
            || format!("move {} away and run `psos index TREE` to build it anew", dir.display());
        match self {
            Self::Store(StoreError::NotFound { .. }) | Self::Empty => Some(
                "build the store with `psos index TREE`, or name the tree with `--tree TREE`"
                    .into(),
            ),
            Self::Store(StoreError::Busy { .. })
            | Self::Ingest(IngestError::Store(StoreError::Busy { .. })) => Some(
                "try again when it is done, or wait longer with `psos index --wait SECONDS`".into(),
            ),
            Self::Ingest(IngestError::EmptyTree { .. }) => {
                Some("if the tree is meant to be empty, say so with --allow-empty".into())
            }
            Self::Ingest(IngestError::NoTree { .. }) => {
                Some("name the folder that holds the files to be indexed".into())
            }
            Self::Recall(RecallError::EmptyQuery | RecallError::NoWords { .. }) => {
                Some("ask with words, such as `psos recall \"undo the last commit\"`".into())
            }
            Self::Recall(RecallError::BudgetTooSmall { smallest, .. }) => {
                Some(format!("ask with `-b {smallest}` or more"))
            }
            Self::Torn { .. } => Some(rebuild()),
            error if error.fault() == Fault::Data => Some(rebuild()),
            _ => None,
        }
    }
}
