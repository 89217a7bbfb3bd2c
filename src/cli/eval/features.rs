//! What the ranking measures of every candidate, as a table: for whoever fits its weights. A
//! developer's tool; its columns follow the ranking and are promised to nobody.

use std::fmt::Write as _;

use psos::engine::{Engine, Settings};
use psos::eval::Judged;
use psos::recall::{Filter, Query};

use crate::cli::failure::Failure;
use crate::cli::output::failure;

/// Returns a line for each candidate: the question, its level, the grade of the candidate, its id, and
/// the features in the order of the ranking, separated by tabs.
pub(super) fn table(
    engine: &Engine,
    judged: &[Judged],
    settings: &Settings,
) -> Result<String, Failure> {
    let mut text = String::new();
    for Judged { question, gold, level } in judged {
        let Ok(query) = Query::parse(&question.text) else { continue };
        let filter = match &question.scope {
            Some(scope) => Filter::default().scope(scope),
            None => Filter::default(),
        };
        let (ranking, _) = engine
            .rank_and_answer(&query, &filter, usize::MAX, &[])
            .map_err(|error| failure(error, engine.dir()))?;
        for hit in ranking.hits() {
            let id =
                hit.id().as_str().strip_prefix(&settings.id_prefix).unwrap_or(hit.id().as_str());
            let grade = gold.get(id).copied().unwrap_or(0);
            let _ = write!(text, "{}\t{level}\t{grade}\t{id}", question.id);
            for feature in hit.features() {
                let _ = write!(text, "\t{:.5}", feature.value);
            }
            text.push('\n');
        }
    }
    Ok(text)
}
