//! Phrases to the bytes of an automaton.

use std::collections::BTreeSet;

use fst::raw::Builder;

use super::{FORMAT, MAX_PHRASE_BYTES, MAX_PHRASE_WORDS, TriggerError};
use crate::text;

/// Returns the automaton of some phrases, in any order and spelling: they are brought to normal
/// form (`text::phrase`), sorted and deduplicated here.
///
/// Phrases without a word, and those past the limits of this module, are left out. Equal sets of
/// phrases give equal bytes.
///
/// # Errors
/// [`TriggerError::Build`] when the phrases cannot be compiled, which would be a bug of psos.
pub fn build<'a>(phrases: impl Iterator<Item = &'a str>) -> Result<Vec<u8>, TriggerError> {
    let phrases: BTreeSet<String> = phrases.map(text::phrase).collect();
    let mut building = Building::new();
    for phrase in &phrases {
        building.add(phrase);
    }
    building.finish()
}

/// An automaton in the making, for more phrases than memory has room for.
pub struct Building {
    builder: Result<Builder<Vec<u8>>, fst::Error>,
    n_phrases: usize,
}

impl std::fmt::Debug for Building {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Building").field("n_phrases", &self.n_phrases).finish_non_exhaustive()
    }
}

impl Building {
    /// Begins an automaton without a phrase.
    pub fn new() -> Self {
        Self { builder: Builder::new_type(Vec::new(), FORMAT), n_phrases: 0 }
    }

    /// Adds a phrase in normal form (`text::phrase`). Phrases must come in the order of their bytes; one that is past
    /// the limits of this module is left out.
    pub fn add(&mut self, phrase: &str) {
        if !is_kept(phrase) {
            return;
        }
        self.n_phrases += 1;
        if let Ok(builder) = &mut self.builder
            && let Err(error) = builder.add(phrase)
        {
            self.builder = Err(error);
        }
    }

    /// Returns the bytes of the automaton: those that [`build`] makes of the same phrases.
    ///
    /// # Errors
    /// [`TriggerError::Build`] when a phrase was out of order.
    pub fn finish(self) -> Result<Vec<u8>, TriggerError> {
        self.builder.and_then(Builder::into_inner).map_err(|error| TriggerError::Build {
            phrases: self.n_phrases,
            reason: error.to_string(),
        })
    }
}

impl Default for Building {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether a phrase in normal form is within the limits of an automaton.
pub fn is_kept(phrase: &str) -> bool {
    !phrase.is_empty()
        && phrase.len() <= MAX_PHRASE_BYTES
        && phrase.split(' ').count() <= MAX_PHRASE_WORDS
}
