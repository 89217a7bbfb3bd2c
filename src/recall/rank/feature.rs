//! What is measured of a record for a question: one number each, between 0 and 1 where it is a share.
//!
//! Every number depends on the record, the question and exact sums over the store, and never on the
//! other candidates: so a scope leaves the order inside it as it was.

#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]

use crate::recall::TriggerMatch;
use crate::recall::lexicon::weight_of_print;
use crate::recall::rank::model::Model;
use crate::store::Forward;

/// How many features there are.
pub(crate) const N_FEATURES: usize = 25;

/// The names of the features, in the order in which they are summed.
pub(crate) const NAMES: [&str; N_FEATURES] = [
    "trigger-covered",
    "proximity",
    "adjacent",
    "longer",
    "length",
    "breadcrumb",
    "description",
    "bm25-plain",
    "early",
    "synonyms",
    "synonyms-tiers",
    "coverage",
    "coverage-tiers",
    "like",
    "like-bm25",
    "like-triggers",
    "like-title",
    "title-of-used",
    "trigger-phrase",
    "same-form",
    "quoted",
    "rarest",
    "lead",
    "paraphrase",
    "paraphrase-tiers",
];

/// Words further apart than this are not near each other.
const NEAR: u32 = 10;

/// The parts of a record that words are counted in.
const TRIGGER: usize = 0;
const TITLE: usize = 1;
const BREADCRUMB: usize = 2;
const DESCRIPTION: usize = 3;
const SUMMARY: usize = 4;
const DETAIL: usize = 5;

/// A word of a record that is a word of the question.
#[derive(Debug, Clone, Copy)]
struct Match {
    place: u32,
    term: usize,
}

/// Space that is used again for each record.
#[derive(Debug)]
pub(super) struct Scratch {
    /// How often each word of the question stands in each field.
    counts: Vec<[u32; 6]>,
    /// How like the most similar word of the record is, anywhere.
    like: Vec<f64>,
    /// Similar words, each counted by its similarity.
    like_count: Vec<f64>,
    /// Whether a synonym stands anywhere, and in the tiers.
    synonym: Vec<[bool; 2]>,
    /// How near each pair of words comes, 1 for side by side.
    near: Vec<f64>,
    /// Whether the second of two neighbours follows the first.
    follows: Vec<bool>,
    /// The cheapest place where each word of a paraphrase stands.
    said: Vec<Place>,
    matches: Vec<Match>,
    /// How like the most similar word of one phrase is.
    best: Vec<f64>,
}

/// Where the words of a paraphrase stand, the cheapest place first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Tiers,
    Detail,
    Nowhere,
}

impl Scratch {
    pub(super) fn new(model: &Model) -> Self {
        let n = model.terms.len();
        Self {
            counts: vec![[0; 6]; n],
            like: vec![0.0; n],
            like_count: vec![0.0; n],
            synonym: vec![[false; 2]; n],
            near: vec![0.0; model.pairs.len()],
            follows: vec![false; model.neighbours.len()],
            said: vec![Place::Nowhere; model.said.len()],
            matches: Vec::new(),
            best: vec![0.0; n],
        }
    }

    fn clear(&mut self) {
        self.counts.fill([0; 6]);
        self.like.fill(0.0);
        self.like_count.fill(0.0);
        self.synonym.fill([false; 2]);
        self.near.fill(0.0);
        self.follows.fill(false);
        self.said.fill(Place::Nowhere);
    }

    /// The words of the question that the record measured last has, by their places among the terms.
    pub(super) fn matched(&self) -> Vec<(usize, [u32; 6])> {
        let counts = (0..).zip(self.counts.iter().copied());
        counts.filter(|(_, counts)| counts.iter().any(|&n| n > 0)).collect()
    }

    /// The words of paraphrases that the record measured last has, by their places.
    pub(super) fn said(&self) -> Vec<usize> {
        let places = (0..).zip(&self.said);
        places.filter(|(_, place)| **place < Place::Nowhere).map(|(said, _)| said).collect()
    }
}

/// How well a phrase of a record and the question cover each other.
#[derive(Debug, Clone, Copy, Default)]
struct Phrase {
    /// The share of the phrase that is in the question, word for word.
    covered: f64,
    /// The share of the question that is in the phrase, word for word.
    covers: f64,
    /// The share of the phrase that is like words of the question.
    like_covered: f64,
    /// The share of the question that is like words of the phrase.
    like_covers: f64,
}

