//! A question as the features measure records against it.

#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]

use std::collections::BTreeMap;

use crate::recall::candidate::{Found, IndexedWord};
use crate::recall::lexicon::{self, Role};
use crate::recall::paraphrase;
use crate::recall::rank::{Reasons, query_weight};
use crate::recall::{Handles, Query, RecallError, TermMatch};
use crate::store::{Field, Snapshot};
use crate::text::{self, Form};

/// From which share of common 4-grams two words count as similar (Dice coefficient).
const MIN_SIMILARITY: f64 = 0.5;
/// Query words further apart than this are no pair.
const PAIR_DISTANCE: u32 = 6;
/// How sure one word of a paraphrase makes that a record means what was asked, if the word is of middling
/// rarity; in proportion to its rarity, up to the second number.
const SURE_OF_A_WORD: (f64, f64) = (0.6, 0.7);
/// The most words that pairs are made of: their number grows with the square.
const MAX_PAIRED_WORDS: usize = 48;

/// A word of the question.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) word: IndexedWord,
    /// Its inverse document frequency: ln(1 + (N - n + 1/2) / (n + 1/2)).
    pub(super) idf: f64,
    /// Rarity times what the word counts for in the question.
    pub(super) weight: f64,
    /// Rarity times the number of times it stands in the question, whatever its role.
    pub(super) plain_weight: f64,
    /// Fingerprints of the forms in which it stands in the question.
    pub(super) forms: Vec<u16>,
}

/// How a word of a record stands to a word of the question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Likeness {
    pub(super) term: usize,
    /// 1 for the same word, else the share of common 4-grams.
    pub(super) similarity: f64,
}

/// What documents may say instead of some words of the question.
#[derive(Debug)]
pub(super) struct Paraphrase {
    /// The words of the question, as places among the terms.
    pub(super) asked: Vec<usize>,
    /// What it weighs: as much as the words that it stands for, and not less than a word or two of
    /// middling rarity, since common words together say something rare.
    pub(super) weight: f64,
    /// Words of records, as places among [`Model::said`], each with how sure it makes.
    pub(super) said: Vec<(usize, f64)>,
}

/// A question, measured against the records of a store.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) terms: Vec<Term>,
    /// The sum of the weights.
    pub(super) total: f64,
    /// The sum of the plain weights.
    pub(super) plain_total: f64,
    /// The largest weight of a word that any record has.
    pub(super) max_weight: f64,
    /// Which pairs of words stand close to each other in the question, and what a pair weighs.
    pub(super) pairs: Vec<(usize, usize, f64)>,
    /// Which words follow one another in the question, function words left out.
    pub(super) neighbours: Vec<(usize, usize, f64)>,
    /// Words of a record that are like a word of the question, sorted by fingerprint.
    likenesses: Vec<(u32, Likeness)>,
    /// Words of a record that may stand for a word of the question, sorted by fingerprint.
    synonyms: Vec<(u32, usize)>,
    /// What documents may say instead.
    pub(super) paraphrases: Vec<Paraphrase>,
    /// The words that they may say, in the order of their stems.
    pub(super) said: Vec<&'static str>,
    /// The fingerprints of these words with their places, sorted.
    said_prints: Vec<(u32, usize)>,
    /// One bit for each fingerprint modulo 4,096 that is in any list: most words are in none.
    known: Box<[u64; 64]>,
    /// The average number of words in each field, at least 1.
    pub(super) average: [f64; 6],
    /// The average number of words in a record, at least 1.
    pub(super) average_all: f64,
    /// The rarity of a word of middling frequency: what an unknown word of a record counts for.
    pub(super) typical_idf: f64,
    /// Whether the question asks where something is used, and not what it is.
    pub(super) asks_for_use: bool,
    /// Which terms stand between quotation marks or backticks in the question.
    pub(super) is_quoted: Vec<bool>,
}

