//! JSONL: one object a line, one record a row.

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::node::Node;
use super::row::Rows;

/// What may stand around a row on its line.
const AROUND: [char; 6] = ['\u{feff}', ' ', '\t', '\r', '\n', '\0'];

/// Reads a piece of a JSONL file that ends with a line. The span of a row is its line without the end of line.
pub(super) fn read(source: &Source<'_>, rows: &mut Rows<'_>) {
    for (start, line) in source.lines() {
        let row = line.trim_matches(AROUND);
        if row.is_empty() {
            continue;
        }
        let start = start + line.find(row).unwrap_or_default();
        // Rows that were cut out of a list.
        let bare = row.strip_suffix(',').map_or(row, str::trim_end);
        match serde_json::from_str::<Node>(bare) {
            Ok(object @ Node::Map(_)) => {
                if bare != row {
                    let line = source.line_of(start);
                    let note = Diagnostic::warning(source.path, line, "line ends in a comma");
                    rows.remark(note.help("leave it out: each line is JSON by itself"));
                }
                rows.push(source, &object, start..start + bare.len());
            }
            Ok(_) => {
                let line = source.line_of(start);
                rows.remark(
                    Diagnostic::error(source.path, line, "line is not a JSON object")
                        .help("write each row as one object: {\"id\": ..., \"text\": ...}"),
                );
            }
            Err(error) => {
                let line = source.line_of(start);
                let cause = error.to_string();
                let cause = cause.split(" at line ").next().unwrap_or_default();
                let message = format!("line is not JSON: {cause}");
                let column = u32::try_from(error.column()).unwrap_or(1);
                let help = match error.classify() {
                    serde_json::error::Category::Eof => "the line is cut off, or goes on below",
                    _ => "write each row on one line",
                };
                let note = Diagnostic::error(source.path, line, message).at_column(column);
                rows.remark(note.help(help));
            }
        }
    }
}
