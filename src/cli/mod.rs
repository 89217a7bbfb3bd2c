//! The command line: parse, run one command, write its answer. Sees only the public API.

mod args;
mod eval;
mod failure;
mod get;
mod index;
mod ls;
mod output;
mod pipeline;
mod recall;
mod show_records;
mod status;
mod verify;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use failure::Failure;

/// Runs the command that the arguments of this process name.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers; everything else is a usage error. A closed pipe is quiet.
            let code = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let done = match cli.command {
        Command::Index(args) => index::run(&args),
        Command::Recall(args) => recall::run(&args),
        Command::Get(args) => get::run(&args),
        Command::Ls(args) => ls::run(&args),
        Command::ShowRecords(args) => show_records::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Run(args) => pipeline::run::run(&args),
        Command::Replay(args) => pipeline::replay::run(&args),
        Command::Report(args) => pipeline::report::run(&args),
    };
    done.unwrap_or_else(|failure| failure.report())
}

/// What a command that did its work tells a script.
type Done = Result<ExitCode, Failure>;

/// Nothing was found, or a gate refused.
const NOTHING: u8 = 1;
