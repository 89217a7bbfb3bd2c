//! `psos eval`: recall, measured on questions with known answers.

mod beir;
mod features;
mod gate;
mod rivals;
mod scenario;
mod suite;
mod sweep;

use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use psos::clock::SystemClock;
use psos::engine::{Engine, EngineRetriever, Settings};
use psos::eval::{self, EvalError, Judged, ListLimits, Outcome, Report};
use psos::fault::Fault;
use psos::ingest::NoProgress;
use psos::reader::{self, Tiers};
use psos::recall::{Floor, Wish};
use psos::record::Tier;
use tempfile::TempDir;

use crate::cli::Done;
use crate::cli::args::{EvalArgs, TierName};
use crate::cli::failure::Failure;
use crate::cli::index::default_options;
use crate::cli::output::{failure, tell};

/// How many problems and shared pieces of questions a text shows.
const PROBLEMS_SHOWN: usize = 20;

pub(crate) fn run(args: &EvalArgs) -> Done {
    if args.features.is_some() {
        reject_judging(args)?;
    }
    if matches!(args.tier, Some(TierName::Trigger)) {
        return Err(Failure::usage("triggers select records and are never shown as an answer")
            .hint("--tier takes description, summary or detail"));
    }
    match (&args.beir, &args.suite) {
        (Some(dir), _) => beir::run(args, dir),
        (None, Some(suite)) => match scenario::read(suite) {
            Some(text) => scenario::run(args, suite, &text),
            None => suite::run(args, suite),
        },
        (None, None) => Err(Failure::usage("name a suite file, or a folder with --beir")),
    }
}

/// Nothing is judged when features are written, so nothing can be said of it.
fn reject_judging(args: &EvalArgs) -> Result<(), Failure> {
    let asked = [
        ("--json", args.json),
        ("--report", args.report.is_some()),
        ("--run-out", args.run_out.is_some()),
        ("--baseline", args.baseline.is_some()),
        ("--write-baseline", args.write_baseline.is_some()),
        ("--compare", args.compare.is_some()),
        ("--min-rank1", args.min_rank1.is_some()),
        ("--sweep", !args.sweep.is_empty()),
    ];
    match asked.into_iter().find(|(_, is_asked)| *is_asked) {
        Some((flag, _)) => Err(Failure::usage(format!(
            "--features judges nothing, so {flag} has no meaning beside it"
        ))),
        None => Ok(()),
    }
}

/// A store that lives as long as an evaluation.
struct Temporary {
    engine: Engine,
    _folder: TempDir,
}

impl Temporary {
    /// Indexes a tree, which is left as it is.
    fn index(tree: &Path, tiers: Tiers, folder: TempDir) -> Result<Self, Failure> {
        let store = folder.path().join("store");
        let options = psos::ingest::IndexOptions {
            reader: reader::Options { tiers, ..default_options().reader },
            ..default_options()
        };
        Engine::index(tree, &store, &options, &SystemClock, &NoProgress)
            .map_err(|error| failure(error, &store))?;
        let engine = Engine::open(&store).map_err(|error| failure(error, &store))?;
        Ok(Self { engine, _folder: folder })
    }
}

fn settings(args: &EvalArgs, id_prefix: &str) -> Settings {
    Settings {
        n_records: args.n,
        wish: args.tier.map_or(Wish::FirstDeep, |tier| Wish::Every(tier.into())),
        floor: Floor::Refuse,
        depth: Tier::Detail,
        id_prefix: id_prefix.to_owned(),
    }
}

/// Asks psos every question, and why the misses are ones.
fn ask(
    engine: &Engine,
    settings: Settings,
    judged: &[Judged],
    bar: &Bar,
) -> Result<Vec<Outcome>, Failure> {
    let mut retriever = EngineRetriever::new(engine, settings);
    let mut outcomes =
        eval::run(&mut retriever, judged, &SystemClock, &mut || bar.0.inc(1)).map_err(of_eval)?;
    eval::explain_misses(&retriever, judged, &mut outcomes).map_err(of_eval)?;
    Ok(outcomes)
}

/// A progress bar on a terminal's stderr, nothing elsewhere.
struct Bar(ProgressBar);

impl Bar {
    fn over(n_questions: usize) -> Self {
        let bar = ProgressBar::with_draw_target(
            u64::try_from(n_questions).ok(),
            ProgressDrawTarget::stderr(),
        );
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} questions") {
            bar.set_style(style);
        }
        Self(bar)
    }
}

fn text_of(report: &Report, args: &EvalArgs) -> String {
    if args.json {
        return report.to_json();
    }
    report.to_text(ListLimits { n_misses: args.misses, n_problems: PROBLEMS_SHOWN })
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| {
        Failure::new(
            Fault::Environment,
            anyhow::Error::new(error).context(format!("cannot write {}", file.display())),
        )
    })
}

/// An error of the harness; of several problems, each has its line.
fn of_eval(error: EvalError) -> Failure {
    if let EvalError::Refused { problems } = &error {
        for problem in problems.iter().skip(1).take(PROBLEMS_SHOWN) {
            tell(&format!("{problem}\n"));
        }
    }
    Failure::new(error.fault(), error)
}
