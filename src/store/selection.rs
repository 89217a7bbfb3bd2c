//! Why a record may be read in full.

use crate::record::{Hash, RecordId};
use crate::store::{Head, RecordKey};

/// What made a record be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A trigger phrase of it stands in the query.
    Trigger,
    /// Its words match the query.
    Lexical,
    /// Somebody who saw a cheaper tier, or knows its id, asked for it.
    Pick,
}

impl Reason {
    /// The name in lower case, as JSON shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Lexical => "lexical",
            Self::Pick => "pick",
        }
    }
}

/// The right to read one record in full.
///
/// Progressive disclosure is held by construction: the only way to a detail is
/// [`super::Snapshot::detail`], which takes a selection; a selection can only be made inside this
/// crate, from the [`Head`] of the record, with the reason named. So no code path can read details
/// in bulk on the way to an answer, and each detail in an answer has its reason at hand. (Writing,
/// verifying and dumping a store work on details without one; none of them answers anybody.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    key: RecordKey,
    id: RecordId,
    hash: Hash,
    reason: Reason,
}

impl Selection {
    /// Chosen because a trigger phrase of it stands in the query.
    pub(crate) fn by_trigger(key: RecordKey, head: &Head) -> Self {
        Self { key, id: head.id.clone(), hash: head.hash, reason: Reason::Trigger }
    }

    /// Chosen because its words match the query.
    pub(crate) fn by_lexical(key: RecordKey, head: &Head) -> Self {
        Self { key, id: head.id.clone(), hash: head.hash, reason: Reason::Lexical }
    }

    /// Chosen by somebody, from a cheaper tier or by id.
    pub(crate) fn by_pick(key: RecordKey, head: &Head) -> Self {
        Self { key, id: head.id.clone(), hash: head.hash, reason: Reason::Pick }
    }

    /// The record.
    pub fn key(&self) -> RecordKey {
        self.key
    }

    /// The id of the record.
    pub fn id(&self) -> &RecordId {
        &self.id
    }

    /// The hash of the detail that the record had when it was chosen.
    pub(super) fn hash(&self) -> Hash {
        self.hash
    }

    /// Why it was chosen.
    pub fn reason(&self) -> Reason {
        self.reason
    }
}
