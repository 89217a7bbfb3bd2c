//! Which reader a file wants, told by its name alone, and the names of sidecars.

use super::code::Syntax;

/// A kind of file that psos reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// `CommonMark` with frontmatter: a record a section.
    Markdown,
    /// reStructuredText: a record a section.
    Rst,
    /// `AsciiDoc`: a record a section.
    AsciiDoc,
    /// Org: a record a section.
    Org,
    /// HTML: a record a section.
    Html,
    /// One JSON object a line: a record a row.
    Jsonl,
    /// Rows of cells: a record a row.
    Csv,
    /// JSON: a record an entry if it is a list of objects, else plain text.
    Json,
    /// YAML: a record an entry if it is a list, or a document if it has several, else plain text.
    Yaml,
    /// A Jupyter notebook: a record a section of its Markdown cells.
    Notebook,
    /// Source code: a record an item.
    Code(Syntax),
    /// Anything else that is text: one record.
    Text,
}

/// Names without an extension that are plain text.
const TEXT_NAMES: [&str; 20] = [
    "authors",
    "brewfile",
    "changelog",
    "changes",
    "containerfile",
    "contributors",
    "copying",
    "dockerfile",
    "gemfile",
    "install",
    "jenkinsfile",
    "justfile",
    "licence",
    "license",
    "makefile",
    "news",
    "notice",
    "rakefile",
    "readme",
    "todo",
];

/// Files that tools write and nobody asks about, like `NAME.min.js`.
const LOCK_NAMES: [&str; 4] =
    ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "deno.lock.json"];

/// Extensions of source code and settings whose structure is not read.
const TEXT_EXTENSIONS: [&str; 47] = [
    "awk",
    "bat",
    "cfg",
    "clj",
    "cmake",
    "conf",
    "cr",
    "css",
    "dart",
    "dockerfile",
    "elm",
    "env",
    "erl",
    "ex",
    "exs",
    "fish",
    "fs",
    "gradle",
    "graphql",
    "groovy",
    "hs",
    "ini",
    "jl",
    "kt",
    "kts",
    "less",
    "lua",
    "m",
    "mk",
    "ml",
    "nix",
    "pl",
    "pm",
    "properties",
    "proto",
    "ps1",
    "r",
    "scala",
    "scss",
    "sql",
    "svelte",
    "swift",
    "tex",
    "tf",
    "toml",
    "vim",
    "vue",
];

/// The end of the name of every sidecar.
const SIDECAR: &str = ".psos.yaml";

/// Returns the format of a file by its name, `None` if psos does not read such files.
pub fn format_of(path: &str) -> Option<Format> {
    if is_sidecar(path) {
        return None;
    }
    let name = file_name(path);
    if LOCK_NAMES.contains(&name) || name.contains(".min.") {
        return None;
    }
    let Some((_, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return TEXT_NAMES.contains(&name.to_lowercase().as_str()).then_some(Format::Text);
    };
    match extension.to_lowercase().as_str() {
        "md" | "markdown" | "mdown" | "mkd" | "mdx" | "mdc" | "qmd" | "rmd" => {
            Some(Format::Markdown)
        }
        "html" | "htm" | "xhtml" => Some(Format::Html),
        "rst" | "rest" => Some(Format::Rst),
        "adoc" | "asciidoc" | "asc" => Some(Format::AsciiDoc),
        "org" => Some(Format::Org),
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        "csv" | "tsv" => Some(Format::Csv),
        "json" => Some(Format::Json),
        "yaml" | "yml" => Some(Format::Yaml),
        "ipynb" => Some(Format::Notebook),
        "txt" | "text" | "log" => Some(Format::Text),
        other if TEXT_EXTENSIONS.contains(&other) => Some(Format::Text),
        other => Syntax::of_extension(other).map(Format::Code),
    }
}

/// Says why a file that has no format is not read, and what would have it read.
pub fn why_not(path: &str) -> (&'static str, &'static str) {
    let name = file_name(path);
    if is_sidecar(path) {
        ("a sidecar, which holds the tiers of the file beside it", "")
    } else if LOCK_NAMES.contains(&name) {
        ("a lock file, which tools write and nobody asks about", "")
    } else if name.contains(".min.") {
        ("minified code", "its source is what people ask about")
    } else {
        ("no reader for this kind of file", "give it an ending that says what it is, such as .txt")
    }
}

/// Returns where the sidecar of a file would stand: `NAME.psos.yaml` beside `NAME.md`, and
/// `NAME.EXT.psos.yaml` beside any other file, so that two of them never claim the same one.
/// `None` for a sidecar itself.
pub fn sidecar_path(path: &str) -> Option<String> {
    if is_sidecar(path) {
        return None;
    }
    let stem = path.strip_suffix(".md").unwrap_or(path);
    Some(format!("{stem}{SIDECAR}"))
}

/// Whether a file holds the tiers of another one, and is no content itself.
pub fn is_sidecar(path: &str) -> bool {
    file_name(path).ends_with(SIDECAR)
}

/// The part of a path behind the last `/`.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The file name without its extension.
pub(super) fn file_stem(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}
