//! What happened, in the order in which it happened: append-only, hash-chained journals of runs, and
//! the leases on what only one run may hold. Not here: what an entry means; whoever writes one knows.
//!
//! `schema/ledger.md` describes the bytes of `runs.redb`.

mod canonical;
mod entry;
mod error;
mod file;
mod lease;

use std::path::{Path, PathBuf};
use std::time::Duration;

use redb::{ReadableDatabase as _, ReadableTable as _};
use serde_json::Value;

pub use canonical::canonical;
pub use entry::{Actor, ActorKind, Entry, Head, RunId};
pub use error::LedgerError;
pub use file::{FILE_NAME, FORMAT};
pub use lease::Lease;

use entry::entry_key;
use file::{ENTRIES, LEASES, RUNS, guarded};

/// The journals of runs in one file, which several processes may use at once.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    database: redb::Database,
    wait: Duration,
}

impl Ledger {
    /// Opens the file `runs.redb` in `dir`, and makes it when there is none. Waits at most `wait` for
    /// another writer, here and at every change.
    ///
    /// # Errors
    /// [`LedgerError::Damaged`] when the file is not a ledger or was cut off,
    /// [`LedgerError::FormatTooNew`], [`LedgerError::Io`].
    pub fn open(dir: &Path, wait: Duration) -> Result<Self, LedgerError> {
        let path = dir.join(FILE_NAME);
        let database = file::open(&path, wait)?;
        Ok(Self { path, database, wait })
    }

