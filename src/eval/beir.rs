//! Sets in the layout of BEIR: `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`, bytes to values.
//!
//! Two things are more than BEIR has: an id in the judgements that ends in `*` stands for every
//! record whose id begins with what precedes it, and a question may have a `scope`, in which case it
//! is asked within the records whose `metadata.scope` (or `scope`) is the same.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::problem::{Notes, lines};
use super::trec::{Qrels, relevant};
use super::{Judged, Parsed, Problem, ProblemKind, Question};

/// The level that questions of a BEIR set have, since BEIR knows none.
pub const LEVEL: &str = "judged";

/// A record of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: String,
    /// Its title, often empty.
    pub title: String,
    /// Its text.
    pub text: String,
    /// The partition it belongs to, if any.
    pub scope: Option<String>,
    /// The line that it stands on.
    pub line: u32,
}

/// A set of records and judged questions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Beir {
    /// The records, in the order of the file.
    pub documents: Vec<Document>,
    /// The questions that have a relevant record, in the order of their ids. The means of a report
    /// are over all of these.
    pub judged: Vec<Judged>,
}

/// The bytes of a file, and what it is called in problems.
#[derive(Debug, Clone, Copy)]
pub struct Bytes<'a> {
    /// The name.
    pub file: &'a str,
    /// The content.
    pub bytes: &'a [u8],
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "_id")]
    id: Value,
    #[serde(default)]
    title: Option<String>,
    text: String,
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    metadata: Value,
}

impl Line {
    fn scope(self) -> Option<String> {
        let inner = || self.metadata.get("scope").and_then(Value::as_str).map(str::to_owned);
        self.scope.or_else(inner).filter(|scope| !scope.is_empty())
    }
}

/// Reads `corpus.jsonl`: an object a line with `_id` and `text`, and maybe `title` and `metadata`.
pub fn parse_corpus(source: Bytes<'_>) -> Parsed<Vec<Document>> {
    let mut notes = Notes::of(source.file);
    let mut documents = Vec::new();
    for (id, number, line) in objects(source, ProblemKind::DuplicateRecord, &mut notes) {
        let title = line.title.clone().unwrap_or_default();
        let text = line.text.clone();
        if title.trim().is_empty() && text.trim().is_empty() {
            notes.at(number, ProblemKind::Blank, format!("record `{id}`"));
        }
        documents.push(Document { id, title, text, scope: line.scope(), line: number });
    }
    if documents.is_empty() {
        notes.whole(ProblemKind::Empty, "no record");
    }
    Parsed { value: documents, problems: notes.by_line() }
}

/// Reads `queries.jsonl`: an object a line with `_id` and `text`, and maybe `scope`.
pub fn parse_questions(source: Bytes<'_>, budget_tokens: u32) -> Parsed<Vec<Question>> {
    let mut notes = Notes::of(source.file);
    let mut questions = Vec::new();
    for (id, number, line) in objects(source, ProblemKind::DuplicateQuestion, &mut notes) {
        if line.text.trim().is_empty() {
            notes.at(number, ProblemKind::Blank, format!("question `{id}`"));
        }
        let text = line.text.clone();
        questions.push(Question { id, text, scope: line.scope(), budget_tokens });
    }
    if questions.is_empty() {
        notes.whole(ProblemKind::Empty, "no question");
    }
    Parsed { value: questions, problems: notes.by_line() }
}

