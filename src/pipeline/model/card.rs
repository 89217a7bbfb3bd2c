//! A model's card: what it can do and how it is reached, as its operator wrote it down.
//! `schema/model.md` describes the file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::{
    Capability, HttpOptions, Model, ModelError, ModelErrorKind, Recorded, Retry, Scripted, Secret,
    Subprocess, connect, exchange,
};
use crate::clock::{Clock, Sleeper};
use crate::fault::Fault;
use crate::pipeline::process::Environment;

/// The version of the card.
const CARD_VERSION: u32 = 1;
/// Bytes that a reply may have on the wire when the card does not say.
const MAX_REPLY_BYTES: u64 = 8 << 20;

/// A model's card.
///
/// # Examples
/// ```
/// use psos::pipeline::model::Card;
///
/// let card = Card::parse(
///     r#"
///     schema_version = 1
///     name = "small"
///     [capability]
///     window_tokens = 512
///     structured_output = true
///     prompt_cache = false
///     tools = false
///     [http]
///     base_url = "http://127.0.0.1:8089/v1"
///     model = "small-q4"
///     "#,
/// )?;
/// assert_eq!(card.capability.window_tokens, 512);
/// # Ok::<(), psos::pipeline::model::CardError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    schema_version: u32,
    /// The name that ledgers and reports give the model.
    pub name: String,
    /// What it can do.
    pub capability: Capability,
    http: Option<HttpPart>,
    subprocess: Option<SubprocessPart>,
    recorded: Option<FilePart>,
    scripted: Option<FilePart>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpPart {
    base_url: String,
    model: String,
    key_env: Option<String>,
    max_attempts: Option<u32>,
    first_pause_ms: Option<u64>,
    max_pause_ms: Option<u64>,
    max_reply_bytes: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SubprocessPart {
    argv: Vec<String>,
    #[serde(default)]
    pass_env: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePart {
    file: PathBuf,
}

/// What a card cannot say itself, handed in by the binary.
pub struct Surroundings<'a> {
    /// Where relative paths of the card begin, and where its program runs.
    pub folder: &'a Path,
    /// What a program sees of the environment, besides the variables that the card passes on.
    pub environment: &'a Environment,
    /// Reads one variable of the environment. It is asked only for those that the card names.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// What time it is.
    pub clock: Box<dyn Clock>,
    /// How to wait.
    pub sleeper: Box<dyn Sleeper>,
}

/// A card that says nothing usable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CardError {
    /// It is not TOML, or has a key that a card has not.
    #[error("the model's card cannot be read: {0}")]
    Form(String),
    /// It was written for another build.
    #[error("the model's card has schema_version {found}, this build reads {CARD_VERSION}")]
    Version {
        /// What it says.
        found: u32,
    },
    /// It does not say how the model is reached, or says it twice.
    #[error(
        "the model's card has {found} of the tables http, subprocess, recorded, scripted; it needs one"
    )]
    Ways {
        /// How many ways it has.
        found: usize,
    },
    /// A number that cannot be meant.
    #[error("the model's card says `{key} = {value}`; it must be at least {least}")]
    TooSmall {
        /// The key.
        key: &'static str,
        /// What it says.
        value: u64,
        /// The least that is allowed.
        least: u64,
    },
    /// A file that the card names cannot be used.
    #[error("the file `{path}` of the model's card: {why}")]
    File {
        /// As the card names it.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The key is missing, or the address cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl CardError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Model(error) if error.kind == ModelErrorKind::Credential => Fault::Environment,
            _ => Fault::Data,
        }
    }
}

