//! Calls written down, and a model that gives them back. `schema/cassette.md` describes the file.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;

use serde::{Deserialize, Serialize};

use super::exchange::Answer;
use super::{Capability, Model, ModelError, ModelErrorKind, Reply, Request};
use crate::fault::Fault;

/// A line of a cassette.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    request: String,
    purpose: String,
    answer: Answer,
}

/// A model that gives back what was recorded.
///
/// A request that was not recorded, or not that often, is an error: never a call, never a guess.
#[derive(Debug)]
pub struct Recorded {
    name: String,
    capability: Capability,
    answers: BTreeMap<String, VecDeque<Result<Reply, ModelError>>>,
}

/// A cassette that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the cassette: {why}")]
pub struct CassetteError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

impl CassetteError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        Fault::Data
    }
}

impl Recorded {
    /// Reads a cassette.
    ///
    /// # Errors
    /// [`CassetteError`], for the first line that is not one; half a recording would replay as another
    /// run than the one that was recorded.
    pub fn parse(
        name: impl Into<String>,
        capability: Capability,
        cassette: &str,
    ) -> Result<Self, CassetteError> {
        let mut answers: BTreeMap<String, VecDeque<_>> = BTreeMap::new();
        for (line_idx, text) in cassette.lines().enumerate() {
            if text.trim().is_empty() {
                continue;
            }
            let fault = |why| CassetteError { line: line_idx + 1, why };
            let line: Line =
                serde_json::from_str(text).map_err(|error| fault(error.to_string()))?;
            let outcome = line.answer.outcome().map_err(fault)?;
            answers.entry(line.request).or_default().push_back(outcome);
        }
        Ok(Self { name: name.into(), capability, answers })
    }

    /// How many recorded answers were not asked for yet.
    pub fn n_left(&self) -> usize {
        self.answers.values().map(VecDeque::len).sum()
    }
}

impl Model for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        let hash = request.hash();
        let next = self.answers.get_mut(&hash).and_then(VecDeque::pop_front);
        next.unwrap_or_else(|| {
            let short = hash.get(..12).unwrap_or_default();
            let message = format!(
                "no answer is recorded for the request of `{}` (hash {short}…); record the run anew",
                request.purpose
            );
            Err(ModelError::new(ModelErrorKind::Provider, message))
        })
    }
}

/// Asks a model, and writes down each call: a line, when it ends.
#[derive(Debug)]
pub struct Recorder<M, W> {
    model: M,
    cassette: W,
}

impl<M: Model, W: Write + std::fmt::Debug> Recorder<M, W> {
    /// Records what this model says, to the end of this file.
    pub fn new(model: M, cassette: W) -> Self {
        Self { model, cassette }
    }

    /// Returns the model and the cassette.
    pub fn into_parts(self) -> (M, W) {
        (self.model, self.cassette)
    }
}

impl<M: Model, W: Write + std::fmt::Debug> Model for Recorder<M, W> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn capability(&self) -> &Capability {
        self.model.capability()
    }

    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        let outcome = self.model.complete(request);
        let line = Line {
            request: request.hash(),
            purpose: request.purpose.clone(),
            answer: Answer::of(&outcome),
        };
        let written = serde_json::to_string(&line).map_err(std::io::Error::from).and_then(|line| {
            writeln!(self.cassette, "{line}").and_then(|()| self.cassette.flush())
        });
        match written {
            Ok(()) => outcome,
            Err(error) => {
                let message = format!("cannot write the cassette: {error}");
                Err(ModelError::new(ModelErrorKind::Provider, message))
            }
        }
    }
}
