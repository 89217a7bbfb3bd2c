//! A model with a narrow window, asked so that its window is never passed, and watched for servers that
//! cut an input without a word.
//!
//! Another tokenizer than the server's counts something else, so nothing is counted with one here. No
//! tokenizer makes more tokens of a text than it has bytes: that bounds a prompt before it is sent. What
//! the server counted is looked at afterwards.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::pipeline::model::{
    Capability, Finish, Model, ModelError, ModelErrorKind, Reply, Request, Usage,
};

/// Tokens of the window that no prompt uses: 16 for the answer, and 53 for what a server puts around a
/// prompt and keeps for itself.
pub const RESERVED_TOKENS: u32 = 69;
/// Tokens that a server may add to a message: roles, marks, a greeting.
const TEMPLATE_TOKENS: u32 = 32;
/// Tokens that an answer may have: `{"answer":"yes"}` in any tokenizer.
const ANSWER_TOKENS: u32 = 16;
/// Bytes of text, white space aside, that a token has at most on the average of a prompt. English prose
/// has four to five.
const MAX_BYTES_PER_TOKEN: usize = 8;
/// A line of which probes are made. It has the same number of tokens each time.
const PROBE_LINE: &str = "let total = first + second;\n";
/// Lines of the two short probes.
const SHORT: [u32; 2] = [2, 4];

/// A model that is asked in small pieces.
#[derive(Debug)]
pub struct Narrow<'m> {
    model: &'m mut dyn Model,
    asked: Vec<Asked>,
    probe: Option<Result<Probe, NarrowError>>,
}

/// One call, as it was bounded before and counted after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What it was for.
    pub purpose: String,
    /// The tokens that it could have at most.
    pub bound_tokens: u32,
    /// The tokens that the server counted, if it says so.
    pub usage: Option<Usage>,
    /// What was wrong with it; the answer of a marked call counts for nothing.
    pub mark: Option<Mark>,
}

/// What is wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The server counted fewer tokens than the prompt can have: it cut the input without a word.
    SilentOverflow {
        /// The tokens that it has at least.
        at_least: u32,
        /// The tokens that were counted.
        counted: u32,
    },
    /// The server counted more tokens than the prompt can have: it is not the prompt that we sent.
    OverBound {
        /// The tokens that it has at most.
        at_most: u32,
        /// The tokens that were counted.
        counted: u32,
    },
    /// The answer was cut off.
    Length,
    /// The answer is neither yes nor no.
    NotClosed,
    /// The call failed.
    Failed,
}

/// What is known of a model's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// An input of so many tokens arrived whole.
    Holds {
        /// As the server counted.
        tokens: u32,
    },
    /// The server does not count, so nothing can be known. The bound in bytes holds nonetheless.
    NoCounts,
}

/// Why a model did not answer a question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NarrowError {
    /// The window is too small for any question.
    #[error("a window of {window_tokens} tokens is too small for a question")]
    NoRoom {
        /// As declared.
        window_tokens: u32,
    },
    /// The question does not fit, even about an empty line.
    #[error("the question does not fit into {max_bytes} bytes")]
    QuestionTooLong {
        /// The bytes that a prompt may have.
        max_bytes: usize,
    },
    /// The number of calls was reached.
    #[error("the number of calls was reached")]
    NoCallsLeft,
    /// The server drops part of an input that is within the declared window, and says nothing.
    #[error(
        "the model's server cuts inputs without a word: it counted {counted} tokens of at least {expected}; \
         declare a smaller window"
    )]
    SilentOverflow {
        /// The tokens that the input has, by what the server counted of shorter ones.
        expected: u32,
        /// The tokens that were counted.
        counted: u32,
    },
    /// The answer counts for nothing.
    #[error("the call was marked: {0:?}")]
    Marked(Mark),
    /// The model failed.
    #[error(transparent)]
    Model(ModelError),
}

impl<'m> Narrow<'m> {
    /// A model to be asked in pieces that fit its declared window.
    pub fn new(model: &'m mut dyn Model) -> Self {
        Self { model, asked: Vec::new(), probe: None }
    }

    /// The calls that were made, in order.
    pub fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// What the model can do, as declared.
    pub fn capability(&self) -> &Capability {
        self.model.capability()
    }

    /// The most tokens that an input may have.
    pub fn max_input_tokens(&self) -> u32 {
        self.model.capability().window_tokens.saturating_sub(RESERVED_TOKENS)
    }

    /// The most bytes that a prompt may have.
    pub fn max_prompt_bytes(&self) -> usize {
        self.max_input_tokens().saturating_sub(TEMPLATE_TOKENS) as usize
    }

    /// Whether the window was measured, with whatever outcome.
    pub fn is_probed(&self) -> bool {
        self.probe.is_some()
    }

    /// Measures with three calls whether an input as long as any that will be sent arrives whole: two
    /// short ones say how many tokens a line has, a long one must then have so many times as many.
    ///
    /// # Errors
    /// [`NarrowError::SilentOverflow`] when it has fewer; [`NarrowError::Model`] when the server refuses
    /// it, which is the honest way to have a smaller window than declared.
    pub fn probe(&mut self) -> Result<Probe, NarrowError> {
        if let Some(probe) = &self.probe {
            return probe.clone();
        }
        let probe = self.measure();
        self.probe = Some(probe.clone());
        probe
    }

