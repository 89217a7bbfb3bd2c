//! JSON and YAML that is a list: one entry, one record. Anything else in these formats is settings
//! or data of another shape, and plain text to us.

use std::ops::Range;

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::node::Node;
use super::row::Rows;
use super::{Document, Options, Sidecar, lenient, plain};

/// Reads a JSON file: the objects of a list are rows.
pub(super) fn read_json(
    source: &Source<'_>,
    sidecar: Option<Sidecar<'_>>,
    options: &Options,
) -> Document {
    let Some(ranges) = json_entries(&source.text) else {
        return plain::read(source, sidecar, options.tiers);
    };
    let mut rows = Rows::open(source.path, sidecar, options);
    for range in ranges {
        let line = source.line_of(range.start);
        match serde_json::from_str::<Node>(source.slice(range.clone())) {
            Ok(object @ Node::Map(_)) => rows.push(source, &object, range),
            Ok(_) => {
                let note = Diagnostic::error(source.path, line, "entry is not a JSON object");
                rows.remark(note.help("write each entry as one: {\"id\": ..., \"text\": ...}"));
            }
            Err(error) => {
                let message = format!("entry is not JSON: {error}");
                let note = Diagnostic::error(source.path, line, message);
                rows.remark(note.help("put it right: the other entries are read"));
            }
        }
    }
    let (records, diagnostics) = rows.finish();
    Document { records, diagnostics, ..Document::default() }
}

/// Reads a YAML file: the maps of a list, and the documents of a file with several, are rows. They
/// are shown as they stand, unless a field holds their text.
pub(super) fn read_yaml(
    source: &Source<'_>,
    sidecar: Option<Sidecar<'_>>,
    options: &Options,
) -> Document {
    let Some(ranges) = yaml_entries(source) else {
        return plain::read(source, sidecar, options.tiers);
    };
    let mut rows = Rows::open(source.path, sidecar, options).shown_as_they_stand();
    for range in ranges {
        let text = source.slice(range.clone());
        // Anchors of another entry are unknown here; what the strict parser refuses is read by line.
        let node = match serde_yaml_ng::from_str::<serde_yaml_ng::Value>(text) {
            Ok(serde_yaml_ng::Value::Sequence(mut items)) if items.len() == 1 => {
                items.pop().map_or(Node::Null, Node::from)
            }
            Ok(value) => value.into(),
            Err(_) => lenient::parse(&text.replacen("- ", "  ", 1)),
        };
        rows.push(source, &node, range);
    }
    let (records, diagnostics) = rows.finish();
    Document { records, diagnostics, ..Document::default() }
}

/// Where the entries of a JSON list stand; `None` if the text is no list with an object in it.
fn json_entries(text: &str) -> Option<Vec<Range<usize>>> {
    let trimmed = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let inside = trimmed.strip_prefix('[')?;
    let base = text.len() - inside.len();
    let mut ranges = Vec::new();
    let mut depth = 0usize;
    let mut in_string = false;
    let mut is_escaped = false;
    let mut start = 0;
    let mut push = |range: Range<usize>| {
        let entry = inside.get(range.clone()).unwrap_or_default();
        let start = base + range.start + (entry.len() - entry.trim_start().len());
        if !entry.trim().is_empty() {
            ranges.push(start..start + entry.trim().len());
        }
    };
    let mut end = inside.len();
    for (at, b) in inside.bytes().enumerate() {
        if in_string {
            in_string = is_escaped || b != b'"';
            is_escaped = !is_escaped && b == b'\\';
            continue;
        }
        match b {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b']' if depth == 0 => {
                end = at;
                break;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    push(start..end);
    let is_list =
        ranges.iter().any(|range| text.get(range.start..).is_some_and(|it| it.starts_with('{')));
    is_list.then_some(ranges)
}

/// Where the entries of a YAML list, or the documents of a YAML stream, stand.
fn yaml_entries(source: &Source<'_>) -> Option<Vec<Range<usize>>> {
    let lines: Vec<(usize, &str)> = source.lines().collect();
    let is_entry = |line: &str| line.starts_with("- ") || line.trim_end() == "-";
    let is_break = |line: &str| line.trim_end() == "---" || line.starts_with("--- ");
    let first = lines.iter().find(|(_, line)| {
        let line = line.trim_start_matches('\u{feff}');
        !line.trim().is_empty() && !line.starts_with('#') && !is_break(line)
    })?;
    let mut starts: Vec<usize> = Vec::new();
    if is_entry(first.1) {
        starts.extend(lines.iter().filter(|(_, line)| is_entry(line)).map(|&(start, _)| start));
    } else {
        let n_before = lines.iter().take_while(|(start, _)| *start < first.0).count();
        starts.push(first.0);
        let breaks = lines.iter().skip(n_before).filter(|(_, line)| is_break(line));
        starts.extend(breaks.map(|&(start, line)| start + line.len()));
        if starts.len() < 2 {
            return None;
        }
    }
    let ends = starts.iter().skip(1).copied().chain([source.text.len()]);
    let ranges = starts.iter().copied().zip(ends).filter_map(|(start, end)| {
        let text = source.slice(start..end);
        let text = text.trim_end().trim_end_matches("---").trim_end();
        let lead = text.len() - text.trim_start_matches(['\r', '\n']).len();
        (!text.trim().is_empty()).then(|| start + lead..start + text.len())
    });
    Some(ranges.collect())
}
