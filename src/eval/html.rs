//! A report as one page of HTML that needs nothing else: no network, no script, its style and its
//! plots inside, every text escaped.

use std::fmt::{self, Write as _};

use super::render::percent;
use super::report::{Group, Miss, Report, Row, Share};
use super::svg;

const STYLE: &str = include_str!("html.css");

impl Report {
    /// Returns the report as an HTML page.
    pub fn to_html(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = write_page(&mut out, self);
        out
    }
}

/// Returns text as it may stand in HTML, in an element or in an attribute with quotes.
///
/// Control characters, which HTML does not allow even as references, are shown as replacement
/// characters.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

fn write_page(out: &mut String, report: &Report) -> fmt::Result {
    let (suite, retriever) = (escaped(&report.suite), escaped(&report.retriever));
    // The policy holds the page to its promise: nothing is loaded, whatever its texts hold.
    write!(
        out,
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{suite}: {retriever}</title>
<style>
{STYLE}</style>
</head>
<body>
<header>
<h1>{suite}</h1>
<p class="lead">How well <strong>{retriever}</strong> answers questions with known answers.</p>
"#
    )?;
    write_facts(out, report)?;
    writeln!(out, "</header>\n<main>")?;
    write_ranking(out, report)?;
    write_no_match(out, report)?;
    write_tokens(out, report)?;
    write_curves(out, report)?;
    write_contenders(out, report)?;
    write_evidence(out, report)?;
    write_latency(out, report)?;
    write_sweep(out, report)?;
    write_comparison(out, report)?;
    write_misses(out, report)?;
    write_lists(out, report)?;
    let version = escaped(&report.version);
    writeln!(out, "</main>\n<footer>Written by psos {version}.</footer>\n</body>\n</html>")
}

fn write_facts(out: &mut String, report: &Report) -> fmt::Result {
    let n: u64 = report.groups.iter().map(|group| u64::from(group.n)).sum();
    let mut facts = vec![
        ("Questions asked".to_owned(), n.to_string()),
        ("Budget of an answer".to_owned(), format!("{} tokens", report.budget_tokens)),
    ];
    for (form, digest) in &report.indexes {
        let short: String = digest.chars().take(16).collect();
        facts.push((format!("Index {form}").trim_end().to_owned(), short));
    }
    writeln!(out, r#"<dl class="facts">"#)?;
    for (name, value) in facts {
        writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(&name), escaped(&value))?;
    }
    writeln!(out, "</dl>")
}

fn write_ranking(out: &mut String, report: &Report) -> fmt::Result {
    const NAMES: [&str; 6] = ["Success@1", "Success@3", "Success@5", "RR@10", "nDCG@10", "R@5"];
    let Some(plot) = svg::rank1_bars(&report.groups) else { return Ok(()) };
    writeln!(out, "<section>\n<h2>The right record at rank 1</h2>\n<figure>{plot}")?;
    writeln!(
        out,
        "<figcaption>Share of questions whose first hit is right, with its 95 % interval (Wilson). \
         Ties count as wrong.</figcaption></figure>"
    )?;
    let names = ["n", "ranked first"].into_iter().chain(NAMES).chain(["ties", "unanswered"]);
    let head: Vec<Column<'_>> = names.map(Column::Numbers).collect();
    let rows = report.groups.iter().filter(|group| !group.is_negative()).map(|group| {
        let number = |name: &&str| group.number(name).map_or("-".to_owned(), |v| format!("{v:.4}"));
        let ranked = group.ranked_first.map_or(0.0, |share| share.value);
        let mut cells = vec![group.n.to_string(), format!("{ranked:.4}")];
        cells.extend(NAMES.iter().map(number));
        cells.extend([group.n_tied_first.to_string(), group.n_unanswered.to_string()]);
        (group.name.as_str(), cells)
    });
    write_table(
        out,
        "Means over all questions; a question without an answer counts as 0. Ranked first: as \
         Success@1, but with the ranking of questions that were refused.",
        &head,
        rows,
    )?;
    writeln!(out, "</section>")
}

