//! Which phrases a text calls for by name. Knows nothing of records, ranking or storage.
//!
//! The phrases that select records live in the store; this module turns them into an automaton
//! ([`build()`]), takes the bytes of such automata back ([`Triggers::open`]) and finds every phrase
//! that stands in a text ([`Triggers::scan`]): as it is, cut short at the end, or misspelt.
//!
//! An automaton is derived data: when it is damaged or of another format, build it anew.
//!
//! # Limits
//!
//! All of them depend on the text and the phrase alone, never on what else is in the automata, so
//! that a set of phrases answers the same however it is split into automata.
//!
//! - A phrase of more than [`MAX_PHRASE_WORDS`] words or [`MAX_PHRASE_BYTES`] bytes is left out of
//!   the automaton: it is prose, and words find it better.
//! - Each place where the end of the text may begin a phrase is completed in at most
//!   [`MAX_COMPLETIONS`] ways, the first in byte order, and only from [`MIN_TYPED`] characters of
//!   the last word.
//! - In a text of more than [`MAX_FUZZY_WORDS`] words no misspellings are looked for.
//! - A word has room for one edit from five letters and for two from nine ([`edits`]), and for none
//!   when it has a digit or is written without spaces.

mod build;
mod fuzzy;
mod scan;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use fst::Streamer as _;
use fst::raw::{Error as RawError, Fst};

use crate::fault::Fault;

pub use build::{Building, build, is_kept};
pub use fuzzy::edits;

/// The most words that a phrase has in an automaton.
pub const MAX_PHRASE_WORDS: usize = 64;
/// The most bytes that a phrase has in an automaton.
pub const MAX_PHRASE_BYTES: usize = 1_024;
/// The most completions of one unfinished phrase.
pub const MAX_COMPLETIONS: usize = 16;
/// The least characters that must have been typed of a phrase's last word to complete it.
pub const MIN_TYPED: usize = 3;
/// The most words of a text in which misspellings are looked for.
pub const MAX_FUZZY_WORDS: usize = 256;

/// The type written into an automaton: "psos" and the version of the normal form of phrases.
///
/// Count it up when `text::phrase` starts to answer differently, so that old automata are rebuilt
/// rather than asked for words that they spell another way.
const FORMAT: u64 = 0x7073_6f73_0000_0001;

/// How a phrase stands in a text. Ordered from the surest to the least sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// Word for word.
    Exact,
    /// The text ends in the middle of the phrase's last word.
    Prefix,
    /// Misspelt.
    Fuzzy {
        /// The edits of all its words together, at least one.
        distance: u8,
    },
}

/// A phrase that stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The phrase in normal form, as it is in the automaton.
    pub phrase: String,
    /// Which words of the text it covers, counted in `text::phrase(text).split(' ')`.
    ///
    /// A phrase in a script without spaces may cover a part of a word only.
    pub words: Range<usize>,
    /// How it stands there.
    pub how: How,
}

/// All phrases that select something, ready to be looked for in a text.
///
/// The phrases are those of all its automata together: usually a large one, and a small one of
/// what was added since. Phrases that were taken away since are still in there; the caller knows
/// which ([`Triggers::scan_live`]).
///
/// # Examples
/// ```
/// use psos::trigger::{How, Triggers, build};
///
/// let automaton = build(["Undo the last commit", "git reset"].into_iter())?;
/// let found = Triggers::open([automaton])?.scan("how to undo the last comit");
/// assert_eq!(found[0].phrase, "undo the last commit");
/// assert_eq!(found[0].words, 2..6);
/// assert_eq!(found[0].how, How::Fuzzy { distance: 1 });
/// # Ok::<(), psos::trigger::TriggerError>(())
/// ```
pub struct Triggers<'a> {
    automata: Vec<Fst<Cow<'a, [u8]>>>,
}

