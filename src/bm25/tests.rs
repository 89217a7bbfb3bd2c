//! Claims about the lexical index.
//!
//! 1. Scores are those of the formula, to the last bit.
//! 2. History (order, deletions, segments, merges) changes neither scores nor counts.
//! 3. All ties at the cut are returned.
//! 4. A filter decides who is a hit, never how much a hit is worth.
//! 5. Nothing is visible before its `meta.json` is; what a `meta.json` names stays readable.
//! 6. Terms pass unaltered, whatever characters they have.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;

use super::merge::{Size, plan};
use super::{Bm25Error, DocInfo, Document, Found, Hit, Index, QueryTerm, Stats, Writer, sweep};
use crate::fault::Fault;

type Corpus = BTreeMap<u64, Vec<String>>;

fn terms(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn query(text: &str) -> Vec<QueryTerm> {
    // `a|b` is one term with two variants.
    text.split_whitespace()
        .map(|word| QueryTerm {
            variants: word.split('|').map(str::to_owned).collect(),
            weight: 1.0,
        })
        .collect()
}

fn document(key: u64, terms: &[String]) -> Document<'_> {
    Document { key, file: key % 3, kind: key % 2, scope: 0, terms }
}

fn stats(corpus: &Corpus) -> Stats {
    Stats {
        n_docs: corpus.len() as u64,
        total_len: corpus.values().map(|terms| terms.len() as u64).sum(),
    }
}

/// Changes an index by removing keys and adding documents, and returns its new `meta.json`.
fn change(dir: &Path, meta: Option<&[u8]>, remove: &[u64], add: &[(u64, &[String])]) -> Vec<u8> {
    let mut writer = Writer::open(dir, meta).unwrap();
    for key in remove {
        writer.remove(*key).unwrap();
    }
    for (key, terms) in add {
        writer.add(&document(*key, terms)).unwrap();
    }
    writer.finish().unwrap()
}

fn build(dir: &Path, corpus: &Corpus) -> Vec<u8> {
    let all: Vec<_> = corpus.iter().map(|(key, terms)| (*key, terms.as_slice())).collect();
    change(dir, None, &[], &all)
}

fn search(index: &Index, corpus: &Corpus, text: &str, k: usize) -> Found {
    index.search(&query(text), &stats(corpus), &|_| true, k).unwrap()
}

/// The formula, straight from its definition, over every document.
#[expect(clippy::cast_precision_loss, reason = "the numbers of a test are small")]
fn brute_force(corpus: &Corpus, query: &[QueryTerm]) -> (Vec<Hit>, Vec<u64>) {
    let Stats { n_docs, total_len } = stats(corpus);
    let average = if total_len == 0 { 1.0 } else { total_len as f64 / n_docs as f64 };
    let tf = |terms: &[String], term: &QueryTerm| {
        let count = |variant: &String| terms.iter().filter(|t| *t == variant).count();
        term.variants.iter().map(count).max().unwrap_or(0)
    };
    let df: Vec<u64> = query
        .iter()
        .map(|term| corpus.values().filter(|terms| tf(terms, term) > 0).count() as u64)
        .collect();
    let mut hits = Vec::new();
    for (&key, terms) in corpus {
        let mut score = 0.0_f64;
        for (term, &df) in query.iter().zip(&df) {
            let tf = tf(terms, term) as f64;
            if tf > 0.0 {
                let idf = (1.0 + (n_docs as f64 - df as f64 + 0.5) / (df as f64 + 0.5)).ln();
                let (base, by_length) = (1.2 * (1.0 - 0.75), 1.2 * 0.75 / average);
                let saturation = tf * (1.2 + 1.0) / (tf + base + by_length * terms.len() as f64);
                score += f64::from(term.weight) * idf * saturation;
            }
        }
        if score > 0.0 {
            hits.push(Hit { key, score });
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
    (hits, df)
}

/// The `k` best and everything that ties with the last of them.
fn cut(mut hits: Vec<Hit>, k: usize) -> Vec<Hit> {
    let Some(last) = k.checked_sub(1) else { return Vec::new() };
    if let Some(floor) = hits.get(last).map(|hit| hit.score) {
        hits.retain(|hit| hit.score >= floor);
    }
    hits
}

fn any_terms() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-h]{1,2}", 0..12)
}

fn any_corpus() -> impl Strategy<Value = Corpus> {
    prop::collection::vec(any_terms(), 1..40)
        .prop_map(|docs| docs.into_iter().enumerate().map(|(at, d)| (at as u64, d)).collect())
}

