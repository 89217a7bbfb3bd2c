//! The rows of a file and its records, while a batch replaces them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use redb::{ReadableTable as _, Table, WriteTransaction};

use crate::record::RecordId;
use crate::store::batch::PhraseChanges;
use crate::store::codec::{self, Place};
use crate::store::error::StoreError;
use crate::store::tables;
use crate::store::vocabulary::{Numbers, Vocabulary};
use crate::store::{Detail, FileRow, Forward, Head, NewRecord, RecordKey, Totals};

/// A file whose records are put a piece at a time, see [`crate::store::Batch::begin_file`].
#[derive(Debug)]
pub struct Filing {
    pub(super) path: String,
    pub(super) before: Option<FileRow>,
    /// What was there, sorted, and whether it was put again.
    old: Vec<(RecordKey, bool)>,
    /// The first key that a record of this file can be given.
    first_new: u64,
    /// The records in the order of the file.
    pub(super) keys: Vec<RecordKey>,
    /// Whether another file has a record that would be one of this file.
    pub(super) contested: bool,
    /// The ids of the records that were put last: not in their table yet, since pages that are filled in the order
    /// of their keys come out full.
    named: BTreeMap<RecordId, RecordKey>,
}

/// Whose record has an id.
pub(super) enum Owner {
    /// Nobody's.
    Nobody,
    /// It was there of this file before: at this place of [`Filing::old`].
    Before(usize, RecordKey),
    /// That of another file, or an earlier one of this file.
    Other(String),
}

impl Filing {
    pub(super) fn new(path: &str, before: Option<FileRow>, first_new: u64) -> Self {
        let keys = before.iter().flat_map(|before| &before.keys);
        let mut old: Vec<(RecordKey, bool)> = keys.map(|&key| (key, false)).collect();
        old.sort_unstable();
        Self {
            path: path.to_owned(),
            before,
            old,
            first_new,
            keys: Vec::new(),
            contested: false,
            named: BTreeMap::new(),
        }
    }

    pub(super) fn owner(&self, rows: &Rows<'_>, id: &RecordId) -> Result<Owner, StoreError> {
        if self.named.contains_key(id) {
            return Ok(Owner::Other(self.path.clone()));
        }
        let Some(key) = rows.key_of(id)? else { return Ok(Owner::Nobody) };
        let at = self.old.binary_search_by_key(&key, |&(key, _)| key);
        match at.ok().and_then(|at| self.old.get(at).map(|&(_, is_kept)| (at, is_kept))) {
            Some((at, false)) => Ok(Owner::Before(at, key)),
            Some((_, true)) => Ok(Owner::Other(self.path.clone())),
            None if key.0 >= self.first_new => Ok(Owner::Other(self.path.clone())),
            None => Ok(Owner::Other(rows.head_and_detail(key)?.0.path)),
        }
    }

    /// Takes in a record that is new.
    pub(super) fn add(&mut self, id: &RecordId, key: RecordKey) {
        self.keys.push(key);
        self.named.insert(id.clone(), key);
    }

    /// Writes the ids of the records that were taken in.
    pub(super) fn name(&mut self, rows: &mut Rows<'_>) -> Result<(), StoreError> {
        for (id, key) in std::mem::take(&mut self.named) {
            rows.ids.insert(id.as_str(), key.0).map_err(|e| wrong(rows.path, e))?;
        }
        Ok(())
    }

    pub(super) fn keep(&mut self, at: usize) {
        if let Some((_, is_kept)) = self.old.get_mut(at) {
            *is_kept = true;
        }
    }

    /// What was there before and was not put again.
    pub(super) fn left(&self) -> impl Iterator<Item = RecordKey> {
        self.old.iter().filter(|&&(_, is_kept)| !is_kept).map(|&(key, _)| key)
    }
}

/// The tables that a record has rows in, open for writing.
pub(super) struct Rows<'t> {
    path: &'t PathBuf,
    files: Table<'t, &'static str, &'static [u8]>,
    ids: Table<'t, &'static str, u64>,
    heads: Table<'t, u64, &'static [u8]>,
    details: Table<'t, u64, &'static [u8]>,
    forwards: Table<'t, u64, &'static [u8]>,
    spoken: Table<'t, u64, &'static [u8]>,
    numbers: Numbers<'t>,
}

