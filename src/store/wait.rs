//! Waiting for another writer, for a bounded time.
//!
//! redb waits without end for the writer of another process when it opens a database. The backend
//! here is the one of redb, except that it gives up.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::time::Duration;

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

/// The time between two attempts.
const STEP: Duration = Duration::from_millis(5);
/// Lock bytes from here on stand for roles; those below are real bytes, locked for microseconds.
const FIRST_ROLE_BYTE: u64 = 1 << 62;

/// The time ran out.
#[derive(Debug)]
pub(crate) struct TimedOut(pub(crate) Duration);

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gave up after {} ms", self.0.as_millis())
    }
}

impl std::error::Error for TimedOut {}

/// Tries until it gets something, or until `at_most` has passed. Time is counted in the pauses
/// made, so no clock is asked.
pub(crate) fn poll<T, E>(
    at_most: Duration,
    mut attempt: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Result<T, TimedOut>, E> {
    let mut waited = Duration::ZERO;
    loop {
        if let Some(got) = attempt()? {
            return Ok(Ok(got));
        }
        if waited >= at_most {
            return Ok(Err(TimedOut(waited)));
        }
        let pause = STEP.min(at_most.saturating_sub(waited));
        std::thread::sleep(pause);
        waited += pause;
    }
}

/// A file that waits for its writer's place for a bounded time.
#[derive(Debug)]
pub(crate) struct PatientFile {
    file: FileBackend,
    at_most: Duration,
    #[cfg(test)]
    watched: Option<crate::powercut::Watched>,
}

impl PatientFile {
    pub(crate) fn new(
        #[cfg_attr(not(test), expect(unused_variables, reason = "for tests alone"))] path: &Path,
        file: File,
        at_most: Duration,
    ) -> Result<Self, redb::DatabaseError> {
        Ok(Self {
            file: FileBackend::new(file)?,
            at_most,
            #[cfg(test)]
            watched: crate::powercut::opened(path),
        })
    }

    /// Lets a test write down or refuse what is asked of the disk.
    #[cfg(test)]
    fn ask(&self, op: impl FnOnce(usize) -> crate::powercut::Op) -> io::Result<()> {
        self.watched.as_ref().map_or(Ok(()), |watched| watched.ask(op))
    }
}

impl StorageBackend for PatientFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        #[cfg(test)]
        self.ask(|file| crate::powercut::Op::SetLen(file, len))?;
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        #[cfg(test)]
        self.ask(crate::powercut::Op::Sync)?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        self.ask(|file| crate::powercut::Op::Write(file, offset, data.to_vec()))?;
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        match start {
            Bound::Included(byte) | Bound::Excluded(byte) if byte >= FIRST_ROLE_BYTE => {}
            _ => return self.file.lock_range(start, end),
        }
        poll(self.at_most, || {
            Ok::<_, BackendError>(self.file.try_lock_range(start, end)?.then_some(()))
        })?
        .map_err(|timed_out| BackendError::Other(Box::new(timed_out)))
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}
