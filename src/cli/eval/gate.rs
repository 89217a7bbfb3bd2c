//! What happens to a finished report: it is compared, judged by the gates, written and printed.

use std::path::Path;
use std::process::ExitCode;

use psos::eval::baseline::{Baseline, Tolerances};
use psos::eval::compare::{Comparison, compare};
use psos::eval::report::Share;
use psos::eval::{Report, metric, trec};
use psos::fault::Fault;

use crate::cli::args::EvalArgs;
use crate::cli::eval::{of_eval, text_of, write};
use crate::cli::failure::Failure;
use crate::cli::output::{print, tell};
use crate::cli::{Done, NOTHING};

/// The measure that comparisons are about.
const COMPARED: &str = "Success@1";
/// How much a number may be worse than in a baseline that was just written: measures not at all, since
/// equal trees give equal answers; token counts by one in fifty. The file says so and can be edited.
const TOLERANCES: Tolerances = Tolerances { measure: 0.0, tokens: 0.02 };

/// What an evaluation has beside its report.
pub(super) struct Results {
    /// The rankings.
    pub(super) run: trec::Run,
    /// The names of the groups that `--min-rank1` is about.
    pub(super) groups_at_rank1: Vec<String>,
}

/// Writes and prints a report; the exit code tells whether a gate refuses it.
pub(super) fn finish(args: &EvalArgs, mut report: Report, results: &Results) -> Done {
    if let Some(file) = &args.run_out {
        write(file, &trec::write_run(&results.run).map_err(of_eval)?)?;
    }
    if let Some(file) = &args.compare {
        let other = psos::eval::load::report(file).map_err(of_eval)?;
        report.comparison = Some(compare(&other, &report, COMPARED, args.seed).map_err(of_eval)?);
    }
    let mut refusals = Vec::new();
    if let Some(file) = &args.baseline {
        refusals.extend(by_baseline(args, file, &mut report)?);
    }
    if let Some(min) = args.min_rank1 {
        refusals.extend(by_rank1(&report, &results.groups_at_rank1, min)?);
    }
    if let Some(sweep) = report.sweep.as_ref().filter(|sweep| sweep.n_faults() > 0) {
        refusals.push(format!("{} answers do not keep to their budget", sweep.n_faults()));
    }
    report.refusals = refusals;
    if let Some(file) = &args.write_baseline {
        write(file, &Baseline::of(&report, TOLERANCES).to_json())?;
    }
    if let Some(file) = &args.report {
        write(file, &report.to_html())?;
    }
    print(&text_of(&report, args))?;
    for refusal in &report.refusals {
        tell(&format!("refused: {refusal}\n"));
    }
    Ok(if report.refusals.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(NOTHING) })
}

/// Judges a report by a baseline file, or by another report, which it must not be worse than beyond
/// chance.
fn by_baseline(args: &EvalArgs, file: &Path, report: &mut Report) -> Result<Vec<String>, Failure> {
    let bytes = std::fs::read(file).map_err(|source| {
        of_eval(psos::eval::EvalError::Unreadable { path: file.to_owned(), source })
    })?;
    let name = file.display().to_string();
    let is_report = serde_json::from_slice::<serde_json::Value>(&bytes)
        .is_ok_and(|value| value.get("retriever").is_some());
    if !is_report {
        let baseline = Baseline::parse(&name, &bytes).map_err(of_eval)?;
        return Ok(baseline.check(report).iter().map(ToString::to_string).collect());
    }
    let other = Report::parse(&name, &bytes).map_err(of_eval)?;
    let comparison = compare(&other, report, COMPARED, args.seed).map_err(of_eval)?;
    let refusals = worse(&comparison, report);
    report.comparison.get_or_insert(comparison);
    Ok(refusals)
}

/// The groups whose whole interval is below zero, and those that the report lacks.
fn worse(comparison: &Comparison, report: &Report) -> Vec<String> {
    let groups = comparison.groups.iter().filter(|group| group.high < 0.0).map(|group| {
        format!(
            "{}: {} is {:.4}, was {:.4} (95 % interval of the difference {:+.4} to {:+.4})",
            group.group, comparison.measure, group.b, group.a, group.low, group.high
        )
    });
    let gone = comparison.unpaired.iter().filter(|name| report.group(name).is_none());
    let gone = gone.map(|group| format!("{group}: not in the report"));
    groups.chain(gone).collect()
}

/// The share at rank 1 over some groups together, when it is below the least.
fn by_rank1(report: &Report, groups: &[String], min: f64) -> Result<Option<String>, Failure> {
    let shares: Vec<Share> = groups.iter().filter_map(|name| report.group(name)?.rank1).collect();
    let pooled = metric::Proportion {
        successes: shares.iter().map(|share| share.successes).sum(),
        n: shares.iter().map(|share| share.n).sum(),
    };
    if pooled.n == 0 {
        return Err(Failure::new(
            Fault::Usage,
            anyhow::anyhow!("there is no held-out question for --min-rank1 to judge by"),
        )
        .hint("run the splits of role `heldout`, too"));
    }
    let names = groups.join(", ");
    Ok((pooled.value() < min).then(|| {
        let metric::Proportion { successes, n } = pooled;
        format!("{names}: {successes} of {n} at rank 1, {:.4}, below {min}", pooled.value())
    }))
}
