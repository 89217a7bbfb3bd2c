//! The rules that hold between files, checked over the sources.
//!
//! `ROWS` says which module may name which. A new import between modules changes a row here and
//! ARCHITECTURE.md in the same commit.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A module of the crate, the modules it may name, and the packages that only it may name.
struct Row {
    module: &'static str,
    may_name: &'static [&'static str],
    owns: &'static [&'static str],
}

/// From the leaves upwards: a row names only modules of rows above it, so there are no cycles.
const ROWS: [Row; 16] = [
    row("text", &[], &[]),
    row("clock", &[], &[]),
    row("fault", &[], &[]),
    // For tests alone: what they record of the disk.
    row("powercut", &[], &[]),
    row("record", &["text"], &[]),
    row("reader", &["record", "text", "fault"], &[]),
    row("store", &["record", "text", "fault", "powercut"], &["redb"]),
    row("trigger", &["record", "text", "fault"], &["fst"]),
    row("bm25", &["record", "text", "fault", "powercut"], &["tantivy"]),
    row("recall", &["record", "text", "fault", "store", "trigger", "bm25"], &[]),
    row("ingest", &["record", "text", "clock", "fault", "reader", "store", "trigger", "bm25"], &[]),
    row("eval", &["record", "text", "clock", "fault"], &[]),
    row("ledger", &["record", "clock", "fault", "store"], &["redb"]),
    row(
        "engine",
        &[
            "record", "text", "clock", "fault", "powercut", "reader", "ingest", "recall", "store",
            "trigger", "bm25", "eval",
        ],
        &[],
    ),
    // `recall` has what the engine is asked with; only a test fills a store, with `ingest`.
    row(
        "pipeline",
        &["record", "text", "clock", "fault", "reader", "engine", "ledger", "recall", "ingest"],
        &["ureq"],
    ),
    row("growth", &["record", "fault", "engine", "eval", "ledger", "pipeline"], &[]),
];

/// Modules of the binary: they name each other, and the library by its name only.
const BINARY: [&str; 2] = ["cli", "mcp"];

const fn row(
    module: &'static str,
    may_name: &'static [&'static str],
    owns: &'static [&'static str],
) -> Row {
    Row { module, may_name, owns }
}

/// Words that no source may have, each with what to write instead.
const BANNED: [(&str, &str); 2] =
    [("partial_cmp", "use total_cmp"), ("super::super", "write crate::")];

/// Beginnings of paths that exist on one machine only.
const MACHINE_PATHS: [&str; 5] = ["/home/", "/root/", "/tmp/", "/work/", "/Users/"];

#[test]
fn the_sources_keep_to_the_rules() {
    let files = sources("src");
    assert!(files.len() > 10, "sources found: {}", files.len());
    let faults = files.iter().flat_map(|(path, source)| faults(path, source));
    assert_none(faults);
}

#[test]
fn every_module_has_a_row_and_rows_name_only_rows_above() {
    let mut above = BTreeSet::new();
    for row in &ROWS {
        for name in row.may_name {
            assert!(above.contains(name), "{} names {name}, which is not above it", row.module);
        }
        above.insert(row.module);
    }
    let files = sources("src");
    let modules = files.iter().map(|(path, _)| module_of(path));
    let known = |module: &str| {
        ["lib", "main"].contains(&module) || BINARY.contains(&module) || above.contains(module)
    };
    assert_none(modules.filter(|module| !known(module)).map(str::to_owned));
}

#[test]
fn nothing_names_a_path_of_one_machine() {
    let mut files: Vec<_> = ["src", "tests", "benches"].into_iter().flat_map(sources).collect();
    for folder in [".", "schema", ".ci", "benches", "eval"] {
        files.extend(texts(folder));
    }
    // This file has to name what it looks for.
    files.retain(|(path, _)| path != "tests/it/tidy.rs");
    assert_none(files.iter().flat_map(|(path, text)| machine_paths(path, text)));
}

#[test]
fn every_table_has_its_place_in_the_schema() {
    let read = |path: &str| fs::read_to_string(root().join(path));
    for (tables, schema) in
        [("src/store/tables.rs", "schema/store.md"), ("src/ledger/file.rs", "schema/ledger.md")]
    {
        let (Ok(source), Ok(page)) = (read(tables), read(schema)) else {
            panic!("{tables} and {schema} are where the tables are and how they are described");
        };
        assert!(!tables_of(&source).is_empty(), "no table found in {tables}");
        assert_none(undescribed(&source, schema, &page));
    }
}

/// A file of a module, what is wrong with it, and what is said about that.
struct Plant {
    path: &'static str,
    source: &'static str,
    says: &'static [&'static str],
}

