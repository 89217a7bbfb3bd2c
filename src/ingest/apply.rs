//! Carrying out a plan: files in parallel, rows in order, one commit.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rayon::prelude::*;

use crate::bm25::{self, Writer};
use crate::clock::Clock;
use crate::ingest::plan::{Found, Known, Stamp};
use crate::ingest::{
    Extent, IndexOptions, IngestError, Progress, Skipped, Work, analyse, automata, links, long,
    note,
};
use crate::reader::{self, Tiers};
use crate::record::Hash;
use crate::store::{
    self, Batch, FileRow, Head, NewRecord, NewWord, Note, Put, RecordKey, Snapshot, Store,
    StoreError, Totals,
};

/// Files are read and analysed this many at a time, so that memory does not grow with the tree.
const FILES_AT_A_TIME: usize = 64;
/// A chunk of files ends early when it has this many bytes.
const BYTES_AT_A_TIME: u64 = 32 << 20;

/// What was done.
pub(super) struct Done {
    pub(super) generation: u64,
    pub(super) changed: bool,
    pub(super) n_bytes: u64,
    /// Files that were read for what links call them alone.
    pub(super) n_renamed: u64,
    pub(super) totals: Totals,
    pub(super) notes: Vec<Note>,
    pub(super) skipped: Vec<Skipped>,
}

/// What the content of a store depends on beside its tree.
pub(super) fn fingerprint(options: &reader::Options) -> String {
    let tiers = match options.tiers {
        Tiers::Authored => "authored",
        Tiers::Derived => "derived",
    };
    let fields = Hash::of(format!("{:?}", options.fields).as_bytes()).to_string();
    format!(
        "reader {} derivation {} analysis {} tiers {tiers} fields {}",
        reader::VERSION,
        reader::DERIVE_VERSION,
        analyse::VERSION,
        fields.get(..8).unwrap_or_default(),
    )
}

/// What a plan needs of a row.
pub(super) fn known(row: &FileRow) -> Known {
    // A time that the file system did not tell is like one that changed.
    let time = |stamp: &store::Stamp| stamp.mtime_nanos.unwrap_or(i128::MAX);
    Known {
        path: row.path.clone(),
        stamp: Stamp {
            size: row.stamp.size,
            mtime: time(&row.stamp),
            sidecar: row.sidecar.as_ref().map(|stamp| (stamp.size, time(stamp))),
        },
        // A record of a contested file may come back without the file having changed: read it every time.
        read_at: if row.contested {
            i128::MIN
        } else {
            i128::try_from(row.indexed_at.as_nanos()).unwrap_or(i128::MAX)
        },
    }
}

/// A file on its way into the store.
struct ReadFile {
    row: FileRow,
    records: Vec<NewRecord>,
    terms: Vec<Vec<String>>,
    words: Vec<NewWord>,
}

impl ReadFile {
    fn new(row: FileRow, records: Vec<NewRecord>) -> Self {
        let terms: Vec<Vec<String>> = records
            .iter()
            .map(|record| analyse::indexed_terms(&record.head, &record.detail))
            .collect();
        let words = terms.iter().flat_map(|terms| analyse::words(terms)).collect();
        Self { row, records, terms, words }
    }
}

/// What became of a file of the plan.
enum Outcome {
    /// It was read.
    Read(Box<ReadFile>),
    /// Its bytes are what the store has; only its times are new.
    Same(Box<FileRow>),
    /// It could not be read.
    Failed(Skipped),
    /// It is gone since it was listed.
    Gone(String),
}

