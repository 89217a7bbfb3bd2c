//! How much of what is right reaches the reader at which budget.

use serde::{Deserialize, Serialize};

use super::metric::{Proportion, mean, small};
use super::report::{Share, rounded};
use super::{EvalError, Judged, Retriever};
use crate::record::Tier;

/// The recall-against-budget curve of one group of questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The name of the group.
    pub group: String,
    /// A point for each budget, in the order asked for.
    pub points: Vec<Point>,
}

/// What was shown at one budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// What an answer could cost.
    pub budget_tokens: u32,
    /// What the answers cost on the mean; an answer of "no match" is left out.
    pub mean_tokens: f64,
    /// For how many questions a right record was shown whole, at tier [`Tier::Detail`].
    pub whole: Share,
    /// For how many questions a right record was shown at all, at whatever tier.
    pub shown: Share,
}

/// Asks the questions that have an answer once for each budget.
///
/// # Errors
/// [`EvalError::Unanswered`] when the retriever fails.
pub fn curve(
    retriever: &mut dyn Retriever,
    group: &str,
    judged: &[Judged],
    budgets: &[u32],
) -> Result<Curve, EvalError> {
    let asked: Vec<&Judged> = judged
        .iter()
        .filter(|judged| !judged.is_negative() && !judged.question.text.trim().is_empty())
        .collect();
    let mut rows = Vec::with_capacity(asked.len());
    for judged in &asked {
        let answers = retriever.retrieve_under(&judged.question, budgets);
        rows.push(answers.map_err(|source| EvalError::Unanswered {
            question: judged.question.id.clone(),
            source,
        })?);
    }
    let mut points = Vec::with_capacity(budgets.len());
    for (idx, &budget_tokens) in budgets.iter().enumerate() {
        let (mut whole, mut shown, mut tokens) = (0, 0, Vec::with_capacity(asked.len()));
        for (judged, answers) in asked.iter().zip(&rows) {
            let Some(answer) = answers.get(idx) else { continue };
            let mut right = answer.disclosed.iter().filter(|d| judged.gold.contains_key(&d.id));
            shown += u32::from(right.clone().next().is_some());
            whole += u32::from(right.any(|d| d.tier == Tier::Detail && d.complete));
            if !answer.seen().is_empty() {
                tokens.push(f64::from(answer.tokens));
            }
        }
        let share = |successes| Share::of(Proportion { successes, n: small(asked.len()) });
        points.push(Point {
            budget_tokens,
            mean_tokens: rounded(mean(tokens)),
            whole: share(whole),
            shown: share(shown),
        });
    }
    Ok(Curve { group: group.to_owned(), points })
}
