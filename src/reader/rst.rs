//! reStructuredText: titles by their underlines, levels by the order in which the lines occur.

use std::collections::BTreeMap;

use super::decode::Source;
use super::headed::{self, Headed, Heading};
use super::node::squeeze;
use super::{Document, Sidecar, Tiers};

/// Where the names lead that links of a file use, by the name in lower case (`.. _name: target`).
type Targets = BTreeMap<String, String>;

/// Reads a reStructuredText file. A target (`.. _name:`) above a title begins the section and gives
/// it its anchor.
pub(super) fn read(source: &Source<'_>, sidecar: Option<Sidecar<'_>>, tiers: Tiers) -> Document {
    let targets = targets(source);
    headed::read(source, sidecar, tiers, headings(source), |text| to_markdown(text, &targets))
}

/// The links of a file: targets and texts.
pub(super) fn links(source: &Source<'_>) -> Vec<(String, String)> {
    let targets = targets(source);
    headed::links(source, |text| to_markdown(text, &targets))
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
fn to_markdown(text: &str, targets: &Targets) -> String {
    let text = &with_links(text, targets);
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

fn targets(source: &Source<'_>) -> Targets {
    let of_line = |line: &str| {
        let (name, target) = line.trim().strip_prefix(".. _")?.split_once(": ")?;
        Some((name_of(name.trim_matches('`')), target.trim().to_owned()))
    };
    source.lines().filter_map(|(_, line)| of_line(line)).collect()
}

/// A name as links are told apart by it.
fn name_of(text: &str) -> String {
    squeeze(text).to_lowercase()
}

/// The text with its links as Markdown writes them: `` `text <target>`_ ``, `` `name`_ `` and `name_` for a name with a
/// target, `` :doc:`text <target>` `` and `` :ref:`text <label>` ``.
fn with_links(text: &str, targets: &Targets) -> String {
    let mut linked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['`', '_']) {
        let (before, sign) = rest.split_at(at);
        linked.push_str(before);
        let (sign, after) = sign.split_at(1);
        rest = after;
        if sign == "_" {
            let words = |c: char| c.is_alphanumeric() || "-.".contains(c);
            let start = linked.trim_end_matches(words).len();
            let word = linked.get(start..).unwrap_or_default();
            match targets.get(&word.to_lowercase()) {
                Some(target) if !rest.starts_with(|c: char| c.is_alphanumeric()) => {
                    let word = linked.split_off(start);
                    headed::push_link(&mut linked, &word, target);
                }
                _ => linked.push('_'),
            }
            continue;
        }
        // Two backticks: code.
        let mark = if rest.starts_with('`') { "``" } else { "`" };
        let inside = rest.get(mark.len() - 1..).unwrap_or_default();
        let Some((inside, after)) =
            inside.split_once(mark).filter(|it| mark == "``" || may_be_link(it.0))
        else {
            linked.push('`');
            continue;
        };
        let role = [":doc:", ":ref:"].into_iter().find(|&role| linked.ends_with(role));
        let named = inside.strip_suffix('>').and_then(|inside| inside.rsplit_once('<'));
        let is_reference = role.is_none() && mark == "`" && after.starts_with('_');
        let target = |target: &str| match (role, target.strip_suffix('_')) {
            (Some(":ref:"), _) => format!("#{target}"),
            (None, Some(name)) => targets.get(&name_of(name)).cloned().unwrap_or_default(),
            _ => target.to_owned(),
        };
        match named {
            Some((text, to)) if is_reference || mark == "`" && role.is_some() => {
                linked.truncate(linked.len() - role.map_or(0, str::len));
                headed::push_link(&mut linked, text, &target(to.trim()));
            }
            None if is_reference => {
                let to = targets.get(&name_of(inside)).map_or("", String::as_str);
                headed::push_link(&mut linked, inside, to);
            }
            _ => {
                linked.extend([mark, inside, mark]);
                rest = after;
                continue;
            }
        }
        rest = if is_reference { after.trim_start_matches('_') } else { after };
    }
    linked.push_str(rest);
    linked
}

/// Whether what stands between two backticks is one piece of a paragraph.
fn may_be_link(inside: &str) -> bool {
    inside.len() <= headed::MAX_LINK_BYTES && !inside.contains("\n\n")
}
