//! A report and a comparison as text for people: tables in plain columns, then what needs a look.

use std::fmt::{self, Write as _};

use super::compare::{Change, Comparison};
use super::report::{Group, Miss, Report, Row, Share};
use super::{Contender, Evidence};

/// How many of each list the text shows; the JSON has all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListLimits {
    /// Misses of each group.
    pub n_misses: usize,
    /// Problems and shared pieces of questions.
    pub n_problems: usize,
}

impl Report {
    /// Returns the report as text: a table for each question that it answers, then the misses.
    pub fn to_text(&self, limits: ListLimits) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = write_report(&mut out, self, limits);
        harmless(out)
    }
}

impl Comparison {
    /// Returns the comparison as text.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let _ = write_comparison(&mut out, self);
        harmless(out)
    }
}

fn write_report(out: &mut String, report: &Report, limits: ListLimits) -> fmt::Result {
    let Report { suite, retriever, version, budget_tokens, .. } = report;
    writeln!(out, "{suite}: {retriever}, psos {version}, budget {budget_tokens} tokens")?;
    for (form, digest) in &report.indexes {
        let form = if form.is_empty() { "index" } else { form };
        writeln!(out, "{form} {digest}")?;
    }
    let width = report.groups.iter().map(|group| group.name.chars().count()).max().unwrap_or(0);
    let width = width.max("group".len());
    write_measures(out, report, width)?;
    write_no_match(out, report, width)?;
    write_tokens(out, report, width)?;
    write_curves(out, report, width)?;
    write_contenders(out, "other retrievers, on the same questions", &report.others)?;
    write_contenders(out, "psos, by how many tiers it ranks by", &report.tiers)?;
    write_evidence(out, report)?;
    write_latency(out, report, width)?;
    write_sweep(out, report)?;
    for group in &report.groups {
        write_misses(out, group, limits.n_misses)?;
    }
    write_problems(out, report, limits.n_problems)?;
    if let Some(comparison) = &report.comparison {
        writeln!(out)?;
        write_comparison(out, comparison)?;
    }
    if !report.refusals.is_empty() {
        writeln!(out, "\nrefused")?;
    }
    for refusal in &report.refusals {
        writeln!(out, "  {refusal}")?;
    }
    Ok(())
}

fn write_measures(out: &mut String, report: &Report, width: usize) -> fmt::Result {
    const NAMES: [&str; 4] = ["Success@3", "Success@5", "RR@10", "nDCG@10"];
    write!(out, "\n{:width$} {:>6} {:>10}  {:<15}", "group", "n", "Success@1", "95 % interval")?;
    write!(out, "{:>13}", "ranked first")?;
    for name in NAMES {
        write!(out, "{name:>11}")?;
    }
    writeln!(out)?;
    for group in &report.groups {
        let Some(rank1) = group.rank1 else { continue };
        write!(out, "{:width$} {:>6} {:>8} %", group.name, group.n, percent(rank1.value))?;
        write!(out, "  {:<15}", format!("{} to {}", percent(rank1.low), percent(rank1.high)))?;
        let ranked = group.ranked_first.map_or(0.0, |share| share.value);
        write!(out, "{:>11} %", percent(ranked))?;
        for name in NAMES {
            let value = match group.measures.get(name) {
                Some(value) if name.starts_with("Success") => format!("{} %", percent(*value)),
                Some(value) => format!("{value:.4}"),
                None => "-".to_owned(),
            };
            write!(out, "{value:>11}")?;
        }
        writeln!(out)?;
    }
    for group in &report.groups {
        if group.n_unanswered > 0 {
            let Group { name, n_unanswered, .. } = group;
            writeln!(out, "{name}: {n_unanswered} without an answer, counted as zero")?;
        }
        if group.n_tied_first > 0 && !group.is_negative() {
            let Group { name, n_tied_first, .. } = group;
            writeln!(out, "{name}: {n_tied_first} with a tie at rank 1, counted against them")?;
        }
    }
    Ok(())
}

fn write_no_match(out: &mut String, report: &Report, width: usize) -> fmt::Result {
    writeln!(out, "\n{:width$} {:>12}  answered with \"no match\"", "group", "questions")?;
    for group in &report.groups {
        let Share { successes, n, value, low, high } = group.no_match;
        let wanted = if group.is_negative() { "all" } else { "none" };
        let of = format!("{successes} of {n}");
        write!(out, "{:width$} {of:>12}  {:>5} %", group.name, percent(value))?;
        writeln!(out, " ({} to {}), should be {wanted}", percent(low), percent(high))?;
    }
    Ok(())
}