impl Card {
    /// Reads a card.
    ///
    /// # Errors
    /// All of [`CardError`] that need no file and no environment.
    pub fn parse(text: &str) -> Result<Self, CardError> {
        let card: Self =
            toml::from_str(text).map_err(|error| CardError::Form(error.to_string()))?;
        if card.schema_version != CARD_VERSION {
            return Err(CardError::Version { found: card.schema_version });
        }
        let found = usize::from(card.http.is_some())
            + usize::from(card.subprocess.is_some())
            + usize::from(card.recorded.is_some())
            + usize::from(card.scripted.is_some());
        if found != 1 {
            return Err(CardError::Ways { found });
        }
        let least = |key, value: Option<u64>, least: u64| match value {
            Some(value) if value < least => Err(CardError::TooSmall { key, value, least }),
            _ => Ok(()),
        };
        least("window_tokens", Some(card.capability.window_tokens.into()), 64)?;
        if let Some(http) = &card.http {
            least("max_attempts", http.max_attempts.map(u64::from), 1)?;
            least("max_reply_bytes", http.max_reply_bytes, 1024)?;
        }
        if let Some(subprocess) = &card.subprocess {
            least("argv", Some(subprocess.argv.len() as u64), 1)?;
        }
        Ok(card)
    }

    /// Makes the model that the card describes. Nothing is asked of it yet.
    ///
    /// # Errors
    /// [`CardError::Model`] with [`ModelErrorKind::Credential`] when the key is not in the
    /// environment; [`CardError::File`] when a recording or script cannot be read.
    pub fn open(self, around: Surroundings<'_>) -> Result<Box<dyn Model>, CardError> {
        let Self { name, capability, .. } = self;
        if let Some(http) = self.http {
            let key = http.key_env.as_deref().map(|variable| key(variable, around.variable));
            let standard = Retry::default();
            let millis = |value: Option<u64>, or| value.map_or(or, Duration::from_millis);
            let options = HttpOptions {
                name,
                base_url: http.base_url,
                model: http.model,
                key: key.transpose()?,
                capability,
                retry: Retry {
                    max_attempts: http.max_attempts.unwrap_or(standard.max_attempts),
                    first_pause: millis(http.first_pause_ms, standard.first_pause),
                    max_pause: millis(http.max_pause_ms, standard.max_pause),
                },
                max_reply_bytes: http.max_reply_bytes.unwrap_or(MAX_REPLY_BYTES),
            };
            return Ok(connect(options, around.clock, around.sleeper)?);
        }
        if let Some(SubprocessPart { argv, pass_env }) = self.subprocess {
            let mut environment = around.environment.clone();
            for variable in pass_env {
                if let Some(value) = (around.variable)(&variable) {
                    environment.insert(variable, value);
                }
            }
            let folder = around.folder.to_owned();
            return Ok(Box::new(Subprocess { name, capability, argv, folder, environment }));
        }
        if let Some(FilePart { file }) = self.recorded {
            let text = read(around.folder, &file)?;
            let recorded = Recorded::parse(name, capability, &text)
                .map_err(|error| CardError::File { path: file, why: error.to_string() })?;
            return Ok(Box::new(recorded));
        }
        let Some(FilePart { file }) = self.scripted else {
            return Err(CardError::Ways { found: 0 });
        };
        let text = read(around.folder, &file)?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let replies = lines.map(|(line_idx, line)| {
            exchange::answer(line).map_err(|why| CardError::File {
                path: file.clone(),
                why: format!("line {}: {why}", line_idx + 1),
            })
        });
        Ok(Box::new(Scripted::new(name, capability, replies.collect::<Result<_, _>>()?)))
    }
}

fn key(variable: &str, read: &dyn Fn(&str) -> Option<String>) -> Result<Secret, ModelError> {
    read(variable).as_deref().and_then(Secret::new).ok_or_else(|| {
        let message =
            format!("the environment has no `{variable}`, where the model's key should be");
        ModelError::new(ModelErrorKind::Credential, message)
    })
}

fn read(folder: &Path, file: &Path) -> Result<String, CardError> {
    fs::read_to_string(folder.join(file))
        .map_err(|error| CardError::File { path: file.to_owned(), why: error.to_string() })
}
