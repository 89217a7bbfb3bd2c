//! A set in BEIR layout: one corpus, one group of questions.

use std::collections::BTreeSet;
use std::path::Path;

use psos::clock::SystemClock;
use psos::engine::EngineRetriever;
use psos::eval::beir::{Beir, Document};
use psos::eval::{self, Answered, Contender, Evidence, Report, Retriever as _};
use psos::reader::Tiers;

use crate::cli::Done;
use crate::cli::args::EvalArgs;
use crate::cli::eval::gate::{self, Results};
use crate::cli::eval::rivals::Record;
use crate::cli::eval::{Bar, Temporary, ask, features, of_eval, rivals, settings, sweep, write};
use crate::cli::failure::Failure;
use crate::cli::output::tell;

/// The corpus as the one file of a tree.
const CORPUS: &str = "corpus.jsonl";
/// What an answer may cost when nobody says otherwise.
const BUDGET_TOKENS: u32 = 1_200;

pub(super) fn run(args: &EvalArgs, dir: &Path) -> Done {
    let budget_tokens = args.budget.unwrap_or(BUDGET_TOKENS);
    let set = eval::load::beir(dir, args.qrels.as_deref(), budget_tokens).map_err(of_eval)?;
    let (Beir { judged, documents }, problems) = set.accept().map_err(of_eval)?;
    let store = index_corpus(dir)?;
    let engine = &store.engine;
    let settings = settings(args, &format!("{CORPUS}#"));
    if let Some(file) = &args.features {
        write(file, &features::table(engine, &judged, &settings)?)?;
        return Ok(std::process::ExitCode::SUCCESS);
    }
    let bar = Bar::over(judged.len());
    let outcomes = ask(engine, settings.clone(), &judged, &bar)?;
    bar.0.finish_and_clear();
    let name = dir.file_name().map_or_else(|| "beir".into(), |name| name.to_string_lossy());
    let mut report = Report::new(&name, "psos", env!("CARGO_PKG_VERSION"), budget_tokens);
    report.note(&problems);
    let digest = EngineRetriever::new(engine, settings.clone()).digest();
    report.indexes.extend(digest.map(|digest| (String::new(), digest)));
    report.add(&Answered {
        form: "",
        split: &name,
        judged: &judged,
        outcomes: &outcomes,
        costs: None,
        token_baselines: &[],
    });
    report.others.extend(Contender::of("psos", "", &name, &judged, &outcomes));
    report.evidence.push(Evidence::of("psos", &judged, &outcomes));
    let contents = rivals::contents(engine, &settings.id_prefix)?;
    tell_missing(&documents, &contents);
    for mut packed in rivals::packed(&contents, args.n) {
        let answers = eval::run(&mut packed, &judged, &SystemClock, &mut || {}).map_err(of_eval)?;
        report.others.extend(Contender::of(packed.name(), "", &name, &judged, &answers));
        report.evidence.push(Evidence::of(packed.name(), &judged, &answers));
    }
    if !args.sweep.is_empty() {
        let mut found = eval::Sweep::over(&args.sweep);
        sweep::sweep(engine, &settings, &judged, "", &mut found)?;
        report.sweep = Some(found);
    }
    let groups = report.groups.iter().map(|group| group.name.clone()).collect();
    let run = eval::to_run("psos", &judged, &outcomes);
    gate::finish(args, report, &Results { run, groups_at_rank1: groups })
}

/// Indexes the records of a set, as they are, as one file of rows.
fn index_corpus(dir: &Path) -> Result<Temporary, Failure> {
    let folder = tempfile::tempdir()?;
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree)?;
    std::fs::copy(dir.join(CORPUS), tree.join(CORPUS))?;
    Temporary::index(&tree, Tiers::Authored, folder)
}

/// Says how many records of the corpus no question can find, since they are not in the index.
fn tell_missing(documents: &[Document], records: &[Record]) {
    let indexed: BTreeSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
    let missing: Vec<&str> =
        documents.iter().map(|d| d.id.as_str()).filter(|id| !indexed.contains(id)).collect();
    if let Some(first) = missing.first() {
        let n = missing.len();
        tell(&format!("{n} records of the corpus are not in the index, the first is `{first}`\n"));
    }
}
