//! `psos report`: what came of runs.

use std::process::ExitCode;

use psos::fault::Fault;
use psos::ledger::{Ledger, to_json_lines};
use psos::pipeline::{Account, RunReport, State, Tables, to_otel};

use crate::cli::args::{ExportFormat, ReportArgs};
use crate::cli::failure::Failure;
use crate::cli::output::{print, tell};
use crate::cli::pipeline::{entries_of, of_fold, of_ledger, open_ledger};
use crate::cli::{Done, NOTHING};

pub(crate) fn run(args: &ReportArgs) -> Done {
    let ledger = open_ledger(&args.store)?;
    match &args.run {
        Some(run) => one(args, &ledger, run),
        None => all(args, &ledger),
    }
}

fn one(args: &ReportArgs, ledger: &Ledger, run: &str) -> Done {
    let entries = entries_of(ledger, run)?;
    let text = match args.export {
        Some(ExportFormat::Jsonl) => to_json_lines(&entries),
        Some(ExportFormat::Otel) => format!("{}\n", to_otel(&entries).map_err(of_fold)?),
        None => {
            let report = RunReport::of(&State::fold(&entries).map_err(of_fold)?);
            if args.json { report.to_json() } else { report.to_text() }
        }
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn all(args: &ReportArgs, ledger: &Ledger) -> Done {
    let mut states = Vec::new();
    let mut n_damaged = 0_usize;
    for run in ledger.runs().map_err(of_ledger)? {
        let entries = match ledger.entries(&run) {
            Ok(entries) => entries,
            // One damaged journal does not hide the others.
            Err(error) if error.fault() == Fault::Data => {
                tell(&format!("{error}\n"));
                n_damaged += 1;
                continue;
            }
            Err(error) => return Err(of_ledger(error)),
        };
        match State::fold(&entries) {
            Ok(state) => states.push(state),
            Err(error) => {
                tell(&format!("{run}: {error}\n"));
                n_damaged += 1;
            }
        }
    }
    let account = Account::of(&states);
    let tables = if args.no_tables { Tables::No } else { Tables::Yes };
    print(&if args.json { account.to_json() } else { account.to_text(tables) })?;
    if n_damaged > 0 {
        let error =
            anyhow::anyhow!("{n_damaged} runs cannot be read and are not part of the report");
        return Err(Failure::new(Fault::Data, error));
    }
    Ok(if states.is_empty() { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS })
}
