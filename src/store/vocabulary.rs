//! The words of the store on their way in: their numbers, under which forward rows have them, and their
//! 4-grams, by which similar ones are found.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use redb::{ReadableTable as _, ReadableTableMetadata as _, Table, WriteTransaction};

use crate::store::codec;
use crate::store::error::StoreError;
use crate::store::tables;
use crate::store::{NewWord, WordPrint};

/// New words by gram that are kept back: 8 bytes each, and the room their lists grow into.
const MAX_GRAMS_KEPT: usize = 1_000_000;
/// Words whose being known, or whose number, is remembered.
const MAX_WORDS_KEPT: usize = 500_000;

/// The words that a batch adds. Words are never taken out again: one that no record has any more is similar
/// to nothing that could be found, and so changes no answer.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// Words that are new to the store, by gram.
    grams: BTreeMap<u32, Vec<WordPrint>>,
    /// How many words by gram those are, each counted for each of its grams.
    n_grams: usize,
    /// The words among them, and those looked up and found known.
    learned: BTreeSet<u32>,
    /// Numbers by print, as far as they were asked for.
    numbers: BTreeMap<u32, u32>,
    /// The words that got the last numbers, in their order: written together, since they share rows.
    numbered: Vec<u32>,
}

/// The numbers of words, open for writing.
pub(super) struct Numbers<'t>(Table<'t, u32, u32>);

impl<'t> Numbers<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, redb::TableError> {
        transaction.open_table(tables::NUMBERS).map(Self)
    }
}

impl Vocabulary {
    /// The number of a word, by its print; a new one, if it has none.
    pub(super) fn number_of(
        &mut self,
        numbers: &mut Numbers<'_>,
        print: u32,
    ) -> Result<u32, redb::StorageError> {
        if let Some(&number) = self.numbers.get(&print) {
            return Ok(number);
        }
        let Numbers(table) = numbers;
        let known = table.get(print)?.map(|number| number.value());
        let number = match known {
            Some(number) => number,
            None => {
                // There are fewer words than fingerprints.
                let number = u32::try_from(table.len()?).unwrap_or(u32::MAX);
                table.insert(print, number)?;
                self.numbered.push(print);
                number
            }
        };
        if self.numbers.len() >= MAX_WORDS_KEPT {
            self.numbers.clear();
        }
        self.numbers.insert(print, number);
        Ok(number)
    }

    /// See [`crate::store::Batch::learn`]. Returns whether so much is kept back that it is time to write.
    pub(super) fn learn<'w>(
        &mut self,
        transaction: &WriteTransaction,
        words: impl IntoIterator<Item = &'w NewWord>,
    ) -> Result<bool, redb::Error> {
        let table = transaction.open_table(tables::WORDS)?;
        for word in words {
            if !self.learned.insert(word.print) || table.get(word.print)?.is_some() {
                continue;
            }
            let n_grams = u8::try_from(word.grams.len()).unwrap_or(u8::MAX);
            for &gram in &word.grams {
                self.grams.entry(gram).or_default().push(WordPrint { print: word.print, n_grams });
            }
            self.n_grams += word.grams.len();
        }
        Ok(self.n_grams >= MAX_GRAMS_KEPT || self.learned.len() >= MAX_WORDS_KEPT)
    }

    /// Writes what was kept back; returns whether that was anything.
    pub(super) fn write(
        &mut self,
        path: &Path,
        transaction: &WriteTransaction,
    ) -> Result<bool, StoreError> {
        let grams = std::mem::take(&mut self.grams);
        let numbered = std::mem::take(&mut self.numbered);
        self.n_grams = 0;
        self.learned.clear();
        if grams.is_empty() && numbered.is_empty() {
            return Ok(false);
        }
        write_prints(transaction, &numbered).map_err(|e| StoreError::of_redb(path, e))?;
        write_grams(transaction, grams).map_err(|e| StoreError::of_redb(path, e))?;
        Ok(true)
    }
}

/// Appends the words that got the last numbers to the blocks of the table `prints`.
fn write_prints(transaction: &WriteTransaction, numbered: &[u32]) -> Result<(), redb::Error> {
    let n_words = transaction.open_table(tables::NUMBERS)?.len()?;
    let mut table = transaction.open_table(tables::PRINTS)?;
    let mut number = n_words.saturating_sub(numbered.len() as u64);
    let mut rest = numbered;
    while !rest.is_empty() {
        let block = u32::try_from(number / codec::PRINTS_IN_BLOCK).unwrap_or(u32::MAX);
        let room = codec::PRINTS_IN_BLOCK - number % codec::PRINTS_IN_BLOCK;
        let n = usize::try_from(room).unwrap_or(usize::MAX).min(rest.len());
        let (prints, after) = rest.split_at_checked(n).unwrap_or((rest, &[]));
        let mut bytes = match table.get(block)? {
            Some(known) => known.value().to_vec(),
            None => codec::no_words(),
        };
        codec::append_prints(&mut bytes, prints);
        table.insert(block, bytes.as_slice())?;
        number += n as u64;
        rest = after;
    }
    Ok(())
}

fn write_grams(
    transaction: &WriteTransaction,
    grams: BTreeMap<u32, Vec<WordPrint>>,
) -> Result<(), redb::Error> {
    let mut words = transaction.open_table(tables::WORDS)?;
    let mut table = transaction.open_table(tables::GRAMS)?;
    for (gram, new) in grams {
        for word in &new {
            words.insert(word.print, u32::from(word.n_grams))?;
        }
        let mut bytes = match table.get(gram)? {
            Some(known) => known.value().to_vec(),
            None => codec::no_words(),
        };
        codec::append_words(&mut bytes, &new);
        table.insert(gram, bytes.as_slice())?;
    }
    Ok(())
}
