//! The trigger automata of a store: a large one, and a small one of the phrases that came since.
//!
//! Building an automaton costs time in proportion to all phrases, so a run that changed little builds only
//! the small one. Phrases that are gone stay in both until they are built anew; whoever asks the automata
//! passes over what selects nothing ([`Triggers::scan_live`]), so answers do not depend on how the phrases
//! are split.

use crate::ingest::IngestError;
use crate::store::Batch;
use crate::trigger::{self, Triggers};

/// The automaton of all phrases, as they were when it was built.
pub(crate) const BASE: &str = "base";
/// The automaton of the phrases that came since.
pub(crate) const RECENT: &str = "recent";

/// Up to this many bytes, the small automaton is never too large.
const SMALL_BYTES: usize = 16 << 10;
/// Beyond that, it may have this part of the bytes of the large one.
const SHARE: usize = 8;

/// Brings the automata up to date with the phrases of a batch: with those that are new in it, or with all
/// of them when there is no automaton yet or the small one grew too large.
pub(super) fn update(batch: &mut Batch<'_>) -> Result<(), IngestError> {
    let base = batch.automaton_len(BASE)?;
    if base == 0 {
        return rebuild(batch);
    }
    let Some(new) = batch.new_phrases() else { return rebuild(batch) };
    if new.is_empty() {
        return Ok(());
    }
    // A damaged one is of no use, and neither is one of another version: all phrases are in the store.
    let Ok(known) = Triggers::open(batch.automaton(RECENT)?) else { return rebuild(batch) };
    let known = known.phrases();
    let recent = trigger::build(known.iter().chain(&new).map(String::as_str))?;
    if recent.len() > SMALL_BYTES.max(base / SHARE) {
        return rebuild(batch);
    }
    batch.set_automaton(RECENT, Some(&recent))?;
    Ok(())
}

/// Builds the large automaton of all phrases, and leaves no small one.
pub(crate) fn rebuild(batch: &mut Batch<'_>) -> Result<(), IngestError> {
    let mut building = trigger::Building::new();
    batch.each_phrase(&mut |phrase| building.add(phrase))?;
    batch.set_automaton(BASE, Some(&building.finish()?))?;
    batch.set_automaton(RECENT, None)?;
    Ok(())
}
