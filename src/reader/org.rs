//! Org: headings by their stars, outside blocks.

use super::decode::Source;
use super::format::format_of;
use super::headed::{self, Headed, Heading};
use super::node::squeeze;
use super::{Document, Sidecar, Tiers};
use crate::text::head;

/// Words before a title that tell the state of a task.
const STATES: [&str; 8] =
    ["TODO", "DONE", "NEXT", "WAITING", "HOLD", "CANCELLED", "CANCELED", "STARTED"];

/// Lines that begin or end code.
const FENCES: [&str; 4] = ["#+begin_src", "#+begin_example", "#+end_src", "#+end_example"];

/// Reads an Org file. `#+TITLE:` is the title of the document, `:CUSTOM_ID:` the anchor of a section.
pub(super) fn read(source: &Source<'_>, sidecar: Option<Sidecar<'_>>, tiers: Tiers) -> Document {
    headed::read(source, sidecar, tiers, headings(source), to_markdown)
}

/// The links of a file: targets and texts.
pub(super) fn links(source: &Source<'_>) -> Vec<(String, String)> {
    headed::links(source, to_markdown)
}

fn headings(source: &Source<'_>) -> Headed {
    let mut headed = Headed::default();
    let mut is_block = false;
    for (at, line) in source.lines() {
        let text = line.trim_start_matches('\u{feff}').trim_end();
        let keyword = text.trim_start().get(..8).unwrap_or(text.trim_start()).to_ascii_lowercase();
        if keyword == "#+begin_" || keyword.starts_with("#+end_") {
            is_block = keyword == "#+begin_";
            continue;
        }
        if keyword.starts_with("#+title:") {
            let title = squeeze(text.trim_start().get(8..).unwrap_or_default());
            headed.title = Some(title).filter(|title| !title.is_empty());
        }
        if let (Some(id), Some(heading)) =
            (text.trim_start().strip_prefix(":CUSTOM_ID:"), headed.headings.last_mut())
        {
            heading.anchor = Some(squeeze(id));
        }
        let n_stars = text.bytes().take_while(|&b| b == b'*').count();
        let title = text.get(n_stars..).and_then(|rest| rest.strip_prefix(' '));
        if let (1.., Some(title), false) = (n_stars, title, is_block) {
            headed.headings.push(Heading {
                level: u8::try_from(n_stars).unwrap_or(u8::MAX),
                title: title_of(title),
                anchor: None,
                start: at,
                body: at + line.len(),
            });
        }
    }
    headed
}

/// A heading without its state, its priority and its tags.
fn title_of(heading: &str) -> String {
    let title = heading.trim();
    let title = match title.split_once(' ') {
        Some((state, rest)) if STATES.contains(&state) => rest.trim_start(),
        _ => title,
    };
    let title = match title.strip_prefix("[#").and_then(|rest| rest.split_once(']')) {
        Some((_, rest)) => rest.trim_start(),
        None => title,
    };
    let title = match title.rsplit_once(' ') {
        Some((rest, tags)) if tags.len() > 2 && tags.starts_with(':') && tags.ends_with(':') => {
            rest
        }
        _ => title,
    };
    squeeze(title).replace(['=', '~'], "")
}

/// Drawers and keywords become nothing, blocks become fences, links keep their text.
fn to_markdown(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len());
    let mut is_drawer = false;
    let mut is_code = false;
    for line in text.lines() {
        let trimmed = line.trim();
        let lower = trimmed.to_ascii_lowercase();
        if matches!(lower.as_str(), ":properties:" | ":logbook:") {
            is_drawer = true;
        } else if lower == ":end:" {
            is_drawer = false;
        } else if FENCES.iter().any(|fence| lower.starts_with(fence)) {
            is_code = lower.starts_with("#+begin");
            markdown.push_str("```");
        } else if is_code {
            markdown.push_str(line);
        } else if !is_drawer && !lower.starts_with("#+") {
            markdown.push_str(&marked(line));
        }
        markdown.push('\n');
    }
    markdown
}

/// `=code=` and `~code~` in backticks, `[[target][text]]` as Markdown writes it.
fn marked(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("[[") {
        text.push_str(before);
        let Some((link, _)) = head(after, headed::MAX_LINK_BYTES).split_once("]]") else {
            text.push_str("[[");
            rest = after;
            continue;
        };
        match link.rsplit_once("][") {
            Some((target, words)) => headed::push_link(&mut text, words, &target_of(target)),
            None => text.push_str(link),
        }
        rest = after.get(link.len() + "]]".len()..).unwrap_or_default();
    }
    text.push_str(rest);
    for sign in ['=', '~'] {
        text = text
            .split(' ')
            .map(|word| {
                let open =
                    word.strip_prefix(sign).map_or_else(|| word.to_owned(), |it| format!("`{it}"));
                let bare = open.trim_end_matches(['.', ',', ';', ':']);
                let tail = open.get(bare.len()..).unwrap_or_default();
                bare.strip_suffix(sign).map_or_else(|| open.clone(), |it| format!("{it}`{tail}"))
            })
            .collect::<Vec<_>>()
            .join(" ");
    }
    text
}

/// Where a link leads, as Markdown writes it: `file:a.org::*Heading` is `a.org#Heading`, and what is no file is a place in
/// the same one.
fn target_of(link: &str) -> String {
    let (path, place) = link.split_once("::").unwrap_or((link, ""));
    let file = path.strip_prefix("file:").or_else(|| {
        let is_path =
            path.starts_with(['.', '/']) || path.contains(':') || format_of(path).is_some();
        is_path.then_some(path)
    });
    // Of the ways to name a place, a line or words to look for are no anchor.
    let anchor = place.strip_prefix(['#', '*']).unwrap_or_default();
    match file {
        Some(file) if anchor.is_empty() => file.to_owned(),
        Some(file) => format!("{file}#{anchor}"),
        None => format!("#{}", path.trim_start_matches(['#', '*'])),
    }
}
