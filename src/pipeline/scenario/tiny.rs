//! A simulated model with a tiny window. It reads nothing but its prompt, and knows no more than a small
//! model does of a line of code.

use crate::pipeline::model::{
    Capability, Finish, Model, ModelError, ModelErrorKind, Reply, Request, Usage,
};
use crate::text;

/// Tokens that the simulated server puts around an input.
const AROUND_TOKENS: u32 = 8;

/// What a simulated server does with an input that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOverflow {
    /// It refuses it.
    Refuse,
    /// It drops the start, and says nothing.
    CutSilently,
}

/// A simulated model that answers whether the line marked `>` calls a function.
#[derive(Debug, Clone)]
pub struct Tiny {
    capability: Capability,
    window_tokens: u32,
    on_overflow: OnOverflow,
}

impl Tiny {
    /// A model that is declared to have one window, and has another.
    pub fn new(declared_tokens: u32, window_tokens: u32, on_overflow: OnOverflow) -> Self {
        let capability = Capability {
            window_tokens: declared_tokens,
            structured_output: true,
            ..Capability::default()
        };
        Self { capability, window_tokens, on_overflow }
    }
}

impl Model for Tiny {
    fn name(&self) -> &'static str {
        "tiny"
    }

    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        let mut input: String =
            request.messages.iter().map(|message| message.content.as_str()).collect();
        let mut n_tokens = text::count(&input) + AROUND_TOKENS;
        let room = self.window_tokens.saturating_sub(request.max_output_tokens);
        if n_tokens > room {
            if self.on_overflow == OnOverflow::Refuse {
                let message = format!("the input has {n_tokens} tokens, there is room for {room}");
                return Err(ModelError::new(ModelErrorKind::InputIntegrity, message));
            }
            while text::count(&input) + AROUND_TOKENS > room {
                let rest = input.split_once(' ').map(|(_, rest)| rest.to_owned());
                input = rest.unwrap_or_default();
            }
            n_tokens = room;
        }
        let answer = if calls(&input) { "yes" } else { "no" };
        let text = match request.schema {
            Some(_) => format!("{{\"answer\":\"{answer}\"}}"),
            None => answer.to_owned(),
        };
        let output = text::count(&text).min(request.max_output_tokens);
        let usage = Some(Usage { input: n_tokens, cached: 0, output });
        Ok(Reply { text, finish: Finish::Stop, usage, attempts: 1 })
    }
}

/// What a small model makes of a prompt: the name in quotation marks, the marked line, and whether a
/// bracket follows the name where no comment, string or definition is.
fn calls(prompt: &str) -> bool {
    let Some(name) = prompt.split('`').nth(1) else { return false };
    let line = prompt.lines().find_map(|line| line.strip_prefix("> ")).unwrap_or_default();
    let code = line.split("--").next().unwrap_or_default();
    let is_open = |at: usize| {
        let (before, after) = (code.get(..at), code.get(at + name.len()..));
        let before = before.unwrap_or_default().trim_end();
        let in_string = before.matches('"').count() % 2 == 1;
        let is_defined = before.ends_with("function") || before.ends_with("def");
        after.unwrap_or_default().trim_start().starts_with('(') && !in_string && !is_defined
    };
    code.match_indices(name).any(|(at, _)| is_open(at))
}
