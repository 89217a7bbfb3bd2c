//! A content tree becomes a committed store: list, plan, read, write, in one commit. Not here: how a
//! format is read (`reader`), and how rows are kept (`store`).

mod analyse;
mod apply;
mod automata;
mod error;
mod excluded;
mod links;
mod long;
mod plan;
mod repair;
mod walk;

use std::path::Path;
use std::time::Duration;

use crate::clock::Clock;
use crate::reader::{self, Severity};
use crate::store::{Note, Snapshot, Store, StoreError, Totals};

pub use error::IngestError;
pub(crate) use walk::nanoseconds;
pub use walk::{Entry, Skipped, WalkOptions};

pub(crate) use analyse::{indexed_terms, phrases, words};
pub(crate) use apply::sweep;
pub(crate) use automata::{BASE, RECENT};
pub(crate) use repair::{deep, rebuild_derived};

/// A store of less than this many bytes is never too large.
pub(crate) const SMALL_BYTES: u64 = 1 << 20;
/// A change of fewer files than this is never followed by a compaction, and fewer do not make a new store.
const MANY_FILES: u64 = 64;

/// How a tree is indexed.
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// Which files count.
    pub walk: WalkOptions,
    /// How files are read.
    pub reader: reader::Options,
    /// How many threads read and analyse; all cores for `None`. Never changes what is stored.
    pub threads: Option<u16>,
    /// Which files are read.
    pub extent: Extent,
    /// What an empty tree does to a store that is not empty.
    pub empty: EmptyTree,
    /// How long to wait for another writer.
    pub wait: Duration,
}

/// Which files an index run reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Those whose size or time changed, and those too young to tell.
    Changed,
    /// All; records change where the content did.
    Hashed,
    /// All, as if the store were empty.
    Full,
}

/// What a tree without a single file does to a store that has records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyTree {
    /// It is taken for a mistake: a drive that is not mounted, a path mistyped.
    Refuse,
    /// It empties the store.
    Accept,
}

/// What an index run did.
#[derive(Debug, Clone)]
pub struct IndexReport {
    /// The generation of the store after it.
    pub generation: u64,
    /// Whether anything changed that an answer may depend on.
    pub changed: bool,
    /// Files that were read: new and changed ones, and those that links elsewhere call otherwise than before.
    pub n_read: u64,
    /// Files that were left as they are.
    pub n_unchanged: u64,
    /// Files whose records left the store.
    pub n_removed: u64,
    /// Bytes that were read.
    pub n_bytes: u64,
    /// Why all files were read again though nobody asked for it; `None` when they were not.
    pub rebuilt_because: Option<String>,
    /// What the store holds now.
    pub totals: Totals,
    /// What could not be read as it was meant, of the files read in this run.
    pub notes: Vec<Note>,
    /// What was passed over.
    pub skipped: Vec<Skipped>,
    /// How long it took.
    pub elapsed: Duration,
}

/// What an index run would do.
#[derive(Debug, Clone)]
pub struct IndexPreview {
    /// Files that would be read.
    pub read: Vec<String>,
    /// Files whose records would leave the store.
    pub remove: Vec<String>,
    /// Files that would be left as they are.
    pub n_unchanged: u64,
    /// What would be passed over.
    pub skipped: Vec<Skipped>,
    /// What ignore files and hidden names leave out, with the rule; a folder once for all that is in it.
    pub excluded: Vec<Skipped>,
    /// Why all files would be read again though nobody asked for it.
    pub rebuilt_because: Option<String>,
}

/// Told about the progress of an index run, from one thread.
pub trait Progress {
    /// `done` of `total` files have been read.
    fn files(&self, done: u64, total: u64);
}

/// Told, and silent.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn files(&self, _done: u64, _total: u64) {}
}

