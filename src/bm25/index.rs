//! Searching the index: exact BM25 over live documents.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tantivy::columnar::ColumnValues;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, SegmentReader};

use crate::bm25::directory::SegmentDir;
use crate::bm25::schema::{self, Fields};
use crate::bm25::{Bm25Error, DocInfo, Found, Hit, NearTerm, QueryTerm, Stats};

/// How soon more occurrences of a term say less.
const K1: f64 = 1.2;
/// How much a long document counts against itself.
const B: f64 = 0.75;
/// tantivy packs postings in blocks of this many.
const BLOCK: usize = 128;

/// The index as one `meta.json` describes it.
///
/// All files are opened at once, so what a later [`super::sweep`] removes stays readable here.
pub struct Index {
    path: PathBuf,
    fields: Fields,
    segments: Vec<Segment>,
}

struct Segment {
    reader: SegmentReader,
    terms: Arc<InvertedIndexReader>,
    len: Arc<dyn ColumnValues<u64>>,
    /// All of `len`, once a query needs so many of them that reading all is faster.
    lengths: OnceLock<Vec<u32>>,
    key: Arc<dyn ColumnValues<u64>>,
    file: Arc<dyn ColumnValues<u64>>,
    kind: Arc<dyn ColumnValues<u64>>,
    scope: Arc<dyn ColumnValues<u64>>,
}

/// The documents of one segment that have a query term.
enum Postings {
    /// Those of one term, deleted ones among them: read when they are needed.
    Whole { info: TermInfo, n_live: u64 },
    /// The live ones of several terms in their order, and how often each has the term that it has
    /// most.
    Listed { docs: Vec<DocId>, counts: Vec<u32> },
}

impl Postings {
    fn n_live(&self) -> u64 {
        match self {
            Self::Whole { n_live, .. } => *n_live,
            Self::Listed { docs, .. } => docs.len() as u64,
        }
    }
}

/// A document that may be among the best.
#[derive(Clone, Copy)]
struct Candidate {
    score: f64,
    key: u64,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("path", &self.path)
            .field("n_segments", &self.segments.len())
            .field("n_docs", &self.n_docs())
            .finish_non_exhaustive()
    }
}

impl Index {
    /// Opens the index in `dir` as `meta_json` describes it.
    ///
    /// # Errors
    /// [`Bm25Error::SegmentGone`] when a file that it names is no longer there: the caller should
    /// try again with a newer snapshot of the store. [`Bm25Error::Damaged`] when a file or
    /// `meta_json` is not what this build writes.
    pub fn open(dir: &Path, meta_json: &[u8]) -> Result<Self, Bm25Error> {
        // tantivy may panic on files that something else has changed.
        let opened = catch_unwind(AssertUnwindSafe(|| open_segments(dir, meta_json)));
        let (fields, segments) = opened.unwrap_or_else(|_| {
            Err(Bm25Error::damaged(dir, "the search library met bytes that it cannot have written"))
        })?;
        Ok(Self { path: dir.to_owned(), fields, segments })
    }

