//! Why files of a tree are not looked at: which of them the ignore files and the hidden names leave out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use walkdir::WalkDir;

use crate::ingest::walk::{Skipped, WalkOptions, lossy};

/// The ignore files, the one that wins first.
const IGNORE_FILES: [&str; 3] = [".psosignore", ".ignore", ".gitignore"];

/// Returns what a walk of the tree passed over because it was told to, each with the rule; a folder once for all that
/// is in it. `seen` are the files and folders that the walk came by.
pub(super) fn excluded(
    root: &Path,
    options: WalkOptions,
    seen: &BTreeSet<PathBuf>,
) -> Vec<Skipped> {
    let mut rules = Rules { root, files: BTreeMap::new() };
    let mut excluded = Vec::new();
    let mut walk = WalkDir::new(root).min_depth(1).sort_by_file_name().into_iter();
    while let Some(entry) = walk.next() {
        let Ok(entry) = entry else { continue };
        let is_folder = entry.file_type().is_dir();
        if entry.file_name() == ".psos" {
            if is_folder {
                walk.skip_current_dir();
            }
            continue;
        }
        if seen.contains(entry.path()) {
            continue;
        }
        if is_folder {
            walk.skip_current_dir();
        }
        let Ok(relative) = entry.path().strip_prefix(root) else { continue };
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let (reason, help) = if is_hidden && !options.hidden {
            ("hidden: its name begins with a dot".to_owned(), "--hidden reads it")
        } else if let Some(rule) = rules.rule(relative, is_folder) {
            (rule, "--no-ignore reads it")
        } else {
            continue;
        };
        let path = if is_folder { format!("{}/", lossy(relative)) } else { lossy(relative) };
        excluded.push(Skipped::new(path, reason, help));
    }
    excluded
}

/// The ignore files of a tree, each read when it is first asked.
struct Rules<'a> {
    root: &'a Path,
    files: BTreeMap<PathBuf, Option<Gitignore>>,
}

impl Rules<'_> {
    /// The line that leaves out a path: of the nearest folder first.
    fn rule(&mut self, relative: &Path, is_folder: bool) -> Option<String> {
        for folder in relative.ancestors().skip(1) {
            for name in IGNORE_FILES {
                let file = folder.join(name);
                let path = self.root.join(&file);
                let rules = self.files.entry(file.clone()).or_insert_with(|| {
                    let mut builder = GitignoreBuilder::new(self.root.join(folder));
                    let is_there = path.is_file() && builder.add(&path).is_none();
                    is_there.then(|| builder.build().ok()).flatten()
                });
                let inside = relative.strip_prefix(folder).unwrap_or(relative);
                let Some(rules) = rules else { continue };
                let found = rules.matched_path_or_any_parents(inside, is_folder);
                if let ignore::Match::Ignore(glob) = found {
                    return Some(format!("ignored by {}: `{}`", lossy(&file), glob.original()));
                }
            }
        }
        None
    }
}