    /// Asks what yes or no answers.
    ///
    /// # Errors
    /// [`NarrowError`], when there is no answer that counts.
    pub fn ask(&mut self, purpose: &str, prompt: &str) -> Result<bool, NarrowError> {
        if prompt.len() > self.max_prompt_bytes() {
            return Err(NarrowError::QuestionTooLong { max_bytes: self.max_prompt_bytes() });
        }
        if let Some(Err(error)) = &self.probe {
            return Err(error.clone());
        }
        let mut request = Request::ask(purpose, prompt, ANSWER_TOKENS);
        if self.model.capability().structured_output {
            request.schema = Some(json!({
                "type": "object",
                "properties": { "answer": { "type": "string", "enum": ["yes", "no"] } },
                "required": ["answer"],
                "additionalProperties": false,
            }));
        }
        let reply = self.call(&request)?;
        match verdict(&reply.text) {
            Some(is_yes) => Ok(is_yes),
            None => Err(self.mark(if reply.finish == Finish::Length {
                Mark::Length
            } else {
                Mark::NotClosed
            })),
        }
    }

    fn measure(&mut self) -> Result<Probe, NarrowError> {
        let [few, more] = SHORT;
        let max_tokens = self.max_input_tokens();
        let room = u32::try_from(probe(more).len()).unwrap_or(u32::MAX) + TEMPLATE_TOKENS;
        if room > max_tokens {
            let window_tokens = self.model.capability().window_tokens;
            return Err(NarrowError::NoRoom { window_tokens });
        }
        let (Some(first), Some(second)) = (self.count(few, room)?, self.count(more, room)?) else {
            return Ok(Probe::NoCounts);
        };
        // A line has more than one token, whatever the tokenizer.
        let per_lines = second.saturating_sub(first);
        if per_lines < more - few {
            return Err(NarrowError::SilentOverflow {
                expected: first + more - few,
                counted: second,
            });
        }
        let n_steps = max_tokens.saturating_sub(second) / per_lines;
        let expected = second + n_steps * per_lines;
        let Some(counted) = self.count(more + n_steps * (more - few), max_tokens)? else {
            return Ok(Probe::NoCounts);
        };
        // Less than a line is a matter of the borders between lines.
        if counted.saturating_add(per_lines / (more - few)) < expected {
            if let Some(last) = self.asked.last_mut() {
                last.mark = Some(Mark::SilentOverflow { at_least: expected, counted });
            }
            return Err(NarrowError::SilentOverflow { expected, counted });
        }
        Ok(Probe::Holds { tokens: counted })
    }

    /// Sends so many lines; what the server counts of them.
    fn count(&mut self, n_lines: u32, bound_tokens: u32) -> Result<Option<u32>, NarrowError> {
        let request = Request::ask(format!("probe of {n_lines} lines"), probe(n_lines), 1);
        let reply = self.send(&request, bound_tokens)?;
        Ok(reply.usage.map(|usage| usage.input))
    }

    /// One call whose answer counts only if its input arrived whole.
    fn call(&mut self, request: &Request) -> Result<Reply, NarrowError> {
        let at_most = bound(request);
        let reply = self.send(request, at_most)?;
        let text: &str = request.messages.first().map_or("", |message| &message.content);
        let dense = text.bytes().filter(|b| !b.is_ascii_whitespace()).count();
        let at_least = to_u32(dense / MAX_BYTES_PER_TOKEN);
        match reply.usage.map(|usage| usage.input) {
            Some(counted) if counted < at_least => {
                Err(self.mark(Mark::SilentOverflow { at_least, counted }))
            }
            Some(counted) if counted > at_most => {
                Err(self.mark(Mark::OverBound { at_most, counted }))
            }
            _ => Ok(reply),
        }
    }

    fn send(&mut self, request: &Request, bound_tokens: u32) -> Result<Reply, NarrowError> {
        let outcome = self.model.complete(request);
        self.asked.push(Asked {
            purpose: request.purpose.clone(),
            bound_tokens,
            usage: outcome.as_ref().ok().and_then(|reply| reply.usage),
            mark: outcome.is_err().then_some(Mark::Failed),
        });
        outcome.map_err(NarrowError::Model)
    }

    fn mark(&mut self, mark: Mark) -> NarrowError {
        if let Some(last) = self.asked.last_mut() {
            last.mark = Some(mark);
        }
        NarrowError::Marked(mark)
    }
}

impl NarrowError {
    /// The failure class that accounting uses.
    pub fn kind(&self) -> ModelErrorKind {
        match self {
            Self::Model(error) => error.kind,
            Self::Marked(Mark::NotClosed | Mark::Failed) => ModelErrorKind::Provider,
            _ => ModelErrorKind::InputIntegrity,
        }
    }
}

/// A text of so many equal lines.
fn probe(n_lines: u32) -> String {
    PROBE_LINE.repeat(n_lines as usize)
}

/// The most tokens that an input can have.
fn bound(request: &Request) -> u32 {
    let n_bytes: usize = request.messages.iter().map(|message| message.content.len()).sum();
    to_u32(n_bytes).saturating_add(TEMPLATE_TOKENS)
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Reads yes or no: an object with an `answer`, or a word, with whatever punctuation. Anything beside it
/// makes it neither.
fn verdict(text: &str) -> Option<bool> {
    let text = text.trim();
    let value: Option<Value> = serde_json::from_str(text).ok();
    let word = match &value {
        Some(Value::Object(object)) if object.len() == 1 => object.get("answer")?.as_str()?,
        Some(Value::String(word)) => word,
        Some(_) => return None,
        None => text,
    };
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    match word.as_str() {
        "yes" | "y" => Some(true),
        "no" | "n" => Some(false),
        _ => None,
    }
}
