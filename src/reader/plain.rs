//! Plain text: one record for the file.

use super::decode::Source;
use super::format::{file_name, file_stem};
use super::node::squeeze;
use super::sidecar::Entries;
use super::sketch::{Sketch, head};
use super::tiers::{Material, settle};
use super::{Document, Sidecar, Tiers};
use crate::record::{Kind, Record, RecordId};
use crate::text::Language;

/// Bytes of a text that its language is guessed from.
const SAMPLE_BYTES: usize = 4_000;
/// Characters up to which a first line on its own is a title.
const TITLE_CHARS: usize = 80;

/// Reads a file as plain text. A blank file has no record.
pub(super) fn read(source: &Source<'_>, sidecar: Option<Sidecar<'_>>, tiers: Tiers) -> Document {
    let mut diagnostics = Vec::new();
    let mut entries = Entries::read(sidecar, tiers, &mut diagnostics);
    let text = source.text.trim_start_matches('\u{feff}');
    let mut document = Document::default();
    if !text.trim().is_empty() {
        let n_hidden = source.text.len() - text.len();
        let title = title(text).unwrap_or_else(|| file_stem(source.path).to_owned());
        let mut sketch = Sketch::default();
        for paragraph in paragraphs(text) {
            Sketch::push(&mut sketch.prose, &squeeze(paragraph));
        }
        // A title on its own line says nothing about itself.
        if sketch.prose.len() > 1 && sketch.prose.first() == Some(&title) {
            sketch.prose.remove(0);
        }
        let settled = settle(Material {
            title: &title,
            names: &[title.clone(), file_stem(source.path).to_owned()],
            authored: &entries.take_file(source.path),
            sketch: &sketch,
            text,
            children: &[],
        });
        document.records.push(Record {
            id: RecordId::of_file(source.path),
            path: source.path.to_owned(),
            kind: Kind::File,
            title,
            breadcrumb: Vec::new(),
            scope: String::new(),
            span: source.span(&(0..source.text.len())),
            language: Language::detect(head(text, SAMPLE_BYTES)),
            triggers: settled.triggers,
            description: settled.description,
            summary: settled.summary,
            detail: source.text.to_string(),
            hidden: if n_hidden > 0 { std::iter::once(0..n_hidden).collect() } else { Vec::new() },
            body: None,
            children: Vec::new(),
        });
    }
    entries.check_rest(&[file_name(source.path)].into_iter(), &mut diagnostics);
    document.diagnostics = diagnostics;
    document
}

/// The first line, if it is short and a blank line follows it.
fn title(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
    let first = squeeze(lines.next()?);
    let stands_alone = lines.next().is_none_or(|line| {
        line.trim().is_empty() || line.trim().chars().all(|c| "=-~*".contains(c))
    });
    (stands_alone
        && first.chars().count() <= TITLE_CHARS
        && first.chars().any(char::is_alphanumeric))
    .then_some(first)
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").flat_map(|it| it.split("\r\n\r\n")).filter(|it| !it.trim().is_empty())
}