impl Phrase {
    /// The harmonic mean of both directions (the F1 measure).
    fn likeness(self) -> f64 {
        let sum = self.like_covered + self.like_covers;
        if sum > 0.0 { 2.0 * self.like_covered * self.like_covers / sum } else { 0.0 }
    }
}

/// Whether a record is what stands in a file before its first section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// The sections below say better what it introduces.
    Lead,
    /// A section, or all of a file.
    Body,
}

/// Measures a record.
pub(super) fn features(
    model: &Model,
    forward: &Forward,
    stand: Stand,
    triggers: &[TriggerMatch],
    scratch: &mut Scratch,
) -> [f64; N_FEATURES] {
    scratch.clear();
    let mut best = std::mem::take(&mut scratch.best);
    let mut first = None;
    let mut trigger_covered = 0.0_f64;
    let mut likenesses = Vec::with_capacity(forward.triggers.len());
    for phrase in &forward.triggers {
        field(model, phrase, TRIGGER, scratch, &mut first);
        let of_phrase = phrase_measures(model, phrase, &mut best);
        trigger_covered =
            trigger_covered.max(of_phrase.covered * (2.0 * of_phrase.covers).min(1.0));
        likenesses.push(of_phrase.likeness());
    }
    likenesses.sort_by(|a, b| b.total_cmp(a));
    let fields = [
        (&forward.title, TITLE),
        (&forward.breadcrumb, BREADCRUMB),
        (&forward.description, DESCRIPTION),
        (&forward.summary, SUMMARY),
        (&forward.detail, DETAIL),
    ];
    for (terms, at) in fields {
        field(model, terms, at, scratch, &mut first);
    }
    let title = phrase_measures(model, &forward.title, &mut best);
    scratch.best = best;

    let lengths = forward.lengths().map(|n| n as f64);
    let relative: f64 = lengths.iter().sum::<f64>() / model.average_all;
    let relative_of = |at: usize| match (lengths.get(at), model.average.get(at)) {
        (Some(length), Some(average)) => length / average,
        _ => 1.0,
    };
    let mut sums = Sums::default();
    let likes = scratch.like.iter().zip(&scratch.like_count).zip(&scratch.synonym);
    for ((term, counts), ((like, like_count), synonym)) in
        model.terms.iter().zip(&scratch.counts).zip(likes)
    {
        let w = term.weight;
        sums.like += w * like;
        sums.like_bm25 += w * saturate(*like_count, relative, 0.75);
        let [trigger, in_title, breadcrumb, description, _, _] = *counts;
        let in_tiers = trigger + in_title + description > 0;
        if !in_tiers && synonym[1] {
            sums.synonyms_tiers += w;
        }
        let all = f64::from(counts.iter().sum::<u32>());
        if all == 0.0 {
            if synonym[0] {
                sums.synonyms += w;
            }
            continue;
        }
        sums.coverage += w;
        if term.forms.iter().any(|form| forward.forms.binary_search(form).is_ok()) {
            sums.same_form += w;
        }
        if in_tiers || breadcrumb > 0 {
            sums.coverage_tiers += w;
        }
        if breadcrumb > 0 {
            sums.breadcrumb += w;
        }
        if in_title > 0 {
            sums.title += w;
        }
        sums.rarest = sums.rarest.max(w);
        sums.bm25_plain += term.plain_weight * saturate(all, relative, 0.75);
        sums.description += w * saturate(f64::from(description), relative_of(DESCRIPTION), 0.75);
    }

    let share = |sum: f64| sum / model.total;
    let (near, pairs) =
        weighted_share(model.pairs.iter().map(|p| p.2).zip(scratch.near.iter().copied()));
    let follows = scratch.follows.iter().map(|&on| if on { 1.0 } else { 0.0 });
    let (follows, neighbours) = weighted_share(model.neighbours.iter().map(|n| n.2).zip(follows));
    let mean_of = |n: usize| likenesses.iter().take(n).sum::<f64>() / n as f64;
    let n_words = model.terms.len().max(1) as f64;
    let phrase = triggers
        .iter()
        .map(|found| found.phrase.split(' ').count() as f64 / n_words)
        .fold(0.0, f64::max);
    [
        trigger_covered,
        near / pairs,
        follows / neighbours,
        relative.max(1.0).ln(),
        (relative + 1e-3).ln(),
        share(sums.breadcrumb),
        share(sums.description),
        sums.bm25_plain / model.plain_total,
        first.map_or(0.0, |place: u32| 1.0 / (1.0 + f64::from(place) / 10.0)),
        share(sums.synonyms),
        share(sums.synonyms_tiers),
        share(sums.coverage),
        share(sums.coverage_tiers),
        share(sums.like),
        share(sums.like_bm25),
        mean_of(3),
        title.like_covered,
        if model.asks_for_use { share(sums.title) } else { 0.0 },
        phrase.min(1.0),
        share(sums.same_form),
        quoted(model, scratch),
        sums.rarest / model.max_weight,
        if stand == Stand::Lead { 1.0 } else { 0.0 },
        share(paraphrased(model, scratch, Place::Detail)),
        share(paraphrased(model, scratch, Place::Tiers)),
    ]
}