#[expect(clippy::too_many_arguments, reason = "one call, all of it needed, none of it a group")]
pub(super) fn apply(
    root: &Path,
    store: &Store,
    mut batch: Batch<'_>,
    snapshot: &Snapshot,
    found: &[Found],
    passed: &[Skipped],
    work: &Work,
    options: &IndexOptions,
    clock: &dyn Clock,
    progress: &dyn Progress,
) -> Result<Done, IngestError> {
    let mut lexical = Writer::open(&store.segments_dir(), batch.lexical_meta()?.as_deref())?;
    let mut done = Done {
        generation: 0,
        changed: false,
        n_bytes: 0,
        n_renamed: 0,
        totals: Totals::default(),
        notes: Vec::new(),
        skipped: Vec::new(),
    };
    let anew = batch.is_anew();
    for path in work.plan.remove.iter().filter(|_| !anew) {
        for key in batch.remove_file(path)? {
            lexical.remove(key.0)?;
        }
    }

    if anew {
        // What cannot be looked at now stays as it is known.
        for path in untouched(snapshot, work)? {
            carry_over(&path, snapshot, &mut batch, &mut lexical)?;
        }
    }

    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(options.threads.unwrap_or(0)))
        .build()
        .map_err(|error| IngestError::Threads {
            threads: options.threads.unwrap_or(0),
            source: error.into(),
        })?;
    let linked = links::update(root, found, &work.plan, snapshot, &mut batch, &threads)?;
    let files = with_renamed(&work.plan.read, found, &linked.renamed);
    done.n_renamed = (files.len() - work.plan.read.len()) as u64;
    let total = files.len() as u64;
    let mut n_done = 0;
    // An equal hash spares the analysis, unless the analysis itself is what changed.
    let reread = options.extent == Extent::Full || work.rebuilt_because.is_some();
    for chunk in chunks(&files) {
        let now = clock.now();
        if let [file] = chunk
            && is_long(file)
        {
            let known = snapshot.file(&file.entry.path)?.filter(|_| !reread);
            let mut sink =
                long::Sink { batch: &mut batch, lexical: &mut lexical, threads: &threads };
            sink.put(root, file, known, options, now, &mut done)?;
            n_done += 1;
            progress.files(n_done, total);
            continue;
        }
        let known: Vec<Option<FileRow>> =
            chunk.iter().map(|file| snapshot.file(&file.entry.path)).collect::<Result<_, _>>()?;
        let outcomes: Vec<Outcome> = threads.install(|| {
            chunk
                .par_iter()
                .zip(known)
                .map(|(file, known)| {
                    let path = &file.entry.path;
                    let known = known.filter(|known| {
                        !reread && !known.contested && !linked.renamed.contains(path)
                    });
                    read(root, file, known, linked.around(path), options, now)
                })
                .collect()
        });
        for outcome in outcomes {
            n_done += 1;
            match outcome {
                Outcome::Read(file) => {
                    done.n_bytes += file.row.stamp.size;
                    let put = batch.put_file(&file.row, &file.records)?;
                    move_terms(&mut lexical, &put, &file.records, &file.terms)?;
                    batch.learn(&file.words)?;
                    let path = &file.row.path;
                    links::keep(&mut batch, path, linked.around(path))?;
                    done.notes.extend(conflicts(&put));
                    done.notes.extend(file.row.notes);
                }
                Outcome::Same(row) => batch.touch_file(&row)?,
                Outcome::Failed(skipped) => {
                    if anew {
                        carry_over(&skipped.path, snapshot, &mut batch, &mut lexical)?;
                    }
                    done.skipped.push(skipped);
                }
                Outcome::Gone(path) => {
                    for key in batch.remove_file(&path)? {
                        lexical.remove(key.0)?;
                    }
                }
            }
        }
        progress.files(n_done, total);
    }

    automata::update(&mut batch)?;
    let skipped: Vec<(String, String)> =
        passed.iter().chain(&done.skipped).map(|it| (it.path.clone(), it.reason.clone())).collect();
    batch.set_skipped(&skipped)?;
    batch.set_fingerprint(&fingerprint(&options.reader))?;
    batch.set_root(&stored_root(root, store.dir()))?;
    batch.set_indexed_at(clock.now())?;
    done.totals = *batch.totals();
    let meta = lexical.finish()?;
    let committed = batch.commit(&meta)?;
    done.generation = committed.generation;
    done.changed = committed.changed;
    sweep(store)?;
    Ok(done)
}