fn any_query() -> impl Strategy<Value = Vec<QueryTerm>> {
    let term = (prop::collection::vec("[a-h]{1,2}", 1..4), 1_u8..4)
        .prop_map(|(variants, weight)| QueryTerm { variants, weight: f32::from(weight) });
    prop::collection::vec(term, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn scores_are_those_of_the_formula(
        corpus in any_corpus(), queries in prop::collection::vec(any_query(), 1..8), k in 0_usize..50,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::open(dir.path(), &build(dir.path(), &corpus)).unwrap();
        for query in queries {
            let found = index.search(&query, &stats(&corpus), &|_| true, k).unwrap();
            let (hits, df) = brute_force(&corpus, &query);
            prop_assert_eq!(found, Found { n_matched: hits.len() as u64, hits: cut(hits, k), df });
        }
    }

    #[test]
    fn history_does_not_change_scores(
        steps in prop::collection::vec(
            (prop::collection::vec(0_u64..30, 0..6), prop::collection::vec(any_terms(), 0..6)), 1..14),
        queries in prop::collection::vec(any_query(), 1..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut live = Corpus::new();
        let mut meta: Option<Vec<u8>> = None;
        let mut next = 0;
        for (remove, add) in steps {
            for key in &remove {
                live.remove(key);
            }
            let add: Vec<(u64, Vec<String>)> =
                add.into_iter().map(|terms| { next += 1; (next - 1, terms) }).collect();
            live.extend(add.iter().cloned());
            let add: Vec<_> = add.iter().map(|(key, terms)| (*key, terms.as_slice())).collect();
            let before = meta.clone();
            let after = change(dir.path(), before.as_deref(), &remove, &add);
            let keep: Vec<&[u8]> = before.as_deref().into_iter().chain([after.as_slice()]).collect();
            sweep(dir.path(), &keep).unwrap();
            meta = Some(after);
        }
        let index = Index::open(dir.path(), &meta.unwrap()).unwrap();
        prop_assert!(index.n_segments() <= 8);
        prop_assert_eq!(index.n_docs(), live.len() as u64);
        for query in queries {
            let found = index.search(&query, &stats(&live), &|_| true, 5).unwrap();
            let (hits, df) = brute_force(&live, &query);
            prop_assert_eq!(found, Found { n_matched: hits.len() as u64, hits: cut(hits, 5), df });
        }
    }

    #[test]
    fn terms_pass_unaltered(odd in prop::collection::vec("\\PC{0,4}|[\u{1e}\u{1f}es]{0,4}", 0..12)) {
        let dir = tempfile::tempdir().unwrap();
        let corpus = Corpus::from([(0, odd.clone()), (1, terms("plain"))]);
        let index = Index::open(dir.path(), &build(dir.path(), &corpus)).unwrap();
        for term in &odd {
            let n = u64::from(!term.is_empty());
            prop_assert_eq!(index.document_frequency(std::slice::from_ref(term)).unwrap(), n);
            if !term.is_empty() {
                let near = index.terms_within(term, 0, 1).unwrap();
                prop_assert_eq!(near.iter().map(|n| n.term.as_str()).collect::<Vec<_>>(), [term]);
            }
        }
    }

    #[test]
    fn merging_bounds_the_segments_and_ends(
        sizes in prop::collection::vec((1_u64..150_000, 0_u64..5000), 0..40)
    ) {
        let mut sizes: Vec<Size> = sizes
            .into_iter()
            .map(|(n_docs, n)| Size { n_docs, n_deleted: n % (n_docs + 1) })
            .collect();
        let mut n_merges = 0;
        while let Some(chosen) = plan(&sizes) {
            n_merges += 1;
            prop_assert!(n_merges <= 100);
            let chosen: BTreeSet<usize> = chosen.into_iter().collect();
            let live: u64 = chosen.iter().map(|&at| sizes[at].n_docs - sizes[at].n_deleted).sum();
            // The memory that a merge takes does not grow with the index.
            prop_assert!(chosen.len() == 1 || live <= 100_000);
            let mut rest: Vec<Size> = sizes
                .iter()
                .enumerate()
                .filter(|(at, _)| !chosen.contains(at))
                .map(|(_, size)| *size)
                .collect();
            if live > 0 {
                rest.push(Size { n_docs: live, n_deleted: 0 });
            }
            sizes = rest;
        }
        prop_assert!(sizes.iter().filter(|size| size.n_docs < 50_000).count() <= 8);
    }
}

#[test]
fn one_document_at_a_time_rewrites_each_only_a_few_times() {
    let mut sizes: Vec<Size> = Vec::new();
    let mut n_rewritten = 0;
    for _ in 0..2000 {
        sizes.push(Size { n_docs: 1, n_deleted: 0 });
        while let Some(chosen) = plan(&sizes) {
            let n_docs = chosen.iter().map(|&at| sizes[at].n_docs).sum();
            n_rewritten += n_docs;
            let mut at = 0;
            sizes.retain(|_| {
                at += 1;
                !chosen.contains(&(at - 1))
            });
            sizes.push(Size { n_docs, n_deleted: 0 });
        }
    }
    assert!(n_rewritten < 2000 * 20, "{n_rewritten}");
}

#[test]
fn all_ties_at_the_cut_are_returned() {
    let dir = tempfile::tempdir().unwrap();
    let corpus: Corpus = (0..2000).map(|key| (key, terms("same words here"))).collect();
    let index = Index::open(dir.path(), &build(dir.path(), &corpus)).unwrap();
    let found = search(&index, &corpus, "words", 3);
    assert_eq!(found.hits.len(), 2000);
    assert_eq!(
        search(&index, &corpus, "words", 0),
        Found { hits: vec![], n_matched: 2000, df: vec![2000] }
    );
}

#[test]
fn a_filter_decides_who_is_a_hit_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let corpus: Corpus = (0..60)
        .zip(0_usize..)
        .map(|(key, n)| (key, terms(&format!("word w{key} {}", "pad ".repeat(n)))))
        .collect();
    let index = Index::open(dir.path(), &build(dir.path(), &corpus)).unwrap();
    let all = search(&index, &corpus, "word pad", 60);
    let filter = |info: DocInfo| info.file == 1 && info.kind == 0;
    let some = index.search(&query("word pad"), &stats(&corpus), &filter, 60).unwrap();
    assert_eq!(some.df, all.df);
    let wanted: Vec<Hit> =
        all.hits.into_iter().filter(|hit| hit.key % 3 == 1 && hit.key % 2 == 0).collect();
    assert_eq!(some.hits, wanted);
}

#[test]
fn variants_of_a_word_count_once() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = Corpus::from([
        (0, terms("run runs runs")),
        (1, terms("run run filler")),
        (2, terms("other words only")),
    ]);
    let index = Index::open(dir.path(), &build(dir.path(), &corpus)).unwrap();
    let found = search(&index, &corpus, "run|runs|run", 9);
    assert_eq!(found.df, [2]);
    assert_eq!(found.hits[0].score.to_bits(), found.hits[1].score.to_bits());
}

