//! Whether held-out questions, or long pieces of them, were written into what is searched.
//!
//! A trigger that is a held-out question makes its number worthless. Words are those of
//! [`crate::text::phrase`], the form in which triggers are looked up, so that case, punctuation and
//! width do not hide a leak. Text without spaces between its words is one word to this audit: there
//! it finds equal questions, and no pieces.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::suite::Questions;
use super::{EvalError, Parsed, Problem, ProblemKind};
use crate::text;

/// From how many words in a row on a piece of a question in a trigger is listed.
pub const RUN_WORDS: usize = 5;

/// A text that held-out questions are looked for in: a trigger, or a question to tune on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phrase<'a> {
    /// Whose it is: the id of a record, or of a question.
    pub owner: &'a str,
    /// The text.
    pub text: &'a str,
}

/// What the audit found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audit {
    /// The questions that stand in a phrase from their first word to their last: equal to it, or
    /// inside it when they have at least [`RUN_WORDS`] words. The suite is refused for these.
    pub refused: Vec<Problem>,
    /// The longer pieces that questions and phrases share, for a person to look at.
    pub shared: Vec<SharedRun>,
}

/// Words in a row that a held-out question shares with a phrase.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SharedRun {
    /// The question.
    pub question: String,
    /// Whose phrase it is.
    pub owner: String,
    /// The words, as they are compared.
    pub words: String,
}

impl fmt::Display for SharedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "question `{}` shares `{}` with `{}`", self.question, self.words, self.owner)
    }
}

impl Audit {
    /// Returns the shared pieces, when no question is leaked.
    ///
    /// # Errors
    /// [`EvalError::Refused`] with every leaked question.
    pub fn accept(self) -> Result<Vec<SharedRun>, EvalError> {
        Parsed { value: self.shared, problems: self.refused }.accept().map(|(shared, _)| shared)
    }
}

/// Looks for the questions of every split that is held out ([`super::Role::is_held_out`]) in the
/// phrases.
///
/// Costs one look-up for each word of a question, whatever the number of phrases.
pub fn audit(splits: &[Questions], phrases: &[Phrase<'_>]) -> Audit {
    let normal: Vec<String> = phrases.iter().map(|phrase| text::phrase(phrase.text)).collect();
    let index = Index::of(&normal);
    let mut audit = Audit::default();
    for split in splits.iter().filter(|split| split.split.role.is_held_out()) {
        for question in split.judged.iter().map(|judged| &judged.question) {
            let words = text::phrase(&question.text);
            let (whole, pieces) = index.look_up(&words);
            let owner = |at: usize| phrases.get(at).map_or("", |phrase| phrase.owner);
            for at in whole {
                audit.refused.push(Problem {
                    file: split.file.clone(),
                    line: Some(split.line(&question.id)),
                    kind: ProblemKind::Leak,
                    detail: format!("`{}` in `{}`", question.id, owner(at)),
                });
            }
            audit.shared.extend(pieces.into_iter().map(|(at, words)| SharedRun {
                question: question.id.clone(),
                owner: owner(at).to_owned(),
                words,
            }));
        }
    }
    audit.shared.sort();
    audit.shared.dedup();
    audit
}

/// Phrases by their text and by every [`RUN_WORDS`] words in a row.
struct Index<'n> {
    words: Vec<Vec<&'n str>>,
    whole: BTreeMap<&'n str, Vec<usize>>,
    runs: BTreeMap<Vec<&'n str>, Vec<(usize, usize)>>,
}

impl<'n> Index<'n> {
    fn of(normal: &'n [String]) -> Self {
        let words: Vec<Vec<&str>> = normal.iter().map(|p| p.split(' ').collect()).collect();
        let mut whole: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut runs: BTreeMap<Vec<&str>, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, phrase) in normal.iter().enumerate().filter(|(_, phrase)| !phrase.is_empty()) {
            whole.entry(phrase).or_default().push(at);
        }
        for (at, words) in words.iter().enumerate() {
            for (from, run) in words.windows(RUN_WORDS).enumerate() {
                runs.entry(run.to_vec()).or_default().push((at, from));
            }
        }
        Self { words, whole, runs }
    }

    /// Returns the phrases that hold the whole question, and the longest pieces of it in the others.
    fn look_up(&self, question: &str) -> (BTreeSet<usize>, BTreeSet<(usize, String)>) {
        let mut whole: BTreeSet<usize> =
            self.whole.get(question).into_iter().flatten().copied().collect();
        let mut pieces = BTreeSet::new();
        let asked: Vec<&str> = question.split(' ').collect();
        for (start, run) in asked.windows(RUN_WORDS).enumerate() {
            for &(at, from) in self.runs.get(run).into_iter().flatten() {
                let phrase = self.words.get(at).map(Vec::as_slice).unwrap_or_default();
                if start > 0 && from > 0 && asked.get(start - 1) == phrase.get(from - 1) {
                    continue; // Part of the run that began a word earlier.
                }
                let rest = asked.iter().skip(start).zip(phrase.iter().skip(from));
                let shared: Vec<&str> = rest.take_while(|(a, b)| a == b).map(|(a, _)| *a).collect();
                if shared.len() == asked.len() {
                    whole.insert(at);
                } else {
                    pieces.insert((at, shared.join(" ")));
                }
            }
        }
        pieces.retain(|(at, _)| !whole.contains(at));
        (whole, pieces)
    }
}
