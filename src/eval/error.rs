//! What can go wrong while judging, and whose fault it is.

use std::error::Error;
use std::path::PathBuf;

use super::Problem;
use crate::fault::Fault;

/// Why a [`Retriever`](super::Retriever) could not answer.
#[derive(Debug, thiserror::Error)]
#[error("the retriever cannot answer")]
pub struct RetrieveError {
    fault: Fault,
    source: Box<dyn Error + Send + Sync>,
}

impl RetrieveError {
    /// Wraps the retriever's own error, with whose fault it is.
    pub fn new(fault: Fault, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { fault, source: source.into() }
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        self.fault
    }
}

/// Why something cannot be judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A file of the set cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The content of a set makes its numbers meaningless. The first problem is in the text, all
    /// are in `problems`.
    #[error("{}", refusal(problems))]
    Refused {
        /// Every problem that refuses the set, in the order found; never empty.
        problems: Vec<Problem>,
    },
    /// A file is not what it is taken for.
    #[error("{file} is not a {what}")]
    Format {
        /// The file, as it was named.
        file: String,
        /// What it was taken for.
        what: &'static str,
        /// What the parser said.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A file is of a version that this build does not read.
    #[error("{file} has version {found} of a {what}, this build reads version {supported}")]
    Version {
        /// The file, as it was named.
        file: String,
        /// What it is.
        what: &'static str,
        /// The version it has.
        found: u32,
        /// The version this build reads.
        supported: u32,
    },
    /// The retriever failed on a question.
    #[error("question `{question}` got no answer")]
    Unanswered {
        /// The id of the question.
        question: String,
        /// What the retriever said.
        source: RetrieveError,
    },
    /// The retriever returned an id twice, which would count one finding twice.
    #[error("the answer to question `{question}` holds `{id}` twice")]
    RepeatedHit {
        /// The id of the question.
        question: String,
        /// The id that came twice.
        id: String,
    },
    /// The retriever's order and its scores contradict each other, so there is no rank to judge.
    #[error(
        "the answer to question `{question}` ranks `{id}` below a lower score, or gives it none"
    )]
    Unordered {
        /// The id of the question.
        question: String,
        /// The first hit whose score is not a number or is above the one before it.
        id: String,
    },
    /// Two reports cannot be compared: a group of the same name has other questions in each.
    #[error("the questions of group `{group}` are not the same in both reports")]
    DifferentQuestions {
        /// The name of the group.
        group: String,
    },
    /// Two reports cannot be compared: there is nothing that both measured.
    #[error("no group of both reports has `{measure}`")]
    NothingShared {
        /// The name of the measure.
        measure: String,
    },
    /// An id cannot stand in a run file: it is empty, or holds a tab or a line break.
    #[error("id `{}` cannot stand in a run file", id.escape_debug())]
    UnwritableId {
        /// The id.
        id: String,
    },
}

impl EvalError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Unreadable { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Fault::Usage
            }
            Self::Unreadable { .. } => Fault::Environment,
            Self::Refused { .. }
            | Self::Format { .. }
            | Self::Version { .. }
            | Self::UnwritableId { .. } => Fault::Data,
            Self::DifferentQuestions { .. } | Self::NothingShared { .. } => Fault::Usage,
            Self::Unanswered { source, .. } => source.fault(),
            Self::RepeatedHit { .. } | Self::Unordered { .. } => Fault::Bug,
        }
    }
}

fn refusal(problems: &[Problem]) -> String {
    match problems {
        [] => "refused".to_owned(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}

/// Reads JSON that states its version: the version first, so that a newer file is named as such.
pub(super) fn versioned<T: serde::de::DeserializeOwned>(
    file: &str,
    what: &'static str,
    supported: u32,
    bytes: &[u8],
) -> Result<T, EvalError> {
    #[derive(serde::Deserialize)]
    struct Version {
        schema_version: u32,
    }
    let format = |source: serde_json::Error| EvalError::Format {
        file: file.to_owned(),
        what,
        source: Box::new(source),
    };
    let Version { schema_version: found } = serde_json::from_slice(bytes).map_err(format)?;
    if found != supported {
        return Err(EvalError::Version { file: file.to_owned(), what, found, supported });
    }
    serde_json::from_slice(bytes).map_err(format)
}
