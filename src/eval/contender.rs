//! What other retrievers, or psos with less to rank by, make of the same questions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::metric::{Measure, Proportion, Ranking, Ties, mean, small};
use super::report::{Share, group_name, rounded};
use super::{Judged, Outcome, Spread};

/// The numbers of one retriever on one group of questions.
///
/// What is judged is the ranking: "no match" does not count, since only psos can say it. So the row of
/// psos itself may be above its Success@1, which counts a refused answer as a miss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contender {
    /// What was asked.
    pub retriever: String,
    /// The name of the group, as in [`super::report::Group::name`].
    pub group: String,
    /// How many questions have a right record at rank 1 of the ranking, ties against it.
    pub ranked_first: Share,
    /// The means of [`Measure::REPORTED`] by their names.
    pub measures: BTreeMap<String, f64>,
    /// What the answers cost, in tokens, when they cost anything; "no match" is left out.
    pub tokens: Option<Spread>,
}

impl Contender {
    /// Judges rankings: a contender for each level of the questions that have an answer.
    pub fn of(
        retriever: &str,
        form: &str,
        split: &str,
        judged: &[Judged],
        outcomes: &[Outcome],
    ) -> Vec<Self> {
        let by_id: BTreeMap<&str, &Outcome> =
            outcomes.iter().map(|outcome| (outcome.question.as_str(), outcome)).collect();
        let mut levels: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
        for judged in judged {
            levels.entry(&judged.level).or_default().push(judged);
        }
        levels.retain(|_, judged| !judged.iter().all(|judged| judged.is_negative()));
        let contender = |(level, judged): (&str, Vec<&Judged>)| {
            let answers: Vec<Option<&Outcome>> = judged
                .iter()
                .map(|judged| by_id.get(judged.question.id.as_str()).copied())
                .collect();
            let rankings: Vec<Ranking> = judged
                .iter()
                .zip(&answers)
                .map(|(judged, outcome)| {
                    let hits = outcome.map(|o| o.answer.hits.as_slice()).unwrap_or_default();
                    Ranking::of(hits, &judged.gold, Ties::Against)
                })
                .collect();
            let first = rankings.iter().filter(|ranking| ranking.first_relevant() == Some(1));
            let ranked_first =
                Proportion { successes: small(first.count()), n: small(judged.len()) };
            let value = |measure: Measure| {
                rounded(mean(rankings.iter().map(|ranking| measure.value(ranking))))
            };
            let given =
                answers.iter().flatten().filter(|outcome| !outcome.answer.seen().is_empty());
            let tokens: Vec<f64> = given.map(|outcome| f64::from(outcome.answer.tokens)).collect();
            Self {
                retriever: retriever.to_owned(),
                group: group_name(form, split, level),
                ranked_first: Share::of(ranked_first),
                measures: Measure::REPORTED.map(|m| (m.to_string(), value(m))).into(),
                tokens: Spread::of(&tokens).filter(|tokens| tokens.max > 0.0),
            }
        };
        levels.into_iter().map(contender).collect()
    }
}
