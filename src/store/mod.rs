//! The truth on disk: every record with its tiers, and all that is derived from them, in one file
//! that any process reads while another writes. Knows nothing of ranking, of files or of words.
//!
//! A [`Store`] is a folder. A [`Snapshot`] reads what the last commit left; it stays as it is while
//! others write. A [`Batch`] writes: one at a time over all processes, and all of it or nothing.

mod batch;
mod codec;
mod dump;
mod error;
mod filing;
mod format;
mod links;
mod pack;
mod replace;
mod row;
mod selection;
mod size;
mod snapshot;
mod tables;
mod terms;
mod verify;
mod vocabulary;
mod wait;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redb::{Database, ReadOnlyDatabase};

use replace::{Identity, Replacement};

pub use batch::{Batch, Committed, Conflict, Older, Put};
pub use error::StoreError;
pub use filing::Filing;
pub use format::FORMAT;
pub use row::{
    Cost, Detail, Field, FileRow, Forward, Head, NewRecord, NewWord, Note, RecordKey, Stamp,
    Totals, WordPrint,
};
pub use selection::{Reason, Selection};
pub use size::TableSize;
pub use snapshot::Snapshot;
pub use tables::{NAMES as TABLE_NAMES, meta::NAMES as META_NAMES};
pub use verify::{Problem, verify};
/// Waiting for another writer of the same file, which the ledger has to do as well.
pub(crate) use wait::{PatientFile, poll};

/// An open store: a `.psos` folder.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use psos::store::Store;
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::create_or_open(&folder.path().join(".psos"), Duration::from_secs(1))?;
/// assert_eq!(store.snapshot()?.totals().n_records, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    purpose: Purpose,
    opened: Mutex<Arc<Opened>>,
    poisoned: AtomicBool,
}

/// What a store is opened for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Read,
    Write,
    /// To be filled from a tree: a store of an older format is built anew.
    Fill,
}

/// An open file, and which file it is.
#[derive(Debug)]
struct Opened {
    identity: Option<Identity>,
    access: Access,
    /// [`FORMAT`], or an older one.
    format: u32,
}

#[derive(Debug)]
enum Access {
    Read(ReadOnlyAccess),
    Write(Database),
}

/// `ReadOnlyDatabase` has no `Debug`.
struct ReadOnlyAccess(ReadOnlyDatabase);

impl std::fmt::Debug for ReadOnlyAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReadOnlyDatabase")
    }
}

impl Store {
    /// Opens the store in `dir` for reading and writing. Waits at most `wait` for a writer in
    /// another process, since opening may have to repair what a killed writer left.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none; [`StoreError::Busy`] when the wait was too
    /// short; [`StoreError::FormatTooNew`] and [`StoreError::FormatTooOld`] for a store of another
    /// psos; [`StoreError::Damaged`] when the file is no store. It is never replaced.
    pub fn open(dir: &Path, wait: Duration) -> Result<Self, StoreError> {
        Self::new(dir, Purpose::Write, wait)
    }

    /// Opens the store in `dir` to fill it from a tree, and makes an empty one where there is none. Several
    /// processes may do so at once.
    ///
    /// In a store of an older format, [`Store::begin`] begins a new file that takes the place of the old one when
    /// it is committed; until then nothing can be read from it.
    ///
    /// # Errors
    /// Those of [`Store::open`], but for an older format; [`StoreError::Io`] when the folder cannot be made.
    pub fn create_or_open(dir: &Path, wait: Duration) -> Result<Self, StoreError> {
        match Self::new(dir, Purpose::Fill, wait) {
            Err(StoreError::NotFound { .. }) => {
                format::create(dir)?;
                Self::new(dir, Purpose::Fill, wait)
            }
            result => result,
        }
    }

    /// Opens the store in `dir` for reading, without waiting for anybody.
    ///
    /// Works on a read-only file system, and writes nothing, with one exception: what a killed
    /// writer left is repaired first.
    ///
    /// # Errors
    /// Those of [`Store::open`]; [`StoreError::Unclean`] when a repair is needed and not possible.
    pub fn open_read_only(dir: &Path) -> Result<Self, StoreError> {
        Self::new(dir, Purpose::Read, Duration::ZERO)
    }

    /// The folder of the store.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder of the lexical index.
    pub fn segments_dir(&self) -> PathBuf {
        self.dir.join(format::SEGMENTS)
    }

