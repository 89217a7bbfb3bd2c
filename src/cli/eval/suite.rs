//! A suite: a tree in each of its forms, and files of questions about it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use psos::engine::{EngineRetriever, Settings};
use psos::eval::leak::{Phrase, audit};
use psos::eval::report::group_name;
use psos::eval::{
    self, Answered, Contender, Costs, EvalError, Form, Judged, Outcome, Questions, Report,
    Retriever as _, Role, Suite, trec,
};
use psos::reader::Tiers;
use psos::text;

use crate::cli::Done;
use crate::cli::args::EvalArgs;
use crate::cli::eval::gate::{self, Results};
use crate::cli::eval::rivals::{self, Files, Record};
use crate::cli::eval::{Bar, Temporary, ask, features, of_eval, settings, sweep, write};
use crate::cli::failure::Failure;

/// A tree as it was indexed in one form.
struct Indexed {
    form: Form,
    store: Temporary,
    records: Vec<Record>,
}

pub(super) fn run(args: &EvalArgs, path: &Path) -> Done {
    let mut suite = eval::load::suite(path).map_err(of_eval)?;
    choose(args, &mut suite)?;
    let splits = eval::load::splits(&suite, path, &Role::ALL).map_err(of_eval)?;
    let (splits, problems) = splits.accept().map_err(of_eval)?;
    let tree = path.parent().unwrap_or(Path::new("")).join(&suite.tree);
    let forms = suite
        .forms
        .iter()
        .map(|&form| Indexed::new(form, &tree))
        .collect::<Result<Vec<Indexed>, Failure>>()?;
    for form in &forms {
        form.check_gold(&splits)?;
    }
    let settings = settings(args, "");
    if let Some(file) = &args.features {
        for form in &forms {
            let judged: Vec<Judged> =
                splits.iter().flat_map(|split| split.judged.iter().cloned()).collect();
            let table = features::table(&form.store.engine, &judged, &settings)?;
            write(&of_form(file, form.form), &table)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut report =
        Report::new(&suite.name, "psos", env!("CARGO_PKG_VERSION"), suite.budget_tokens);
    report.note(&problems);
    let authored = forms.iter().find(|form| form.form == Form::Authored).or(forms.first());
    if let Some(form) = authored {
        report.shared_runs = form.audit(&splits)?;
    }
    report.sweep = (!args.sweep.is_empty()).then(|| eval::Sweep::over(&args.sweep));
    let mut results = Results {
        run: trec::Run { tag: "psos".to_owned(), ..trec::Run::default() },
        groups_at_rank1: groups_at_rank1(authored, &splits),
    };
    let n_questions: usize = splits.iter().map(|split| split.judged.len()).sum();
    let bar = Bar::over(n_questions * forms.len());
    for (at, form) in forms.iter().enumerate() {
        let measured = Measured { suite: &suite, form, settings: &settings, tree: &tree };
        let run = measured.add_to(&mut report, &splits, &bar)?;
        if at == 0 {
            results.run.hits = run;
        }
    }
    bar.0.finish_and_clear();
    gate::finish(args, report, &results)
}

/// Leaves of a suite what the arguments ask for.
fn choose(args: &EvalArgs, suite: &mut Suite) -> Result<(), Failure> {
    let known: Vec<&str> = suite.splits.iter().map(|split| split.name.as_str()).collect();
    if let Some(name) = args.splits.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::usage(format!("the suite has no split `{name}`"))
            .hint(format!("its splits are {}", known.join(", "))));
    }
    if !args.splits.is_empty() {
        suite.splits.retain(|split| args.splits.contains(&split.name));
    }
    let asked: Vec<Form> = args.forms.iter().map(|&form| form.into()).collect();
    if let Some(form) = asked.iter().find(|form| !suite.forms.contains(form)) {
        return Err(Failure::usage(format!("the suite has no form `{}`", form.name())));
    }
    if !asked.is_empty() {
        suite.forms.retain(|form| asked.contains(form));
    }
    if args.features.is_some() {
        // Weights are fitted on questions to tune on and on no others.
        suite.splits.retain(|split| split.role == Role::Tune);
        if suite.splits.is_empty() {
            return Err(Failure::usage("there is no split of role `tune` to write features of"));
        }
    }
    if let Some(budget_tokens) = args.budget {
        suite.budget_tokens = budget_tokens;
    }
    Ok(())
}

/// `tune.tsv` and the form `derived` are `tune.derived.tsv`.
fn of_form(file: &Path, form: Form) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{}", form.name()));
    if let Some(extension) = file.extension() {
        name.push(".");
        name.push(extension);
    }
    file.with_file_name(name)
}

/// The groups of held-out questions: in the authored form, if there is one.
fn groups_at_rank1(form: Option<&Indexed>, splits: &[Questions]) -> Vec<String> {
    let Some(form) = form else { return Vec::new() };
    let held_out = splits.iter().filter(|split| split.split.role == Role::Heldout);
    let names: BTreeSet<String> = held_out
        .flat_map(|split| split.judged.iter().map(move |judged| (split, judged)))
        .filter(|(_, judged)| !judged.is_negative())
        .map(|(split, judged)| group_name(form.form.name(), &split.split.name, &judged.level))
        .collect();
    names.into_iter().collect()
}

