//! The report of an evaluation: what was measured, of what, on which questions. It is also the
//! result file that [`super::compare`] and [`super::baseline`] read: JSON with a version and keys in
//! a fixed order, equal for equal inputs but for the times in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::compare::Comparison;
use super::cost::{Costs, Spread};
use super::curve::Curve;
use super::leak::SharedRun;
use super::metric::{Measure, Proportion, Ties, mean, rank, small};
use super::suite::TokenBaseline;
use super::{
    Contender, EvalError, Evidence, Judged, Outcome, Problem, Sweep, Verdict, beir, judge, tally,
};

/// The name of the share of questions that were answered with "no match".
pub const NO_MATCH: &str = "NoMatch";

/// How many of the best hits a miss is listed with.
const TOP_OF_MISS: usize = 5;

/// The report of one evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of the format, [`Report::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The name of the suite or set.
    pub suite: String,
    /// What was judged.
    pub retriever: String,
    /// The version of the program that judged.
    pub version: String,
    /// What an answer could cost.
    pub budget_tokens: u32,
    /// The digest of each index that was asked, by form.
    pub indexes: BTreeMap<String, String>,
    /// The numbers, a group for each form, split and level.
    pub groups: Vec<Group>,
    /// The recall-against-budget curves.
    pub curves: Vec<Curve>,
    /// What is wrong with the set, without refusing it: how often.
    pub problem_counts: BTreeMap<String, u32>,
    /// What is wrong with the set, without refusing it: each problem.
    pub problems: Vec<String>,
    /// Pieces of held-out questions that stand in triggers.
    pub shared_runs: Vec<SharedRun>,
    /// What other retrievers make of the same questions, psos beside them.
    pub others: Vec<Contender>,
    /// What psos makes of them with fewer tiers to rank by.
    pub tiers: Vec<Contender>,
    /// How much of the evidence reaches the reader whole, when that was measured.
    pub evidence: Vec<Evidence>,
    /// Whether answers keep to their budget at every size, when that was measured.
    pub sweep: Option<Sweep>,
    /// The comparison with another report, when one was asked for.
    pub comparison: Option<Comparison>,
    /// Why a gate refuses this report, one line each; empty when none does.
    pub refusals: Vec<String>,
}

/// The numbers of the questions of one form, split and level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Its form, split and level with `/` between them, those that there are.
    pub name: String,
    /// How many questions it has.
    pub n: u32,
    /// How many of them got no answer at all; each counts as zero.
    pub n_unanswered: u32,
    /// In how many answers the two best hits have the same score; ties count against the retriever.
    pub n_tied_first: u32,
    /// How many have a right record at rank 1, ties against it. None when nothing answers these
    /// questions. An answer of "no match" has no rank 1.
    pub rank1: Option<Share>,
    /// The same of the whole ranking, whether or not the answer was "no match": by how much this is
    /// above `rank1`, the floor below which psos refuses costs.
    pub ranked_first: Option<Share>,
    /// The means of [`Measure::REPORTED`] by their names. Empty when nothing answers these questions.
    pub measures: BTreeMap<String, f64>,
    /// How many were answered with "no match": right when nothing answers them, else wrong.
    pub no_match: Share,
    /// What the answers cost, in tokens; an answer of "no match" is left out.
    pub tokens: Option<Spread>,
    /// What the same questions cost otherwise, in tokens.
    pub token_baselines: BTreeMap<TokenBaseline, Spread>,
    /// How long an answer took, in milliseconds. The one part that differs between equal runs.
    pub latency_ms: Option<Spread>,
    /// The digest of the questions and what is right for them. Only equal ones can be compared.
    pub questions_digest: String,
    /// Each question, in the order of its file.
    pub questions: Vec<Row>,
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// For how many it holds.
    pub successes: u32,
    /// Of how many.
    pub n: u32,
    /// The share.
    pub value: f64,
    /// The lower end of its 95 % interval ([`Proportion::wilson_95`]).
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Share {
    /// A share with its interval.
    pub fn of(proportion: Proportion) -> Self {
        let Proportion { successes, n } = proportion;
        let (low, high) = proportion.wilson_95();
        let [value, low, high] = [proportion.value(), low, high].map(rounded);
        Self { successes, n, value, low, high }
    }
}

/// How one question went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// The rank of the first right record; none for "no match".
    pub rank: Option<u32>,
    /// The same in the whole ranking, even when the answer was "no match".
    pub ranked: Option<u32>,
    /// What the answer cost; none when there was no answer.
    pub tokens: Option<u32>,
    /// The values of the measures by name: [`Measure::REPORTED`], or [`NO_MATCH`] for a question
    /// that nothing answers.
    pub values: BTreeMap<String, f64>,
    /// What went wrong, when it did.
    pub miss: Option<Miss>,
}

