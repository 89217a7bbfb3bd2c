//! Was it delivered? What a role must produce, the facts that the harness observed about the call that
//! produces it, and the comparison of both with what was claimed. Words of a model decide nothing here.
//!
//! - [`Need`] is what must be produced; [`look`] sees what is there before the call, [`perform()`] makes it and
//!   observes, and [`judge`] decides.
//! - A fact is only taken by the harness: it looks before the call, runs it, and looks again. When it was ended in
//!   between, [`inspect`] sees what the call left.
//! - What was there before, what is empty, what is not there, and what a dry run left is no deliverable,
//!   whether somebody claims it or not.

mod artefact;
mod claim;
mod perform;
mod recording;
mod runner;
mod ticket;
mod xml;

use serde::{Deserialize, Serialize};

pub use artefact::{Artefact, Made};
pub(crate) use claim::listed;
pub use claim::{About, Claim, Judgement, Lack, Mismatch, Said, judge, mismatches};
pub use perform::{Before, Content, DeliverableError, Fact, Place, inspect, look, perform};
pub use recording::{Recording, RecordingFault, recording};
pub use runner::{Counts, Runner, RunnerFault};
pub use ticket::{Ticket, TicketFault, TicketFormat, tickets};

/// What a role must produce, and the call that produces it. A task says so, never a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Need {
    /// The name by which plans, facts and claims refer to it.
    pub name: String,
    /// The call: a program and its arguments, run in the tree without a shell.
    pub call: Vec<String>,
    /// What it must leave.
    pub kind: Kind,
    /// Whether the call may be made again when psos was ended during it.
    #[serde(default)]
    pub repeat: Repeat,
}

/// Whether a call may be made a second time in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// It may not: a second ticket would be filed. A call whose end nobody saw is looked at, and not made again.
    #[default]
    Never,
    /// Making it twice leaves what making it once leaves. A call whose end nobody saw is made again.
    WhenInterrupted,
}

/// What a call must leave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Kind {
    /// Tests that ran, counted by what their runner wrote.
    TestRun {
        /// Whose words are read.
        runner: Runner,
        /// The file to which the runner writes; without one, its output is read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<String>,
    },
    /// A video or a terminal cast.
    Recording {
        /// Where, from the root of the tree.
        file: String,
    },
    /// A ticket in a tracker that is a file.
    Ticket {
        /// Where, from the root of the tree.
        tracker: String,
        /// How it is written.
        format: TicketFormat,
        /// The ticket that must be triaged; without one, a new or changed one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// What it must have, and not as a placeholder.
        fields: Vec<String>,
    },
}

impl Need {
    /// The file whose change is the proof, if there is one.
    pub fn file(&self) -> Option<&str> {
        match &self.kind {
            Kind::TestRun { report, .. } => report.as_deref(),
            Kind::Recording { file } => Some(file),
            Kind::Ticket { tracker, .. } => Some(tracker),
        }
    }

    /// The argument by which the call only pretends, if it has one.
    pub fn dry_run_argument(&self) -> Option<&str> {
        const DRY: [&str; 8] = [
            "--dry-run",
            "--dryrun",
            "--no-run",
            "--collect-only",
            "--co",
            "--list",
            "--listTests",
            "--just-print",
        ];
        let is_dry = |argument: &&String| DRY.contains(&argument.as_str());
        self.call.iter().skip(1).find(is_dry).map(String::as_str)
    }
}

#[cfg(test)]
mod tests;
