//! What a language model is to the harness: a request in, a reply out. Knows no task and no ledger.

mod card;
mod exchange;
mod fence;
mod http;
mod recorded;
mod request;
mod scripted;
mod secret;
mod subprocess;

pub use card::{Card, CardError, Surroundings};
pub use fence::{Fenced, OpenLoop};
pub use http::{HttpOptions, Retry, connect};
pub use recorded::{CassetteError, Recorded, Recorder};
pub use scripted::Scripted;
pub use secret::Secret;
pub use subprocess::Subprocess;

use std::fmt::Debug;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A language model, wherever it runs.
///
/// One call is one request; nothing is remembered between calls. Retries that the transport needs
/// (rate limits, broken connections) happen inside and are counted in the reply.
pub trait Model: Debug {
    /// The name that ledgers and reports give it.
    fn name(&self) -> &str;

    /// What it can do.
    fn capability(&self) -> &Capability;

    /// Asks it once.
    ///
    /// # Errors
    /// [`ModelError`], whose kind is the failure class that accounting uses.
    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError>;
}

/// What a model can do, as its operator declares it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// Tokens that input and output may have together.
    pub window_tokens: u32,
    /// Whether it can be held to a JSON Schema while it writes.
    pub structured_output: bool,
    /// Whether its provider keeps a prefix between calls.
    pub prompt_cache: bool,
    /// Whether it can call tools by itself.
    pub tools: bool,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What it is for, such as `step 3`; shown to people, never sent.
    pub purpose: String,
    /// The messages, in order. The first is the byte-stable prefix.
    pub messages: Vec<Message>,
    /// The schema that the reply must satisfy; `None` asks for text.
    pub schema: Option<serde_json::Value>,
    /// The most tokens the reply may have.
    pub max_output_tokens: u32,
    /// How long the call may take.
    pub timeout: Duration,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The harness, setting the rules.
    System,
    /// The harness, asking.
    User,
    /// The model, answering.
    Assistant,
}

/// A message of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text, as it came.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// The tokens that the provider counted, where it says so.
    pub usage: Option<Usage>,
    /// How many attempts the transport needed, at least 1.
    pub attempts: u32,
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done.
    Stop,
    /// A limit on length cut it off.
    Length,
    /// The provider refused or filtered it.
    Filtered,
    /// Something else, in the provider's words.
    Other(String),
}

/// Tokens as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Of the input.
    pub input: u32,
    /// Of the input, those that came from the provider's cache.
    pub cached: u32,
    /// Of the output.
    pub output: u32,
}

/// A call that brought nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct ModelError {
    /// What kind of failure it is.
    pub kind: ModelErrorKind,
    /// What happened, without secrets, and what to do.
    pub message: String,
    /// How many attempts were made.
    pub attempts: u32,
}

/// The failure classes of a call.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// No key, a wrong key, or one without the right.
    #[error("credential")]
    Credential,
    /// Too many requests, also after waiting.
    #[error("rate limit")]
    RateLimit,
    /// The input did not fit, or was cut on the way.
    #[error("input integrity")]
    InputIntegrity,
    /// Anything else that the provider or the way to it did.
    #[error("provider")]
    Provider,
}

#[cfg(test)]
mod tests;
