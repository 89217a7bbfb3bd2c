//! The folder of the segments, with the one file that changes kept in memory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
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
}

impl SegmentDir {
    /// Opens the folder. `meta_json` is what the store has, `None` for an empty index.
    pub(super) fn open(path: &Path, meta_json: Option<&[u8]>) -> tantivy::Result<Self> {
        let disk = MmapDirectory::open(path)?;
        let files = meta_json.map(|bytes| (PathBuf::from(META), bytes.to_vec()));
        let memory = Arc::new(Mutex::new(files.into_iter().collect()));
        Ok(Self { path: path.to_owned(), disk, memory })
    }

    /// The bytes of `meta.json` as they are now.
    pub(super) fn meta_json(&self) -> Option<Vec<u8>> {
        self.memory().get(Path::new(META)).cloned()
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
        match self.disk.open_write(path) {
            // Left by a writer that was killed before the store committed: the numbers that name
            // the files of deletions are given out again. No `meta.json` knows the file.
            Err(OpenWriteError::FileAlreadyExists(_)) => {
                let file = self.path.join(path);
                fs::remove_file(&file)
                    .map_err(|error| OpenWriteError::wrap_io_error(error, file))?;
                self.disk.open_write(path)
            }
            result => result,
        }
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
        self.disk.sync_directory()
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
