//! Jupyter notebooks: the cells as one Markdown text, with code in fences; outputs are left out.

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::node::Node;
use super::rendering::Rendering;
use super::{Document, Sidecar, Tiers, plain};
use crate::text::head;

/// Bytes of outputs that may stand between a cell and the next.
const MAX_SOUGHT: usize = 4 << 20;

/// Reads a notebook. Its sections are those of its Markdown cells.
///
/// A record shows the text and code of its cells; its span is the JSON from the line of its heading
/// to the line of the next one.
pub(super) fn read(source: &Source<'_>, sidecar: Option<Sidecar<'_>>, tiers: Tiers) -> Document {
    let text = source.text.trim_start_matches('\u{feff}');
    let notebook = match serde_json::from_str::<Node>(text) {
        Ok(notebook) => notebook,
        Err(error) => {
            let mut document = plain::read(source, sidecar, tiers);
            let line = u32::try_from(error.line()).unwrap_or(1);
            let message = format!("notebook is not JSON: {error}");
            let note = Diagnostic::warning(source.path, line, message);
            document.diagnostics.push(note.help("it was read as plain text; save it anew"));
            return document;
        }
    };
    render(source, &notebook).read(source, sidecar, tiers)
}

/// The links of a notebook: targets and texts.
pub(super) fn links(source: &Source<'_>) -> Vec<(String, String)> {
    let notebook = serde_json::from_str::<Node>(source.text.trim_start_matches('\u{feff}'));
    notebook.map_or_else(|_| Vec::new(), |notebook| render(source, &notebook).links(source))
}

/// The cells as one text.
fn render(source: &Source<'_>, notebook: &Node) -> Rendering {
    let mut rendering = Rendering::default();
    let Some(Node::List(cells)) = notebook.get("cells") else { return rendering };
    let language = notebook
        .at("metadata.kernelspec.language")
        .or_else(|| notebook.at("metadata.language_info.name"))
        .and_then(Node::line)
        .unwrap_or_default();
    let mut at = 0;
    for cell in cells {
        let text = match cell.get("source") {
            Some(Node::List(lines)) => lines
                .iter()
                .map(|line| if let Node::Text(line) = line { line.as_str() } else { "" })
                .collect(),
            Some(Node::Text(text)) => text.clone(),
            _ => continue,
        };
        if text.trim().is_empty() {
            continue;
        }
        let is_code = cell.get("cell_type") == Some(&Node::Text("code".to_owned()));
        if is_code {
            rendering.push(&format!("```{language}"), source.line_start(at));
        }
        // A line that is escaped in another way is not found; then the cell's others are not sought.
        let mut is_found = true;
        for line in text.lines() {
            match find(&source.text, line, at).filter(|_| is_found) {
                Some(found) => at = found,
                None => is_found = is_found && line.trim().is_empty(),
            }
            rendering.push(line, source.line_start(at));
        }
        if is_code {
            rendering.push("```", source.line_start(at));
        }
        rendering.push("", source.line_start(at));
    }
    rendering
}

/// Where a line of a cell stands in the JSON, from a place on.
fn find(json: &str, line: &str, from: usize) -> Option<usize> {
    let quoted = serde_json::Value::from(line).to_string();
    let inside = quoted.strip_suffix('"')?.strip_prefix('"')?;
    let rest = head(json.get(from..)?, MAX_SOUGHT);
    rest.find(inside).filter(|_| !inside.trim().is_empty()).map(|at| from + at)
}