    /// How many live documents there are.
    pub fn n_docs(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.reader.num_docs())).sum()
    }

    /// The keys of the live documents, sorted.
    pub fn keys(&self) -> Vec<u64> {
        let mut keys = Vec::new();
        for segment in &self.segments {
            let docs = 0..segment.reader.max_doc();
            let live = docs.filter(|&doc| !segment.reader.is_deleted(doc));
            keys.extend(live.map(|doc| segment.key.get_val(doc)));
        }
        keys.sort_unstable();
        keys
    }

    /// How many segments they lie in.
    pub fn n_segments(&self) -> usize {
        self.segments.len()
    }

    /// Returns the `k` documents that score best among those that `filter` lets through, and all
    /// others that score as much as the last of them.
    ///
    /// The score of a document is the sum, in the order of the query, of
    /// `weight * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len / average))` over the terms that
    /// it has, with `idf = ln(1 + (n - df + 0.5) / (df + 0.5))`, `k1 = 1.2` and `b = 0.75`, all in
    /// `f64`. `tf` and `len` are exact, `df` counts live documents, and `n` and the average length
    /// are those of `stats`; so a score depends on the live documents and the query alone.
    ///
    /// Costs time in proportion to the documents that have a term of the query.
    ///
    /// # Errors
    /// Errors of the files.
    pub fn search(
        &self,
        query: &[QueryTerm],
        stats: &Stats,
        filter: &dyn Fn(DocInfo) -> bool,
        k: usize,
    ) -> Result<Found, Bm25Error> {
        let mut postings = Vec::with_capacity(query.len());
        let mut df = Vec::with_capacity(query.len());
        for term in query {
            let (of_term, n) = self.postings(&term.variants)?;
            postings.push(of_term);
            df.push(n);
        }
        let formula = Formula::new(stats);
        let factors: Vec<f64> = query
            .iter()
            .zip(&df)
            .map(|(term, &df)| f64::from(term.weight) * formula.idf(df))
            .collect();
        let mut best = Best::new(k);
        let mut n_matched = 0;
        for (at, segment) in self.segments.iter().enumerate() {
            let of_segment: Vec<Option<&Postings>> =
                postings.iter().map(|of_term| of_term.get(at).and_then(Option::as_ref)).collect();
            segment.prepare(of_segment.iter().flatten().map(|postings| postings.n_live()).sum());
            let mut scores = Scores::new(segment.reader.max_doc());
            for (postings, &factor) in of_segment.into_iter().zip(&factors) {
                let Some(postings) = postings.filter(|_| factor > 0.0) else { continue };
                segment
                    .score(postings, factor, &formula, &mut scores)
                    .map_err(|error| Bm25Error::io(&self.path, error))?;
            }
            for &doc in &scores.touched {
                if segment.reader.is_deleted(doc) || !filter(segment.info(doc)) {
                    continue;
                }
                n_matched += 1;
                let score = scores.of(doc);
                if best.wants(score) {
                    best.add(Candidate { score, key: segment.key.get_val(doc) });
                }
            }
        }
        Ok(Found { hits: best.into_hits(), n_matched, df })
    }

    /// Returns how many live documents have at least one of these terms.
    ///
    /// # Errors
    /// Errors of the files.
    pub fn document_frequency(&self, variants: &[String]) -> Result<u64, Bm25Error> {
        Ok(self.postings(variants)?.1)
    }

    /// Returns the terms of live documents that are at most `max_distance` changes of a letter away
    /// from `term` and agree with it in its first `prefix_len` letters, nearest first, equally near
    /// ones in the order of their bytes. The term itself is among them when a document has it.
    ///
    /// Costs time in proportion to the terms that begin like it.
    ///
    /// # Errors
    /// Errors of the files.
    pub fn terms_within(
        &self,
        term: &str,
        max_distance: u32,
        prefix_len: usize,
    ) -> Result<Vec<NearTerm>, Bm25Error> {
        let wrong = |error| Bm25Error::io(&self.path, error);
        let prefix: String = term.chars().take(prefix_len).collect();
        let prefix = schema::wire(&prefix).into_owned();
        let mut near = BTreeSet::new();
        let mut measure = Measure::new(term, max_distance);
        for segment in &self.segments {
            let mut terms =
                segment.terms.terms().range().ge(&prefix).into_stream().map_err(wrong)?;
            while let Some((bytes, _)) = terms.next() {
                if !bytes.starts_with(prefix.as_bytes()) {
                    break;
                }
                if let Some((distance, other)) = measure.of(bytes) {
                    near.insert((distance, other));
                }
            }
        }
        let mut found = Vec::new();
        for (distance, term) in near {
            let (_, df) = self.postings(std::slice::from_ref(&term))?;
            if df > 0 {
                found.push(NearTerm { distance, term, df });
            }
        }
        Ok(found)
    }

    /// The live documents that have at least one of `variants`, segment by segment, and how many.
    fn postings(&self, variants: &[String]) -> Result<(Vec<Option<Postings>>, u64), Bm25Error> {
        let mut terms: Vec<_> =
            variants.iter().filter(|v| !v.is_empty()).map(|v| self.fields.term(v)).collect();
        terms.sort_unstable();
        terms.dedup();
        let mut df = 0;
        let mut of_segments = Vec::with_capacity(self.segments.len());
        for segment in &self.segments {
            let postings =
                segment.postings(&terms).map_err(|error| Bm25Error::io(&self.path, error))?;
            df += postings.as_ref().map_or(0, Postings::n_live);
            of_segments.push(postings);
        }
        Ok((of_segments, df))
    }
}

