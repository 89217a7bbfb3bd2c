//! Reading: the state that one commit left.

use std::fmt;
use std::io::{self, Write};
use std::iter;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use redb::{ReadOnlyTable, ReadTransaction, ReadableTable as _, ReadableTableMetadata as _};

use crate::record::{Hash, RecordId};
use crate::store::codec::{self, Place};
use crate::store::error::StoreError;
use crate::store::size::TableSize;
use crate::store::tables::{self, meta};
use crate::store::{
    Detail, FileRow, Forward, Head, NewRecord, RecordKey, Selection, Totals, WordPrint,
};
use crate::store::{format, links};

type Bytes = &'static [u8];

/// The store as one commit left it. Later commits, of whatever process, do not change it.
pub struct Snapshot {
    path: PathBuf,
    generation: u64,
    totals: Totals,
    meta: ReadOnlyTable<&'static str, Bytes>,
    files: ReadOnlyTable<&'static str, Bytes>,
    ids: ReadOnlyTable<&'static str, u64>,
    heads: ReadOnlyTable<u64, Bytes>,
    details: ReadOnlyTable<u64, Bytes>,
    forwards: ReadOnlyTable<u64, Bytes>,
    phrases: ReadOnlyTable<(&'static str, u64), ()>,
    spoken: ReadOnlyTable<u64, Bytes>,
    automata: ReadOnlyTable<&'static str, Bytes>,
    words: ReadOnlyTable<u32, u32>,
    grams: ReadOnlyTable<u32, Bytes>,
    numbers: ReadOnlyTable<u32, u32>,
    prints: ReadOnlyTable<u32, Bytes>,
    /// What `prints` holds, once it was read.
    all_prints: OnceLock<Vec<u32>>,
    skipped: ReadOnlyTable<&'static str, &'static str>,
    links: ReadOnlyTable<&'static str, Bytes>,
    calls: ReadOnlyTable<&'static str, Bytes>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("generation", &self.generation)
            .field("totals", &self.totals)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    pub(super) fn new(path: PathBuf, transaction: &ReadTransaction) -> Result<Self, StoreError> {
        let file = path.clone();
        format::unpanicked(&file, || Self::open(path, transaction))
    }

    /// Counts the commits that changed something. Two snapshots of one store with equal generations
    /// are equal.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Exact sums over the live records.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The root of the tree, as it was handed in; empty before the first commit.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`].
    pub fn root(&self) -> Result<String, StoreError> {
        Ok(self.fact(meta::ROOT, codec::decode_text)?.unwrap_or_default())
    }

    /// What the content depends on beside the tree: versions and options; empty before the first
    /// commit.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`].
    pub fn fingerprint(&self) -> Result<String, StoreError> {
        Ok(self.fact(meta::FINGERPRINT, codec::decode_text)?.unwrap_or_default())
    }

    /// When a tree was last indexed.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`].
    pub fn indexed_at(&self) -> Result<Option<Duration>, StoreError> {
        self.fact(meta::INDEXED_AT, codec::decode_time)
    }

    /// The `meta.json` of the lexical index that belongs to this snapshot.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn lexical_meta(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.fact(meta::LEXICAL, |_, bytes| Ok(bytes.to_vec()))
    }

