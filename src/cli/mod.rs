//! The command line: parse, run one command, write its answer. Sees only the public API.

mod args;
mod doctor;
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
mod watch;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use failure::Failure;

/// Runs the command that the arguments of this process name.
pub(crate) fn run() -> ExitCode {
    keep_quiet_about_what_is_caught();
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
        Command::Doctor(args) => doctor::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Run(args) => pipeline::run::run(&args),
        Command::Storyboard(args) => pipeline::storyboard::run(&args),
        Command::Replay(args) => pipeline::replay::run(&args),
        Command::Report(args) => pipeline::report::run(&args),
    };
    done.unwrap_or_else(|failure| failure.report())
}

/// The database and the search library may panic on bytes that something else wrote. The store and the lexical
/// index turn that into errors that say what to do; here the message before that is left out.
fn keep_quiet_about_what_is_caught() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let of = |library: &str| {
            panic.location().is_some_and(|place| {
                place.file().split(['/', '\\']).any(|part| part.starts_with(library))
            })
        };
        if !["redb-", "tantivy-"].into_iter().any(of) {
            usual(panic);
        }
    }));
}

/// What a command that did its work tells a script.
type Done = Result<ExitCode, Failure>;

/// Nothing was found, or a gate refused.
const NOTHING: u8 = 1;
