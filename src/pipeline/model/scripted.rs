//! A model that says what it was told to say, in order. For tests and simulations.

use super::{Capability, Finish, Model, ModelError, ModelErrorKind, Reply, Request};

/// A model with its replies written down beforehand.
///
/// # Examples
/// ```
/// use psos::pipeline::model::{Capability, Model, Request, Scripted};
///
/// let capability = Capability { window_tokens: 512, ..Capability::default() };
/// let mut model = Scripted::of_texts("small", capability, ["yes"]);
/// let request = Request::ask("example", "Is it?", 1);
/// assert_eq!(model.complete(&request).unwrap().text, "yes");
/// assert!(model.complete(&request).is_err());
/// ```
#[derive(Debug)]
pub struct Scripted {
    name: String,
    capability: Capability,
    replies: std::vec::IntoIter<Result<Reply, ModelError>>,
    asked: Vec<Request>,
}

impl Scripted {
    /// A model that gives these replies, one a call.
    pub fn new(
        name: impl Into<String>,
        capability: Capability,
        replies: Vec<Result<Reply, ModelError>>,
    ) -> Self {
        Self { name: name.into(), capability, replies: replies.into_iter(), asked: Vec::new() }
    }

    /// A model that says these texts, one a call, without any count of tokens.
    pub fn of_texts<'a>(
        name: impl Into<String>,
        capability: Capability,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let reply = |text: &str| {
            Ok(Reply { text: text.to_owned(), finish: Finish::Stop, usage: None, attempts: 1 })
        };
        Self::new(name, capability, texts.into_iter().map(reply).collect())
    }

    /// What it was asked, in order.
    pub fn asked(&self) -> &[Request] {
        &self.asked
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        self.asked.push(request.clone());
        self.replies.next().unwrap_or_else(|| {
            let message = format!("the script has no reply number {}", self.asked.len());
            Err(ModelError { kind: ModelErrorKind::Provider, message, attempts: 1 })
        })
    }
}
