//! Searches of a whole tree, whose record says what was searched: the ground under "there is none".
//!
//! A file counts if the tree's own ignore files let it; the same files in the same order on every
//! machine. Bytes are searched, so no encoding hides a match of plain ASCII, and no file is left out for
//! being binary. What is too long to be searched is named, and the search is then not exhaustive.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ignore::WalkBuilder;
use serde::{Deserialize, Serialize};

/// Bytes up to which a file is searched.
pub const MAX_SEARCHED_BYTES: u64 = 32 << 20;
/// Matches that are kept; with more, the search is not exhaustive.
pub const MAX_HITS: usize = 10_000;
/// Bytes of a line that are kept with a match.
const MAX_LINE_BYTES: usize = 400;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// The characters, as they stand in the file.
    pub text: String,
    /// Where they count.
    pub mode: Mode,
}

/// Where a pattern counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Anywhere.
    Literal,
    /// Where no letter, digit or `_` touches it.
    Word,
}

/// A match.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Hit {
    /// From the root, with `/` between folders.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// The byte of the line at which it begins, counted from 1.
    pub column: u32,
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// The line without its end; the part around the match when it is long.
    pub text: String,
}

/// A file that was not searched, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unsearched {
    /// From the root.
    pub file: String,
    /// In words for people.
    pub why: String,
}

/// The record of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// What was looked for.
    pub pattern: Pattern,
    /// How many files were searched to their end.
    pub n_files: u32,
    /// Their bytes.
    pub n_bytes: u64,
    /// The matches, by file and place.
    pub hits: Vec<Hit>,
    /// Whether there were more of them than [`MAX_HITS`].
    pub truncated: bool,
    /// What was not searched.
    pub unsearched: Vec<Unsearched>,
    /// The blake3 hash of the pattern and of every file searched, with its path: a search of the same
    /// files for the same thing has the same.
    pub blake3: String,
}

impl Search {
    /// Whether everything was searched and every match is listed.
    pub fn is_exhaustive(&self) -> bool {
        self.unsearched.is_empty() && !self.truncated && !self.pattern.text.is_empty()
    }

    /// The files that have a match, in order.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.hits.iter().map(|hit| hit.file.as_str()).collect();
        files.dedup();
        files
    }
}

/// Takes a file that has a match: its path, its bytes, its matches.
pub type Found<'a> = dyn FnMut(&str, &[u8], &[Hit]) + 'a;

/// Searches the tree. Links are not followed, and what is no file is passed over: a search looks at the
/// content of the tree, and the content of a link is elsewhere.
pub fn search(root: &Path, pattern: &Pattern) -> Search {
    search_files(root, pattern, &mut |_, _, _| ())
}

/// Searches the tree, and shows each file that has a match: its path, its bytes, its matches.
pub fn search_files(root: &Path, pattern: &Pattern, found: &mut Found<'_>) -> Search {
    let mut search = Search {
        pattern: pattern.clone(),
        n_files: 0,
        n_bytes: 0,
        hits: Vec::new(),
        truncated: false,
        unsearched: Vec::new(),
        blake3: String::new(),
    };
    let files = list(root, &mut search.unsearched);
    let mut hasher = blake3::Hasher::new();
    // Lengths first, so that no two different searches are hashed as the same bytes.
    let mut absorb = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    absorb(pattern.text.as_bytes());
    absorb(match pattern.mode {
        Mode::Literal => b"literal",
        Mode::Word => b"word",
    });
    for file in files {
        let bytes = match read(&root.join(&file)) {
            Ok(bytes) => bytes,
            Err(why) => {
                search.unsearched.push(Unsearched { file, why });
                continue;
            }
        };
        absorb(file.as_bytes());
        absorb(&bytes);
        search.n_files += 1;
        search.n_bytes += bytes.len() as u64;
        let room = MAX_HITS.saturating_sub(search.hits.len());
        let mut hits = hits(&file, &bytes, pattern, room + 1);
        if hits.len() > room {
            hits.truncate(room);
            search.truncated = true;
        }
        if !hits.is_empty() {
            found(&file, &bytes, &hits);
            search.hits.append(&mut hits);
        }
    }
    search.unsearched.sort();
    search.blake3 = hasher.finalize().to_hex().to_string();
    search
}

/// The files of the tree, sorted by the bytes of their paths.
fn list(root: &Path, unsearched: &mut Vec<Unsearched>) -> Vec<String> {
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(false)
        .hidden(true)
        .ignore(true)
        .git_ignore(true)
        .parents(false)
        .require_git(false)
        .follow_links(false)
        .add_custom_ignore_filename(".psosignore")
        .filter_entry(|entry| entry.file_name() != ".psos" && entry.file_name() != ".git");
    let mut files = Vec::new();
    for entry in builder.build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let why = format!("cannot be listed: {error}");
                unsearched.push(Unsearched { file: String::new(), why });
                continue;
            }
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let inside = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let names: Option<Vec<&str>> =
            inside.components().map(|part| part.as_os_str().to_str()).collect();
        match names {
            Some(names) => files.push(names.join("/")),
            None => unsearched.push(Unsearched {
                file: inside.to_string_lossy().into_owned(),
                why: "its name is not UTF-8, so it cannot be cited".to_owned(),
            }),
        }
    }
    files.sort();
    files
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut bytes = Vec::new();
    file.take(MAX_SEARCHED_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_SEARCHED_BYTES {
        return Err(format!("longer than {MAX_SEARCHED_BYTES} bytes"));
    }
    Ok(bytes)
}

/// The first matches in a file. They do not overlap.
fn hits(file: &str, bytes: &[u8], pattern: &Pattern, max_hits: usize) -> Vec<Hit> {
    let needle = pattern.text.as_bytes();
    let mut hits = Vec::new();
    if needle.is_empty() {
        return hits;
    }
    let finder = memchr::memmem::Finder::new(needle);
    let (mut line, mut line_start, mut from) = (1_u32, 0, 0);
    while hits.len() < max_hits {
        let Some(found) = bytes.get(from..).and_then(|rest| finder.find(rest)) else { break };
        let at = from + found;
        let end = at + needle.len();
        if pattern.mode == Mode::Word && !is_word(bytes, at, end) {
            from = at + 1;
            continue;
        }
        let between_start = line_start;
        let between = bytes.get(between_start..at).unwrap_or_default();
        for newline in memchr::memchr_iter(b'\n', between) {
            line = line.saturating_add(1);
            line_start = between_start + newline + 1;
        }
        hits.push(Hit {
            file: file.to_owned(),
            line,
            column: u32::try_from(at - line_start + 1).unwrap_or(u32::MAX),
            offset: at as u64,
            text: line_text(bytes, line_start, at),
        });
        from = end;
    }
    hits
}

/// Whether no letter, digit or `_` touches a part of a file. Bytes beyond ASCII count as letters.
fn is_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_letter = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80)
    };
    let (before, last) = (start.checked_sub(1), end.checked_sub(1));
    !(is_letter(before) && is_letter(Some(start)) || is_letter(last) && is_letter(Some(end)))
}

/// The line on which a match is, as text; the part around the match when the line is long.
fn line_text(bytes: &[u8], line_start: usize, at: usize) -> String {
    let rest = bytes.get(at..).unwrap_or_default();
    let line_end = at + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let start = line_start.max(at.saturating_sub(MAX_LINE_BYTES / 2));
    let end = line_end.min(start + MAX_LINE_BYTES);
    let text = String::from_utf8_lossy(bytes.get(start..end).unwrap_or_default());
    text.trim_end_matches(['\r', '\u{fffd}']).to_owned()
}
