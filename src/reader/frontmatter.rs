//! The header of a note or a skill: where it ends, and what it says, however broken it is.

use super::decode::Source;
use super::diagnostic::Diagnostic;
use super::lenient;
use super::node::Node;
use super::tiers::{Authored, Place};

/// Characters that a skill's description may have by the Agent Skills specification.
const SKILL_DESCRIPTION_CHARS: usize = 1_024;
/// Names that tell a second header from a body that begins with a rule.
const KNOWN: [&str; 7] =
    ["name", "title", "description", "triggers", "summary", "aliases", "metadata"];

/// What kind of file has the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// A note or a page: the header may be missing.
    Note,
    /// A skill: the header must give a name and a description, so more is done to read it.
    Skill,
}

/// A header that was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Front {
    /// Where the body begins: 0 without a header and without a byte order mark.
    pub end: usize,
    /// `title`.
    pub title: Option<String>,
    /// `name`.
    pub name: Option<String>,
    /// `aliases` and `redirect_from`: other names; of a path, the words of its last part.
    pub aliases: Vec<String>,
    /// `triggers` and `metadata.triggers`, `description`, `summary`.
    pub authored: Authored,
}

/// Reads the header of a file, if it has one.
pub(super) fn read(
    source: &Source<'_>,
    header: Header,
    diagnostics: &mut Vec<Diagnostic>,
) -> Front {
    let bom = if source.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut end = bom;
    let mut node = Node::Map(Vec::new());
    let mut first_line = 1;
    if let Some(block) = block_at(source, bom)
        && let Some(found) = block.node(source, header, diagnostics)
    {
        end = block.end;
        node = found;
        first_line = source.line_of(block.text.start);
        if let Some(second) = block_at(source, end)
            && let Some(more) = second.node(source, Header::Note, &mut Vec::new())
            && more.names().any(|name| KNOWN.contains(&name))
        {
            let line = source.line_of(second.text.start);
            diagnostics.push(
                Diagnostic::warning(source.path, line, "second frontmatter block")
                    .help("move its lines into the first block"),
            );
            end = second.end;
            node = merge(node, more);
        }
    } else if header == Header::Skill
        && let Some(block) = unclosed_at(source, bom)
    {
        let line = source.line_of(block.text.start);
        diagnostics.push(
            Diagnostic::warning(source.path, line, "frontmatter has no closing fence")
                .help("add a line `---` below it"),
        );
        if let Some(found) = block.node(source, header, diagnostics) {
            end = block.end;
            node = found;
        }
    }
    if end == bom
        && let Some(block) = other_block_at(source, bom)
        && let Some(found) = block.node(source, header, diagnostics)
    {
        end = block.end;
        node = found;
        first_line = source.line_of(block.text.start);
    }
    let front = front_of(&node, end);
    check(&front, &node, header, Place { path: source.path, line: first_line }, diagnostics);
    front
}

/// What a YAML error says, without the place it says it of.
pub(super) fn cause(error: &serde_yaml_ng::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

/// A fenced block at the top of a file.
struct Block {
    /// The lines between the fences.
    text: std::ops::Range<usize>,
    /// Where the line after the closing fence begins.
    end: usize,
    /// What is written in it.
    notation: Notation,
}

/// How a header is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// Between `---`.
    Yaml,
    /// Between `+++`.
    Toml,
    /// An object at the top of the file.
    Json,
}

