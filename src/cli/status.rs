//! `psos status`: what a store holds.

use std::process::ExitCode;

use psos::clock::{Clock as _, SystemClock};
use psos::record::{Kind, Tier};

use crate::cli::Done;
use crate::cli::args::StatusArgs;
use crate::cli::output::{by_kind, by_origin, failure, json, object, open, print};

pub(crate) fn run(args: &StatusArgs) -> Done {
    let engine = open(&args.store)?;
    let status = engine.status().map_err(|error| failure(error, engine.dir()))?;
    let totals = &status.totals;
    // As a person would write it; a tree that is gone keeps the path that the store has.
    let root = status.root.canonicalize().unwrap_or_else(|_| status.root.clone());
    let age = status.indexed_at.map(|at| SystemClock.now().saturating_sub(at).as_secs());
    if args.json {
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
            ("remarks", json(status.n_notes)),
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
    print(&format!(
        "store       {}\ntree        {}\ngeneration  {}, indexed {age}\ncontent     {}\nfiles       {}\n\
         records     {} ({})\nphrases     {}\nremarks     {}\ndetail      {} bytes, {} tokens\n\
         size        {} bytes, {} segments\n",
        status.store.display(),
        root.display(),
        status.generation,
        status.fingerprint,
        totals.n_files,
        totals.n_records,
        kinds.join(", "),
        status.n_phrases,
        status.n_notes,
        totals.detail_bytes,
        totals.detail_tokens,
        status.store_bytes,
        status.n_segments,
    ))?;
    Ok(ExitCode::SUCCESS)
}
