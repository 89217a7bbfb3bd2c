//! Links between the files of a tree: where they lead, and what they call what they lead to.

use std::collections::{BTreeMap, BTreeSet};

use super::format::{Format, file_name, file_stem, format_of};
use super::{Document, Input, asciidoc, html, markdown, notebook, org, rst};
use crate::reader::decode::Source;
use crate::record::{Origin, RecordId, Trigger, slug};
use crate::text;

/// The most links that are kept of a file.
const MAX_LINKS: usize = 2_000;
/// The most texts of links that name one place.
const MAX_CALLS: usize = 8;
/// The most characters and words of a text that names something; more is a sentence.
const MAX_CHARS: usize = 60;
const MAX_WORDS: usize = 8;

/// Texts of links that say nothing about where they lead.
const GENERIC: [&str; 46] = [
    "above",
    "article",
    "back",
    "below",
    "click here",
    "details",
    "doc",
    "docs",
    "documentation",
    "example",
    "examples",
    "file",
    "full documentation",
    "guide",
    "here",
    "home",
    "index",
    "learn more",
    "link",
    "more",
    "more details",
    "more info",
    "more information",
    "next",
    "page",
    "prev",
    "previous",
    "read more",
    "readme",
    "reference",
    "section",
    "see",
    "see also",
    "see below",
    "see here",
    "source",
    "start here",
    "that",
    "the docs",
    "the documentation",
    "this",
    "this file",
    "this guide",
    "this link",
    "this page",
    "top",
];

/// Endings of files that a link may leave out, and names of the file that stands for its folder.
const ENDINGS: [&str; 8] = [".md", ".mdx", ".markdown", ".rst", ".adoc", ".org", ".html", ".ipynb"];
const OF_FOLDER: [&str; 6] =
    ["README.md", "index.md", "_index.md", "index.mdx", "index.rst", "SKILL.md"];

/// The file that makes its folder a skill.
const SKILL: &str = "SKILL.md";

/// What other places of a tree call a place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// The anchor of the place; empty for the file.
    pub anchor: String,
    /// The words.
    pub text: String,
}

/// Whether links are looked for in files of this name.
pub fn may_link(path: &str) -> bool {
    use Format::{AsciiDoc, Html, Markdown, Notebook, Org, Rst};
    matches!(format_of(path), Some(Markdown | Notebook | Html | Rst | AsciiDoc | Org))
}

/// What the rest of a tree has to do with a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// What its places are called by links.
    pub calls: Vec<Call>,
    /// The skill that it belongs to: the name of the nearest folder above it with a `SKILL.md`. None for that file
    /// itself, so that a skill inside the folder of another is one of its own.
    pub skill: Option<String>,
}

impl Around {
    /// Whether the rest of the tree has nothing to do with the file.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the links of a file that may lead to another record of its tree, by words that may name it: targets and
/// words, sorted, each once. Cheaper than [`super::read`].
pub fn links(input: &Input<'_>) -> Vec<(String, String)> {
    let may_link = |sign: &[u8]| input.bytes.windows(sign.len()).any(|it| it == sign);
    let format = format_of(input.path).filter(|format| match format {
        Format::Markdown | Format::Notebook => may_link(b"](") || may_link(b"[["),
        Format::Html => may_link(b"href"),
        Format::Rst => may_link(b"`") || may_link(b".. _"),
        Format::AsciiDoc => may_link(b":") || may_link(b"<<"),
        Format::Org => may_link(b"]["),
        _ => false,
    });
    let Some(format) = format else { return Vec::new() };
    let (source, _) = Source::decode(input.path, input.bytes);
    let found = match format {
        Format::Html => html::links(&source),
        Format::Rst => rst::links(&source),
        Format::AsciiDoc => asciidoc::links(&source),
        Format::Org => org::links(&source),
        Format::Notebook => notebook::links(&source),
        _ => markdown::links(&source),
    };
    let kept = found.into_iter().filter(|(target, _)| is_inside(target));
    let kept = kept.filter_map(|(target, text)| Some((target, name(&text)?)));
    let kept: BTreeSet<(String, String)> = kept.collect();
    kept.into_iter().take(MAX_LINKS).collect()
}

/// The files of a tree, by the ways in which links name them.
#[derive(Debug)]
pub struct Places<'a> {
    paths: BTreeSet<&'a str>,
    /// By stem in lower case, as wiki links name them.
    by_stem: BTreeMap<String, Vec<&'a str>>,
}