impl<'t> Rows<'t> {
    pub(super) fn open(
        path: &'t PathBuf,
        transaction: &'t WriteTransaction,
    ) -> Result<Self, StoreError> {
        let wrong = |e| StoreError::of_redb(path, e);
        Ok(Self {
            path,
            files: transaction.open_table(tables::FILES).map_err(wrong)?,
            ids: transaction.open_table(tables::IDS).map_err(wrong)?,
            heads: transaction.open_table(tables::HEADS).map_err(wrong)?,
            details: transaction.open_table(tables::DETAILS).map_err(wrong)?,
            forwards: transaction.open_table(tables::FORWARDS).map_err(wrong)?,
            spoken: transaction.open_table(tables::SPOKEN).map_err(wrong)?,
            numbers: Numbers::open(transaction).map_err(wrong)?,
        })
    }

    pub(super) fn file(&self, path: &str) -> Result<Option<FileRow>, StoreError> {
        read_file(self.path, &self.files, path)
    }

    pub(super) fn put_file(&mut self, file: &FileRow) -> Result<(), StoreError> {
        let bytes = codec::encode_file(file)?;
        self.files.insert(file.path.as_str(), bytes.as_slice()).map_err(|e| wrong(self.path, e))?;
        Ok(())
    }

    pub(super) fn remove_file(&mut self, path: &str) -> Result<(), StoreError> {
        self.files.remove(path).map_err(|e| wrong(self.path, e))?;
        Ok(())
    }

    /// The head of a record with its detail, without which it cannot be read.
    fn head_and_detail(&self, key: RecordKey) -> Result<(Head, Detail), StoreError> {
        let wrong = |e| wrong(self.path, e);
        let missing = || StoreError::corrupt("heads", &key.0, "the row is missing");
        let head = self.heads.get(key.0).map_err(wrong)?.ok_or_else(missing)?;
        let detail = self.row("details", &self.details, key, codec::decode_detail)?;
        let place = Place { table: "heads", key: &key.0 };
        Ok((codec::decode_head(place, head.value(), &detail.exact)?, detail))
    }

    /// The forward row of a record, with the words that are new to the store taken in.
    pub(super) fn encode_forward(
        &mut self,
        forward: &Forward,
        vocabulary: &mut Vocabulary,
    ) -> Result<Vec<u8>, StoreError> {
        let Self { path, numbers, .. } = self;
        codec::encode_forward(forward, &mut |print| {
            vocabulary.number_of(numbers, print).map_err(|e| wrong(path, e))
        })
    }

    /// The record with this id.
    fn key_of(&self, id: &RecordId) -> Result<Option<RecordKey>, StoreError> {
        let key = self.ids.get(id.as_str()).map_err(|e| wrong(self.path, e))?;
        Ok(key.map(|key| RecordKey(key.value())))
    }

    /// Removes the record with this id from another file.
    pub(super) fn evict(
        &mut self,
        id: &RecordId,
        owner: &str,
        totals: &mut Totals,
        changes: &mut PhraseChanges,
    ) -> Result<RecordKey, StoreError> {
        let key =
            self.key_of(id)?.ok_or_else(|| StoreError::corrupt("ids", id, "the row vanished"))?;
        if let Some(mut file) = self.file(owner)? {
            file.keys.retain(|one| *one != key);
            file.contested = true;
            self.put_file(&file)?;
        }
        self.remove(key, totals, changes)
    }

    /// Returns whether the record under `key` says the same as `record`; if so, only its place in
    /// the file is written. `forward` is the row of its analysed fields.
    pub(super) fn keep(
        &mut self,
        key: RecordKey,
        record: &NewRecord,
        forward: &[u8],
    ) -> Result<bool, StoreError> {
        let (before, detail) = self.head_and_detail(key)?;
        let same = before.says_the_same(&record.head)
            && detail == record.detail
            && self.has_forward(key, forward)?
            && self.phrases_of(key)? == clean(&record.phrases);
        if same && before != record.head {
            let bytes = codec::encode_head(&record.head, &record.detail.exact)?;
            self.heads.insert(key.0, bytes.as_slice()).map_err(|e| wrong(self.path, e))?;
        }
        Ok(same)
    }

