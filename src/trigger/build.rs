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
    let phrases: BTreeSet<String> = phrases.map(text::phrase).filter(|p| is_kept(p)).collect();
    compile(&phrases)
        .map_err(|e| TriggerError::Build { phrases: phrases.len(), reason: e.to_string() })
}

/// Whether a phrase in normal form is within the limits.
pub(super) fn is_kept(phrase: &str) -> bool {
    !phrase.is_empty()
        && phrase.len() <= MAX_PHRASE_BYTES
        && phrase.split(' ').count() <= MAX_PHRASE_WORDS
}

fn compile(phrases: &BTreeSet<String>) -> Result<Vec<u8>, fst::Error> {
    let mut builder = Builder::new_type(Vec::new(), FORMAT)?;
    for phrase in phrases {
        builder.add(phrase)?;
    }
    builder.into_inner()
}