const fn plant(path: &'static str, source: &'static str, says: &'static [&'static str]) -> Plant {
    Plant { path, source, says }
}

#[test]
fn a_planted_fault_is_caught() {
    let plants = [
        plant("src/recall/mod.rs", "//! A.\nuse crate::store::Snapshot;\nuse std::fmt;\n", &[]),
        plant("src/reader/mod.rs", "use crate::text;\n", &["does not begin with //!"]),
        plant("src/reader/mod.rs", "//! A.\nuse crate::store::Batch;\n", &["names store"]),
        plant(
            "src/reader/csv.rs",
            "//! A.\nuse crate::{\n    record::{Kind, Record},\n    trigger,\n    bm25::{self as b},\n};\n",
            &["names bm25", "names trigger"],
        ),
        plant(
            "src/text/mod.rs",
            "//! A.\nuse super::{record::Kind, store};\n",
            &["names record", "names store"],
        ),
        plant("src/clock.rs", "//! A.\nfn f() { super::engine::run() }\n", &["names engine"]),
        plant("src/text/word.rs", "//! A.\nuse super::record;\n", &[]),
        plant(
            "src/record/mod.rs",
            "//! A.\n/// As [`crate::store`] has it.\n// crate::bm25\n",
            &[],
        ),
        plant("src/eval/mod.rs", "//! A.\npub(in crate::eval) fn f() {}\n", &[]),
        plant("src/cli/mod.rs", "//! A.\nuse crate::cli::args;\nuse psos::store::Store;\n", &[]),
        plant("src/cli/mod.rs", "//! A.\nuse crate::store::Store;\n", &["names store"]),
        plant("src/lib.rs", "//! A.\npub use crate::store::Store;\n", &[]),
        plant(
            "src/ingest/mod.rs",
            "//! A.\nuse redb::Database;\n",
            &["redb belongs to store and ledger"],
        ),
        plant("src/store/mod.rs", "//! A.\nuse redb::Database;\n", &[]),
        plant("src/ledger/mod.rs", "//! A.\nuse redb::Database;\n", &[]),
        plant("src/recall/mod.rs", "//! A.\nlet x: fst::Set;\n", &["fst belongs to trigger"]),
        plant("src/main.rs", "//! A.\nuse tantivy;\n", &["tantivy belongs to bm25"]),
        plant("src/recall/mod.rs", "//! A.\nuse first::second;\nlet fst = 1;\n", &[]),
        plant("src/eval/mod.rs", "//! A.\na.partial_cmp(&b)\n", &["use total_cmp"]),
        plant("src/eval/mod.rs", "//! A.\nuse super::super::text;\n", &["write crate::"]),
    ];
    for Plant { path, source, says } in plants {
        let faults = faults(path, source);
        let caught =
            faults.len() == says.len() && says.iter().zip(&faults).all(|(s, f)| f.contains(s));
        assert!(caught, "{source:?}\nwanted {says:?}\ngot    {faults:?}");
    }
}

#[test]
fn a_planted_machine_path_is_caught() {
    assert_eq!(
        machine_paths("a.md", "one\nsee /root/x\n"),
        ["a.md:2: names a path of one machine, /root/"]
    );
    assert!(machine_paths("a.md", "see src/home/x and ~/x").is_empty());
}

#[test]
fn a_planted_table_without_description_is_caught() {
    let tables = "const A: TableDefinition<'_, u64, u64> = TableDefinition::new(\"a\");\n\
                  const B: MultimapTableDefinition<'_, u64, u64> =\n    \
                  MultimapTableDefinition::new(\n        \"bees\",\n    );\n";
    assert_eq!(tables_of(tables), ["a", "bees"]);
    assert_eq!(undescribed(tables, "x.md", "a bees `a`"), ["table bees is not in x.md"]);
}

/// Returns what is wrong with one source file, one line a fault.
fn faults(path: &str, source: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !source.starts_with("//!") {
        faults.push(format!("{path}: does not begin with //! and what lives there"));
    }
    let code = code_of(source);
    let module = module_of(path);
    for name in named_modules(path, &code) {
        if !may_name(module, &name) {
            faults.push(format!("{path}: names {name}, which the row of {module} does not allow"));
        }
    }
    let owned: BTreeSet<_> = ROWS.iter().flat_map(|row| row.owns).collect();
    for package in owned {
        let owners: Vec<_> =
            ROWS.iter().filter(|row| row.owns.contains(package)).map(|row| row.module).collect();
        if !owners.contains(&module) && names_package(&code, package) {
            faults.push(format!("{path}: {package} belongs to {}", owners.join(" and ")));
        }
    }
    for (word, instead) in BANNED {
        if code.contains(word) {
            faults.push(format!("{path}: has {word}; {instead}"));
        }
    }
    faults
}