impl Model {
    pub(super) fn new(
        handles: Handles<'_>,
        query: &Query,
        found: &Found,
    ) -> Result<Self, RecallError> {
        let snapshot = handles.snapshot;
        let totals = snapshot.totals();
        let n = totals.n_records as f64;
        let idf = |n_records: f64| (1.0 + (n - n_records + 0.5).max(0.0) / (n_records + 0.5)).ln();
        let mut terms = Vec::with_capacity(found.words.len());
        for word in &found.words {
            // A compound that no record has as a whole is known by its parts; and that a small store has
            // no `of` says nothing of a question.
            let is_filler = !found.only_filler && Role::of(&word.word.text) != Role::Topic;
            if word.n_records == 0 && (word.word.form == Form::Whole || is_filler) {
                continue;
            }
            let idf = idf(word.n_records as f64);
            terms.push(Term {
                idf,
                weight: idf * query_weight(&word.word, found.only_filler),
                plain_weight: idf * f64::from(word.word.n),
                forms: word.word.forms.iter().map(|form| text::form_print(form)).collect(),
                word: word.clone(),
            });
        }
        let sum = |of: &dyn Fn(&Term) -> f64| terms.iter().map(of).sum::<f64>().max(1e-9);
        let records = n.max(1.0);
        let mut average = [1.0; 6];
        for (slot, field) in average.iter_mut().zip(Field::ALL) {
            *slot = (totals.terms(field) as f64 / records).max(1.0);
        }
        let mut model = Self {
            total: sum(&|term| term.weight),
            plain_total: sum(&|term| term.plain_weight),
            max_weight: terms
                .iter()
                .filter(|term| term.word.n_records > 0)
                .map(|term| term.weight)
                .fold(1e-9, f64::max),
            pairs: Vec::new(),
            neighbours: Vec::new(),
            likenesses: Vec::new(),
            synonyms: Vec::new(),
            known: Box::new([0; 64]),
            average,
            average_all: (query.fields().map(|field| totals.terms(field)).sum::<u64>() as f64
                / records)
                .max(1.0),
            typical_idf: idf(n.sqrt()),
            asks_for_use: asks_for_use(query.text()),
            is_quoted: is_quoted(query.text(), &terms),
            paraphrases: Vec::new(),
            said: Vec::new(),
            said_prints: Vec::new(),
            terms,
        };
        model.pairs = model.find_pairs();
        model.neighbours = model.find_neighbours();
        model.likenesses = model.find_likenesses(snapshot)?;
        model.synonyms = model.find_synonyms();
        model.find_paraphrases(handles, query, &idf)?;
        let prints = model.likenesses.iter().map(|(print, _)| *print);
        let prints = prints.chain(model.synonyms.iter().map(|(print, _)| *print));
        for print in prints.chain(model.said_prints.iter().map(|(print, _)| *print)) {
            if let Some(word) = model.known.get_mut((print as usize >> 6) & 63) {
                *word |= 1 << (print & 63);
            }
        }
        Ok(model)
    }

    /// Whether a word of a record may be in one of the lists; never false for one that is.
    pub(super) fn may_know(&self, print: u32) -> bool {
        self.known.get((print as usize >> 6) & 63).is_some_and(|word| word >> (print & 63) & 1 == 1)
    }

    /// The word of the question that a word of a record is most like.
    pub(super) fn likeness(&self, print: u32) -> Option<Likeness> {
        let at = self.likenesses.binary_search_by_key(&print, |(print, _)| *print).ok()?;
        self.likenesses.get(at).map(|(_, likeness)| *likeness)
    }

