//! The JSON of one exchange: what a model in another program reads and writes, and what a cassette
//! keeps. `schema/model-exchange.md` describes it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::request::message;
use super::{Finish, ModelError, ModelErrorKind, Reply, Request, Usage};

/// The version of the exchange.
pub(super) const EXCHANGE_VERSION: u32 = 1;

/// A request, as it is written to a program.
pub(super) fn question(request: &Request) -> Value {
    let timeout_ms = u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX);
    json!({
        "schema_version": EXCHANGE_VERSION,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
        "schema": request.schema,
        "max_output_tokens": request.max_output_tokens,
        "timeout_ms": timeout_ms,
    })
}

/// What comes back: a reply, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    schema_version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Failed>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Failed {
    kind: ModelErrorKind,
    message: String,
}

impl Answer {
    /// What is written down of a call.
    pub(super) fn of(outcome: &Result<Reply, ModelError>) -> Self {
        let mut answer = Self {
            schema_version: EXCHANGE_VERSION,
            text: None,
            finish: None,
            usage: None,
            error: None,
        };
        match outcome {
            Ok(reply) => {
                answer.text = Some(reply.text.clone());
                answer.finish = Some(finish_word(&reply.finish).to_owned());
                answer.usage = reply.usage;
            }
            Err(error) => {
                answer.error = Some(Failed { kind: error.kind, message: error.message.clone() });
            }
        }
        answer
    }

    /// The call that it tells of. The error says what is wrong with the form.
    pub(super) fn outcome(self) -> Result<Result<Reply, ModelError>, String> {
        if self.schema_version != EXCHANGE_VERSION {
            let found = self.schema_version;
            return Err(format!("schema_version is {found}, this build reads {EXCHANGE_VERSION}"));
        }
        match (self.text, self.error) {
            (Some(text), None) => {
                let finish = finish_of(self.finish.as_deref());
                Ok(Ok(Reply { text, finish, usage: self.usage, attempts: 1 }))
            }
            (None, Some(Failed { kind, message })) => Ok(Err(ModelError::new(kind, message))),
            (Some(_), Some(_)) => Err("it has both `text` and `error`".to_owned()),
            (None, None) => Err("it has neither `text` nor `error`".to_owned()),
        }
    }
}

/// Reads one answer. The error says what is wrong with it, without repeating it.
pub(super) fn answer(text: &str) -> Result<Result<Reply, ModelError>, String> {
    // One value and nothing behind it: two answers are as wrong as none.
    serde_json::from_str::<Answer>(text).map_err(|error| error.to_string())?.outcome()
}

pub(super) fn finish_of(word: Option<&str>) -> Finish {
    match word {
        Some("stop") | None => Finish::Stop,
        Some("length") => Finish::Length,
        Some("filtered" | "content_filter") => Finish::Filtered,
        Some(other) => Finish::Other(other.to_owned()),
    }
}

fn finish_word(finish: &Finish) -> &str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::Filtered => "filtered",
        Finish::Other(word) => word,
    }
}
