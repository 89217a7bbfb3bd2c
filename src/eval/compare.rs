//! Which of two reports on the same questions is better, and whether that can be chance.
//!
//! Everything is paired by question: hard questions are hard for both, and only the differences
//! count.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::EvalError;
use super::metric::{mean, permille, small};
use super::random::Random;
use super::report::{Group, Report, rounded};

/// How many resamples an interval and a p-value are made of.
pub const RESAMPLES: u32 = 10_000;

/// The comparison of a report `b` with an earlier or other report `a`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The measure that is compared.
    pub measure: String,
    /// The seed of the resampling: the same seed gives the same numbers.
    pub seed: u64,
    /// A difference for each group that both have the measure of.
    pub groups: Vec<Difference>,
    /// The groups that only one of the two has, by name.
    pub unpaired: Vec<String>,
}

/// How the two differ on one group of questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The name of the group.
    pub group: String,
    /// How many questions it has.
    pub n: u32,
    /// The mean of `a`.
    pub a: f64,
    /// The mean of `b`.
    pub b: f64,
    /// The mean of `b` less that of `a`.
    pub difference: f64,
    /// The lower end of its 95 % interval.
    ///
    /// Percentile bootstrap over questions (Efron, "Bootstrap methods: another look at the
    /// jackknife", Annals of Statistics 7, 1979).
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How likely a difference at least as large is, in either direction, if it were chance which of
    /// the two answers is whose.
    ///
    /// Paired randomization: the sign of each difference is flipped with probability one half, and
    /// `p = (1 + how many of B resamples reach the difference) / (1 + B)` (Smucker, Allan and
    /// Carterette, "A comparison of statistical significance tests for information retrieval
    /// evaluation", CIKM 2007).
    pub p_value: f64,
    /// The questions that `b` answers better.
    pub wins: Vec<Change>,
    /// The questions that `b` answers worse.
    pub losses: Vec<Change>,
    /// How many questions both answer equally well.
    pub n_equal: u32,
}

/// A question on which the two differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The question.
    pub id: String,
    /// The value of `a`.
    pub a: f64,
    /// The value of `b`.
    pub b: f64,
}

/// Differences below this are noise of arithmetic.
const NOTHING: f64 = 1e-9;

/// Compares two reports by a measure that is known for each question, such as `Success@1`.
///
/// # Errors
/// [`EvalError::DifferentQuestions`] when a group has other questions or other gold in each, and
/// [`EvalError::NothingShared`] when no group of both has the measure.
pub fn compare(a: &Report, b: &Report, measure: &str, seed: u64) -> Result<Comparison, EvalError> {
    let mut random = Random::seeded(seed);
    let mut groups = Vec::new();
    for group in &a.groups {
        let Some(other) = b.group(&group.name) else { continue };
        if group.questions_digest != other.questions_digest {
            return Err(EvalError::DifferentQuestions { group: group.name.clone() });
        }
        let pairs = pairs(group, other, measure);
        if !pairs.is_empty() {
            groups.push(difference(&group.name, &pairs, &mut random));
        }
    }
    if groups.is_empty() {
        return Err(EvalError::NothingShared { measure: measure.to_owned() });
    }
    let alone = |one: &Report, other: &Report| -> Vec<String> {
        let names = one.groups.iter().map(|group| &group.name);
        names.filter(|name| other.group(name).is_none()).cloned().collect()
    };
    let mut unpaired = alone(a, b);
    unpaired.extend(alone(b, a));
    Ok(Comparison { measure: measure.to_owned(), seed, groups, unpaired })
}

impl Comparison {
    /// Returns the comparison as JSON, with a line end after it.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn pairs(a: &Group, b: &Group, measure: &str) -> Vec<Change> {
    let values: BTreeMap<&str, f64> = b
        .questions
        .iter()
        .filter_map(|row| Some((row.id.as_str(), *row.values.get(measure)?)))
        .collect();
    let pair = |id: &str, a: f64| Some(Change { id: id.to_owned(), a, b: *values.get(id)? });
    let rows = a.questions.iter();
    rows.filter_map(|row| pair(&row.id, *row.values.get(measure)?)).collect()
}

fn difference(group: &str, pairs: &[Change], random: &mut Random) -> Difference {
    let differences: Vec<f64> = pairs.iter().map(|pair| pair.b - pair.a).collect();
    // Flipping the sign of nothing changes nothing.
    let changed: Vec<f64> = differences.iter().copied().filter(|d| d.abs() > NOTHING).collect();
    let (total, n) = (differences.iter().sum::<f64>(), small(pairs.len()));
    let (mut means, mut reached) = (Vec::new(), 0_u32);
    for _ in 0..RESAMPLES {
        let draw = |_| differences.get(random.below(differences.len())).copied();
        means.push(mean((0..differences.len()).filter_map(draw)));
        let flip = |d: &f64| if random.bits() >> 63 == 0 { *d } else { -d };
        let flipped: f64 = changed.iter().map(flip).sum();
        reached += u32::from(flipped.abs() + NOTHING >= total.abs());
    }
    let end = |at| permille(&means, at).unwrap_or_default();
    let (wins, losses_or_equal): (Vec<Change>, Vec<Change>) =
        pairs.iter().cloned().partition(|pair| pair.b - pair.a > NOTHING);
    let losses: Vec<Change> =
        losses_or_equal.into_iter().filter(|pair| pair.a - pair.b > NOTHING).collect();
    Difference {
        group: group.to_owned(),
        n,
        a: rounded(mean(pairs.iter().map(|pair| pair.a))),
        b: rounded(mean(pairs.iter().map(|pair| pair.b))),
        difference: rounded(total / f64::from(n)),
        low: rounded(end(25)),
        high: rounded(end(975)),
        p_value: rounded(f64::from(1 + reached) / f64::from(1 + RESAMPLES)),
        n_equal: small(pairs.len() - wins.len() - losses.len()),
        wins,
        losses,
    }
}