    /// The words of the question that a word of a record may stand for.
    pub(super) fn synonyms_of(&self, print: u32) -> impl Iterator<Item = usize> + '_ {
        let from = self.synonyms.partition_point(|(known, _)| *known < print);
        let rest = self.synonyms.get(from..).unwrap_or_default();
        rest.iter().take_while(move |(known, _)| *known == print).map(|(_, term)| *term)
    }

    /// What scores are explained with.
    pub(super) fn reasons(&self) -> Reasons {
        let terms = self.terms.iter().map(|term| TermMatch {
            term: term.word.word.text.clone(),
            read_as: term.word.read_as.clone(),
            n_records: term.word.n_records,
            weight: term.weight,
            counts: [0; 6],
        });
        let asked = |places: &[usize]| {
            let words = places.iter().filter_map(|&place| self.terms.get(place));
            words.map(|term| term.word.word.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        let paraphrases = self.paraphrases.iter().map(|paraphrase| {
            let said = paraphrase.said.iter().map(|(place, _)| *place).collect();
            (asked(&paraphrase.asked), said)
        });
        Reasons {
            terms: terms.collect(),
            paraphrases: paraphrases.collect(),
            said: self.said.clone(),
        }
    }

    /// The place of a word of a record among [`Model::said`].
    pub(super) fn said(&self, print: u32) -> Option<usize> {
        let at = self.said_prints.binary_search_by_key(&print, |(print, _)| *print).ok()?;
        self.said_prints.get(at).map(|(_, place)| *place)
    }

    fn find_paraphrases(
        &mut self,
        handles: Handles<'_>,
        query: &Query,
        idf: &dyn Fn(f64) -> f64,
    ) -> Result<(), RecallError> {
        let (sure, surest) = SURE_OF_A_WORD;
        // Which words records have at all, and how sure each makes.
        let mut known: BTreeMap<&'static str, Option<(usize, f64)>> = BTreeMap::new();
        for found in paraphrase::find(query.phrase()) {
            let is_asked = |term: &Term| {
                term.word.variants.iter().any(|word| found.asked.contains(&word.as_str()))
            };
            let asked: Vec<usize> = (0..)
                .zip(&self.terms)
                .filter(|(_, term)| is_asked(term))
                .map(|(place, _)| place)
                .collect();
            let of_words: f64 =
                asked.iter().filter_map(|&place| self.terms.get(place)).map(|t| t.weight).sum();
            let n_words = found.asked.len() as f64;
            let least = self.typical_idf * (0.5 + 0.5 * n_words).min(1.5);
            let mut said = Vec::with_capacity(found.said.len());
            for word in found.said {
                let entry = match known.get(word) {
                    Some(entry) => *entry,
                    None => {
                        let n = handles.lexical.document_frequency(&[word.to_owned()])?;
                        let entry = (n > 0).then(|| {
                            self.said.push(word);
                            let place = self.said.len() - 1;
                            (place, (sure * idf(n as f64) / self.typical_idf).min(surest))
                        });
                        known.insert(word, entry);
                        entry
                    }
                };
                said.extend(entry);
            }
            if !said.is_empty() {
                self.paraphrases.push(Paraphrase { asked, weight: of_words.max(least), said });
            }
        }
        self.said_prints = self.said.iter().map(|word| text::fingerprint(word)).zip(0..).collect();
        self.said_prints.sort_unstable();
        Ok(())
    }

    fn find_pairs(&self) -> Vec<(usize, usize, f64)> {
        let mut pairs = Vec::new();
        let paired = self.terms.iter().enumerate().take(MAX_PAIRED_WORDS);
        for (i, a) in paired.clone() {
            for (j, b) in paired.clone().skip(i + 1) {
                let near =
                    a.word.word.places.iter().any(|p| {
                        b.word.word.places.iter().any(|q| p.abs_diff(*q) <= PAIR_DISTANCE)
                    });
                if near {
                    pairs.push((i, j, a.weight.min(b.weight)));
                }
            }
        }
        pairs
    }

    fn find_neighbours(&self) -> Vec<(usize, usize, f64)> {
        let mut places: Vec<(u32, usize)> = Vec::new();
        for (at, term) in self.terms.iter().enumerate() {
            let of_topic = Role::of(&term.word.word.text) != Role::Function;
            if of_topic && matches!(term.word.word.form, Form::Plain | Form::Pair) {
                places.extend(term.word.word.places.iter().map(|place| (*place, at)));
            }
        }
        places.sort_unstable();
        places
            .windows(2)
            .filter_map(|window| match *window {
                [(_, a), (_, b)] if a != b => Some((a, b)),
                _ => None,
            })
            .filter_map(|(a, b)| {
                let weight = self.terms.get(a)?.weight.min(self.terms.get(b)?.weight);
                Some((a, b, weight))
            })
            .collect()
    }

    fn find_likenesses(&self, snapshot: &Snapshot) -> Result<Vec<(u32, Likeness)>, RecallError> {
        let mut best: BTreeMap<u32, Likeness> = BTreeMap::new();
        for (at, term) in self.terms.iter().enumerate() {
            for variant in &term.word.variants {
                let likeness = Likeness { term: at, similarity: 1.0 };
                best.entry(text::fingerprint(variant)).or_insert(likeness);
            }
        }
        for (at, term) in self.terms.iter().enumerate() {
            let word = &term.word.word;
            if word.form != Form::Plain || Role::of(&word.text) != Role::Topic {
                continue;
            }
            for variant in &term.word.variants {
                for (print, similarity) in similar(snapshot, variant)? {
                    let likeness = Likeness { term: at, similarity };
                    let known = best.entry(print).or_insert(likeness);
                    if known.similarity < similarity {
                        *known = likeness;
                    }
                }
            }
        }
        Ok(best.into_iter().collect())
    }

    fn find_synonyms(&self) -> Vec<(u32, usize)> {
        let mut synonyms: Vec<(u32, usize)> = self
            .terms
            .iter()
            .enumerate()
            .flat_map(|(at, term)| {
                term.word
                    .variants
                    .iter()
                    .flat_map(|variant| lexicon::synonyms(text::fingerprint(variant)))
                    .map(move |print| (*print, at))
            })
            .collect();
        synonyms.sort_unstable();
        synonyms.dedup();
        synonyms
    }
}

/// Returns the words of the vocabulary that share at least half of their 4-grams with a term.
fn similar(snapshot: &Snapshot, term: &str) -> Result<Vec<(u32, f64)>, RecallError> {
    let grams = text::grams(term);
    let mut shared: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for gram in &grams {
        for word in snapshot.words_with(*gram)? {
            let entry = shared.entry(word.print).or_insert((0, u32::from(word.n_grams)));
            entry.0 += 1;
        }
    }
    let n = grams.len() as f64;
    Ok(shared
        .into_iter()
        .map(|(print, (common, n_grams))| {
            (print, 2.0 * f64::from(common) / (n + f64::from(n_grams)))
        })
        .filter(|&(_, similarity)| similarity >= MIN_SIMILARITY)
        .collect())
}

/// Which terms stand between quotation marks or backticks.
fn is_quoted(query: &str, terms: &[Term]) -> Vec<bool> {
    const MARKS: [(char, char); 3] = [('"', '"'), ('`', '`'), ('\u{201c}', '\u{201d}')];
    let mut quoted: Vec<String> = Vec::new();
    for (open, close) in MARKS {
        let mut rest = query;
        while let Some((_, inside)) = rest.split_once(open) {
            let Some((inside, behind)) = inside.split_once(close) else { break };
            quoted.extend(text::words(inside).into_iter().map(|word| word.text));
            rest = behind;
        }
    }
    let is_quoted = |term: &Term| term.word.word.forms.iter().any(|form| quoted.contains(form));
    terms.iter().map(is_quoted).collect()
}

/// Whether a question names a piece of code and asks who uses it.
fn asks_for_use(query: &str) -> bool {
    const USES: [&str; 14] = [
        "called",
        "calls",
        "call",
        "caller",
        "callers",
        "callsite",
        "callsites",
        "invoked",
        "invokes",
        "used",
        "uses",
        "usage",
        "usages",
        "referenced",
    ];
    let names_code = query.split_whitespace().any(|word| {
        let inner =
            word.trim_matches(|c: char| !c.is_alphanumeric() && c != '`' && c != '(' && c != ')');
        let hump = inner
            .chars()
            .zip(inner.chars().skip(1))
            .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
        inner.starts_with('`')
            || inner.contains('_')
            || inner.contains("::")
            || inner.ends_with("()")
            || hump
    });
    names_code
        && text::fold(query).split(|c: char| !c.is_alphanumeric()).any(|word| USES.contains(&word))
}