/// The share of the question that stands between quotation marks there and in the record, less for what
/// stands in its detail only.
fn quoted(model: &Model, scratch: &Scratch) -> f64 {
    let mut sum = 0.0;
    for ((term, counts), _) in
        model.terms.iter().zip(&scratch.counts).zip(&model.is_quoted).filter(|(_, on)| **on)
    {
        let [trigger, title, breadcrumb, description, summary, detail] = *counts;
        if trigger + title + description + summary > 0 {
            sum += term.weight;
        } else if breadcrumb + detail > 0 {
            sum += 0.6 * term.weight;
        }
    }
    sum / model.total
}

/// How much of the question the record says in other words down to a place, or in the same: a record with the
/// very words of the question must not stand behind one that paraphrases them.
///
/// Each word of a paraphrase that the record has makes it surer that what was asked is meant, as
/// independent evidence does: 1 - (1 - p)(1 - q)...
fn paraphrased(model: &Model, scratch: &Scratch, deepest: Place) -> f64 {
    let has_literally = |term: usize| {
        scratch.counts.get(term).is_some_and(
            |&[trigger, title, _, description, summary, detail]| {
                trigger + title + description + summary > 0
                    || deepest >= Place::Detail && detail > 0
            },
        )
    };
    let mut sum = 0.0;
    for paraphrase in &model.paraphrases {
        let (literal, asked) = weighted_share(paraphrase.asked.iter().map(|&term| {
            let weight = model.terms.get(term).map_or(0.0, |term| term.weight);
            (weight, if has_literally(term) { 1.0 } else { 0.0 })
        }));
        let doubt: f64 = paraphrase
            .said
            .iter()
            .filter(|(said, _)| scratch.said.get(*said).is_some_and(|&place| place <= deepest))
            .map(|(_, sure)| 1.0 - sure)
            .product();
        sum += paraphrase.weight * (literal / asked).powi(2).max(1.0 - doubt);
    }
    sum
}

#[derive(Debug, Default)]
struct Sums {
    coverage: f64,
    coverage_tiers: f64,
    rarest: f64,
    same_form: f64,
    breadcrumb: f64,
    title: f64,
    description: f64,
    bm25_plain: f64,
    synonyms: f64,
    synonyms_tiers: f64,
    like: f64,
    like_bm25: f64,
}

/// BM25's saturation of a count in a text of a relative length (Robertson and Zaragoza, 2009), k1 = 1.2.
fn saturate(n: f64, relative: f64, b: f64) -> f64 {
    n * 2.2 / (n + 1.2 * (1.0 - b + b * relative))
}

/// Returns the weighted sum of the values and the sum of the weights, above zero.
fn weighted_share(of: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    of.fold((0.0, 1e-9), |(sum, all), (weight, value)| (sum + weight * value, all + weight))
}