impl Segment {
    fn open(reader: SegmentReader, fields: Fields) -> tantivy::Result<Self> {
        let terms = reader.inverted_index(fields.all)?;
        let column = |name| reader.fast_fields().column_first_or_default::<u64>(name);
        Ok(Self {
            len: column(schema::LEN)?,
            lengths: OnceLock::new(),
            key: column(schema::KEY)?,
            file: column(schema::FILE)?,
            kind: column(schema::KIND)?,
            scope: column(schema::SCOPE)?,
            terms,
            reader,
        })
    }

    fn info(&self, doc: DocId) -> DocInfo {
        DocInfo {
            key: self.key.get_val(doc),
            file: self.file.get_val(doc),
            kind: self.kind.get_val(doc),
            scope: self.scope.get_val(doc),
        }
    }

    /// The live documents that have at least one of `terms`.
    fn postings(&self, terms: &[tantivy::Term]) -> std::io::Result<Option<Postings>> {
        let mut infos = Vec::new();
        for term in terms {
            infos.extend(self.terms.get_term_info(term)?);
        }
        let alive = self.reader.alive_bitset();
        match infos.as_slice() {
            [] => return Ok(None),
            [info] => {
                let mut n_live = u64::from(info.doc_freq);
                if let Some(alive) = alive {
                    self.blocks(info, |docs, _| {
                        n_live -= docs.iter().filter(|&&doc| alive.is_deleted(doc)).count() as u64;
                    })?;
                }
                let info = info.clone();
                return Ok((n_live > 0).then_some(Postings::Whole { info, n_live }));
            }
            _ => {}
        }
        let mut listed: Vec<(DocId, u32)> = Vec::new();
        for info in &infos {
            self.blocks(info, |docs, counts| {
                let all = docs.iter().copied().zip(counts.iter().copied());
                match alive {
                    Some(alive) => listed.extend(all.filter(|&(doc, _)| alive.is_alive(doc))),
                    None => listed.extend(all),
                }
            })?;
        }
        // Stable sorting of sorted runs takes a single pass.
        listed.sort_by_key(|&(doc, _)| doc);
        listed.dedup_by(|(doc, count), (kept, most)| {
            let same = doc == kept;
            if same {
                *most = (*most).max(*count);
            }
            same
        });
        let (docs, counts): (Vec<DocId>, Vec<u32>) = listed.into_iter().unzip();
        Ok((!docs.is_empty()).then_some(Postings::Listed { docs, counts }))
    }

    /// Adds what one term is worth to the scores of the documents that have it.
    fn score(
        &self,
        postings: &Postings,
        factor: f64,
        formula: &Formula,
        scores: &mut Scores,
    ) -> std::io::Result<()> {
        let mut worth = [0.0; BLOCK];
        let mut lengths = [0; BLOCK];
        let mut add = |docs: &[DocId], counts: &[u32]| {
            let n = docs.len().min(BLOCK);
            let (Some(lengths), Some(worth)) = (lengths.get_mut(..n), worth.get_mut(..n)) else {
                return;
            };
            self.lengths_of(docs, lengths);
            // On its own, this loop is done several documents at a time by the processor.
            for ((worth, &count), &len) in worth.iter_mut().zip(counts).zip(lengths.iter()) {
                *worth = factor * formula.saturation(count, len);
            }
            scores.add(docs, worth);
        };
        match postings {
            Postings::Whole { info, .. } => self.blocks(info, add),
            Postings::Listed { docs, counts } => {
                docs.chunks(BLOCK).zip(counts.chunks(BLOCK)).for_each(|(d, c)| add(d, c));
                Ok(())
            }
        }
    }

