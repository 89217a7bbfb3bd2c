//! What psos knows of words beforehand: which of them carry a question rather than its topic, and
//! which stand for one another. General English and computing, written for this project, and no set's own.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::text::{Language, fingerprint};

/// Articles, pronouns, auxiliaries, prepositions.
const FUNCTION_WORDS: &str = include_str!("words/function.txt");
/// Words in which a question is wrapped: want, need, way, problem, example.
const FRAME_WORDS: &str = include_str!("words/frame.txt");
/// Groups of words that may stand for one another, one a line.
const SYNONYMS: &str = include_str!("words/synonyms.txt");

/// What a function word weighs beside a word of the topic.
const FUNCTION_WEIGHT: f64 = 0.2;
/// What a frame word weighs beside a word of the topic.
const FRAME_WEIGHT: f64 = 0.5;

/// How much of the topic a word carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Function,
    Frame,
    Topic,
}

impl Role {
    /// Returns the role of a folded word.
    pub(crate) fn of(word: &str) -> Self {
        static ROLES: OnceLock<BTreeMap<&str, Role>> = OnceLock::new();
        let roles = ROLES.get_or_init(|| {
            let words =
                |text: &'static str, role| text.split_whitespace().map(move |word| (word, role));
            words(FRAME_WORDS, Role::Frame).chain(words(FUNCTION_WORDS, Role::Function)).collect()
        });
        roles.get(word).copied().unwrap_or(Self::Topic)
    }

    /// What a word of this role weighs beside a word of the topic.
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Function => FUNCTION_WEIGHT,
            Self::Frame => FRAME_WEIGHT,
            Self::Topic => 1.0,
        }
    }
}

/// Returns what the indexed form of a word weighs, by its fingerprint: for words of a record, of which
/// only fingerprints are kept.
pub(crate) fn weight_of_print(print: u32) -> f64 {
    static WEIGHTS: OnceLock<BTreeMap<u32, f64>> = OnceLock::new();
    let weights = WEIGHTS.get_or_init(|| {
        let stems = |text: &'static str, role: Role| {
            text.split_whitespace()
                .map(move |word| (fingerprint(&Language::English.stem(word)), role.weight()))
        };
        stems(FRAME_WORDS, Role::Frame).chain(stems(FUNCTION_WORDS, Role::Function)).collect()
    });
    weights.get(&print).copied().unwrap_or(1.0)
}

/// Returns the fingerprints of the words that may stand for the word with this one, sorted.
pub(crate) fn synonyms(print: u32) -> &'static [u32] {
    static GROUPS: OnceLock<BTreeMap<u32, Vec<u32>>> = OnceLock::new();
    let groups = GROUPS.get_or_init(|| {
        let mut of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for line in SYNONYMS.lines() {
            let prints: Vec<u32> = line
                .split_whitespace()
                .map(|word| fingerprint(&Language::English.stem(word)))
                .collect();
            for &a in &prints {
                of.entry(a).or_default().extend(prints.iter().copied().filter(|&b| b != a));
            }
        }
        for prints in of.values_mut() {
            prints.sort_unstable();
            prints.dedup();
        }
        of
    });
    groups.get(&print).map(Vec::as_slice).unwrap_or_default()
}