/// The files that the store knows and the plan leaves alone.
fn untouched(snapshot: &Snapshot, work: &Work) -> Result<Vec<String>, IngestError> {
    let in_plan = |path: &String| {
        work.plan.remove.binary_search(path).is_ok()
            || work.plan.read.binary_search_by(|file| file.entry.path.cmp(path)).is_ok()
    };
    let paths: Vec<String> = snapshot.paths()?.collect::<Result<_, _>>()?;
    Ok(paths.into_iter().filter(|path| !in_plan(path)).collect())
}

/// Takes a file over from the old state as it is, if it was there.
fn carry_over(
    path: &str,
    snapshot: &Snapshot,
    batch: &mut Batch<'_>,
    lexical: &mut Writer,
) -> Result<(), IngestError> {
    let Some(row) = snapshot.file(path)? else { return Ok(()) };
    let stored = row.keys.iter().map(|&key| snapshot.stored(key));
    let records: Vec<NewRecord> =
        stored.filter_map(Result::transpose).collect::<Result<_, StoreError>>()?;
    let file = ReadFile::new(row, records);
    let put = batch.put_file(&file.row, &file.records)?;
    move_terms(lexical, &put, &file.records, &file.terms)?;
    batch.learn(&file.words)?;
    batch.set_links(path, &snapshot.links(path)?)?;
    batch.set_calls(path, &snapshot.calls(path)?)?;
    Ok(())
}

