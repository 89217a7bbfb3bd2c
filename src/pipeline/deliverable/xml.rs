//! As much of XML as reports of tests need: which tags follow which, without what is in them.

use super::runner::{Counts, RunnerFault};

/// A tag of a document.
#[derive(Debug, PartialEq, Eq)]
enum Tag<'a> {
    Open(&'a str, &'a str),
    Close(&'a str),
    /// `<x/>`: opens and closes.
    Alone(&'a str, &'a str),
}

/// Counts the cases of a report. Attributes of suites only have to agree with that.
pub(super) fn junit(text: &str) -> Result<Counts, RunnerFault> {
    let mut counts = Counts::default();
    let mut announced = 0;
    let mut announces = false;
    let (mut is_suite_seen, mut depth) = (false, 0_u32);
    // Of the case that is open: what became of it so far.
    let mut case: Option<Counts> = None;
    let passed = Counts { passed: 1, ..Counts::default() };
    let mut take = |case: Counts| {
        counts.passed += case.passed;
        counts.failed += case.failed;
        counts.skipped += case.skipped;
    };
    for tag in tags(text).ok_or(RunnerFault::NoCounts)? {
        let (name, attributes, is_open) = match tag {
            Tag::Open(name, attributes) => (name, attributes, true),
            Tag::Alone(name, attributes) => (name, attributes, false),
            Tag::Close(name) => {
                match name {
                    "testcase" => case.take().into_iter().for_each(&mut take),
                    "testsuite" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                continue;
            }
        };
        match name {
            "testsuite" => {
                is_suite_seen = true;
                // An outer suite counts the cases of its inner ones.
                if depth == 0
                    && let Some(n) =
                        attribute(attributes, "tests").and_then(|n| n.parse::<u64>().ok())
                {
                    announced += n;
                    announces = true;
                }
                depth += u32::from(is_open);
            }
            "testcase" if is_open => case = Some(passed),
            "testcase" => take(passed),
            "failure" | "error" => {
                if let Some(case) = &mut case {
                    *case = Counts { failed: 1, ..Counts::default() };
                }
            }
            "skipped" => {
                if let Some(case) = case.as_mut().filter(|case| case.failed == 0) {
                    *case = Counts { skipped: 1, ..Counts::default() };
                }
            }
            _ => {}
        }
    }
    if !is_suite_seen || depth > 0 {
        return Err(RunnerFault::NoCounts);
    }
    let reported = counts.ran() + counts.skipped;
    if announces && announced != reported {
        return Err(RunnerFault::Disagrees { announced, reported });
    }
    Ok(counts)
}

/// The tags of a document in order; `None` when one does not end.
fn tags(text: &str) -> Option<Vec<Tag<'_>>> {
    let mut tags = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = rest.get(at..)?;
        // What holds no tags, whatever it looks like.
        let hidden = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
        if let Some((start, end)) = hidden.iter().find(|(start, _)| rest.starts_with(start)) {
            let inside = rest.get(start.len()..)?;
            rest = inside.get(inside.find(end)? + end.len()..)?;
            continue;
        }
        let length = tag_length(rest)?;
        let inside = rest.get(1..length - 1)?;
        rest = rest.get(length..)?;
        let name_of = |tag: &'_ str| tag.find([' ', '\t', '\r', '\n', '/']).unwrap_or(tag.len());
        if let Some(name) = inside.strip_prefix('/') {
            tags.push(Tag::Close(name.trim_end()));
            continue;
        }
        let (name, attributes) = inside.split_at(name_of(inside));
        tags.push(match attributes.strip_suffix('/') {
            Some(attributes) => Tag::Alone(name, attributes),
            None => Tag::Open(name, attributes),
        });
    }
    Some(tags)
}

/// The length of a tag with its brackets; a bracket in quotes does not end it.
fn tag_length(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at + 1),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = attributes;
    while let Some((key, behind)) = rest.split_once('=') {
        let behind = behind.trim_start();
        let quote = behind.chars().next().filter(|c| ['"', '\''].contains(c))?;
        let (value, after) = behind.get(1..)?.split_once(quote)?;
        if key.trim() == name {
            return Some(value);
        }
        rest = after;
    }
    None
}