/// A question whose first hit is not right, or that was answered though nothing answers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Miss {
    /// What was asked.
    pub text: String,
    /// What would have been right; empty for "no match".
    pub gold: Vec<String>,
    /// Whether it was answered with "no match".
    pub refused: bool,
    /// What the ranking began with, best first, in the order it was judged in, refused or not.
    pub top: Vec<Hit>,
    /// Why, in the words of the retriever.
    pub explanation: Option<String>,
}

/// A hit in a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// What was found.
    pub id: String,
    /// How well it fits.
    pub score: f64,
}

/// The questions of one split in one form, with their answers.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'a> {
    /// The form of the tree; empty when there is only one.
    pub form: &'a str,
    /// The name of the split or set.
    pub split: &'a str,
    /// The questions.
    pub judged: &'a [Judged],
    /// The answers. A question without one counts as zero.
    pub outcomes: &'a [Outcome],
    /// What the files of the corpus cost, when that is known.
    pub costs: Option<&'a Costs>,
    /// Which baselines to report.
    pub token_baselines: &'a [TokenBaseline],
}

impl Report {
    /// The version of the format that this build writes and reads.
    pub const SCHEMA_VERSION: u32 = 1;

    /// A report without a number in it.
    pub fn new(suite: &str, retriever: &str, version: &str, budget_tokens: u32) -> Self {
        Self {
            schema_version: Self::SCHEMA_VERSION,
            suite: suite.to_owned(),
            retriever: retriever.to_owned(),
            version: version.to_owned(),
            budget_tokens,
            indexes: BTreeMap::new(),
            groups: Vec::new(),
            curves: Vec::new(),
            problem_counts: BTreeMap::new(),
            problems: Vec::new(),
            shared_runs: Vec::new(),
            others: Vec::new(),
            tiers: Vec::new(),
            evidence: Vec::new(),
            sweep: None,
            comparison: None,
            refusals: Vec::new(),
        }
    }

    /// Adds what is wrong with the set.
    pub fn note(&mut self, problems: &[Problem]) {
        for (kind, n) in tally(problems) {
            *self.problem_counts.entry(kind.name().to_owned()).or_insert(0) += n;
        }
        self.problems.extend(problems.iter().map(ToString::to_string));
    }

    /// Judges answers and adds their numbers, a group for each level of the questions.
    pub fn add(&mut self, answered: &Answered<'_>) {
        let mut levels: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
        for judged in answered.judged {
            levels.entry(&judged.level).or_default().push(judged);
        }
        let outcomes: BTreeMap<&str, &Outcome> =
            answered.outcomes.iter().map(|outcome| (outcome.question.as_str(), outcome)).collect();
        for (level, judged) in levels {
            let name = group_name(answered.form, answered.split, level);
            self.groups.push(group(name, &judged, &outcomes, answered));
        }
    }

    /// The group of this name.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// Takes the times out, so that equal runs give equal bytes.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        for group in &mut self.groups {
            group.latency_ms = None;
        }
        self
    }

    /// Returns the report as JSON, with a line end after it.
    pub fn to_json(&self) -> String {
        // Serializing fails only on maps with keys that are no strings, and there are none.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a report as [`Report::to_json`] writes it.
    ///
    /// # Errors
    /// [`EvalError::Format`] when it is none, [`EvalError::Version`] when it is of another version.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, EvalError> {
        super::error::versioned(file, "evaluation report", Self::SCHEMA_VERSION, bytes)
    }
}

impl Group {
    /// Returns a number of the group by its name: a measure, [`NO_MATCH`], or `tokens.mean`,
    /// `tokens.median`, `tokens.p95`, `tokens.max`.
    pub fn number(&self, name: &str) -> Option<f64> {
        match name {
            NO_MATCH => Some(self.no_match.value),
            "tokens.mean" => self.tokens.map(|tokens| tokens.mean),
            "tokens.median" => self.tokens.map(|tokens| tokens.median),
            "tokens.p95" => self.tokens.map(|tokens| tokens.p95),
            "tokens.max" => self.tokens.map(|tokens| tokens.max),
            _ => self.measures.get(name).copied(),
        }
    }

    /// Whether nothing answers these questions.
    pub fn is_negative(&self) -> bool {
        self.rank1.is_none()
    }
}

