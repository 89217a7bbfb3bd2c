//! What is on the disk when the power goes? For tests alone.
//!
//! A [`Recorder`] writes down what psos asks of the disk below one folder: creating, writing, syncing,
//! naming. A [`Disk`] replays that, and gives the folder as it may be found after a power cut at any
//! moment: what was synced is there, of the rest nothing, all, or any part ([`Survival`]). A recorder
//! can also refuse: from a given request on the disk is full.
//!
//! The model of a disk is harsh, with one exception. Of writes that were not synced, each may be there,
//! be missing or be torn at any sector, in any order. A new name counts only once its folder was synced,
//! even when the file itself was. But names change in the order in which they were changed, as in every
//! file system with a journal.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Disks write this much at once or not at all, in bytes.
const SECTOR: usize = 512;

/// A request to the disk. Paths are relative to the recorded folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    /// A new, empty file.
    Create(PathBuf),
    /// A file gets a number for the requests to it, whatever becomes of its name.
    Open(PathBuf, usize),
    /// Bytes at a place of a file.
    Write(usize, u64, Vec<u8>),
    /// A file gets longer or shorter.
    SetLen(usize, u64),
    /// The content of a file is on the disk.
    Sync(usize),
    /// The names in a folder are on the disk.
    SyncFolder(PathBuf),
    /// A second name for a file.
    Link(PathBuf, PathBuf),
    /// Another name for a file, which takes the place of what had it.
    Rename(PathBuf, PathBuf),
    /// A name goes away.
    Remove(PathBuf),
}

static RECORDERS: Mutex<Vec<Arc<Recorder>>> = Mutex::new(Vec::new());

/// Writes down what is asked of the disk below a folder, as long as it lives.
#[derive(Debug)]
pub(crate) struct Recorder {
    folder: PathBuf,
    ops: Mutex<Vec<Op>>,
    full_from: usize,
}

/// Ends a recording when it goes out of scope.
#[derive(Debug)]
pub(crate) struct Recording(Arc<Recorder>);

impl Recording {
    /// Records what happens below `folder` from now on.
    pub(crate) fn of(folder: &Path) -> Self {
        Self::until_full(folder, usize::MAX)
    }

    /// Records, and refuses every request that needs room from the one with this number on.
    pub(crate) fn until_full(folder: &Path, full_from: usize) -> Self {
        let folder = folder.to_owned();
        let recorder = Arc::new(Recorder { folder, ops: Mutex::default(), full_from });
        locked(&RECORDERS).push(Arc::clone(&recorder));
        Self(recorder)
    }

    /// What was asked so far.
    pub(crate) fn ops(&self) -> Vec<Op> {
        locked(&self.0.ops).clone()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        locked(&RECORDERS).retain(|one| !Arc::ptr_eq(one, &self.0));
    }
}

/// Begins to write down the requests to a file that was just opened for writing, when somebody records
/// there.
pub(crate) fn opened(path: &Path) -> Option<Watched> {
    let (recorder, path) = recorder(path)?;
    let mut ops = locked(&recorder.ops);
    let handle = ops.len();
    ops.push(Op::Open(path, handle));
    drop(ops);
    Some(Watched { recorder, handle })
}

/// Writes down a request for a name.
pub(crate) fn asked(path: &Path, op: fn(PathBuf) -> Op) -> io::Result<()> {
    recorder(path).map_or(Ok(()), |(recorder, path)| recorder.ask(op(path)))
}

/// Writes down a request for two names: see [`asked`].
pub(crate) fn asked_of_two(
    from: &Path,
    to: &Path,
    op: fn(PathBuf, PathBuf) -> Op,
) -> io::Result<()> {
    match (recorder(from), recorder(to)) {
        (Some((recorder, from)), Some((_, to))) => recorder.ask(op(from, to)),
        _ => Ok(()),
    }
}