/// Removes segment files that neither the last state nor the one before it names; readers that opened
/// that one may still want its files.
///
/// Only under the write lock: another writer may have written files that no state names yet. When there
/// is one, it sweeps.
pub(crate) fn sweep(store: &Store) -> Result<(), IngestError> {
    let batch = match store.begin(Duration::ZERO) {
        Ok(batch) => batch,
        Err(StoreError::Busy { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let metas = [batch.lexical_meta()?, batch.lexical_meta_before()?];
    let live: Vec<&[u8]> = metas.iter().flatten().map(Vec::as_slice).collect();
    bm25::sweep(&store.segments_dir(), &live)?;
    batch.remove_unfinished()?;
    Ok(())
}

/// The files to read, and those that are called otherwise than before; sorted by path, as both are.
fn with_renamed(read: &[Found], found: &[Found], renamed: &BTreeSet<String>) -> Vec<Found> {
    let planned: BTreeSet<&str> = read.iter().map(|file| file.entry.path.as_str()).collect();
    let is_read = |file: &&Found| {
        planned.contains(file.entry.path.as_str()) || renamed.contains(&file.entry.path)
    };
    if renamed.is_empty() { read.to_vec() } else { found.iter().filter(is_read).cloned().collect() }
}

/// Whether a file is read in pieces.
pub(super) fn is_long(file: &Found) -> bool {
    reader::is_streamed(&file.entry.path, file.entry.size)
}

/// Splits the files so that no chunk holds too many, or too many bytes, or another file beside a long one.
pub(super) fn chunks(files: &[Found]) -> Vec<&[Found]> {
    let mut chunks = Vec::new();
    let mut rest = files;
    while !rest.is_empty() {
        let mut bytes = 0;
        let n = rest
            .iter()
            .take(FILES_AT_A_TIME)
            .take_while(|file| {
                let fits = bytes < BYTES_AT_A_TIME && !is_long(file);
                bytes += file.entry.size;
                fits
            })
            .count();
        let (chunk, tail) = rest.split_at(n.max(1));
        chunks.push(chunk);
        rest = tail;
    }
    chunks
}

fn read(
    root: &Path,
    file: &Found,
    known: Option<FileRow>,
    around: &reader::Around,
    options: &IndexOptions,
    now: Duration,
) -> Outcome {
    let path = &file.entry.path;
    let bytes = match std::fs::read(root.join(path)) {
        Ok(bytes) => bytes,
        Err(error) => return failed(path, &error),
    };
    let sidecar = read_sidecar(root, file);
    let mut row = row(file, Hash::of(&bytes), sidecar.as_deref(), now);
    if let Some(known) = known
        && is_same(&known, &row)
    {
        return Outcome::Same(Box::new(FileRow { keys: known.keys, notes: known.notes, ..row }));
    }
    let input =
        reader::Input { path, bytes: &bytes, sidecar: sidecar_of(file, sidecar.as_deref()) };
    let mut document = reader::read(&input, &options.reader);
    document.place_in(around);
    row.notes = document.diagnostics.into_iter().map(note).collect();
    let records: Vec<NewRecord> = document.records.iter().map(analyse::stored).collect();
    Outcome::Read(Box::new(ReadFile::new(row, records)))
}

/// What becomes of a file that cannot be read.
fn failed(path: &str, error: &std::io::Error) -> Outcome {
    if error.kind() == std::io::ErrorKind::NotFound {
        return Outcome::Gone(path.to_owned());
    }
    Outcome::Failed(cannot_read(path, error))
}

/// A file that the system does not let us read.
pub(super) fn cannot_read(path: &str, error: &std::io::Error) -> Skipped {
    Skipped::new(path, error.to_string(), "let it be read, or leave it out with .psosignore")
}

/// The bytes of a file's sidecar. One that went away since the listing is a file without one.
pub(super) fn read_sidecar(root: &Path, file: &Found) -> Option<Vec<u8>> {
    std::fs::read(root.join(&file.sidecar.as_ref()?.path)).ok()
}

/// A sidecar as readers take it.
pub(super) fn sidecar_of<'a>(
    file: &'a Found,
    bytes: Option<&'a [u8]>,
) -> Option<reader::Sidecar<'a>> {
    Some(reader::Sidecar { path: &file.sidecar.as_ref()?.path, bytes: bytes? })
}

/// What the store is to know of a file, before its records.
pub(super) fn row(file: &Found, hash: Hash, sidecar: Option<&[u8]>, now: Duration) -> FileRow {
    let stamp = |entry: &crate::ingest::Entry, hash| store::Stamp {
        size: entry.size,
        mtime_nanos: Some(entry.mtime),
        hash,
    };
    FileRow {
        path: file.entry.path.clone(),
        stamp: stamp(&file.entry, hash),
        sidecar: file.sidecar.as_ref().and_then(|entry| Some(stamp(entry, Hash::of(sidecar?)))),
        reader_version: reader::VERSION,
        keys: Vec::new(),
        notes: Vec::new(),
        indexed_at: now,
        contested: false,
    }
}

/// Whether a file and its sidecar have the bytes that the store knows.
pub(super) fn is_same(known: &FileRow, row: &FileRow) -> bool {
    known.stamp.hash == row.stamp.hash
        && known.sidecar.map(|stamp| stamp.hash) == row.sidecar.map(|stamp| stamp.hash)
}

/// Brings the lexical index to what became of some records, which have these words.
pub(super) fn move_terms(
    lexical: &mut Writer,
    put: &Put,
    records: &[NewRecord],
    terms: &[Vec<String>],
) -> Result<(), IngestError> {
    for key in &put.removed {
        lexical.remove(key.0)?;
    }
    for &(at, key) in &put.added {
        let (Some(record), Some(terms)) = (records.get(at), terms.get(at)) else {
            continue;
        };
        add(lexical, key, &record.head, terms)?;
    }
    Ok(())
}

/// Adds a record to the lexical index.
pub(super) fn add(
    lexical: &mut Writer,
    key: RecordKey,
    head: &Head,
    terms: &[String],
) -> Result<(), IngestError> {
    Ok(lexical.add(&bm25::Document {
        key: key.0,
        file: crate::text::number(&head.path),
        kind: head.kind as u64,
        scope: crate::text::number(&head.scope),
        terms,
    })?)
}

pub(super) fn conflicts(put: &Put) -> impl Iterator<Item = Note> + '_ {
    put.conflicts.iter().map(|conflict| Note {
        path: conflict.loser.clone(),
        line: 0,
        column: 0,
        message: format!("the id {} already names a record of {}", conflict.id, conflict.winner),
        help: "rename one of the two".into(),
        severity: 2,
    })
}

/// The root as the store keeps it: relative to the store where that is possible, so that a tree can be
/// moved together with its store.
fn stored_root(root: &Path, store: &Path) -> String {
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (root, store) = (absolute(root), absolute(store));
    match store.parent() {
        Some(parent) if parent == root => "..".to_owned(),
        _ => root.to_string_lossy().into_owned(),
    }
}
