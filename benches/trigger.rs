//! How long does it take to build, open and scan a set of trigger phrases?
//!
//! Three sets: the phrases of the shipped field guide, and 10,000 and 100,000 phrases of two to
//! six words drawn from its vocabulary with a fixed seed. The questions are those of its tune split.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark without its data has nothing to say"
)]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use psos::trigger::{MAX_FUZZY_WORDS, Triggers, build};

fn sidecars(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the field guide") {
        let path = entry.expect("an entry of the field guide").path();
        if path.is_dir() {
            sidecars(&path, paths);
        } else if path.to_string_lossy().ends_with(".psos.yaml") {
            paths.push(path);
        }
    }
    paths.sort();
}

fn field_guide() -> Vec<String> {
    let mut paths = Vec::new();
    sidecars(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/fieldguide"), &mut paths);
    let mut phrases = Vec::new();
    for path in paths {
        let text = fs::read_to_string(path).expect("a sidecar");
        let records: serde_yaml_ng::Value = serde_yaml_ng::from_str(&text).expect("YAML");
        let records = records.as_mapping().expect("anchors").values();
        let triggers = records.filter_map(|record| record.get("triggers")?.as_sequence());
        phrases.extend(triggers.flatten().filter_map(|t| t.as_str()).map(str::to_owned));
    }
    phrases
}

fn questions() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("eval/fieldguide/tune.jsonl");
    let lines = fs::read_to_string(path).expect("the tune split");
    let parse = |line| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    let texts = lines.lines().map(parse).filter_map(|v| v["text"].as_str().map(str::to_owned));
    texts.collect()
}

/// Draws `n` phrases of two to six words of `phrases`.
fn drawn(phrases: &[String], n: usize) -> Vec<String> {
    let words: Vec<&str> = phrases.iter().flat_map(|phrase| phrase.split(' ')).collect();
    let mut seed = 1_u64;
    let mut next = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let mut phrase = || {
        let n = 2 + next(5);
        (0..n).map(|_| words[next(words.len())]).collect::<Vec<_>>().join(" ")
    };
    (0..n).map(|_| phrase()).collect()
}

fn trigger(c: &mut Criterion) {
    let guide = field_guide();
    let questions = questions();
    let sets = [
        ("guide", guide.clone()),
        ("10k", drawn(&guide, 10_000)),
        ("100k", drawn(&guide, 100_000)),
    ];
    let long: Vec<&str> = guide.iter().flat_map(|phrase| phrase.split(' ')).collect();
    for (name, phrases) in sets {
        let mut group = c.benchmark_group(format!("trigger/{name}"));
        group.sample_size(10);
        let automaton = build(phrases.iter().map(String::as_str)).expect("an automaton");
        let triggers = Triggers::open([automaton.as_slice()]).expect("a whole automaton");
        group.throughput(Throughput::Elements(phrases.len() as u64));
        group.bench_function("build", |b| b.iter(|| build(phrases.iter().map(String::as_str))));
        group.throughput(Throughput::Bytes(automaton.len() as u64));
        group.bench_function("open", |b| b.iter(|| Triggers::open([automaton.as_slice()])));
        group.throughput(Throughput::Elements(questions.len() as u64));
        group.bench_function("scan questions", |b| {
            b.iter(|| questions.iter().map(|q| black_box(triggers.scan(q)).len()).sum::<usize>());
        });
        let most_fuzzy = long[..MAX_FUZZY_WORDS].join(" ");
        group.throughput(Throughput::Elements(MAX_FUZZY_WORDS as u64));
        group.bench_function("scan the longest fuzzy text", |b| {
            b.iter(|| triggers.scan(&most_fuzzy));
        });
        let exact = long[..10_000].join(" ");
        group.throughput(Throughput::Elements(10_000));
        group.bench_function("scan 10,000 words", |b| b.iter(|| triggers.scan(&exact)));
        group.finish();
    }
}

criterion_group!(benches, trigger);
criterion_main!(benches);
