//! What the targets have in common: read, read again, and check what every reader promises.

use psos::reader::{self, Fields, Input, Options, Sidecar, Tiers};

/// Names of files in every language whose items are found.
const SOURCES: [&str; 13] = [
    "a.sh", "a.c", "a.cpp", "a.cs", "a.go", "a.java", "a.js", "a.php", "a.py", "a.rb", "a.rs",
    "a.tsx", "a.ts",
];

/// Stands between a file and its sidecar: no byte of UTF-8.
const BETWEEN: u8 = 0xFF;

/// Reads a file without a sidecar.
///
/// # Panics
/// When a promise of the readers is broken.
pub fn read(path: &str, bytes: &[u8]) {
    check(&Input { path, bytes, sidecar: None });
}

/// Reads a source file; the first byte chooses its language.
///
/// # Panics
/// When a promise of the readers is broken.
pub fn read_code(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let path = SOURCES[usize::from(choice) % SOURCES.len()];
    read(path, bytes);
}

/// Reads a Markdown file with a sidecar.
///
/// # Panics
/// When a promise of the readers is broken.
pub fn read_with_sidecar(bytes: &[u8]) {
    let at = bytes.iter().position(|&b| b == BETWEEN).unwrap_or(bytes.len());
    let (file, sidecar) = bytes.split_at(at);
    let sidecar = Sidecar { path: "a.psos.yaml", bytes: sidecar.get(1..).unwrap_or_default() };
    check(&Input { path: "a.md", bytes: file, sidecar: Some(sidecar) });
}

fn check(input: &Input<'_>) {
    let options = Options { tiers: Tiers::Authored, fields: Fields::default() };
    let document = reader::read(input, &options);
    if let Err(broken) = reader::check(input.bytes, &document) {
        panic!("{broken}");
    }
    assert_eq!(document, reader::read(input, &options), "the same bytes are read in one way");
    // As if nobody had written tiers.
    let derived = reader::read(input, &Options { tiers: Tiers::Derived, ..options });
    if let Err(broken) = reader::check(input.bytes, &derived) {
        panic!("derived: {broken}");
    }
}
