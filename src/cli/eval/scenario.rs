//! A suite of scenarios: what the pipeline does beside what it should.

use std::path::Path;
use std::process::ExitCode;

use psos::pipeline::model::Model;
use psos::pipeline::scenario::{self, Callsites, ScenarioSuite, SuiteError, SuiteReport, Workshop};

use crate::cli::args::EvalArgs;
use crate::cli::failure::Failure;
use crate::cli::output::{print, tell};
use crate::cli::pipeline::{environment, open_model};
use crate::cli::{Done, NOTHING};

/// Questions that a real model is asked at most.
const MAX_QUESTIONS: usize = 1_000;
/// Of how many questions every candidate is put to the model as well.
const N_BY_MODEL: usize = 10;

/// The text of a suite file, if it is one of scenarios. What cannot be read is for the other kind to report.
pub(super) fn read(suite: &Path) -> Option<String> {
    std::fs::read_to_string(suite).ok().filter(|text| ScenarioSuite::is_one(text))
}

pub(super) fn run(args: &EvalArgs, file: &Path, text: &str) -> Done {
    reject_retrieval(args)?;
    let of_suite = |error: SuiteError| {
        let fault = error.fault();
        Failure::new(fault, anyhow::Error::new(error).context(file.display().to_string()))
    };
    let suite = ScenarioSuite::parse(text).map_err(of_suite)?;
    let environment = environment();
    let mut model = args.model.as_deref().map(open_model).transpose()?;
    let mut silent = args.silent_model.as_deref().map(open_model).transpose()?;
    let mut outcomes = Vec::new();
    for scenario in &suite.scenarios {
        tell(&format!("{} ...\n", scenario.name));
        let folder = tempfile::tempdir()?;
        let callsites = match (&args.data, &mut model) {
            (Some(data), Some(model)) => Some(Callsites {
                data,
                model: model.as_mut(),
                silent: silent.as_mut().map(|silent| silent.as_mut() as &mut dyn Model),
                max_questions: MAX_QUESTIONS,
                n_by_model: N_BY_MODEL,
            }),
            _ => None,
        };
        let workshop = Workshop { folder: folder.path(), environment: &environment, callsites };
        outcomes.push(scenario::run(&scenario.name, workshop).map_err(of_suite)?);
    }
    let report = SuiteReport::of(&suite.name, outcomes);
    print(&if args.json { report.to_json() } else { report.to_text() })?;
    Ok(if report.reached { ExitCode::SUCCESS } else { ExitCode::from(NOTHING) })
}

/// Scenarios ask nothing of a tree, so what is about that has no meaning beside them.
fn reject_retrieval(args: &EvalArgs) -> Result<(), Failure> {
    let asked = [
        ("--splits", !args.splits.is_empty()),
        ("--forms", !args.forms.is_empty()),
        ("--report", args.report.is_some()),
        ("--run-out", args.run_out.is_some()),
        ("--baseline", args.baseline.is_some()),
        ("--write-baseline", args.write_baseline.is_some()),
        ("--compare", args.compare.is_some()),
        ("--min-rank1", args.min_rank1.is_some()),
        ("--sweep", !args.sweep.is_empty()),
        ("--features", args.features.is_some()),
        ("--budget", args.budget.is_some()),
        ("--tier", args.tier.is_some()),
    ];
    match asked.into_iter().find(|(_, is_asked)| *is_asked) {
        Some((flag, _)) => Err(Failure::usage(format!(
            "a suite of scenarios asks no questions of a tree, so {flag} has no meaning with it"
        ))),
        None => Ok(()),
    }
}
