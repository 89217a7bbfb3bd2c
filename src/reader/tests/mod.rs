//! Claims about readers that hold for every format, and about the shipped field guide.

#![expect(
    clippy::needless_raw_string_hashes,
    clippy::needless_pass_by_value,
    reason = "expect-test writes and takes its texts like this"
)]
#![expect(clippy::format_push_string, reason = "tests show small values")]

use super::{
    Document, Fields, Input, Options, Sidecar, Tiers, check, is_sidecar, read, sidecar_path,
};
use crate::record::{Kind, Origin, Record};
use std::path::Path;

mod blob;
mod code;
mod encoding;
mod headed;
mod keyed;
mod link;
mod markdown;
mod part;
mod property;
mod row;
mod skill;
mod stream;
mod usage;

pub(super) fn options() -> Options {
    Options { tiers: Tiers::Authored, fields: Fields::default() }
}

pub(super) fn read_text(path: &str, text: &str) -> Document {
    read(&Input { path, bytes: text.as_bytes(), sidecar: None }, &options())
}

/// The same, and fails unless the promises of readers hold.
#[track_caller]
pub(super) fn read_checked(path: &str, text: &str) -> Document {
    let document = read_text(path, text);
    check_invariants(text.as_bytes(), &document);
    document
}

pub(super) fn read_with_sidecar(path: &str, text: &str, sidecar: &str) -> Document {
    let place = sidecar_path(path).unwrap();
    let sidecar = Sidecar { path: &place, bytes: sidecar.as_bytes() };
    read(&Input { path, bytes: text.as_bytes(), sidecar: Some(sidecar) }, &options())
}

/// Puts a kilobyte of spaces in the place of every `%%`: a section with one is too long to be folded.
pub(super) fn long(text: &str) -> String {
    text.replace("%%", &" ".repeat(1_000))
}

/// One line a record: its anchor, title, breadcrumb and lines.
pub(super) fn outline(document: &Document) -> String {
    let mut text = String::new();
    for record in &document.records {
        let anchor = record.id.anchor_in(&record.path);
        let crumbs = record.breadcrumb.join(" > ");
        let lines = record.span.lines;
        text.push_str(&format!(
            "{:<7} #{anchor} [{}] ({crumbs}) {}-{} children {}\n",
            record.kind.name(),
            record.title,
            lines.first,
            lines.last,
            record.children.len()
        ));
    }
    text
}

/// One line a diagnostic.
pub(super) fn remarks(document: &Document) -> String {
    let mut text = String::new();
    for it in &document.diagnostics {
        text.push_str(&format!(
            "{}:{}:{} {} ({})\n",
            it.path, it.line, it.column, it.message, it.help
        ));
    }
    text
}

pub(super) fn triggers(record: &Record) -> String {
    let phrases: Vec<String> = record
        .triggers
        .iter()
        .map(|it| format!("{}:{}", &it.origin.name()[..1], it.phrase))
        .collect();
    phrases.join(" | ")
}

/// Fails unless the details of the records and the bytes between them are the file, and the
/// further promises of readers hold.
#[track_caller]
pub(super) fn check_invariants(bytes: &[u8], document: &Document) {
    if let Err(broken) = check(bytes, document) {
        panic!("{broken}");
    }
}

#[test]
fn the_field_guide_has_all_its_tiers_and_no_remarks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/fieldguide");
    let mut paths: Vec<_> = walkdir::WalkDir::new(&root)
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    paths.sort();
    let mut n_files = 0;
    let mut n_sections = 0;
    for file in paths {
        let path = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let place = sidecar_path(&path).unwrap();
        let Ok(tiers) = std::fs::read(root.join(&place)) else { continue };
        assert!(is_sidecar(&place));
        let bytes = std::fs::read(&file).unwrap();
        let sidecar = Some(Sidecar { path: &place, bytes: &tiers });
        let document = read(&Input { path: &path, bytes: &bytes, sidecar }, &options());
        assert_eq!(remarks(&document), "");
        check_invariants(&bytes, &document);
        n_files += 1;
        let is_top =
            |record: &&Record| record.kind == Kind::Section && record.breadcrumb.len() == 1;
        for record in document.records.iter().filter(is_top) {
            n_sections += 1;
            assert_eq!(record.description.origin, Origin::Authored, "{}", record.id);
            assert_eq!(record.summary.origin, Origin::Authored, "{}", record.id);
            assert!(
                record.triggers.iter().any(|it| it.origin == Origin::Authored),
                "{}",
                record.id
            );
            assert!(!record.shown().contains("<!-- psos"), "{}", record.id);
        }
    }
    assert_eq!((n_files, n_sections), (72, 1_050));
}
