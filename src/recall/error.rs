//! What can go wrong in a recall.

use crate::fault::Fault;
use crate::recall::Budget;
use crate::store::StoreError;

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecallError {
    /// There is nothing but white space.
    #[error("the query is empty")]
    EmptyQuery,
    /// There is no letter or digit to look for.
    #[error("the query {query:?} has no word to look for")]
    NoWords {
        /// The query.
        query: String,
    },
    /// Not even the start of the first description fits.
    #[error(
        "a budget of {budget} tokens is too small for any answer to this query, which takes {smallest}"
    )]
    BudgetTooSmall {
        /// The budget that was asked for, in tokens.
        budget: u32,
        /// The smallest budget that has an answer.
        smallest: u32,
    },
    /// The pattern of a path filter cannot be read.
    #[error("the path pattern {pattern:?} cannot be read")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store cannot be read.
    #[error("the store cannot be read")]
    Store(#[from] StoreError),
    /// The trigger automaton in the store cannot be read.
    #[error("the trigger automaton cannot be read")]
    Trigger(#[from] crate::trigger::TriggerError),
    /// The lexical index cannot be read.
    #[error("the lexical index cannot be read")]
    Lexical(#[from] crate::bm25::Bm25Error),
}

impl RecallError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::EmptyQuery
            | Self::NoWords { .. }
            | Self::BudgetTooSmall { .. }
            | Self::Pattern { .. } => Fault::Usage,
            Self::Store(error) => error.fault(),
            Self::Trigger(error) => error.fault(),
            Self::Lexical(error) => error.fault(),
        }
    }

    pub(crate) fn too_small(budget: Budget, smallest: Budget) -> Self {
        Self::BudgetTooSmall { budget: budget.as_tokens(), smallest: smallest.as_tokens() }
    }
}
