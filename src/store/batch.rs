//! Writing: one transaction, all of it or nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redb::{ReadableTable, ReadableTableMetadata as _, WriteTransaction};

use crate::record::RecordId;
use crate::store::codec::{self, Place};
use crate::store::error::StoreError;
use crate::store::filing::{Filing, Owner, Rows, read_file};
use crate::store::format;
use crate::store::replace::Replacement;
use crate::store::tables::{self, meta};
use crate::store::vocabulary::Vocabulary;
use crate::store::{FileRow, NewRecord, NewWord, RecordKey, Snapshot, Totals};

/// Phrases that are kept back before they are written: some 100 bytes each.
const MAX_PHRASES_KEPT: usize = 100_000;

/// A change of the store in the making. Nobody sees any of it before [`Batch::commit`]; dropping it
/// leaves the store as it was. While it lives, no other process writes.
pub struct Batch<'a> {
    pub(super) path: PathBuf,
    pub(super) transaction: WriteTransaction,
    poisoned: &'a AtomicBool,
    totals: Totals,
    next_key: u64,
    generation: u64,
    vocabulary: Vocabulary,
    /// Phrases to be given to records and taken from them, in the order of the table: written one
    /// record after the other, they would touch its pages all over, for three times the time.
    phrases: PhraseChanges,
    /// How many others are in their table already.
    n_phrases_written: usize,
    /// Something is to be written.
    pub(super) dirty: bool,
    /// Something is to be written that an answer may depend on.
    changed: bool,
    /// A step failed in the middle, and with it the rows may contradict each other.
    torn: bool,
    /// What this batch fills, when that is not the database in use.
    replacement: Option<Replacement>,
    /// What the database in use is, when its format is older than ours.
    older: Option<Older>,
}

/// A store of an older format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Older {
    /// The format.
    pub format: u32,
    /// How many files it has.
    pub n_files: u64,
}

/// Phrases with the keys that they select from now on (`true`) or no longer (`false`).
pub(super) type PhraseChanges = BTreeMap<(String, u64), bool>;

/// What became of the records of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Put {
    /// The records that are gone.
    pub removed: Vec<RecordKey>,
    /// The records that are new: their positions in what was handed in, and their keys.
    pub added: Vec<(usize, RecordKey)>,
    /// The records that were there before, word for word, and keep their keys.
    pub kept: Vec<(usize, RecordKey)>,
    /// The records that were left out or pushed out because an id may stand for one record only.
    pub conflicts: Vec<Conflict>,
}

/// Two records wanted the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The id.
    pub id: RecordId,
    /// The file whose record has the id: the first by path, and in one file the first by place.
    pub winner: String,
    /// The file whose record is not in the store.
    pub loser: String,
}

/// What a commit did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// The generation after it.
    pub generation: u64,
    /// Whether anything changed that an answer may depend on.
    pub changed: bool,
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("generation", &self.generation)
            .field("totals", &self.totals)
            .field("changed", &self.changed)
            .finish_non_exhaustive()
    }
}

impl<'a> Batch<'a> {
    pub(super) fn new(
        path: PathBuf,
        transaction: WriteTransaction,
        poisoned: &'a AtomicBool,
    ) -> Result<Self, StoreError> {
        let mut batch = Self {
            path,
            transaction,
            poisoned,
            totals: Totals::default(),
            next_key: 0,
            generation: 0,
            vocabulary: Vocabulary::default(),
            phrases: PhraseChanges::new(),
            n_phrases_written: 0,
            dirty: false,
            changed: false,
            torn: false,
            replacement: None,
            older: None,
        };
        batch.totals = batch.fact(meta::TOTALS, codec::decode_totals)?.unwrap_or_default();
        batch.next_key = batch.fact(meta::NEXT_KEY, codec::decode_u64)?.unwrap_or(0);
        batch.generation = batch.fact(meta::GENERATION, codec::decode_u64)?.unwrap_or(0);
        Ok(batch)
    }

