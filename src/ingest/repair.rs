//! Bringing derived data back in line with the rows it is derived from, and holding the rows against the
//! files they came from.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::bm25::Writer;
use crate::ingest::{IngestError, analyse, apply, automata};
use crate::reader::{self, Tiers};
use crate::record::{Hash, RecordId};
use crate::store::{FileRow, NewRecord, Problem, Snapshot, Store, StoreError};

/// Builds the trigger automata and the lexical index anew from the rows of the store, in one commit. The
/// content stays; what is damaged of the two is not looked at.
pub(crate) fn rebuild_derived(store: &Store, wait: Duration) -> Result<(), IngestError> {
    let mut batch = store.begin(wait)?;
    let snapshot = store.snapshot()?;
    let mut lexical = Writer::open(&store.segments_dir(), None)?;
    for entry in snapshot.ids()? {
        let (_, key) = entry?;
        if let Some(record) = snapshot.stored(key)? {
            let terms = analyse::indexed_terms(&record.head, &record.detail);
            apply::add(&mut lexical, key, &record.head, &terms)?;
        }
    }
    automata::rebuild(&mut batch)?;
    batch.commit(&lexical.finish()?)?;
    apply::sweep(store)
}

/// Reads every file of the store again, and returns where the store does not say what the file says.
///
/// # Errors
/// Errors of the store. A file that cannot be read is a problem, not an error.
pub(crate) fn deep(
    snapshot: &Snapshot,
    root: &Path,
    options: &reader::Options,
) -> Result<Vec<Problem>, StoreError> {
    // The settings in the store decide how its files are read, not those of whoever asks.
    let fingerprint = snapshot.fingerprint()?;
    let options = [Tiers::Authored, Tiers::Derived]
        .map(|tiers| reader::Options { tiers, ..options.clone() })
        .into_iter()
        .find(|options| apply::fingerprint(options) == fingerprint);
    let mut problems = Vec::new();
    if options.is_none() {
        let what = "the store was made with settings that this build does not have; its records are not \
                    compared, only the bytes of its files";
        problems.push(problem("fingerprint", what));
    }
    for row in snapshot.files()? {
        let row = row?;
        match read(root, &row, options.as_ref()) {
            Err(what) => problems.push(problem(&row.path, &what)),
            Ok(records) => {
                for id in differing(snapshot, &row, records)? {
                    problems.push(problem(id.as_str(), "the file makes another record of it"));
                }
            }
        }
    }
    Ok(problems)
}

fn problem(row: &str, what: &str) -> Problem {
    Problem { table: "files", row: row.to_owned(), what: what.to_owned() }
}

/// Reads a file as it was read when it was indexed; nothing when it is not known how.
fn read(
    root: &Path,
    row: &FileRow,
    options: Option<&reader::Options>,
) -> Result<Option<Vec<NewRecord>>, String> {
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "the file is gone".to_owned(),
        _ => format!("the file cannot be read: {error}"),
    };
    let bytes = std::fs::read(root.join(&row.path)).map_err(unreadable)?;
    if Hash::of(&bytes) != row.stamp.hash {
        return Err("the file changed since it was indexed".to_owned());
    }
    let sidecar_path = row.sidecar.and_then(|_| reader::sidecar_path(&row.path));
    let sidecar = sidecar_path
        .map(|path| std::fs::read(root.join(&path)).map(|bytes| (path, bytes)))
        .transpose()
        .map_err(|error| format!("its sidecar: {}", unreadable(error)))?;
    if let (Some(stamp), Some((_, bytes))) = (row.sidecar, &sidecar)
        && Hash::of(bytes) != stamp.hash
    {
        return Err("its sidecar changed since it was indexed".to_owned());
    }
    let input = reader::Input {
        path: &row.path,
        bytes: &bytes,
        sidecar: sidecar.as_ref().map(|(path, bytes)| reader::Sidecar { path, bytes }),
    };
    Ok(options
        .map(|options| reader::read(&input, options).records.iter().map(analyse::stored).collect()))
}

/// The records of a file that the store has otherwise than the file makes them.
fn differing(
    snapshot: &Snapshot,
    row: &FileRow,
    records: Option<Vec<NewRecord>>,
) -> Result<Vec<RecordId>, StoreError> {
    let Some(records) = records else { return Ok(Vec::new()) };
    let mut wanted: BTreeMap<RecordId, NewRecord> = BTreeMap::new();
    for mut record in records {
        record.phrases.sort_unstable();
        record.phrases.dedup();
        // Of two with one id the first counts.
        wanted.entry(record.head.id.clone()).or_insert(record);
    }
    let mut differing = Vec::new();
    for &key in &row.keys {
        let Some(stored) = snapshot.stored(key)? else { continue };
        if wanted.remove(&stored.head.id).as_ref() != Some(&stored) {
            differing.push(stored.head.id);
        }
    }
    for id in wanted.into_keys() {
        // Unless it went to another file, which comes first.
        if snapshot.key_of(&id)?.is_none() {
            differing.push(id);
        }
    }
    Ok(differing)
}
