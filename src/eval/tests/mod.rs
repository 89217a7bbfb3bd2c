//! Claims about judging, a file for each part:
//!
//! 1. measures are those of `trec_eval`, worked by hand and against its numbers (`metric`);
//! 2. run files and sets are read as they are found, and what is wrong is named (`format`);
//! 3. nobody gets a better number than deserved: constant scores, reversed order, silence (`sanity`);
//! 4. gates refuse what they should: leaks, baselines, comparisons (`gate`);
//! 5. pages say what was measured, and only that (`page`);
//! 6. others are judged as psos is, and a budget is kept at every size (`rival`).

mod format;
mod gate;
mod metric;
mod page;
mod rival;
mod sanity;

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Answer, Judged, Question, RetrieveError, Retriever, Scored};
use crate::clock::FixedClock;

/// A retriever that looks its answers up.
struct Canned {
    answers: BTreeMap<String, Answer>,
}

impl Canned {
    fn of(answers: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        Self { answers: answers.into_iter().map(|(id, a)| (id.to_owned(), a)).collect() }
    }
}

impl Retriever for Canned {
    fn name(&self) -> &'static str {
        "canned"
    }

    fn retrieve(&mut self, question: &Question) -> Result<Answer, RetrieveError> {
        Ok(self.answers.get(&question.id).cloned().unwrap_or_default())
    }
}

fn still() -> FixedClock {
    FixedClock(Duration::from_secs(1))
}

fn hits(pairs: &[(&str, f64)]) -> Vec<Scored> {
    pairs.iter().map(|(id, score)| Scored::new(*id, *score)).collect()
}

fn answer(pairs: &[(&str, f64)]) -> Answer {
    Answer { hits: hits(pairs), tokens: 100, ..Answer::default() }
}

fn gold(pairs: &[(&str, u32)]) -> BTreeMap<String, u32> {
    pairs.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect()
}

fn judged(id: &str, gold_ids: &[&str]) -> Judged {
    let pairs: Vec<(&str, u32)> = gold_ids.iter().map(|id| (*id, 1)).collect();
    Judged {
        question: Question {
            id: id.to_owned(),
            text: format!("where is {id}"),
            scope: None,
            budget_tokens: 2000,
        },
        gold: gold(&pairs),
        level: if gold_ids.is_empty() { "negative" } else { "standard" }.to_owned(),
    }
}