impl Block {
    /// The map that the block holds, `None` if it is not a header but text between two rules.
    fn node(
        &self,
        source: &Source<'_>,
        header: Header,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Node> {
        let text = source.slice(self.text.clone());
        match self.notation {
            Notation::Yaml => self.yaml(text, source, header, diagnostics),
            Notation::Json => serde_json::from_str(text).ok(),
            Notation::Toml => {
                Some(toml::from_str(text).unwrap_or_else(|error: toml::de::Error| {
                    let at = self.text.start + error.span().map_or(0, |span| span.start);
                    let message = format!("frontmatter is not valid TOML: {}", error.message());
                    let note = Diagnostic::warning(source.path, source.line_of(at), message);
                    diagnostics.push(note.help("it was read line by line; put texts in quotes"));
                    lenient::parse(&text.replace(" = ", ": "))
                }))
            }
        }
    }

    fn yaml(
        &self,
        text: &str,
        source: &Source<'_>,
        header: Header,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Node> {
        let loose = lenient::parse(text);
        match serde_yaml_ng::from_str::<serde_yaml_ng::Value>(text) {
            Ok(value @ serde_yaml_ng::Value::Mapping(_)) => Some(as_written(value, Some(&loose))),
            Ok(serde_yaml_ng::Value::Null) => Some(Node::Map(Vec::new())),
            Ok(_) => None,
            Err(error) => {
                if !is_header(text, header) {
                    return None;
                }
                let place = error.location();
                let line = place.as_ref().map_or(1, serde_yaml_ng::Location::line);
                let column = place.as_ref().map_or(1, serde_yaml_ng::Location::column);
                let line = source.line_of(self.text.start) + u32::try_from(line).unwrap_or(1) - 1;
                let message = format!("frontmatter is not valid YAML: {}", cause(&error));
                diagnostics.push(
                    Diagnostic::warning(source.path, line, message)
                        .at_column(u32::try_from(column).unwrap_or(1))
                        .help(super::lenient::HELP),
                );
                Some(loose)
            }
        }
    }
}

/// Numbers and truth values as they stand in the file: `1.10` is a name, not 1.1.
fn as_written(value: serde_yaml_ng::Value, loose: Option<&Node>) -> Node {
    use serde_yaml_ng::Value;
    match (value, loose) {
        (Value::Bool(_) | Value::Number(_), Some(Node::Text(text))) => Node::Text(text.clone()),
        (Value::Mapping(entries), loose) => Node::Map(
            entries
                .into_iter()
                .map(|(key, value)| {
                    let key = Node::from(key).line().unwrap_or_default();
                    let value = as_written(value, loose.and_then(|loose| loose.get(&key)));
                    (key, value)
                })
                .collect(),
        ),
        (Value::Sequence(items), Some(Node::List(texts))) if texts.len() == items.len() => {
            Node::List(
                items
                    .into_iter()
                    .zip(texts)
                    .map(|(item, text)| as_written(item, Some(text)))
                    .collect(),
            )
        }
        (value, _) => value.into(),
    }
}

/// Whether lines that are no valid YAML are meant as a header all the same.
fn is_header(text: &str, header: Header) -> bool {
    let mut lines = text.lines().filter(|line| header == Header::Note || !line.trim().is_empty());
    let starts_well = lines.next().is_some_and(|line| lenient::entry(line.trim_end()).is_some());
    starts_well
        && (header == Header::Skill
            || lines.all(|line| {
                line.is_empty()
                    || line.starts_with([' ', '\t', '#', '-', ']', '}'])
                    || lenient::entry(line).is_some()
            }))
}

/// The fenced block that a file begins with from `from` on, after blank lines.
fn block_at(source: &Source<'_>, from: usize) -> Option<Block> {
    let start = open_at(source, from)?;
    let mut at = start;
    for line in source.slice(start..source.text.len()).split_inclusive('\n') {
        let end = at + line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return Some(Block { text: start..at, end, notation: Notation::Yaml });
        }
        at = end;
    }
    None
}

/// The header in another notation that a file begins with: TOML between lines of `+++`, or a JSON
/// object with a name that headers have, up to a line `}`.
fn other_block_at(source: &Source<'_>, from: usize) -> Option<Block> {
    let text = source.slice(from..source.text.len());
    let first = text.lines().next().unwrap_or_default().trim_end();
    let (notation, close) = match first {
        "+++" => (Notation::Toml, "+++"),
        "{" => (Notation::Json, "}"),
        _ => return None,
    };
    let mut at = from;
    for (idx, line) in text.split_inclusive('\n').enumerate() {
        let end = at + line.len();
        if idx > 0 && line.trim_end() == close {
            let inner = match notation {
                Notation::Json => from..end,
                Notation::Toml | Notation::Yaml => {
                    source.start_of(source.line_of(from) as usize)..at
                }
            };
            let block = Block { text: inner, end, notation };
            let is_known = |node: Node| node.names().any(|name| KNOWN.contains(&name));
            let is_header = notation == Notation::Toml
                || serde_json::from_str(source.slice(block.text.clone())).is_ok_and(is_known);
            return is_header.then_some(block);
        }
        at = end;
    }
    None
}

/// The header that an opening fence begins and nothing ends: up to a blank line or a heading.
fn unclosed_at(source: &Source<'_>, from: usize) -> Option<Block> {
    let start = open_at(source, from)?;
    let mut end = start;
    for line in source.slice(start..source.text.len()).split_inclusive('\n') {
        if line.trim().is_empty() || line.starts_with('#') {
            break;
        }
        end += line.len();
    }
    Some(Block { text: start..end, end, notation: Notation::Yaml })
}

/// Where the line after an opening fence begins.
fn open_at(source: &Source<'_>, from: usize) -> Option<usize> {
    let mut at = from;
    for line in source.slice(from..source.text.len()).split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == "---" {
            return Some(at);
        }
        if !line.trim().is_empty() {
            return None;
        }
    }
    None
}

