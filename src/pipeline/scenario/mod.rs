//! The scenarios on which the pipeline is measured: each says what it did and what it should have
//! reached. Not here: the parts under measurement.

mod atomic;
mod callsites;
mod citations;
mod claims;
mod looping;
mod prefix;
pub(crate) mod sim;
mod storyboard;
mod suite;
mod tester;
mod tiny;

pub use atomic::atomic;
pub use callsites::{Callsites, callsites};
pub use citations::citations;
pub use claims::claims;
pub use looping::{abort, looping_open, looping_pipeline};
pub use prefix::prefix;
pub use storyboard::storyboard;
pub use suite::{NAMES, Named, ScenarioSuite, SuiteError, SuiteReport, Workshop, run};
pub use tester::replay;
pub use tiny::{OnOverflow, Tiny};

use serde::Serialize;

/// Where the replies of a scenario came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A script or a simulator: shows what the harness does, not what a model can.
    Simulated,
    /// A real model.
    RealModel,
}

/// One figure of a scenario beside its target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measure {
    /// What is measured, with its unit.
    pub what: String,
    /// The figure.
    pub value: f64,
    /// What it should be, in words, such as `at most 17`.
    pub target: String,
    /// Whether it is.
    pub reached: bool,
}

impl Measure {
    /// A figure that should be at most `max`.
    pub fn at_most(what: &str, value: f64, max: f64) -> Self {
        Self::new(what, value, format!("at most {max}"), value <= max)
    }

    /// A figure that should be at least `min`.
    pub fn at_least(what: &str, value: f64, min: f64) -> Self {
        Self::new(what, value, format!("at least {min}"), value >= min)
    }

    /// A figure that should be in a range, both ends included.
    pub fn between(what: &str, value: f64, (min, max): (f64, f64)) -> Self {
        let target =
            if max > min { format!("from {min} to {max}") } else { format!("exactly {min}") };
        Self::new(what, value, target, value >= min && value <= max)
    }

    fn new(what: &str, value: f64, target: String, reached: bool) -> Self {
        Self { what: what.to_owned(), value, target, reached }
    }
}

/// What came of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Its name in the suite.
    pub scenario: String,
    /// Where the replies came from.
    pub source: Source,
    /// The figures.
    pub measures: Vec<Measure>,
    /// What a reader should know: what was skipped and why, the command of a real-model run.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod truth_tests;
