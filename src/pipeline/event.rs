//! What can happen in a run: the entries of its journal, typed.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ledger::Entry;
use crate::pipeline::class::{Class, Verdict};
use crate::pipeline::deliverable::Before;
use crate::pipeline::input::{InputError, Mode, Omission, Sent};
use crate::pipeline::model::{Capability, Model, ModelError, Reply};
use crate::pipeline::schema::Shape;
use crate::pipeline::source::{Depth, Piece};
use crate::pipeline::task::Task;
use crate::pipeline::truth::{Citation, Fact, Search, Standing};

/// What a call is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Purpose {
    /// Which records to look into.
    Orient,
    /// Which steps to take.
    Plan,
    /// A plan that holds, after one that did not.
    Repair,
    /// A step of the plan, by its id.
    Step(String),
    /// What to think of the findings.
    Review,
    /// The answer.
    Synthesis,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Orient => f.write_str("orient"),
            Self::Plan => f.write_str("plan"),
            Self::Repair => f.write_str("repair"),
            Self::Step(id) => write!(f, "step {id}"),
            Self::Review => f.write_str("review"),
            Self::Synthesis => f.write_str("synthesis"),
        }
    }
}

impl From<Purpose> for String {
    fn from(purpose: Purpose) -> Self {
        purpose.to_string()
    }
}

impl TryFrom<String> for Purpose {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Ok(match text.as_str() {
            "orient" => Self::Orient,
            "plan" => Self::Plan,
            "repair" => Self::Repair,
            "review" => Self::Review,
            "synthesis" => Self::Synthesis,
            other => match other.strip_prefix("step ") {
                Some(id) => Self::Step(id.to_owned()),
                None => return Err(format!("{other:?} is no purpose of a call")),
            },
        })
    }
}

/// A model as a journal knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFact {
    /// Its name.
    pub name: String,
    /// What it can do.
    pub capability: Capability,
}

impl ModelFact {
    /// What a journal keeps of a model.
    pub fn of(model: &dyn Model) -> Self {
        Self { name: model.name().to_owned(), capability: model.capability().clone() }
    }
}

/// How a run carries what it knows from one call to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// A digest of what is established; what was sent is not sent again.
    Digest,
    /// The whole transcript, again and again: what the digest is measured against.
    Transcript,
}

/// How a run is to behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// What is done with an input that is too long.
    pub mode: Mode,
    /// What is carried from call to call.
    pub cache: Cache,
}

impl Default for Settings {
    fn default() -> Self {
        Self { mode: Mode::Reduce, cache: Cache::Digest }
    }
}

/// The most that a run can cost, known before its first call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Calls.
    pub calls: u32,
    /// Input tokens.
    pub input_tokens: u32,
}

/// A citation and what the tree says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// What was cited.
    pub citation: Citation,
    /// What stands there.
    pub standing: Standing,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "snake_case")]
pub enum Event {
    /// A run began.
    Started {
        /// The task, whole.
        task: Task,
        /// The model.
        model: ModelFact,
        /// How the run is to behave.
        settings: Settings,
        /// The most that it can cost.
        bound: Bound,
    },
    /// Somebody continues the run from its journal.
    Resumed {
        /// The model from here on.
        model: ModelFact,
        /// What whoever handed it over wanted to say.
        note: String,
    },
    /// The harness searched the whole tree.
    Surveyed(Search),
    /// The harness got pieces of records.
    Retrieved {
        /// Which tier.
        depth: Depth,
        /// For which call.
        purpose: Purpose,
        /// What was selected, by a cheaper tier, in its order.
        selected: Vec<String>,
        /// What there was.
        pieces: Vec<Piece>,
    },
    /// A model is about to be asked.
    Asked {
        /// What for.
        purpose: Purpose,
        /// The hash of all messages.
        request: String,
        /// The hash of the prefix.
        prefix: String,
        /// The input, counted.
        counted: u32,
        /// What is in it.
        sent: Vec<Sent>,
        /// What is not.
        omitted: Vec<Omission>,
        /// The code at its end.
        tail: String,
    },
    /// A model replied.
    Answered {
        /// What for.
        purpose: Purpose,
        /// The reply.
        reply: Reply,
    },
    /// A call brought nothing.
    Failed {
        /// What for.
        purpose: Purpose,
        /// Why.
        error: ModelError,
    },
    /// There is no input that could be sent.
    Unsendable {
        /// What for.
        purpose: Purpose,
        /// Why.
        error: InputError,
    },
    /// The guard looked at the plan.
    Guarded {
        /// What is wrong with it.
        faults: Vec<String>,
    },
    /// The harness checked what a step found.
    Checked {
        /// The step.
        step: String,
        /// Its citations, in order.
        citations: Vec<Checked>,
        /// Its searches for what should not be there, in order.
        searches: Vec<Search>,
    },
    /// The call that makes the deliverable is about to be made. Whoever reads this and no `Delivered` behind it
    /// knows that the call may have been made.
    Delivering {
        /// The step that makes it.
        step: String,
        /// What the model gave for it.
        arguments: Vec<String>,
        /// What there was before it.
        before: Before,
    },
    /// A deliverable was made, or not.
    Delivered(Fact),
    /// No further step is taken.
    Stopped {
        /// The call that was not made, if it was one.
        purpose: Option<Purpose>,
        /// Why.
        class: Class,
        /// Which limit or rule, in words.
        why: String,
    },
    /// The run ended.
    Ended {
        /// How.
        verdict: Verdict,
    },
}

impl Event {
    /// The kind and the body, as an entry keeps them.
    pub fn to_parts(&self) -> (String, Value) {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        let body = value.get_mut("body").map(Value::take).unwrap_or_default();
        let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
        (kind.to_owned(), body)
    }

    /// The event of an entry; `None` when its kind is of a newer build or its body is damaged.
    pub fn of(entry: &Entry) -> Option<Self> {
        let value = serde_json::json!({"kind": entry.kind, "body": entry.body});
        serde_json::from_value(value).ok()
    }
}

impl Purpose {
    /// What the reply must look like. `delivers` says whether a step makes the deliverable.
    pub const fn shape(&self, delivers: Delivers) -> Shape {
        match (self, delivers) {
            (Self::Orient, _) => Shape::Orient,
            (Self::Plan | Self::Repair, _) => Shape::Plan,
            (Self::Step(_), Delivers::No) => Shape::Step,
            (Self::Step(_), Delivers::Yes) => Shape::Deliver,
            (Self::Review, _) => Shape::Review,
            (Self::Synthesis, _) => Shape::Synthesis,
        }
    }
}

/// Whether a step makes what the task must produce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivers {
    /// It does.
    Yes,
    /// It finds something out.
    No,
}