fn write_tokens(out: &mut String, report: &Report, width: usize) -> fmt::Result {
    if report.groups.iter().all(|group| group.tokens.is_none()) {
        return Ok(());
    }
    let head = ["mean", "median", "p95", "max"].map(|name| format!("{name:>9}")).concat();
    writeln!(out, "\n{:width$} {head}  tokens of an answer", "group")?;
    for group in &report.groups {
        let Some(tokens) = group.tokens else { continue };
        writeln!(out, "{:width$} {}", group.name, spread(tokens, 0))?;
        for (baseline, cost) in &group.token_baselines {
            write!(out, "{:width$} {}  {}", "", spread(*cost, 0), baseline.title())?;
            if tokens.mean > 0.0 {
                write!(out, ", {:.1} times the answer", cost.mean / tokens.mean)?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

fn write_curves(out: &mut String, report: &Report, width: usize) -> fmt::Result {
    for curve in report.curves.iter().filter(|curve| !curve.points.is_empty()) {
        write!(out, "\n{:width$} {:>9} {:>12}", "group", "budget", "mean tokens")?;
        writeln!(out, " {:>18} {:>13}", "right record whole", "shown at all")?;
        for point in &curve.points {
            let (whole, shown) = (percent(point.whole.value), percent(point.shown.value));
            write!(out, "{:width$} {:>9}", curve.group, point.budget_tokens)?;
            writeln!(out, " {:>12.0} {whole:>16} % {shown:>11} %", point.mean_tokens)?;
        }
    }
    Ok(())
}

fn write_contenders(out: &mut String, title: &str, list: &[Contender]) -> fmt::Result {
    const NAMES: [&str; 3] = ["Success@5", "RR@10", "nDCG@10"];
    if list.is_empty() {
        return Ok(());
    }
    let width = list.iter().map(|one| one.retriever.chars().count() + 2).max().unwrap_or(0);
    writeln!(out, "\n{title}: rankings, \"no match\" left aside")?;
    write!(out, "{:width$} {:>13}  {:<15}", "", "ranked first", "95 % interval")?;
    for name in NAMES {
        write!(out, "{name:>11}")?;
    }
    writeln!(out, "{:>12}", "mean tokens")?;
    let mut group = "";
    for one in list {
        if one.group != group {
            group = &one.group;
            writeln!(out, "{group}, n {}", one.ranked_first.n)?;
        }
        let Share { value, low, high, .. } = one.ranked_first;
        write!(out, "{:width$} {:>11} %", format!("  {}", one.retriever), percent(value))?;
        write!(out, "  {:<15}", format!("{} to {}", percent(low), percent(high)))?;
        for name in NAMES {
            let value = one.measures.get(name).copied().unwrap_or_default();
            if name.starts_with("Success") {
                write!(out, "{:>11}", format!("{} %", percent(value)))?;
            } else {
                write!(out, "{value:>11.4}")?;
            }
        }
        match one.tokens {
            Some(tokens) => writeln!(out, "{:>12.0}", tokens.mean)?,
            None => writeln!(out, "{:>12}", "-")?,
        }
    }
    Ok(())
}

fn write_evidence(out: &mut String, report: &Report) -> fmt::Result {
    for evidence in &report.evidence {
        let Evidence { retriever, all, mean_of_scopes, scopes } = evidence;
        let Share { successes, n, value, .. } = all;
        write!(out, "\nR@budget of {retriever}: {} % ", percent(*value))?;
        write!(out, "of the evidence is shown whole within {} tokens", report.budget_tokens)?;
        writeln!(out, " ({successes} of {n}; mean of scopes {} %)", percent(*mean_of_scopes))?;
        for one in scopes.iter().filter(|one| !one.scope.is_empty()) {
            let Share { successes, n, value, .. } = one.share;
            writeln!(out, "  {:>5} %  {successes:>5} of {n:<5}  {}", percent(value), one.scope)?;
        }
    }
    Ok(())
}

fn write_sweep(out: &mut String, report: &Report) -> fmt::Result {
    let Some(sweep) = &report.sweep else { return Ok(()) };
    let budgets: Vec<String> = sweep.budgets_tokens.iter().map(u32::to_string).collect();
    writeln!(out, "\nanswers under budgets of {} tokens", budgets.join(", "))?;
    for name in ["format", "answers", "no match", "too small", "over budget", "understated"] {
        write!(out, "{name:>12}")?;
    }
    writeln!(out, "{:>12}{:>12}{:>12}", "cheaper", "shallower", "empty")?;
    for of in &sweep.formats {
        write!(out, "{:>12}{:>12}{:>12}", of.format, of.n_answers, of.n_no_match)?;
        write!(out, "{:>12}{:>12}{:>12}", of.n_too_small, of.n_over_budget, of.n_understated)?;
        writeln!(out, "{:>12}{:>12}{:>12}", of.n_cheaper, of.n_shallower, of.n_empty)?;
    }
    for fault in &sweep.faults {
        writeln!(out, "  {fault}")?;
    }
    Ok(())
}

fn write_latency(out: &mut String, report: &Report, width: usize) -> fmt::Result {
    if report.groups.iter().all(|group| group.latency_ms.is_none()) {
        return Ok(());
    }
    let head = ["mean", "median", "p95", "max"].map(|name| format!("{name:>9}")).concat();
    writeln!(out, "\n{:width$} {head}  milliseconds for an answer", "group")?;
    for group in &report.groups {
        if let Some(latency) = group.latency_ms {
            writeln!(out, "{:width$} {}", group.name, spread(latency, 2))?;
        }
    }
    Ok(())
}

fn write_misses(out: &mut String, group: &Group, n_shown: usize) -> fmt::Result {
    let misses: Vec<(&Row, &Miss)> =
        group.questions.iter().filter_map(|row| Some((row, row.miss.as_ref()?))).collect();
    if misses.is_empty() || n_shown == 0 {
        return Ok(());
    }
    writeln!(out, "\n{}: {} of {} missed", group.name, misses.len(), group.n)?;
    for (row, miss) in misses.iter().take(n_shown) {
        writeln!(out, "  {}  {}", row.id, one_line(&miss.text))?;
        let wanted =
            if miss.gold.is_empty() { "no match".to_owned() } else { miss.gold.join(", ") };
        match row.ranked {
            Some(rank) => writeln!(out, "    wanted  {wanted}  (at rank {rank})")?,
            None if miss.gold.is_empty() => writeln!(out, "    wanted  {wanted}")?,
            None => writeln!(out, "    wanted  {wanted}  (not found)")?,
        }
        match miss.top.first() {
            Some(hit) if miss.refused => {
                writeln!(out, "    found   no match; ranked first {}  ({:.4})", hit.id, hit.score)?;
            }
            Some(hit) => writeln!(out, "    found   {}  ({:.4})", hit.id, hit.score)?,
            None => writeln!(out, "    found   nothing")?,
        }
        for line in miss.explanation.iter().flat_map(|explanation| explanation.lines()) {
            writeln!(out, "    {line}")?;
        }
    }
    rest(out, misses.len(), n_shown)
}

fn write_problems(out: &mut String, report: &Report, n_shown: usize) -> fmt::Result {
    if !report.problems.is_empty() {
        writeln!(out, "\nproblems of the set")?;
        for (kind, n) in &report.problem_counts {
            writeln!(out, "  {n:>6}  {kind}")?;
        }
        for problem in report.problems.iter().take(n_shown) {
            writeln!(out, "  {problem}")?;
        }
        rest(out, report.problems.len(), n_shown)?;
    }
    if !report.shared_runs.is_empty() {
        writeln!(out, "\nheld-out questions that share words in a row with a trigger")?;
        for run in report.shared_runs.iter().take(n_shown) {
            writeln!(out, "  {run}")?;
        }
        rest(out, report.shared_runs.len(), n_shown)?;
    }
    Ok(())
}

fn write_comparison(out: &mut String, comparison: &Comparison) -> fmt::Result {
    let Comparison { measure, seed, groups, unpaired } = comparison;
    writeln!(out, "{measure}, paired by question, seed {seed}")?;
    for group in groups {
        writeln!(out, "\n{}: {} questions", group.group, group.n)?;
        write!(out, "  {:.4} -> {:.4}  difference {:+.4}", group.a, group.b, group.difference)?;
        writeln!(
            out,
            ", 95 % interval {:+.4} to {:+.4}, p = {:.4}",
            group.low, group.high, group.p_value
        )?;
        let (n_wins, n_losses) = (group.wins.len(), group.losses.len());
        writeln!(out, "  {n_wins} better, {n_losses} worse, {} equal", group.n_equal)?;
        let mut list = |word: &str, changes: &[Change]| -> fmt::Result {
            for Change { id, a, b } in changes {
                writeln!(out, "  {word}  {id}  {a:.4} -> {b:.4}")?;
            }
            Ok(())
        };
        list("better", &group.wins)?;
        list("worse ", &group.losses)?;
    }
    for name in unpaired {
        writeln!(out, "\n{name}: in one of the reports only")?;
    }
    Ok(())
}

fn rest(out: &mut String, n: usize, n_shown: usize) -> fmt::Result {
    match n.saturating_sub(n_shown) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more"),
    }
}

fn spread(spread: super::Spread, decimals: usize) -> String {
    let columns = [spread.mean, spread.median, spread.p95, spread.max];
    columns.map(|value| format!("{value:>9.decimals$}")).concat()
}

/// A share in percent with one decimal, without the sign.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// Questions and explanations are other people's text: their control characters, which a terminal
/// would act on, are shown as replacement characters.
fn harmless(text: String) -> String {
    let is_harmful = |c: char| c.is_control() && c != '\n';
    if text.contains(is_harmful) { text.replace(is_harmful, "\u{fffd}") } else { text }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
