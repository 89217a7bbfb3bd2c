//! Plots of a report as inline SVG: shapes and words, with colours and sizes left to the page's style.
//!
//! Every plot has a title and a description, and says nothing by colour alone: bars carry their
//! number, marks differ in shape, lines in their dashes.

use std::fmt::Write as _;

use super::Spread;
use super::curve::Curve;
use super::html::escaped;
use super::render::percent;
use super::report::{Group, Share};
use super::suite::TokenBaseline;

const WIDTH: f64 = 760.0;
const ROW: f64 = 30.0;
/// The room for a word, in units of the plot for each character.
const LETTER: f64 = 7.2;

/// Returns a bar for each group that has right answers: the share at rank 1, with its interval.
pub(super) fn rank1_bars(groups: &[Group]) -> Option<String> {
    let rows: Vec<(&str, Share)> =
        groups.iter().filter_map(|group| Some((group.name.as_str(), group.rank1?))).collect();
    let left = label_width(rows.iter().map(|(name, _)| *name));
    let plot = Plot { left, right: WIDTH - 215.0, bottom: rows_end(rows.len()) };
    let x = |share: f64| plot.left + share * (plot.right - plot.left);
    let mut body = String::new();
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        plot.tick(&mut body, x(tick), &format!("{:.0} %", tick * 100.0));
    }
    for ((name, share), y) in rows.iter().zip(row_middles()) {
        let (x0, at) = (x(0.0), x(share.value));
        label(&mut body, name, left, y);
        let width = at - x0;
        let top = y - 9.0;
        let _ = write!(
            body,
            r#"<rect class="bar" x="{x0:.1}" y="{top:.1}" width="{width:.1}" height="18" rx="2"/>"#
        );
        let (low, high) = (x(share.low), x(share.high));
        let (up, down) = (y - 5.0, y + 5.0);
        let _ = write!(
            body,
            r#"<path class="whisker" d="M{low:.1} {up:.1}V{down:.1}M{low:.1} {y:.1}H{high:.1}M{high:.1} {up:.1}V{down:.1}"/>"#
        );
        let Share { n, value, low, high, .. } = share;
        let (value, low, high) = (percent(*value), percent(*low), percent(*high));
        let (at, base) = (plot.right + 12.0, y + 4.5);
        let _ = write!(
            body,
            r#"<text x="{at:.1}" y="{base:.1}">{value} % <tspan class="soft">({low} to {high}), n {n}</tspan></text>"#
        );
    }
    let told: Vec<String> = rows
        .iter()
        .map(|(name, share)| format!("{name} {} percent", percent(share.value)))
        .collect();
    let title = "Share of questions with a right record at rank 1";
    (!rows.is_empty())
        .then(|| svg("rank1", WIDTH, plot.bottom + 24.0, title, &told.join("; "), &body))
}

