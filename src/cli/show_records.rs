//! `psos show-records`: what becomes of one file, without a store.

use std::path::Path;
use std::process::ExitCode;

use psos::fault::Fault;
use psos::reader::{self, Diagnostic, Document, Input, Severity, Sidecar, Tiers};
use psos::record::{Lines, Record, TierText, Trigger};
use psos::store::Note;

use crate::cli::args::ShowRecordsArgs;
use crate::cli::failure::Failure;
use crate::cli::output::{ids, json, list, note_json, object, print, push, push_note, tell};
use crate::cli::{Done, NOTHING};

pub(crate) fn run(args: &ShowRecordsArgs) -> Done {
    let path = portable(&args.file);
    let bytes = std::fs::read(&args.file).map_err(|error| {
        let fault = match error.kind() {
            std::io::ErrorKind::NotFound => Fault::Usage,
            _ => Fault::Environment,
        };
        let what = format!("cannot read {}", args.file.display());
        Failure::new(fault, anyhow::Error::new(error).context(what))
    })?;
    if reader::format_of(&path).is_none() {
        let (reason, help) = reader::why_not(&path);
        let help = if help.is_empty() { String::new() } else { format!(" ({help})") };
        tell(&format!("{path}: skipped by index: {reason}{help}\n"));
        return Ok(ExitCode::from(NOTHING));
    }
    let sidecar_path = reader::sidecar_path(&path).unwrap_or_default();
    let sidecar = std::fs::read(&sidecar_path).ok();
    let sidecar = sidecar.as_deref().map(|bytes| Sidecar { path: &sidecar_path, bytes });
    let tiers = if args.derived { Tiers::Derived } else { Tiers::Authored };
    let options = reader::Options { tiers, fields: reader::Fields::default() };
    let document = reader::read(&Input { path: &path, bytes: &bytes, sidecar }, &options);
    let notes: Vec<Note> = document.diagnostics.iter().map(note).collect();
    if args.json {
        print(&document_json(&path, &document, &notes))?;
    } else {
        let mut remarks = String::new();
        for note in &notes {
            push_note(&mut remarks, note);
        }
        tell(&remarks);
        print(&document_text(&document, args.detail))?;
    }
    Ok(if document.records.is_empty() { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS })
}

/// The path as ids have it: with `/` between folders, from where it was named.
fn portable(file: &Path) -> String {
    let parts = file.iter().filter(|part| *part != ".");
    let path = parts.map(|part| part.to_string_lossy().into_owned()).collect::<Vec<_>>().join("/");
    if path.starts_with("//") { path.replacen("//", "/", 1) } else { path }
}

fn note(of: &Diagnostic) -> Note {
    Note {
        path: of.path.clone(),
        line: of.line,
        column: of.column,
        message: of.message.clone(),
        help: of.help.clone(),
        severity: match of.severity {
            Severity::Warning => 1,
            Severity::Error => 2,
        },
    }
}

fn document_text(document: &Document, with_detail: bool) -> String {
    let mut text = String::new();
    for record in &document.records {
        let Lines { first, last } = record.span.lines;
        let shown = record.shown();
        let n_tokens = psos::text::count(&shown);
        push(
            &mut text,
            format_args!(
                "{}\n  {}, lines {first} to {last}, {n_tokens} tokens, {}\n",
                record.id,
                record.kind.name(),
                record.language.name()
            ),
        );
        push(&mut text, format_args!("  title        {}\n", record.title));
        if !record.breadcrumb.is_empty() {
            push(&mut text, format_args!("  in           {}\n", record.breadcrumb.join(" > ")));
        }
        for trigger in &record.triggers {
            let Trigger { phrase, origin } = trigger;
            push(&mut text, format_args!("  trigger      {phrase} ({})\n", origin.name()));
        }
        for (name, tier) in [("description", &record.description), ("summary", &record.summary)] {
            let TierText { text: line, origin } = tier;
            push(&mut text, format_args!("  {name:<12} {line} ({})\n", origin.name()));
        }
        for child in &record.children {
            push(&mut text, format_args!("  child        {child}\n"));
        }
        if with_detail {
            for line in shown.lines() {
                push(&mut text, format_args!("  | {line}\n"));
            }
        }
    }
    let n = document.records.len();
    push(&mut text, format_args!("{n} record{}\n", if n == 1 { "" } else { "s" }));
    text
}

fn document_json(path: &str, document: &Document, notes: &[Note]) -> String {
    let links = document.links.iter().map(|link| {
        object([
            ("from", json(link.from.as_str())),
            ("target", json(link.target.as_str())),
            ("text", json(link.text.as_str())),
        ])
    });
    let object = object([
        ("schema_version", json(1)),
        ("path", json(path)),
        ("records", list(document.records.iter().map(record_json))),
        ("links", list(links)),
        ("remarks", list(notes.iter().map(note_json))),
    ]);
    format!("{object}\n")
}

fn record_json(record: &Record) -> String {
    let Lines { first, last } = record.span.lines;
    let shown = record.shown();
    let tier = |tier: &TierText| {
        object([("text", json(tier.text.as_str())), ("origin", json(tier.origin.name()))])
    };
    let triggers = record.triggers.iter().map(|trigger| {
        object([("phrase", json(trigger.phrase.as_str())), ("origin", json(trigger.origin.name()))])
    });
    object([
        ("id", json(record.id.as_str())),
        ("kind", json(record.kind.name())),
        ("lines", list([json(first), json(last)])),
        ("bytes", list([json(record.span.bytes.start), json(record.span.bytes.end)])),
        ("language", json(record.language.name())),
        ("title", json(record.title.as_str())),
        ("breadcrumb", list(record.breadcrumb.iter().map(|title| json(title.as_str())))),
        ("scope", json(record.scope.as_str())),
        ("triggers", list(triggers)),
        ("description", tier(&record.description)),
        ("summary", tier(&record.summary)),
        ("detail", json(shown.as_str())),
        ("detail_tokens", json(psos::text::count(&shown))),
        ("children", ids(&record.children)),
    ])
}
