//! The facade: one type that opens a store, fills it and answers from it. Not here: anything that
//! could be called without a store.

mod contents;
mod doctor;
mod error;
mod remarks;
mod retriever;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::bm25::{Bm25Error, Index};
use crate::clock::Clock;
use crate::ingest::{self, IndexOptions, IndexPreview, IndexReport, Progress};
use crate::reader;
use crate::recall::{
    Answer, Filter, Handles, Query, Ranking, RecallError, Request, SourceState, answer, rank,
    root_of,
};
use crate::record::{Kind, Lines, Origin, RecordId, Tier};
use crate::store::{
    Detail, Head, Problem, Selection, Snapshot, Store, StoreError, TableSize, Totals,
};
use crate::text;
use crate::trigger::Triggers;

pub use contents::Content;
pub use doctor::{Ailment, Finding};
pub use error::EngineError;
pub use remarks::{Passed, Remarks};
pub use retriever::{EngineRetriever, Settings, TriggerRetriever};

/// The name of the store folder inside a tree.
pub const STORE_FOLDER: &str = ".psos";

/// How often a reader whose segment files a writer removed looks for a newer state.
const READ_ATTEMPTS: u32 = 5;

/// An open store, ready to answer.
///
/// Answers come from the last committed state, whichever process committed it. Sharing an engine
/// between threads is cheap and safe.
#[derive(Debug)]
pub struct Engine {
    store: Store,
    loaded: Mutex<Option<Arc<Loaded>>>,
}

/// What is kept of one generation, since opening it costs more than asking it.
#[derive(Debug)]
struct Loaded {
    generation: u64,
    /// Of the lexical index. Names no segment of another store, should one take the place of this.
    meta: Vec<u8>,
    lexical: Index,
    triggers: Triggers<'static>,
}

/// A tier of one record, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The id.
    pub id: RecordId,
    /// The file it comes from.
    pub path: String,
    /// Where it stands there.
    pub lines: Lines,
    /// What it is a piece of.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// The titles of its ancestors.
    pub breadcrumb: Vec<String>,
    /// The tier.
    pub tier: Tier,
    /// Who wrote the tier; `None` for triggers of several origins.
    pub origin: Option<Origin>,
    /// Its text.
    pub text: String,
    /// Whether the source is still what was indexed.
    pub source: SourceState,
    /// The records nested in it.
    pub children: Vec<RecordId>,
}

/// A line of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The id.
    pub id: RecordId,
    /// The file it comes from.
    pub path: String,
    /// Where it stands there.
    pub lines: Lines,
    /// What it is a piece of.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: String,
    /// What its detail costs, in tokens.
    pub detail_tokens: u32,
    /// The records nested in it.
    pub children: Vec<RecordId>,
}

/// What a store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The store folder.
    pub store: PathBuf,
    /// The root of the tree.
    pub root: PathBuf,
    /// How many commits changed it.
    pub generation: u64,
    /// When a tree was last indexed, since 1970.
    pub indexed_at: Option<Duration>,
    /// What the content depends on beside the tree.
    pub fingerprint: String,
    /// Exact sums.
    pub totals: Totals,
    /// Trigger phrases in the automaton's table.
    pub n_phrases: u64,
    /// Remarks that readers left, over all files, and what was passed over.
    pub remarks: Remarks,
    /// Segments of the lexical index.
    pub n_segments: u64,
    /// Bytes on disk.
    pub store_bytes: u64,
}

impl Engine {
    /// Opens the store in `dir` for reading.
    ///
    /// # Errors
    /// [`EngineError::Store`] when there is none, or it cannot be read.
    pub fn open(dir: &Path) -> Result<Self, EngineError> {
        Ok(Self { store: Store::open_read_only(dir)?, loaded: Mutex::new(None) })
    }

    /// Brings the store in `dir` up to date with the tree below `root`, making it if there is none.
    ///
    /// # Errors
    /// Those of [`ingest::index`].
    pub fn index(
        root: &Path,
        dir: &Path,
        options: &IndexOptions,
        clock: &dyn Clock,
        progress: &dyn Progress,
    ) -> Result<IndexReport, EngineError> {
        // Before a store is made: a mistyped path must not leave one behind.
        ingest::check_tree(root)?;
        let store = Store::create_or_open(dir, options.wait)?;
        Ok(ingest::index(root, &store, options, clock, progress)?)
    }