impl<'a> Places<'a> {
    /// Takes the paths of all files of a tree that are read.
    pub fn new(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let paths: BTreeSet<&str> = paths.into_iter().collect();
        let mut by_stem: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for &path in &paths {
            by_stem.entry(file_stem(path).to_lowercase()).or_default().push(path);
        }
        Self { paths, by_stem }
    }

    /// Returns the file and the anchor that a link in the file `from` leads to; `None` if that is no file of the tree.
    ///
    /// A path is relative to the folder of `from`, or with a leading `/` to the root. It may leave out the ending, name
    /// a folder with a `README.md` or the like, or name the `.html` that is made from a source. A name alone is that of
    /// the file with this stem that is nearest to the root, in the folder of `from` first.
    pub fn resolve(&self, from: &str, target: &str) -> Option<(&'a str, String)> {
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = decoded(path.split('?').next().unwrap_or_default().trim());
        let anchor = decoded(anchor.trim());
        if path.is_empty() {
            return Some((self.paths.get(from).copied()?, anchor));
        }
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let joined = join(folder, &path)?;
        let found = self.at(&joined).or_else(|| self.called(folder, &path))?;
        Some((found, anchor))
    }

    fn skill_of(&self, path: &str) -> Option<String> {
        if file_name(path) == SKILL {
            return None;
        }
        let mut folder = path.rsplit_once('/')?.0;
        loop {
            if self.paths.contains(format!("{folder}/{SKILL}").as_str()) {
                return Some(file_name(folder).to_owned());
            }
            folder = folder.rsplit_once('/')?.0;
        }
    }

    fn at(&self, path: &str) -> Option<&'a str> {
        let get = |path: &str| self.paths.get(path).copied();
        let bare = path.strip_suffix(".html").or_else(|| path.strip_suffix(".htm"));
        let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
        get(path)
            .or_else(|| ENDINGS.iter().find_map(|ending| get(&format!("{path}{ending}"))))
            .or_else(|| ENDINGS.iter().find_map(|ending| get(&format!("{}{ending}", bare?))))
            .or_else(|| OF_FOLDER.iter().find_map(|name| get(&format!("{folder}{name}"))))
    }

    fn called(&self, folder: &str, name: &str) -> Option<&'a str> {
        let name = name.trim_matches('/').to_lowercase();
        let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
        let all = self.by_stem.get(file_name(stem))?;
        let ends = |path: &&&str| {
            let path = path.to_lowercase();
            let path = path.rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
            path.strip_suffix(stem).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let rank = |path: &&str| {
            let own = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            (own != folder, path.matches('/').count(), (*path).to_owned())
        };
        all.iter().filter(ends).copied().min_by_key(rank)
    }
}

/// Gathers what the places of a tree are called by the links to them.
#[derive(Debug, Default)]
pub struct Calls {
    /// By path and anchor: the words in normal form, with how many files use them and how the first of those, in order,
    /// writes them.
    places: BTreeMap<(String, String), BTreeMap<String, (usize, String)>>,
}

impl Calls {
    /// Adds the links of one file, each once. Files must be added in the order of their paths.
    pub fn add(&mut self, places: &Places<'_>, from: &str, links: &[(String, String)]) {
        let mut seen = BTreeSet::new();
        for (target, words) in links {
            let Some((path, anchor)) = places.resolve(from, target) else { continue };
            // A text has headings for its own parts; what it calls them in passing is prose.
            if path == from {
                continue;
            }
            let place = (path.to_owned(), anchor);
            let phrase = text::phrase(words);
            if seen.insert((place.clone(), phrase.clone())) {
                let texts = self.places.entry(place).or_default();
                texts.entry(phrase).or_insert_with(|| (0, words.clone())).0 += 1;
            }
        }
    }

    /// Returns what the tree has to do with each of its files, by path: what its places are called, by the words that
    /// most files use, and the skill around it.
    pub fn finish(self, places: &Places<'_>) -> BTreeMap<String, Around> {
        let mut around: BTreeMap<String, Around> = BTreeMap::new();
        for &path in &places.paths {
            if let Some(skill) = places.skill_of(path) {
                around.insert(path.to_owned(), Around { skill: Some(skill), calls: Vec::new() });
            }
        }
        for ((path, anchor), texts) in self.places {
            let mut texts: Vec<(String, (usize, String))> = texts.into_iter().collect();
            texts.sort_by(|(a, (m, _)), (b, (n, _))| n.cmp(m).then_with(|| a.cmp(b)));
            around.entry(path).or_default().calls.extend(
                texts
                    .into_iter()
                    .take(MAX_CALLS)
                    .map(|(_, (_, text))| Call { anchor: anchor.clone(), text }),
            );
        }
        around
    }
}

