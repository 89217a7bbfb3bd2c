//! What answers cost in tokens, beside what a reader without recall would pay.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::metric::{mean, median, percentile};
use super::suite::TokenBaseline;
use super::{Judged, Outcome};

/// What the files of a corpus cost, in tokens of [`crate::text::count`]. Handed in by whoever
/// indexed it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Costs {
    /// The file of each record.
    pub file_of: BTreeMap<String, String>,
    /// What each file costs as a whole.
    pub file_tokens: BTreeMap<String, u32>,
    /// What a list of the descriptions of all records costs.
    pub description_list_tokens: u32,
}

impl Costs {
    /// Returns what answering a question costs by a baseline; none when it has no meaning there,
    /// such as the file of the right record when there is none.
    ///
    /// When several records are right, the cheapest of their files counts, which flatters psos least.
    pub fn of(&self, baseline: TokenBaseline, judged: &Judged, outcome: &Outcome) -> Option<u32> {
        let file = |id: &str| self.file_of.get(id);
        match baseline {
            TokenBaseline::GoldFile => {
                let files = judged.gold.keys().filter_map(|id| file(id));
                files.filter_map(|file| self.file_tokens.get(file).copied()).min()
            }
            TokenBaseline::Top3Files => {
                let hits = outcome.answer.seen().iter().take(3);
                let files: BTreeSet<&String> = hits.filter_map(|hit| file(&hit.id)).collect();
                if files.is_empty() {
                    return None;
                }
                let tokens = files.into_iter().filter_map(|file| self.file_tokens.get(file));
                Some(tokens.fold(0, |sum, &tokens| sum.saturating_add(tokens)))
            }
            TokenBaseline::DescriptionList => Some(self.description_list_tokens),
        }
    }
}

/// How values spread. The unit is that of the values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The sum over the number.
    pub mean: f64,
    /// The middle value ([`median`]).
    pub median: f64,
    /// The value that 95 % do not exceed ([`percentile`]).
    pub p95: f64,
    /// The largest value.
    pub max: f64,
}

impl Spread {
    /// Returns how the values spread; none of no value.
    pub fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            mean: super::report::rounded(mean(values.iter().copied())),
            median: super::report::rounded(median(values)?),
            p95: super::report::rounded(percentile(values, 95)?),
            max: super::report::rounded(percentile(values, 100)?),
        })
    }
}