fn write_no_match(out: &mut String, report: &Report) -> fmt::Result {
    writeln!(out, "<section>\n<h2>Answered with \u{201c}no match\u{201d}</h2>")?;
    let rows = report.groups.iter().map(|group| {
        let share = group.no_match;
        let wanted = if group.is_negative() { "all" } else { "none" };
        let interval = format!("{} to {}", percent(share.low), percent(share.high));
        let cells = vec![
            format!("{} of {}", share.successes, share.n),
            format!("{} %", percent(share.value)),
            interval,
            wanted.to_owned(),
        ];
        (group.name.as_str(), cells)
    });
    let caption = "The right answer to questions that nothing answers, and to no others.";
    write_table(
        out,
        caption,
        &[
            Column::Numbers("answers"),
            Column::Numbers("share"),
            Column::Numbers("95 % interval"),
            Column::Words("should be"),
        ],
        rows,
    )?;
    writeln!(out, "</section>")
}

fn write_tokens(out: &mut String, report: &Report) -> fmt::Result {
    let Some(plot) = svg::token_marks(&report.groups) else { return Ok(()) };
    writeln!(out, "<section>\n<h2>Tokens of an answer</h2>\n<figure>{plot}")?;
    writeln!(
        out,
        "<figcaption>Means, on a logarithmic scale, beside what a reader without recall would \
         read.</figcaption></figure>"
    )?;
    let rows = report.groups.iter().flat_map(|group| {
        let answer = group.tokens.map(|tokens| ("answer", tokens));
        let baselines = group.token_baselines.iter().map(|(b, cost)| (b.title(), *cost));
        answer.into_iter().chain(baselines).map(|(what, cost)| {
            let numbers = [cost.mean, cost.median, cost.p95, cost.max];
            let mut cells = vec![what.to_owned()];
            cells.extend(numbers.map(|tokens| format!("{tokens:.0}")));
            (group.name.as_str(), cells)
        })
    });
    write_table(
        out,
        "Tokens of o200k_base.",
        &[
            Column::Words("of what"),
            Column::Numbers("mean"),
            Column::Numbers("median"),
            Column::Numbers("p95"),
            Column::Numbers("max"),
        ],
        rows,
    )?;
    writeln!(out, "</section>")
}

fn write_curves(out: &mut String, report: &Report) -> fmt::Result {
    let plots = report.curves.iter().enumerate();
    let plots: Vec<(&str, String)> = plots
        .filter_map(|(idx, curve)| Some((curve.group.as_str(), svg::curve_lines(curve, idx)?)))
        .collect();
    if plots.is_empty() {
        return Ok(());
    }
    writeln!(out, "<section>\n<h2>Recall against budget</h2>\n<div class=\"curves\">")?;
    for (group, plot) in plots {
        writeln!(out, "<figure><h3>{}</h3>{plot}</figure>", escaped(group))?;
    }
    writeln!(out, "</div>")?;
    let rows = report.curves.iter().flat_map(|curve| {
        curve.points.iter().map(|point| {
            let shares = [point.whole.value, point.shown.value];
            let mut cells =
                vec![point.budget_tokens.to_string(), format!("{:.0}", point.mean_tokens)];
            cells.extend(shares.map(|share| format!("{} %", percent(share))));
            (curve.group.as_str(), cells)
        })
    });
    let head = ["budget", "mean tokens", "right record whole", "shown at all"].map(Column::Numbers);
    write_table(out, "The same in numbers.", &head, rows)?;
    writeln!(out, "</section>")
}

fn write_contenders(out: &mut String, report: &Report) -> fmt::Result {
    const NAMES: [&str; 3] = ["Success@5", "RR@10", "nDCG@10"];
    for (title, list) in [
        ("Other retrievers on the same questions", &report.others),
        ("What each tier adds to the ranking", &report.tiers),
    ] {
        if list.is_empty() {
            continue;
        }
        writeln!(out, "<section>\n<h2>{title}</h2>")?;
        let rows = list.iter().map(|one| {
            let Share { value, low, high, .. } = one.ranked_first;
            let mut cells = vec![
                one.retriever.clone(),
                format!("{} %", percent(value)),
                format!("{} to {}", percent(low), percent(high)),
            ];
            let number = |name: &&str| one.measures.get(*name).copied().unwrap_or_default();
            cells.extend(NAMES.iter().map(|name| format!("{:.4}", number(name))));
            cells.push(one.tokens.map_or("-".to_owned(), |tokens| format!("{:.0}", tokens.mean)));
            (one.group.as_str(), cells)
        });
        let mut head = vec![Column::Words("what ranks")];
        let names = ["ranked first", "95 % interval"].into_iter().chain(NAMES);
        head.extend(names.chain(["mean tokens"]).map(Column::Numbers));
        write_table(
            out,
            "Rankings, whether or not psos says \u{201c}no match\u{201d}.",
            &head,
            rows,
        )?;
        writeln!(out, "</section>")?;
    }
    Ok(())
}

