//! What readers and walks had to say about a tree, counted and listed.

use std::collections::BTreeMap;

use crate::engine::{Engine, EngineError};
use crate::store::{Note, Snapshot};

/// What is doubtful or missing in a store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remarks {
    /// Remarks that say that a piece of a file is missing.
    pub n_errors: u64,
    /// Remarks on what was read, perhaps not as it was meant.
    pub n_warnings: u64,
    /// How often each kind of remark occurs: its message, with `...` for names and numbers.
    pub by_kind: BTreeMap<String, u64>,
    /// How many remarks there are on each file.
    pub by_path: BTreeMap<String, u64>,
    /// How many files and folders the last index run passed over, by the reason.
    pub skipped: BTreeMap<String, u64>,
}

/// What an index run passed over: paths with the reasons.
pub type Passed = Vec<(String, String)>;

impl Remarks {
    pub(super) fn of(snapshot: &Snapshot) -> Result<Self, EngineError> {
        let mut remarks = Self::default();
        for file in snapshot.files()? {
            for note in file?.notes {
                let n =
                    if note.severity > 1 { &mut remarks.n_errors } else { &mut remarks.n_warnings };
                *n += 1;
                *remarks.by_kind.entry(kind(&note.message)).or_default() += 1;
                *remarks.by_path.entry(note.path).or_default() += 1;
            }
        }
        for (_, reason) in snapshot.skipped()? {
            *remarks.skipped.entry(kind(&reason)).or_default() += 1;
        }
        Ok(remarks)
    }
}

impl Engine {
    /// Returns all remarks on the files of the store, by file and line, and what the last index run passed over: paths
    /// with the reasons.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn remarks(&self) -> Result<(Vec<Note>, Passed), EngineError> {
        let snapshot = self.store.snapshot()?;
        let mut notes = Vec::new();
        for file in snapshot.files()? {
            notes.extend(file?.notes);
        }
        notes.sort();
        Ok((notes, snapshot.skipped()?))
    }
}

/// A message without what is special to one place: names in backticks and numbers.
fn kind(message: &str) -> String {
    let mut kind = String::with_capacity(message.len());
    for (n, piece) in message.split('`').enumerate() {
        if n % 2 == 1 {
            kind.push_str("...");
            continue;
        }
        let mut digits = false;
        for c in piece.chars() {
            if !c.is_ascii_digit() {
                kind.push(c);
            } else if !digits {
                kind.push_str("...");
            }
            digits = c.is_ascii_digit();
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    //! Claims about kinds of remarks.

    use super::kind;

    #[test]
    fn a_kind_has_no_names_and_numbers() {
        for (message, want) in [
            (
                "key `a-1` occurs again, this row is `a-1-1`",
                "key ... occurs again, this row is ...",
            ),
            (
                "row has 12 fields, the first line has 4",
                "row has ... fields, the first line has ...",
            ),
            ("an odd ` stays", "an odd ..."),
            ("plain", "plain"),
        ] {
            assert_eq!(kind(message), want);
        }
    }
}