    /// See [`crate::store::Store::begin_anew`].
    pub(super) fn begin_anew(self, dir: &Path) -> Result<Self, StoreError> {
        if self.dirty || self.torn || self.replacement.is_some() {
            return Err(StoreError::Abandoned);
        }
        let lexical = self.lexical_meta()?;
        let Self { path, transaction, poisoned, generation, .. } = self;
        let replacement = Replacement::begin(dir, transaction)?;
        let transaction = replacement.begin_write()?;
        let mut batch = Self::new(path, transaction, poisoned)?;
        batch.generation = generation;
        // What readers of the old file may still open stays for as long as after any other commit.
        if let Some(lexical) = lexical {
            batch.set_fact(meta::LEXICAL_BEFORE, &lexical, true)?;
        }
        batch.dirty = true;
        batch.changed = true;
        batch.replacement = Some(replacement);
        Ok(batch)
    }

    /// Begins with an empty store in the place of one of an older format, of which nothing is read but its
    /// generation.
    pub(super) fn instead_of(
        path: PathBuf,
        transaction: WriteTransaction,
        poisoned: &'a AtomicBool,
        format: u32,
    ) -> Result<Self, StoreError> {
        let dir = path.parent().unwrap_or(Path::new("")).to_owned();
        let wrong = |e: redb::Error| StoreError::of_redb(&path, e);
        let old = || -> Result<_, redb::Error> {
            let table = transaction.open_table(tables::META)?;
            let generation = table.get(meta::GENERATION)?.map(|bytes| bytes.value().to_vec());
            Ok((generation, transaction.open_table(tables::FILES)?.len()?))
        };
        let (generation, n_files) = old().map_err(wrong)?;
        let place = Place { table: "meta", key: &meta::GENERATION };
        let generation = generation.map_or(Ok(0), |bytes| codec::decode_u64(place, &bytes))?;
        let replacement = Replacement::begin(&dir, transaction)?;
        let mut batch = Self::new(path, replacement.begin_write()?, poisoned)?;
        batch.generation = generation;
        batch.dirty = true;
        batch.changed = true;
        batch.replacement = Some(replacement);
        batch.older = Some(Older { format, n_files });
        Ok(batch)
    }

    /// The store of an older format in whose place this batch puts a new one.
    pub fn older(&self) -> Option<Older> {
        self.older
    }

