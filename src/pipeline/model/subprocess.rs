//! A model in another program: one JSON request on its standard input, one JSON answer on its standard
//! output. `schema/model-exchange.md` has the contract.

use std::path::PathBuf;

use super::{Capability, Model, ModelError, ModelErrorKind, Reply, Request, exchange};
use crate::pipeline::process::{self, Command, End, Environment};

/// Bytes that an answer may have.
const MAX_ANSWER_BYTES: usize = 8 << 20;
/// Characters that are shown of what a failed program wrote.
const MAX_SHOWN: usize = 300;

/// A model in another program, which is started for each call.
#[derive(Debug)]
pub struct Subprocess {
    /// The name that reports give it.
    pub name: String,
    /// What it can do.
    pub capability: Capability,
    /// The program and its arguments; no shell reads them.
    pub argv: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// All that it sees of the environment. A key that it needs has to be put in here.
    pub environment: Environment,
}

impl Model for Subprocess {
    fn name(&self) -> &str {
        &self.name
    }

    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        let input = exchange::question(request).to_string() + "\n";
        let command = Command {
            argv: &self.argv,
            folder: &self.folder,
            environment: &self.environment,
            input: input.as_bytes(),
            timeout: request.timeout,
            max_output_bytes: MAX_ANSWER_BYTES,
        };
        let failed = |message: String| Err(ModelError::new(ModelErrorKind::Provider, message));
        let ran = match process::run(&command, &mut |_, _| ()) {
            Ok(ran) => ran,
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|it| format!(": {it}"));
                return failed(format!("{error}{}", cause.unwrap_or_default()));
            }
        };
        let text = ran.out.text();
        match ran.end {
            End::Code(0) if ran.out.n_dropped > 0 => {
                failed(format!("the answer is longer than {MAX_ANSWER_BYTES} bytes"))
            }
            End::Code(0) => match exchange::answer(&text) {
                Ok(outcome) => outcome,
                Err(why) => failed(format!("the program's answer is not what it must be: {why}")),
            },
            // A program that fails may still say why, in the agreed form.
            end => match exchange::answer(&text) {
                Ok(Err(error)) => Err(error),
                _ => failed(format!(
                    "the program failed ({end}); it said: {}",
                    shown(&ran.err.text())
                )),
            },
        }
    }
}

/// The last words of a program, on one line. Its own words may hold anything, so only a little is kept.
fn shown(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = line.join(" ");
    let n_chars = line.chars().count();
    let tail: String = line.chars().skip(n_chars.saturating_sub(MAX_SHOWN)).collect();
    if tail.is_empty() { "nothing".to_owned() } else { tail }
}
