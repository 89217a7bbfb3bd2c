//! Which records may answer a question at all: those with its words and those it calls by name.

use std::collections::BTreeMap;

use crate::bm25::{QueryTerm, Stats};
use crate::recall::lexicon::Role;
use crate::recall::query::QueryWord;
use crate::recall::{Filter, Handles, Query, RecallError, TriggerMatch, rank};
use crate::store::RecordKey;
use crate::text::{Form, Language};
use crate::trigger::How;

/// How many records the words alone bring in. Nine of ten right records are among the first fifty.
const N_CANDIDATES: usize = 200;
/// The most records that one trigger phrase brings in: one that names more of them names none.
const MAX_RECORDS_OF_A_PHRASE: usize = 50;

/// From how many letters on a word may be misspelt by one letter, and by two.
const MIN_LETTERS: usize = 5;
const MIN_LETTERS_FOR_TWO: usize = 9;
/// How many letters at the start of a word are taken as they are: few people misspell the first one.
const SURE_LETTERS: usize = 1;
/// A word that could be one of more than these is none of them.
const MAX_READINGS: usize = 3;

/// The candidates of a question.
#[derive(Debug)]
pub(crate) struct Found {
    /// The records, with the trigger phrases of theirs that stand in the question.
    pub(crate) candidates: BTreeMap<RecordKey, Vec<TriggerMatch>>,
    /// The words of the question as the store knows them, in the order of the question.
    pub(crate) words: Vec<IndexedWord>,
    /// Whether the question has no word of a topic.
    pub(crate) only_filler: bool,
    /// How many records share a word with the question.
    pub(crate) n_matched: u64,
}

/// A word of a question as the store knows it.
#[derive(Debug, Clone)]
pub(crate) struct IndexedWord {
    pub(crate) word: QueryWord,
    /// The terms under which records have it.
    pub(crate) variants: Vec<String>,
    /// What it is taken for, when no record has it as it stands; part of the variants.
    pub(crate) read_as: Vec<String>,
    /// How many live records have it.
    pub(crate) n_records: u64,
}

/// Finds the candidates of a question.
pub(crate) fn find(
    handles: Handles<'_>,
    query: &Query,
    filter: &Filter,
) -> Result<Found, RecallError> {
    let totals = handles.snapshot.totals();
    let languages: Vec<Language> =
        Language::ALL.into_iter().filter(|&language| totals.of_language(language) > 0).collect();
    let mut words: Vec<IndexedWord> = Vec::new();
    for word in query.words() {
        let variants = word.variants(&languages);
        // Forms of one word are one word.
        match words.iter_mut().find(|known| known.variants == variants) {
            Some(known) => known.word.merge(word),
            None => words.push(IndexedWord {
                word: word.clone(),
                variants,
                read_as: Vec::new(),
                n_records: 0,
            }),
        }
    }
    let only_filler = words.iter().all(|word| Role::of(&word.word.text) != Role::Topic);
    let stats = Stats { n_docs: totals.n_records, total_len: totals.all_terms() };
    let accepts = filter.prepare(handles.snapshot)?;
    let search = |words: &[IndexedWord]| {
        let terms: Vec<QueryTerm> = words
            .iter()
            .map(|word| QueryTerm {
                variants: word.variants.clone(),
                weight: narrowed(rank::query_weight(&word.word, only_filler)),
            })
            .collect();
        handles.lexical.search(&terms, &stats, &accepts, N_CANDIDATES)
    };
    let mut found = search(&words)?;
    let mut is_misspelt = false;
    for (word, _) in words.iter_mut().zip(&found.df).filter(|(_, df)| **df == 0) {
        is_misspelt |= read_misspelt(handles, word)?;
    }
    if is_misspelt {
        found = search(&words)?;
    }
    let mut candidates: BTreeMap<RecordKey, Vec<TriggerMatch>> =
        found.hits.iter().map(|hit| (RecordKey(hit.key), Vec::new())).collect();

    let mut failed = None;
    let matches = handles.triggers.scan_live(query.phrase(), |phrase| {
        handles.snapshot.phrase_keys(phrase).map_or_else(
            |error| {
                failed = Some(error);
                false
            },
            |keys| !keys.is_empty(),
        )
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    for found in matches {
        let keys = handles.snapshot.phrase_keys(&found.phrase)?;
        if keys.len() > MAX_RECORDS_OF_A_PHRASE {
            continue;
        }
        for key in keys {
            if filter.accepts_all()
                || handles.snapshot.head(key)?.is_some_and(|h| filter.accepts(&h))
            {
                candidates
                    .entry(key)
                    .or_default()
                    .push(TriggerMatch { phrase: found.phrase.clone(), how: name(found.how) });
            }
        }
    }
    for (word, n_records) in words.iter_mut().zip(found.df) {
        word.n_records = n_records;
    }
    let n_matched = found.n_matched.max(candidates.len() as u64);
    Ok(Found { candidates, words, only_filler, n_matched })
}

/// Takes a word that no record has for a misspelling of those that are nearest to it, if there are some.
///
/// Only words of letters, of [`MIN_LETTERS`] at least: a number or a short name that is not there is not
/// another one.
fn read_misspelt(handles: Handles<'_>, word: &mut IndexedWord) -> Result<bool, RecallError> {
    let n_letters = word.word.text.chars().count();
    let is_name = word.word.form != Form::Plain || !word.word.text.chars().all(char::is_alphabetic);
    if is_name || n_letters < MIN_LETTERS {
        return Ok(false);
    }
    let max_distance = if n_letters < MIN_LETTERS_FOR_TWO { 1 } else { 2 };
    let mut near = Vec::new();
    for variant in &word.variants {
        near.extend(handles.lexical.terms_within(variant, max_distance, SURE_LETTERS)?);
    }
    let nearest = near.iter().map(|term| term.distance).min();
    let mut read_as: Vec<String> = near
        .into_iter()
        .filter(|term| Some(term.distance) == nearest)
        .map(|term| term.term)
        .filter(|term| term.chars().all(char::is_alphabetic))
        .collect();
    read_as.sort();
    read_as.dedup();
    if read_as.is_empty() || read_as.len() > MAX_READINGS {
        return Ok(false);
    }
    word.variants.extend(read_as.iter().cloned());
    word.read_as = read_as;
    Ok(true)
}

fn name(how: How) -> String {
    match how {
        How::Exact => "exact".to_owned(),
        How::Prefix => "prefix".to_owned(),
        How::Fuzzy { distance } => format!("fuzzy {distance}"),
    }
}

/// A weight as the lexical index takes it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a weight is a small number; its last bits say nothing"
)]
fn narrowed(weight: f64) -> f32 {
    weight as f32
}