impl Document {
    /// Puts the records of this file into their tree. The words that other places use for one become derived triggers
    /// of it, unless it is called so already or somebody wrote triggers for it; what leads to no record is passed over. The skill that the file belongs to
    /// is the outermost title of its breadcrumbs.
    pub fn place_in(&mut self, around: &Around) {
        if let Some(skill) = &around.skill {
            for record in &mut self.records {
                record.breadcrumb.insert(0, skill.clone());
            }
        }
        let mut n_added: BTreeMap<usize, usize> = BTreeMap::new();
        for call in &around.calls {
            let Some(at) = self.at_anchor(&call.anchor) else { continue };
            let n = n_added.entry(at).or_default();
            let Some(record) = self.records.get_mut(at).filter(|_| *n < MAX_CALLS) else {
                continue;
            };
            let phrase = text::phrase(&call.text);
            // Whoever wrote triggers for it has said what it is called.
            if record.triggers.iter().any(|it| it.origin == Origin::Authored) {
                continue;
            }
            let is_known = record.triggers.iter().any(|it| text::phrase(&it.phrase) == phrase);
            if !is_known {
                *n += 1;
                record
                    .triggers
                    .push(Trigger { phrase: call.text.clone(), origin: Origin::Derived });
            }
        }
    }

    /// The record that an anchor leads to.
    fn at_anchor(&self, anchor: &str) -> Option<usize> {
        let path = &self.records.first()?.path;
        if anchor.is_empty() {
            return Some(0);
        }
        let find = |id: &RecordId| self.records.iter().position(|record| record.id == *id);
        let folded = |anchor: &str| {
            self.folded.iter().find(|(name, _)| name == anchor).and_then(|(_, id)| find(id))
        };
        let of = |anchor: &str| find(&RecordId::of_part(path, anchor)).or_else(|| folded(anchor));
        // Wiki links write the heading itself.
        of(anchor).or_else(|| of(&slug(anchor)))
    }
}

/// Words with which a phrase goes on that began outside the link.
const PROSE: [&str; 30] = [
    "a",
    "about",
    "above",
    "after",
    "an",
    "and",
    "as",
    "at",
    "before",
    "below",
    "by",
    "for",
    "from",
    "if",
    "in",
    "it",
    "of",
    "on",
    "or",
    "other",
    "our",
    "since",
    "so",
    "something",
    "that",
    "the",
    "these",
    "this",
    "to",
    "without",
];

/// The words of a link, if they may name what it leads to: a few words, or one that is more than a plain word (`ENOENT`,
/// `git-reset`, `HttpClient`). One plain word stands in too many questions, and a phrase that begins with an article or a
/// preposition is a piece of a sentence.
fn name(text: &str) -> Option<String> {
    let text = text.replace('`', "");
    let text = text.trim_matches(|c: char| c.is_whitespace() || "*_\"'.,:;!?()[]".contains(c));
    let phrase = text::phrase(text);
    let is_plain = || {
        let mut rest = text.chars();
        rest.next();
        !phrase.contains(' ') && text.is_ascii() && rest.all(|c| c.is_ascii_lowercase())
    };
    let is_name = phrase.chars().filter(|c| c.is_alphabetic()).count() >= 2
        && text.chars().count() <= MAX_CHARS
        && phrase.split(' ').count() <= MAX_WORDS
        && !text.contains("://")
        && !GENERIC.contains(&phrase.as_str())
        && !PROSE.contains(&phrase.split(' ').next().unwrap_or_default())
        && !is_plain();
    is_name.then(|| text.to_owned())
}

/// Whether a target may be in the tree: it has no scheme and no host.
fn is_inside(target: &str) -> bool {
    let scheme = target.split_once(':').map_or("", |(scheme, _)| scheme);
    let has_scheme =
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    !has_scheme && !target.starts_with("//") && !target.is_empty() && target.len() <= 1_000
}

/// A path from a folder; `None` if it leads out of the tree.
fn join(folder: &str, path: &str) -> Option<String> {
    let start = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = start.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Text with its `%20` and the like decoded, as far as that is UTF-8.
fn decoded(text: &str) -> String {
    let hex =
        |b: Option<&u8>| char::from(*b?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        match (b, hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                plain.push(high * 16 + low);
                at += 3;
            }
            _ => {
                plain.push(b);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}