/// Counts the words of one field.
fn field(model: &Model, terms: &[u32], at: usize, scratch: &mut Scratch, first: &mut Option<u32>) {
    let is_tier = matches!(at, TRIGGER | TITLE | DESCRIPTION);
    scratch.matches.clear();
    for (place, &print) in (0..).zip(terms) {
        if !model.may_know(print) {
            continue;
        }
        if let Some(likeness) = model.likeness(print) {
            let i = likeness.term;
            let (Some(counts), Some(like), Some(like_count)) =
                (scratch.counts.get_mut(i), scratch.like.get_mut(i), scratch.like_count.get_mut(i))
            else {
                continue;
            };
            *like = like.max(likeness.similarity);
            *like_count += likeness.similarity;
            if likeness.similarity >= 1.0 {
                if let Some(count) = counts.get_mut(at) {
                    *count += 1;
                }
                scratch.matches.push(Match { place, term: i });
            }
        }
        if at != BREADCRUMB
            && let Some(slot) = model.said(print).and_then(|said| scratch.said.get_mut(said))
        {
            *slot = (*slot).min(if at == DETAIL { Place::Detail } else { Place::Tiers });
        }
        for i in model.synonyms_of(print) {
            if let Some([anywhere, in_tiers]) = scratch.synonym.get_mut(i) {
                *anywhere = true;
                *in_tiers |= is_tier;
            }
        }
    }
    note_first(model, at, scratch, first);
    note_pairs(model, at != BREADCRUMB, scratch);
}

/// The first place of a word of weight: at once in trigger and title, else its place in the detail.
fn note_first(model: &Model, at: usize, scratch: &Scratch, first: &mut Option<u32>) {
    if !matches!(at, TRIGGER | TITLE | DETAIL) {
        return;
    }
    let heavy = |found: &&Match| {
        model.terms.get(found.term).is_some_and(|term| term.weight > 0.3 * model.max_weight)
    };
    if let Some(found) = scratch.matches.iter().find(heavy) {
        let place = if at == DETAIL { found.place } else { 0 };
        *first = Some(first.map_or(place, |known| known.min(place)));
    }
}

/// Which pairs of the question come near each other here, and which neighbours follow one another.
fn note_pairs(model: &Model, adjacency: bool, scratch: &mut Scratch) {
    let Scratch { matches, near, follows, .. } = scratch;
    for (i, a) in matches.iter().enumerate() {
        for b in matches.iter().skip(i + 1).take_while(|b| b.place - a.place <= NEAR) {
            if a.term == b.term {
                continue;
            }
            let distance = b.place - a.place;
            let (low, high) = (a.term.min(b.term), a.term.max(b.term));
            let pair = model.pairs.binary_search_by(|&(x, y, _)| (x, y).cmp(&(low, high)));
            if let Some(slot) = pair.ok().and_then(|at| near.get_mut(at)) {
                *slot = slot.max(1.0 / f64::from(distance.max(1)));
            }
            if adjacency && distance <= 2 {
                for (slot, &(x, y, _)) in follows.iter_mut().zip(&model.neighbours) {
                    if (x, y) == (a.term, b.term) {
                        *slot = true;
                    }
                }
            }
        }
    }
}

/// Measures a title or a trigger phrase: each distinct word once, function words for little. `best` has a
/// place for each term.
fn phrase_measures(model: &Model, phrase: &[u32], best: &mut [f64]) -> Phrase {
    best.fill(0.0);
    let mut all = 0.0;
    let mut measures = Phrase::default();
    // Phrases are short: a look back is cheaper than a set.
    for (i, &print) in phrase.iter().enumerate() {
        if phrase.iter().take(i).any(|&before| before == print) {
            continue;
        }
        let likeness = if model.may_know(print) { model.likeness(print) } else { None };
        let weight = match likeness.and_then(|likeness| model.terms.get(likeness.term)) {
            Some(term) => term.idf,
            None => model.typical_idf,
        } * weight_of_print(print);
        all += weight;
        if let Some(likeness) = likeness {
            measures.like_covered += weight * likeness.similarity;
            if likeness.similarity >= 1.0 {
                measures.covered += weight;
            }
            if let Some(slot) = best.get_mut(likeness.term) {
                *slot = slot.max(likeness.similarity);
            }
        }
    }
    for (term, &best) in model.terms.iter().zip(best.iter()) {
        measures.like_covers += term.weight * best;
        if best >= 1.0 {
            measures.covers += term.weight;
        }
    }
    if all > 0.0 {
        measures.covered /= all;
        measures.like_covered /= all;
    }
    measures.covers /= model.total;
    measures.like_covers /= model.total;
    measures
}