    /// The empty store that this batch began with instead of the one in use; `None` where it goes on from that.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn empty_snapshot(&self) -> Result<Option<Snapshot>, StoreError> {
        self.replacement.as_ref().map(Replacement::snapshot).transpose()
    }

    /// Whether this batch began with an empty store: see [`crate::store::Store::begin_anew`].
    pub fn is_anew(&self) -> bool {
        self.replacement.is_some()
    }

    /// Removes databases that were never finished, by whomever.
    ///
    /// # Errors
    /// Errors of the folder.
    pub fn remove_unfinished(&self) -> Result<(), StoreError> {
        if self.is_anew() {
            return Ok(());
        }
        let Some(dir) = self.path.parent() else { return Ok(()) };
        // Whoever holds the write lock is the only one to make this one.
        format::remove(&dir.join(format::NEXT))?;
        format::remove_unfinished(dir)
    }

    /// The generation that this batch builds on.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The sums as they would be after a commit.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The `meta.json` of the lexical index that this batch builds on.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn lexical_meta(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.fact(meta::LEXICAL, |_, bytes| Ok(bytes.to_vec()))
    }

    /// The `meta.json` before that, whose segments stay for readers that opened it.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn lexical_meta_before(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.fact(meta::LEXICAL_BEFORE, |_, bytes| Ok(bytes.to_vec()))
    }

    /// What is known of a file, with the changes of this batch.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode.
    pub fn file(&self, path: &str) -> Result<Option<FileRow>, StoreError> {
        format::unpanicked(&self.path, || {
            let table = self.transaction.open_table(tables::FILES).map_err(|e| self.wrong(e))?;
            read_file(&self.path, &table, path)
        })
    }

    /// The paths of all files in their order, with the changes of this batch.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn paths(&self) -> Result<Vec<String>, StoreError> {
        format::unpanicked(&self.path, || {
            let table = self.transaction.open_table(tables::FILES).map_err(|e| self.wrong(e))?;
            let rows = table.range::<&str>(..).map_err(|e| self.wrong(e))?;
            rows.map(|row| row.map(|(path, _)| path.value().to_owned()).map_err(|e| self.wrong(e)))
                .collect()
        })
    }

    /// The records of a file in their order, with the changes of this batch.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row of the file does not decode.
    pub fn record_keys_of(&self, path: &str) -> Result<Vec<RecordKey>, StoreError> {
        Ok(self.file(path)?.map(|file| file.keys).unwrap_or_default())
    }

    /// Replaces all that the store has of a file.
    ///
    /// A record that says the same as before, word for word, keeps its key, wherever it now stands
    /// in the file; so a line added to a file of a million rows costs one row of the lexical index.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when what was there does not decode.
    pub fn put_file(&mut self, file: &FileRow, records: &[NewRecord]) -> Result<Put, StoreError> {
        let mut filing = self.begin_file(&file.path)?;
        let mut put = self.put_records(&mut filing, records)?;
        put.removed.append(&mut self.end_file(filing, file)?);
        Ok(put)
    }

    /// Begins to replace all that the store has of a file, a piece at a time: as [`Batch::put_file`], for files whose
    /// records do not fit into memory. No other file may be changed before [`Batch::end_file`].
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when what was there does not decode.
    pub fn begin_file(&mut self, path: &str) -> Result<Filing, StoreError> {
        // Until the end, rows stand there that no file names.
        self.torn = true;
        let store = self.path.clone();
        format::unpanicked(&store, || {
            let rows = Rows::open(&store, &self.transaction)?;
            Ok(Filing::new(path, rows.file(path)?, self.next_key))
        })
    }

    /// Puts the next records of a file. Positions in what is returned are those in `records`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when what was there does not decode.
    pub fn put_records(
        &mut self,
        filing: &mut Filing,
        records: &[NewRecord],
    ) -> Result<Put, StoreError> {
        let path = self.path.clone();
        format::unpanicked(&path, || {
            let put = self.replace_records(filing, records)?;
            if self.phrases.len() >= MAX_PHRASES_KEPT {
                self.write_phrases()?;
            }
            Ok(put)
        })
    }

    /// Ends a file: what was there of it and was not put again is removed, and returned.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when what was there does not decode.
    pub fn end_file(
        &mut self,
        filing: Filing,
        file: &FileRow,
    ) -> Result<Vec<RecordKey>, StoreError> {
        let path = self.path.clone();
        let removed = format::unpanicked(&path, || self.replace_rest(filing, file))?;
        self.torn = false;
        Ok(removed)
    }

    /// Notes new times of a file whose content is what it was; its records stay.
    /// This alone makes no new generation.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn touch_file(&mut self, file: &FileRow) -> Result<(), StoreError> {
        let path = self.path.clone();
        format::unpanicked(&path, || {
            let mut rows = Rows::open(&path, &self.transaction)?;
            // Another file may have taken a record away in this very batch.
            let now = rows.file(&file.path)?;
            let (keys, contested) =
                now.map_or_else(Default::default, |now| (now.keys, now.contested));
            rows.put_file(&FileRow { keys, contested, ..file.clone() })
        })?;
        self.dirty = true;
        Ok(())
    }

    /// Removes a file and its records; nothing happens when there is none.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when what was there does not decode.
    pub fn remove_file(&mut self, path: &str) -> Result<Vec<RecordKey>, StoreError> {
        self.torn = true;
        let store = self.path.clone();
        let removed = format::unpanicked(&store, || self.drop_file(path))?;
        self.torn = false;
        Ok(removed)
    }

    /// Takes words into the vocabulary in which [`crate::store::Snapshot::words_with`] looks for similar ones.
    ///
    /// Words are never taken out again: one that no record has any more is similar to nothing that could be
    /// found, and so changes no answer.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn learn<'w>(
        &mut self,
        words: impl IntoIterator<Item = &'w NewWord>,
    ) -> Result<(), StoreError> {
        let learned = self.vocabulary.learn(&self.transaction, words);
        if learned.map_err(|e| StoreError::of_redb(&self.path, e))? {
            self.write_words()?;
        }
        Ok(())
    }

    /// Sets what the content depends on beside the tree.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn set_fingerprint(&mut self, fingerprint: &str) -> Result<(), StoreError> {
        self.set_fact(meta::FINGERPRINT, fingerprint.as_bytes(), true)
    }

    /// Sets the root of the tree.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn set_root(&mut self, root: &str) -> Result<(), StoreError> {
        self.set_fact(meta::ROOT, root.as_bytes(), true)
    }

    /// Sets when the tree was last indexed. This alone makes no new generation.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn set_indexed_at(&mut self, time: Duration) -> Result<(), StoreError> {
        self.set_fact(meta::INDEXED_AT, &codec::encode_time(time), false)
    }

    /// Sets the bytes of a trigger automaton; `None` removes it.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn set_automaton(&mut self, name: &str, bytes: Option<&[u8]>) -> Result<(), StoreError> {
        let path = &self.path;
        let wrong = |e: redb::StorageError| StoreError::of_redb(path, e);
        let mut table = self.transaction.open_table(tables::AUTOMATA).map_err(|e| self.wrong(e))?;
        let same = {
            let before = table.get(name).map_err(wrong)?;
            before.as_ref().map(redb::AccessGuard::value) == bytes
        };
        if same {
            return Ok(());
        }
        match bytes {
            Some(bytes) => table.insert(name, bytes).map(drop),
            None => table.remove(name).map(drop),
        }
        .map_err(wrong)?;
        self.dirty = true;
        self.changed = true;
        Ok(())
    }

    /// Hands out the normalised phrases in their order, with the changes of this batch: what a trigger automaton is
    /// built of. There may be more than memory has room for.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn each_phrase(&mut self, take: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.torn = true;
        let path = self.path.clone();
        format::unpanicked(&path, || self.read_phrases(take))?;
        self.torn = false;
        Ok(())
    }

    /// The normalised phrases that records got in this batch, in their order: what an automaton may not have
    /// yet. Costs time in proportion to the change. `None` after more changes than are remembered.
    pub fn new_phrases(&self) -> Option<Vec<String>> {
        if self.n_phrases_written > 0 {
            return None;
        }
        let mut phrases: Vec<String> = Vec::new();
        for ((phrase, _), &selects) in &self.phrases {
            if selects && phrases.last() != Some(phrase) {
                phrases.push(phrase.clone());
            }
        }
        Some(phrases)
    }

    /// The bytes of a trigger automaton, as this batch has it.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn automaton(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        format::unpanicked(&self.path, || {
            let table = self.transaction.open_table(tables::AUTOMATA).map_err(|e| self.wrong(e))?;
            let bytes = table.get(name).map_err(|e| self.wrong(e))?;
            Ok(bytes.map(|bytes| bytes.value().to_vec()))
        })
    }

    /// How many bytes a trigger automaton has, 0 when there is none.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn automaton_len(&self, name: &str) -> Result<usize, StoreError> {
        format::unpanicked(&self.path, || {
            let table = self.transaction.open_table(tables::AUTOMATA).map_err(|e| self.wrong(e))?;
            let bytes = table.get(name).map_err(|e| self.wrong(e))?;
            Ok(bytes.map_or(0, |bytes| bytes.value().len()))
        })
    }

    /// Makes all changes visible at once, together with the lexical index whose `meta.json` this
    /// is; its segment files must be on disk by now. When nothing changed, the generation stays.
    ///
    /// # Errors
    /// [`StoreError::Abandoned`] when an earlier step of this batch failed; nothing is written then.
    /// Errors of the file; after one, the store refuses writes until it is opened again:
    /// [`StoreError::Poisoned`].
    pub fn commit(mut self, lexical_meta: &[u8]) -> Result<Committed, StoreError> {
        if self.torn {
            return Err(StoreError::Abandoned);
        }
        let path = self.path.clone();
        let committed = format::unpanicked(&path, || self.write_all(lexical_meta))?;
        if !self.dirty {
            return Ok(committed);
        }
        let Self { transaction, poisoned, replacement, .. } = self;
        let written = format::guarded(&path, || transaction.commit());
        match replacement {
            None => written.inspect_err(|_| poisoned.store(true, Ordering::SeqCst))?,
            // What failed here never was in use.
            Some(replacement) => written.and_then(|()| replacement.publish())?,
        }
        Ok(committed)
    }

    /// Writes all that was kept back, and the facts that follow from it.
    fn write_all(&mut self, lexical_meta: &[u8]) -> Result<Committed, StoreError> {
        self.write_phrases()?;
        self.write_words()?;
        let lexical = self.lexical_meta()?;
        if lexical.as_deref() != Some(lexical_meta) {
            if let Some(before) = lexical {
                self.set_fact(meta::LEXICAL_BEFORE, &before, true)?;
            }
            self.set_fact(meta::LEXICAL, lexical_meta, true)?;
        }
        if self.dirty {
            self.set_fact(meta::TOTALS, &codec::encode_totals(&self.totals)?, true)?;
            self.set_fact(meta::NEXT_KEY, &self.next_key.to_le_bytes(), false)?;
        }
        if self.changed {
            self.generation += 1;
            self.set_fact(meta::GENERATION, &self.generation.to_le_bytes(), false)?;
        }
        Ok(Committed { generation: self.generation, changed: self.changed })
    }

    fn replace_records(
        &mut self,
        filing: &mut Filing,
        records: &[NewRecord],
    ) -> Result<Put, StoreError> {
        let mut put = Put::default();
        let path = self.path.clone();
        let mut rows = Rows::open(&path, &self.transaction)?;
        for (at, record) in records.iter().enumerate() {
            let id = &record.head.id;
            let forward = rows.encode_forward(&record.forward, &mut self.vocabulary)?;
            match filing.owner(&rows, id)? {
                Owner::Before(idx, key) if rows.keep(key, record, &forward)? => {
                    filing.keep(idx);
                    filing.keys.push(key);
                    put.kept.push((at, key));
                    continue;
                }
                Owner::Nobody | Owner::Before(..) => {}
                Owner::Other(owner) => {
                    let first = owner.as_str() <= filing.path.as_str();
                    let (winner, loser) =
                        if first { (&owner, &filing.path) } else { (&filing.path, &owner) };
                    put.conflicts.push(Conflict {
                        id: id.clone(),
                        winner: winner.clone(),
                        loser: loser.clone(),
                    });
                    if first {
                        filing.contested |= owner != filing.path;
                        continue;
                    }
                    put.removed.push(rows.evict(
                        id,
                        &owner,
                        &mut self.totals,
                        &mut self.phrases,
                    )?);
                    self.changed = true;
                }
            }
            let key = RecordKey(self.next_key);
            self.next_key += 1;
            rows.insert(key, record, &forward, &mut self.totals, &mut self.phrases)?;
            filing.add(id, key);
            put.added.push((at, key));
        }
        filing.name(&mut rows)?;
        Ok(put)
    }

    fn replace_rest(
        &mut self,
        filing: Filing,
        file: &FileRow,
    ) -> Result<Vec<RecordKey>, StoreError> {
        let path = self.path.clone();
        let mut rows = Rows::open(&path, &self.transaction)?;
        let mut removed = Vec::new();
        for key in filing.left() {
            rows.remove(key, &mut self.totals, &mut self.phrases)?;
            removed.push(key);
        }
        let Filing { before, keys, contested, .. } = filing;
        if before.is_none() {
            self.totals.n_files += 1;
        }
        let after = FileRow { keys, contested, ..file.clone() };
        // Keys in the same order and a file of the same bytes: every head is as it was.
        let same =
            before.is_some_and(|before| before.keys == after.keys && before.says_the_same(&after));
        rows.put_file(&after)?;
        self.dirty = true;
        self.changed |= !same;
        Ok(removed)
    }

    fn drop_file(&mut self, path: &str) -> Result<Vec<RecordKey>, StoreError> {
        let store = self.path.clone();
        let mut rows = Rows::open(&store, &self.transaction)?;
        let Some(file) = rows.file(path)? else { return Ok(Vec::new()) };
        for &key in &file.keys {
            rows.remove(key, &mut self.totals, &mut self.phrases)?;
        }
        rows.remove_file(path)?;
        self.totals.n_files -= 1;
        self.dirty = true;
        self.changed = true;
        Ok(file.keys)
    }

    fn read_phrases(&mut self, take: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.write_phrases()?;
        let table = self.transaction.open_table(tables::PHRASES).map_err(|e| self.wrong(e))?;
        let rows = table.iter().map_err(|e| self.wrong(e))?;
        let mut last = String::new();
        for row in rows {
            let (row, _) = row.map_err(|e| self.wrong(e))?;
            let (phrase, _) = row.value();
            // None is empty.
            if phrase != last {
                take(phrase);
                phrase.clone_into(&mut last);
            }
        }
        Ok(())
    }

    fn write_phrases(&mut self) -> Result<(), StoreError> {
        let changes = std::mem::take(&mut self.phrases);
        if changes.is_empty() {
            return Ok(());
        }
        self.n_phrases_written += changes.len();
        let mut table = self.transaction.open_table(tables::PHRASES).map_err(|e| self.wrong(e))?;
        for ((phrase, key), selects) in changes {
            let row = (phrase.as_str(), key);
            let written =
                if selects { table.insert(row, ()).map(drop) } else { table.remove(row).map(drop) };
            written.map_err(|e| self.wrong(e))?;
        }
        Ok(())
    }

    fn write_words(&mut self) -> Result<(), StoreError> {
        self.dirty |= self.vocabulary.write(&self.path, &self.transaction)?;
        Ok(())
    }

    fn fact<T>(
        &self,
        name: &'static str,
        decode: fn(Place<'_>, &[u8]) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let table = self.transaction.open_table(tables::META).map_err(|e| self.wrong(e))?;
        let bytes = table.get(name).map_err(|e| self.wrong(e))?;
        bytes.map(|bytes| decode(Place { table: "meta", key: &name }, bytes.value())).transpose()
    }

    fn set_fact(
        &mut self,
        name: &'static str,
        value: &[u8],
        changes_answers: bool,
    ) -> Result<(), StoreError> {
        let path = &self.path;
        let wrong = |e: redb::StorageError| StoreError::of_redb(path, e);
        let mut table = self.transaction.open_table(tables::META).map_err(|e| self.wrong(e))?;
        let same = table.get(name).map_err(wrong)?.is_some_and(|before| before.value() == value);
        if same {
            return Ok(());
        }
        table.insert(name, value).map_err(wrong)?;
        self.dirty = true;
        self.changed |= changes_answers;
        Ok(())
    }

    fn wrong(&self, error: impl Into<redb::Error>) -> StoreError {
        StoreError::of_redb(&self.path, error)
    }
}
