//! `psos replay`: a run once more, from its journal alone.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use psos::clock::{Clock as _, SystemClock};
use psos::ledger::{Entry, Head, Ledger, RunId};
use psos::pipeline::{
    CostReport, Divergence, RecordedDelivery, RunJournal, Variation, WhatIf, cost, redact, strict,
    what_if,
};
use serde::Serialize;

use crate::cli::args::{ReplayArgs, ReplayMode};
use crate::cli::failure::Failure;
use crate::cli::output::{print, push, tell};
use crate::cli::pipeline::{entries_of, of_fold, of_ledger, open_ledger, open_model, read_task};
use crate::cli::{Done, NOTHING};

pub(crate) fn run(args: &ReplayArgs) -> Done {
    let of_what_if = args.model.is_some() || args.task.is_some() || args.scratch.is_some();
    if args.mode != ReplayMode::WhatIf && of_what_if {
        return Err(Failure::usage("--model, --task and --scratch are for --mode what-if"));
    }
    let ledger = open_ledger(&args.store)?;
    let entries = entries_of(&ledger, &args.run)?;
    match (args.mode, &args.model) {
        (ReplayMode::Cost, _) => {
            let report = cost(&entries).map_err(of_fold)?;
            print(&if args.json { to_json(&report) } else { text_of_cost(&report) })?;
            Ok(ExitCode::SUCCESS)
        }
        (ReplayMode::Strict, _) => of_strict(args, &entries),
        (ReplayMode::WhatIf, Some(card)) => of_what_if_mode(args, card, &entries),
        (ReplayMode::WhatIf, None) => Err(Failure::usage("--mode what-if needs --model")),
    }
}

/// What a strict replay found, as JSON has it.
#[derive(Debug, Serialize)]
struct StrictReport {
    schema_version: u32,
    run: String,
    entries: u64,
    divergence: Option<Divergence>,
}

fn of_strict(args: &ReplayArgs, entries: &[Entry]) -> Done {
    let found = strict(entries).map_err(of_fold)?;
    if args.json {
        let entries = entries.len() as u64;
        let run = args.run.clone();
        let object = StrictReport { schema_version: 1, run, entries, divergence: found.clone() };
        print(&to_json(&object))?;
    } else {
        print(&match &found {
            None => format!("all {} entries are what the rules make of them\n", entries.len()),
            Some(divergence) => format!(
                "entry {} is not what the rules make of those before it\nrecorded: {}\nexpected: {}\n",
                divergence.seq, divergence.recorded, divergence.expected
            ),
        })?;
    }
    Ok(if found.is_none() { ExitCode::SUCCESS } else { ExitCode::from(NOTHING) })
}

fn of_what_if_mode(args: &ReplayArgs, card: &Path, entries: &[Entry]) -> Done {
    let mut model = open_model(card)?;
    let task = args.task.as_deref().map(read_task).transpose()?;
    // The temporary folder lives until the end of this function.
    let temporary = tempfile::tempdir()?;
    let scratch = args.scratch.as_deref().unwrap_or(temporary.path());
    let ledger = Ledger::open(scratch, Duration::from_secs(10)).map_err(of_ledger)?;
    let name = format!("{}-{}", args.run, SystemClock.now().as_millis());
    let mut journal = RunJournal::new(&ledger, RunId::from_text(&name), Head::START);
    let mut delivery = RecordedDelivery::of(entries);
    let outcome = what_if(
        entries,
        Variation {
            model: model.as_mut(),
            task,
            settings: None,
            delivery: &mut delivery,
            clock: &SystemClock,
            journal: &mut journal,
        },
    )
    .map_err(|error| Failure::new(error.fault(), error))?;
    if args.scratch.is_some() {
        tell(&format!("the replay is run {name} in {}\n", ledger.path().display()));
    }
    print(&redact(&if args.json { to_json(&outcome) } else { text_of_what_if(&outcome) }))?;
    Ok(ExitCode::SUCCESS)
}

fn text_of_cost(report: &CostReport) -> String {
    let mut text = String::new();
    for call in &report.calls {
        let now = call.input_tokens.map_or_else(|| "none".to_owned(), |tokens| tokens.to_string());
        let same = if call.same { "same" } else { "changed" };
        push(
            &mut text,
            format_args!("{:<14} {now:>8} {:>8}  {same}\n", call.call, call.recorded_tokens),
        );
    }
    push(
        &mut text,
        format_args!(
            "{} calls, {} input tokens now, {} when it was recorded\n",
            report.calls.len(),
            report.input_tokens,
            report.recorded_tokens
        ),
    );
    text
}

fn text_of_what_if(outcome: &WhatIf) -> String {
    let mut text = String::new();
    for (name, brief) in [("recorded", outcome.recorded), ("replayed", outcome.replayed)] {
        let verdict = brief.verdict.map_or("unfinished", |verdict| verdict.name());
        push(
            &mut text,
            format_args!(
                "{name}: {verdict}, {} calls, {} input tokens, {} verified findings\n",
                brief.calls, brief.input_tokens, brief.verified
            ),
        );
    }
    push(&mut text, format_args!("{:.1} times fewer input tokens\n", outcome.times_fewer));
    for missing in &outcome.missing {
        push(&mut text, format_args!("not in the journal: {missing}\n"));
    }
    push(&mut text, format_args!("\n{}", outcome.report.to_text()));
    text
}

/// Values of ours are always JSON.
fn to_json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}
