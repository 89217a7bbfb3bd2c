//! The only walk of a content tree: which files there are, in one order on every machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use ignore::{DirEntry, WalkBuilder};

/// Which files of a tree count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WalkOptions {
    /// Follow symbolic links that stay inside the tree.
    pub follow: bool,
    /// Read files and folders whose name starts with a dot.
    pub hidden: bool,
    /// Read what `.gitignore`, `.ignore` and `.psosignore` exclude.
    pub no_ignore: bool,
}

/// A file of the tree, as the folder listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the root, with `/` between folders.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// Time of the last change, in nanoseconds since 1970, negative before.
    pub mtime: i128,
}

/// Something of the tree that was passed over, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// As far as it can be written down; what is not UTF-8 is replaced.
    pub path: String,
    /// Why, in words for people.
    pub reason: String,
    /// What would have it read; empty if nothing is known.
    pub help: String,
}

impl Skipped {
    pub(super) fn new(path: impl Into<String>, reason: impl Into<String>, help: &str) -> Self {
        Self { path: path.into(), reason: reason.into(), help: help.to_owned() }
    }
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Sorted by the bytes of the path.
    pub(crate) entries: Vec<Entry>,
    /// Sorted by path.
    pub(crate) skipped: Vec<Skipped>,
    /// Folders that could not be listed: their files are unknown, not gone.
    pub(crate) unreadable: Vec<String>,
    /// Every file and folder that the walk came by.
    pub(crate) seen: BTreeSet<PathBuf>,
}

/// Lists the files below `root`.
///
/// Only the tree's own ignore files count, not those of folders above it, of the user or of the machine, so that
/// equal trees have equal listings. Ignore files count without a `.git` folder, too. A folder
/// named `.psos` is never entered. Sockets, pipes and devices are passed over, and so is a link that
/// leads out of the tree.
pub(crate) fn walk(root: &Path, options: WalkOptions) -> Listing {
    let mut listing = Listing::default();
    let led_out = Arc::default();
    let inside = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(false)
        .hidden(!options.hidden)
        .ignore(!options.no_ignore)
        .git_ignore(!options.no_ignore)
        .parents(false)
        .require_git(false)
        .follow_links(options.follow)
        .filter_entry({
            let led_out = Arc::clone(&led_out);
            move |entry| may_enter(entry, &inside, &led_out)
        });
    if !options.no_ignore {
        builder.add_custom_ignore_filename(".psosignore");
    }
    for found in builder.build() {
        match found {
            Ok(entry) => take(root, &entry, &mut listing),
            Err(error) => refuse(root, &error, &mut listing),
        }
    }
    for link in led_out.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let relative = link.strip_prefix(root).unwrap_or(&link);
        let reason = "a symbolic link that leads out of the tree";
        listing.skipped.push(Skipped::new(lossy(relative), reason, "index its target by itself"));
        listing.seen.insert(link);
    }
    listing.entries.sort_by(|a, b| a.path.cmp(&b.path));
    listing.skipped.sort_by(|a, b| a.path.cmp(&b.path));
    listing
}

fn may_enter(entry: &DirEntry, inside: &Path, led_out: &Mutex<Vec<PathBuf>>) -> bool {
    if entry.depth() > 0 && entry.file_name() == ".psos" {
        return false;
    }
    // With links followed, the target decides; a broken link has none and is reported later.
    let stays = !entry.path_is_symlink()
        || entry.path().canonicalize().map_or(true, |target| target.starts_with(inside));
    if !stays {
        led_out.lock().unwrap_or_else(PoisonError::into_inner).push(entry.path().to_owned());
    }
    stays
}

fn take(root: &Path, entry: &DirEntry, listing: &mut Listing) {
    let Ok(relative) = entry.path().strip_prefix(root) else { return };
    listing.seen.insert(entry.path().to_owned());
    if relative.as_os_str().is_empty() || entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return;
    }
    let mut skip = |reason: &str, help: &str| {
        listing.skipped.push(Skipped::new(lossy(relative), reason, help));
    };
    let Some(path) = portable(relative) else {
        return skip("the path is not UTF-8", "rename it to have it indexed");
    };
    let Some(kind) = entry.file_type() else { return };
    if kind.is_symlink() {
        return skip("a symbolic link", "--follow reads links that stay inside the tree");
    }
    if !kind.is_file() {
        return skip("not a regular file", "");
    }
    match entry.metadata() {
        Ok(meta) => {
            let mtime = meta.modified().map_or(0, nanoseconds);
            listing.entries.push(Entry { path, size: meta.len(), mtime });
        }
        // Gone between listing and looking: as if it had never been listed.
        Err(_) => skip("vanished while the tree was listed", ""),
    }
}

fn refuse(root: &Path, error: &ignore::Error, listing: &mut Listing) {
    let path = path_of(error).unwrap_or_else(|| root.to_owned());
    let relative = path.strip_prefix(root).map_or_else(|_| lossy(&path), lossy);
    listing.unreadable.push(relative.clone());
    listing.skipped.push(Skipped::new(
        relative,
        reason_of(error),
        "let it be read, or leave it out with .psosignore",
    ));
}

fn path_of(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        ignore::Error::Loop { child, .. } => Some(child.clone()),
        _ => None,
    }
}

fn reason_of(error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { err, .. }
        | ignore::Error::WithDepth { err, .. }
        | ignore::Error::WithLineNumber { err, .. } => reason_of(err),
        ignore::Error::Loop { ancestor, .. } => {
            format!("a link back to its own folder {}", lossy(ancestor))
        }
        other => other.to_string(),
    }
}

/// Nanoseconds since 1970, negative before.
pub(crate) fn nanoseconds(time: std::time::SystemTime) -> i128 {
    let signed = |n: u128| i128::try_from(n).unwrap_or(i128::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => signed(since.as_nanos()),
        Err(before) => -signed(before.duration().as_nanos()),
    }
}

fn portable(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

pub(super) fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
