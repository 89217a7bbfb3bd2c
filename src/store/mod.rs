//! The truth on disk: every record with its tiers, and all that is derived from them, in one file
//! that any process reads while another writes. Knows nothing of ranking, of files or of words.
//!
//! A [`Store`] is a folder. A [`Snapshot`] reads what the last commit left; it stays as it is while
//! others write. A [`Batch`] writes: one at a time over all processes, and all of it or nothing.

mod batch;
mod codec;
mod dump;
mod error;
mod format;
mod links;
mod row;
mod selection;
mod snapshot;
mod tables;
mod verify;
mod wait;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redb::{Database, ReadOnlyDatabase};

pub use batch::{Batch, Committed, Conflict, Filing, Put};
pub use error::StoreError;
pub use format::FORMAT;
pub use row::{
    Cost, Detail, Field, FileRow, Forward, Head, NewRecord, NewWord, Note, RecordKey, Stamp,
    Totals, WordPrint,
};
pub use selection::{Reason, Selection};
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
    access: Access,
    poisoned: AtomicBool,
}

/// What a store was opened for.
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
        let database = format::open(dir, wait)?;
        Ok(Self::new(dir, Access::Write(database)))
    }

    /// Opens the store in `dir`, and makes an empty one where there is none. Several processes may
    /// do so at once.
    ///
    /// # Errors
    /// Those of [`Store::open`]; [`StoreError::Io`] when the folder cannot be made.
    pub fn create_or_open(dir: &Path, wait: Duration) -> Result<Self, StoreError> {
        match Self::open(dir, wait) {
            Err(StoreError::NotFound { .. }) => {
                format::create(dir)?;
                Self::open(dir, wait)
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
        let database = format::open_read_only(dir)?;
        Ok(Self::new(dir, Access::Read(ReadOnlyAccess(database))))
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
        let transaction = match &self.access {
            Access::Read(database) => format::begin_read(&path, &database.0)?,
            Access::Write(database) => format::begin_read(&path, database)?,
        };
        Snapshot::new(path, &transaction)
    }

    /// Begins to write. Waits at most `wait` for another writer, of this process or another.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when the wait was too short; [`StoreError::Poisoned`] after a failed
    /// commit; [`StoreError::ReadOnly`] when the store was opened so.
    pub fn begin(&self, wait: Duration) -> Result<Batch<'_>, StoreError> {
        if self.poisoned.load(Ordering::SeqCst) {
            return Err(StoreError::Poisoned);
        }
        let Access::Write(database) = &self.access else { return Err(StoreError::ReadOnly) };
        let path = format::database_path(&self.dir);
        let attempt = || match database.try_begin_write() {
            Ok(transaction) => Ok(Some(transaction)),
            Err(redb::TransactionError::WouldBlock) => Ok(None),
            Err(error) => Err(error),
        };
        let transaction = format::guarded(&path, || wait::poll(wait, attempt))?
            .map_err(|timed_out| StoreError::Busy { waited: timed_out.0 })?;
        let file = path.clone();
        format::unpanicked(&file, || Batch::new(path, transaction, &self.poisoned))
    }

    fn new(dir: &Path, access: Access) -> Self {
        Self { dir: dir.to_owned(), access, poisoned: AtomicBool::new(false) }
    }
}

#[cfg(test)]
mod tests;
