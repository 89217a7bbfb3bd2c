//! Run files and judgements in the formats of TREC and BEIR: bytes to values and back.
//!
//! A run file has six columns, `question Q0 record rank score tag`. Its readers disagree on two
//! points, and the writer here serves all of them:
//!
//! - **Ties.** `trec_eval` ignores the rank column, holds scores as 32-bit floats and breaks ties by
//!   id, so an order that is not in the scores is lost. Written scores therefore decrease strictly
//!   *as 32-bit floats*: a score that does not is lowered to the next float below the one before it.
//! - **White space in ids.** A line whose ids hold a space is separated by tabs, every other line by
//!   single spaces. Ids are never rewritten: percent-encoding would turn ids such as `a%20b`, which
//!   need nothing, into ones that match no judgement. Tools that split at any white space refuse
//!   such a line for its number of columns rather than misread it. An id with a tab or a line break
//!   is refused.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::problem::{Notes, lines};
use super::{EvalError, Parsed, ProblemKind, Scored};

/// The ranked records of every question, in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// The tag of the first line, empty when there is none.
    pub tag: String,
    /// The hits of each question, by its id. Which of them is first, their scores say.
    pub hits: BTreeMap<String, Vec<Scored>>,
}

/// The judgements of a set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Qrels {
    /// By question and record.
    pub judged: BTreeMap<String, BTreeMap<String, Judgement>>,
}

/// How relevant a record is to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// Relevant from 1 up; 0 and below are not relevant.
    pub grade: i32,
    /// The line that says so.
    pub line: u32,
}

impl Qrels {
    /// The relevant records of a question with their grades; empty when it has none.
    pub fn gold(&self, question: &str) -> BTreeMap<String, u32> {
        let judged = self.judged.get(question).into_iter().flatten();
        judged.filter_map(|(id, j)| Some((id.clone(), relevant(j.grade)?))).collect()
    }
}

/// The grade, when it is one of a relevant record.
pub(super) fn relevant(grade: i32) -> Option<u32> {
    u32::try_from(grade).ok().filter(|&grade| grade > 0)
}

/// Reads a run file.
///
/// A line with exactly five tabs is split at them, every other at any white space. The rank column
/// is not read, as in `trec_eval`. A wrong number of columns, a score that is no finite number and
/// a record that a question has already are [`ProblemKind::Malformed`].
pub fn parse_run(file: &str, bytes: &[u8]) -> Parsed<Run> {
    let mut notes = Notes::of(file);
    let mut run = Run::default();
    let mut seen: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
    for (number, line) in lines(bytes, &mut notes) {
        let columns = columns(line, &[6]);
        let [question, _, id, _, score, tag] = columns.as_slice() else {
            let found = columns.len();
            notes.at(
                number,
                ProblemKind::Malformed,
                format!("expected six columns, found {found}"),
            );
            continue;
        };
        let Some(score) = score.trim().parse::<f64>().ok().filter(|score| score.is_finite()) else {
            notes.at(number, ProblemKind::Malformed, format!("`{score}` is not a score"));
            continue;
        };
        if let Some(first) = seen.entry(question).or_default().insert(id, number) {
            let why = format!("`{id}` is already on line {first} for question `{question}`");
            notes.at(number, ProblemKind::Malformed, why);
            continue;
        }
        if run.tag.is_empty() {
            (*tag).clone_into(&mut run.tag);
        }
        run.hits.entry((*question).to_owned()).or_default().push(Scored::new(*id, score));
    }
    Parsed { value: run, problems: notes.by_line() }
}

/// Writes a run file: the questions in the order of their ids, the hits in the order given.
///
/// # Errors
/// [`EvalError::UnwritableId`] when an id or the tag is empty or holds a tab or a line break.
pub fn write_run(run: &Run) -> Result<String, EvalError> {
    let mut text = String::new();
    for (question, hits) in &run.hits {
        write_hits(&mut text, question, hits, &run.tag)?;
    }
    Ok(text)
}

/// Appends the lines of one question to `out`, the hits in the order given.
///
/// # Errors
/// [`EvalError::UnwritableId`] as for [`write_run`]; `out` then holds nothing of this question.
pub fn write_hits(
    out: &mut String,
    question: &str,
    hits: &[Scored],
    tag: &str,
) -> Result<(), EvalError> {
    let names = [question, tag].into_iter().chain(hits.iter().map(|hit| hit.id.as_str()));
    for name in names {
        // A tag or id that begins or ends with a space is kept by tabs, so only these are lost.
        if name.is_empty() || name.contains(['\t', '\n', '\r']) {
            return Err(EvalError::UnwritableId { id: name.to_owned() });
        }
    }
    // Half of the range of the type, so that there is always a float below.
    let mut above = f32::MAX / 2.0;
    for (hit, rank) in hits.iter().zip(1_u32..) {
        let score = narrow(hit.score).max(f32::MIN / 2.0).min(above);
        above = score.next_down();
        let spaced = [question, &hit.id, tag].iter().any(|n| n.contains(char::is_whitespace));
        let s = if spaced { '\t' } else { ' ' };
        let _ = writeln!(out, "{question}{s}Q0{s}{}{s}{rank}{s}{score}{s}{tag}", hit.id);
    }
    Ok(())
}

