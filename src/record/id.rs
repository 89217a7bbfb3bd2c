//! The name of a record: stable across edits, readable, and unique in its store.

use std::collections::BTreeMap;
use std::fmt;

/// The name of a record: `path#heading-slug`, `path#key`, or `path` for a whole file.
///
/// A hash tells that content changed; the id is what stays when it does. Ids are ordered by their
/// bytes, which is the order in which equal scores are answered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordId(String);

impl RecordId {
    /// The id of a whole file, or of the part of it before its first section.
    pub fn of_file(path: &str) -> Self {
        Self(path.to_owned())
    }

    /// The id of a part of a file: a section by its slug, a row by its key, an item by its name.
    pub fn of_part(path: &str, anchor: &str) -> Self {
        Self(format!("{path}#{anchor}"))
    }

    /// Takes an id as a person or a store wrote it.
    pub fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part behind the path, empty for a whole file. `path` is the path of the record, since
    /// a path may itself hold a `#`.
    pub fn anchor_in(&self, path: &str) -> &str {
        self.0.strip_prefix(path).and_then(|rest| rest.strip_prefix('#')).unwrap_or_default()
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the anchor that GitHub gives a heading: lower case, letters, digits, marks, `_` and
/// `-` kept, each space turned into `-`, everything else removed.
pub fn slug(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c if c.is_alphanumeric() || is_mark(c) => Some(c),
            _ => None,
        })
        .collect()
}

/// Combining marks belong to the letter before them; without them Thai and Hindi headings would
/// lose their vowels.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Gives the headings of one file their slugs, and repeated ones `-1`, `-2` and so on.
#[derive(Debug, Default)]
pub struct Slugger {
    seen: BTreeMap<String, usize>,
}

impl Slugger {
    /// Returns a slug that this slugger has not returned before.
    pub fn slug(&mut self, heading: &str) -> String {
        self.unique(&slug(heading))
    }

    /// Returns `anchor`, or `anchor-1`, `anchor-2` … when it was returned before.
    ///
    /// A numbered form that is itself taken is skipped, as GitHub does.
    pub fn unique(&mut self, anchor: &str) -> String {
        let mut name = anchor.to_owned();
        while self.seen.contains_key(&name) {
            let n = self.seen.entry(anchor.to_owned()).or_default();
            *n += 1;
            name = format!("{anchor}-{n}");
        }
        self.seen.insert(name.clone(), 0);
        name
    }
}
