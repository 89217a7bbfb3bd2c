//! Phrases with misspelt words: edit distances walked over an automaton, word by word.

use std::collections::BTreeMap;
use std::rc::Rc;

use fst::raw::CompiledAddr;

use super::scan::{Automaton, follow};
use crate::text;

/// Letters from which a word has room for one edit, and for two.
const LETTERS: [usize; 2] = [5, 9];
/// The most characters of a word with room for edits: the bits of a row, less the empty prefix
/// and two edits.
const MAX_CHARS: usize = 61;

/// Returns how many edits a word has room for: one from five letters, two from nine, none with a
/// digit, in a script without spaces, or past 61 characters.
///
/// An edit adds, drops or replaces a character, or swaps two neighbours. Two words are the same
/// but for a misspelling when their distance is within the room of both: a typed word can be longer
/// than what it stands for, and `rest` must not become `reset`.
pub fn edits(word: &str) -> u8 {
    let fixed = word.chars().any(|c| c.is_numeric() || text::is_unspaced(c));
    if fixed || word.chars().count() > MAX_CHARS {
        return 0;
    }
    match word.chars().filter(|c| c.is_alphabetic()).count() {
        n if n >= LETTERS[1] => 2,
        n if n >= LETTERS[0] => 1,
        _ => 0,
    }
}

/// A phrase found with at least one edit.
pub(super) struct Hit {
    pub(super) phrase: String,
    pub(super) n_words: usize,
    pub(super) distance: u8,
}

/// The words of a text, to be followed through an automaton with edits.
pub(super) struct Fuzzy<'t> {
    automaton: &'t Automaton<'t>,
    /// The distinct words of the text.
    patterns: Vec<Pattern<'t>>,
    /// Which of them stands at each position.
    text: Vec<usize>,
    /// What was found behind a node for a pattern. Words repeat in a long text, and the walk from
    /// the root is the expensive one.
    steps: BTreeMap<(CompiledAddr, usize), Rc<[Step]>>,
}

/// One word of a phrase, and the node behind it.
struct Step {
    word: String,
    distance: u8,
    node: CompiledAddr,
}

impl<'t> Fuzzy<'t> {
    pub(super) fn new(automaton: &'t Automaton<'t>, words: &[&'t str]) -> Self {
        let mut patterns = Vec::new();
        let mut known = BTreeMap::new();
        let text = words.iter().map(|&word| {
            *known.entry(word).or_insert_with(|| {
                patterns.push(Pattern::of(word));
                patterns.len() - 1
            })
        });
        let text = text.collect();
        Self { automaton, patterns, text, steps: BTreeMap::new() }
    }

    /// Returns the phrases that begin with the word at `first`, with at least one edit.
    pub(super) fn phrases_at(&mut self, first: usize) -> Vec<Hit> {
        let mut hits = Vec::new();
        // Heads of phrases: node behind them, their words joined, how many, and edits so far.
        let mut heads = vec![(self.automaton.root().addr(), String::new(), 0_usize, 0_u8)];
        while let Some((node, head, n_words, distance)) = heads.pop() {
            for step in self.steps(node, first + n_words).iter() {
                let phrase =
                    if n_words == 0 { step.word.clone() } else { format!("{head} {}", step.word) };
                let (n_words, distance) = (n_words + 1, distance.saturating_add(step.distance));
                let node = self.automaton.node(step.node);
                if let Some(space) = node.find_input(b' ') {
                    heads.push((node.transition_addr(space), phrase.clone(), n_words, distance));
                }
                if node.is_final() && distance > 0 {
                    hits.push(Hit { phrase, n_words, distance });
                }
            }
        }
        hits
    }

    /// Returns the words behind `node` that the word at `position` may stand for.
    fn steps(&mut self, node: CompiledAddr, position: usize) -> Rc<[Step]> {
        let Some(&which) = self.text.get(position) else { return Rc::new([]) };
        let Some(pattern) = self.patterns.get(which) else { return Rc::new([]) };
        let automaton = self.automaton;
        Rc::clone(
            self.steps
                .entry((node, which))
                .or_insert_with(|| pattern.words_behind(automaton, node).into()),
        )
    }
}

/// A word of the text, with the bits that tell where each of its characters stands.
struct Pattern<'t> {
    word: &'t str,
    edits: u8,
    n_chars: usize,
    /// Bit `i + 1` of a character's mask is set when it is the `i`th of the word.
    masks: BTreeMap<char, u64>,
}

