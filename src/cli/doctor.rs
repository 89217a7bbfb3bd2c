//! `psos doctor`: what is wrong with a store, and putting it right.

use std::process::ExitCode;
use std::time::Duration;

use psos::engine::{Engine, Finding};
use psos::fault::Fault;

use crate::cli::Done;
use crate::cli::args::DoctorArgs;
use crate::cli::failure::Failure;
use crate::cli::output::{failure, json, list, object, print, push, store_dir};

/// How long a repair waits for another writer.
const WAIT: Duration = Duration::from_secs(30);

pub(crate) fn run(args: &DoctorArgs) -> Done {
    let dir = store_dir(&args.store)?;
    let findings =
        Engine::doctor(&dir, args.fix.then_some(WAIT)).map_err(|error| failure(error, &dir))?;
    let n_left = findings.iter().filter(|finding| !finding.repaired).count();
    if args.json {
        let all = list(findings.iter().map(|finding| {
            object([
                ("ailment", json(finding.ailment.name())),
                ("what", json(finding.what.as_str())),
                ("help", json(finding.help.as_str())),
                ("repairable", json(finding.ailment.is_repairable())),
                ("repaired", json(finding.repaired)),
            ])
        }));
        let object = object([
            ("schema_version", json(1)),
            ("store", json(dir.display().to_string())),
            ("healthy", json(n_left == 0)),
            ("findings", all),
        ]);
        print(&format!("{object}\n"))?;
    } else {
        print(&text(&findings))?;
    }
    if n_left == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let failure =
        Failure::new(Fault::Data, anyhow::anyhow!("{n_left} things are wrong with the store"));
    let repairable = |finding: &Finding| !finding.repaired && finding.ailment.is_repairable();
    let hint = if findings.iter().any(repairable) {
        "`psos doctor --fix` puts right what needs no person, and keeps every record".to_owned()
    } else {
        format!("if nothing else helps, move {} away and run `psos index TREE`", dir.display())
    };
    Err(failure.hint(hint))
}

fn text(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "nothing is wrong with the store\n".to_owned();
    }
    let mut text = String::new();
    for finding in findings {
        let state = if finding.repaired { "repaired" } else { "found" };
        push(&mut text, format_args!("{state} {}: {}\n", finding.ailment.name(), finding.what));
        if !finding.help.is_empty() {
            push(&mut text, format_args!("    {}\n", finding.help));
        }
    }
    text
}