fn may_name(module: &str, name: &str) -> bool {
    if module == name || module == "lib" {
        return true;
    }
    if module == "main" || BINARY.contains(&module) {
        return BINARY.contains(&name);
    }
    ROWS.iter().any(|row| row.module == module && row.may_name.contains(&name))
}

/// The source without the lines that are comments.
fn code_of(source: &str) -> String {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    source.split_inclusive('\n').filter(is_code).collect()
}

/// `src/recall/rank.rs` and `src/recall.rs` are both of `recall`.
fn module_of(path: &str) -> &str {
    let inside = path.strip_prefix("src/").unwrap_or(path);
    let first = inside.split('/').next().unwrap_or(inside);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// Returns the modules of the crate that some code names: behind `crate::`, and behind `super::`
/// where that is the crate itself.
fn named_modules(path: &str, code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let at_top = path.matches('/').count() == 1 || path.ends_with("/mod.rs");
    for (root, counts) in [("crate::", true), ("super::", at_top && path.matches('/').count() <= 2)]
    {
        let behind = code.match_indices(root).filter(|_| counts);
        for (at, _) in behind {
            let head = code.get(..at).unwrap_or_default();
            // `super::super::` and `$crate::` are not this root; the first is banned anyway.
            if head.ends_with("::") || head.ends_with('$') {
                continue;
            }
            names.extend(first_names(code.get(at + root.len()..).unwrap_or_default()));
        }
    }
    let is_module = |name: &String| {
        ROWS.iter().any(|row| row.module == name) || BINARY.contains(&name.as_str())
    };
    names.into_iter().filter(is_module).collect()
}

/// Returns the first name of a path, or of each path of a group: `a::b` has `a`, `{a::{b}, c}` has
/// `a` and `c`.
fn first_names(path: &str) -> Vec<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let Some(group) = path.strip_prefix('{') else {
        return vec![path.chars().take_while(|&c| is_name(c)).collect()];
    };
    let mut names = Vec::new();
    let (mut depth, mut fresh, mut name) = (0, true, String::new());
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(std::mem::take(&mut name));
                fresh = true;
            }
            c if fresh && is_name(c) => name.push(c),
            _ => fresh = fresh && name.is_empty(),
        }
    }
    names.push(name);
    names
}

fn names_package(code: &str, package: &str) -> bool {
    code.match_indices(package).any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        let after = code.get(at + package.len()..).unwrap_or_default();
        let alone = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        let path = after.starts_with("::") && !before.ends_with("::");
        let import = ["use ", "extern crate "].iter().any(|word| before.ends_with(word))
            && after.starts_with([';', ' ', ':']);
        alone && (path || import)
    })
}

fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        for start in MACHINE_PATHS {
            let stands = |(at, _)| {
                let before = line.get(..at).unwrap_or_default();
                !before.ends_with(|c: char| c.is_alphanumeric() || "_-.~}".contains(c))
            };
            if line.match_indices(start).any(stands) {
                found.push(format!("{path}:{}: names a path of one machine, {start}", i + 1));
            }
        }
    }
    found
}

/// The names of the tables that a source defines.
fn tables_of(source: &str) -> Vec<&str> {
    let definitions = source.split("TableDefinition::new(").skip(1);
    definitions.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next()).collect()
}

fn undescribed(source: &str, page: &str, text: &str) -> Vec<String> {
    let tables = tables_of(source).into_iter();
    let missing = tables.filter(|table| !text.contains(&format!("`{table}`")));
    missing.map(|table| format!("table {table} is not in {page}")).collect()
}

/// The folder of the crate.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Rust files below a folder, with their paths from the root, in order.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(root().join(folder)).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(read(&path));
        }
    }
    files
}

/// The text files directly in a folder that are not Rust; none when there is no such folder.
fn texts(folder: &str) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(root().join(folder)) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_text = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let kinds = [".md", ".toml", ".json", ".yml", ".yaml"];
        path.is_file() && (name == "run" || kinds.iter().any(|kind| name.ends_with(kind)))
    };
    paths.filter(is_text).map(|path| read(&path)).collect()
}

fn read(path: &Path) -> (String, String) {
    let text = fs::read_to_string(path).unwrap();
    let inside = path.strip_prefix(root()).unwrap();
    let parts: Vec<_> =
        inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    (
        parts.iter().filter(|part| *part != ".").map(AsRef::as_ref).collect::<Vec<_>>().join("/"),
        text,
    )
}

/// Fails with what is wrong, one line a fault.
#[track_caller]
pub(crate) fn assert_none(faults: impl IntoIterator<Item = String>) {
    let faults: Vec<String> = faults.into_iter().collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}
