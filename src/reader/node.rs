//! A piece of YAML or JSON as authors mean it: text, lists and named values; no types to trip over.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value of frontmatter, a comment block, a sidecar or a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// Nothing: `null`, `~`, or an empty value.
    Null,
    /// Any scalar, as it was written.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// Named values in their order.
    Map(Vec<(String, Self)>),
}

impl Node {
    /// The value under a name, if this is a map that has it.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The value under a path of names with dots between them: `metadata.scope`.
    pub(super) fn at(&self, path: &str) -> Option<&Self> {
        if let Some(value) = self.get(path) {
            return Some(value);
        }
        let (first, rest) = path.split_once('.')?;
        self.get(first)?.at(rest)
    }

    /// The names of a map.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let entries = if let Self::Map(entries) = self { entries.as_slice() } else { &[] };
        entries.iter().map(|(key, _)| key.as_str())
    }

    /// The value as one line of text: white space collapsed, the texts of a list joined by commas.
    /// `None` when nothing is left.
    pub(super) fn line(&self) -> Option<String> {
        let text = match self {
            Self::Null | Self::Map(_) => return None,
            Self::Text(text) => squeeze(text),
            Self::List(items) => items.iter().filter_map(Self::line).collect::<Vec<_>>().join(", "),
        };
        (!text.is_empty()).then_some(text)
    }

    /// The value as phrases: one for a text, one for each text of a list.
    pub(super) fn phrases(&self) -> Vec<String> {
        match self {
            Self::Null | Self::Map(_) => Vec::new(),
            Self::Text(_) => self.line().into_iter().collect(),
            Self::List(items) => items.iter().flat_map(Self::phrases).collect(),
        }
    }

    /// The value as text with its lines kept: lists one item a line, maps one `name: value` a line.
    pub(super) fn block(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Text(text) => text.trim().to_owned(),
            Self::List(items) => items
                .iter()
                .map(Self::block)
                .filter(|item| !item.is_empty())
                .collect::<Vec<_>>()
                .join("\n"),
            Self::Map(entries) => entries
                .iter()
                .map(|(key, value)| (key, value.block()))
                .filter(|(_, value)| !value.is_empty())
                .map(|(key, value)| format!("{key}: {value}"))
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}

/// Keeps the order in which a JSON object has its names, which `serde_json::Value` does not.
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Node, E> {
        Ok(Node::Text(it.to_string()))
    }

    fn visit_i64<E>(self, it: i64) -> Result<Node, E> {
        Ok(Node::Text(it.to_string()))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Node, E> {
        Ok(Node::Text(it.to_string()))
    }

    fn visit_f64<E>(self, it: f64) -> Result<Node, E> {
        Ok(Node::Text(it.to_string()))
    }

    fn visit_str<E>(self, it: &str) -> Result<Node, E> {
        Ok(Node::Text(it.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Node::Map(map))
    }
}

impl From<serde_yaml_ng::Value> for Node {
    fn from(value: serde_yaml_ng::Value) -> Self {
        use serde_yaml_ng::Value;
        match value {
            Value::Null => Self::Null,
            Value::Bool(it) => Self::Text(it.to_string()),
            Value::Number(it) => Self::Text(it.to_string()),
            Value::String(it) => Self::Text(it),
            Value::Sequence(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Mapping(entries) => Self::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| (Self::from(key).line().unwrap_or_default(), value.into()))
                    .collect(),
            ),
            Value::Tagged(tagged) => tagged.value.into(),
        }
    }
}

/// Returns text on one line: every run of white space as one space, none at the ends, no NUL.
pub(super) fn squeeze(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c == '\0').filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
