//! What files of a tree call each other, and what an index run passed over: never read by an answer.

use std::collections::BTreeMap;

use redb::ReadableTable as _;

use crate::store::batch::Batch;
use crate::store::codec::{self, Place};
use crate::store::error::StoreError;
use crate::store::format;
use crate::store::tables;

/// Two texts that belong together: a target and its words, or an anchor and its words.
type Pair = (String, String);

impl Batch<'_> {
    /// Sets the links of a file: targets as they are written, with their words. Returns whether they are others than
    /// before. This alone makes no new generation: what follows from it is written with the records.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when what was there does not decode.
    pub fn set_links(&mut self, path: &str, links: &[Pair]) -> Result<bool, StoreError> {
        self.set_pairs(tables::LINKS, path, links)
    }

    /// Hands out the links of all files, in the order of their paths.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when a row does not decode.
    pub fn each_links(&self, take: &mut dyn FnMut(&str, Vec<Pair>)) -> Result<(), StoreError> {
        self.each_pairs(tables::LINKS, take)
    }

    /// Sets what a file is called by links, as its records were derived with it.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when what was there does not decode.
    pub fn set_calls(&mut self, path: &str, calls: &[Pair]) -> Result<bool, StoreError> {
        self.set_pairs(tables::CALLS, path, calls)
    }

    /// What a file is called by links.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode.
    pub fn calls(&self, path: &str) -> Result<Vec<Pair>, StoreError> {
        let wrong = |error: redb::Error| StoreError::of_redb(&self.path, error);
        format::unpanicked(&self.path, || {
            let table =
                self.transaction.open_table(tables::CALLS).map_err(|it| wrong(it.into()))?;
            let row = table.get(path).map_err(|it| wrong(it.into()))?;
            row.map_or(Ok(Vec::new()), |bytes| pairs("calls", path, bytes.value()))
        })
    }

    /// Hands out what all files are called by links, in the order of their paths.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when a row does not decode.
    pub fn each_calls(&self, take: &mut dyn FnMut(&str, Vec<Pair>)) -> Result<(), StoreError> {
        self.each_pairs(tables::CALLS, take)
    }

    /// Sets what an index run passed over: paths with the reasons. This alone makes no new generation.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn set_skipped(&mut self, skipped: &[Pair]) -> Result<(), StoreError> {
        let wanted: BTreeMap<&str, &str> =
            skipped.iter().map(|(path, reason)| (path.as_str(), reason.as_str())).collect();
        let store = self.path.clone();
        let changed = format::guarded(&store, || -> Result<bool, redb::Error> {
            let mut table = self.transaction.open_table(tables::SKIPPED)?;
            let mut before = BTreeMap::new();
            for row in table.range::<&str>(..)? {
                let (path, reason) = row?;
                before.insert(path.value().to_owned(), reason.value().to_owned());
            }
            let is_same = |(path, reason): (&&str, &&str)| {
                before.get(*path).is_some_and(|before| before == reason)
            };
            let changed = before.len() != wanted.len() || !wanted.iter().all(is_same);
            if changed {
                for path in before.keys().filter(|path| !wanted.contains_key(path.as_str())) {
                    table.remove(path.as_str())?;
                }
                for (path, reason) in &wanted {
                    table.insert(*path, *reason)?;
                }
            }
            Ok(changed)
        })?;
        self.dirty |= changed;
        Ok(())
    }

    fn set_pairs(
        &mut self,
        table: redb::TableDefinition<'_, &'static str, &'static [u8]>,
        path: &str,
        pairs: &[Pair],
    ) -> Result<bool, StoreError> {
        let texts: Vec<String> =
            pairs.iter().flat_map(|(first, second)| [first.clone(), second.clone()]).collect();
        let bytes = if texts.is_empty() { None } else { Some(codec::encode_phrases(&texts)) };
        let store = self.path.clone();
        let changed = format::guarded(&store, || -> Result<bool, redb::Error> {
            let mut table = self.transaction.open_table(table)?;
            let same = table.get(path)?.as_ref().map(redb::AccessGuard::value) == bytes.as_deref();
            if !same {
                match &bytes {
                    Some(bytes) => drop(table.insert(path, bytes.as_slice())?),
                    None => drop(table.remove(path)?),
                }
            }
            Ok(!same)
        })?;
        self.dirty |= changed;
        Ok(changed)
    }

    fn each_pairs(
        &self,
        table: redb::TableDefinition<'_, &'static str, &'static [u8]>,
        take: &mut dyn FnMut(&str, Vec<Pair>),
    ) -> Result<(), StoreError> {
        let wrong = |error: redb::StorageError| StoreError::of_redb(&self.path, error);
        format::unpanicked(&self.path, || {
            let rows = self.transaction.open_table(table);
            let rows = rows.map_err(|error| StoreError::of_redb(&self.path, error))?;
            for row in rows.range::<&str>(..).map_err(wrong)? {
                let (path, bytes) = row.map_err(wrong)?;
                take(path.value(), pairs("links", path.value(), bytes.value())?);
            }
            Ok(())
        })
    }
}

pub(super) fn pairs(
    table: &'static str,
    path: &str,
    bytes: &[u8],
) -> Result<Vec<Pair>, StoreError> {
    let mut texts = codec::decode_phrases(Place { table, key: &path }, bytes)?.into_iter();
    let mut pairs = Vec::new();
    while let (Some(first), Some(second)) = (texts.next(), texts.next()) {
        pairs.push((first, second));
    }
    Ok(pairs)
}
