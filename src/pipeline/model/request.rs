//! Making requests, and telling whether two are the same.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Message, ModelError, ModelErrorKind, Request, Role};
use crate::record::Hash;

/// How long a call may take when nobody says so.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

impl Request {
    /// One question to a model, as one message, with two minutes of time.
    pub fn ask(
        purpose: impl Into<String>,
        question: impl Into<String>,
        max_output_tokens: u32,
    ) -> Self {
        Self {
            purpose: purpose.into(),
            messages: vec![Message { role: Role::User, content: question.into() }],
            schema: None,
            max_output_tokens,
            timeout: DEFAULT_TIMEOUT,
        }
    }

    /// Returns the blake3 hash, in hexadecimal, of all that can change a reply: messages, schema, and
    /// the bound on the reply. The purpose and the timeout are not in it.
    pub fn hash(&self) -> String {
        let content = json!({
            "messages": self.messages.iter().map(message).collect::<Vec<_>>(),
            "schema": self.schema,
            "max_output_tokens": self.max_output_tokens,
        });
        Hash::of(canonical(&content).as_bytes()).to_string()
    }
}

impl Role {
    /// Its name in every format that we speak.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl ModelError {
    /// A failure after one attempt.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), attempts: 1 }
    }
}

/// A message as JSON.
pub(super) fn message(message: &Message) -> Value {
    json!({ "role": message.role.as_str(), "content": message.content })
}

/// JSON in one form: keys in the order of their bytes, no white space.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            let entries = entries
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
