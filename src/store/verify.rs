//! Holding all tables of a store against each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::record::Hash;
use crate::store::{Detail, Head, NewWord, RecordKey, Snapshot, StoreError, Totals};

/// Something in the store that contradicts the rest of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The table.
    pub table: &'static str,
    /// The row: an id or a path where there is one, else the key.
    pub row: String,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`: {}", self.table, self.row, self.what)
    }
}

/// Checks that every table says what the others say, and returns all contradictions, sorted.
///
/// `phrases_of` computes the normalised phrases of a record anew, `words_of` its words as
/// they were handed to [`crate::store::Batch::learn`]. Reads the whole store.
///
/// # Errors
/// Errors of the file. A row that does not decode is a problem, not an error.
pub fn verify(
    snapshot: &Snapshot,
    phrases_of: &dyn Fn(&Head) -> Vec<String>,
    words_of: &dyn Fn(&Head, &Detail) -> Vec<NewWord>,
) -> Result<Vec<Problem>, StoreError> {
    let totals = Totals::default();
    let mut check = Check { snapshot, problems: Vec::new(), totals, words: BTreeMap::new() };
    let heads = check.heads()?;
    check.ids(&heads)?;
    check.rows_without_head(&heads)?;
    for (key, head) in &heads {
        check.record(*key, head, words_of)?;
    }
    check.phrases(&heads, phrases_of)?;
    check.files(&heads)?;
    check.totals();
    check.words()?;
    check.problems.sort_unstable();
    Ok(check.problems)
}

struct Check<'a> {
    snapshot: &'a Snapshot,
    problems: Vec<Problem>,
    totals: Totals,
    words: BTreeMap<u32, Vec<u32>>,
}

type Heads = BTreeMap<RecordKey, Head>;

impl Check<'_> {
    fn heads(&mut self) -> Result<Heads, StoreError> {
        let next_key = self.snapshot.next_key()?;
        let mut heads = Heads::new();
        for entry in self.snapshot.heads()? {
            let Some((key, head)) = self.decoded(entry)? else { continue };
            if key.0 >= next_key {
                self.problem("heads", &head.id, "the key was never given out");
            }
            heads.insert(key, head);
        }
        Ok(heads)
    }

    fn ids(&mut self, heads: &Heads) -> Result<(), StoreError> {
        let mut named = BTreeSet::new();
        for entry in self.snapshot.ids()? {
            let (id, key) = entry?;
            named.insert(key);
            match heads.get(&key) {
                Some(head) if head.id == id => {}
                Some(head) => {
                    let what = format!("leads to the record `{}`", head.id);
                    self.problem("ids", &id, &what);
                }
                None => self.problem("ids", &id, "leads to no record"),
            }
        }
        for (key, head) in heads {
            if !named.contains(key) {
                self.problem("heads", &head.id, "cannot be reached by its id");
            }
        }
        Ok(())
    }

    fn rows_without_head(&mut self, heads: &Heads) -> Result<(), StoreError> {
        for table in ["details", "forwards", "spoken"] {
            for key in self.snapshot.keys_in(table)? {
                if !heads.contains_key(&key) {
                    self.problem(table, &key.0, "belongs to no record");
                }
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        key: RecordKey,
        head: &Head,
        words_of: &dyn Fn(&Head, &Detail) -> Vec<NewWord>,
    ) -> Result<(), StoreError> {
        let detail = self.decoded(self.snapshot.detail_of(key))?.flatten();
        let forward = self.decoded(self.snapshot.forward(key))?.flatten();
        if head.description.text.is_empty() {
            self.problem("heads", &head.id, "the description is empty");
        }
        let Some(detail) = detail else {
            self.problem("details", &head.id, "the detail is missing");
            return Ok(());
        };
        if Hash::of(detail.exact.as_bytes()) != head.hash {
            self.problem("details", &head.id, "the text does not have the hash of the record");
        }
        self.words.extend(words_of(head, &detail).into_iter().map(|word| (word.print, word.grams)));
        let Some(forward) = forward else {
            self.problem("forwards", &head.id, "the analysed fields are missing");
            return Ok(());
        };
        self.totals.add(head, forward.lengths(), detail.exact.len());
        Ok(())
    }

    fn phrases(
        &mut self,
        heads: &Heads,
        phrases_of: &dyn Fn(&Head) -> Vec<String>,
    ) -> Result<(), StoreError> {
        let mut found: BTreeMap<RecordKey, Vec<String>> = BTreeMap::new();
        for entry in self.snapshot.phrases()? {
            let (phrase, keys) = entry?;
            for key in keys {
                if !heads.contains_key(&key) {
                    self.problem("phrases", &phrase, "selects a record that is gone");
                }
                found.entry(key).or_default().push(phrase.clone());
            }
        }
        for (key, head) in heads {
            let found = found.remove(key).unwrap_or_default();
            if self.decoded(self.snapshot.phrases_of(*key))?.is_some_and(|p| p != found) {
                self.problem("spoken", &head.id, "is not what the table `phrases` says");
            }
            let wanted: BTreeSet<String> =
                phrases_of(head).into_iter().filter(|phrase| !phrase.is_empty()).collect();
            if !wanted.iter().eq(&found) {
                self.problem("phrases", &head.id, "does not have the phrases of its triggers");
            }
        }
        Ok(())
    }

    fn files(&mut self, heads: &Heads) -> Result<(), StoreError> {
        let mut listed = BTreeSet::new();
        for entry in self.snapshot.files()? {
            self.totals.n_files += 1;
            let Some(file) = self.decoded(entry)? else { continue };
            for key in file.keys {
                match heads.get(&key) {
                    Some(head) if head.path == file.path => {}
                    Some(head) => {
                        let what = format!("lists `{}`, which is of another file", head.id);
                        self.problem("files", &file.path, &what);
                    }
                    None => self.problem("files", &file.path, "lists a record that is gone"),
                }
                if !listed.insert(key) {
                    self.problem("files", &file.path, "lists a record that is listed before");
                }
            }
        }
        for (key, head) in heads {
            if !listed.contains(key) {
                self.problem("heads", &head.id, "is in the list of no file");
            }
        }
        Ok(())
    }

    fn totals(&mut self) {
        if self.totals != *self.snapshot.totals() {
            self.problem("meta", &"totals", "the sums are not those of the records");
        }
    }

    fn words(&mut self) -> Result<(), StoreError> {
        self.numbers()?;
        let mut grams: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (print, of_word) in std::mem::take(&mut self.words) {
            if !of_word.is_empty() && !self.snapshot.knows_word(print)? {
                self.problem("words", &print, "a word of a record is not in the vocabulary");
            }
            for gram in of_word {
                grams.entry(gram).or_default().insert(print);
            }
        }
        for (gram, wanted) in grams {
            let Some(found) = self.decoded(self.snapshot.words_with(gram))? else { continue };
            let found: BTreeSet<u32> = found.into_iter().map(|word| word.print).collect();
            if !wanted.is_subset(&found) {
                self.problem("grams", &gram, "a word that has it is missing");
            }
        }
        Ok(())
    }

    /// Every number leads to a word, and back.
    fn numbers(&mut self) -> Result<(), StoreError> {
        let Some(prints) = self.decoded(self.snapshot.prints())? else { return Ok(()) };
        for (number, print) in (0..).zip(prints) {
            if self.snapshot.number_of(*print)? != Some(number) {
                self.problem("numbers", print, "is not what the table `prints` says");
            }
        }
        if self.snapshot.n_numbers()? != prints.len() as u64 {
            self.problem("prints", &"all", "has not as many words as the table `numbers`");
        }
        Ok(())
    }

    /// Turns a row that does not decode into a problem.
    fn decoded<T>(&mut self, row: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        match row {
            Ok(row) => Ok(Some(row)),
            Err(StoreError::Corrupt { table, key, what }) => {
                self.problem(table, &key, &what);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn problem(&mut self, table: &'static str, row: &dyn fmt::Display, what: &str) {
        self.problems.push(Problem { table, row: row.to_string(), what: what.to_owned() });
    }
}