    pub(super) fn insert(
        &mut self,
        key: RecordKey,
        record: &NewRecord,
        forward: &[u8],
        totals: &mut Totals,
        changes: &mut PhraseChanges,
    ) -> Result<(), StoreError> {
        let NewRecord { head, detail, forward: fields, phrases } = record;
        let path = self.path;
        let wrong = |e: redb::StorageError| wrong(path, e);
        let packed = codec::encode_head(head, &detail.exact)?;
        self.heads.insert(key.0, packed.as_slice()).map_err(wrong)?;
        let packed = codec::encode_detail(&head.id, detail)?;
        self.details.insert(key.0, packed.as_slice()).map_err(wrong)?;
        self.forwards.insert(key.0, forward).map_err(wrong)?;
        let phrases = clean(phrases);
        if !phrases.is_empty() {
            let bytes = codec::encode_phrases(&phrases);
            self.spoken.insert(key.0, bytes.as_slice()).map_err(wrong)?;
        }
        changes.extend(phrases.into_iter().map(|phrase| ((phrase, key.0), true)));
        totals.add(head, fields.lengths(), detail.exact.len());
        Ok(())
    }

    pub(super) fn remove(
        &mut self,
        key: RecordKey,
        totals: &mut Totals,
        changes: &mut PhraseChanges,
    ) -> Result<RecordKey, StoreError> {
        let (head, detail) = self.head_and_detail(key)?;
        let lengths = self.row("forwards", &self.forwards, key, codec::decode_lengths)?;
        let phrases = self.phrases_of(key)?;
        let path = self.path;
        let wrong = |e: redb::StorageError| wrong(path, e);
        changes.extend(phrases.into_iter().map(|phrase| ((phrase, key.0), false)));
        self.spoken.remove(key.0).map_err(wrong)?;
        self.forwards.remove(key.0).map_err(wrong)?;
        self.details.remove(key.0).map_err(wrong)?;
        self.heads.remove(key.0).map_err(wrong)?;
        // The id may have passed to a new record of the same name by now.
        let mine = {
            let owner = self.ids.get(head.id.as_str()).map_err(wrong)?;
            owner.is_some_and(|owner| owner.value() == key.0)
        };
        if mine {
            self.ids.remove(head.id.as_str()).map_err(wrong)?;
        }
        totals.remove(&head, lengths, detail.exact.len());
        Ok(key)
    }

    fn phrases_of(&self, key: RecordKey) -> Result<Vec<String>, StoreError> {
        let bytes = self.spoken.get(key.0).map_err(|e| wrong(self.path, e))?;
        let place = Place { table: "spoken", key: &key.0 };
        bytes.map_or(Ok(Vec::new()), |bytes| codec::decode_phrases(place, bytes.value()))
    }

    fn has_forward(&self, key: RecordKey, row: &[u8]) -> Result<bool, StoreError> {
        let before = self.forwards.get(key.0).map_err(|e| wrong(self.path, e))?;
        Ok(before.is_some_and(|before| before.value() == row))
    }

    fn row<T>(
        &self,
        name: &'static str,
        table: &Table<'_, u64, &'static [u8]>,
        key: RecordKey,
        decode: fn(Place<'_>, &[u8]) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let bytes = table.get(key.0).map_err(|e| wrong(self.path, e))?;
        let bytes = bytes.ok_or_else(|| StoreError::corrupt(name, &key.0, "the row is missing"))?;
        decode(Place { table: name, key: &key.0 }, bytes.value())
    }
}

/// Phrases in the order in which they are kept: sorted, each once, none empty.
fn clean(phrases: &[String]) -> Vec<String> {
    let mut phrases: Vec<String> = phrases.iter().filter(|p| !p.is_empty()).cloned().collect();
    phrases.sort_unstable();
    phrases.dedup();
    phrases
}

pub(super) fn read_file(
    store: &std::path::Path,
    table: &Table<'_, &'static str, &'static [u8]>,
    path: &str,
) -> Result<Option<FileRow>, StoreError> {
    let bytes = table.get(path).map_err(|e| wrong(store, e))?;
    let place = Place { table: "files", key: &path };
    bytes.map(|bytes| codec::decode_file(place, bytes.value())).transpose()
}

fn wrong(path: &std::path::Path, error: redb::StorageError) -> StoreError {
    StoreError::of_redb(path, error)
}
