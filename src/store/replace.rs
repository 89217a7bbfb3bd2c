//! A database in the making that takes the place of the one in use by a rename.
//!
//! Whoever reads the old file goes on reading it, for as long as it likes; whoever looks again opens the new
//! one ([`crate::store::Store`] does so by itself, see [`Identity`]). The write lock of the old file is held
//! until the new one is in its place, so nothing that another process commits can be lost between.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use redb::{Database, Key, ReadTransaction, TableDefinition, Value, WriteTransaction};

use crate::store::error::StoreError;
use crate::store::{Snapshot, format, tables};

/// Whether an open file can be replaced by a rename here.
pub(super) const POSSIBLE: bool = cfg!(unix);

/// Which file it is that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    /// The file that the database has now; nothing when it has none.
    pub(super) fn of(path: &Path) -> Result<Option<Self>, StoreError> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(Self::of_metadata(&metadata))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(path, error)),
        }
    }

    #[cfg(unix)]
    fn of_metadata(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self(metadata.dev(), metadata.ino())
    }

    /// Where an open file is never replaced, it is always the same.
    #[cfg(not(unix))]
    fn of_metadata(_: &Metadata) -> Self {
        Self(0, 0)
    }
}

/// The new database, and what keeps others from writing to the old one. Dropped before it is published, it
/// leaves the old one as it was.
pub(super) struct Replacement {
    /// Open until it is published.
    new: Option<Database>,
    unfinished: PathBuf,
    path: PathBuf,
    published: bool,
    /// Holds the write lock; never committed.
    _old: WriteTransaction,
}

impl Replacement {
    /// Makes an empty database beside the one in `dir`, whose write lock `old` holds.
    pub(super) fn begin(dir: &Path, old: WriteTransaction) -> Result<Self, StoreError> {
        let unfinished = dir.join(format::NEXT);
        // Left by a writer that was killed: whoever holds the write lock is the only one to make it.
        format::remove(&unfinished)?;
        let mut replacement = Self {
            new: None,
            unfinished,
            path: format::database_path(dir),
            published: false,
            _old: old,
        };
        replacement.new = Some(format::fill_next(&replacement.unfinished)?);
        Ok(replacement)
    }

    /// Begins to fill the new database.
    pub(super) fn begin_write(&self) -> Result<WriteTransaction, StoreError> {
        let new = self.new.as_ref().ok_or(StoreError::Abandoned)?;
        format::guarded(&self.unfinished, || new.begin_write())
    }

    /// The new database as it is committed so far.
    pub(super) fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let new = self.new.as_ref().ok_or(StoreError::Abandoned)?;
        Snapshot::new(self.unfinished.clone(), &format::begin_read(&self.unfinished, new)?)
    }

    /// Puts the new database, which was committed by now, in the place of the old one.
    pub(super) fn publish(mut self) -> Result<(), StoreError> {
        if let Some(mut new) = self.new.take() {
            // The file grows by doubling; nobody else has it open yet, so the rest can be given back.
            format::guarded(&self.unfinished, || match new.compact() {
                // Whoever fills it still looks at how it began. Some room is wasted, nothing else.
                Err(redb::CompactionError::TransactionInProgress) => Ok(false),
                result => result,
            })?;
            format::guarded(&self.unfinished, || new.close())?;
        }
        #[cfg(test)]
        crate::powercut::asked_of_two(&self.unfinished, &self.path, crate::powercut::Op::Rename)
            .map_err(|e| StoreError::io(&self.path, e))?;
        fs::rename(&self.unfinished, &self.path).map_err(|e| StoreError::io(&self.path, e))?;
        self.published = true;
        self.path.parent().map_or(Ok(()), format::sync_dir)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        drop(self.new.take());
        // Once it is published, a file of that name is another writer's, who locked the new database.
        if !self.published {
            let _swept_later = format::remove(&self.unfinished);
        }
    }
}

/// Copies every row of a database into an empty one, in the order of the keys: pages come out full.
pub(super) fn copy(
    path: &Path,
    from: &ReadTransaction,
    to: &WriteTransaction,
) -> Result<(), StoreError> {
    format::guarded(path, || tables::for_each(&mut Copy { from, to }))
}

struct Copy<'a> {
    from: &'a ReadTransaction,
    to: &'a WriteTransaction,
}

impl tables::ForEach for Copy<'_> {
    fn table<K: Key + 'static, V: Value + 'static>(
        &mut self,
        table: TableDefinition<'static, K, V>,
    ) -> Result<(), redb::Error> {
        let source = self.from.open_table(table)?;
        let mut target = self.to.open_table(table)?;
        for row in redb::ReadableTable::iter(&source)? {
            let (key, value) = row?;
            target.insert(key.value(), value.value())?;
        }
        Ok(())
    }
}
