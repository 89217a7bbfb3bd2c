//! JSONL: one object a line, one record a row.

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::node::Node;
use super::row::Rows;
use super::sidecar::Entries;
use super::{Document, Options, Sidecar};

/// Reads a JSONL file. The span of a row is its line without the end of line.
pub(super) fn read(
    source: &Source<'_>,
    sidecar: Option<Sidecar<'_>>,
    options: &Options,
) -> Document {
    let mut diagnostics = Vec::new();
    let entries = Entries::read(sidecar, options.tiers, &mut diagnostics);
    let mut rows = Rows::new(source, &options.fields, entries, diagnostics);
    for (start, line) in source.lines() {
        let row = line.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n', '\0']);
        if row.is_empty() {
            continue;
        }
        let start = start + line.find(row).unwrap_or_default();
        match serde_json::from_str::<Node>(row) {
            Ok(object @ Node::Map(_)) => rows.push(&object, start..start + row.len()),
            Ok(_) => {
                let line = source.line_of(start);
                rows.skip(Diagnostic::error(source.path, line, "line is not a JSON object"));
            }
            Err(error) => {
                let line = source.line_of(start);
                let cause = error.to_string();
                let cause = cause.split(" at line ").next().unwrap_or_default();
                let message = format!("line is not JSON: {cause}");
                let column = u32::try_from(error.column()).unwrap_or(1);
                rows.skip(Diagnostic::error(source.path, line, message).at_column(column));
            }
        }
    }
    let (records, diagnostics) = rows.finish();
    Document { records, diagnostics, links: Vec::new() }
}
