//! The engine as one retriever among others, for the eval harness to judge.

use std::fmt::Write as _;

use crate::engine::{Engine, EngineError};
use crate::eval::{self, Disclosed, Question, RetrieveError, Retriever, Scored};
use crate::recall::{
    Answer, Budget, Candidate, Explanation, Filter, Floor, Format, Query, RecallError, Request,
    TermMatch, Wish,
};
use crate::record::{RecordId, Tier};

/// How many hits of a ranking are handed to the judge.
const N_JUDGED: usize = 100;

/// What a judged answer is asked with, beside the question.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// At most this many records in an answer.
    pub n_records: u32,
    /// How deep to look.
    pub wish: Wish,
    /// Whether a question that no record answers well is refused.
    pub floor: Floor,
    /// The deepest tier to rank by.
    pub depth: Tier,
    /// What stands before the ids of the set in the ids of the store; taken off again.
    pub id_prefix: String,
}

/// An engine that is being judged. The ranking is judged as a whole; tokens and disclosure are
/// those of the answer that a user would get.
///
/// An answer that the budget is too small for is one of "no match" that costs nothing.
#[derive(Debug)]
pub struct EngineRetriever<'a> {
    engine: &'a Engine,
    settings: Settings,
}

impl<'a> EngineRetriever<'a> {
    /// An engine, to be asked with these settings.
    pub fn new(engine: &'a Engine, settings: Settings) -> Self {
        Self { engine, settings }
    }

    fn ask(
        &self,
        question: &Question,
        budgets_tokens: &[u32],
    ) -> Result<Vec<eval::Answer>, EngineError> {
        let Some(query) = parse(question)? else {
            let none = eval::Answer { no_match: true, ..eval::Answer::default() };
            return Ok(vec![none; budgets_tokens.len()]);
        };
        let query = query.ranked_down_to(self.settings.depth);
        let filter = filter_of(question);
        let requests: Vec<Request> = budgets_tokens
            .iter()
            .map(|&tokens| Request {
                query: query.clone(),
                n_records: self.settings.n_records,
                budget: Budget::tokens(tokens),
                wish: self.settings.wish,
                filter: filter.clone(),
                format: Format::Text,
                floor: self.settings.floor,
            })
            .collect();
        let (ranking, answers) =
            self.engine.rank_and_answer(&query, &filter, N_JUDGED, &requests)?;
        let hits: Vec<Scored> = ranking
            .hits()
            .take(N_JUDGED)
            .map(|hit| Scored::new(self.name_of(hit.id()), hit.score()))
            .collect();
        answers
            .into_iter()
            .map(|answer| match answer {
                Ok(answer) => Ok(self.judged(hits.clone(), &answer)),
                Err(RecallError::BudgetTooSmall { .. }) => Ok(eval::Answer {
                    hits: hits.clone(),
                    no_match: true,
                    explanation: Some("the budget is too small for any answer".to_owned()),
                    ..eval::Answer::default()
                }),
                Err(error) => Err(error.into()),
            })
            .collect()
    }

    fn judged(&self, hits: Vec<Scored>, answer: &Answer) -> eval::Answer {
        let disclosed = answer.results.iter().map(|hit| Disclosed {
            id: self.name_of(&hit.id),
            tier: hit.tier,
            complete: hit.complete,
        });
        eval::Answer {
            hits,
            no_match: answer.results.is_empty(),
            tokens: answer.tokens_used,
            disclosed: disclosed.collect(),
            explanation: None,
        }
    }

    fn explained(&self, question: &Question, ids: &[&str]) -> Result<Option<String>, EngineError> {
        let Some(query) = parse(question)? else { return Ok(None) };
        let query = query.ranked_down_to(self.settings.depth);
        let (ranking, _) =
            self.engine.rank_and_answer(&query, &filter_of(question), usize::MAX, &[])?;
        let hits: Vec<(u32, String, Candidate<'_>)> = (1..)
            .zip(ranking.hits())
            .map(|(rank, hit)| (rank, self.name_of(hit.id()), hit))
            .collect();
        let mut text = String::new();
        let mut found: Vec<Explanation> = Vec::new();
        for id in ids {
            match hits.iter().find(|(_, hit, _)| hit == id) {
                Some((rank, _, hit)) => {
                    let why = hit.explanation();
                    let _ = writeln!(text, "{rank}. {id}  score {:.4}", why.score);
                    write_why(&mut text, &why);
                    found.push(why);
                }
                None => {
                    let n = hits.len();
                    let _ = writeln!(text, "{id} is not among the {n} candidates");
                }
            }
        }
        if let [first, second] = found.as_slice() {
            write_difference(&mut text, first, second);
        }
        Ok(Some(text))
    }

    fn name_of(&self, id: &RecordId) -> String {
        let id = id.as_str();
        id.strip_prefix(self.settings.id_prefix.as_str()).unwrap_or(id).to_owned()
    }
}

impl Retriever for EngineRetriever<'_> {
    fn name(&self) -> &'static str {
        "psos"
    }

    fn digest(&self) -> Option<String> {
        self.engine.digest().ok()
    }

    fn retrieve(&mut self, question: &Question) -> Result<eval::Answer, RetrieveError> {
        let mut answers = self.ask(question, &[question.budget_tokens]).map_err(of_engine)?;
        Ok(answers.pop().unwrap_or_default())
    }

    fn retrieve_under(
        &mut self,
        question: &Question,
        budgets_tokens: &[u32],
    ) -> Result<Vec<eval::Answer>, RetrieveError> {
        self.ask(question, budgets_tokens).map_err(of_engine)
    }

    fn explain(&self, question: &Question, ids: &[&str]) -> Result<Option<String>, RetrieveError> {
        self.explained(question, ids).map_err(of_engine)
    }
}

