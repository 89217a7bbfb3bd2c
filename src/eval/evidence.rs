//! How much of all that is right reaches the reader whole, when several records are right at once.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::metric::{Proportion, mean, small};
use super::report::{Share, rounded};
use super::{Judged, Outcome};
use crate::record::Tier;

/// `R@budget` of one retriever: of all right records of all questions, the share that the rendered
/// answers show whole, at tier [`Tier::Detail`].
///
/// Pooled: each pair of a question and a right record counts once, so a question with five right
/// records counts five times. What is right and cannot be found, and questions without an answer, count
/// as not shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What was asked.
    pub retriever: String,
    /// All scopes together.
    pub all: Share,
    /// The mean of the scopes, each counted once.
    pub mean_of_scopes: f64,
    /// Each scope by itself, in the order of their names.
    pub scopes: Vec<ScopeEvidence>,
}

/// The same within one scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScopeEvidence {
    /// The scope, empty for questions without one.
    pub scope: String,
    /// Its share.
    pub share: Share,
}

impl Evidence {
    /// Counts what answers show.
    pub fn of(retriever: &str, judged: &[Judged], outcomes: &[Outcome]) -> Self {
        let by_id: BTreeMap<&str, &Outcome> =
            outcomes.iter().map(|outcome| (outcome.question.as_str(), outcome)).collect();
        let mut scopes: BTreeMap<&str, Proportion> = BTreeMap::new();
        for judged in judged.iter().filter(|judged| !judged.is_negative()) {
            let outcome = by_id.get(judged.question.id.as_str());
            let shown = outcome.map(|o| o.answer.disclosed.as_slice()).unwrap_or_default();
            let whole = shown.iter().filter(|d| d.tier == Tier::Detail && d.complete);
            let whole: BTreeSet<&str> = whole.map(|d| d.id.as_str()).collect();
            let found = judged.gold.keys().filter(|id| whole.contains(id.as_str())).count();
            let scope = judged.question.scope.as_deref().unwrap_or_default();
            let sum = scopes.entry(scope).or_insert(Proportion { successes: 0, n: 0 });
            sum.successes += small(found);
            sum.n += small(judged.gold.len());
        }
        let all = scopes.values().fold(Proportion { successes: 0, n: 0 }, |sum, one| Proportion {
            successes: sum.successes + one.successes,
            n: sum.n + one.n,
        });
        Self {
            retriever: retriever.to_owned(),
            all: Share::of(all),
            mean_of_scopes: rounded(mean(scopes.values().map(|share| share.value()))),
            scopes: scopes
                .into_iter()
                .map(|(scope, share)| ScopeEvidence {
                    scope: scope.to_owned(),
                    share: Share::of(share),
                })
                .collect(),
        }
    }
}