impl<'a> Triggers<'a> {
    /// Takes automata that [`build()`] made, borrowed or owned, and checks that they are whole.
    ///
    /// Reads every byte once, for the checksum; see `benches/README.md` for what that costs.
    ///
    /// # Errors
    /// [`TriggerError::Format`] when an automaton was built for other phrases than this build's,
    /// [`TriggerError::Damaged`] when it is not what was once written.
    pub fn open<B>(automata: impl IntoIterator<Item = B>) -> Result<Self, TriggerError>
    where
        B: Into<Cow<'a, [u8]>>,
    {
        let automata = automata.into_iter().map(|bytes| check(bytes.into()));
        Ok(Self { automata: automata.collect::<Result<_, _>>()? })
    }

    /// Whether a phrase in normal form is in one of the automata.
    pub fn has(&self, phrase: &str) -> bool {
        self.automata.iter().any(|automaton| automaton.contains_key(phrase))
    }

    /// Every phrase of the automata, sorted, each once.
    pub fn phrases(&self) -> Vec<String> {
        let mut phrases = BTreeSet::new();
        for automaton in &self.automata {
            let mut stream = automaton.stream();
            while let Some((phrase, _)) = stream.next() {
                // Only text was ever put in.
                phrases.insert(String::from_utf8_lossy(phrase).into_owned());
            }
        }
        phrases.into_iter().collect()
    }

    /// Returns every phrase that stands in `query`, longest first.
    ///
    /// Ordered by the number of words covered (most first), then position, then [`How`], then
    /// phrase. A phrase inside a longer one is kept and comes after it; a phrase that stands in
    /// one place in two ways is returned once, in the surer way.
    pub fn scan(&self, query: &str) -> Vec<Match> {
        self.scan_live(query, |_| true)
    }

    /// Returns what [`Triggers::scan`] does of the phrases for which `is_live` holds.
    ///
    /// Bounds count live phrases only, so the answer is that of automata without the others.
    pub fn scan_live(&self, query: &str, is_live: impl FnMut(&str) -> bool) -> Vec<Match> {
        scan::scan(&self.automata, query, is_live)
    }
}

impl fmt::Debug for Triggers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phrases: Vec<usize> = self.automata.iter().map(Fst::len).collect();
        f.debug_struct("Triggers").field("phrases", &phrases).finish()
    }
}

fn check(bytes: Cow<'_, [u8]>) -> Result<Fst<Cow<'_, [u8]>>, TriggerError> {
    let len = bytes.len();
    let damaged = |e: &fst::Error| TriggerError::Damaged { bytes: len, reason: e.to_string() };
    let automaton = match Fst::new(bytes) {
        Ok(automaton) => automaton,
        Err(fst::Error::Fst(RawError::Version { expected, got })) => {
            return Err(TriggerError::Format { found: got, supported: expected });
        }
        Err(e) => return Err(damaged(&e)),
    };
    // The checksum first: a type in damaged bytes says nothing.
    automaton.verify().map_err(|e| damaged(&e))?;
    if automaton.fst_type() != FORMAT {
        let found = automaton.fst_type();
        return Err(TriggerError::Format { found, supported: FORMAT });
    }
    Ok(automaton)
}

/// Why an automaton cannot be built or used. In both cases building it anew from the store helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// The bytes are not those of an automaton, or not all of them, or not any more.
    #[error("trigger automaton of {bytes} bytes is damaged: {reason}")]
    Damaged {
        /// The length of what was given.
        bytes: usize,
        /// What does not hold.
        reason: String,
    },
    /// The automaton was written by a build with another format.
    #[error("trigger automaton has format {found:#x}, this build reads {supported:#x}")]
    Format {
        /// The format that was found.
        found: u64,
        /// The format that this build writes and reads.
        supported: u64,
    },
    /// The sorted phrases could not be compiled.
    #[error("cannot build the trigger automaton of {phrases} phrases: {reason}")]
    Build {
        /// How many phrases there were.
        phrases: usize,
        /// What the compiler said.
        reason: String,
    },
}

impl TriggerError {
    /// Whose fault it is.
    pub const fn fault(&self) -> Fault {
        match self {
            Self::Damaged { .. } | Self::Format { .. } => Fault::Data,
            Self::Build { .. } => Fault::Bug,
        }
    }
}

#[cfg(test)]
mod tests;