/// Joins records, questions and judgements into a set.
///
/// A judged question that is not among the questions stays in the set with an empty text: nobody can
/// ask it, so it counts as zero, as it does for other tools. `files` names the three in problems.
pub fn join(
    documents: Vec<Document>,
    questions: Vec<Question>,
    qrels: &Qrels,
    files: &Files<'_>,
    budget_tokens: u32,
) -> Parsed<Beir> {
    let mut notes = Notes::of(files.qrels);
    let corpus: BTreeMap<&str, Option<&str>> =
        documents.iter().map(|d| (d.id.as_str(), d.scope.as_deref())).collect();
    let mut questions: BTreeMap<String, Question> =
        questions.into_iter().map(|question| (question.id.clone(), question)).collect();
    let mut judged = Vec::new();
    for id in qrels.judged.keys() {
        let question = questions.remove(id);
        let scope = question.as_ref().and_then(|question| question.scope.as_deref());
        let gold = gold(id, qrels, &corpus, scope, &mut notes);
        let line = first_line(qrels, id);
        if gold.is_empty() {
            notes.at(line, ProblemKind::Unjudged, format!("`{id}`"));
            continue;
        }
        let question = question.unwrap_or_else(|| {
            notes.at(line, ProblemKind::MissingQuestion, format!("`{id}`"));
            Question { id: id.clone(), text: String::new(), scope: None, budget_tokens }
        });
        judged.push(Judged { question, gold, level: LEVEL.to_owned() });
    }
    if judged.is_empty() {
        notes.whole(ProblemKind::Empty, "no question has a relevant record");
    }
    let mut problems = notes.by_line();
    problems.extend(questions.into_keys().map(|id| Problem {
        file: files.questions.to_owned(),
        line: None,
        kind: ProblemKind::Unjudged,
        detail: format!("`{id}`"),
    }));
    Parsed { value: Beir { documents, judged }, problems }
}

/// The names of the files of a set.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    /// `queries.jsonl`.
    pub questions: &'a str,
    /// `qrels/test.tsv`.
    pub qrels: &'a str,
}

/// The relevant records of a question. Ids that end in `*` are spelled out; where two lines speak of
/// the same record, the later one holds.
fn gold(
    question: &str,
    qrels: &Qrels,
    corpus: &BTreeMap<&str, Option<&str>>,
    scope: Option<&str>,
    notes: &mut Notes<'_>,
) -> BTreeMap<String, u32> {
    let mut lines: Vec<_> = qrels.judged.get(question).into_iter().flatten().collect();
    lines.sort_by_key(|(_, judgement)| judgement.line);
    let mut grades: BTreeMap<String, i32> = BTreeMap::new();
    for (id, judgement) in lines {
        let meant: Vec<&str> = match id.strip_suffix('*') {
            Some(start) if !corpus.contains_key(id.as_str()) => {
                let from = corpus.range(start..).map(|(id, _)| *id);
                from.take_while(|id| id.starts_with(start)).collect()
            }
            _ => corpus.get_key_value(id.as_str()).map(|(id, _)| *id).into_iter().collect(),
        };
        if meant.is_empty() && judgement.grade > 0 {
            let why = format!("`{id}` for question `{question}`");
            notes.at(judgement.line, ProblemKind::MissingRecord, why);
        }
        let outside = |id: &&str| scope.is_some() && corpus.get(id).copied().flatten() != scope;
        if judgement.grade > 0 && meant.iter().any(outside) {
            let why = format!("`{id}` for question `{question}`");
            notes.at(judgement.line, ProblemKind::OutOfScope, why);
        }
        // What is missing stays as a record that nothing can find.
        let meant = if meant.is_empty() { vec![id.as_str()] } else { meant };
        grades.extend(meant.into_iter().map(|id| (id.to_owned(), judgement.grade)));
    }
    grades.into_iter().filter_map(|(id, grade)| Some((id, relevant(grade)?))).collect()
}

fn first_line(qrels: &Qrels, question: &str) -> u32 {
    let judged = qrels.judged.get(question).into_iter().flatten();
    judged.map(|(_, judgement)| judgement.line).min().unwrap_or(1)
}

/// The lines that are objects with an id of their own.
fn objects(
    source: Bytes<'_>,
    duplicate: ProblemKind,
    notes: &mut Notes<'_>,
) -> Vec<(String, u32, Line)> {
    let mut objects = Vec::new();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for (number, text) in lines(source.bytes, notes) {
        let line: Line = match serde_json::from_str(text) {
            Ok(line) => line,
            Err(error) => {
                notes.at(number, ProblemKind::Malformed, error.to_string());
                continue;
            }
        };
        let id = match &line.id {
            Value::String(id) if !id.is_empty() => id.clone(),
            Value::Number(id) => id.to_string(),
            _ => {
                notes.at(number, ProblemKind::Malformed, "`_id` is not a name");
                continue;
            }
        };
        if let Some(first) = seen.get(&id) {
            notes.at(number, duplicate, format!("`{id}` is already on line {first}"));
            continue;
        }
        seen.insert(id.clone(), number);
        objects.push((id, number, line));
    }
    objects
}