fn recorder(path: &Path) -> Option<(Arc<Recorder>, PathBuf)> {
    locked(&RECORDERS).iter().find_map(|recorder| {
        let path = path.strip_prefix(&recorder.folder).ok()?.to_owned();
        Some((Arc::clone(recorder), path))
    })
}

impl Recorder {
    /// Writes down a request, or refuses it.
    fn ask(&self, op: Op) -> io::Result<()> {
        let mut ops = locked(&self.ops);
        let needs_room = matches!(op, Op::Create(_) | Op::Write(..) | Op::SetLen(..) | Op::Sync(_));
        if needs_room && ops.len() >= self.full_from {
            return Err(io::ErrorKind::StorageFull.into());
        }
        ops.push(op);
        Ok(())
    }
}

/// A file whose requests are recorded.
#[derive(Debug)]
pub(crate) struct Watched {
    recorder: Arc<Recorder>,
    handle: usize,
}

impl Watched {
    /// Writes down a request, or refuses it.
    pub(crate) fn ask(&self, op: impl FnOnce(usize) -> Op) -> io::Result<()> {
        self.recorder.ask(op(self.handle))
    }
}

/// What of the unsynced requests is on the disk after a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Survival {
    /// Nothing.
    Nothing,
    /// All of it.
    Everything,
    /// Each write or none of it or a part, and the first so many names, by this seed.
    Parts(u64),
}

/// A folder on a disk, with what is sure and what is not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    files: Vec<File>,
    /// By the numbers of [`Op::Open`].
    open: BTreeMap<usize, usize>,
    /// As programs see them.
    names: BTreeMap<PathBuf, usize>,
    /// As the disk has them for sure.
    sure_names: BTreeMap<PathBuf, usize>,
    /// Changes of names since, in their order.
    unsure_names: Vec<(PathBuf, Option<usize>)>,
}

#[derive(Debug, Clone, Default)]
struct File {
    sure: Vec<u8>,
    unsure: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Write(u64, Vec<u8>),
    SetLen(u64),
}

impl Disk {
    /// A folder as it is now, all of it sure.
    pub(crate) fn of(folder: &Path) -> Self {
        let mut disk = Self::default();
        for entry in walkdir::WalkDir::new(folder).into_iter().filter_map(Result::ok) {
            if entry.file_type().is_file() {
                let path = entry.path().strip_prefix(folder).unwrap().to_owned();
                disk.names.insert(path, disk.files.len());
                let sure = fs::read(entry.path()).unwrap();
                disk.files.push(File { sure, unsure: Vec::new() });
            }
        }
        disk.sure_names.clone_from(&disk.names);
        disk
    }

    /// Carries out a request.
    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Create(path) => {
                self.files.push(File::default());
                self.rename(path, Some(self.files.len() - 1));
            }
            Op::Open(path, handle) => {
                if let Some(&file) = self.names.get(path) {
                    self.open.insert(*handle, file);
                }
            }
            Op::Write(handle, at, bytes) => self.change(*handle, Change::Write(*at, bytes.clone())),
            Op::SetLen(handle, len) => self.change(*handle, Change::SetLen(*len)),
            Op::Sync(handle) => {
                let file = &mut self.files[self.open[handle]];
                for change in std::mem::take(&mut file.unsure) {
                    change.apply(&mut file.sure);
                }
            }
            Op::SyncFolder(folder) => {
                let (synced, rest) = std::mem::take(&mut self.unsure_names)
                    .into_iter()
                    .partition(|(path, _)| path.parent() == Some(folder));
                self.unsure_names = rest;
                let synced: Vec<(PathBuf, Option<usize>)> = synced;
                for change in &synced {
                    rename(&mut self.sure_names, change);
                }
            }
            Op::Link(from, to) => self.rename(to, self.names.get(from).copied()),
            Op::Rename(from, to) => {
                self.rename(to, self.names.get(from).copied());
                self.rename(from, None);
            }
            Op::Remove(path) => self.rename(path, None),
        }
    }

    /// Makes the folder that is found after a power cut now.
    pub(crate) fn write_to(&self, folder: &Path, survival: Survival) {
        let mut chance = Chance(match survival {
            Survival::Parts(seed) => seed,
            _ => 0,
        });
        let _old = fs::remove_dir_all(folder);
        fs::create_dir_all(folder.join("segments")).unwrap();
        let n_names = match survival {
            Survival::Nothing => 0,
            Survival::Everything => self.unsure_names.len(),
            Survival::Parts(_) => chance.below(self.unsure_names.len() + 1),
        };
        let mut names = self.sure_names.clone();
        self.unsure_names.iter().take(n_names).for_each(|change| rename(&mut names, change));
        for (path, file) in names {
            let file = &self.files[file];
            let mut bytes = file.sure.clone();
            for change in &file.unsure {
                match survival {
                    Survival::Nothing => {}
                    Survival::Everything => change.apply(&mut bytes),
                    Survival::Parts(_) => change.apply_part(&mut bytes, &mut chance),
                }
            }
            fs::write(folder.join(path), bytes).unwrap();
        }
    }

    fn rename(&mut self, path: &Path, file: Option<usize>) {
        let change = (path.to_owned(), file);
        rename(&mut self.names, &change);
        self.unsure_names.push(change);
    }

    fn change(&mut self, handle: usize, change: Change) {
        self.files[self.open[&handle]].unsure.push(change);
    }
}