/// Reads judgements, in either layout: `question iteration record grade` of TREC, or `question
/// record grade` of BEIR, which may begin with a heading.
///
/// Under a heading whose record column is named `prefix` or `path-prefix`, each id stands for every
/// record whose id begins with it, as if it ended in `*` (see [`super::beir`]).
///
/// Byte order mark, `\r\n` and blank lines are fine. A grade may be written as `1.0` when it is
/// whole. Every line has to have as many columns as the first.
pub fn parse_qrels(file: &str, bytes: &[u8]) -> Parsed<Qrels> {
    let mut notes = Notes::of(file);
    let mut qrels = Qrels::default();
    let (mut width, mut are_prefixes) = (None, false);
    for (idx, (number, line)) in lines(bytes, &mut notes).into_iter().enumerate() {
        let columns = columns(line, &[3, 4]);
        if idx == 0 && is_heading(&columns) {
            are_prefixes = columns.iter().any(|word| word.trim().ends_with("prefix"));
            continue;
        }
        let (question, id, grade) = match columns.as_slice() {
            [question, id, grade] | [question, _, id, grade] => (*question, *id, *grade),
            _ => {
                let why = format!("expected three or four columns, found {}", columns.len());
                notes.at(number, ProblemKind::Malformed, why);
                continue;
            }
        };
        let expected = *width.get_or_insert(columns.len());
        if columns.len() != expected {
            let why = format!("expected {expected} columns as above, found {}", columns.len());
            notes.at(number, ProblemKind::Malformed, why);
            continue;
        }
        let Some(grade) = parse_grade(grade) else {
            notes.at(number, ProblemKind::Malformed, format!("`{grade}` is not a whole grade"));
            continue;
        };
        if question.is_empty() || id.is_empty() {
            notes.at(number, ProblemKind::Malformed, "an id is empty");
            continue;
        }
        if grade < 0 {
            notes.at(number, ProblemKind::NegativeGrade, format!("{grade} for `{id}`"));
        }
        let id = if are_prefixes { format!("{id}*") } else { id.to_owned() };
        let of_question = qrels.judged.entry(question.to_owned()).or_default();
        match of_question.get(&id) {
            None => {
                of_question.insert(id, Judgement { grade, line: number });
            }
            Some(earlier) => {
                let kind = if earlier.grade == grade {
                    ProblemKind::DuplicateJudgement
                } else {
                    ProblemKind::ConflictingJudgement
                };
                let why = format!("`{id}` for question `{question}`, see line {}", earlier.line);
                notes.at(number, kind, why);
            }
        }
    }
    if qrels.judged.is_empty() {
        notes.whole(ProblemKind::Empty, "no judgement");
    }
    Parsed { value: qrels, problems: notes.by_line() }
}

/// Writes judgements in the four columns of `trec_eval`.
///
/// # Errors
/// [`EvalError::UnwritableId`] when an id is empty or holds a tab or a line break.
pub fn write_qrels(qrels: &Qrels) -> Result<String, EvalError> {
    let mut text = String::new();
    for (question, judged) in &qrels.judged {
        for (id, judgement) in judged {
            if let Some(bad) =
                [question, id].into_iter().find(|n| n.is_empty() || n.contains(['\t', '\n', '\r']))
            {
                return Err(EvalError::UnwritableId { id: bad.clone() });
            }
            let spaced = [question, id].iter().any(|n| n.contains(char::is_whitespace));
            let s = if spaced { '\t' } else { ' ' };
            let _ = writeln!(text, "{question}{s}0{s}{id}{s}{}", judgement.grade);
        }
    }
    Ok(text)
}

/// Splits at tabs when that gives one of `widths`, else at any white space.
fn columns<'l>(line: &'l str, widths: &[usize]) -> Vec<&'l str> {
    let by_tab: Vec<&str> = line.split('\t').collect();
    if widths.contains(&by_tab.len()) { by_tab } else { line.split_whitespace().collect() }
}

/// Only a heading by its known words: a first line with a broken grade must not pass as one.
fn is_heading(columns: &[&str]) -> bool {
    let last = columns.last().map(|word| word.trim().to_ascii_lowercase()).unwrap_or_default();
    ["score", "grade", "relevance", "rel", "label"].contains(&last.as_str())
}

fn parse_grade(text: &str) -> Option<i32> {
    let text = text.trim();
    if let Ok(grade) = text.parse::<i32>() {
        return Some(grade);
    }
    // `1.0`, `+2.`: the whole part, when nothing but zeros follows the point.
    let (whole, rest) = text.split_once('.')?;
    if !rest.bytes().all(|byte| byte == b'0') {
        return None;
    }
    whole.parse().ok()
}

/// The nearest 32-bit float, which is all that `trec_eval` keeps of a score.
#[expect(clippy::cast_possible_truncation, reason = "the loss is the point, see the module")]
pub(super) fn narrow(score: f64) -> f32 {
    score as f32
}
