//! The folder of the segments, with the one file that changes kept in memory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

/// The name under which tantivy keeps what the index consists of.
pub(super) const META: &str = "meta.json";

/// Segment files on disk, `meta.json` and the list of managed files in memory.
///
/// So tantivy's own commit makes nothing visible: that happens when the store commits the bytes of
/// `meta.json`. Locks are always granted, since whoever writes holds the write lock of the store,
/// and deleting does nothing, since a reader of the state before may still need the file.
#[derive(Debug, Clone)]
pub(super) struct SegmentDir {
    path: PathBuf,
    disk: MmapDirectory,
    memory: Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>,
    /// The first refusal to write a file: threads of tantivy hand it on as a text, or not at all.
    refusal: Arc<Mutex<Option<io::Error>>>,
}

impl SegmentDir {
    /// Opens the folder. `meta_json` is what the store has, `None` for an empty index.
    pub(super) fn open(path: &Path, meta_json: Option<&[u8]>) -> tantivy::Result<Self> {
        let disk = MmapDirectory::open(path)?;
        let files = meta_json.map(|bytes| (PathBuf::from(META), bytes.to_vec()));
        let memory = Arc::new(Mutex::new(files.into_iter().collect()));
        Ok(Self { path: path.to_owned(), disk, memory, refusal: Arc::default() })
    }

    /// The bytes of `meta.json` as they are now.
    pub(super) fn meta_json(&self) -> Option<Vec<u8>> {
        self.memory().get(Path::new(META)).cloned()
    }

    /// Creates a segment file.
    fn create(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = self.path.join(path);
        let result = match self.disk.open_write(path) {
            // Left by a writer that was killed before the store committed: the numbers that name
            // the files of deletions are given out again. No `meta.json` knows the file.
            Err(OpenWriteError::FileAlreadyExists(_)) => {
                remove(&file)
                    .map_err(|error| OpenWriteError::wrap_io_error(error, file.clone()))?;
                self.disk.open_write(path)
            }
            result => result,
        };
        Ok(WritePtr::new(Box::new(SegmentFile {
            #[cfg(test)]
            watched: watched::create(&file)
                .map_err(|error| OpenWriteError::wrap_io_error(error, file))?,
            writer: result?,
            refusal: Arc::clone(&self.refusal),
        })))
    }

    /// Takes the first refusal to write a file, if there was one.
    pub(super) fn take_refusal(&self) -> Option<io::Error> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn memory(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        // A panic elsewhere cannot leave a map of whole files half written.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Directory for SegmentDir {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.disk.get_file_handle(path)
    }

    fn delete(&self, _: &Path) -> Result<(), DeleteError> {
        Ok(())
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        if self.memory().contains_key(path) {
            return Ok(true);
        }
        self.disk.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.create(path).inspect_err(|error| {
            if let OpenWriteError::IoError { io_error, .. } = error {
                remember(&self.refusal, io_error);
            }
        })
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let bytes = self.memory().get(path).cloned();
        bytes.ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.memory().insert(path.to_owned(), data.to_vec());
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        #[cfg(test)]
        crate::powercut::asked(&self.path, crate::powercut::Op::SyncFolder)?;
        self.disk.sync_directory()
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// Removes a segment file.
pub(super) fn remove(file: &Path) -> io::Result<()> {
    #[cfg(test)]
    crate::powercut::asked(file, crate::powercut::Op::Remove)?;
    fs::remove_file(file)
}

/// A segment file in the making, which remembers when the operating system refused to write it.
struct SegmentFile {
    writer: WritePtr,
    refusal: Arc<Mutex<Option<io::Error>>>,
    #[cfg(test)]
    watched: Option<watched::File>,
}

impl SegmentFile {
    fn remember<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| remember(&self.refusal, error))
    }
}

/// Notes a refusal of the operating system, if it is the first.
fn remember(refusal: &Mutex<Option<io::Error>>, error: &io::Error) {
    let copy = match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error.kind().into(),
    };
    refusal.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(copy);
}

impl Write for SegmentFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(test)]
        self.remember(self.watched.as_ref().map_or(Ok(()), |watched| watched.write(bytes)))?;
        let result = self.writer.write_all(bytes).map(|()| bytes.len());
        self.remember(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.writer.flush();
        self.remember(result)
    }
}

impl TerminatingWrite for SegmentFile {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        #[cfg(test)]
        self.remember(self.watched.as_ref().map_or(Ok(()), watched::File::sync))?;
        let result = self.writer.terminate_ref(token);
        self.remember(result)
    }
}

#[cfg(test)]
mod watched {
    //! Lets a test write down or refuse what is asked of the disk.

    use std::io;
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};

    use crate::powercut::{self, Op, Watched};

    pub(super) struct File {
        watched: Watched,
        at: AtomicU64,
    }

    pub(super) fn create(file: &Path) -> io::Result<Option<File>> {
        powercut::asked(file, Op::Create)?;
        let watched = powercut::opened(file);
        Ok(watched.map(|watched| File { watched, at: AtomicU64::new(0) }))
    }

    impl File {
        pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
            let at = self.at.fetch_add(bytes.len() as u64, Ordering::SeqCst);
            self.watched.ask(|file| Op::Write(file, at, bytes.to_vec()))
        }

        pub(super) fn sync(&self) -> io::Result<()> {
            self.watched.ask(Op::Sync)
        }
    }
}
