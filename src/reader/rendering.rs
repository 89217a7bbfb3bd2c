//! Files that are read as Markdown although they are something else: the text that is shown, and
//! the way back from its lines to the file.

use super::decode::Source;
use super::{Document, Sidecar, Tiers, markdown, part};

/// A file put into Markdown.
#[derive(Debug, Default)]
pub(super) struct Rendering {
    text: String,
    /// For each line of the text, the place in the file that it was made from.
    places: Vec<usize>,
}

impl Rendering {
    /// Adds lines that were made from what stands at `place`. Places must not decrease.
    pub(super) fn push(&mut self, lines: &str, place: usize) {
        for line in lines.split('\n') {
            self.text.push_str(line);
            self.text.push('\n');
            self.places.push(place);
        }
    }

    /// Reads the text, and makes its records ones of the file: each shows its text, and spans what
    /// its lines were made from, up to the next record.
    pub(super) fn read(
        &self,
        source: &Source<'_>,
        sidecar: Option<Sidecar<'_>>,
        tiers: Tiers,
    ) -> Document {
        let inner = Source::of_text(source.path, &self.text);
        let mut document = markdown::read(&inner, sidecar, tiers);
        document.records = part::split_long(&inner, document.records);
        for diagnostic in document.diagnostics.iter_mut().filter(|it| it.path == source.path) {
            diagnostic.line = source.line_of(self.place(diagnostic.line));
        }
        let starts: Vec<usize> =
            document.records.iter().map(|record| self.place(record.span.lines.first)).collect();
        let ends: Vec<usize> = starts.iter().skip(1).copied().chain([source.text.len()]).collect();
        let mut at = 0;
        for (record, end) in document.records.iter_mut().zip(ends) {
            let start = at;
            at = end.max(start);
            record.body = Some(without_anchor(&record.shown()));
            record.hidden.clear();
            source.slice(start..at).clone_into(&mut record.detail);
            record.span = source.span(&(start..at));
        }
        document
    }

    /// The links of the text: targets and texts.
    pub(super) fn links(&self, source: &Source<'_>) -> Vec<(String, String)> {
        markdown::links(&Source::of_text(source.path, &self.text))
    }

    fn place(&self, line: u32) -> usize {
        let idx = usize::try_from(line).unwrap_or_default().saturating_sub(1);
        self.places.get(idx).copied().unwrap_or_default()
    }
}

/// Takes `{#anchor}` off a heading: it was put there for the reader of Markdown alone.
fn without_anchor(text: &str) -> String {
    let (heading, rest) = text.split_once('\n').unwrap_or((text, ""));
    match heading.strip_suffix('}').and_then(|rest| rest.rsplit_once(" {#")) {
        Some((title, _)) if heading.starts_with('#') => {
            format!("{title}\n{rest}").trim_end().to_owned()
        }
        _ => text.to_owned(),
    }
}
