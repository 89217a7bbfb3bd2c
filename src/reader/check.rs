//! What every reader promises of every file, as a check: for tests and for those who fuzz.

use std::collections::BTreeSet;

use super::Document;
use super::decode::{Encoding, Survey};
use crate::record::Record;

/// Checks what readers promise: the details of the records and the bytes between them are the file, no
/// record is without an id of its own, a title and a description, and what it names exists.
///
/// # Errors
/// The first promise that does not hold, in words for people.
pub fn check(bytes: &[u8], document: &Document) -> Result<(), String> {
    let mut survey = Survey::new();
    survey.push(bytes);
    let (encoding, _) = survey.finish("");
    let is_utf8 = encoding == Encoding::Utf8;
    // In UTF-16 the byte of an end of line may be half of another character.
    let has_lines = encoding.unit() == 1;
    let ids: BTreeSet<&str> = document.records.iter().map(|record| record.id.as_str()).collect();
    if ids.len() != document.records.len() {
        return Err("two records have the same id".to_owned());
    }
    let ends: Vec<usize> =
        bytes.iter().enumerate().filter(|&(_, &b)| b == b'\n').map(|(at, _)| at).collect();
    let line_of = |at: usize| ends.partition_point(|&end| end < at) + 1;
    let mut from = 0;
    for record in &document.records {
        let wrong = |what: &str| Err(format!("{}: {what}: {record:?}", record.id));
        let (start, end) = (place(record.span.bytes.start), place(record.span.bytes.end));
        let Some(exact) = bytes.get(start..end).filter(|_| start >= from) else {
            return wrong("its bytes overlap those before it, or reach past the file");
        };
        if is_utf8 && record.detail.as_bytes() != exact {
            return wrong("its detail is not what stands at its bytes");
        }
        let lines = record.span.lines;
        if has_lines && lines.first as usize != line_of(start) || lines.last < lines.first {
            return wrong("its lines are not those of its bytes");
        }
        from = end;
        if record.title.trim().is_empty() || record.description.text.trim().is_empty() {
            return wrong("it has no title, or no description");
        }
        if !hides_pieces(record) {
            return wrong("its hidden ranges are not in order, or not within its detail");
        }
        if !record.children.iter().all(|child| ids.contains(child.as_str())) {
            return wrong("it has a child that is no record");
        }
    }
    if document.diagnostics.iter().any(|it| it.line == 0 || it.column == 0) {
        return Err("a remark is at no line or column".to_owned());
    }
    match document.links.iter().find(|link| !ids.contains(link.from.as_str())) {
        Some(link) => Err(format!("{link:?} is from no record")),
        None => Ok(()),
    }
}

fn hides_pieces(record: &Record) -> bool {
    let mut from = 0;
    record.hidden.iter().all(|range| {
        let is_next = range.start >= from && record.detail.get(range.clone()).is_some();
        from = range.end;
        is_next
    })
}

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