/// Brings the store up to date with the tree below `root`, in one commit.
///
/// Content never makes it fail: what cannot be read is in [`IndexReport::notes`] and
/// [`IndexReport::skipped`]. Interrupted at any moment, the store is what it was before.
///
/// # Errors
/// [`IngestError::NoTree`] and [`IngestError::UnreadableTree`] when there is nothing to list,
/// [`IngestError::EmptyTree`] when the tree is empty and the store is not, and errors of the store.
pub fn index(
    root: &Path,
    store: &Store,
    options: &IndexOptions,
    clock: &dyn Clock,
    progress: &dyn Progress,
) -> Result<IndexReport, IngestError> {
    let started = clock.now();
    check_tree(root)?;
    let listing = list(root, options);
    let batch = store.begin(options.wait)?;
    // Planned under the write lock, so that no other writer changes the store in between.
    let snapshot = match batch.empty_snapshot()? {
        Some(empty) => empty,
        None => store.snapshot()?,
    };
    let mut work = Work::plan(&snapshot, &listing, options)?;
    let older = batch.older();
    if let Some(older) = older {
        work.rebuilt_because = Some(older_format(older.format));
    }
    let n_files = older.map_or(snapshot.totals().n_files, |older| older.n_files);
    check_empty(root, &listing, n_files, options)?;
    let is_anew = batch.is_anew();
    let batch = if !is_anew && work.is_from_nothing(snapshot.totals(), listing.found.len(), options)
    {
        store.begin_anew(batch)?
    } else {
        batch
    };
    let found = &listing.found;
    let passed = &listing.listing.skipped;
    let done = apply::apply(
        root, store, batch, &snapshot, found, passed, &work, options, clock, progress,
    )?;
    let n_changed = (work.plan.read.len() + work.plan.remove.len()) as u64;
    compact_after(store, n_changed, &done.totals, options)?;
    Ok(IndexReport {
        generation: done.generation,
        changed: done.changed,
        n_read: work.plan.read.len() as u64 + done.n_renamed,
        n_unchanged: work.plan.n_unchanged.saturating_sub(done.n_renamed),
        n_removed: work.plan.remove.len() as u64,
        n_bytes: done.n_bytes,
        rebuilt_because: work.rebuilt_because,
        totals: done.totals,
        notes: done.notes,
        skipped: done.skipped.into_iter().chain(listing.listing.skipped).collect(),
        elapsed: clock.now().saturating_sub(started),
    })
}

/// Gives the room back that a change of many files left in the store's file: redb keeps it for later use.
///
/// Only when most of the file holds nothing, and only after a change that cost more than looking does.
fn compact_after(
    store: &Store,
    n_changed: u64,
    totals: &Totals,
    options: &IndexOptions,
) -> Result<(), IngestError> {
    if !Store::CAN_BEGIN_ANEW || n_changed < MANY_FILES.max(totals.n_files / 4) {
        return Ok(());
    }
    match compact_if_wasteful(store, options.wait) {
        // Another writer was faster: it is its turn to look. What was committed is safe.
        Err(StoreError::Busy { .. }) => Ok(()),
        result => Ok(result?),
    }
}

fn compact_if_wasteful(store: &Store, wait: Duration) -> Result<(), StoreError> {
    let size = store.file_bytes()?;
    if size > SMALL_BYTES && store.wasted_bytes(wait)? > size / 2 {
        store.compact(wait)?;
    }
    Ok(())
}

/// Says what [`index`] would do, and does nothing. `store` is `None` when there is none yet.
///
/// # Errors
/// Those of [`index`] that do not come from writing.
pub fn preview(
    root: &Path,
    store: Option<&Store>,
    options: &IndexOptions,
) -> Result<IndexPreview, IngestError> {
    check_tree(root)?;
    let listing = list(root, options);
    let work = match store {
        Some(store) => Work::plan(&store.snapshot()?, &listing, options)?,
        None => Work {
            plan: plan::plan(&[], listing.found.clone(), &[], plan::Trust::HashOnly),
            rebuilt_because: None,
        },
    };
    Ok(IndexPreview {
        read: work.plan.read.into_iter().map(|file| file.entry.path).collect(),
        remove: work.plan.remove,
        n_unchanged: work.plan.n_unchanged,
        excluded: excluded::excluded(root, options.walk, &listing.listing.seen),
        skipped: listing.listing.skipped,
        rebuilt_because: work.rebuilt_because,
    })
}

/// Why a store of an older format is built anew.
pub(crate) fn older_format(format: u32) -> String {
    format!("the store has format {format}, and this psos writes format {}", crate::store::FORMAT)
}

