//! What the files of a tree have to do with each other: which records must get other triggers because of a link elsewhere,
//! or another place because of a skill around them.
//!
//! The links of each file are kept in the store as they are written. When some of them changed, or files came or went,
//! all are resolved anew; a file that is called otherwise than its records were derived with is read again. So the
//! triggers depend on the tree alone, and not on the order in which it changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::prelude::*;

use crate::ingest::plan::{Found, Plan};
use crate::ingest::{IngestError, apply};
use crate::reader::{self, Around, Call, Calls, Places};
use crate::store::{Batch, Snapshot};

/// What the tree has to do with its files, by path.
pub(super) type Called = BTreeMap<String, Around>;

/// Stands for an anchor in the row of a file that belongs to a skill: no anchor has it.
const SKILL: &str = "\0skill";

/// What links have to do with an index run.
#[derive(Debug, Default)]
pub(super) struct Linked {
    /// What the tree has to do with each file that is to be read.
    called: Called,
    nothing: Around,
    /// Files to be read whatever their bytes: they are called otherwise than before.
    pub(super) renamed: BTreeSet<String>,
}

impl Linked {
    /// What the tree has to do with a file.
    pub(super) fn around(&self, path: &str) -> &Around {
        self.called.get(path).unwrap_or(&self.nothing)
    }
}

/// Notes the links of the files that are to be read, and says what files are called then. `found` are all files of the
/// tree.
pub(super) fn update(
    root: &Path,
    found: &[Found],
    plan: &Plan,
    snapshot: &Snapshot,
    batch: &mut Batch<'_>,
    threads: &rayon::ThreadPool,
) -> Result<Linked, IngestError> {
    let mut changed = false;
    for path in &plan.remove {
        batch.set_links(path, &[])?;
        batch.set_calls(path, &[])?;
        changed = true;
    }
    for chunk in apply::chunks(&plan.read) {
        let links: Vec<Option<Vec<(String, String)>>> =
            threads.install(|| chunk.par_iter().map(|file| links_of(root, file)).collect());
        for (file, links) in chunk.iter().zip(links) {
            changed |= snapshot.file(&file.entry.path)?.is_none();
            // A file that cannot be read keeps its records, and so its links.
            if let Some(links) = links {
                changed |= batch.set_links(&file.entry.path, &links)?;
            }
        }
    }
    let mut before = Called::new();
    if !changed {
        for Found { entry, .. } in &plan.read {
            let around = around_of(batch.calls(&entry.path)?);
            if !around.is_empty() {
                before.insert(entry.path.clone(), around);
            }
        }
        return Ok(Linked { called: before, ..Linked::default() });
    }
    batch.each_calls(&mut |path, pairs| {
        before.insert(path.to_owned(), around_of(pairs));
    })?;
    let called = call_all(found, batch)?;
    let paths: BTreeSet<&String> = before.keys().chain(called.keys()).collect();
    let renamed = paths.into_iter().filter(|&path| before.get(path) != called.get(path));
    let renamed = renamed.cloned().collect();
    Ok(Linked { called, renamed, ..Linked::default() })
}

/// Keeps what the records of a file were derived with.
pub(super) fn keep(batch: &mut Batch<'_>, path: &str, around: &Around) -> Result<(), IngestError> {
    let skill = around.skill.iter().map(|skill| (SKILL.to_owned(), skill.clone()));
    let calls = around.calls.iter().map(|call| (call.anchor.clone(), call.text.clone()));
    batch.set_calls(path, &skill.chain(calls).collect::<Vec<_>>())?;
    Ok(())
}

fn call_all(found: &[Found], batch: &Batch<'_>) -> Result<Called, IngestError> {
    let places = Places::new(found.iter().map(|file| file.entry.path.as_str()));
    let mut calls = Calls::default();
    batch.each_links(&mut |path, links| calls.add(&places, path, &links))?;
    let mut called = calls.finish(&places);
    // The records of a long file are never together in memory.
    for file in found.iter().filter(|file| apply::is_long(file)) {
        called.remove(&file.entry.path);
    }
    Ok(called)
}

fn around_of(pairs: Vec<(String, String)>) -> Around {
    let mut around = Around::default();
    for (anchor, text) in pairs {
        if anchor == SKILL {
            around.skill = Some(text);
        } else {
            around.calls.push(Call { anchor, text });
        }
    }
    around
}

/// The links of a file; `None` if it cannot be read. A long file has none: it is rows or plain text.
fn links_of(root: &Path, file: &Found) -> Option<Vec<(String, String)>> {
    let path = &file.entry.path;
    if apply::is_long(file) || !reader::may_link(path) {
        return Some(Vec::new());
    }
    let bytes = std::fs::read(root.join(path)).ok()?;
    Some(reader::links(&reader::Input { path, bytes: &bytes, sidecar: None }))
}