    /// Returns the state that the last commit left, of whatever process. Costs some ten
    /// microseconds; while it lives, the pages it may need are not used again.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when a single fact does not decode, and errors of the file.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let path = format::database_path(&self.dir);
        let opened = self.current(Duration::ZERO)?;
        format::check(&self.dir, opened.format)?;
        let transaction = self.begin_read(&opened)?;
        Snapshot::new(path, &transaction)
    }

    /// Begins to write. Waits at most `wait` for another writer, of this process or another.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when the wait was too short; [`StoreError::Poisoned`] after a failed
    /// commit; [`StoreError::ReadOnly`] when the store was opened so; [`StoreError::NotFound`] when it was
    /// removed since.
    pub fn begin(&self, wait: Duration) -> Result<Batch<'_>, StoreError> {
        let path = format::database_path(&self.dir);
        let transaction = self.begin_write(wait)?;
        // Nobody else can have put another file in its place since.
        let found = self.current(Duration::ZERO)?.format;
        let file = path.clone();
        format::unpanicked(&file, || {
            if found < FORMAT {
                Batch::instead_of(path, transaction, &self.poisoned, found)
            } else {
                Batch::new(path, transaction, &self.poisoned)
            }
        })
    }

    /// Whether [`Store::begin_anew`] is possible here: not where an open file cannot be replaced.
    pub const CAN_BEGIN_ANEW: bool = replace::POSSIBLE;

    /// Turns a batch that changed nothing so far into one that begins with an empty store. Its commit puts a
    /// new file in the place of the old one; readers of the old one go on undisturbed, those that look again
    /// find the new one, and generations go on counting.
    ///
    /// # Errors
    /// [`StoreError::Abandoned`] when the batch has changes; errors of the file.
    pub fn begin_anew<'a>(&'a self, batch: Batch<'a>) -> Result<Batch<'a>, StoreError> {
        batch.begin_anew(&self.dir)
    }

    /// Copies what the store holds into a new file, without the room that removed rows left, and puts that
    /// in the place of the old one: see [`Store::begin_anew`]. The content, and with it the generation, stays.
    /// Returns the bytes of the file before and after.
    ///
    /// # Errors
    /// Those of [`Store::begin`]; errors of the file.
    pub fn compact(&self, wait: Duration) -> Result<(u64, u64), StoreError> {
        let path = format::database_path(&self.dir);
        let before = self.file_bytes()?;
        let old = self.begin_write(wait)?;
        let opened = self.current(Duration::ZERO)?;
        let read = self.begin_read(&opened)?;
        let replacement = Replacement::begin(&self.dir, old)?;
        let new = replacement.begin_write()?;
        format::unpanicked(&path, || replace::copy(&path, &read, &new))?;
        format::guarded(&path, || new.commit())?;
        replacement.publish()?;
        Ok((before, self.file_bytes()?))
    }

    /// How large the file of the database is, in bytes.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn file_bytes(&self) -> Result<u64, StoreError> {
        let path = format::database_path(&self.dir);
        std::fs::metadata(&path).map(|meta| meta.len()).map_err(|e| StoreError::io(&path, e))
    }

    /// The databases in the folder that were never finished. One of them may be in the making; whoever holds
    /// the write lock knows that none is.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn unfinished(&self) -> Result<Vec<PathBuf>, StoreError> {
        format::unfinished(&self.dir)
    }

    /// How many bytes of the file hold nothing. Reads all of it.
    ///
    /// # Errors
    /// Those of [`Store::begin`].
    pub fn wasted_bytes(&self, wait: Duration) -> Result<u64, StoreError> {
        let path = format::database_path(&self.dir);
        let transaction = self.begin_write(wait)?;
        let stats = format::guarded(&path, || transaction.stats())?;
        // Pages that the last commit freed count as allocated until the next one, so rows are counted instead.
        let used = stats.stored_bytes().saturating_add(stats.metadata_bytes());
        Ok(self.file_bytes()?.saturating_sub(used))
    }

    fn new(dir: &Path, purpose: Purpose, wait: Duration) -> Result<Self, StoreError> {
        let opened = Mutex::new(Arc::new(Opened::new(dir, purpose, wait)?));
        Ok(Self { dir: dir.to_owned(), purpose, opened, poisoned: AtomicBool::new(false) })
    }

    /// The open file. When another one took its place, that one is opened; when there is none any more, it
    /// stays the old one.
    fn current(&self, wait: Duration) -> Result<Arc<Opened>, StoreError> {
        let now = Identity::of(&format::database_path(&self.dir))?;
        let mut slot = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if now.is_some() && slot.identity != now {
            *slot = Arc::new(Opened::new(&self.dir, self.purpose, wait)?);
            self.poisoned.store(false, Ordering::SeqCst);
        }
        Ok(Arc::clone(&slot))
    }

    fn begin_read(&self, opened: &Opened) -> Result<redb::ReadTransaction, StoreError> {
        let path = format::database_path(&self.dir);
        match &opened.access {
            Access::Read(database) => format::begin_read(&path, &database.0),
            Access::Write(database) => format::begin_read(&path, database),
        }
    }

    fn begin_write(&self, wait: Duration) -> Result<redb::WriteTransaction, StoreError> {
        let path = format::database_path(&self.dir);
        loop {
            let opened = self.current(wait)?;
            if self.poisoned.load(Ordering::SeqCst) {
                return Err(StoreError::Poisoned);
            }
            let Access::Write(database) = &opened.access else { return Err(StoreError::ReadOnly) };
            let attempt = || match database.try_begin_write() {
                Ok(transaction) => Ok(Some(transaction)),
                Err(redb::TransactionError::WouldBlock) => Ok(None),
                Err(error) => Err(error),
            };
            let transaction = format::guarded(&path, || wait::poll(wait, attempt))?
                .map_err(|timed_out| StoreError::Busy { waited: timed_out.0 })?;
            // Whoever wrote while this process waited may have put another file in its place.
            match Identity::of(&path)? {
                None => return Err(StoreError::NotFound { dir: self.dir.clone() }),
                now if now == opened.identity => return Ok(transaction),
                _ => {}
            }
        }
    }
}

impl Opened {
    fn new(dir: &Path, purpose: Purpose, wait: Duration) -> Result<Self, StoreError> {
        let path = format::database_path(dir);
        loop {
            let identity = Identity::of(&path)?;
            let (access, format) = match purpose {
                Purpose::Read => {
                    (Access::Read(ReadOnlyAccess(format::open_read_only(dir)?)), FORMAT)
                }
                Purpose::Write | Purpose::Fill => {
                    let (database, format) = format::open(dir, wait)?;
                    (Access::Write(database), format)
                }
            };
            if !matches!(purpose, Purpose::Fill) {
                format::check(dir, format)?;
            }
            // Another file may have taken the place of the first between the two.
            if Identity::of(&path)? == identity {
                return Ok(Self { identity, access, format });
            }
        }
    }
}

#[cfg(test)]
mod tests;
