//! Every question under every budget in every format that costs tokens.

use psos::engine::{Engine, Settings};
use psos::eval::{Judged, Seen, Sweep};
use psos::recall::{Budget, Filter, Format, Query, RecallError, Request};
use psos::text;

use crate::cli::failure::Failure;
use crate::cli::output::failure;

const FORMATS: [(&str, Format); 3] =
    [("text", Format::Text), ("md", Format::Markdown), ("json", Format::Json)];

/// Adds what the questions are answered to a sweep; `form` names them in faults.
pub(super) fn sweep(
    engine: &Engine,
    settings: &Settings,
    judged: &[Judged],
    form: &str,
    sweep: &mut Sweep,
) -> Result<(), Failure> {
    for question in judged.iter().map(|judged| &judged.question) {
        let Ok(query) = Query::parse(&question.text) else { continue };
        let filter = match &question.scope {
            Some(scope) => Filter::default().scope(scope),
            None => Filter::default(),
        };
        let requests: Vec<(Format, Request)> = FORMATS
            .into_iter()
            .flat_map(|(_, format)| sweep.budgets_tokens.iter().map(move |&b| (format, b)))
            .map(|(format, budget_tokens)| {
                let request = Request {
                    query: query.clone(),
                    n_records: settings.n_records,
                    budget: Budget::tokens(budget_tokens),
                    wish: settings.wish,
                    filter: filter.clone(),
                    format,
                    floor: settings.floor,
                };
                (format, request)
            })
            .collect();
        let asked: Vec<Request> = requests.iter().map(|(_, request)| request.clone()).collect();
        let wrong = |error| failure(error, engine.dir());
        let (ranking, answers) =
            engine.rank_and_answer(&query, &filter, 1, &asked).map_err(wrong)?;
        let mut seen = Vec::with_capacity(answers.len());
        for ((format, _), answer) in requests.iter().zip(answers) {
            seen.push(match answer {
                Ok(_) if !ranking.has_match() => Seen::NoMatch,
                Ok(answer) => Seen::Answer {
                    claimed_tokens: answer.tokens_used,
                    tokens: text::count(&format.render(&answer, "", false)),
                    first: answer.results.first().map(|hit| hit.tier),
                },
                Err(RecallError::BudgetTooSmall { .. }) => Seen::TooSmall,
                Err(error) => return Err(wrong(error.into())),
            });
        }
        let name =
            if form.is_empty() { question.id.clone() } else { format!("{form}: {}", question.id) };
        for ((format, _), seen) in
            FORMATS.iter().zip(seen.chunks(sweep.budgets_tokens.len().max(1)))
        {
            sweep.add(format, &name, seen);
        }
    }
    Ok(())
}