fn merge(first: Node, second: Node) -> Node {
    let (Node::Map(mut entries), Node::Map(more)) = (first, second) else { return Node::Null };
    for (name, value) in more {
        match entries.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) if *known == Node::Null => *known = value,
            Some(_) => {}
            None => entries.push((name, value)),
        }
    }
    Node::Map(entries)
}

fn front_of(node: &Node, end: usize) -> Front {
    let metadata = node.get("metadata").map(Authored::of).unwrap_or_default();
    let mut authored = Authored::of(node);
    authored.triggers.extend(metadata.triggers);
    Front {
        end,
        title: node.get("title").and_then(Node::line),
        name: node.get("name").and_then(Node::line),
        aliases: ["aliases", "alias", "redirect_from"]
            .into_iter()
            .filter_map(|name| node.get(name))
            .flat_map(Node::phrases)
            .filter_map(|alias| called(&alias))
            .collect(),
        authored,
    }
}

/// An alias in words: `/guides/old-name.html` is "old name".
fn called(alias: &str) -> Option<String> {
    if !alias.starts_with('/') && (!alias.contains('/') || alias.contains(' ')) {
        return Some(alias.to_owned());
    }
    let last = alias.trim_end_matches('/').rsplit('/').next()?;
    let last = super::format::file_stem(last).replace(['-', '_'], " ");
    (last != "index" && !last.is_empty()).then_some(last)
}

fn check(
    front: &Front,
    node: &Node,
    header: Header,
    place: Place<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Place { path, line } = place;
    for name in ["name", "title", "description", "summary"] {
        if matches!(node.get(name), Some(Node::List(_) | Node::Map(_))) {
            let message = format!("`{name}` is not a text");
            let note = Diagnostic::warning(path, line, message);
            diagnostics.push(note.help("write it as one text, in quotes if it has signs"));
        }
    }
    // The description is read by other tools too, which give it more room than a tier has.
    let rest = Authored { description: None, ..front.authored.clone() };
    rest.check_length(place, diagnostics);
    if header == Header::Note {
        return;
    }
    let missing = match (&front.name, &front.authored.description) {
        (None, None) => "skill has neither `name` nor `description`",
        (None, Some(_)) => "skill has no `name`",
        (Some(_), None) => "skill has no `description`",
        (Some(_), Some(_)) => "",
    };
    if !missing.is_empty() {
        let help = "give both in its frontmatter: models choose a skill by them";
        diagnostics.push(Diagnostic::warning(path, line, missing).help(help));
    }
    let n_chars = front.authored.description.as_ref().map_or(0, |text| text.chars().count());
    if n_chars > SKILL_DESCRIPTION_CHARS {
        let message = format!(
            "skill description has {n_chars} characters, more than {SKILL_DESCRIPTION_CHARS}"
        );
        let note = Diagnostic::warning(path, line, message);
        diagnostics.push(note.help("shorten it: other tools refuse the skill"));
    }
}
