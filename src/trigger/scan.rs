//! All phrases in a text: where they may begin and end, exact and unfinished ones, and their order.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use fst::raw::{CompiledAddr, Fst};

use super::fuzzy::Fuzzy;
use super::{How, MAX_COMPLETIONS, MAX_FUZZY_WORDS, MAX_PHRASE_BYTES, MIN_TYPED, Match};
use crate::text;

pub(super) type Automaton<'a> = Fst<Cow<'a, [u8]>>;

/// A match and the bytes of the normal form that it covers.
struct Found {
    bytes: Range<usize>,
    matched: Match,
}

pub(super) fn scan(
    automata: &[Automaton<'_>],
    query: &str,
    mut is_live: impl FnMut(&str) -> bool,
) -> Vec<Match> {
    let normal = text::phrase(query);
    let places = Places::of(&normal);
    let mut found = Vec::new();
    for automaton in automata {
        exact(automaton, &places, &mut found);
        if places.n_words() <= MAX_FUZZY_WORDS {
            misspelt(automaton, &places, &mut found);
        }
    }
    found.retain(|f| is_live(&f.matched.phrase));
    for &start in &places.starts {
        completed(automata, &places, start, &mut is_live, &mut found);
    }
    in_order(found)
}

fn in_order(mut found: Vec<Found>) -> Vec<Match> {
    found.sort_by(|a, b| {
        let key = |f: &Found| (f.matched.words.len(), f.matched.words.start);
        let ((a_len, a_start), (b_len, b_start)) = (key(a), key(b));
        // Bytes tell phrases within one unspaced word apart; between spaces they follow the words.
        (b_len.cmp(&a_len))
            .then(a_start.cmp(&b_start))
            .then(b.bytes.len().cmp(&a.bytes.len()))
            .then(a.bytes.start.cmp(&b.bytes.start))
            .then(a.matched.how.cmp(&b.matched.how))
            .then(a.matched.phrase.cmp(&b.matched.phrase))
    });
    let mut seen = BTreeSet::new();
    found.retain(|f| {
        let Match { phrase, words, .. } = &f.matched;
        seen.insert((words.start, words.end, phrase.clone()))
    });
    found.into_iter().map(|f| f.matched).collect()
}

/// A place in a normal form: a byte, and the word it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    byte: usize,
    word: usize,
}

/// Where phrases may begin and end in a normal form: at the ends of words, and between the
/// characters of a word in a script without spaces.
struct Places<'t> {
    normal: &'t str,
    /// First bytes of phrases, in order.
    starts: Vec<Place>,
    /// Bytes behind phrases, in order, each with the word that ends there.
    ends: Vec<Place>,
    /// The first byte of every word.
    words: Vec<usize>,
}

impl<'t> Places<'t> {
    fn of(normal: &'t str) -> Self {
        let mut places = Self { normal, starts: Vec::new(), ends: Vec::new(), words: Vec::new() };
        let mut from = 0;
        for (i, word) in normal.split(' ').filter(|word| !word.is_empty()).enumerate() {
            places.words.push(from);
            places.starts.push(Place { byte: from, word: i });
            if word.starts_with(text::is_unspaced) {
                for (at, _) in word.char_indices().skip(1) {
                    let inside = Place { byte: from + at, word: i };
                    places.starts.push(inside);
                    places.ends.push(inside);
                }
            }
            places.ends.push(Place { byte: from + word.len(), word: i });
            from += word.len() + 1;
        }
        places
    }

    fn n_words(&self) -> usize {
        self.words.len()
    }

    /// The word of which a phrase may end in front of this byte.
    fn word_ending_at(&self, byte: usize) -> Option<usize> {
        let i = self.ends.binary_search_by_key(&byte, |end| end.byte).ok()?;
        self.ends.get(i).map(|end| end.word)
    }
}

/// Finds the phrases that stand in the text word for word.
fn exact(automaton: &Automaton<'_>, places: &Places<'_>, found: &mut Vec<Found>) {
    for start in &places.starts {
        let rest = places.normal.get(start.byte..).unwrap_or_default();
        let mut node = automaton.root();
        for (i, byte) in rest.bytes().enumerate() {
            let Some(next) = node.find_input(byte) else { break };
            node = automaton.node(node.transition_addr(next));
            if !node.is_final() {
                continue;
            }
            let end = start.byte + i + 1;
            let Some(last) = places.word_ending_at(end) else { continue };
            let Some(phrase) = places.normal.get(start.byte..end) else { continue };
            found.push(Found {
                bytes: start.byte..end,
                matched: Match {
                    phrase: phrase.to_owned(),
                    words: start.word..last + 1,
                    how: How::Exact,
                },
            });
        }
    }
}