/// What is known of a beginning of a phrase's word while it is compared with a pattern.
///
/// Bit `i` of `rows[d]` is set when it is within `d` edits of the first `i` characters of the
/// pattern (Wu and Manber's bit-parallel automaton). Three rows of 64 bits hold every state.
#[derive(Clone, Copy)]
struct State {
    rows: [u64; 3],
    /// The rows before the last character, and that character's mask: what a swap looks at.
    before: [u64; 3],
    last: u64,
}

impl<'t> Pattern<'t> {
    fn of(word: &'t str) -> Self {
        let edits = edits(word);
        let mut masks = BTreeMap::new();
        if edits > 0 {
            for (i, c) in word.chars().enumerate() {
                *masks.entry(c).or_default() |= 2 << i;
            }
        }
        Self { word, edits, n_chars: word.chars().count(), masks }
    }

    const START: State = State { rows: [0b1, 0b11, 0b111], before: [0; 3], last: 0 };

    fn step(&self, state: &State, c: char) -> State {
        let mask = self.masks.get(&c).copied().unwrap_or_default();
        let valid = (2 << self.n_chars) - 1;
        let [r0, r1, r2] = state.rows;
        let [b0, b1, _] = state.before;
        // Each row: the same character; else one edit more: an extra one, a replaced one, a dropped
        // one, or two swapped.
        let swapped = |before: u64| (before << 2) & (mask << 1) & state.last;
        let s0 = (r0 << 1) & mask & valid;
        let s1 = (((r1 << 1) & mask) | r0 | (r0 << 1) | (s0 << 1) | swapped(b0)) & valid;
        let s2 = (((r2 << 1) & mask) | r1 | (r1 << 1) | (s1 << 1) | swapped(b1)) & valid;
        State { rows: [s0, s1, s2], before: state.rows, last: mask }
    }

    /// The distance of the whole pattern, when within its edits.
    fn distance(&self, state: &State) -> Option<u8> {
        let whole = 1_u64 << self.n_chars;
        (0..=self.edits).zip(state.rows).find(|(_, row)| row & whole != 0).map(|(d, _)| d)
    }

    /// Whether a longer beginning may still come to match.
    fn is_alive(&self, state: &State) -> bool {
        (0..=self.edits).zip(state.rows).any(|(_, row)| row != 0)
    }

    /// Returns the words of phrases behind `node` that this one may stand for.
    fn words_behind(&self, automaton: &Automaton<'_>, node: CompiledAddr) -> Vec<Step> {
        if self.edits == 0 {
            let node = follow(automaton, node, self.word.as_bytes());
            return node
                .map(|node| Step { word: self.word.to_owned(), distance: 0, node })
                .into_iter()
                .collect();
        }
        let mut steps = Vec::new();
        let mut path: Vec<u8> = Vec::new();
        // Depth first: a node, the path length in front of it, the byte that leads to it, and the
        // state behind it, or before its character when that is not complete.
        let mut open = vec![(node, 0, None, Self::START)];
        while let Some((addr, depth, byte, state)) = open.pop() {
            path.truncate(depth);
            path.extend(byte);
            let node = automaton.node(addr);
            if let Some(distance) = self.distance(&state)
                && (node.is_final() || node.find_input(b' ').is_some())
                && let Ok(word) = std::str::from_utf8(&path)
                && (distance == 0 || distance <= edits(word))
            {
                steps.push(Step { word: word.to_owned(), distance, node: addr });
            }
            let depth = path.len();
            for next in node.transitions().filter(|next| next.inp != b' ') {
                // The state moves when a character is complete.
                let state = match character(&path, next.inp) {
                    None => state,
                    Some(c) if c.is_numeric() || text::is_unspaced(c) => continue,
                    Some(c) => self.step(&state, c),
                };
                if self.is_alive(&state) {
                    open.push((next.addr, depth, Some(next.inp), state));
                }
            }
        }
        steps
    }
}

/// Returns the character that `byte` completes behind `path`.
fn character(path: &[u8], byte: u8) -> Option<char> {
    if byte.is_ascii() {
        return Some(char::from(byte));
    }
    // A character has at most four bytes, and only the first of them is none of 10xxxxxx.
    let continues = |byte: u8| byte & 0xC0 == 0x80;
    if !continues(byte) {
        return None;
    }
    let before = path.iter().rev().take(3).position(|&byte| !continues(byte))?;
    let mut bytes = path.get(path.len() - before - 1..)?.to_vec();
    bytes.push(byte);
    std::str::from_utf8(&bytes).ok()?.chars().next()
}
