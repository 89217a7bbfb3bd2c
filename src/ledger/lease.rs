//! The claim of a run on something that only one may hold.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::entry::RunId;

/// A claim on a resource, for a time.
///
/// The token grows with every new holder, so that a holder whose lease ran out is told apart from the
/// one after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// What is claimed, such as the path of an artefact.
    pub resource: String,
    /// Who holds it.
    pub run: RunId,
    /// Grows with every new holder.
    pub token: u64,
    /// When it ends, in milliseconds since 1970; 0 when it was given back.
    pub until_ms: u64,
    /// The hash of the content that the holder saw, where there was any.
    pub content: Option<String>,
}

impl Lease {
    pub(super) fn new(
        resource: &str,
        run: &RunId,
        token: u64,
        until: Duration,
        content: Option<String>,
    ) -> Self {
        Self {
            resource: resource.to_owned(),
            run: run.clone(),
            token,
            until_ms: u64::try_from(until.as_millis()).unwrap_or(u64::MAX),
            content,
        }
    }

    /// When it ends, since 1970.
    pub fn until(&self) -> Duration {
        Duration::from_millis(self.until_ms)
    }

    /// The token that a claim of `run` gets at `now`, or else who holds the resource.
    pub(super) fn claimed_by(&self, run: &RunId, now: Duration) -> Result<u64, RunId> {
        if self.run == *run && self.until_ms > 0 {
            return Ok(self.token);
        }
        if self.until() > now {
            return Err(self.run.clone());
        }
        Ok(self.token + 1)
    }

    pub(super) fn freed(&self) -> Self {
        Self { until_ms: 0, ..self.clone() }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        // Numbers and texts are always JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}