    /// The `meta.json` before the last change, whose segments stay for readers that opened it.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn lexical_meta_before(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.fact(meta::LEXICAL_BEFORE, |_, bytes| Ok(bytes.to_vec()))
    }

    /// The key of a record.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn key_of(&self, id: &RecordId) -> Result<Option<RecordKey>, StoreError> {
        self.read(|| {
            let key = self.ids.get(id.as_str()).map_err(|e| self.wrong(e))?;
            Ok(key.map(|key| RecordKey(key.value())))
        })
    }

    /// All of a record but its detail.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode.
    pub fn head(&self, key: RecordKey) -> Result<Option<Head>, StoreError> {
        self.read(|| {
            let Some(head) = self.heads.get(key.0).map_err(|e| self.wrong(e))? else {
                return Ok(None);
            };
            self.unpack(key, head.value()).map(Some)
        })
    }

    /// Whether a record leads its file, see [`Head::leads`]: cheaper than its head.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode.
    pub fn leads(&self, key: RecordKey) -> Result<Option<bool>, StoreError> {
        self.row("heads", &self.heads, key, codec::decode_leads)
    }

    /// The analysed fields of a record.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode.
    pub fn forward(&self, key: RecordKey) -> Result<Option<Forward>, StoreError> {
        let prints = self.prints()?;
        self.row("forwards", &self.forwards, key, |place, bytes| {
            codec::decode_forward(place, bytes, prints)
        })
    }

    /// The detail of a record that was selected: see [`Selection`]. Nothing when the record is
    /// gone, which cannot be in the snapshot that its head came from.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode, or is not the text whose hash the head
    /// has: a damaged disk must not answer in a file's name.
    pub fn detail(&self, selection: &Selection) -> Result<Option<Detail>, StoreError> {
        let detail = self.detail_of(selection.key())?;
        match &detail {
            Some(detail) if Hash::of(detail.exact.as_bytes()) != selection.hash() => {
                let what = "the text does not have the hash of the record";
                Err(StoreError::corrupt("details", selection.id(), what))
            }
            _ => Ok(detail),
        }
    }

    /// The records that a normalised phrase selects, in the order of their keys.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn phrase_keys(&self, phrase: &str) -> Result<Vec<RecordKey>, StoreError> {
        self.read(|| {
            let rows = self.phrases.range((phrase, 0)..=(phrase, u64::MAX));
            rows.map_err(|e| self.wrong(e))?
                .map(|row| {
                    let (row, ()) = row.map(|(row, _)| (row, ())).map_err(|e| self.wrong(e))?;
                    Ok(RecordKey(row.value().1))
                })
                .collect()
        })
    }

    /// All normalised phrases in the order of their bytes, each with the records that it selects.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn phrases(
        &self,
    ) -> Result<impl Iterator<Item = Result<(String, Vec<RecordKey>), StoreError>>, StoreError>
    {
        let rows = self.read(|| self.phrases.iter().map_err(|e| self.wrong(e)))?;
        let mut rows = self
            .rows(rows, move |row| {
                let (row, _) = row.map_err(|e| self.wrong(e))?;
                let (phrase, key) = row.value();
                Ok((phrase.to_owned(), RecordKey(key)))
            })
            .peekable();
        Ok(iter::from_fn(move || {
            let (phrase, first) = match rows.next()? {
                Ok(row) => row,
                Err(error) => return Some(Err(error)),
            };
            let mut keys = vec![first];
            while let Some(Ok((_, key))) =
                rows.next_if(|row| row.as_ref().is_ok_and(|(next, _)| *next == phrase))
            {
                keys.push(key);
            }
            Some(Ok((phrase, keys)))
        }))
    }

    /// The normalised phrases of a record, sorted.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode.
    pub fn phrases_of(&self, key: RecordKey) -> Result<Vec<String>, StoreError> {
        Ok(self.row("spoken", &self.spoken, key, codec::decode_phrases)?.unwrap_or_default())
    }

    /// The bytes of a trigger automaton.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn automaton(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|| {
            let bytes = self.automata.get(name).map_err(|e| self.wrong(e))?;
            Ok(bytes.map(|bytes| bytes.value().to_vec()))
        })
    }

    /// The words of the vocabulary that have a character 4-gram, by its fingerprint.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode.
    pub fn words_with(&self, gram: u32) -> Result<Vec<WordPrint>, StoreError> {
        self.read(|| match self.grams.get(gram).map_err(|e| self.wrong(e))? {
            Some(bytes) => codec::decode_words(Place { table: "grams", key: &gram }, bytes.value()),
            None => Ok(Vec::new()),
        })
    }

    /// Whether a word is in the vocabulary.
    pub(super) fn knows_word(&self, print: u32) -> Result<bool, StoreError> {
        self.read(|| Ok(self.words.get(print).map_err(|e| self.wrong(e))?.is_some()))
    }

    /// Whether the store knows a file, and what of it.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode.
    pub fn file(&self, path: &str) -> Result<Option<FileRow>, StoreError> {
        self.read(|| {
            let bytes = self.files.get(path).map_err(|e| self.wrong(e))?;
            bytes.map(|bytes| decode_file(path, bytes.value())).transpose()
        })
    }

    /// All files in the order of their paths.
    ///
    /// # Errors
    /// Errors of the file; those of a row come with the row.
    pub fn files(&self) -> Result<impl Iterator<Item = Result<FileRow, StoreError>>, StoreError> {
        let rows = self.read(|| self.files.range::<&str>(..).map_err(|e| self.wrong(e)))?;
        Ok(self.rows(rows, move |row| {
            let (path, bytes) = row.map_err(|e| self.wrong(e))?;
            decode_file(path.value(), bytes.value())
        }))
    }

    /// What the last index run passed over: paths in their order, with the reasons.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn skipped(&self) -> Result<Vec<(String, String)>, StoreError> {
        let rows = self.read(|| self.skipped.range::<&str>(..).map_err(|e| self.wrong(e)))?;
        self.rows(rows, |row| {
            let (path, reason) = row.map_err(|e| self.wrong(e))?;
            Ok((path.value().to_owned(), reason.value().to_owned()))
        })
        .collect()
    }

    /// The links of a file, as they are written: targets with their words.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode.
    pub(crate) fn links(&self, path: &str) -> Result<Vec<(String, String)>, StoreError> {
        let row = self.read(|| self.links.get(path).map_err(|e| self.wrong(e)))?;
        row.map_or(Ok(Vec::new()), |bytes| links::pairs("links", path, bytes.value()))
    }

    /// What a file is called by links.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the row does not decode.
    pub(crate) fn calls(&self, path: &str) -> Result<Vec<(String, String)>, StoreError> {
        let row = self.read(|| self.calls.get(path).map_err(|e| self.wrong(e)))?;
        row.map_or(Ok(Vec::new()), |bytes| links::pairs("calls", path, bytes.value()))
    }

    /// The paths of all files in their order: cheaper than [`Snapshot::files`].
    ///
    /// # Errors
    /// Errors of the file.
    pub fn paths(&self) -> Result<impl Iterator<Item = Result<String, StoreError>>, StoreError> {
        let rows = self.read(|| self.files.range::<&str>(..).map_err(|e| self.wrong(e)))?;
        Ok(self.rows(rows, move |row| {
            row.map(|(path, _)| path.value().to_owned()).map_err(|e| self.wrong(e))
        }))
    }

    /// All records in the order of their ids.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn ids(
        &self,
    ) -> Result<impl Iterator<Item = Result<(RecordId, RecordKey), StoreError>>, StoreError> {
        self.ids_from("")
    }

    /// The records whose ids begin with `prefix`, in the order of their ids.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn ids_from(
        &self,
        prefix: &str,
    ) -> Result<impl Iterator<Item = Result<(RecordId, RecordKey), StoreError>>, StoreError> {
        let rows = self.read(|| self.ids.range(prefix..).map_err(|e| self.wrong(e)))?;
        let prefix = prefix.to_owned();
        let entries = self.rows(rows, move |row| {
            let (id, key) = row.map_err(|e| self.wrong(e))?;
            Ok((RecordId::from_text(id.value()), RecordKey(key.value())))
        });
        Ok(entries.take_while(move |entry: &Result<(RecordId, _), _>| {
            entry.as_ref().map_or(true, |(id, _)| id.as_str().starts_with(&prefix))
        }))
    }

    /// The room that each table takes, in alphabetical order. Reads the whole store.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn table_sizes(&self) -> Result<Vec<TableSize>, StoreError> {
        self.read(|| {
            let sizes = [
                TableSize::of("automata", &self.automata),
                TableSize::of("calls", &self.calls),
                TableSize::of("details", &self.details),
                TableSize::of("files", &self.files),
                TableSize::of("forwards", &self.forwards),
                TableSize::of("grams", &self.grams),
                TableSize::of("heads", &self.heads),
                TableSize::of("ids", &self.ids),
                TableSize::of("links", &self.links),
                TableSize::of("meta", &self.meta),
                TableSize::of("numbers", &self.numbers),
                TableSize::of("phrases", &self.phrases),
                TableSize::of("prints", &self.prints),
                TableSize::of("skipped", &self.skipped),
                TableSize::of("spoken", &self.spoken),
                TableSize::of("words", &self.words),
            ];
            sizes.into_iter().map(|size| size.map_err(|e| self.wrong(e))).collect()
        })
    }

    /// Writes the content of the store, one JSON object a line: records by id, files by path,
    /// phrases, sums. Stores of equal trees give equal dumps: nothing of record keys,
    /// generations or times is in it.
    ///
    /// # Errors
    /// Errors of the store as [`io::Error`]s, and those of `out`.
    pub fn dump(&self, out: &mut impl Write) -> io::Result<()> {
        super::dump::dump(self, out)
    }

    /// All rows of a record, as they were put in; nothing when there is none. Not for answers: see
    /// [`Selection`].
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when a row does not decode or is missing.
    pub(crate) fn stored(&self, key: RecordKey) -> Result<Option<NewRecord>, StoreError> {
        let Some(head) = self.head(key)? else { return Ok(None) };
        let missing = |table| StoreError::corrupt(table, &key.0, "the row is missing");
        Ok(Some(NewRecord {
            detail: self.detail_of(key)?.ok_or_else(|| missing("details"))?,
            forward: self.forward(key)?.ok_or_else(|| missing("forwards"))?,
            phrases: self.phrases_of(key)?,
            head,
        }))
    }

    /// The detail of any record. Not for answers: see [`Selection`].
    pub(super) fn detail_of(&self, key: RecordKey) -> Result<Option<Detail>, StoreError> {
        self.row("details", &self.details, key, codec::decode_detail)
    }

    /// All heads in the order of their keys.
    pub(super) fn heads(
        &self,
    ) -> Result<impl Iterator<Item = Result<(RecordKey, Head), StoreError>>, StoreError> {
        let rows = self.read(|| self.heads.range::<u64>(..).map_err(|e| self.wrong(e)))?;
        Ok(self.rows(rows, move |row| {
            let (key, bytes) = row.map_err(|e| self.wrong(e))?;
            let key = RecordKey(key.value());
            Ok((key, self.unpack(key, bytes.value())?))
        }))
    }

    /// The keys of a table of rows, in their order.
    pub(super) fn keys_in(&self, table: &'static str) -> Result<Vec<RecordKey>, StoreError> {
        let table = match table {
            "details" => &self.details,
            "forwards" => &self.forwards,
            "spoken" => &self.spoken,
            _ => &self.heads,
        };
        let rows = self.read(|| table.range::<u64>(..).map_err(|e| self.wrong(e)))?;
        self.rows(rows, |row| row.map(|(key, _)| RecordKey(key.value())).map_err(|e| self.wrong(e)))
            .collect()
    }

    /// The next key that will be given out.
    pub(super) fn next_key(&self) -> Result<u64, StoreError> {
        Ok(self.fact(meta::NEXT_KEY, codec::decode_u64)?.unwrap_or(0))
    }

    /// The hash of the analysed fields of a record, for the dump.
    pub(super) fn forward_digest(&self, key: RecordKey) -> Result<Option<Hash>, StoreError> {
        Ok(self.forward(key)?.map(|forward| Hash::of(&codec::plain_forward(&forward))))
    }

    fn open(path: PathBuf, transaction: &ReadTransaction) -> Result<Self, StoreError> {
        let wrong = |error| StoreError::of_redb(&path, error);
        let mut snapshot = Self {
            generation: 0,
            totals: Totals::default(),
            meta: transaction.open_table(tables::META).map_err(wrong)?,
            files: transaction.open_table(tables::FILES).map_err(wrong)?,
            ids: transaction.open_table(tables::IDS).map_err(wrong)?,
            heads: transaction.open_table(tables::HEADS).map_err(wrong)?,
            details: transaction.open_table(tables::DETAILS).map_err(wrong)?,
            forwards: transaction.open_table(tables::FORWARDS).map_err(wrong)?,
            phrases: transaction.open_table(tables::PHRASES).map_err(wrong)?,
            spoken: transaction.open_table(tables::SPOKEN).map_err(wrong)?,
            automata: transaction.open_table(tables::AUTOMATA).map_err(wrong)?,
            words: transaction.open_table(tables::WORDS).map_err(wrong)?,
            grams: transaction.open_table(tables::GRAMS).map_err(wrong)?,
            numbers: transaction.open_table(tables::NUMBERS).map_err(wrong)?,
            prints: transaction.open_table(tables::PRINTS).map_err(wrong)?,
            all_prints: OnceLock::new(),
            skipped: transaction.open_table(tables::SKIPPED).map_err(wrong)?,
            links: transaction.open_table(tables::LINKS).map_err(wrong)?,
            calls: transaction.open_table(tables::CALLS).map_err(wrong)?,
            path,
        };
        snapshot.generation = snapshot.fact(meta::GENERATION, codec::decode_u64)?.unwrap_or(0);
        snapshot.totals = snapshot.fact(meta::TOTALS, codec::decode_totals)?.unwrap_or_default();
        Ok(snapshot)
    }

    /// Decodes a head with the detail that it is packed with.
    fn unpack(&self, key: RecordKey, head: &[u8]) -> Result<Head, StoreError> {
        let detail = self.detail_of(key)?;
        let missing = || StoreError::corrupt("details", &key.0, "the row is missing");
        let detail = detail.ok_or_else(missing)?;
        codec::decode_head(Place { table: "heads", key: &key.0 }, head, &detail.exact)
    }

    /// The fingerprints of all words, by their numbers.
    pub(super) fn prints(&self) -> Result<&[u32], StoreError> {
        if let Some(prints) = self.all_prints.get() {
            return Ok(prints);
        }
        let prints = self.read(|| {
            let mut prints = Vec::new();
            for row in self.prints.iter().map_err(|e| self.wrong(e))? {
                let (block, bytes) = row.map_err(|e| self.wrong(e))?;
                let place = Place { table: "prints", key: &block.value() };
                codec::take_prints(place, bytes.value(), &mut prints)?;
            }
            Ok(prints)
        })?;
        Ok(self.all_prints.get_or_init(|| prints))
    }

    /// How many words have a number.
    pub(super) fn n_numbers(&self) -> Result<u64, StoreError> {
        self.read(|| self.numbers.len().map_err(|e| self.wrong(e)))
    }

    /// The number of a word, by its print.
    pub(super) fn number_of(&self, print: u32) -> Result<Option<u32>, StoreError> {
        self.read(|| {
            let number = self.numbers.get(print).map_err(|e| self.wrong(e))?;
            Ok(number.map(|number| number.value()))
        })
    }

    fn row<T>(
        &self,
        name: &'static str,
        table: &ReadOnlyTable<u64, Bytes>,
        key: RecordKey,
        decode: impl Fn(Place<'_>, &[u8]) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.read(|| {
            let bytes = table.get(key.0).map_err(|e| self.wrong(e))?;
            bytes.map(|bytes| decode(Place { table: name, key: &key.0 }, bytes.value())).transpose()
        })
    }

    fn fact<T>(
        &self,
        name: &'static str,
        decode: fn(Place<'_>, &[u8]) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.read(|| {
            let bytes = self.meta.get(name).map_err(|e| self.wrong(e))?;
            let place = Place { table: "meta", key: &name };
            bytes.map(|bytes| decode(place, bytes.value())).transpose()
        })
    }

    /// Reads from a table: see [`format::guarded`].
    fn read<T>(&self, call: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        format::unpanicked(&self.path, call)
    }

    /// Reads rows of a table one by one: see [`format::guarded`].
    fn rows<R, T>(
        &self,
        rows: impl Iterator<Item = R>,
        read: impl FnMut(R) -> Result<T, StoreError>,
    ) -> impl Iterator<Item = Result<T, StoreError>> {
        format::unpanicked_rows(&self.path, rows.map(read))
    }

    fn wrong(&self, error: redb::StorageError) -> StoreError {
        StoreError::of_redb(&self.path, error)
    }
}

fn decode_file(path: &str, bytes: &[u8]) -> Result<FileRow, StoreError> {
    codec::decode_file(Place { table: "files", key: &path }, bytes)
}