fn write_evidence(out: &mut String, report: &Report) -> fmt::Result {
    if report.evidence.is_empty() {
        return Ok(());
    }
    writeln!(out, "<section>\n<h2>Evidence within the budget</h2>")?;
    let rows = report.evidence.iter().flat_map(|evidence| {
        let row = |scope: &str, share: Share| {
            let shown = format!("{} of {}", share.successes, share.n);
            (
                evidence.retriever.as_str(),
                vec![scope.to_owned(), shown, format!("{} %", percent(share.value))],
            )
        };
        let named = evidence.scopes.iter().filter(|one| !one.scope.is_empty());
        let scopes = named.map(move |one| row(&one.scope, one.share));
        std::iter::once(row("all", evidence.all)).chain(scopes)
    });
    let head =
        [Column::Words("scope"), Column::Numbers("shown whole"), Column::Numbers("R@budget")];
    let caption = "Of all right records, how many the answers show whole.";
    write_table(out, caption, &head, rows)?;
    writeln!(out, "</section>")
}

fn write_sweep(out: &mut String, report: &Report) -> fmt::Result {
    let Some(sweep) = &report.sweep else { return Ok(()) };
    writeln!(out, "<section>\n<h2>Answers at every budget</h2>")?;
    let head = [
        "answers",
        "no match",
        "too small",
        "over budget",
        "understated",
        "cheaper",
        "shallower",
        "empty",
    ]
    .map(Column::Numbers);
    let rows = sweep.formats.iter().map(|of| {
        let numbers = [
            of.n_answers,
            of.n_no_match,
            of.n_too_small,
            of.n_over_budget,
            of.n_understated,
            of.n_cheaper,
            of.n_shallower,
            of.n_empty,
        ];
        (of.format.as_str(), numbers.map(|n| n.to_string()).to_vec())
    });
    let budgets: Vec<String> = sweep.budgets_tokens.iter().map(u32::to_string).collect();
    write_table(out, &format!("Budgets of {} tokens.", budgets.join(", ")), &head, rows)?;
    writeln!(out, "</section>")
}

fn write_comparison(out: &mut String, report: &Report) -> fmt::Result {
    let Some(comparison) = &report.comparison else { return Ok(()) };
    writeln!(out, "<section>\n<h2>Beside the other report</h2>")?;
    let rows = comparison.groups.iter().map(|of| {
        let cells = vec![
            format!("{:.4}", of.a),
            format!("{:.4}", of.b),
            format!("{:+.4}", of.difference),
            format!("{:+.4} to {:+.4}", of.low, of.high),
            format!("{:.4}", of.p_value),
            of.wins.len().to_string(),
            of.losses.len().to_string(),
        ];
        (of.group.as_str(), cells)
    });
    let head = ["other", "this", "difference", "95 % interval", "p", "better", "worse"]
        .map(Column::Numbers);
    let caption = format!("{}, paired by question, seed {}.", comparison.measure, comparison.seed);
    write_table(out, &caption, &head, rows)?;
    writeln!(out, "</section>")
}

