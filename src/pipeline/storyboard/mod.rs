//! Storyboards: ordered scenes (given, action, expect, evidence) that are tests. Each becomes one script,
//! is executed by the harness in a folder of its own, and is compared deterministically; a model at most
//! writes the script. `schema/storyboard.md` describes the file.
//!
//! - A scene never sees what another left: a fault shows in its own scene and in no other.
//! - Scripts are lists of commands, not lines of a shell, and may call only what the storyboard names.
//! - Inputs are copied, hashed, and hashed again after each scene: one that changed fails its scene.

mod cast;
mod check;
mod perform;
mod script;
mod web;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

pub use cast::Cast;
pub use check::{Problem, check};
pub use perform::{Bench, Evidence, PerformError, Report, SceneReport, Verdict, perform};
pub use script::{Script, ScriptFault};
pub use web::{Page, Step};

/// The version of the file.
const STORYBOARD_VERSION: u32 = 1;

/// A storyboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storyboard {
    schema_version: u32,
    /// What it is about.
    pub name: String,
    /// The files of the tree that its scenes use, from its root.
    pub inputs: Vec<String>,
    /// The programs that scripts may call, by the names under which they are on the path.
    pub programs: Vec<String>,
    /// How the thing under test is used, for a model that writes scripts.
    #[serde(default)]
    pub manual: String,
    /// The scenes, in order.
    #[serde(rename = "scene")]
    pub scenes: Vec<Scene>,
}

/// A scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Its name, once in a storyboard.
    pub name: String,
    /// What holds before.
    pub given: String,
    /// What is done.
    pub action: String,
    /// The commands that bring about what is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Vec<String>>,
    /// The commands of the action; without any, a model writes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<Vec<String>>,
    /// What is done in a browser, instead of commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Page>,
    /// What must hold afterwards.
    pub expect: Expect,
    /// What is kept to show it.
    pub evidence: Vec<EvidenceKind>,
}

/// What must hold after the action. Something has to be said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The exit code of the last command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The whole standard output of all commands, or the text of the page, white space at its end aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_is: Option<String>,
    /// Texts that the outputs, or the page, hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_has: Vec<String>,
    /// Texts that the outputs, or the page, do not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_lacks: Vec<String>,
    /// Files, and a text that each holds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// What is kept of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// A terminal cast of the action.
    Cast,
    /// The outputs or the text of the page, as text.
    Output,
    /// A video of the page.
    Video,
}

/// A file that is no storyboard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoryboardError {
    /// It is not TOML, or has a key that a storyboard has not.
    #[error("the storyboard cannot be read: {0}")]
    Form(String),
    /// It was written for another build.
    #[error("the storyboard has schema_version {found}, this build reads {STORYBOARD_VERSION}")]
    Version {
        /// What it says.
        found: u32,
    },
}

impl StoryboardError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        Fault::Data
    }
}

impl Storyboard {
    /// Reads a storyboard. Whether it can be executed, [`check()`] tells.
    ///
    /// # Errors
    /// [`StoryboardError`], when the text is none.
    pub fn parse(text: &str) -> Result<Self, StoryboardError> {
        let board: Self =
            toml::from_str(text).map_err(|error| StoryboardError::Form(error.to_string()))?;
        if board.schema_version != STORYBOARD_VERSION {
            return Err(StoryboardError::Version { found: board.schema_version });
        }
        Ok(board)
    }
}

impl Expect {
    /// Whether it says anything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
