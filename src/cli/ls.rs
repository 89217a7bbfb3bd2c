//! `psos ls`: the records of a store.

use std::process::ExitCode;

use crate::cli::args::LsArgs;
use crate::cli::output::{failure, ids, json, list, object, open, print, push};
use crate::cli::{Done, NOTHING};

pub(crate) fn run(args: &LsArgs) -> Done {
    let engine = open(&args.store)?;
    let in_store = |error| failure(error, engine.dir());
    let mut n = 0_u64;
    let mut text = String::new();
    let filter = args.scope.to_filter().map_err(|error| in_store(error.into()))?;
    for entry in engine.list(&filter).map_err(in_store)? {
        n += 1;
        if args.json {
            let object = object([
                ("id", json(entry.id.as_str())),
                ("path", json(entry.path)),
                ("lines", list([json(entry.lines.first), json(entry.lines.last)])),
                ("kind", json(entry.kind.name())),
                ("title", json(entry.title)),
                ("description", json(entry.description)),
                ("detail_tokens", json(entry.detail_tokens)),
                ("children", ids(&entry.children)),
            ]);
            push(&mut text, format_args!("{object}\n"));
        } else {
            push(&mut text, format_args!("{}\t{}\n", entry.id, entry.description));
        }
    }
    print(&text)?;
    Ok(if n == 0 { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS })
}
