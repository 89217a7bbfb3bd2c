//! reStructuredText: titles by their underlines, levels by the order in which the lines occur.

use super::decode::Source;
use super::headed::{self, Headed, Heading};
use super::node::squeeze;
use super::{Document, Sidecar, Tiers};

/// Reads a reStructuredText file. A target (`.. _name:`) above a title begins the section and gives
/// it its anchor.
pub(super) fn read(source: &Source<'_>, sidecar: Option<Sidecar<'_>>, tiers: Tiers) -> Document {
    headed::read(source, sidecar, tiers, headings(source), to_markdown)
}

fn headings(source: &Source<'_>) -> Headed {
    let lines: Vec<(usize, &str)> =
        source.lines().map(|(at, line)| (at, line.trim_start_matches('\u{feff}'))).collect();
    let line = |idx: usize| lines.get(idx).map_or("", |&(_, line)| line.trim_end());
    let start = |idx: usize| lines.get(idx).map_or(source.text.len(), |&(at, _)| at);
    // The styles of lines in the order in which they occur: the sign, and whether it stands above too.
    let mut styles: Vec<(char, bool)> = Vec::new();
    let mut headings: Vec<Heading> = Vec::new();
    let mut idx = 0;
    while idx < lines.len() {
        let over = adornment(line(idx));
        let (title_idx, sign) = match over {
            Some(sign) if is_title(line(idx + 1)) && adornment(line(idx + 2)) == Some(sign) => {
                (idx + 1, sign)
            }
            _ => match adornment(line(idx + 1)).filter(|_| over.is_none()) {
                Some(sign) if is_title_at_margin(line(idx)) && fits(line(idx), line(idx + 1)) => {
                    (idx, sign)
                }
                _ => {
                    idx += 1;
                    continue;
                }
            },
        };
        let is_over = title_idx != idx;
        let level =
            styles.iter().position(|&style| style == (sign, is_over)).unwrap_or_else(|| {
                styles.push((sign, is_over));
                styles.len() - 1
            });
        let (first, anchor) = target_above(idx, line);
        headings.push(Heading {
            level: u8::try_from(level + 1).unwrap_or(u8::MAX),
            title: squeeze(line(title_idx)).replace('`', ""),
            anchor,
            start: start(first),
            body: start(title_idx + 2),
        });
        idx = title_idx + 2;
    }
    Headed { title: None, headings }
}

/// The line that a section begins with when a target stands above its title, and the target.
fn target_above<'a>(idx: usize, line: impl Fn(usize) -> &'a str) -> (usize, Option<String>) {
    let mut at = idx;
    while at > 0 && line(at - 1).is_empty() {
        at -= 1;
    }
    let target = at
        .checked_sub(1)
        .and_then(|at| line(at).strip_prefix(".. _")?.strip_suffix(':').map(|name| (at, name)));
    match target {
        Some((at, name)) => (at, Some(name.trim_matches('`').replace(' ', "-"))),
        None => (idx, None),
    }
}

/// The sign of a line that is nothing but one sign.
fn adornment(line: &str) -> Option<char> {
    let sign = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 3 && line.chars().all(|c| c == sign)).then_some(sign)
}

fn is_title(line: &str) -> bool {
    line.chars().any(char::is_alphanumeric)
}

fn is_title_at_margin(line: &str) -> bool {
    is_title(line) && !line.starts_with(char::is_whitespace) && !line.starts_with(".. ")
}

/// Whether an underline is as long as its title, or nearly: wide letters need more than they count.
fn fits(title: &str, under: &str) -> bool {
    under.len() * 10 >= title.chars().count() * 8
}

/// Directives and borders of tables become nothing, `::` begins code, roles keep their text.
fn to_markdown(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len());
    // What indented lines are: code below a `::`, options or a note below a directive.
    let mut is_code = false;
    let mut is_directive = false;
    for line in text.lines() {
        let trimmed = line.trim();
        let is_indented = line.starts_with([' ', '\t']);
        if !is_indented && !trimmed.is_empty() {
            is_code = false;
            is_directive = false;
        }
        let is_border = trimmed.len() > 3 && trimmed.chars().all(|c| "=-+| ".contains(c));
        if trimmed.starts_with(".. ") {
            is_code =
                trimmed.contains("code") || trimmed.ends_with("::") && trimmed.contains("parsed");
            is_directive = true;
        } else if is_directive && trimmed.starts_with(':') || is_border && !is_code {
        } else if is_code {
            markdown.push_str("    ");
            markdown.push_str(line);
        } else {
            let bare = line.trim_end();
            let opens = bare.strip_suffix("::");
            is_code = opens.is_some();
            markdown.push_str(&without_roles(opens.unwrap_or(bare)));
            markdown.push_str(if opens.is_some_and(|rest| !rest.trim().is_empty()) {
                ":"
            } else {
                ""
            });
        }
        markdown.push('\n');
    }
    markdown
}

/// A name with a role (`:func:`) as code.
fn without_roles(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(":`") {
        match before.rsplit_once(':') {
            Some((head, role))
                if role.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) =>
            {
                text.push_str(head);
                text.push('`');
            }
            _ => {
                text.push_str(before);
                text.push_str(":`");
            }
        }
        rest = after;
    }
    text.push_str(rest);
    text
}
