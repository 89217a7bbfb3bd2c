//! Numbers that must not get worse: floors and ceilings kept in a file, and the gate that reads it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::EvalError;
use super::report::{Group, NO_MATCH, Report, rounded};

/// The numbers that a report has to reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The version of the format, [`Baseline::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The suite that it is for.
    pub suite: String,
    /// What each group has to reach, by its name.
    pub groups: BTreeMap<String, GroupBaseline>,
}

/// What one group has to reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupBaseline {
    /// How many questions it has: dropping the hard ones is not an improvement.
    pub n: u32,
    /// The bounds by the name of the number, see [`Group::number`].
    pub bounds: BTreeMap<String, Bound>,
}

/// The bounds of one number. At least one of them is there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// What it was when the baseline was written and must reach again, for numbers that are good
    /// when high.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// What it was and must not exceed, for numbers that are good when low.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<f64>,
    /// By how much it may miss its bound, in its own unit.
    pub tolerance: f64,
}

/// Why a report does not pass.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The report is about another suite.
    OtherSuite {
        /// The suite of the baseline.
        expected: String,
        /// The suite of the report.
        found: String,
    },
    /// The report lacks a group.
    NoGroup {
        /// The name of the group.
        group: String,
    },
    /// The group has another number of questions.
    OtherQuestions {
        /// The name of the group.
        group: String,
        /// The number in the baseline.
        expected: u32,
        /// The number in the report.
        found: u32,
    },
    /// The report lacks a number.
    NoNumber {
        /// The name of the group.
        group: String,
        /// The name of the number.
        number: String,
    },
    /// A number is below its floor by more than the tolerance.
    Below {
        /// The name of the group.
        group: String,
        /// The name of the number.
        number: String,
        /// The number in the report.
        found: f64,
        /// Its floor.
        floor: f64,
        /// By how much it could have missed it.
        tolerance: f64,
    },
    /// A number is above its ceiling by more than the tolerance.
    Above {
        /// The name of the group.
        group: String,
        /// The name of the number.
        number: String,
        /// The number in the report.
        found: f64,
        /// Its ceiling.
        ceiling: f64,
        /// By how much it could have missed it.
        tolerance: f64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherSuite { expected, found } => {
                write!(f, "the baseline is for suite `{expected}`, the report is on `{found}`")
            }
            Self::NoGroup { group } => write!(f, "{group}: not in the report"),
            Self::OtherQuestions { group, expected, found } => {
                write!(f, "{group}: {found} questions, the baseline has {expected}")
            }
            Self::NoNumber { group, number } => write!(f, "{group}: no {number} in the report"),
            Self::Below { group, number, found, floor, tolerance } => {
                write!(f, "{group}: {number} is {found:.4}, below {floor:.4} - {tolerance}")
            }
            Self::Above { group, number, found, ceiling, tolerance } => {
                write!(f, "{group}: {number} is {found:.4}, above {ceiling:.4} + {tolerance}")
            }
        }
    }
}

/// How much a number may differ before a gate refuses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerances {
    /// For measures, in parts of one: 0.005 is half a percentage point.
    pub measure: f64,
    /// For token counts, in parts of the count: 0.05 is one in twenty.
    pub tokens: f64,
}

/// Sums of many values differ in the last digits; this is not a difference.
const NOTHING: f64 = 1e-9;

/// The measures that a new baseline bounds.
const BOUNDED: [&str; 4] = ["Success@1", "Success@5", "RR@10", "nDCG@10"];

impl Baseline {
    /// The version of the format that this build writes and reads.
    pub const SCHEMA_VERSION: u32 = 1;

    /// Takes the numbers of a report as what later ones have to reach.
    ///
    /// Floors for the measures of questions that have an answer, and for the no-match rate of those
    /// that have none; ceilings for the mean of the tokens and for wrong "no match" answers.
    pub fn of(report: &Report, tolerances: Tolerances) -> Self {
        let group = |group: &Group| {
            let bounds = BOUNDED.iter().copied().chain([NO_MATCH, "tokens.mean"]);
            let bounds = bounds.filter_map(|name| {
                Some((name.to_owned(), bound(group, name, group.number(name)?, tolerances)))
            });
            (group.name.clone(), GroupBaseline { n: group.n, bounds: bounds.collect() })
        };
        Self {
            schema_version: Self::SCHEMA_VERSION,
            suite: report.suite.clone(),
            groups: report.groups.iter().map(group).collect(),
        }
    }

    /// Returns every reason why a report does not pass, none when it does.
    ///
    /// What the baseline bounds and the report lacks is a reason. What the report has and the
    /// baseline does not know is none.
    pub fn check(&self, report: &Report) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if self.suite != report.suite {
            let (expected, found) = (self.suite.clone(), report.suite.clone());
            refusals.push(Refusal::OtherSuite { expected, found });
        }
        for (name, expected) in &self.groups {
            let Some(group) = report.group(name) else {
                refusals.push(Refusal::NoGroup { group: name.clone() });
                continue;
            };
            if group.n != expected.n {
                let (expected, found) = (expected.n, group.n);
                refusals.push(Refusal::OtherQuestions { group: name.clone(), expected, found });
            }
            for (number, bound) in &expected.bounds {
                refusals.extend(bound.check(group, number));
            }
        }
        refusals
    }

    /// Returns the file, as it is written and kept.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a baseline file.
    ///
    /// # Errors
    /// [`EvalError::Format`] when it is none, when a number has no bound, or when a tolerance is
    /// negative; [`EvalError::Version`] when it is of another version.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, EvalError> {
        let what = "baseline";
        let read: Self = super::error::versioned(file, what, Self::SCHEMA_VERSION, bytes)?;
        for (group, expected) in &read.groups {
            for (number, bound) in &expected.bounds {
                // A bound that bounds nothing would pass whatever happens.
                let empty = bound.floor.is_none() && bound.ceiling.is_none();
                if empty || bound.tolerance < 0.0 {
                    let why = format!("`{number}` of `{group}` has no bound to keep");
                    return Err(EvalError::Format {
                        file: file.to_owned(),
                        what,
                        source: why.into(),
                    });
                }
            }
        }
        Ok(read)
    }
}

impl Bound {
    fn check(&self, group: &Group, number: &str) -> Vec<Refusal> {
        let (name, number) = (group.name.clone(), number.to_owned());
        let Some(found) = group.number(&number) else {
            return vec![Refusal::NoNumber { group: name, number }];
        };
        let tolerance = self.tolerance;
        let mut refusals = Vec::new();
        if let Some(floor) = self.floor.filter(|floor| found < floor - tolerance - NOTHING) {
            let (group, number) = (name.clone(), number.clone());
            refusals.push(Refusal::Below { group, number, found, floor, tolerance });
        }
        if let Some(ceiling) = self.ceiling.filter(|ceiling| found > ceiling + tolerance + NOTHING)
        {
            refusals.push(Refusal::Above { group: name, number, found, ceiling, tolerance });
        }
        refusals
    }
}

fn bound(group: &Group, name: &str, found: f64, tolerances: Tolerances) -> Bound {
    let low_is_good = match name {
        NO_MATCH => !group.is_negative(),
        name => name.starts_with("tokens."),
    };
    let tolerance = if name.starts_with("tokens.") {
        rounded(found * tolerances.tokens)
    } else {
        tolerances.measure
    };
    let found = Some(found);
    if low_is_good {
        Bound { floor: None, ceiling: found, tolerance }
    } else {
        Bound { floor: found, ceiling: None, tolerance }
    }
}
