//! Plain BM25 over texts that the caller chooses: what a retriever has to beat. In memory, with the
//! words and stems of [`crate::text`]; no tiers, no features, no floor.

use std::collections::BTreeMap;

use super::metric::{mean, number};
use super::{Answer, Disclosed, Question, RetrieveError, Retriever, Scored};
use crate::record::Tier;
use crate::text::{self, Language};

/// How soon further occurrences of a word stop counting, and how much length counts: the usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// How many hits of a ranking are handed to the judge.
const N_JUDGED: usize = 100;

/// A text that can be found, under the id that is judged.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// The id.
    pub id: &'a str,
    /// The partition it belongs to; empty for none.
    pub scope: &'a str,
    /// What is searched.
    pub text: &'a str,
    /// What showing it costs, in tokens.
    pub tokens: u32,
}

/// What of the ranking is shown to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// Nothing: the ranking alone is judged.
    Nothing,
    /// The first text, whatever it costs.
    First,
    /// The best texts whole, in the order of the ranking, as many as there is room for: one that does
    /// not fit is passed over, and the next one tried.
    Packed {
        /// At most this many.
        n_records: u32,
    },
}

/// BM25 with `k1 = 1.2` and `b = 0.75` over one field, as Robertson and Zaragoza, "The probabilistic
/// relevance framework", 2009, have it; inverse document frequency is `ln(1 + (N - n + 1/2) / (n + 1/2))`.
///
/// Words are stemmed in the language of their text; a word of a question is looked up in every
/// language that a text is in. No stop words. Equal scores are ordered by id.
#[derive(Debug)]
pub struct Bm25 {
    name: String,
    shows: Shows,
    texts: Vec<Row>,
    average_len: f64,
    /// The texts that have a term, with how often they do, by the language that it is stemmed in.
    postings: BTreeMap<Language, BTreeMap<String, Vec<(usize, u32)>>>,
}

#[derive(Debug)]
struct Row {
    id: String,
    scope: String,
    len: f64,
    tokens: u32,
}

impl Bm25 {
    /// Indexes texts under a name to be reported by.
    pub fn new<'a>(name: &str, shows: Shows, texts: impl IntoIterator<Item = Text<'a>>) -> Self {
        let mut rows = Vec::new();
        let mut postings: BTreeMap<Language, BTreeMap<String, Vec<(usize, u32)>>> = BTreeMap::new();
        for (at, text) in texts.into_iter().enumerate() {
            let language = Language::detect(text.text);
            let terms = text::terms(text.text, language);
            let of_language = postings.entry(language).or_default();
            let len = number(terms.len());
            for (term, n) in counts(terms) {
                of_language.entry(term).or_default().push((at, n));
            }
            rows.push(Row {
                id: text.id.to_owned(),
                scope: text.scope.to_owned(),
                len,
                tokens: text.tokens,
            });
        }
        let average_len = mean(rows.iter().map(|row| row.len)).max(1.0);
        Self { name: name.to_owned(), shows, texts: rows, average_len, postings }
    }

    /// Returns the best texts for a question, best first.
    fn rank(&self, question: &Question) -> Vec<(&Row, f64)> {
        let mut scores = vec![0.0_f64; self.texts.len()];
        // Words that are stemmed alike in every language are one word.
        let words = text::words(&question.text);
        let stems = words.iter().map(|word| {
            self.postings.keys().map(|&language| word.term(language)).collect::<Vec<String>>()
        });
        for (stems, n_asked) in counts(stems) {
            let found: Vec<&(usize, u32)> = self
                .postings
                .values()
                .zip(&stems)
                .filter_map(|(terms, stem)| terms.get(stem))
                .flatten()
                .collect();
            let (n, all) = (number(found.len()), number(self.texts.len()));
            let idf = (1.0 + (all - n + 0.5) / (n + 0.5)).ln();
            for &&(at, n_here) in &found {
                let (Some(score), Some(row)) = (scores.get_mut(at), self.texts.get(at)) else {
                    continue;
                };
                let n_here = f64::from(n_here);
                let length = 1.0 - B + B * row.len / self.average_len;
                *score += f64::from(n_asked) * idf * n_here * (K1 + 1.0) / (n_here + K1 * length);
            }
        }
        let in_scope = |row: &Row| question.scope.as_ref().is_none_or(|scope| *scope == row.scope);
        let rows = self.texts.iter().zip(scores);
        let mut ranked: Vec<(&Row, f64)> =
            rows.filter(|(row, score)| *score > 0.0 && in_scope(row)).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.id.cmp(&b.0.id)));
        ranked
    }

    fn shown<'r>(&self, ranked: &[(&'r Row, f64)], budget_tokens: u32) -> Vec<&'r Row> {
        let rows = ranked.iter().map(|(row, _)| *row);
        match self.shows {
            Shows::Nothing => Vec::new(),
            Shows::First => rows.take(1).collect(),
            Shows::Packed { n_records } => {
                let mut room = budget_tokens;
                rows.take(n_records as usize)
                    .filter(|row| match room.checked_sub(row.tokens) {
                        Some(left) => {
                            room = left;
                            true
                        }
                        None => false,
                    })
                    .collect()
            }
        }
    }
}

impl Retriever for Bm25 {
    fn name(&self) -> &str {
        &self.name
    }

    fn retrieve(&mut self, question: &Question) -> Result<Answer, RetrieveError> {
        let ranked = self.rank(question);
        let shown = self.shown(&ranked, question.budget_tokens);
        let hits = ranked.iter().take(N_JUDGED);
        Ok(Answer {
            hits: hits.map(|(row, score)| Scored::new(row.id.clone(), *score)).collect(),
            no_match: ranked.is_empty(),
            tokens: shown.iter().fold(0, |sum, row| sum.saturating_add(row.tokens)),
            disclosed: shown
                .into_iter()
                .map(|row| Disclosed { id: row.id.clone(), tier: Tier::Detail, complete: true })
                .collect(),
            explanation: None,
        })
    }
}

/// How often each value comes, in the order of the values.
fn counts<T: Ord>(values: impl IntoIterator<Item = T>) -> BTreeMap<T, u32> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0) += 1;
    }
    counts
}