/// Returns the name of a group: what there is of form, split and level, with `/` between. A level of
/// the same name as its split is not repeated.
pub fn group_name(form: &str, split: &str, level: &str) -> String {
    let level = if level == beir::LEVEL || level == split { "" } else { level };
    let parts: Vec<&str> =
        [form, split, level].into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

/// Nine decimals: below any difference that matters, above those between mathematical libraries.
pub(super) fn rounded(value: f64) -> f64 {
    // Adding zero makes one zero of the two.
    (value * 1e9).round() / 1e9 + 0.0
}

fn group(
    name: String,
    judged: &[&Judged],
    outcomes: &BTreeMap<&str, &Outcome>,
    answered: &Answered<'_>,
) -> Group {
    let of = |judged: &Judged| outcomes.get(judged.question.id.as_str()).copied();
    let verdicts: Vec<Verdict> = judged.iter().map(|judged| judge(judged, of(judged))).collect();
    let count = |holds: fn(&Verdict) -> bool| small(verdicts.iter().filter(|v| holds(v)).count());
    let share = |successes| Share::of(Proportion { successes, n: small(judged.len()) });
    // A level mixes both kinds only when its author named it so; then it is judged as answerable.
    let negative = judged.iter().all(|judged| judged.is_negative());
    let column = |idx: usize| verdicts.iter().filter_map(move |v| v.values.get(idx).copied());
    let measures = Measure::REPORTED.iter().enumerate();
    let measures = measures.map(|(idx, measure)| (measure.to_string(), rounded(mean(column(idx)))));
    let answers: Vec<(&Judged, &Outcome)> =
        judged.iter().filter_map(|judged| Some((*judged, of(judged)?))).collect();
    // A refusal costs next to nothing: counted, it would make answers look cheap.
    let given: Vec<(&Judged, &Outcome)> =
        answers.iter().copied().filter(|(_, o)| !o.answer.seen().is_empty()).collect();
    let tokens: Vec<f64> = given.iter().map(|(_, o)| f64::from(o.answer.tokens)).collect();
    let millis: Vec<f64> = answers.iter().map(|(_, o)| o.elapsed.as_secs_f64() * 1e3).collect();
    Group {
        name,
        n: small(judged.len()),
        n_unanswered: count(|verdict| !verdict.answered),
        n_tied_first: count(|verdict| verdict.tied),
        rank1: (!negative).then(|| share(count(|verdict| verdict.rank == Some(1)))),
        ranked_first: (!negative).then(|| share(count(|verdict| verdict.ranked == Some(1)))),
        measures: if negative { BTreeMap::new() } else { measures.collect() },
        no_match: share(count(|verdict| verdict.no_match)),
        tokens: Spread::of(&tokens),
        token_baselines: baselines(&given, answered),
        latency_ms: Spread::of(&millis),
        questions_digest: digest(judged),
        questions: judged.iter().zip(&verdicts).map(|(j, v)| row(j, v, of(j))).collect(),
    }
}

fn baselines(
    answers: &[(&Judged, &Outcome)],
    answered: &Answered<'_>,
) -> BTreeMap<TokenBaseline, Spread> {
    let Some(costs) = answered.costs else { return BTreeMap::new() };
    let spread = |baseline: TokenBaseline| {
        let of = |(judged, outcome): &(&Judged, &Outcome)| costs.of(baseline, judged, outcome);
        let tokens: Vec<f64> = answers.iter().filter_map(of).map(f64::from).collect();
        Some((baseline, Spread::of(&tokens)?))
    };
    answered.token_baselines.iter().filter_map(|&baseline| spread(baseline)).collect()
}

fn row(judged: &Judged, verdict: &Verdict, outcome: Option<&Outcome>) -> Row {
    let negative = judged.is_negative();
    let values = if negative {
        BTreeMap::from([(NO_MATCH.to_owned(), if verdict.no_match { 1.0 } else { 0.0 })])
    } else {
        let values = verdict.values.iter().map(|&value| rounded(value));
        Measure::REPORTED.iter().map(ToString::to_string).zip(values).collect()
    };
    Row {
        id: judged.question.id.clone(),
        rank: verdict.rank,
        ranked: verdict.ranked,
        tokens: outcome.map(|outcome| outcome.answer.tokens),
        values,
        miss: (!verdict.is_right(judged)).then(|| miss(judged, outcome)),
    }
}

fn miss(judged: &Judged, outcome: Option<&Outcome>) -> Miss {
    let hits = outcome.map(|outcome| outcome.answer.hits.as_slice()).unwrap_or_default();
    let top = rank(hits, &judged.gold, Ties::Against).into_iter().take(TOP_OF_MISS);
    Miss {
        text: judged.question.text.clone(),
        gold: judged.gold.keys().cloned().collect(),
        refused: outcome.is_some_and(|outcome| outcome.answer.no_match),
        top: top.map(|hit| Hit { id: hit.id.clone(), score: hit.score }).collect(),
        explanation: outcome.and_then(|outcome| outcome.answer.explanation.clone()),
    }
}

/// blake3 over ids, texts, scopes and gold, each with its length before it.
fn digest(judged: &[&Judged]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &str| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    };
    for judged in judged {
        let Judged { question, gold, level: _ } = judged;
        add(&question.id);
        add(&question.text);
        add(question.scope.as_deref().unwrap_or_default());
        add(&gold.len().to_string());
        for (id, grade) in gold {
            add(id);
            add(&grade.to_string());
        }
    }
    hasher.finalize().to_hex().to_string()
}