/// The files of a tree that have a reader, each with its sidecar.
#[derive(Debug)]
struct Tree {
    listing: walk::Listing,
    found: Vec<plan::Found>,
}

/// Says whether `root` is a folder that can be listed.
///
/// # Errors
/// [`IngestError::NoTree`], [`IngestError::NotAFolder`] and [`IngestError::UnreadableTree`].
pub fn check_tree(root: &Path) -> Result<(), IngestError> {
    let unreadable = |source| IngestError::UnreadableTree { path: root.to_owned(), source };
    let meta = std::fs::metadata(root).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => IngestError::NoTree { path: root.to_owned() },
        _ => unreadable(error),
    })?;
    if !meta.is_dir() {
        return Err(IngestError::NotAFolder { path: root.to_owned() });
    }
    std::fs::read_dir(root).map(drop).map_err(unreadable)
}

fn list(root: &Path, options: &IndexOptions) -> Tree {
    let mut listing = walk::walk(root, options.walk);
    let (sidecars, files): (Vec<Entry>, Vec<Entry>) = std::mem::take(&mut listing.entries)
        .into_iter()
        .partition(|entry| reader::is_sidecar(&entry.path));
    let mut sidecars: std::collections::BTreeMap<String, Entry> =
        sidecars.into_iter().map(|entry| (entry.path.clone(), entry)).collect();
    let mut found = Vec::with_capacity(files.len());
    for entry in files {
        let sidecar = reader::sidecar_path(&entry.path).and_then(|path| sidecars.remove(&path));
        if reader::format_of(&entry.path).is_some() {
            found.push(plan::Found { entry, sidecar });
        } else {
            let (reason, help) = reader::why_not(&entry.path);
            listing.skipped.push(Skipped::new(entry.path, reason, help));
        }
    }
    for (path, _) in sidecars {
        let help = "name it as the file it is for, with `.psos.yaml` in place of `.md` or behind any other ending";
        listing.skipped.push(Skipped::new(path, "a sidecar without its file", help));
    }
    listing.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    Tree { listing, found }
}

fn check_empty(
    root: &Path,
    tree: &Tree,
    n_files: u64,
    options: &IndexOptions,
) -> Result<(), IngestError> {
    let emptied = tree.found.is_empty() && tree.listing.unreadable.is_empty() && n_files > 0;
    if emptied && options.empty == EmptyTree::Refuse {
        return Err(IngestError::EmptyTree { path: root.to_owned(), n_files });
    }
    Ok(())
}

/// What is to be done, and why it is more than what changed.
#[derive(Debug)]
struct Work {
    plan: plan::Plan,
    rebuilt_because: Option<String>,
}

impl Work {
    /// Whether the store is built anew beside the old one: when nothing of it is of use, and enough is to come
    /// that the file is to be no larger than it must.
    fn is_from_nothing(&self, before: &Totals, n_found: usize, options: &IndexOptions) -> bool {
        let anew = if before.n_files == 0 {
            n_found as u64 >= MANY_FILES
        } else {
            options.extent == Extent::Full || self.rebuilt_because.is_some()
        };
        anew && Store::CAN_BEGIN_ANEW
    }

    fn plan(snapshot: &Snapshot, tree: &Tree, options: &IndexOptions) -> Result<Self, IngestError> {
        let before = snapshot.fingerprint()?;
        let now = apply::fingerprint(&options.reader);
        let changed = !before.is_empty() && before != now;
        let trust = match options.extent {
            Extent::Changed if !changed => plan::Trust::SizeAndTime,
            _ => plan::Trust::HashOnly,
        };
        let mut known = Vec::new();
        for file in snapshot.files()? {
            known.push(apply::known(&file?));
        }
        Ok(Self {
            plan: plan::plan(&known, tree.found.clone(), &tree.listing.unreadable, trust),
            rebuilt_because: changed
                .then(|| format!("the store was made with other settings ({before}, now {now})")),
        })
    }
}

fn note(of: reader::Diagnostic) -> Note {
    Note {
        path: of.path,
        line: of.line,
        column: of.column,
        message: of.message,
        help: of.help,
        severity: match of.severity {
            Severity::Warning => 1,
            Severity::Error => 2,
        },
    }
}
