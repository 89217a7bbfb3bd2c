//! What the harness observes for itself, as the pipeline needs it: citations against the tree, searches,
//! deliverables. Interfaces and values only; who implements them looks at the tree.

use std::fmt::Debug;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::pipeline::deliverable::{self, Before, Need};

/// What a model says stands somewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Citation {
    /// The file, relative to the tree.
    pub file: String,
    /// The line, from 1.
    pub line: i64,
    /// What stands there.
    pub quote: String,
}

/// What the tree says about a citation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The quote stands there.
    Verified,
    /// It stands there but for white space.
    VerifiedWhitespace,
    /// It stands in one place only, on this line.
    Moved(u32),
    /// It does not.
    Refuted(String),
    /// Nobody can tell.
    Unverifiable(String),
}

impl Standing {
    /// Whether it may ground a finding.
    pub const fn is_verified(&self) -> bool {
        matches!(self, Self::Verified | Self::VerifiedWhitespace | Self::Moved(_))
    }
}

/// A search for literal text over the whole tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// The text.
    pub pattern: String,
    /// How many files were read.
    pub n_files: u32,
    /// Every file and line that has it, in order.
    pub hits: Vec<(String, u32)>,
    /// Whether every file of the tree was read: only then does no hit mean that there is none.
    pub exhaustive: bool,
}

/// Looks things up in the tree, for the harness.
pub trait Truth: Debug {
    /// Says whether a quote stands where a model says it does.
    fn check(&mut self, citation: &Citation) -> Standing;

    /// Searches all of the tree for a text.
    fn search(&mut self, pattern: &str) -> Search;
}

/// A deliverable that is to be made now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverableCall<'a> {
    /// The step that makes it.
    pub step: &'a str,
    /// What it is.
    pub need: &'a Need,
    /// What the model gave for it, each `key=value`. Never part of a command line.
    pub arguments: &'a [String],
}

/// What came of making a deliverable, as the harness saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The step that made it.
    pub step: String,
    /// What the model gave for it.
    pub arguments: Vec<String>,
    /// Whether it is what the task wants, made in this run.
    pub satisfied: bool,
    /// What was observed, in words.
    pub observed: String,
    /// The call that makes it, as it was seen, where one was made.
    pub seen: Option<deliverable::Fact>,
}

impl Fact {
    /// That nothing was made, and why.
    pub fn not_made(step: &str, arguments: &[String], why: &str) -> Self {
        Self {
            step: step.to_owned(),
            arguments: arguments.to_vec(),
            satisfied: false,
            observed: format!("not made: {why}"),
            seen: None,
        }
    }
}

/// A call of a deliverable that was begun: what was seen then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beginning<'a> {
    /// What there was.
    pub before: &'a Before,
    /// When it was, since 1970.
    pub at: Duration,
}

/// Makes deliverables.
pub trait Delivery: Debug {
    /// Looks at what is there before a deliverable is made.
    ///
    /// # Errors
    /// The fact that it is not made, when it may not be or there is no looking.
    fn before(&mut self, call: &DeliverableCall<'_>) -> Result<Before, Box<Fact>>;

    /// Makes one, and says what came of it. What fails is a fact as well.
    fn deliver(&mut self, call: &DeliverableCall<'_>, begun: Beginning<'_>) -> Fact;

    /// Makes nothing, and says what a call left whose end nobody saw.
    fn inspect(&mut self, call: &DeliverableCall<'_>, begun: Beginning<'_>) -> Fact;
}

/// Makes nothing, since nobody allowed it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Forbidden;

impl Forbidden {
    fn fact(call: &DeliverableCall<'_>) -> Fact {
        Fact::not_made(call.step, call.arguments, "nobody allowed it to run")
    }
}

impl Delivery for Forbidden {
    fn before(&mut self, call: &DeliverableCall<'_>) -> Result<Before, Box<Fact>> {
        Err(Box::new(Self::fact(call)))
    }

    fn deliver(&mut self, call: &DeliverableCall<'_>, _begun: Beginning<'_>) -> Fact {
        Self::fact(call)
    }

    fn inspect(&mut self, call: &DeliverableCall<'_>, _begun: Beginning<'_>) -> Fact {
        Self::fact(call)
    }
}
