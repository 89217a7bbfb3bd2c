//! Reading sets, suites and results from files. The only part of `eval` that opens one.

use std::fs;
use std::path::Path;

use super::baseline::Baseline;
use super::beir::{self, Beir, Bytes, Files};
use super::{EvalError, Parsed, Problem, Questions, Report, Role, Suite, suite, trec};

/// Reads a folder with `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`. Every question may cost
/// `budget_tokens`. `qrels` names another file of judgements instead.
///
/// Call [`Parsed::accept`] on the outcome to refuse a set whose numbers would mean nothing.
///
/// # Errors
/// [`EvalError::Unreadable`] for a file that cannot be read.
pub fn beir(
    dir: &Path,
    qrels: Option<&Path>,
    budget_tokens: u32,
) -> Result<Parsed<Beir>, EvalError> {
    let mut paths = ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"].map(|name| dir.join(name));
    if let ([_, _, own], Some(other)) = (&mut paths, qrels) {
        other.clone_into(own);
    }
    let [corpus, questions, qrels] = &paths;
    let names = [corpus, questions, qrels].map(|path| path.display().to_string());
    let [corpus_name, questions_name, qrels_name] = &names;
    let (corpus, questions, qrels) = (bytes(corpus)?, bytes(questions)?, bytes(qrels)?);
    let mut problems: Vec<Problem> = Vec::new();
    let documents =
        keep(beir::parse_corpus(Bytes { file: corpus_name, bytes: &corpus }), &mut problems);
    let questions = keep(
        beir::parse_questions(Bytes { file: questions_name, bytes: &questions }, budget_tokens),
        &mut problems,
    );
    let qrels = keep(trec::parse_qrels(qrels_name, &qrels), &mut problems);
    let files = Files { questions: questions_name, qrels: qrels_name };
    let set = keep(beir::join(documents, questions, &qrels, &files, budget_tokens), &mut problems);
    Ok(Parsed { value: set, problems })
}

/// Reads a run file.
///
/// # Errors
/// [`EvalError::Unreadable`].
pub fn run(path: &Path) -> Result<Parsed<trec::Run>, EvalError> {
    Ok(trec::parse_run(&path.display().to_string(), &bytes(path)?))
}

/// Reads judgements of TREC or BEIR.
///
/// # Errors
/// [`EvalError::Unreadable`].
pub fn qrels(path: &Path) -> Result<Parsed<trec::Qrels>, EvalError> {
    Ok(trec::parse_qrels(&path.display().to_string(), &bytes(path)?))
}

/// Reads a suite file.
///
/// # Errors
/// [`EvalError::Unreadable`], and those of [`Suite::parse`].
pub fn suite(path: &Path) -> Result<Suite, EvalError> {
    let file = path.display().to_string();
    let text = String::from_utf8(bytes(path)?).map_err(|source| EvalError::Format {
        file: file.clone(),
        what: "suite",
        source: Box::new(source),
    })?;
    Suite::parse(&file, &text)
}

/// Reads the questions of a suite whose splits have one of these roles; the files of the others are
/// not opened. Code that tunes passes [`Role::Tune`] alone.
///
/// `suite_path` is the suite file, which the files of questions are named relative to.
///
/// # Errors
/// [`EvalError::Unreadable`] for a file that cannot be read.
pub fn splits(
    suite: &Suite,
    suite_path: &Path,
    roles: &[Role],
) -> Result<Parsed<Vec<Questions>>, EvalError> {
    let dir = suite_path.parent().unwrap_or(Path::new(""));
    let (mut splits, mut problems) = (Vec::new(), Vec::new());
    for split in suite.splits.iter().filter(|split| roles.contains(&split.role)) {
        let path = dir.join(&split.questions);
        let (file, bytes) = (path.display().to_string(), bytes(&path)?);
        let parsed = Questions::parse(split.clone(), &file, &bytes, suite.budget_tokens);
        splits.push(keep(parsed, &mut problems));
    }
    problems.extend(suite::repeated_ids(&splits));
    Ok(Parsed { value: splits, problems })
}

/// Reads a report that was written as JSON.
///
/// # Errors
/// [`EvalError::Unreadable`], and those of [`Report::parse`].
pub fn report(path: &Path) -> Result<Report, EvalError> {
    Report::parse(&path.display().to_string(), &bytes(path)?)
}

/// Reads a baseline file.
///
/// # Errors
/// [`EvalError::Unreadable`], and those of [`Baseline::parse`].
pub fn baseline(path: &Path) -> Result<Baseline, EvalError> {
    Baseline::parse(&path.display().to_string(), &bytes(path)?)
}

fn keep<T>(parsed: Parsed<T>, problems: &mut Vec<Problem>) -> T {
    problems.extend(parsed.problems);
    parsed.value
}

fn bytes(path: &Path) -> Result<Vec<u8>, EvalError> {
    fs::read(path).map_err(|source| EvalError::Unreadable { path: path.to_owned(), source })
}