#[test]
fn a_term_without_weight_is_counted_and_matches_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = Corpus::from([(0, terms("a b")), (1, terms("b"))]);
    let index = Index::open(dir.path(), &build(dir.path(), &corpus)).unwrap();
    let mut query = query("a b");
    query[1].weight = 0.0;
    let found = index.search(&query, &stats(&corpus), &|_| true, 9).unwrap();
    assert_eq!(found.df, [1, 2]);
    assert_eq!(found.hits.iter().map(|hit| hit.key).collect::<Vec<_>>(), [0]);
}

#[test]
fn a_term_that_is_too_long_for_the_library_is_cut_and_still_found() {
    let dir = tempfile::tempdir().unwrap();
    let long = "\u{e9}".repeat(40_000);
    let corpus = Corpus::from([(0, vec![long.clone()]), (1, terms("short"))]);
    let index = Index::open(dir.path(), &build(dir.path(), &corpus)).unwrap();
    assert_eq!(index.document_frequency(&[long]).unwrap(), 1);
}

#[test]
fn near_terms_are_found_by_distance() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = Corpus::from([
        (0, terms("rebase rebased release reuse")),
        (1, terms("rebase debase")),
        (2, terms("gone")),
    ]);
    let meta = build(dir.path(), &corpus);
    let meta = change(dir.path(), Some(&meta), &[2], &[]);
    let index = Index::open(dir.path(), &meta).unwrap();
    let near = |term, distance, prefix| -> Vec<String> {
        let near = index.terms_within(term, distance, prefix).unwrap();
        near.into_iter().map(|n| format!("{} {} {}", n.distance, n.term, n.df)).collect()
    };
    assert_eq!(near("rebsae", 2, 1), ["2 rebase 2", "2 reuse 1"]);
    assert_eq!(near("rebase", 1, 1), ["0 rebase 2", "1 rebased 1"]);
    assert_eq!(near("rebase", 1, 0), ["0 rebase 2", "1 debase 1", "1 rebased 1"]);
    assert_eq!(near("gone", 1, 0), [""; 0]);
}

