//! Sidecars: tiers kept beside a file, keyed by the anchors of its records.

use std::collections::BTreeMap;

use super::diagnostic::Diagnostic;
use super::format::file_name;
use super::lenient;
use super::node::Node;
use super::tiers::{Authored, Place, check_names, nearest};
use super::{Sidecar, Tiers};

/// Keys without a record for which the nearest anchor is looked up: it costs a look at all of them.
const MAX_NEAREST: usize = 20;

/// The entries of a sidecar that no record has taken yet.
///
/// The key of a record is its anchor: the slug of a section, the key of a row, the name of an item.
/// The record of the whole file, or of its part before the first section, has the key `.`, the
/// empty key, or the name of the file.
#[derive(Debug, Default)]
pub(super) struct Entries {
    path: String,
    entries: BTreeMap<String, (Authored, u32)>,
}

impl Entries {
    /// Reads a sidecar; there are no entries without one, or when only derived tiers are wanted.
    pub(super) fn read(
        sidecar: Option<Sidecar<'_>>,
        tiers: Tiers,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let Some(Sidecar { path, bytes }) = sidecar.filter(|_| tiers == Tiers::Authored) else {
            return Self::default();
        };
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}');
        let node = match serde_yaml_ng::from_str::<serde_yaml_ng::Value>(text) {
            Ok(value) => Node::from(value),
            Err(error) => {
                let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
                let message =
                    format!("sidecar is not valid YAML: {}", super::frontmatter::cause(&error));
                diagnostics.push(
                    Diagnostic::warning(path, u32::try_from(line).unwrap_or(1), message)
                        .at_column(u32::try_from(column).unwrap_or(1))
                        .help(lenient::HELP),
                );
                lenient::parse(text)
            }
        };
        let mut entries = BTreeMap::new();
        let Node::Map(anchors) = node else {
            if node != Node::Null {
                let note = Diagnostic::error(path, 1, "sidecar is not a map of anchors");
                diagnostics.push(note.help("write `anchor:` and its tiers below it, indented"));
            }
            return Self::default();
        };
        for (anchor, value) in anchors {
            let place = Place { path, line: line_of(text, &anchor) };
            if !matches!(value, Node::Map(_)) {
                let message = format!("entry `{anchor}` has no triggers, description or summary");
                let note = Diagnostic::warning(path, place.line, message);
                diagnostics.push(note.help("write them below it, indented"));
                continue;
            }
            let authored = Authored::of(&value);
            check_names(&value, place, diagnostics);
            authored.check_length(place, diagnostics);
            let key = if anchor.len() > 1 { anchor.trim_start_matches('#') } else { &anchor };
            entries.insert(key.to_owned(), (authored, place.line));
        }
        Self { path: path.to_owned(), entries }
    }

    /// Whether no entry is left.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes the tiers of the record of the whole file.
    pub(super) fn take_file(&mut self, path: &str) -> Authored {
        let keys = [".", "", file_name(path)];
        keys.into_iter().fold(Authored::default(), |all, key| all.over(self.take(key)))
    }

    /// Whether there is an entry for the section with this anchor.
    pub(super) fn has(&self, anchor: &str) -> bool {
        self.entries.contains_key(anchor)
    }

    /// Takes the tiers of the record with this anchor.
    pub(super) fn take(&mut self, anchor: &str) -> Authored {
        self.entries.remove(anchor).map(|(authored, _)| authored).unwrap_or_default()
    }

    /// Remarks on the entries that no record took.
    pub(super) fn check_rest<'a>(
        &self,
        anchors: &(impl Iterator<Item = &'a str> + Clone),
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        for (n, (key, (_, line))) in self.entries.iter().enumerate() {
            let message = format!("no record has the anchor `{key}`");
            let near = if n < MAX_NEAREST { nearest(key, anchors.clone()) } else { None };
            let help = near.map_or_else(
                || "`psos show-records` lists the records of a file".to_owned(),
                |anchor| format!("the nearest anchor is `{anchor}`"),
            );
            diagnostics.push(Diagnostic::warning(&self.path, *line, message).help(help));
        }
    }
}

/// The line of a sidecar that an entry begins on.
fn line_of(text: &str, anchor: &str) -> u32 {
    let found = text.lines().position(|line| {
        !line.starts_with(char::is_whitespace)
            && lenient::entry(line).is_some_and(|(name, _)| name == anchor)
    });
    found.and_then(|idx| u32::try_from(idx + 1).ok()).unwrap_or(1)
}
