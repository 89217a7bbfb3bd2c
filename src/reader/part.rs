//! Long records in parts that fit into an answer.

use std::ops::Range;

use super::decode::Source;
use super::markdown;
use super::tiers::{Authored, Material, settle};
use crate::record::{Record, RecordId};

/// Bytes up to which a record stays whole: about 2,500 tokens of prose.
const WHOLE_BYTES: usize = 10_000;
/// Bytes that a part has at most, unless a single line is longer: about 1,000 tokens.
const PART_BYTES: usize = 4_000;
/// Bytes below which the last part is joined to the one before it.
const TINY_BYTES: usize = 500;

/// Splits the records that are longer than an answer has room for.
///
/// The record keeps its id for its first part and lists the others as children, `ID~2`, `ID~3` and
/// so on, before the records nested in it. A part has the title of the whole with its number, the
/// whole in its breadcrumb, and triggers and texts derived from its own words. Parts end before a
/// blank line outside fenced code where there is one, else at the end of a line. Left whole are
/// records that show something else than their bytes (rows) or do not begin with a line.
pub(super) fn split_long(source: &Source<'_>, records: Vec<Record>) -> Vec<Record> {
    let mut parts = Vec::with_capacity(records.len());
    for record in records {
        let line_idx = (record.span.lines.first as usize).saturating_sub(1);
        let start = source.start_of(line_idx);
        let stands_there = || source.slice(start..start + record.detail.len()) == record.detail;
        if record.detail.len() > WHOLE_BYTES && record.body.is_none() && stands_there() {
            split(source, start, record, &mut parts);
        } else {
            parts.push(record);
        }
    }
    parts
}

fn split(source: &Source<'_>, start: usize, mut record: Record, parts: &mut Vec<Record>) {
    let ranges = ranges(&record.detail, &record.hidden);
    let n_parts = ranges.len();
    let Some((first, rest)) = ranges.split_first() else { return parts.push(record) };
    let whole = std::mem::take(&mut record.detail);
    let span_of = |range: &Range<usize>| source.span(&(start + range.start..start + range.end));
    let part_of = |(idx, range): (usize, &Range<usize>)| {
        let number = idx + 2;
        let detail = whole.get(range.clone()).unwrap_or_default();
        let title = format!("{} ({number}/{n_parts})", record.title);
        let settled = settle(Material {
            title: &title,
            names: &[],
            authored: &Authored::default(),
            sketch: &markdown::sketch(detail),
            text: detail,
            children: &[],
        });
        let anchor = format!("{}~{number}", record.id.anchor_in(&record.path));
        Record {
            id: RecordId::of_part(&record.path, &anchor),
            path: record.path.clone(),
            kind: record.kind,
            title,
            breadcrumb: record.breadcrumb.iter().chain([&record.title]).cloned().collect(),
            scope: record.scope.clone(),
            span: span_of(range),
            language: record.language,
            triggers: settled.triggers,
            description: settled.description,
            summary: settled.summary,
            detail: detail.to_owned(),
            hidden: within(&record.hidden, range),
            body: None,
            children: Vec::new(),
        }
    };
    let tail: Vec<Record> = rest.iter().enumerate().map(part_of).collect();
    record.span = span_of(first);
    record.hidden = within(&record.hidden, first);
    record.children.splice(0..0, tail.iter().map(|part| part.id.clone()));
    whole.get(first.clone()).unwrap_or_default().clone_into(&mut record.detail);
    parts.push(record);
    parts.extend(tail);
}

/// The hidden ranges that lie in a part, counted from its start. No part ends inside one.
fn within(hidden: &[Range<usize>], part: &Range<usize>) -> Vec<Range<usize>> {
    hidden
        .iter()
        .filter(|range| range.start >= part.start && range.end <= part.end)
        .map(|range| range.start - part.start..range.end - part.start)
        .collect()
}

/// Where a text is cut: whole lines, as many as fit, up to the last good place.
fn ranges(text: &str, hidden: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    // The last places to cut at: before a blank line in prose, and at the end of any line.
    let (mut good, mut fair) = (0, 0);
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_inside = hidden.iter().any(|range| range.start < at && at < range.end);
        // Hidden text is not shown, so it takes no room.
        let n_hidden = hidden.iter().filter(|it| it.start >= start && it.end <= at).map(Range::len);
        let n_bytes = at + line.len() - start - n_hidden.sum::<usize>();
        if n_bytes > PART_BYTES && !is_inside {
            let cut = if good > start { good } else { fair };
            if text.get(start..cut).is_some_and(stands_alone) {
                ranges.push(start..cut);
                start = cut;
            }
        }
        if !is_inside {
            fair = at;
        }
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(close)) if open == close => fence = None,
            (None, None) if line.trim().is_empty() && !is_inside => good = at,
            _ => {}
        }
        at += line.len();
    }
    match ranges.last_mut() {
        Some(last) if text.len() - start < TINY_BYTES => last.end = text.len(),
        _ => ranges.push(start..text.len()),
    }
    ranges
}

/// Whether a piece is worth a part of its own: a heading alone, or nothing but blank lines, goes with what follows.
fn stands_alone(piece: &str) -> bool {
    let n_lines = piece.lines().filter(|line| !line.trim().is_empty()).take(2).count();
    n_lines == 2 || n_lines == 1 && piece.len() >= TINY_BYTES
}