    /// Reads the lengths of all documents, if the postings of a query are so many that this is
    /// faster than reading each when it is needed.
    fn prepare(&self, n_postings: u64) {
        if n_postings >= u64::from(self.reader.max_doc()) / 4 {
            self.lengths.get_or_init(|| {
                let mut lengths = vec![0; self.reader.max_doc() as usize];
                self.len.get_range(0, &mut lengths);
                lengths.into_iter().map(narrow).collect()
            });
        }
    }

    fn lengths_of(&self, docs: &[DocId], lengths: &mut [u32]) {
        if let Some(all) = self.lengths.get() {
            for (length, &doc) in lengths.iter_mut().zip(docs) {
                *length = all.get(doc as usize).copied().unwrap_or_default();
            }
            return;
        }
        for (length, &doc) in lengths.iter_mut().zip(docs) {
            *length = narrow(self.len.get_val(doc));
        }
    }

    /// Walks the postings of a term in blocks of at most [`BLOCK`] documents.
    fn blocks(
        &self,
        info: &TermInfo,
        mut each: impl FnMut(&[DocId], &[u32]),
    ) -> std::io::Result<()> {
        let mut block =
            self.terms.read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
        while !block.docs().is_empty() {
            each(block.docs(), block.freqs());
            block.advance();
        }
        Ok(())
    }
}

/// What of the formula is the same for all documents.
struct Formula {
    n_docs: f64,
    /// `k1 * (1 - b)`.
    base: f64,
    /// `k1 * b / average`.
    by_length: f64,
}

impl Formula {
    #[expect(clippy::cast_precision_loss, reason = "numbers of documents and terms are below 2^53")]
    fn new(stats: &Stats) -> Self {
        let n_docs = stats.n_docs as f64;
        let average = if stats.total_len == 0 { 1.0 } else { stats.total_len as f64 / n_docs };
        Self { n_docs, base: K1 * (1.0 - B), by_length: K1 * B / average }
    }

    /// Never below zero, even when `stats` counts fewer documents than have the term.
    #[expect(clippy::cast_precision_loss, reason = "numbers of documents are below 2^53")]
    fn idf(&self, df: u64) -> f64 {
        let df = df as f64;
        (1.0 + (self.n_docs - df + 0.5) / (df + 0.5)).ln().max(0.0)
    }

    fn saturation(&self, count: u32, len: u32) -> f64 {
        let count = f64::from(count);
        count * (K1 + 1.0) / (count + self.base + self.by_length * f64::from(len))
    }
}

/// The scores of the documents of one segment.
struct Scores {
    scores: Vec<f64>,
    /// The documents whose score is above zero, in the order of their first match.
    touched: Vec<DocId>,
}

impl Scores {
    fn new(n_docs: u32) -> Self {
        Self { scores: vec![0.0; n_docs as usize], touched: Vec::new() }
    }

    fn add(&mut self, docs: &[DocId], worth: &[f64]) {
        for (&doc, &worth) in docs.iter().zip(worth) {
            if let Some(score) = self.scores.get_mut(doc as usize) {
                if *score <= 0.0 {
                    self.touched.push(doc);
                }
                *score += worth;
            }
        }
    }

    fn of(&self, doc: DocId) -> f64 {
        self.scores.get(doc as usize).copied().unwrap_or_default()
    }
}

/// The best candidates so far, and a floor that only rises.
struct Best {
    k: usize,
    /// No document below this can be among the best.
    floor: f64,
    candidates: Vec<Candidate>,
    /// How many candidates there may be before the floor is raised.
    room: usize,
}

impl Best {
    /// Candidates that are kept beyond those asked for, before the worst are thrown out.
    const SLACK: usize = 256;

    fn new(k: usize) -> Self {
        let room = k.saturating_mul(2).saturating_add(Self::SLACK);
        Self { k, floor: 0.0, candidates: Vec::new(), room }
    }

