//! Items of source code to records, whatever found them.

use std::ops::Range;

use crate::reader::Document;
use crate::reader::decode::Source;
use crate::reader::diagnostic::Diagnostic;
use crate::reader::format::{file_name, file_stem};
use crate::reader::markdown;
use crate::reader::nest::Nest;
use crate::reader::node::squeeze;
use crate::reader::sidecar::Entries;
use crate::reader::tiers::{Material, settle};
use crate::record::{Kind, Record, RecordId, Slugger};
use crate::text::{Language, head};

/// Bytes of comments that the language is guessed from.
const SAMPLE_BYTES: usize = 4_000;
/// Bytes of a signature that are kept.
const SIGNATURE_BYTES: usize = 240;

/// A named item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Item {
    /// Its own name.
    pub name: String,
    /// The names of the scopes it stands in, outermost first.
    pub scopes: Vec<String>,
    /// The item that it is nested in.
    pub parent: Option<usize>,
    /// Where it begins, with the comment above it.
    pub start: usize,
    /// The text of its comment.
    pub comment: String,
    /// Its declaration without the body, in the source.
    pub signature: Range<usize>,
}

/// Turns the items of a file, in the order of their starts, into records.
pub(super) fn records(
    source: &Source<'_>,
    separator: &str,
    items: &[Item],
    mut entries: Entries,
    diagnostics: Vec<Diagnostic>,
) -> Document {
    let mut document = Document { diagnostics, ..Document::default() };
    let mut keys = Slugger::default();
    let names: Vec<String> = items
        .iter()
        .map(|item| {
            let parts: Vec<&str> =
                item.scopes.iter().chain([&item.name]).map(String::as_str).collect();
            parts.join(separator)
        })
        .collect();
    let anchors: Vec<String> = names.iter().map(|name| keys.unique(name)).collect();
    let sample: Vec<&str> = items.iter().map(|item| item.comment.as_str()).collect();
    let language = Language::detect(head(&sample.join("\n"), SAMPLE_BYTES));
    let nest = Nest::of(items.iter().map(|item| item.parent));
    let children = |nested: &[usize]| -> Vec<RecordId> {
        let anchors = nested.iter().filter_map(|&i| anchors.get(i));
        anchors.map(|anchor| RecordId::of_part(source.path, anchor)).collect()
    };
    let titles = |nested: &[usize]| -> Vec<&str> {
        nested.iter().filter_map(|&i| items.get(i)).map(|item| item.name.as_str()).collect()
    };

    let first = items.first().map_or(source.text.len(), |item| item.start);
    let lead = source.slice(0..first);
    if !lead.trim().is_empty() {
        let nested = nest.children(None);
        let title = file_name(source.path).to_owned();
        let authored = entries.take_file(source.path);
        let settled = settle(Material {
            title: &title,
            names: &[title.clone(), file_stem(source.path).to_owned()],
            authored: &authored,
            sketch: &markdown::sketch(&lead_comment(lead)),
            text: "",
            children: &titles(nested),
        });
        document.records.push(Record {
            id: RecordId::of_file(source.path),
            path: source.path.to_owned(),
            kind: Kind::File,
            title,
            breadcrumb: Vec::new(),
            scope: String::new(),
            span: source.span(&(0..first)),
            language,
            triggers: settled.triggers,
            description: settled.description,
            summary: settled.summary,
            detail: lead.to_owned(),
            hidden: Vec::new(),
            body: None,
            children: children(nested),
        });
    }

    let ends = items.iter().skip(1).map(|item| item.start).chain([source.text.len()]);
    let all = items.iter().zip(ends).zip(names.iter().zip(&anchors)).enumerate();
    for (idx, ((item, end), (name, anchor))) in all {
        let nested = nest.children(Some(idx));
        let range = item.start..end;
        let mut sketch = markdown::sketch(&item.comment);
        let signature = squeeze(source.slice(item.signature.clone()));
        let signature = head(&signature, SIGNATURE_BYTES).trim_end_matches(['{', ':', '=', ' ']);
        sketch.commands.splice(0..0, [signature.to_owned()]);
        let authored = entries.take(anchor);
        let settled = settle(Material {
            title: name,
            names: &triggers(item, name),
            authored: &authored,
            sketch: &sketch,
            text: source.slice(range.clone()),
            children: &titles(nested),
        });
        document.records.push(Record {
            id: RecordId::of_part(source.path, anchor),
            path: source.path.to_owned(),
            kind: Kind::Item,
            title: item.name.clone(),
            breadcrumb: item.scopes.clone(),
            scope: String::new(),
            span: source.span(&range),
            language,
            triggers: settled.triggers,
            description: settled.description,
            summary: settled.summary,
            detail: source.slice(range).to_owned(),
            hidden: Vec::new(),
            body: None,
            children: children(nested),
        });
    }
    entries.check_rest(&anchors.iter().map(String::as_str), &mut document.diagnostics);
    document
}

/// The full name, and the own name if it is more than a word of the language: `parse_args` selects
/// an item, `get` in some class does not.
fn triggers(item: &Item, name: &str) -> Vec<String> {
    let own = &item.name;
    let is_compound = own.contains('_') && own.trim_matches('_').contains('_')
        || own.chars().zip(own.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let mut names = vec![name.to_owned()];
    if is_compound && !item.scopes.is_empty() {
        names.push(own.clone());
    }
    names
}

/// The first comment of a file that is about its code.
fn lead_comment(lead: &str) -> String {
    let mut groups: Vec<String> = vec![String::new()];
    let mut quote: Option<&str> = None;
    for line in lead.lines() {
        let trimmed = line.trim();
        let opens = ["\"\"\"", "'''", "/*"].into_iter().find(|mark| trimmed.starts_with(mark));
        let is_comment = quote.is_some()
            || opens.is_some()
            || trimmed.starts_with("//")
            || trimmed.starts_with('#')
                && !trimmed.starts_with("#!")
                && !trimmed.starts_with("#include");
        if let (Some(group), true) = (groups.last_mut(), is_comment) {
            group.push_str(line);
            group.push('\n');
        } else if groups.last().is_some_and(|group| !group.is_empty()) {
            groups.push(String::new());
        }
        match (quote, opens) {
            (Some(open), _) => {
                let close = if open == "/*" { "*/" } else { open };
                if trimmed.ends_with(close) {
                    quote = None;
                }
            }
            (None, Some(open)) => {
                let close = if open == "/*" { "*/" } else { open };
                let rest = trimmed.get(open.len()..).unwrap_or_default();
                if !rest.contains(close) {
                    quote = Some(open);
                }
            }
            (None, None) => {}
        }
    }
    let about_code =
        groups.iter().find(|group| !group.is_empty() && !super::comment::is_legal(group));
    match about_code {
        Some(group) if group.trim_start().starts_with(['"', '\'']) => {
            super::comment::text_of_string(group.trim())
        }
        Some(group) => super::comment::text_of(group),
        None => String::new(),
    }
}
