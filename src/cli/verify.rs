//! `psos verify`: a store against itself.

use std::process::ExitCode;

use psos::fault::Fault;

use crate::cli::Done;
use crate::cli::args::VerifyArgs;
use crate::cli::failure::Failure;
use crate::cli::output::{failure, open, print, push};

/// How many problems are named before they are only counted.
const PROBLEMS_SHOWN: usize = 50;

pub(crate) fn run(args: &VerifyArgs) -> Done {
    let engine = open(&args.store)?;
    if args.dump {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        engine.dump(&mut out).map_err(|error| failure(error, engine.dir()))?;
        std::io::Write::flush(&mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let wrong = |error| failure(error, engine.dir());
    let mut problems = engine.verify().map_err(wrong)?;
    if args.deep {
        let options = crate::cli::index::default_options().reader;
        problems.extend(engine.verify_sources(&options).map_err(wrong)?);
    }
    if problems.is_empty() {
        print(if args.deep {
            "the store agrees with itself and with its sources\n"
        } else {
            "the store agrees with itself\n"
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for problem in problems.iter().take(PROBLEMS_SHOWN) {
        push(&mut text, format_args!("{problem}\n"));
    }
    print(&text)?;
    let what = if args.deep { "itself or its sources" } else { "itself" };
    Err(Failure::new(
        Fault::Data,
        anyhow::anyhow!("the store contradicts {what} in {} places", problems.len()),
    )
    .hint(format!(
        "`psos doctor --fix` repairs what is derived; else move {} away and run `psos index TREE` to build \
         it anew",
        engine.dir().display()
    )))
}