/// The trigger automata alone: the records one of whose phrases stands in the question, the one with
/// the longest phrase first, and of equal ones the surer match. No words, no features.
#[derive(Debug)]
pub struct TriggerRetriever<'a> {
    engine: &'a Engine,
    id_prefix: String,
}

impl<'a> TriggerRetriever<'a> {
    /// An engine whose triggers are asked; `id_prefix` as in [`Settings`].
    pub fn new(engine: &'a Engine, id_prefix: &str) -> Self {
        Self { engine, id_prefix: id_prefix.to_owned() }
    }

    fn ask(&self, question: &Question) -> Result<eval::Answer, EngineError> {
        let Some(query) = parse(question)? else {
            return Ok(eval::Answer { no_match: true, ..eval::Answer::default() });
        };
        let (ranking, _) =
            self.engine.rank_and_answer(&query, &filter_of(question), usize::MAX, &[])?;
        let mut hits: Vec<Scored> = ranking
            .hits()
            .filter_map(|hit| {
                let score = hit.triggers().iter().map(|found| {
                    let n_words: f64 = found.phrase.split(' ').map(|_| 1.0).sum();
                    n_words + if found.how == "exact" { 0.5 } else { 0.0 }
                });
                let id = hit.id().as_str();
                let id = id.strip_prefix(self.id_prefix.as_str()).unwrap_or(id);
                Some(Scored::new(id, score.max_by(f64::total_cmp)?))
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        hits.truncate(N_JUDGED);
        Ok(eval::Answer { no_match: hits.is_empty(), hits, ..eval::Answer::default() })
    }
}

impl Retriever for TriggerRetriever<'_> {
    fn name(&self) -> &'static str {
        "trigger automata"
    }

    fn retrieve(&mut self, question: &Question) -> Result<eval::Answer, RetrieveError> {
        self.ask(question).map_err(of_engine)
    }
}

fn of_engine(error: EngineError) -> RetrieveError {
    RetrieveError::new(error.fault(), error)
}

/// The question as recall takes it; none without words, which has no answer, which is an answer.
fn parse(question: &Question) -> Result<Option<Query>, EngineError> {
    match Query::parse(&question.text) {
        Ok(query) => Ok(Some(query)),
        Err(RecallError::EmptyQuery | RecallError::NoWords { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn filter_of(question: &Question) -> Filter {
    match &question.scope {
        Some(scope) => Filter::default().scope(scope),
        None => Filter::default(),
    }
}

/// Which phrases and words brought a record its score.
fn write_why(out: &mut String, why: &Explanation) {
    const FIELDS: [&str; 6] =
        ["trigger", "title", "breadcrumb", "description", "summary", "detail"];
    const N_SHOWN: usize = 8;
    for found in &why.triggers {
        let _ = writeln!(out, "   trigger `{}` ({})", found.phrase, found.how);
    }
    let mut terms: Vec<&TermMatch> = why.terms.iter().collect();
    // By weight; equal ones as they stand in the question.
    terms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let words: Vec<String> = terms
        .iter()
        .take(N_SHOWN)
        .map(|term| {
            let counts = FIELDS.iter().zip(term.counts).filter(|(_, n)| *n > 0);
            let fields: Vec<&str> = counts.map(|(field, _)| *field).collect();
            format!("{} ({})", term.term, fields.join(", "))
        })
        .collect();
    let words = if words.is_empty() { "none of the question".to_owned() } else { words.join("; ") };
    for found in &why.paraphrases {
        let _ = writeln!(out, "   `{}` as {}", found.asked, found.said.join(", "));
    }
    match terms.len().saturating_sub(N_SHOWN) {
        0 => writeln!(out, "   words {words}"),
        more => writeln!(out, "   words {words}; and {more} that say less"),
    }
    // Writing to a string does not fail.
    .unwrap_or_default();
}

/// The features that most of the difference between two scores comes from.
fn write_difference(out: &mut String, first: &Explanation, second: &Explanation) {
    const N_SHOWN: usize = 5;
    let mut parts: Vec<(f64, &str)> = first
        .features
        .iter()
        .zip(&second.features)
        .map(|(a, b)| ((a.value - b.value) * a.weight, a.name))
        .collect();
    parts.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then_with(|| a.1.cmp(b.1)));
    let parts: Vec<String> = parts
        .into_iter()
        .take(N_SHOWN)
        .filter(|(difference, _)| difference.abs() > 0.0)
        .map(|(difference, name)| format!("{name} {difference:+.3}"))
        .collect();
    let all = first.score - second.score;
    let _ = writeln!(out, "difference {all:+.4}, most of it: {}", parts.join(", "));
}
