//! The files of a store: how they come to be, how they are opened, and which formats are read.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use redb::{
    Builder, ConcurrencyMode, Database, Key, ReadOnlyDatabase, ReadTransaction, TableDefinition,
    Value, WriteTransaction,
};

use crate::store::codec::{self, Place};
use crate::store::error::StoreError;
use crate::store::tables::{self, meta};
use crate::store::wait::PatientFile;

/// The format that this build reads and writes. `schema/store.md` describes it.
pub const FORMAT: u32 = 3;

/// The database in the folder of a store.
pub(super) const DATABASE: &str = "store.redb";
/// The folder of the lexical index in the folder of a store.
pub(super) const SEGMENTS: &str = "segments";
/// How the name of a database begins that is not yet one.
const UNFINISHED: &str = "store.redb.new.";
/// The name of a database that will take the place of the one in use: see `replace`.
pub(super) const NEXT: &str = "store.redb.next";
/// Memory for pages, in bytes. The operating system caches the file too.
const CACHE_BYTES: usize = 48 << 20;
/// How many names a creating process tries before it blames the file system.
const MAX_NAMES: u32 = 100;

pub(super) fn database_path(dir: &Path) -> PathBuf {
    dir.join(DATABASE)
}

/// Makes the files of a store where there is none.
///
/// The database is built under another name and then linked to its own, which fails when there is
/// one by now. So a crash leaves no half-made database under the name that is opened, and of two
/// processes that create one at once the later finds and uses that of the earlier.
pub(super) fn create(dir: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(dir.join(SEGMENTS)).map_err(|e| StoreError::io(dir, e))?;
    let path = database_path(dir);
    if !exists(&path)? {
        let unfinished = fill_new_database(dir)?;
        publish(&unfinished, &path)?;
    }
    // Only now: see there.
    remove_unfinished(dir)?;
    let ignore = dir.join(".gitignore");
    if !exists(&ignore)? {
        fs::write(&ignore, "*\n").map_err(|e| StoreError::io(&ignore, e))?;
    }
    sync_dir(dir)
}

/// Opens the database for reading and writing, and repairs it when its last writer was killed. Returns it with
/// its format, which may be older than [`FORMAT`].
pub(super) fn open(dir: &Path, wait: Duration) -> Result<(Database, u32), StoreError> {
    let path = existing(dir)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .map_err(|e| StoreError::io(&path, e))?;
    let backend = backend_of(&path, file, wait)?;
    let database = guarded(&path, || builder().create_with_backend(backend))?;
    let found = found_format(dir, &begin_read(&path, &database)?)?;
    Ok((database, found))
}

/// Opens the database for reading. Nothing is written, with one exception: when the last writer
/// was killed and nobody has repaired the file since, it is repaired first.
pub(super) fn open_read_only(dir: &Path) -> Result<ReadOnlyDatabase, StoreError> {
    let path = existing(dir)?;
    let database = match read_only(&path)? {
        Some(database) => database,
        None => {
            repair(dir, &path)?;
            read_only(&path)?.ok_or_else(|| StoreError::Unclean {
                path: path.clone(),
                source: "it is unclean again after a repair".into(),
            })?
        }
    };
    check(dir, found_format(dir, &begin_read(&path, &database)?)?)?;
    Ok(database)
}

pub(super) fn begin_read(
    path: &Path,
    database: &impl redb::ReadableDatabase,
) -> Result<ReadTransaction, StoreError> {
    guarded(path, || database.begin_read())
}

/// Runs a call into redb. redb trusts its file, and may panic on one that something else has
/// changed; here that is an error like any other.
pub(super) fn guarded<T, E: Into<redb::Error>>(
    path: &Path,
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, StoreError> {
    unpanicked(path, || call().map_err(|error| StoreError::of_redb(path, error)))
}

/// Runs something that calls into redb: see [`guarded`].
pub(super) fn unpanicked<T>(
    path: &Path,
    call: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        Err(StoreError::Damaged {
            path: path.to_owned(),
            source: "the database library met bytes that it cannot have written".into(),
        })
    })
}

/// Walks rows of redb, and ends with an error where it would panic: see [`guarded`].
pub(super) fn unpanicked_rows<T>(
    path: &Path,
    mut rows: impl Iterator<Item = Result<T, StoreError>>,
) -> impl Iterator<Item = Result<T, StoreError>> {
    let mut over = false;
    std::iter::from_fn(move || {
        if over {
            return None;
        }
        let row = unpanicked(path, || Ok(rows.next())).unwrap_or_else(|error| Some(Err(error)));
        over = matches!(row, None | Some(Err(StoreError::Damaged { .. })));
        row
    })
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter).set_cache_size(CACHE_BYTES);
    builder
}

fn backend_of(path: &Path, file: File, wait: Duration) -> Result<PatientFile, StoreError> {
    PatientFile::new(path, file, wait).map_err(|error| StoreError::of_redb(path, error))
}

fn existing(dir: &Path) -> Result<PathBuf, StoreError> {
    let path = database_path(dir);
    let length = match fs::metadata(&path) {
        Ok(metadata) => metadata.len(),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(StoreError::NotFound { dir: dir.to_owned() });
        }
        Err(e) => return Err(StoreError::io(&path, e)),
    };
    if length == 0 {
        // redb would take an empty file for a new database; ours are never empty.
        return Err(StoreError::Damaged { path, source: "the file is empty".into() });
    }
    Ok(path)
}

/// Returns nothing when the file needs a repair first.
fn read_only(path: &Path) -> Result<Option<ReadOnlyDatabase>, StoreError> {
    guarded(path, || match builder().open_read_only(path) {
        Ok(database) => Ok(Some(database)),
        Err(redb::DatabaseError::RepairAborted) => Ok(None),
        Err(error) => Err(error),
    })
}