    fn wants(&self, score: f64) -> bool {
        self.k > 0 && score > 0.0 && score >= self.floor
    }

    fn add(&mut self, candidate: Candidate) {
        self.candidates.push(candidate);
        if self.candidates.len() >= self.room {
            self.prune();
            // Many equal scores may remain: wait for as many again before the next look.
            self.room = self.candidates.len().saturating_mul(2).saturating_add(Self::SLACK);
        }
    }

    /// Throws out what scores less than the `k`-th best.
    fn prune(&mut self) {
        let Some(last) = self.k.checked_sub(1) else { return };
        if self.candidates.len() <= self.k {
            return;
        }
        let by_score = |a: &Candidate, b: &Candidate| b.score.total_cmp(&a.score);
        let (_, cut, _) = self.candidates.select_nth_unstable_by(last, by_score);
        self.floor = cut.score;
        let floor = self.floor;
        self.candidates.retain(|candidate| candidate.score >= floor);
    }

    fn into_hits(mut self) -> Vec<Hit> {
        self.prune();
        self.candidates
            .sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
        self.candidates.into_iter().map(|c| Hit { key: c.key, score: c.score }).collect()
    }
}

fn open_segments(dir: &Path, meta_json: &[u8]) -> Result<(Fields, Vec<Segment>), Bm25Error> {
    let wrong = |error| Bm25Error::of_tantivy(dir, error);
    let (schema, fields) = schema::schema();
    let segments = SegmentDir::open(dir, Some(meta_json)).map_err(wrong)?;
    let index = tantivy::Index::open(segments).map_err(wrong)?;
    if index.schema() != schema {
        return Err(Bm25Error::damaged(dir, "its fields are of another version"));
    }
    let mut opened = Vec::new();
    for segment in index.searchable_segments().map_err(wrong)? {
        let reader = SegmentReader::open(&segment).map_err(wrong)?;
        opened.push(Segment::open(reader, fields).map_err(wrong)?);
    }
    Ok((fields, opened))
}

/// Measures how far terms of the index are from one word.
struct Measure {
    from: Vec<char>,
    at_most: usize,
    to: Vec<char>,
    row: Vec<usize>,
}

impl Measure {
    fn new(word: &str, at_most: u32) -> Self {
        let at_most = at_most as usize;
        Self { from: word.chars().collect(), at_most, to: Vec::new(), row: Vec::new() }
    }

    /// Returns how many letters must be inserted, removed or replaced to get from the word to a
    /// term of the index, and the term; nothing when they are too many.
    fn of(&mut self, wire: &[u8]) -> Option<(u32, String)> {
        // Every letter begins with a byte that is not one of those that go on. Most terms are
        // too long or too short, and this is seen without taking them apart.
        let n_letters = wire.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        if n_letters.abs_diff(self.from.len()) > self.at_most && !schema::is_escaped(wire) {
            return None;
        }
        let term = schema::unwire(wire)?;
        self.to.clear();
        self.to.extend(term.chars());
        let distance = self.distance()?;
        Some((u32::try_from(distance).ok()?, term.into_owned()))
    }

    fn distance(&mut self) -> Option<usize> {
        let Self { from, at_most, to, row } = self;
        if from.len().abs_diff(to.len()) > *at_most {
            return None;
        }
        row.clear();
        row.extend(0..=to.len());
        for (i, a) in from.iter().enumerate() {
            // `diagonal` is the cell above and to the left of the one that is computed.
            let mut diagonal = i;
            let mut left = i + 1;
            let mut least = left;
            if let Some(first) = row.first_mut() {
                *first = left;
            }
            for (cell, b) in row.iter_mut().skip(1).zip(to.iter()) {
                let replaced = diagonal + usize::from(a != b);
                diagonal = *cell;
                left = replaced.min(left + 1).min(*cell + 1);
                *cell = left;
                least = least.min(left);
            }
            if least > *at_most {
                return None;
            }
        }
        row.last().copied().filter(|distance| distance <= at_most)
    }
}

fn narrow(length: u64) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
