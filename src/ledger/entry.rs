//! One thing that happened, and the chain that holds it in its place.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::canonical::canonical;
use crate::record::Hash;

/// The name of a run: unique in its ledger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Takes a name as a person or a ledger wrote it.
    pub fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What kind of actor did something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A person.
    Human,
    /// A language model.
    Model,
    /// The harness: code that observed or decided.
    Harness,
    /// A program that the harness ran.
    Tool,
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actor {
    /// What kind of actor it is.
    pub kind: ActorKind,
    /// Its name.
    pub name: String,
}

impl Actor {
    /// The harness itself.
    pub fn harness() -> Self {
        Self { kind: ActorKind::Harness, name: "psos".to_owned() }
    }
}

/// How far a journal goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// How many entries there are.
    pub n_entries: u64,
    /// The hash of the last one, in hexadecimal; empty before the first.
    pub hash: String,
}

impl Head {
    /// That of a run of which nothing was written.
    pub const START: Self = Self { n_entries: 0, hash: String::new() };

    pub(super) fn encode(&self) -> Vec<u8> {
        // A number and a text are always JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The version of the format of entries, [`Entry::VERSION`].
    pub v: u32,
    /// The run.
    pub run: RunId,
    /// Its place in the journal, from 0.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Who did it.
    pub actor: Actor,
    /// What kind of thing it is.
    pub kind: String,
    /// What is to be known of it.
    pub body: Value,
    /// The hash of the entry before, empty for the first.
    pub before: String,
    /// blake3 over all of the above, in hexadecimal.
    pub hash: String,
}

impl Entry {
    /// The format that this build writes and the newest that it reads.
    pub const VERSION: u32 = 2;

    /// The entry behind `head`, with its hash.
    pub fn after(
        head: &Head,
        run: &RunId,
        at: Duration,
        actor: &Actor,
        kind: &str,
        body: Value,
    ) -> Self {
        let mut entry = Self {
            v: Self::VERSION,
            run: run.clone(),
            seq: head.n_entries,
            at_ms: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
            actor: actor.clone(),
            kind: kind.to_owned(),
            body,
            before: head.hash.clone(),
            hash: String::new(),
        };
        entry.hash = entry.computed_hash();
        entry
    }

    /// When it happened, since 1970.
    pub fn at(&self) -> Duration {
        Duration::from_millis(self.at_ms)
    }

    /// How far the journal goes with this entry as its last.
    pub fn head(&self) -> Head {
        Head { n_entries: self.seq + 1, hash: self.hash.clone() }
    }

    /// Writes it as one line of JSON with sorted keys.
    pub fn to_json(&self) -> String {
        serde_json::to_value(self).map(|value| canonical(&value)).unwrap_or_default()
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        self.to_json().into_bytes()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let entry: Self = serde_json::from_slice(bytes).ok()?;
        (entry.v <= Self::VERSION).then_some(entry)
    }

    /// The hash that its content has.
    pub(super) fn computed_hash(&self) -> String {
        let mut bare = self.clone();
        bare.hash = String::new();
        Hash::of(bare.to_json().as_bytes()).to_string()
    }
}

/// The key of an entry in its table: sorted by run, then by place.
pub(super) fn entry_key(run: &RunId, seq: u64) -> String {
    format!("{run}/{seq:020}")
}
