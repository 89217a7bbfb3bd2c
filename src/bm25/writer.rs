//! Changing the index.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tantivy::index::{IndexSettings, SegmentMeta};
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::store::Compressor;
use tantivy::{Directory, IndexWriter};

use crate::bm25::directory::{self, SegmentDir};
use crate::bm25::merge::{self, Size};
use crate::bm25::schema::{self, Fields, Splitter, TOKENIZER};
use crate::bm25::{Bm25Error, Document};

/// Memory for postings before a segment is written, in bytes.
const ARENA_BYTES: usize = 32 << 20;

/// A change of the index in the making.
///
/// Files are written, but nobody reads them before the store has committed what
/// [`Writer::finish`] returns. So a writer that is dropped, or killed, leaves the index as it was;
/// its files are removed by the next [`sweep`]. Only one writer may exist at a time, over all
/// processes: whoever has one must hold the write lock of the store.
pub struct Writer {
    path: PathBuf,
    dir: SegmentDir,
    index: tantivy::Index,
    fields: Fields,
    /// Made for the first change: it costs threads and memory.
    changes: Option<IndexWriter>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Writer {
    /// Opens the index in `dir` as `meta_json` describes it, an empty one for `None`. Makes the
    /// folder where there is none.
    ///
    /// # Errors
    /// [`Bm25Error::Damaged`] when `meta_json` is not of this build; errors of the folder.
    pub fn open(dir: &Path, meta_json: Option<&[u8]>) -> Result<Self, Bm25Error> {
        fs::create_dir_all(dir).map_err(|error| Bm25Error::io(dir, error))?;
        let wrong = |error| Bm25Error::of_tantivy(dir, error);
        let (schema, fields) = schema::schema();
        let segments = SegmentDir::open(dir, meta_json).map_err(wrong)?;
        let index = match meta_json {
            Some(_) => {
                let index = tantivy::Index::open(segments.clone()).map_err(wrong)?;
                if index.schema() != schema {
                    return Err(Bm25Error::damaged(dir, "its fields are of another version"));
                }
                index
            }
            None => {
                // Nothing is stored, so there is nothing to compress.
                let settings = IndexSettings {
                    docstore_compression: Compressor::None,
                    docstore_compress_dedicated_thread: false,
                    ..IndexSettings::default()
                };
                tantivy::Index::create(segments.clone(), schema, settings).map_err(wrong)?
            }
        };
        index.tokenizers().register(TOKENIZER, Splitter::default());
        Ok(Self { path: dir.to_owned(), dir: segments, index, fields, changes: None })
    }

    /// Adds a document. Its key must not be that of a live one.
    ///
    /// # Errors
    /// Errors of the folder, which an earlier document may have caused.
    pub fn add(&mut self, document: &Document<'_>) -> Result<(), Bm25Error> {
        let indexed = self.fields.document(document);
        let added = self.changes()?.add_document(indexed);
        added.map(drop).map_err(|error| self.wrong(error))
    }

    /// Removes the document with this key, if there is one.
    ///
    /// # Errors
    /// Errors of the folder.
    pub fn remove(&mut self, key: u64) -> Result<(), Bm25Error> {
        let term = self.fields.key_term(key);
        self.changes()?.delete_term(term);
        Ok(())
    }

    /// Writes all changes, merges segments where there are too many, and returns the new
    /// `meta.json`. When it returns, all files that it names are on disk for good.
    ///
    /// Without a change, the bytes are those that the writer was opened with.
    ///
    /// # Errors
    /// Errors of the folder; the index then is as it was.
    pub fn finish(mut self) -> Result<Vec<u8>, Bm25Error> {
        if let Some(mut writer) = self.changes.take() {
            writer.commit().map_err(|error| self.wrong(error))?;
            // One merge at a time, each waited for: the order of segments must not depend on
            // which of two threads is faster.
            while let Some(segments) = self.plan_merge().map_err(|error| self.wrong(error))? {
                let ids: Vec<_> = segments.iter().map(SegmentMeta::id).collect();
                writer.merge(&ids).wait().map_err(|error| self.wrong(error))?;
            }
            writer.wait_merging_threads().map_err(|error| self.wrong(error))?;
            self.dir.sync_directory().map_err(|error| Bm25Error::io(&self.path, error))?;
        }
        let missing = || Bm25Error::damaged(&self.path, "it has no meta.json");
        self.dir.meta_json().ok_or_else(missing)
    }

    /// Blames the operating system where it refused, whatever tantivy makes of it.
    fn wrong(&self, error: tantivy::TantivyError) -> Bm25Error {
        match self.dir.take_refusal() {
            Some(refusal) => Bm25Error::io(&self.path, refusal),
            None => Bm25Error::of_tantivy(&self.path, error),
        }
    }

    fn plan_merge(&self) -> tantivy::Result<Option<Vec<SegmentMeta>>> {
        let segments = self.index.searchable_segment_metas()?;
        let sizes: Vec<Size> = segments
            .iter()
            .map(|segment| Size {
                n_docs: u64::from(segment.max_doc()),
                n_deleted: u64::from(segment.num_deleted_docs()),
            })
            .collect();
        let chosen = merge::plan(&sizes);
        Ok(chosen.map(|at| at.into_iter().filter_map(|at| segments.get(at).cloned()).collect()))
    }

    fn changes(&mut self) -> Result<&mut IndexWriter, Bm25Error> {
        match self.changes {
            Some(ref mut changes) => Ok(changes),
            None => {
                let wrong = |error| Bm25Error::of_tantivy(&self.path, error);
                // One thread: with more, which segment a document lands in depends on which of
                // them got it.
                let options = IndexWriterOptions::builder()
                    .memory_budget_per_thread(ARENA_BYTES)
                    .num_worker_threads(1)
                    .num_merge_threads(1)
                    .build();
                let writer = self.index.writer_with_options(options).map_err(wrong)?;
                writer.set_merge_policy(Box::new(NoMergePolicy));
                Ok(self.changes.insert(writer))
            }
        }
    }
}

/// The names of the segment files in `dir` that the `live` contents of `meta.json` need, sorted. Whether
/// they are there is not looked at.
///
/// # Errors
/// [`Bm25Error::Damaged`] when one of `live` is not of this build.
pub fn files(dir: &Path, live: &[&[u8]]) -> Result<BTreeSet<PathBuf>, Bm25Error> {
    let mut named = BTreeSet::new();
    for meta_json in live {
        let wrong = |error| Bm25Error::of_tantivy(dir, error);
        let segments = SegmentDir::open(dir, Some(meta_json)).map_err(wrong)?;
        let index = tantivy::Index::open(segments).map_err(wrong)?;
        let metas = index.load_metas().map_err(wrong)?;
        named.extend(metas.list_segment_files());
    }
    Ok(named)
}

/// Lists the files in `dir` that are tantivy's and that none of the `live` contents of `meta.json` names,
/// sorted.
///
/// # Errors
/// Those of [`files`]; errors of the folder.
pub fn orphans(dir: &Path, live: &[&[u8]]) -> Result<Vec<PathBuf>, Bm25Error> {
    let named = files(dir, live)?;
    let mut orphans = Vec::new();
    for entry in walkdir::WalkDir::new(dir).min_depth(1).max_depth(1).sort_by_file_name() {
        let entry = entry.map_err(|error| Bm25Error::io(dir, error.into()))?;
        let name = entry.file_name();
        if entry.file_type().is_file() && is_segment_file(name) && !named.contains(Path::new(name))
        {
            orphans.push(entry.into_path());
        }
    }
    Ok(orphans)
}

/// Removes the [`orphans`], and returns how many those were.
///
/// The caller must hold the write lock of the store: a writer of another process may have written
/// files that no `meta.json` names yet. Handing in the `meta.json` before the last commit too lets
/// readers that just opened it finish.
///
/// # Errors
/// Those of [`orphans`].
pub fn sweep(dir: &Path, live: &[&[u8]]) -> Result<usize, Bm25Error> {
    let orphans = orphans(dir, live)?;
    for file in &orphans {
        directory::remove(file).map_err(|error| Bm25Error::io(file, error))?;
    }
    Ok(orphans.len())
}

/// Whether a file is tantivy's: 32 hexadecimal digits, a dot, and what it is.
fn is_segment_file(name: &std::ffi::OsStr) -> bool {
    let Some((id, _)) = name.to_str().and_then(|name| name.split_once('.')) else { return false };
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}