/// Finds the phrases whose last word the end of the text begins.
fn completed(
    automata: &[Automaton<'_>],
    places: &Places<'_>,
    start: Place,
    is_live: &mut impl FnMut(&str) -> bool,
    found: &mut Vec<Found>,
) {
    let end = places.normal.len();
    if end - start.byte >= MAX_PHRASE_BYTES {
        return;
    }
    let last_word = places.words.last().copied().unwrap_or_default();
    let typed = places.normal.get(start.byte.max(last_word)..).unwrap_or_default();
    if typed.chars().count() < MIN_TYPED {
        return;
    }
    let head = places.normal.get(start.byte..).unwrap_or_default();
    let mut phrases = BTreeSet::new();
    for automaton in automata {
        phrases.extend(completions(automaton, head, is_live));
    }
    found.extend(phrases.into_iter().take(MAX_COMPLETIONS).map(|phrase| Found {
        bytes: start.byte..end,
        matched: Match { phrase, words: start.word..places.n_words(), how: How::Prefix },
    }));
}

/// Returns the first [`MAX_COMPLETIONS`] live phrases that continue `head` within its last word.
fn completions(
    automaton: &Automaton<'_>,
    head: &str,
    is_live: &mut impl FnMut(&str) -> bool,
) -> Vec<String> {
    let mut phrases = Vec::new();
    let Some(node) = follow(automaton, automaton.root().addr(), head.as_bytes()) else {
        return phrases;
    };
    let mut path = head.as_bytes().to_vec();
    // Depth first, nodes as (address, length of the path before, byte that leads there).
    let mut open: Vec<(CompiledAddr, usize, u8)> = Vec::new();
    push_children(automaton, node, path.len(), &mut open);
    while let Some((node, depth, byte)) = open.pop() {
        path.truncate(depth);
        path.push(byte);
        if automaton.node(node).is_final()
            && let Ok(phrase) = std::str::from_utf8(&path)
            && is_live(phrase)
        {
            phrases.push(phrase.to_owned());
            if phrases.len() == MAX_COMPLETIONS {
                break;
            }
        }
        if path.len() < MAX_PHRASE_BYTES {
            push_children(automaton, node, path.len(), &mut open);
        }
    }
    phrases
}

/// Puts the transitions of a node within a word on a stack, so that the least byte is on top.
fn push_children(
    automaton: &Automaton<'_>,
    node: CompiledAddr,
    depth: usize,
    open: &mut Vec<(CompiledAddr, usize, u8)>,
) {
    let node = automaton.node(node);
    let within = (0..node.len()).rev().map(|i| node.transition(i)).filter(|t| t.inp != b' ');
    open.extend(within.map(|t| (t.addr, depth, t.inp)));
}

/// Returns the node that `bytes` lead to.
pub(super) fn follow(
    automaton: &Automaton<'_>,
    from: CompiledAddr,
    bytes: &[u8],
) -> Option<CompiledAddr> {
    bytes.iter().try_fold(from, |node, &byte| {
        let node = automaton.node(node);
        node.find_input(byte).map(|i| node.transition_addr(i))
    })
}

/// Finds the phrases that stand in the text with a misspelt word.
fn misspelt(automaton: &Automaton<'_>, places: &Places<'_>, found: &mut Vec<Found>) {
    let words: Vec<&str> = places.normal.split(' ').filter(|word| !word.is_empty()).collect();
    let mut fuzzy = Fuzzy::new(automaton, &words);
    for first in 0..words.len() {
        for hit in fuzzy.phrases_at(first) {
            let start = places.words.get(first).copied().unwrap_or_default();
            let last = first + hit.n_words - 1;
            let end = places.words.get(last).copied().unwrap_or_default()
                + words.get(last).map_or(0, |word| word.len());
            found.push(Found {
                bytes: start..end,
                matched: Match {
                    phrase: hit.phrase,
                    words: first..first + hit.n_words,
                    how: How::Fuzzy { distance: hit.distance },
                },
            });
        }
    }
}
