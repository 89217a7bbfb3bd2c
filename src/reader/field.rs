//! Which fields of a row mean what.

use super::node::Node;

/// The names under which rows keep their parts, first match wins; a dot reaches into nested
/// objects: `metadata.scope`.
///
/// ```
/// use psos::reader::Fields;
///
/// let fields = Fields { text: vec!["answer".into()], ..Fields::default() };
/// assert_eq!(fields.id, ["_id", "id"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    /// The key that stays the same across edits; the line number stands in for a missing one.
    pub id: Vec<String>,
    /// The title.
    pub title: Vec<String>,
    /// The text.
    pub text: Vec<String>,
    /// The conversation, user or other partition that the row belongs to.
    pub scope: Vec<String>,
}

impl Default for Fields {
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            id: names(&["_id", "id"]),
            title: names(&["title", "name"]),
            text: names(&["text", "body", "content", "description"]),
            scope: names(&["scope", "metadata.scope"]),
        }
    }
}

/// The first of `names` under which a row has something, with its value.
pub(super) fn first<'a>(row: &'a Node, names: &'a [String]) -> Option<(&'a str, &'a Node)> {
    names
        .iter()
        .filter_map(|name| row.at(name).map(|value| (name.as_str(), value)))
        .find(|(_, value)| !value.block().is_empty())
}