/// Returns a row of marks for each group: the mean tokens of an answer and of each baseline, on a
/// logarithmic scale.
pub(super) fn token_marks(groups: &[Group]) -> Option<String> {
    let rows: Vec<(&str, Spread, &Group)> =
        groups.iter().filter_map(|g| Some((g.name.as_str(), g.tokens?, g))).collect();
    let means = |(_, tokens, group): &(&str, Spread, &Group)| {
        let mut means: Vec<f64> = group.token_baselines.values().map(|cost| cost.mean).collect();
        means.push(tokens.mean);
        means
    };
    let all: Vec<f64> = rows.iter().flat_map(means).filter(|mean| *mean >= 1.0).collect();
    let (low, high) = all.iter().fold((f64::MAX, 1.0_f64), |(l, h), v| (l.min(*v), h.max(*v)));
    if all.is_empty() {
        return None;
    }
    let (low, high) = (low.log10().floor(), (high * 1.01).log10().ceil());
    let left = label_width(rows.iter().map(|(name, ..)| *name));
    let plot = Plot { left, right: WIDTH - 40.0, bottom: rows_end(rows.len()) };
    let span = (plot.right - plot.left) / (high - low).max(1.0);
    let x = |tokens: f64| plot.left + (tokens.max(1.0).log10() - low).max(0.0) * span;
    let mut body = String::new();
    let mut decade = low;
    while decade <= high {
        plot.tick(&mut body, x(10_f64.powf(decade)), &format!("{:.0}", 10_f64.powf(decade)));
        decade += 1.0;
    }
    for ((name, tokens, group), y) in rows.iter().zip(row_middles()) {
        label(&mut body, name, left, y);
        let (from, to) = (plot.left, plot.right);
        let _ = write!(body, r#"<path class="grid" d="M{from:.1} {y:.1}H{to:.1}"/>"#);
        for (baseline, cost) in &group.token_baselines {
            let title = format!("{}: {:.0} tokens", baseline.title(), cost.mean);
            mark(&mut body, series(*baseline), x(cost.mean), y, &title);
        }
        mark(&mut body, 0, x(tokens.mean), y, &format!("answer: {:.0} tokens", tokens.mean));
    }
    // A legend, a line each, so that no word is cut.
    let mut y = plot.bottom + 42.0;
    let named = TokenBaseline::ALL.into_iter().filter(|baseline| {
        rows.iter().any(|(_, _, group)| group.token_baselines.contains_key(baseline))
    });
    let legend = named.map(|baseline| (series(baseline), baseline.title()));
    for (series, title) in std::iter::once((0, "answer of the retriever")).chain(legend) {
        mark(&mut body, series, left + 6.0, y, title);
        let (at, base) = (left + 20.0, y + 4.5);
        let _ = write!(body, r#"<text class="soft" x="{at:.1}" y="{base:.1}">{title}</text>"#);
        y += 20.0;
    }
    let told: Vec<String> = rows
        .iter()
        .map(|(name, tokens, _)| format!("{name}: {:.0} tokens an answer", tokens.mean))
        .collect();
    Some(svg("tokens", WIDTH, y, "Mean tokens of an answer", &told.join("; "), &body))
}

/// Returns the lines of one recall-against-budget curve.
pub(super) fn curve_lines(curve: &Curve, idx: usize) -> Option<String> {
    const CURVE_WIDTH: f64 = 380.0;
    let budgets: Vec<f64> =
        curve.points.iter().map(|p| f64::from(p.budget_tokens.max(1))).collect();
    let (low, high) = budgets.iter().fold((f64::MAX, 1.0_f64), |(l, h), v| (l.min(*v), h.max(*v)));
    if budgets.is_empty() {
        return None;
    }
    let (left, right, top, bottom) = (44.0, CURVE_WIDTH - 20.0, 12.0, 190.0);
    let span = (high / low).ln().max(f64::MIN_POSITIVE);
    let x = |budget: f64| left + (budget / low).ln() / span * (right - left);
    let y = |share: f64| bottom - share * (bottom - top);
    let mut body = String::new();
    for share in [0.0, 0.5, 1.0] {
        let (at, base, end) = (y(share), y(share) + 4.5, left - 6.0);
        let _ = write!(
            body,
            r#"<path class="grid" d="M{left:.1} {at:.1}H{right:.1}"/><text class="soft" text-anchor="end" x="{end:.1}" y="{base:.1}">{:.0} %</text>"#,
            share * 100.0
        );
    }
    for budget in &budgets {
        let (at, base) = (x(*budget), bottom + 18.0);
        let _ = write!(
            body,
            r#"<text class="soft" text-anchor="middle" x="{at:.1}" y="{base:.1}">{budget:.0}</text>"#
        );
    }
    for (series, dash) in [(0, ""), (1, " dashed")] {
        let values = curve.points.iter().map(|p| if series == 0 { p.whole } else { p.shown });
        let points: Vec<(f64, Share)> = budgets.iter().copied().zip(values).collect();
        let path: Vec<String> = points
            .iter()
            .map(|(budget, share)| format!("{:.1} {:.1}", x(*budget), y(share.value)))
            .collect();
        let path = path.join("L");
        let _ = write!(body, r#"<path class="line s{series}{dash}" d="M{path}"/>"#);
        for (budget, share) in points {
            let title = format!("{budget:.0} tokens: {} %", percent(share.value));
            mark(&mut body, series, x(budget), y(share.value), &title);
        }
    }
    for (series, title, y) in
        [(0, "right record whole", 232.0), (1, "right record shown at all", 252.0)]
    {
        mark(&mut body, series, left + 6.0, y, title);
        let (at, base) = (left + 20.0, y + 4.5);
        let _ = write!(body, r#"<text class="soft" x="{at:.1}" y="{base:.1}">{title}</text>"#);
    }
    let told: Vec<String> = curve
        .points
        .iter()
        .map(|p| format!("{} tokens: {} percent whole", p.budget_tokens, percent(p.whole.value)))
        .collect();
    let title = format!("{}: share of questions by budget in tokens", curve.group);
    Some(svg(&format!("curve{idx}"), CURVE_WIDTH, 264.0, &title, &told.join("; "), &body))
}

/// The area that values are drawn in.
struct Plot {
    left: f64,
    right: f64,
    bottom: f64,
}

impl Plot {
    fn tick(&self, out: &mut String, x: f64, text: &str) {
        let (bottom, base) = (self.bottom, self.bottom + 17.0);
        let _ = write!(
            out,
            r#"<path class="grid" d="M{x:.1} 4V{bottom:.1}"/><text class="soft" text-anchor="middle" x="{x:.1}" y="{base:.1}">{text}</text>"#
        );
    }
}

fn svg(id: &str, width: f64, height: f64, title: &str, told: &str, body: &str) -> String {
    let (title, told) = (escaped(title), escaped(told));
    format!(
        r#"<svg viewBox="0 0 {width:.0} {height:.0}" role="img" aria-labelledby="{id}-t {id}-d"><title id="{id}-t">{title}</title><desc id="{id}-d">{told}</desc>{body}</svg>"#
    )
}

fn rows_end(n_rows: usize) -> f64 {
    row_middles().take(n_rows).last().unwrap_or(0.0) + ROW / 2.0
}

fn row_middles() -> impl Iterator<Item = f64> {
    (0_u32..).map(|row| 8.0 + ROW * (f64::from(row) + 0.5))
}

/// The width of the widest name, within reason.
fn label_width<'n>(names: impl Iterator<Item = &'n str>) -> f64 {
    let letters = names.map(|name| name.chars().count()).max().unwrap_or(0);
    (f64::from(super::metric::small(letters)) * LETTER + 12.0).clamp(80.0, 260.0)
}

/// A name to the left of a plot, cut when it has no room, with the whole of it in its title.
fn label(out: &mut String, name: &str, left: f64, y: f64) {
    const MOST_LETTERS: usize = 34;
    let short: String = if name.chars().count() > MOST_LETTERS {
        name.chars().take(MOST_LETTERS - 1).chain(['\u{2026}']).collect()
    } else {
        name.to_owned()
    };
    let (at, base, name, short) = (left - 10.0, y + 4.5, escaped(name), escaped(&short));
    let _ = write!(
        out,
        r#"<text text-anchor="end" x="{at:.1}" y="{base:.1}"><title>{name}</title>{short}</text>"#
    );
}

fn series(baseline: TokenBaseline) -> usize {
    match baseline {
        TokenBaseline::GoldFile => 1,
        TokenBaseline::Top3Files => 2,
        TokenBaseline::DescriptionList => 3,
    }
}

/// A mark of a shape of its own for each series.
fn mark(out: &mut String, series: usize, x: f64, y: f64, title: &str) {
    let title = escaped(title);
    let shape = match series {
        0 => format!(r#"<circle class="mark s0" cx="{x:.1}" cy="{y:.1}" r="5">"#),
        1 => format!(r#"<path class="mark s1" d="M{x:.1} {y:.1}m-5-5h10v10h-10z">"#),
        2 => format!(r#"<path class="mark s2" d="M{x:.1} {y:.1}m0-6l6 6l-6 6l-6-6z">"#),
        _ => format!(r#"<path class="mark s3" d="M{x:.1} {y:.1}m0-6l6 11h-12z">"#),
    };
    let close = if series == 0 { "circle" } else { "path" };
    let _ = write!(out, "{shape}<title>{title}</title></{close}>");
}