fn rename(names: &mut BTreeMap<PathBuf, usize>, (path, file): &(PathBuf, Option<usize>)) {
    match file {
        Some(file) => names.insert(path.clone(), *file),
        None => names.remove(path),
    };
}

impl Change {
    fn apply(&self, file: &mut Vec<u8>) {
        match self {
            Self::Write(at, bytes) => write(file, *at, bytes),
            Self::SetLen(len) => file.resize(usize::try_from(*len).unwrap(), 0),
        }
    }

    fn apply_part(&self, file: &mut Vec<u8>, chance: &mut Chance) {
        match (self, chance.below(3)) {
            (_, 0) => {}
            (Self::Write(at, bytes), 1) => {
                for (n, sector) in bytes.chunks(SECTOR).enumerate() {
                    if chance.below(2) == 0 {
                        write(file, at + (n * SECTOR) as u64, sector);
                    }
                }
            }
            _ => self.apply(file),
        }
    }
}

fn write(file: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let at = usize::try_from(at).unwrap();
    if file.len() < at + bytes.len() {
        file.resize(at + bytes.len(), 0);
    }
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Numbers that look like chance and are the same for the same seed (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// A number below `n`; 0 for 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % n.max(1) as u64).unwrap()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn of_what_was_not_synced_nothing_is_sure() {
    let folder = tempfile::tempdir().unwrap();
    let found = |disk: &Disk, survival| {
        disk.write_to(folder.path(), survival);
        fs::read(folder.path().join("a")).map_err(|error| error.kind())
    };
    let a = || PathBuf::from("a");
    let mut disk = Disk::default();
    disk.apply(&Op::Create(a()));
    disk.apply(&Op::Open(a(), 7));
    disk.apply(&Op::Write(7, 0, b"old".to_vec()));
    disk.apply(&Op::Sync(7));
    assert_eq!(found(&disk, Survival::Nothing), Err(io::ErrorKind::NotFound));
    assert_eq!(found(&disk, Survival::Everything), Ok(b"old".to_vec()));
    disk.apply(&Op::SyncFolder(PathBuf::new()));
    disk.apply(&Op::Write(7, 1, b"new".to_vec()));
    assert_eq!(found(&disk, Survival::Nothing), Ok(b"old".to_vec()));
    assert_eq!(found(&disk, Survival::Everything), Ok(b"onew".to_vec()));
    disk.apply(&Op::Remove(a()));
    assert_eq!(found(&disk, Survival::Nothing), Ok(b"old".to_vec()));
    assert_eq!(found(&disk, Survival::Everything), Err(io::ErrorKind::NotFound));
}