#[test]
fn nothing_changes_without_a_change() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = Corpus::from([(0, terms("a"))]);
    let meta = build(dir.path(), &corpus);
    assert_eq!(change(dir.path(), Some(&meta), &[], &[]), meta);
}

#[test]
fn a_writer_that_dies_before_the_store_commits_leaves_the_index_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let corpus: Corpus = (0..20).map(|key| (key, terms(&format!("word w{key}")))).collect();
    let meta = build(dir.path(), &corpus);
    // All is written, but the store never commits the new meta.json. The file of the deletions has
    // the name that the next writer will want.
    let lost = change(dir.path(), Some(&meta), &[3], &[(50, &terms("word lost"))]);
    assert_ne!(lost, meta);
    // And one that dies in the middle.
    let mut writer = Writer::open(dir.path(), Some(&meta)).unwrap();
    writer.remove(4).unwrap();
    drop(writer);
    let index = Index::open(dir.path(), &meta).unwrap();
    assert_eq!(search(&index, &corpus, "word", 50).hits.len(), 20);

    let meta = change(dir.path(), Some(&meta), &[5, 6], &[]);
    let index = Index::open(dir.path(), &meta).unwrap();
    assert_eq!(index.n_docs(), 18);
    assert_eq!(index.document_frequency(&terms("w3")).unwrap(), 1);
    assert_eq!(index.document_frequency(&terms("w5")).unwrap(), 0);
    assert_eq!(index.document_frequency(&terms("lost")).unwrap(), 0);
}

#[test]
fn a_sweep_keeps_what_is_named_and_what_is_not_ours() {
    let dir = tempfile::tempdir().unwrap();
    let first = build(dir.path(), &Corpus::from([(0, terms("a")), (1, terms("b"))]));
    let second = change(dir.path(), Some(&first), &[0, 1], &[(2, &terms("c"))]);
    std::fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    let files = || std::fs::read_dir(dir.path()).unwrap().count();
    sweep(dir.path(), &[&first, &second]).unwrap();
    assert!(Index::open(dir.path(), &first).is_ok());
    let before = files();
    assert!(sweep(dir.path(), &[&second]).unwrap() > 0);
    assert!(files() < before);
    assert!(dir.path().join("notes.txt").exists());
    assert_eq!(Index::open(dir.path(), &second).unwrap().n_docs(), 1);
    assert_eq!(sweep(dir.path(), &[&second]).unwrap(), 0);
}

#[test]
fn a_missing_file_is_told_apart_from_other_errors() {
    let dir = tempfile::tempdir().unwrap();
    let first = build(dir.path(), &Corpus::from([(0, terms("a"))]));
    let index = Index::open(dir.path(), &first).unwrap();
    let second = change(dir.path(), Some(&first), &[0], &[(1, &terms("b"))]);
    sweep(dir.path(), &[&second]).unwrap();
    let error = Index::open(dir.path(), &first).unwrap_err();
    assert!(matches!(error, Bm25Error::SegmentGone { .. }), "{error:?}");
    // Whoever has it open goes on reading.
    assert_eq!(index.document_frequency(&terms("a")).unwrap(), 1);
    let nowhere = Index::open(&dir.path().join("nowhere"), &first).unwrap_err();
    assert!(matches!(nowhere, Bm25Error::SegmentGone { .. }), "{nowhere:?}");
}

#[test]
fn damaged_files_are_errors_and_not_panics() {
    let dir = tempfile::tempdir().unwrap();
    let corpus: Corpus = (0..50).map(|key| (key, terms(&format!("word w{key}")))).collect();
    let meta = build(dir.path(), &corpus);
    assert!(matches!(
        Index::open(dir.path(), b"{ not json").unwrap_err().fault(),
        Fault::Data | Fault::Bug
    ));
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for keep in [0, 1, bytes.len() / 2, bytes.len().saturating_sub(3)] {
            std::fs::write(&path, &bytes[..keep]).unwrap();
            // The library may not look at all of a file; then the answer is what counts.
            if let Err(error) = Index::open(dir.path(), &meta) {
                assert_eq!(error.fault(), Fault::Data, "{}: {error:?}", path.display());
            }
        }
        std::fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(Index::open(dir.path(), &meta).unwrap().n_docs(), 50);
}