    /// Opens the file `runs.redb` in `dir` if there is one.
    ///
    /// # Errors
    /// [`LedgerError::NotFound`], and those of [`Ledger::open`].
    pub fn open_existing(dir: &Path, wait: Duration) -> Result<Self, LedgerError> {
        let path = dir.join(FILE_NAME);
        match path.try_exists() {
            Ok(true) => Self::open(dir, wait),
            Ok(false) => Err(LedgerError::NotFound { path }),
            Err(source) => Err(LedgerError::Io { path, source }),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an entry to the journal of a run, if its head is still `head`. The first entry of a
    /// run goes behind [`Head::START`]. Returns the entry with its hash.
    ///
    /// # Errors
    /// [`LedgerError::Moved`] when somebody else has appended since: exactly one of two writers
    /// wins.
    pub fn append(
        &self,
        run: &RunId,
        head: &Head,
        at: Duration,
        actor: &Actor,
        (kind, body): (&str, Value),
    ) -> Result<Entry, LedgerError> {
        let entry = Entry::after(head, run, at, actor, kind, body);
        self.write(|transaction| {
            let mut runs = transaction.open_table(RUNS)?;
            let found = runs.get(run.as_str())?.map(|bytes| bytes.value().to_vec());
            let found = match found {
                None => Some(Head::START),
                Some(bytes) => Head::decode(&bytes),
            };
            if found.as_ref() != Some(head) {
                return Ok(Err(LedgerError::Moved { run: run.clone() }));
            }
            let mut entries = transaction.open_table(ENTRIES)?;
            entries.insert(entry_key(run, entry.seq).as_str(), entry.encode().as_slice())?;
            runs.insert(run.as_str(), entry.head().encode().as_slice())?;
            Ok(Ok(()))
        })?;
        Ok(entry)
    }

    /// Returns the journal of a run from its first entry, checked link by link.
    ///
    /// # Errors
    /// [`LedgerError::NoRun`]; [`LedgerError::Cut`] with the first place that does not hold.
    pub fn entries(&self, run: &RunId) -> Result<Vec<Entry>, LedgerError> {
        let (head, rows) = guarded(&self.path, || -> Result<_, redb::Error> {
            let transaction = self.database.begin_read()?;
            let runs = transaction.open_table(RUNS)?;
            let head = runs.get(run.as_str())?.map(|bytes| bytes.value().to_vec());
            let table = transaction.open_table(ENTRIES)?;
            let mut rows = Vec::new();
            let (first, last) = (entry_key(run, 0), entry_key(run, u64::MAX));
            for row in table.range(first.as_str()..=last.as_str())? {
                rows.push(row?.1.value().to_vec());
            }
            Ok((head, rows))
        })?;
        let head = head.ok_or_else(|| LedgerError::NoRun { run: run.clone() })?;
        let cut = |seq, what: &str| LedgerError::Cut { run: run.clone(), seq, what: what.into() };
        let head = Head::decode(&head).ok_or_else(|| cut(0, "the head cannot be read"))?;
        let mut entries = Vec::with_capacity(rows.len());
        for (seq, row) in (0..).zip(&rows) {
            let entry = Entry::decode(row).ok_or_else(|| cut(seq, "it cannot be read"))?;
            entries.push(entry);
        }
        check_chain(run, &entries)?;
        let last = entries.last().map_or(Head::START, Entry::head);
        if last != head {
            let what = format!("the journal should have {} entries", head.n_entries);
            return Err(cut(last.n_entries, &what));
        }
        Ok(entries)
    }

    /// The runs, in the order of their names.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn runs(&self) -> Result<Vec<RunId>, LedgerError> {
        guarded(&self.path, || -> Result<_, redb::Error> {
            let transaction = self.database.begin_read()?;
            let table = transaction.open_table(RUNS)?;
            let mut runs = Vec::new();
            for row in table.iter()? {
                runs.push(RunId::from_text(row?.0.value()));
            }
            Ok(runs)
        })
    }

    /// Claims a resource for a run until `until`, if no other run holds it at `now`. A run that
    /// holds it already renews its lease. `content` is the hash of the resource as the run saw it.
    ///
    /// # Errors
    /// [`LedgerError::Held`] with the holder and the end of its lease.
    pub fn claim(
        &self,
        resource: &str,
        run: &RunId,
        (now, until): (Duration, Duration),
        content: Option<String>,
    ) -> Result<Lease, LedgerError> {
        self.write(|transaction| {
            let mut table = transaction.open_table(LEASES)?;
            let found = table.get(resource)?.map(|bytes| bytes.value().to_vec());
            let found = found.as_deref().and_then(Lease::decode);
            let lease = match found.as_ref().map(|lease| lease.claimed_by(run, now)) {
                Some(Err(holder)) => {
                    return Ok(Err(LedgerError::Held {
                        resource: resource.to_owned(),
                        holder,
                        until: found.map_or(now, |lease| lease.until()),
                    }));
                }
                Some(Ok(token)) => Lease::new(resource, run, token, until, content),
                None => Lease::new(resource, run, 1, until, content),
            };
            table.insert(resource, lease.encode().as_slice())?;
            Ok(Ok(lease))
        })
    }

    /// Gives a resource back, and checks that it is what the holder believes it to be: `found` is the
    /// hash of its content now, and `expected` what the holder last saw or made.
    ///
    /// # Errors
    /// [`LedgerError::Lost`] when the lease is somebody else's by now; [`LedgerError::Changed`] when
    /// the resource was changed beside the holder. The lease is given back also then.
    pub fn release(
        &self,
        lease: &Lease,
        expected: Option<&str>,
        found: Option<&str>,
    ) -> Result<(), LedgerError> {
        self.write(|transaction| {
            let mut table = transaction.open_table(LEASES)?;
            let held = table.get(lease.resource.as_str())?.map(|bytes| bytes.value().to_vec());
            let held = held.as_deref().and_then(Lease::decode);
            if held.as_ref().is_none_or(|held| held.token != lease.token || held.run != lease.run) {
                return Ok(Err(LedgerError::Lost { resource: lease.resource.clone() }));
            }
            table.insert(lease.resource.as_str(), lease.freed().encode().as_slice())?;
            Ok(Ok(()))
        })?;
        if expected != found {
            return Err(LedgerError::Changed { resource: lease.resource.clone() });
        }
        Ok(())
    }

    /// Runs a change in one transaction, which is committed unless the change is refused.
    fn write<T>(
        &self,
        change: impl FnOnce(&redb::WriteTransaction) -> Result<Result<T, LedgerError>, redb::Error>,
    ) -> Result<T, LedgerError> {
        guarded(&self.path, || -> Result<_, redb::Error> {
            let begin = || match self.database.try_begin_write() {
                Ok(transaction) => Ok(Some(transaction)),
                Err(redb::TransactionError::WouldBlock) => Ok(None),
                Err(error) => Err(error),
            };
            let Ok(transaction) = crate::store::poll(self.wait, begin)? else {
                return Ok(Err(LedgerError::Busy { waited: self.wait }));
            };
            match change(&transaction)? {
                Ok(done) => {
                    transaction.commit()?;
                    Ok(Ok(done))
                }
                Err(refused) => {
                    transaction.abort()?;
                    Ok(Err(refused))
                }
            }
        })?
    }
}

/// Writes a journal as JSON lines, one entry a line, in order.
pub fn to_json_lines(entries: &[Entry]) -> String {
    let mut lines = String::new();
    for entry in entries {
        lines.push_str(&entry.to_json());
        lines.push('\n');
    }
    lines
}

/// Reads a journal from JSON lines, checked link by link.
///
/// # Errors
/// [`LedgerError::Cut`] with the first place that does not hold: an unfinished line, a missing,
/// repeated or changed entry.
pub fn from_json_lines(text: &str) -> Result<Vec<Entry>, LedgerError> {
    let mut entries: Vec<Entry> = Vec::new();
    for (seq, line) in (0..).zip(text.lines().filter(|line| !line.trim().is_empty())) {
        let run = entries.first().map_or_else(|| RunId::from_text("?"), |entry| entry.run.clone());
        let what = "the line is not an entry".to_owned();
        let entry = Entry::decode(line.as_bytes()).ok_or(LedgerError::Cut { run, seq, what })?;
        entries.push(entry);
    }
    if let Some(run) = entries.first().map(|entry| entry.run.clone()) {
        check_chain(&run, &entries)?;
    }
    Ok(entries)
}

/// Checks that entries are the journal of a run from its first entry on, each behind the one before.
fn check_chain(run: &RunId, entries: &[Entry]) -> Result<(), LedgerError> {
    let mut head = Head::START;
    for entry in entries {
        let wrong = if entry.seq != head.n_entries {
            Some(format!("entry {} stands in its place", entry.seq))
        } else if entry.run != *run {
            Some(format!("it is of the run {}", entry.run))
        } else if entry.before != head.hash {
            Some("it does not continue the entry before it".to_owned())
        } else if entry.hash != entry.computed_hash() {
            Some("its content is not what was written".to_owned())
        } else {
            None
        };
        if let Some(what) = wrong {
            return Err(LedgerError::Cut { run: run.clone(), seq: head.n_entries, what });
        }
        head = entry.head();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
