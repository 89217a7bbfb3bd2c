//! Tickets, read back from the file in which they are kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a tracker's file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TicketFormat {
    /// One ticket, a Markdown file with its fields in front matter; its text is the field `body`.
    Markdown,
    /// A list of objects, an object that holds one under `tickets`, `issues` or `items`, or one object.
    Json,
    /// An object a line.
    Jsonl,
    /// A row a ticket, with a header.
    Csv,
}

/// The fields of a ticket, as text.
pub type Ticket = BTreeMap<String, String>;

/// Why a tracker cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TicketFault {
    /// It is not written as it should be.
    #[error("the tracker cannot be read: {0}")]
    Form(String),
    /// A ticket has no id.
    #[error("ticket number {number} of the tracker has no `id`")]
    NoId {
        /// Counted from 1.
        number: usize,
    },
    /// Two tickets have one id, so neither can be meant.
    #[error("two tickets of the tracker have the id `{0}`")]
    TwoWithOneId(String),
}

/// What people write where something is still to be written.
const PLACEHOLDERS: [&str; 9] =
    ["-", "?", "n/a", "none", "null", "tbd", "todo", "unknown", "unassigned"];

/// Whether a field says something.
pub(super) fn is_filled(value: Option<&String>) -> bool {
    value.is_some_and(|value| {
        let value = value.trim().trim_matches(['.', '…', '<', '>', '[', ']']).to_lowercase();
        !value.is_empty() && !PLACEHOLDERS.contains(&value.as_str())
    })
}

/// Reads the tickets of a tracker, by their ids. An empty file has none.
///
/// # Errors
/// [`TicketFault`], for a tracker of which one ticket cannot be read or told from another.
pub fn tickets(
    bytes: &[u8],
    format: TicketFormat,
) -> Result<BTreeMap<String, Ticket>, TicketFault> {
    let text = std::str::from_utf8(bytes).map_err(|error| TicketFault::Form(error.to_string()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let list = match format {
        TicketFormat::Markdown => vec![markdown(text)?],
        TicketFormat::Json => json(text)?,
        TicketFormat::Jsonl => text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| fields(&parse(line)?))
            .collect::<Result<_, _>>()?,
        TicketFormat::Csv => csv(text)?,
    };
    let mut tickets = BTreeMap::new();
    for (ticket_idx, ticket) in list.into_iter().enumerate() {
        let id = ["id", "_id", "key", "number"].iter().find_map(|key| ticket.get(*key));
        let id = id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
        let id = id.ok_or(TicketFault::NoId { number: ticket_idx + 1 })?;
        if tickets.contains_key(&id) {
            return Err(TicketFault::TwoWithOneId(id));
        }
        tickets.insert(id, ticket);
    }
    Ok(tickets)
}

fn markdown(text: &str) -> Result<Ticket, TicketFault> {
    let form = |why: &str| TicketFault::Form(why.to_owned());
    let text = text.replace("\r\n", "\n");
    let rest = text.strip_prefix("---\n").ok_or_else(|| form("it has no front matter"))?;
    let (front, body) = match rest.split_once("\n---\n") {
        Some((front, body)) => (front, body),
        None => {
            let front =
                rest.strip_suffix("\n---").ok_or_else(|| form("its front matter has no end"))?;
            (front, "")
        }
    };
    let value: Value =
        serde_yaml_ng::from_str(front).map_err(|error| TicketFault::Form(error.to_string()))?;
    let mut ticket = fields(&value)?;
    ticket.entry("body".to_owned()).or_insert_with(|| body.trim().to_owned());
    Ok(ticket)
}

fn json(text: &str) -> Result<Vec<Ticket>, TicketFault> {
    let value = parse(text)?;
    let list = match &value {
        Value::Array(list) => list.as_slice(),
        Value::Object(object) => {
            let inner = ["tickets", "issues", "items"].iter().find_map(|key| object.get(*key));
            match inner {
                Some(Value::Array(list)) => list.as_slice(),
                _ => std::slice::from_ref(&value),
            }
        }
        _ => return Err(TicketFault::Form("it is neither a list nor an object".to_owned())),
    };
    list.iter().map(fields).collect()
}

fn parse(text: &str) -> Result<Value, TicketFault> {
    serde_json::from_str(text).map_err(|error| TicketFault::Form(error.to_string()))
}

fn fields(value: &Value) -> Result<Ticket, TicketFault> {
    let object = value.as_object();
    let object = object.ok_or_else(|| TicketFault::Form("a ticket is no object".to_owned()))?;
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(items) if items.is_empty() => String::new(),
        Value::Object(items) if items.is_empty() => String::new(),
        other => other.to_string(),
    };
    Ok(object.iter().map(|(key, value)| (key.clone(), text(value))).collect())
}

fn csv(text: &str) -> Result<Vec<Ticket>, TicketFault> {
    let mut rows = rows(text)?.into_iter();
    let header = rows.next().unwrap_or_default();
    let of_row = |(row_idx, row): (usize, Vec<String>)| {
        if row.len() != header.len() {
            let (n, want) = (row.len(), header.len());
            return Err(TicketFault::Form(format!(
                "row {} has {n} fields, not {want}",
                row_idx + 2
            )));
        }
        Ok(header.iter().map(|name| name.trim().to_owned()).zip(row).collect())
    };
    rows.enumerate().map(of_row).collect()
}

/// The rows of a CSV file: fields between commas, quoted ones with anything in them.
fn rows(text: &str) -> Result<Vec<Vec<String>>, TicketFault> {
    let mut rows = Vec::new();
    let (mut row, mut field) = (Vec::new(), String::new());
    let mut is_quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' if is_quoted => is_quoted = false,
            '"' if field.is_empty() => is_quoted = true,
            c if is_quoted => field.push(c),
            ',' => row.push(std::mem::take(&mut field)),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    if is_quoted {
        return Err(TicketFault::Form("a quoted field has no end".to_owned()));
    }
    if !row.is_empty() || !field.is_empty() {
        row.push(field);
        rows.push(row);
    }
    // An empty line is no row.
    rows.retain(|row| row.len() > 1 || row.first().is_some_and(|field| !field.trim().is_empty()));
    Ok(rows)
}