fn write_latency(out: &mut String, report: &Report) -> fmt::Result {
    let rows: Vec<(&str, Vec<String>)> = report
        .groups
        .iter()
        .filter_map(|group| {
            let time = group.latency_ms?;
            let numbers = [time.mean, time.median, time.p95, time.max];
            Some((group.name.as_str(), numbers.map(|ms| format!("{ms:.2}")).to_vec()))
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "<section>\n<h2>Time of an answer</h2>")?;
    write_table(
        out,
        "Milliseconds.",
        &[
            Column::Numbers("mean"),
            Column::Numbers("median"),
            Column::Numbers("p95"),
            Column::Numbers("max"),
        ],
        rows.into_iter(),
    )?;
    writeln!(out, "</section>")
}

fn write_misses(out: &mut String, report: &Report) -> fmt::Result {
    writeln!(out, "<section>\n<h2>Misses</h2>")?;
    for group in &report.groups {
        let misses: Vec<(&Row, &Miss)> =
            group.questions.iter().filter_map(|row| Some((row, row.miss.as_ref()?))).collect();
        let (name, n) = (escaped(&group.name), group.n);
        if misses.is_empty() {
            writeln!(out, "<p>{name}: none of {n}.</p>")?;
            continue;
        }
        writeln!(out, "<details><summary>{name}: {} of {n}</summary>", misses.len())?;
        for (row, miss) in misses {
            write_miss(out, group, row, miss)?;
        }
        writeln!(out, "</details>")?;
    }
    writeln!(out, "</section>")
}

fn write_miss(out: &mut String, group: &Group, row: &Row, miss: &Miss) -> fmt::Result {
    writeln!(out, r#"<article class="miss"><p>{}</p><dl>"#, escaped(&miss.text))?;
    writeln!(out, r#"<dt>Question</dt><dd class="id">{}</dd>"#, escaped(&row.id))?;
    let rank = match row.ranked {
        _ if group.is_negative() || miss.gold.is_empty() => String::new(),
        Some(rank) => format!(" (at rank {rank})"),
        None => r#" <span class="wrong">(not found)</span>"#.to_owned(),
    };
    let wanted = if miss.gold.is_empty() {
        "\u{201c}no match\u{201d}".to_owned()
    } else {
        let ids: Vec<String> = miss
            .gold
            .iter()
            .map(|id| format!(r#"<span class="id">{}</span>"#, escaped(id)))
            .collect();
        ids.join(", ")
    };
    writeln!(out, "<dt>Wanted</dt><dd>{wanted}{rank}</dd>")?;
    let refused = if miss.refused { "no match; the ranking was" } else { "" };
    write!(out, "<dt>Found</dt><dd>{refused}")?;
    if miss.top.is_empty() {
        write!(out, "nothing")?;
    } else {
        write!(out, "<ol>")?;
        for hit in &miss.top {
            let id = escaped(&hit.id);
            write!(out, r#"<li><span class="id">{id}</span> ({:.4})</li>"#, hit.score)?;
        }
        write!(out, "</ol>")?;
    }
    writeln!(out, "</dd>")?;
    if let Some(explanation) = &miss.explanation {
        writeln!(out, "<dt>Why</dt><dd><pre>{}</pre></dd>", escaped(explanation))?;
    }
    writeln!(out, "</dl></article>")
}

fn write_lists(out: &mut String, report: &Report) -> fmt::Result {
    let shared: Vec<String> = report.shared_runs.iter().map(ToString::to_string).collect();
    let faults = report.sweep.iter().flat_map(|sweep| sweep.faults.iter().cloned()).collect();
    for (title, items) in [
        ("Refused by a gate", &report.refusals),
        ("Answers that do not keep to their budget", &faults),
        ("Problems of the set", &report.problems),
        ("Held-out questions that share words in a row with a trigger", &shared),
    ] {
        if items.is_empty() {
            continue;
        }
        writeln!(out, "<section>\n<h2>{title}</h2>")?;
        writeln!(out, "<details><summary>{} in all</summary>\n<ul>", items.len())?;
        for item in items {
            writeln!(out, r#"<li class="id">{}</li>"#, escaped(item))?;
        }
        writeln!(out, "</ul></details>\n</section>")?;
    }
    Ok(())
}

/// The heading of a column, by what stands in it.
#[derive(Clone, Copy)]
enum Column<'h> {
    Numbers(&'h str),
    Words(&'h str),
}

impl Column<'_> {
    fn class(self) -> &'static str {
        match self {
            Self::Numbers(_) => "",
            Self::Words(_) => r#" class="words""#,
        }
    }
}

fn write_table<'r>(
    out: &mut String,
    caption: &str,
    head: &[Column<'_>],
    rows: impl Iterator<Item = (&'r str, Vec<String>)>,
) -> fmt::Result {
    writeln!(
        out,
        r#"<div class="scroll" tabindex="0"><table><caption>{}</caption>"#,
        escaped(caption)
    )?;
    write!(out, r#"<thead><tr><th scope="col">group</th>"#)?;
    for column in head {
        let (Column::Numbers(name) | Column::Words(name)) = column;
        write!(out, r#"<th scope="col"{}>{}</th>"#, column.class(), escaped(name))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for (name, cells) in rows {
        write!(out, r#"<tr><th scope="row">{}</th>"#, escaped(name))?;
        for (cell, column) in cells.iter().zip(head) {
            write!(out, "<td{}>{}</td>", column.class(), escaped(cell))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}
