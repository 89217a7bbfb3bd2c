//! The content of a store as lines of text: equal for equal trees, whatever their history.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::record::{Kind, Origin, RecordId, TierText};
use crate::store::{Cost, FileRow, Head, RecordKey, Snapshot, Stamp, StoreError, Totals};
use crate::text::Language;

pub(super) fn dump(snapshot: &Snapshot, out: &mut impl Write) -> io::Result<()> {
    for entry in snapshot.ids().map_err(other)? {
        let (_, key) = entry.map_err(other)?;
        line(out, &record(snapshot, key).map_err(other)?)?;
    }
    for row in snapshot.files().map_err(other)? {
        line(out, &file(&row.map_err(other)?))?;
    }
    for entry in snapshot.phrases().map_err(other)? {
        let (phrase, keys) = entry.map_err(other)?;
        let mut ids = Vec::with_capacity(keys.len());
        for key in keys {
            let head = snapshot.head(key).map_err(other)?;
            ids.push(head.map_or_else(String::new, |head| head.id.to_string()));
        }
        ids.sort_unstable();
        line(out, &json!({ "phrase": phrase, "ids": ids }))?;
    }
    line(out, &json!({ "fingerprint": snapshot.fingerprint().map_err(other)? }))?;
    line(out, &totals(snapshot.totals()))
}

fn record(snapshot: &Snapshot, key: RecordKey) -> Result<Value, StoreError> {
    let missing = |table| StoreError::corrupt(table, &key.0, "the row is missing");
    let head: Head = snapshot.head(key)?.ok_or_else(|| missing("heads"))?;
    let detail = snapshot.detail_of(key)?.ok_or_else(|| missing("details"))?;
    let forward = snapshot.forward_digest(key)?.ok_or_else(|| missing("forwards"))?;
    let hidden: Vec<[u32; 2]> = detail.hidden.iter().map(|r| [r.start, r.end]).collect();
    let triggers: Vec<[&str; 2]> =
        head.triggers.iter().map(|t| [t.origin.name(), t.phrase.as_str()]).collect();
    let [description, summary, full] = head.costs;
    Ok(json!({
        "record": head.id.as_str(),
        "path": head.path,
        "kind": head.kind.name(),
        "title": head.title,
        "breadcrumb": head.breadcrumb,
        "scope": head.scope,
        "bytes": [head.span.bytes.start, head.span.bytes.end],
        "lines": [head.span.lines.first, head.span.lines.last],
        "language": head.language.name(),
        "hash": head.hash.to_string(),
        "triggers": triggers,
        "description": tier(&head.description),
        "summary": tier(&head.summary),
        "detail": detail.exact,
        "hidden": hidden,
        "children": head.children.iter().map(RecordId::as_str).collect::<Vec<_>>(),
        "costs": [cost(description), cost(summary), cost(full), cost(head.label)],
        "forward": forward.to_string(),
    }))
}

fn file(row: &FileRow) -> Value {
    let stamp = |stamp: &Stamp| json!({ "size": stamp.size, "hash": stamp.hash.to_string() });
    let notes: Vec<Value> = row
        .notes
        .iter()
        .map(|n| json!([n.path, n.line, n.column, n.severity, n.message, n.help]))
        .collect();
    json!({
        "file": row.path,
        "content": stamp(&row.stamp),
        "sidecar": row.sidecar.as_ref().map(stamp),
        "reader_version": row.reader_version,
        "n_records": row.keys.len(),
        "notes": notes,
    })
}

fn totals(totals: &Totals) -> Value {
    let by = |names: Vec<&str>, counts: &[u64]| -> Value {
        names.into_iter().map(str::to_owned).zip(counts.iter().map(|n| json!(n))).collect()
    };
    let [triggers, descriptions, summaries] = totals.by_origin;
    let origins = || Origin::ALL.map(Origin::name).to_vec();
    json!({
        "totals": {
            "n_records": totals.n_records,
            "n_files": totals.n_files,
            "field_terms": totals.field_terms,
            "by_kind": by(Kind::ALL.map(Kind::name).to_vec(), &totals.by_kind),
            "triggers": by(origins(), &triggers),
            "descriptions": by(origins(), &descriptions),
            "summaries": by(origins(), &summaries),
            "by_language": by(Language::ALL.map(Language::name).to_vec(), &totals.by_language),
            "detail_bytes": totals.detail_bytes,
            "detail_tokens": totals.detail_tokens,
        }
    })
}

fn tier(text: &TierText) -> Value {
    json!([text.origin.name(), text.text])
}

fn cost(cost: Cost) -> Value {
    json!([cost.text, cost.json])
}

fn line(out: &mut impl Write, value: &Value) -> io::Result<()> {
    let mut text = String::new();
    write_sorted(&mut text, value);
    writeln!(out, "{text}")
}

/// Writes a value with the keys of objects sorted. Whether `Value` itself does so is decided by the features
/// that some other package asks of `serde_json`.
fn write_sorted(text: &mut String, value: &Value) {
    match value {
        Value::Object(entries) => {
            let sorted: std::collections::BTreeMap<&String, &Value> = entries.iter().collect();
            text.push('{');
            for (n, (key, value)) in sorted.into_iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_sorted(text, value);
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for (n, value) in values.iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                write_sorted(text, value);
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

fn other(error: StoreError) -> io::Error {
    io::Error::other(error)
}
