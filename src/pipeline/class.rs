//! Why things fail, in the classes that accounting counts.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::pipeline::model::ModelErrorKind;

/// A failure class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// No key, a wrong key, or one without the right.
    Credential,
    /// Too many requests, also after waiting.
    RateLimit,
    /// A rule of the harness refused: the plan, a resource that another run holds, `--strict`.
    GateRefusal,
    /// Anything else that a provider or the way to it did.
    Provider,
    /// An input did not fit, or did not arrive whole.
    InputIntegrity,
    /// A reply was not what its schema says, also when asked again.
    Schema,
    /// A step brought nothing that the harness could verify.
    Ungrounded,
    /// Calls went by without progress.
    Stall,
    /// A limit on calls, tokens or time.
    Ceiling,
    /// What the task must produce was not produced in this run.
    DeliverableMissing,
    /// The process ended in the middle.
    Crash,
}

impl Class {
    /// All classes, in their order.
    pub const ALL: [Self; 11] = [
        Self::Credential,
        Self::RateLimit,
        Self::GateRefusal,
        Self::Provider,
        Self::InputIntegrity,
        Self::Schema,
        Self::Ungrounded,
        Self::Stall,
        Self::Ceiling,
        Self::DeliverableMissing,
        Self::Crash,
    ];

    /// The name, as ledgers and reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Credential => "credential",
            Self::RateLimit => "rate_limit",
            Self::GateRefusal => "gate_refusal",
            Self::Provider => "provider",
            Self::InputIntegrity => "input_integrity",
            Self::Schema => "schema",
            Self::Ungrounded => "ungrounded",
            Self::Stall => "stall",
            Self::Ceiling => "ceiling",
            Self::DeliverableMissing => "deliverable_missing",
            Self::Crash => "crash",
        }
    }

    /// Whether the machine or the provider failed, and not the work: what adjusted completion leaves out.
    pub const fn is_infrastructure(self) -> bool {
        matches!(self, Self::Credential | Self::RateLimit | Self::Provider | Self::Crash)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<ModelErrorKind> for Class {
    fn from(kind: ModelErrorKind) -> Self {
        match kind {
            ModelErrorKind::Credential => Self::Credential,
            ModelErrorKind::RateLimit => Self::RateLimit,
            ModelErrorKind::InputIntegrity => Self::InputIntegrity,
            ModelErrorKind::Provider => Self::Provider,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every step has a verified finding, and what had to be produced was produced.
    Answered,
    /// Something was established, not everything that was asked.
    Partial,
    /// A rule of the harness or the model itself refused.
    Refused,
    /// No call brought anything.
    InfraFailed,
}

impl Verdict {
    /// The name, as ledgers and reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Partial => "partial",
            Self::Refused => "refused",
            Self::InfraFailed => "infra_failed",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
