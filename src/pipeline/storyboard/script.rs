//! One script a scene: a list of commands, each a program and its arguments.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Scene, Storyboard};
use crate::pipeline::model::{Model, ModelError, ModelErrorKind, Request};

/// Commands that a script has at most.
const MAX_COMMANDS: usize = 12;
/// Bytes that an argument has at most.
const MAX_ARGUMENT_BYTES: usize = 4_096;
/// Tokens that a script has at most.
const MAX_SCRIPT_TOKENS: u32 = 400;

/// The script of a scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The commands, in order.
    pub run: Vec<Vec<String>>,
}

/// What is wrong with a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptFault {
    /// It is not JSON of the right form.
    #[error("the script is not of the form {{\"run\": [[program, argument, …], …]}}: {0}")]
    Form(String),
    /// It does nothing.
    #[error("the script has no command")]
    Empty,
    /// It does too much.
    #[error("the script has {0} commands, at most {MAX_COMMANDS} are allowed")]
    TooLong(usize),
    /// A command has no program.
    #[error("a command of the script is empty")]
    NoProgram,
    /// It calls what the storyboard does not name.
    #[error("the script calls `{program}`; it may call: {allowed}")]
    NotAllowed {
        /// What it calls.
        program: String,
        /// What it may call.
        allowed: String,
    },
    /// An argument that no program can be given.
    #[error("an argument of the script has a zero byte, or more than {MAX_ARGUMENT_BYTES} bytes")]
    Argument,
    /// The model failed.
    #[error("no script: {0}")]
    Model(ModelError),
}

impl ScriptFault {
    /// The failure class of the model's part; `None` when the script itself is at fault.
    pub fn model_kind(&self) -> Option<ModelErrorKind> {
        match self {
            Self::Model(error) => Some(error.kind),
            _ => None,
        }
    }
}

/// What is wrong with some commands.
pub(super) fn faults_of<'a>(
    commands: impl IntoIterator<Item = &'a Vec<String>>,
    programs: &[String],
) -> Vec<ScriptFault> {
    let mut faults = Vec::new();
    let mut n_commands = 0;
    for command in commands {
        n_commands += 1;
        match command.first() {
            None => faults.push(ScriptFault::NoProgram),
            Some(program) if !programs.contains(program) => {
                let (program, allowed) = (program.clone(), programs.join(", "));
                faults.push(ScriptFault::NotAllowed { program, allowed });
            }
            Some(_) => {}
        }
        if command.iter().any(|it| it.contains('\0') || it.len() > MAX_ARGUMENT_BYTES) {
            faults.push(ScriptFault::Argument);
        }
    }
    if n_commands > MAX_COMMANDS {
        faults.push(ScriptFault::TooLong(n_commands));
    }
    faults
}

impl Script {
    /// Reads a model's script: one JSON object, and nothing around it.
    ///
    /// # Errors
    /// The first [`ScriptFault`].
    pub fn parse(text: &str, programs: &[String]) -> Result<Self, ScriptFault> {
        let script: Self =
            serde_json::from_str(text).map_err(|error| ScriptFault::Form(error.to_string()))?;
        if script.run.is_empty() {
            return Err(ScriptFault::Empty);
        }
        match faults_of(&script.run, programs).into_iter().next() {
            Some(fault) => Err(fault),
            None => Ok(script),
        }
    }

    /// The script as lines for a shell, for people to read and repeat.
    pub fn to_shell(&self) -> String {
        let quote = |word: &String| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
            if !word.is_empty() && word.chars().all(is_plain) {
                word.clone()
            } else {
                format!("'{}'", word.replace('\'', "'\\''"))
            }
        };
        let line =
            |command: &Vec<String>| command.iter().map(quote).collect::<Vec<_>>().join(" ") + "\n";
        self.run.iter().map(line).collect()
    }
}

/// What asking for a script cost and brought.
pub(super) struct Written {
    pub(super) script: Result<Script, ScriptFault>,
    pub(super) n_calls: u32,
    pub(super) input_tokens: u32,
}

/// Asks a model for the script of a scene; once more, with what was wrong, when it is none.
pub(super) fn write(board: &Storyboard, scene: &Scene, model: &mut dyn Model) -> Written {
    let mut written = Written { script: Err(ScriptFault::Empty), n_calls: 0, input_tokens: 0 };
    let mut complaint = String::new();
    for _ in 0..2 {
        let prompt = prompt(board, scene) + &complaint;
        written.n_calls += 1;
        let counted = crate::text::count(&prompt);
        let request = Request {
            schema: Some(schema()),
            ..Request::ask(format!("script of `{}`", scene.name), prompt, MAX_SCRIPT_TOKENS)
        };
        let reply = match model.complete(&request) {
            Ok(reply) => reply,
            Err(error) => {
                written.input_tokens += counted;
                written.script = Err(ScriptFault::Model(error));
                return written;
            }
        };
        written.input_tokens += reply.usage.map_or(counted, |usage| usage.input.max(counted));
        written.script = Script::parse(&reply.text, &board.programs);
        match &written.script {
            Ok(_) => return written,
            Err(fault) => complaint = format!("\nYour last reply was refused: {fault}.\n"),
        }
    }
    written
}

fn prompt(board: &Storyboard, scene: &Scene) -> String {
    let setup = Script { run: scene.setup.clone() }.to_shell();
    let setup = if setup.is_empty() { "nothing\n".to_owned() } else { setup };
    format!(
        "Write the commands of one scene of a test. No shell reads them: give each as a program and its \
         arguments.\nPrograms: {}\nFiles: {}\nManual:\n{}\n\nGiven: {}\nDone before you: {setup}Action: {}\n\
         Reply with {{\"run\": [[program, argument, …], …]}} and do only the action.\n",
        board.programs.join(", "),
        board.inputs.join(", "),
        board.manual.trim(),
        scene.given.trim(),
        scene.action.trim(),
    )
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "run": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_COMMANDS,
                "items": { "type": "array", "minItems": 1, "items": { "type": "string" } },
            },
        },
        "required": ["run"],
        "additionalProperties": false,
    })
}
