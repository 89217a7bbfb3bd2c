//! The file of the ledger: its tables, how it comes to be, and how it is opened.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use redb::backends::FileBackend;
use redb::{Builder, ConcurrencyMode, Database, ReadableDatabase as _, TableDefinition};

use super::error::LedgerError;
use crate::store::PatientFile;

/// The name of the file in the store folder.
pub const FILE_NAME: &str = "runs.redb";

/// The format that this build reads and writes. `schema/ledger.md` describes it.
pub const FORMAT: u32 = 1;

/// Single facts, by name.
const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");
/// Run to the head of its journal.
pub(super) const RUNS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("runs");
/// Run and place to an entry.
pub(super) const ENTRIES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("entries");
/// Resource to the lease on it.
pub(super) const LEASES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("leases");

/// The key of the format in the table `meta`.
const FORMAT_KEY: &str = "format";
/// Memory for pages, in bytes.
const CACHE_BYTES: usize = 8 << 20;

/// Opens the file for reading and writing, and makes it when there is none.
pub(super) fn open(path: &Path, wait: Duration) -> Result<Database, LedgerError> {
    let io = |source| LedgerError::Io { path: path.to_owned(), source };
    if !path.try_exists().map_err(io)? {
        create(path)?;
    }
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(io)?;
    if file.metadata().map_err(io)?.len() == 0 {
        // redb would take an empty file for a new database; ours are never empty.
        let source = "the file is empty".into();
        return Err(LedgerError::Damaged { path: path.to_owned(), source });
    }
    let database = guarded(path, || -> Result<_, redb::Error> {
        Ok(builder().create_with_backend(PatientFile::new(path, file, wait)?)?)
    })?;
    let found = guarded(path, || -> Result<_, redb::Error> {
        let table = database.begin_read()?.open_table(META)?;
        Ok(table.get(FORMAT_KEY)?.map(|bytes| bytes.value().to_vec()))
    })?;
    let found = found.and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)));
    match found {
        Some(FORMAT) => Ok(database),
        Some(found) if found > FORMAT => {
            Err(LedgerError::FormatTooNew { found, supported: FORMAT })
        }
        _ => {
            Err(LedgerError::Damaged { path: path.to_owned(), source: "it names no format".into() })
        }
    }
}

/// Builds an empty ledger under a name of this process, and then gives it its own: a crash leaves no
/// half-made one, and of two processes that make one at once, the later uses that of the earlier.
fn create(path: &Path) -> Result<(), LedgerError> {
    let io = |source| LedgerError::Io { path: path.to_owned(), source };
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(io)?;
    }
    let unfinished = path.with_extension(format!("redb.new.{}", std::process::id()));
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&unfinished)
        .map_err(io)?;
    guarded(path, || -> Result<(), redb::Error> {
        let database = builder().create_with_backend(FileBackend::new(file)?)?;
        let transaction = database.begin_write()?;
        transaction.open_table(META)?.insert(FORMAT_KEY, FORMAT.to_le_bytes().as_slice())?;
        transaction.open_table(RUNS)?;
        transaction.open_table(ENTRIES)?;
        transaction.open_table(LEASES)?;
        transaction.commit()?;
        database.close()?;
        Ok(())
    })?;
    let named = match std::fs::hard_link(&unfinished, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // A file system without hard links.
        Err(_) => std::fs::rename(&unfinished, path),
    };
    // Gone already when it was renamed.
    let _ = std::fs::remove_file(&unfinished);
    named.map_err(io)
}

/// Runs a call into redb, which may panic on a file that something else has changed; here that is an
/// error like any other.
pub(super) fn guarded<T, E: Into<redb::Error>>(
    path: &Path,
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, LedgerError> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(done) => done.map_err(|error| LedgerError::of_redb(path, error)),
        Err(_) => Err(LedgerError::Damaged {
            path: path.to_owned(),
            source: "the database library met bytes that it cannot have written".into(),
        }),
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter).set_cache_size(CACHE_BYTES);
    builder
}