    /// Says what [`Engine::index`] would do.
    ///
    /// # Errors
    /// Those of [`ingest::preview`].
    pub fn preview(
        root: &Path,
        dir: &Path,
        options: &IndexOptions,
    ) -> Result<IndexPreview, EngineError> {
        let store = match Store::open_read_only(dir) {
            Ok(store) => Some(store),
            Err(StoreError::NotFound { .. }) => None,
            Err(StoreError::FormatTooOld { found, .. }) => {
                let preview = ingest::preview(root, None, options)?;
                return Ok(IndexPreview {
                    rebuilt_because: Some(ingest::older_format(found)),
                    ..preview
                });
            }
            Err(error) => return Err(error.into()),
        };
        Ok(ingest::preview(root, store.as_ref(), options)?)
    }

    /// The store folder.
    pub fn dir(&self) -> &Path {
        self.store.dir()
    }

    /// Answers a question.
    ///
    /// # Errors
    /// Those of [`rank`] and [`answer`].
    pub fn recall(&self, request: &Request) -> Result<Answer, EngineError> {
        Ok(self.rank_and_recall(request)?.1)
    }

    /// Ranks the records for a question and answers it: for measurements, which need both.
    ///
    /// # Errors
    /// Those of [`rank`] and [`answer`].
    pub fn rank_and_recall(&self, request: &Request) -> Result<(Ranking, Answer), EngineError> {
        let (ranking, mut answers) = self.rank_and_answer(
            &request.query,
            &request.filter,
            1,
            std::slice::from_ref(request),
        )?;
        // One request, one answer.
        let answer = answers.pop().ok_or(EngineError::Empty)??;
        Ok((ranking, answer))
    }

    /// Ranks the records for a question once and answers every request from that ranking: for
    /// measurements that differ in budget and format alone. The query and the filter of the requests
    /// are not read. The ranking has at least the best `n_hits`.
    ///
    /// # Errors
    /// Those of [`rank`]; those of each answer stand in its place.
    pub fn rank_and_answer(
        &self,
        query: &Query,
        filter: &Filter,
        n_hits: usize,
        requests: &[Request],
    ) -> Result<(Ranking, Vec<Result<Answer, RecallError>>), EngineError> {
        let (snapshot, loaded) = self.state()?;
        let root = root_of(self.store.dir(), &snapshot.root()?);
        let handles =
            Handles { snapshot: &snapshot, lexical: &loaded.lexical, triggers: &loaded.triggers };
        let n_ranked = requests.iter().map(Request::n_ranked).fold(n_hits, usize::max);
        let ranking = rank(handles, query, filter, n_ranked)?;
        let state_of = |head: &Head| Ok(source_state(&snapshot, &root, &head.path)?);
        let answers = requests
            .iter()
            .map(|request| answer(&snapshot, request, &ranking, &state_of))
            .collect();
        Ok((ranking, answers))
    }

