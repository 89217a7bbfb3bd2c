//! `AsciiDoc`: headings by their `=` signs, outside delimited blocks.

use super::decode::Source;
use super::headed::{self, Headed, Heading};
use super::node::squeeze;
use super::{Document, Sidecar, Tiers};
use crate::text::head;

/// Lines that delimit blocks in which nothing is a heading.
const DELIMITERS: [&str; 5] = ["----", "....", "////", "++++", "```"];

/// Reads an `AsciiDoc` file. An anchor (`[[name]]`, `[#name]`) and other attributes above a heading
/// begin its section.
pub(super) fn read(source: &Source<'_>, sidecar: Option<Sidecar<'_>>, tiers: Tiers) -> Document {
    headed::read(source, sidecar, tiers, headings(source), to_markdown)
}

/// The links of a file: targets and texts.
pub(super) fn links(source: &Source<'_>) -> Vec<(String, String)> {
    headed::links(source, to_markdown)
}

fn headings(source: &Source<'_>) -> Headed {
    let mut headings: Vec<Heading> = Vec::new();
    let mut block: Option<String> = None;
    // Where the attributes above the next line begin, and the anchor among them.
    let mut above: Option<(usize, Option<String>)> = None;
    for (at, line) in source.lines() {
        let text = line.trim_start_matches('\u{feff}').trim_end();
        match (&block, delimiter(text)) {
            (None, Some(delimiter)) => {
                block = Some(delimiter.to_owned());
                above = None;
                continue;
            }
            (Some(open), Some(close)) if open == close => {
                block = None;
                continue;
            }
            (Some(_), _) => continue,
            (None, None) => {}
        }
        if text.starts_with('[') && text.ends_with(']') {
            let (_, anchor) = above.get_or_insert((at, None));
            *anchor = anchor_of(text).or(anchor.take());
            continue;
        }
        let n_signs = text.bytes().take_while(|&b| b == b'=').count();
        let title = text.get(n_signs..).and_then(|rest| rest.strip_prefix(' '));
        if let (1..=6, Some(title)) = (n_signs, title.filter(|title| !title.trim().is_empty())) {
            let (start, anchor) = above.take().unwrap_or((at, None));
            headings.push(Heading {
                level: u8::try_from(n_signs).unwrap_or(u8::MAX),
                title: squeeze(title.trim_end_matches(['=', ' '])).replace('`', ""),
                anchor,
                start,
                body: at + line.len(),
            });
        }
        above = None;
    }
    Headed { title: None, headings }
}

fn delimiter(line: &str) -> Option<&str> {
    let known = DELIMITERS.into_iter().find(|delimiter| line.starts_with(delimiter))?;
    if known == "```" {
        return Some(known);
    }
    let sign = known.chars().next()?;
    line.chars().all(|c| c == sign).then_some(line)
}

fn anchor_of(attributes: &str) -> Option<String> {
    let inside = attributes.trim_matches(['[', ']']);
    let name = match inside.strip_prefix('#') {
        Some(name) => name,
        None => inside.strip_prefix("id=").or(attributes.strip_prefix("[[").and(Some(inside)))?,
    };
    let name = name.split([',', '.', '%']).next().unwrap_or_default().trim_matches('"');
    (!name.is_empty()).then(|| name.to_owned())
}

/// Attributes and block titles become nothing, listings become fences, macros keep their text.
fn to_markdown(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len());
    let mut is_remark = false;
    let mut is_code = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(delimiter) = delimiter(trimmed) {
            if delimiter.starts_with('/') {
                is_remark = !is_remark;
            } else {
                is_code = !is_code;
                markdown.push_str("```");
            }
        } else if is_code {
            markdown.push_str(line);
        } else if is_remark
            || trimmed.starts_with("//")
            || trimmed.starts_with('[') && trimmed.ends_with(']')
            || trimmed.starts_with(':') && trimmed.get(1..).is_some_and(|rest| rest.contains(':'))
            || ["====", "****", "____", "|===", "--", "+", "include::", "image::", "toc::"]
                .iter()
                .any(|mark| trimmed == *mark || mark.ends_with(':') && trimmed.starts_with(mark))
        {
        } else if let Some(title) =
            trimmed.strip_prefix('.').filter(|rest| rest.starts_with(char::is_alphabetic))
        {
            markdown.push_str(title);
            markdown.push('\n');
        } else {
            markdown.push_str(&with_links(line));
        }
        markdown.push('\n');
    }
    markdown
}

/// A line with its links as Markdown writes them: `xref:`, `link:` and URLs with their `[text]`, and `<<target,text>>`.
fn with_links(line: &str) -> String {
    let mut linked = String::with_capacity(line.len());
    let mut rest = line;
    // Where the word begins that is being read.
    let mut start = 0;
    while let Some(at) = rest.find(['[', '<']) {
        let (before, sign) = rest.split_at(at);
        linked.push_str(before);
        let word = before.rsplit(|c: char| c.is_whitespace() || "(\"'".contains(c)).next();
        if let Some(word) = word.filter(|word| word.len() < before.len()) {
            start = linked.len() - word.len();
        }
        let near = head(sign, headed::MAX_LINK_BYTES);
        let reference_to = near.strip_prefix("<<").and_then(|inside| inside.split_once(">>"));
        if let Some((inside, _)) = reference_to {
            let (target, text) = inside.split_once(',').unwrap_or((inside, inside));
            headed::push_link(&mut linked, text, &reference(target));
            rest = sign.get(inside.len() + "<<>>".len()..).unwrap_or_default();
            start = linked.len();
            continue;
        }
        let target = linked.get(start..).filter(|it| it.len() < headed::MAX_LINK_BYTES);
        let inside = near.strip_prefix('[').and_then(|inside| inside.split_once(']'));
        let (Some(target), Some((inside, _))) = (target.and_then(target_of), inside) else {
            let (sign, after) = sign.split_at(1);
            linked.push_str(sign);
            rest = after;
            continue;
        };
        // What follows a comma is an attribute when it has a value.
        let text = if inside.contains('=') {
            inside.split(',').next().unwrap_or_default()
        } else {
            inside
        };
        let text = text.trim_end_matches('^').trim_matches('"');
        linked.truncate(start);
        headed::push_link(&mut linked, if text.is_empty() { &target } else { text }, &target);
        rest = sign.get(inside.len() + "[]".len()..).unwrap_or_default();
        start = linked.len();
    }
    linked.push_str(rest);
    linked
}

/// Where a macro leads that stands before its text.
fn target_of(word: &str) -> Option<String> {
    let (name, path) = word.split_once(':')?;
    match name {
        _ if path.is_empty() => None,
        "xref" => Some(reference(path)),
        "link" => Some(path.to_owned()),
        "http" | "https" => Some(word.to_owned()),
        _ => None,
    }
}

/// Where a cross reference leads: a name alone is an anchor of the same file.
fn reference(target: &str) -> String {
    let is_file = target.contains('#')
        || [".adoc", ".asciidoc", ".asc"].iter().any(|it| target.ends_with(it));
    if is_file { target.to_owned() } else { format!("#{target}") }
}
