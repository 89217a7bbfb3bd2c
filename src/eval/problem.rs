//! What is wrong with a set of questions, where, and whether the set can be judged all the same.

use std::collections::BTreeMap;
use std::fmt;

use super::EvalError;

/// Something wrong with the content of a set: named and located, never dropped in silence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it was named by whoever read it.
    pub file: String,
    /// The line, counted from 1; none when the file as a whole is meant.
    pub line: Option<u32>,
    /// What is wrong.
    pub kind: ProblemKind,
    /// The id, or the reason of a parser.
    pub detail: String,
}

/// What is wrong with a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A line is not what its file is made of.
    Malformed,
    /// A corpus, a set of questions or a set of judgements has nothing in it.
    Empty,
    /// Two records of a corpus have the same id.
    DuplicateRecord,
    /// Two questions have the same id.
    DuplicateQuestion,
    /// A question and a record are judged twice, with different grades.
    ConflictingJudgement,
    /// A suite names a record that its corpus does not hold.
    UnknownGold,
    /// A held-out question stands among the triggers.
    Leak,
    /// A question and a record are judged twice, with the same grade.
    DuplicateJudgement,
    /// A grade below zero: read as not relevant, as `trec_eval` does.
    NegativeGrade,
    /// A judged record is not in the corpus. The question stays and cannot find it.
    MissingRecord,
    /// A judged record is outside the scope of its question. The question stays and cannot find it.
    OutOfScope,
    /// A judged question is not among the questions. It counts as unanswered: zero.
    MissingQuestion,
    /// A question has no relevant record. It is not asked and not counted.
    Unjudged,
    /// A record or a question without a word in it. A question counts as unanswered: zero.
    Blank,
}

impl ProblemKind {
    /// Whether the set cannot be judged: its numbers would not mean what they say.
    ///
    /// The others are counted and reported, since published sets are full of them and other tools
    /// pass over them too.
    pub fn is_refusal(self) -> bool {
        match self {
            Self::Malformed
            | Self::Empty
            | Self::DuplicateRecord
            | Self::DuplicateQuestion
            | Self::ConflictingJudgement
            | Self::UnknownGold
            | Self::Leak => true,
            Self::DuplicateJudgement
            | Self::NegativeGrade
            | Self::MissingRecord
            | Self::OutOfScope
            | Self::MissingQuestion
            | Self::Unjudged
            | Self::Blank => false,
        }
    }

    /// What is wrong, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed line",
            Self::Empty => "nothing in it",
            Self::DuplicateRecord => "record id twice",
            Self::DuplicateQuestion => "question id twice",
            Self::ConflictingJudgement => "judged twice, differently",
            Self::UnknownGold => "expected record is not in the corpus",
            Self::Leak => "held-out question stands in a trigger",
            Self::DuplicateJudgement => "judged twice",
            Self::NegativeGrade => "negative grade, read as not relevant",
            Self::MissingRecord => "judged record is not in the corpus",
            Self::OutOfScope => "judged record is outside the scope of its question",
            Self::MissingQuestion => "judged question is not among the questions",
            Self::Unjudged => "question without a relevant record",
            Self::Blank => "without a word",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.kind.name())?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// What was read from bytes, with what is wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed<T> {
    /// What was read.
    pub value: T,
    /// What is wrong, in the order of the lines.
    pub problems: Vec<Problem>,
}

impl<T> Parsed<T> {
    /// Returns the value with the problems that are only counted.
    ///
    /// # Errors
    /// [`EvalError::Refused`] with every problem that refuses the set.
    pub fn accept(self) -> Result<(T, Vec<Problem>), EvalError> {
        let (refusals, notes): (Vec<_>, Vec<_>) =
            self.problems.into_iter().partition(|problem| problem.kind.is_refusal());
        if refusals.is_empty() {
            return Ok((self.value, notes));
        }
        Err(EvalError::Refused { problems: refusals })
    }
}

/// Returns how many problems there are of each kind.
pub fn tally(problems: &[Problem]) -> BTreeMap<ProblemKind, u32> {
    let mut counts = BTreeMap::new();
    for problem in problems {
        *counts.entry(problem.kind).or_insert(0) += 1;
    }
    counts
}

/// Collects the problems of one file.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    pub(super) file: &'a str,
    problems: Vec<Problem>,
}

impl<'a> Notes<'a> {
    pub(super) fn of(file: &'a str) -> Self {
        Self { file, problems: Vec::new() }
    }

    pub(super) fn at(&mut self, line: u32, kind: ProblemKind, detail: impl Into<String>) {
        let detail = detail.into();
        self.problems.push(Problem { file: self.file.to_owned(), line: Some(line), kind, detail });
    }

    /// The problems in the order of the file, those of the file as a whole last.
    pub(super) fn by_line(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| problem.line.unwrap_or(u32::MAX));
        self.problems
    }

    pub(super) fn whole(&mut self, kind: ProblemKind, detail: impl Into<String>) {
        let detail = detail.into();
        self.problems.push(Problem { file: self.file.to_owned(), line: None, kind, detail });
    }
}

/// Returns the lines of a file that have something in them, with their numbers from 1: without a
/// byte order mark, without line ends of either kind. A line that is not UTF-8 is a problem.
pub(super) fn lines<'b>(bytes: &'b [u8], notes: &mut Notes<'_>) -> Vec<(u32, &'b str)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = Vec::new();
    for (line, number) in bytes.split(|&byte| byte == b'\n').zip(1_u32..) {
        match std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)) {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => lines.push((number, text)),
            Err(_) => notes.at(number, ProblemKind::Malformed, "not UTF-8"),
        }
    }
    lines
}