    /// Whether a record has this id.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn has(&self, id: &RecordId) -> Result<bool, EngineError> {
        Ok(self.store.snapshot()?.key_of(id)?.is_some())
    }

    /// Returns a tier of the record with this id, `None` if there is no such record. `lines` are lines of
    /// the source file; of the detail, only those are shown.
    ///
    /// # Errors
    /// [`EngineError::LinesOutside`] when none of the lines is one of the record's.
    pub fn get(
        &self,
        id: &RecordId,
        tier: Tier,
        lines: Option<(u32, u32)>,
    ) -> Result<Option<Piece>, EngineError> {
        let snapshot = self.store.snapshot()?;
        let Some(key) = snapshot.key_of(id)? else { return Ok(None) };
        let Some(head) = snapshot.head(key)? else { return Ok(None) };
        let root = root_of(self.store.dir(), &snapshot.root()?);
        let (origin, text) = match tier {
            Tier::Trigger => {
                let phrases: Vec<&str> = head.triggers.iter().map(|t| t.phrase.as_str()).collect();
                (None, phrases.join("\n"))
            }
            Tier::Description => (Some(head.description.origin), head.description.text.clone()),
            Tier::Summary => (Some(head.summary.origin), head.summary.text.clone()),
            Tier::Detail => {
                let detail = snapshot.detail(&Selection::by_pick(key, &head))?;
                let detail = detail.ok_or(EngineError::Torn { id: id.clone() })?;
                let text = match lines {
                    None => detail.shown(),
                    Some((first, last)) => pick_lines(&detail.exact, head.span.lines, first, last)
                        .ok_or_else(|| EngineError::LinesOutside {
                            id: id.clone(),
                            first: head.span.lines.first,
                            last: head.span.lines.last,
                        })?,
                };
                (None, text)
            }
        };
        Ok(Some(Piece {
            source: source_state(&snapshot, &root, &head.path)?,
            id: head.id,
            path: head.path,
            lines: head.span.lines,
            kind: head.kind,
            title: head.title,
            breadcrumb: head.breadcrumb,
            tier,
            origin,
            text,
            children: head.children,
        }))
    }

    /// Returns up to five ids that are nearly `id`: with the same anchor, in the same file, or
    /// sharing its words.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn similar_ids(&self, id: &RecordId) -> Result<Vec<RecordId>, EngineError> {
        let wanted: std::collections::BTreeSet<String> =
            text::words(id.as_str()).into_iter().map(|word| word.text).collect();
        let snapshot = self.store.snapshot()?;
        let mut near = Vec::new();
        for row in snapshot.ids()? {
            let (id, _) = row?;
            let words: std::collections::BTreeSet<String> =
                text::words(id.as_str()).into_iter().map(|word| word.text).collect();
            let shared = wanted.intersection(&words).count();
            let all = wanted.union(&words).count();
            if shared * 2 >= all && all > 0 {
                near.push((shared * 1_000 / all, id));
            }
        }
        near.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        Ok(near.into_iter().take(5).map(|(_, id)| id).collect())
    }

    /// Lists the records of a part of the store, by id.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, EngineError> {
        let snapshot = self.store.snapshot()?;
        let mut entries = Vec::new();
        for row in snapshot.ids()? {
            let (_, key) = row?;
            let Some(head) = snapshot.head(key)? else { continue };
            if filter.accepts(&head) {
                entries.push(Entry {
                    detail_tokens: head.cost(Tier::Detail).text,
                    id: head.id,
                    path: head.path,
                    lines: head.span.lines,
                    kind: head.kind,
                    title: head.title,
                    description: head.description.text,
                    children: head.children,
                });
            }
        }
        Ok(entries)
    }

    /// Says what the store holds, from its committed state alone.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn status(&self) -> Result<Status, EngineError> {
        let (snapshot, loaded) = self.state()?;
        Ok(Status {
            store: self.store.dir().to_owned(),
            root: root_of(self.store.dir(), &snapshot.root()?),
            generation: snapshot.generation(),
            indexed_at: snapshot.indexed_at()?,
            fingerprint: snapshot.fingerprint()?,
            totals: *snapshot.totals(),
            n_phrases: snapshot.phrases()?.count() as u64,
            remarks: Remarks::of(&snapshot)?,
            n_segments: loaded.lexical.n_segments() as u64,
            store_bytes: walkdir::WalkDir::new(self.store.dir())
                .into_iter()
                .filter_map(|entry| entry.ok()?.metadata().ok())
                .filter(std::fs::Metadata::is_file)
                .map(|meta| meta.len())
                .sum(),
        })
    }

    /// The room that each table of the store takes. Reads the whole store.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn table_sizes(&self) -> Result<Vec<TableSize>, EngineError> {
        Ok(self.store.snapshot()?.table_sizes()?)
    }

    /// Checks every table of the store against the others, and the lexical index and the trigger automata
    /// against the tables.
    ///
    /// # Errors
    /// Errors of the file; what is wrong with the content is in the list.
    pub fn verify(&self) -> Result<Vec<Problem>, EngineError> {
        let mut problems = self.verify_rows()?;
        let snapshot = self.store.snapshot()?;
        let lexical = match snapshot.lexical_meta()? {
            Some(meta) => self.lexical_fault(&snapshot, &meta)?,
            None => None,
        };
        let problem = |table, row: &str, what| Problem { table, row: row.to_owned(), what };
        problems.extend(lexical.map(|what| problem("meta", "lexical", what)));
        let automata = doctor::automaton_fault(&snapshot)?;
        problems.extend(automata.map(|what| problem("automata", ingest::BASE, what)));
        Ok(problems)
    }

    fn verify_rows(&self) -> Result<Vec<Problem>, EngineError> {
        let phrases_of = |head: &Head| ingest::phrases(&head.triggers);
        let words_of =
            |head: &Head, detail: &Detail| ingest::words(&ingest::indexed_terms(head, detail));
        Ok(crate::store::verify(&self.store.snapshot()?, &phrases_of, &words_of)?)
    }

    /// Reads every source again, and returns where the store does not say what its file says.
    ///
    /// # Errors
    /// Errors of the store; a source that cannot be read is in the list.
    pub fn verify_sources(&self, options: &reader::Options) -> Result<Vec<Problem>, EngineError> {
        let snapshot = self.store.snapshot()?;
        let root = root_of(self.store.dir(), &snapshot.root()?);
        Ok(ingest::deep(&snapshot, &root, options)?)
    }

    /// Writes the logical content, line by line: equal for equal trees.
    ///
    /// # Errors
    /// Errors of the store and of `out`.
    pub fn dump(&self, out: &mut impl std::io::Write) -> Result<(), EngineError> {
        let snapshot = self.store.snapshot()?;
        snapshot.dump(out).map_err(EngineError::Dump)
    }

    /// Returns the hash of the logical content: equal for equal trees.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn digest(&self) -> Result<String, EngineError> {
        let mut hasher = blake3::Hasher::new();
        self.dump(&mut hasher)?;
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// The last committed state with its indexes. A writer may remove segment files between the
    /// reading of a state and their opening; then there is a newer state.
    fn state(&self) -> Result<(Snapshot, Arc<Loaded>), EngineError> {
        let mut attempts = 0;
        loop {
            let snapshot = self.store.snapshot()?;
            match self.load(&snapshot) {
                Ok(loaded) => return Ok((snapshot, loaded)),
                Err(EngineError::Recall(RecallError::Lexical(Bm25Error::SegmentGone {
                    ..
                }))) if attempts < READ_ATTEMPTS => {
                    attempts += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn load(&self, snapshot: &Snapshot) -> Result<Arc<Loaded>, EngineError> {
        let generation = snapshot.generation();
        let meta = snapshot.lexical_meta()?.ok_or(EngineError::Empty)?;
        let mut slot = self.loaded.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let same = |loaded: &&Arc<Loaded>| loaded.generation == generation && loaded.meta == meta;
        if let Some(loaded) = slot.as_ref().filter(same) {
            return Ok(Arc::clone(loaded));
        }
        let lexical = Index::open(&self.store.segments_dir(), &meta).map_err(RecallError::from)?;
        let automata = [ingest::BASE, ingest::RECENT].map(|name| snapshot.automaton(name));
        let automata: Vec<Option<Vec<u8>>> = automata.into_iter().collect::<Result<_, _>>()?;
        let automata = automata.into_iter().flatten();
        let triggers = Triggers::open(automata).map_err(RecallError::from)?;
        let loaded = Arc::new(Loaded { generation, meta, lexical, triggers });
        *slot = Some(Arc::clone(&loaded));
        Ok(loaded)
    }
}

/// Tells by size and time whether a source is still what was indexed.
fn source_state(snapshot: &Snapshot, root: &Path, path: &str) -> Result<SourceState, StoreError> {
    let Ok(meta) = std::fs::metadata(root.join(path)) else { return Ok(SourceState::Missing) };
    let Some(file) = snapshot.file(path)? else { return Ok(SourceState::Changed) };
    let mtime = meta.modified().ok().map(ingest::nanoseconds);
    let same = meta.len() == file.stamp.size && mtime == file.stamp.mtime_nanos;
    Ok(if same { SourceState::Unchanged } else { SourceState::Changed })
}

/// Returns lines `first` to `last` of a file, as far as they are in `text`, which stands on `lines`.
fn pick_lines(text: &str, lines: Lines, first: u32, last: u32) -> Option<String> {
    let from = first.max(lines.first);
    let to = last.min(lines.last);
    let n = to.checked_sub(from)? as usize + 1;
    let skip = (from - lines.first) as usize;
    Some(text.lines().skip(skip).take(n).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests;
