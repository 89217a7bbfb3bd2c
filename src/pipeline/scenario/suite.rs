//! A suite of scenarios: a file that names them, and what came of them together.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Callsites, Outcome, Source};
use crate::fault::Fault;
use crate::pipeline::RunError;
use crate::pipeline::process::Environment;

/// What a suite file of scenarios says. `schema/suite.md` describes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioSuite {
    /// The version of the format, [`ScenarioSuite::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The name under which it is reported.
    pub name: String,
    /// The scenarios, in the order in which they run.
    #[serde(rename = "scenario")]
    pub scenarios: Vec<Named>,
}

/// A scenario of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Its name, one of [`NAMES`].
    pub name: String,
}

/// The scenarios that there are.
pub const NAMES: [&str; 10] = [
    "looping-open",
    "looping-pipeline",
    "abort",
    "storyboard",
    "replay",
    "atomic",
    "callsites",
    "claims",
    "citations",
    "prefix",
];

/// What a scenario may use of the machine.
#[derive(Debug)]
pub struct Workshop<'a> {
    /// An empty folder of ours, for its files.
    pub folder: &'a Path,
    /// All that a program which it runs sees of the environment.
    pub environment: &'a Environment,
    /// What the scenario of a real model needs; without it, that one is skipped with a note.
    pub callsites: Option<Callsites<'a>>,
}

/// Why a suite was not measured.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The file does not say what it should.
    #[error("{0}")]
    File(String),
    /// There is no such scenario.
    #[error("there is no scenario {name:?}: there are {}", NAMES.join(", "))]
    Unknown {
        /// The name.
        name: String,
    },
    /// A scenario could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The folder cannot be used.
    #[error("cannot use the folder of the scenario")]
    Io(#[from] std::io::Error),
}

impl SuiteError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::File(_) | Self::Unknown { .. } => Fault::Data,
            Self::Run(error) => error.fault(),
            Self::Io(_) => Fault::Environment,
        }
    }
}

impl ScenarioSuite {
    /// The format that this build reads.
    pub const SCHEMA_VERSION: u32 = 1;

    /// Whether a suite file is one of scenarios: it has `[[scenario]]`.
    pub fn is_one(text: &str) -> bool {
        let table = text.trim_start_matches('\u{feff}').parse::<toml::Table>();
        table.is_ok_and(|table| table.contains_key("scenario"))
    }

    /// Reads a suite file.
    ///
    /// # Errors
    /// [`SuiteError::File`], [`SuiteError::Unknown`].
    pub fn parse(text: &str) -> Result<Self, SuiteError> {
        let suite: Self = toml::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| SuiteError::File(error.to_string()))?;
        if suite.schema_version != Self::SCHEMA_VERSION {
            return Err(SuiteError::File(format!(
                "schema_version is {}, and this build reads {}",
                suite.schema_version,
                Self::SCHEMA_VERSION
            )));
        }
        match suite.scenarios.iter().find(|scenario| !NAMES.contains(&scenario.name.as_str())) {
            Some(unknown) => Err(SuiteError::Unknown { name: unknown.name.clone() }),
            None => Ok(suite),
        }
    }
}

/// Runs one scenario.
///
/// # Errors
/// [`SuiteError`] when it could not be run; a target that was missed is part of the outcome.
pub fn run(name: &str, workshop: Workshop<'_>) -> Result<Outcome, SuiteError> {
    Ok(match name {
        "looping-open" => super::looping_open()?,
        "looping-pipeline" => super::looping_pipeline()?,
        "abort" => super::abort()?,
        "replay" => super::replay(workshop.folder, workshop.environment)?,
        "prefix" => super::prefix()?,
        "citations" => super::citations(workshop.folder)?,
        "claims" => super::claims(workshop.folder, workshop.environment)?,
        "storyboard" => super::storyboard(workshop.folder, workshop.environment)?,
        "atomic" => super::atomic(workshop.folder)?,
        "callsites" => super::callsites(workshop.callsites)?,
        name => return Err(SuiteError::Unknown { name: name.to_owned() }),
    })
}

/// What came of a suite, as `psos eval --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SuiteReport {
    /// The version of the format, [`SuiteReport::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The name of the suite.
    pub suite: String,
    /// The scenarios.
    pub scenarios: Vec<Outcome>,
    /// Whether every target was reached.
    pub reached: bool,
}

impl SuiteReport {
    /// The format that this build writes.
    pub const SCHEMA_VERSION: u32 = 1;

    /// Puts outcomes together.
    pub fn of(suite: &str, scenarios: Vec<Outcome>) -> Self {
        let reached = scenarios.iter().flat_map(|outcome| &outcome.measures).all(|m| m.reached);
        Self { schema_version: Self::SCHEMA_VERSION, suite: suite.to_owned(), scenarios, reached }
    }

    /// Writes it as JSON, with an end of line.
    pub fn to_json(&self) -> String {
        // Only texts, numbers and lists: always JSON.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Writes it for people.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.suite);
        for outcome in &self.scenarios {
            let source = match outcome.source {
                Source::Simulated => "simulated",
                Source::RealModel => "real model",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n{} ({source})", outcome.scenario);
            for measure in &outcome.measures {
                let mark = if measure.reached { "ok    " } else { "MISSED" };
                let value = (measure.value * 1_000.0).round() / 1_000.0;
                let _ = writeln!(text, "  {mark} {}: {value} ({})", measure.what, measure.target);
            }
            for note in &outcome.notes {
                let _ = writeln!(text, "         {note}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    //! Suite files, and the scenarios that need nothing but this process.

    use super::*;

    #[test]
    fn a_suite_of_scenarios_is_told_by_its_content() {
        assert!(ScenarioSuite::is_one("[[scenario]]\nname = 'abort'"));
        assert!(!ScenarioSuite::is_one("[[split]]\nname = 'x'"));
        assert!(!ScenarioSuite::is_one("no toml ["));
        let ok = "schema_version = 1\nname = 's'\n[[scenario]]\nname = 'abort'";
        assert_eq!(ScenarioSuite::parse(ok).unwrap().scenarios[0].name, "abort");
        for (text, says) in [
            (ok.replace("abort", "abrot"), "there is no scenario \"abrot\""),
            (ok.replace("= 1", "= 2"), "this build reads 1"),
            (format!("{ok}\nmax = 3"), "unknown field"),
        ] {
            let error = ScenarioSuite::parse(&text).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    #[test]
    fn every_simulated_target_is_reached() {
        let dir = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
        let environment: Environment = [("PATH".to_owned(), path)].into();
        for name in ["looping-open", "looping-pipeline", "abort", "replay", "prefix"] {
            let workshop =
                Workshop { folder: dir.path(), environment: &environment, callsites: None };
            let outcome = run(name, workshop).unwrap();
            assert_eq!(outcome.scenario, name);
            let missed: Vec<_> = outcome.measures.iter().filter(|m| !m.reached).collect();
            assert!(missed.is_empty(), "{name}: {missed:#?} {:?}", outcome.notes);
        }
    }

    #[test]
    fn a_missed_target_is_shown_as_one() {
        let measure = crate::pipeline::scenario::Measure::at_most("calls", 18.0, 17.0);
        assert!(!measure.reached);
        let outcome = Outcome {
            scenario: "x".into(),
            source: Source::Simulated,
            measures: vec![measure],
            notes: vec![],
        };
        let report = SuiteReport::of("s", vec![outcome]);
        assert!(!report.reached);
        assert!(report.to_text().contains("MISSED calls: 18 (at most 17)"), "{}", report.to_text());
    }
}