fn repair(dir: &Path, path: &Path) -> Result<(), StoreError> {
    match open(dir, Duration::from_secs(5)) {
        Ok(_) => Ok(()),
        Err(StoreError::Io { source, .. }) => {
            Err(StoreError::Unclean { path: path.to_owned(), source: Box::new(source) })
        }
        Err(error) => Err(error),
    }
}

/// The format of a store. A newer one is refused here.
fn found_format(dir: &Path, transaction: &ReadTransaction) -> Result<u32, StoreError> {
    let path = database_path(dir);
    let found = guarded(&path, || -> Result<_, redb::Error> {
        let table = transaction.open_table(tables::META)?;
        let value = table.get(meta::FORMAT)?;
        Ok(value.map(|bytes| bytes.value().to_vec()))
    })?;
    let place = Place { table: "meta", key: &meta::FORMAT };
    let found = codec::decode_u32(place, &found.unwrap_or_default())?;
    if found > FORMAT {
        return Err(StoreError::FormatTooNew { found, supported: FORMAT });
    }
    Ok(found)
}

/// Refuses a store of an older format.
pub(super) fn check(dir: &Path, found: u32) -> Result<(), StoreError> {
    if found < FORMAT {
        let dir = dir.to_owned();
        return Err(StoreError::FormatTooOld { found, supported: FORMAT, dir });
    }
    Ok(())
}

/// Builds an empty database under a name that no other process uses.
fn fill_new_database(dir: &Path) -> Result<PathBuf, StoreError> {
    let (file, path) = new_file(dir)?;
    let database = fill(&path, file)?;
    guarded(&path, || database.close())?;
    Ok(path)
}

/// Builds an empty database under this name, and keeps it open.
pub(super) fn fill_next(path: &Path) -> Result<Database, StoreError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(|e| StoreError::io(path, e))?;
    #[cfg(test)]
    crate::powercut::asked(path, crate::powercut::Op::Create)
        .map_err(|e| StoreError::io(path, e))?;
    fill(path, file)
}

fn fill(path: &Path, file: File) -> Result<Database, StoreError> {
    let backend = backend_of(path, file, Duration::ZERO)?;
    guarded(path, || -> Result<_, redb::Error> {
        let database = builder().create_with_backend(backend)?;
        let transaction = database.begin_write()?;
        tables::for_each(&mut Create(&transaction))?;
        {
            let mut table = transaction.open_table(tables::META)?;
            table.insert(meta::FORMAT, FORMAT.to_le_bytes().as_slice())?;
        }
        transaction.commit()?;
        Ok(database)
    })
}

struct Create<'a>(&'a WriteTransaction);

impl tables::ForEach for Create<'_> {
    fn table<K: Key + 'static, V: Value + 'static>(
        &mut self,
        table: TableDefinition<'static, K, V>,
    ) -> Result<(), redb::Error> {
        self.0.open_table(table)?;
        Ok(())
    }
}

fn new_file(dir: &Path) -> Result<(File, PathBuf), StoreError> {
    for n in 0..MAX_NAMES {
        let path = dir.join(format!("{UNFINISHED}{}.{n}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => {
                #[cfg(test)]
                crate::powercut::asked(&path, crate::powercut::Op::Create)
                    .map_err(|e| StoreError::io(&path, e))?;
                return Ok((file, path));
            }
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(StoreError::io(&path, e)),
        }
    }
    Err(StoreError::io(dir, ErrorKind::AlreadyExists.into()))
}

/// Gives an unfinished database its name, unless another process was faster.
fn publish(unfinished: &Path, path: &Path) -> Result<(), StoreError> {
    #[cfg(test)]
    crate::powercut::asked_of_two(unfinished, path, crate::powercut::Op::Link)
        .map_err(|e| StoreError::io(path, e))?;
    match fs::hard_link(unfinished, path) {
        Ok(()) => Ok(()),
        Err(_) if exists(path)? => Ok(()),
        // A file system without hard links. Two processes could now both rename; the window is
        // that between the look above and this call.
        Err(_) => fs::rename(unfinished, path).map_err(|e| StoreError::io(path, e)),
    }
}

/// Removes unfinished databases. Once there is a database in place, nobody needs them, not even their makers.
pub(super) fn remove_unfinished(dir: &Path) -> Result<(), StoreError> {
    for path in unfinished(dir)? {
        // Whoever holds the write lock makes this one, and removes it.
        if path.file_name().is_some_and(|name| name != NEXT) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// The databases in a folder that were never finished, sorted.
pub(super) fn unfinished(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(|e| StoreError::io(dir, e))? {
        let entry = entry.map_err(|e| StoreError::io(dir, e))?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) || name == NEXT {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Ok(()) => {
            #[cfg(test)]
            crate::powercut::asked(path, crate::powercut::Op::Remove)
                .map_err(|e| StoreError::io(path, e))?;
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

fn exists(path: &Path) -> Result<bool, StoreError> {
    path.try_exists().map_err(|e| StoreError::io(path, e))
}

#[cfg(unix)]
pub(super) fn sync_dir(dir: &Path) -> Result<(), StoreError> {
    #[cfg(test)]
    crate::powercut::asked(dir, crate::powercut::Op::SyncFolder)
        .map_err(|e| StoreError::io(dir, e))?;
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(|e| StoreError::io(dir, e))
}

#[cfg(not(unix))]
pub(super) fn sync_dir(_: &Path) -> Result<(), StoreError> {
    Ok(())
}