impl Indexed {
    fn new(form: Form, tree: &Path) -> Result<Self, Failure> {
        let tiers = match form {
            Form::Authored => Tiers::Authored,
            Form::Derived => Tiers::Derived,
        };
        let store = Temporary::index(tree, tiers, tempfile::tempdir()?)?;
        let records = rivals::contents(&store.engine, "")?;
        Ok(Self { form, store, records })
    }

    /// Refuses questions whose right record the tree does not have.
    fn check_gold(&self, splits: &[Questions]) -> Result<(), Failure> {
        let corpus: BTreeSet<String> =
            self.records.iter().map(|record| record.id.clone()).collect();
        let problems: Vec<_> =
            splits.iter().flat_map(|split| split.unknown_gold(&corpus)).collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(of_eval(EvalError::Refused { problems }))
    }

    /// Refuses held-out questions that stand in a trigger, and returns the pieces that do.
    fn audit(&self, splits: &[Questions]) -> Result<Vec<eval::leak::SharedRun>, Failure> {
        let phrases: Vec<Phrase<'_>> = self
            .records
            .iter()
            .flat_map(|record| {
                record.content.triggers.iter().map(|text| Phrase { owner: &record.id, text })
            })
            .collect();
        audit(splits, &phrases).accept().map_err(of_eval)
    }
}

/// What is measured of one form.
struct Measured<'a> {
    suite: &'a Suite,
    form: &'a Indexed,
    settings: &'a Settings,
    tree: &'a Path,
}

impl Measured<'_> {
    /// Asks everything, adds the numbers, and returns the rankings.
    fn add_to(
        &self,
        report: &mut Report,
        splits: &[Questions],
        bar: &Bar,
    ) -> Result<BTreeMap<String, Vec<eval::Scored>>, Failure> {
        let (engine, name) = (&self.form.store.engine, self.form.form.name());
        let mut retriever = EngineRetriever::new(engine, self.settings.clone());
        report.indexes.extend(retriever.digest().map(|digest| (name.to_owned(), digest)));
        let (costs, files) = self.costs()?;
        let mut rankings = BTreeMap::new();
        for Questions { split, judged, .. } in splits {
            let outcomes: Vec<Outcome> = ask(engine, self.settings.clone(), judged, bar)?;
            report.add(&Answered {
                form: name,
                split: &split.name,
                judged,
                outcomes: &outcomes,
                costs: Some(&costs),
                token_baselines: &self.suite.token_baselines,
            });
            let place = (name, split.name.as_str());
            let mut others = Contender::of("psos", name, &split.name, judged, &outcomes);
            others.extend(rivals::others(engine, &self.form.records, &files, place, judged)?);
            report.others.extend(by_group(others));
            let tiers = rivals::tiers(engine, self.settings, place, judged)?;
            report.tiers.extend(by_group(tiers));
            let has_answers = judged.iter().any(|judged| !judged.is_negative());
            if split.role.is_held_out() && has_answers && !self.suite.curve_tokens.is_empty() {
                let group = group_name(name, &split.name, "");
                let budgets = &self.suite.curve_tokens;
                let curve =
                    eval::curve(&mut retriever, &group, judged, budgets).map_err(of_eval)?;
                report.curves.push(curve);
            }
            if let Some(found) = &mut report.sweep {
                sweep::sweep(engine, self.settings, judged, name, found)?;
            }
            rankings.extend(eval::to_run("psos", judged, &outcomes).hits);
        }
        Ok(rankings)
    }

    /// Counts what files and descriptions cost.
    fn costs(&self) -> Result<(Costs, Files), Failure> {
        let records = &self.form.records;
        let file_of: BTreeMap<String, String> =
            records.iter().map(|record| (record.id.clone(), record.content.path.clone())).collect();
        let paths: BTreeSet<&String> = file_of.values().collect();
        let mut texts = BTreeMap::new();
        for path in paths {
            let file = self.tree.join(path);
            let bytes = std::fs::read(&file)
                .map_err(|source| of_eval(EvalError::Unreadable { path: file, source }))?;
            texts.insert(path.clone(), String::from_utf8_lossy(&bytes).into_owned());
        }
        let file_tokens: BTreeMap<String, u32> =
            texts.iter().map(|(path, text)| (path.clone(), text::count(text))).collect();
        let costs = Costs {
            file_of: file_of.clone(),
            file_tokens: file_tokens.clone(),
            description_list_tokens: records
                .iter()
                .fold(0, |sum, record| sum.saturating_add(record.content.description_tokens)),
        };
        Ok((costs, Files::new(texts, file_tokens, file_of)))
    }
}

/// Brings the rows of one group together, in the order in which the groups come first.
fn by_group(mut contenders: Vec<Contender>) -> Vec<Contender> {
    let mut order: Vec<String> = Vec::new();
    for contender in &contenders {
        if !order.contains(&contender.group) {
            order.push(contender.group.clone());
        }
    }
    contenders.sort_by_key(|one| order.iter().position(|group| *group == one.group));
    contenders
}
