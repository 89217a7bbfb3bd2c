//! YAML as people write it, read line by line when a strict parser refuses it. Loses nothing that
//! stands behind a `name:`, and never fails.

use super::node::{Node, squeeze};

/// What to do about YAML that had to be read here.
pub(super) const HELP: &str = "it was read line by line; indent with spaces, give each name once, \
                               and put quotes around values that hold `: ` or begin with a sign";

/// Reads `name: value` lines. Of a repeated name the first value stands.
///
/// Understood: nested maps and lists by indentation (a tab counts as one space), flow lists on one
/// line, quoted scalars, `|` and `>` blocks, continuation lines, comment lines. Everything else of
/// a value is taken as text: `: ` inside it, `#`, `@`, `*`, `!`, unbalanced quotes.
pub(super) fn parse(text: &str) -> Node {
    let lines: Vec<Line<'_>> = text
        .lines()
        .map(|line| Line { indent: line.len() - line.trim_start().len(), text: line.trim() })
        .collect();
    map_of(&lines)
}

/// The entry that a line begins: its name, and the rest behind the colon.
pub(super) fn entry(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = match line.strip_prefix(['"', '\'']) {
        Some(quoted) => {
            let (name, rest) = quoted.split_once(['"', '\''])?;
            (name, rest.trim_start().strip_prefix(':')?)
        }
        None => line.split_once(':')?,
    };
    let name = name.trim();
    let is_name = !line.starts_with(['#', '-', '<', '[', '{'])
        && name.len() <= 64
        && name.chars().all(|c| c.is_alphanumeric() || "-_. /#".contains(c))
        && name.split(' ').count() <= 3;
    let is_value = rest.is_empty() || rest.starts_with([' ', '\t', '"', '\'', '[']);
    (is_name && is_value && !name.is_empty()).then_some((name, rest.trim()))
}

#[derive(Clone, Copy)]
struct Line<'a> {
    indent: usize,
    text: &'a str,
}

fn map_of(lines: &[Line<'_>]) -> Node {
    let mut entries: Vec<(String, Node)> = Vec::new();
    let mut rest = lines;
    let base = lines.iter().find_map(|line| entry(line.text).map(|_| line.indent)).unwrap_or(0);
    while let Some((line, tail)) = rest.split_first() {
        rest = tail;
        let Some((name, value)) = entry(line.text).filter(|_| line.indent <= base) else {
            continue;
        };
        // The value goes on until the next name at this depth; list items may stand at it.
        let n = rest
            .iter()
            .position(|next| next.indent <= line.indent && entry(next.text).is_some())
            .unwrap_or(rest.len());
        let (block, tail) = rest.split_at(n);
        rest = tail;
        if !entries.iter().any(|(known, _)| known == name) {
            entries.push((name.to_owned(), value_of(value, block)));
        }
    }
    Node::Map(entries)
}

fn value_of(head: &str, block: &[Line<'_>]) -> Node {
    let block = match block.iter().rposition(|line| !line.text.is_empty()) {
        Some(last) => block.get(..=last).unwrap_or_default(),
        None => &[],
    };
    let kept = || block.iter().filter(|line| !line.text.starts_with('#') && !line.text.is_empty());
    if head.starts_with('|') || head.starts_with('>') {
        let joint = if head.starts_with('|') { "\n" } else { " " };
        return text_of(&block.iter().map(|line| line.text).collect::<Vec<_>>().join(joint));
    }
    if head.is_empty() {
        return match kept().next() {
            None => Node::Null,
            Some(first) if first.text.starts_with("- ") || first.text == "-" => list_of(block),
            Some(first) if entry(first.text).is_some() => map_of(block),
            Some(_) => text_of(&kept().map(|line| line.text).collect::<Vec<_>>().join(" ")),
        };
    }
    let whole =
        std::iter::once(head).chain(kept().map(|line| line.text)).collect::<Vec<_>>().join(" ");
    match whole.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) => Node::List(split_flow(inner).iter().map(|item| text_of(item)).collect()),
        None => text_of(&whole),
    }
}

fn list_of(lines: &[Line<'_>]) -> Node {
    let mut items: Vec<String> = Vec::new();
    for line in lines.iter().filter(|line| !line.text.is_empty() && !line.text.starts_with('#')) {
        match (line.text.strip_prefix('-'), items.last_mut()) {
            (Some(item), _) if item.is_empty() || item.starts_with([' ', '\t']) => {
                items.push(item.trim().to_owned());
            }
            (_, Some(last)) => {
                last.push(' ');
                last.push_str(line.text);
            }
            (_, None) => items.push(line.text.to_owned()),
        }
    }
    Node::List(items.iter().map(|item| text_of(item)).collect())
}

fn text_of(text: &str) -> Node {
    let text = text.trim();
    let bare = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote).and_then(|inner| inner.strip_suffix(quote)));
    let text = match bare {
        Some(inner) => inner.replace("''", "'").replace("\\\"", "\"").replace("\\n", "\n"),
        // A quote that nothing closes is a slip of the pen.
        None => text.trim_start_matches('"').to_owned(),
    };
    if matches!(text.as_str(), "" | "null" | "~") { Node::Null } else { Node::Text(text) }
}

/// Splits the inside of a flow list at its commas, not at those inside quotes.
fn split_flow(inner: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut quote = None;
    for c in inner.chars() {
        match (quote, c) {
            (None, ',') => {
                items.push(String::new());
                continue;
            }
            (None, '"' | '\'') if items.last().is_some_and(|item| item.trim().is_empty()) => {
                quote = Some(c);
            }
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
        if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    items.retain(|item| !squeeze(item).is_empty());
    items
}
