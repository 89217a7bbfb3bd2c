//! `psos status`: what a store holds.

use std::collections::BTreeMap;
use std::process::ExitCode;

use psos::clock::{Clock as _, SystemClock};
use psos::engine::Engine;
use psos::record::{Kind, Tier};
use psos::store::TableSize;

use crate::cli::Done;
use crate::cli::args::StatusArgs;
use crate::cli::output::{
    by_kind, by_origin, failure, json, list, note_json, object, open, print, push, push_note,
};

/// How many kinds of remarks are counted one by one; --json has all.
const KINDS_SHOWN: usize = 10;

pub(crate) fn run(args: &StatusArgs) -> Done {
    let engine = open(&args.store)?;
    if args.tables {
        return list_tables(&engine, args.json);
    }
    let status = engine.status().map_err(|error| failure(error, engine.dir()))?;
    let totals = &status.totals;
    // As a person would write it; a tree that is gone keeps the path that the store has.
    let root = status.root.canonicalize().unwrap_or_else(|_| status.root.clone());
    let age = status.indexed_at.map(|at| SystemClock.now().saturating_sub(at).as_secs());
    let remarks = &status.remarks;
    let n_skipped: u64 = remarks.skipped.values().sum();
    if args.remarks {
        return list_remarks(&engine, args.json);
    }
    if args.json {
        let severities =
            object([("error", json(remarks.n_errors)), ("warning", json(remarks.n_warnings))]);
        let object = object([
            ("schema_version", json(1)),
            ("store", json(status.store.display().to_string())),
            ("root", json(root.display().to_string())),
            ("generation", json(status.generation)),
            ("age_seconds", json(age)),
            ("fingerprint", json(status.fingerprint)),
            ("files", json(totals.n_files)),
            ("records", json(totals.n_records)),
            ("kinds", by_kind(totals)),
            ("triggers", by_origin(totals, Tier::Trigger)),
            ("descriptions", by_origin(totals, Tier::Description)),
            ("summaries", by_origin(totals, Tier::Summary)),
            ("phrases", json(status.n_phrases)),
            ("remarks", json(remarks.n_errors + remarks.n_warnings)),
            ("remarks_by_severity", severities),
            ("remarks_by_kind", counts(&remarks.by_kind)),
            ("remarks_by_path", counts(&remarks.by_path)),
            ("skipped", json(n_skipped)),
            ("skipped_by_reason", counts(&remarks.skipped)),
            ("segments", json(status.n_segments)),
            ("detail_bytes", json(totals.detail_bytes)),
            ("detail_tokens", json(totals.detail_tokens)),
            ("store_bytes", json(status.store_bytes)),
        ]);
        print(&format!("{object}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let kinds: Vec<String> = Kind::ALL
        .into_iter()
        .filter(|&kind| totals.of_kind(kind) > 0)
        .map(|kind| format!("{} {}", kind.name(), totals.of_kind(kind)))
        .collect();
    let age = age.map_or_else(|| "never".to_owned(), |seconds| format!("{seconds} s ago"));
    let mut text = format!(
        "store       {}\ntree        {}\ngeneration  {}, indexed {age}\ncontent     {}\nfiles       {}\n\
         records     {} ({})\nphrases     {}\ndetail      {} bytes, {} tokens\n\
         size        {} bytes, {} segments\nremarks     {} errors, {} warnings on {} files\n",
        status.store.display(),
        root.display(),
        status.generation,
        status.fingerprint,
        totals.n_files,
        totals.n_records,
        kinds.join(", "),
        status.n_phrases,
        totals.detail_bytes,
        totals.detail_tokens,
        status.store_bytes,
        status.n_segments,
        remarks.n_errors,
        remarks.n_warnings,
        remarks.by_path.len(),
    );
    for (kind, n) in most(&remarks.by_kind) {
        push(&mut text, format_args!("{n:>10}  {kind}\n"));
    }
    push(&mut text, format_args!("skipped     {n_skipped}\n"));
    for (reason, n) in most(&remarks.skipped) {
        push(&mut text, format_args!("{n:>10}  {reason}\n"));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The counts that are largest, and of equal ones the first by name.
fn most(counts: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    let mut counts: Vec<(&str, u64)> = counts.iter().map(|(name, &n)| (name.as_str(), n)).collect();
    counts.sort_by_key(|&(name, n)| (std::cmp::Reverse(n), name));
    counts.truncate(KINDS_SHOWN);
    counts
}

fn counts(counts: &BTreeMap<String, u64>) -> String {
    let entries = counts.iter().map(|(name, &n)| format!("{}: {n}", json(name.as_str())));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// Prints how much room each table takes.
fn list_tables(engine: &Engine, as_json: bool) -> Done {
    let sizes = engine.table_sizes().map_err(|error| failure(error, engine.dir()))?;
    if as_json {
        let tables = list(sizes.iter().map(|size| {
            object([
                ("table", json(size.name)),
                ("rows", json(size.n_rows)),
                ("stored_bytes", json(size.stored_bytes)),
                ("overhead_bytes", json(size.overhead_bytes)),
            ])
        }));
        print(&format!("{}\n", object([("schema_version", json(1)), ("tables", tables)])))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("{:<10}{:>12}{:>16}{:>16}\n", "table", "rows", "bytes", "overhead");
    for size in &sizes {
        let TableSize { name, n_rows, stored_bytes, overhead_bytes } = size;
        push(
            &mut text,
            format_args!("{name:<10}{n_rows:>12}{stored_bytes:>16}{overhead_bytes:>16}\n"),
        );
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints every remark and everything that was passed over.
fn list_remarks(engine: &Engine, as_json: bool) -> Done {
    let (notes, skipped) = engine.remarks().map_err(|error| failure(error, engine.dir()))?;
    let mut text = String::new();
    if as_json {
        let remarks = list(notes.iter().map(note_json));
        let skipped = list(skipped.iter().map(|(path, reason)| {
            object([("path", json(path.as_str())), ("reason", json(reason.as_str()))])
        }));
        let object =
            object([("schema_version", json(1)), ("remarks", remarks), ("skipped", skipped)]);
        push(&mut text, format_args!("{object}\n"));
    } else {
        for note in &notes {
            push_note(&mut text, note);
        }
        for (path, reason) in &skipped {
            push(&mut text, format_args!("{path}: skipped: {reason}\n"));
        }
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
