//! Writing to stdout, finding the store, and other things that all commands do alike.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use psos::engine::{Engine, EngineError};
use psos::fault::Fault;
use psos::record::{Kind, Origin, RecordId, Tier};
use psos::store::{Note, Totals};
use serde_json::Value;

use crate::cli::args::StoreArgs;
use crate::cli::failure::Failure;

/// Writes an answer to stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes talk to stderr. A closed stderr is no failure.
pub(crate) fn tell(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Appends to a text that is being put together.
pub(crate) fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = std::fmt::Write::write_fmt(text, more);
}

/// Writes a JSON object with its keys in the order in which they stand here. The values are JSON.
pub(crate) fn object<const N: usize>(entries: [(&str, String); N]) -> String {
    let entries = entries.map(|(key, value)| format!("\"{key}\": {value}"));
    format!("{{{}}}", entries.join(", "))
}

/// Writes a JSON list of values that are JSON.
pub(crate) fn list(values: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", values.into_iter().collect::<Vec<_>>().join(", "))
}

/// Writes a value as JSON.
pub(crate) fn json(value: impl Into<Value>) -> String {
    value.into().to_string()
}

/// Appends a remark as a line that editors jump from.
pub(crate) fn push_note(text: &mut String, note: &Note) {
    let word = severity(note.severity);
    push(
        text,
        format_args!("{}:{}:{}: {word}: {}", note.path, note.line, note.column, note.message),
    );
    if !note.help.is_empty() {
        push(text, format_args!(" ({})", note.help));
    }
    text.push('\n');
}

/// Writes a remark as a JSON object.
pub(crate) fn note_json(note: &Note) -> String {
    object([
        ("path", json(note.path.as_str())),
        ("line", json(note.line)),
        ("column", json(note.column)),
        ("severity", json(severity(note.severity))),
        ("message", json(note.message.as_str())),
        ("help", json(note.help.as_str())),
    ])
}

fn severity(number: u8) -> &'static str {
    if number > 1 { "error" } else { "warning" }
}

/// Writes the ids of records as a JSON list.
pub(crate) fn ids(ids: &[RecordId]) -> String {
    list(ids.iter().map(|id| json(id.as_str())))
}

/// Writes how many records are of each kind.
pub(crate) fn by_kind(totals: &Totals) -> String {
    object(Kind::ALL.map(|kind| (kind.name(), json(totals.of_kind(kind)))))
}

/// Writes by whom a tier was made how often.
pub(crate) fn by_origin(totals: &Totals, tier: Tier) -> String {
    object(Origin::ALL.map(|origin| (origin.name(), json(totals.of_origin(tier, origin)))))
}

/// Opens the store that the arguments name, or the nearest one at or above the current folder.
pub(crate) fn open(args: &StoreArgs) -> Result<Engine, Failure> {
    let dir = store_dir(args)?;
    Engine::open(&dir).map_err(|error| failure(error, &dir))
}

/// The store folder that the arguments name, or the nearest one at or above the current folder.
pub(crate) fn store_dir(args: &StoreArgs) -> Result<PathBuf, Failure> {
    match named_store(args) {
        Some(dir) => Ok(dir),
        None => nearest_store(),
    }
}

/// The store folder that the arguments or the environment name.
pub(crate) fn named_store(args: &StoreArgs) -> Option<PathBuf> {
    let from_environment = || std::env::var_os("PSOS_STORE").filter(|dir| !dir.is_empty());
    args.store.clone().or_else(|| from_environment().map(PathBuf::from))
}

/// Names the store and the way out in an error of the engine.
pub(crate) fn failure(error: EngineError, dir: &Path) -> Failure {
    let fault = error.fault();
    let hint = error.hint(dir);
    let failure = Failure::new(fault, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn nearest_store() -> Result<PathBuf, Failure> {
    #[expect(clippy::disallowed_methods, reason = "the binary is where the current folder enters")]
    let here = std::env::current_dir()?;
    here.ancestors()
        .map(|folder| folder.join(psos::engine::STORE_FOLDER))
        .find(|dir| dir.is_dir())
        .ok_or_else(|| {
            let here = here.display();
            let error = anyhow::anyhow!("there is no store in {here} or any folder above it");
            // As for a store that was named and is not there.
            Failure::new(Fault::Environment, error).hint(
                "build one with `psos index TREE`, or name a tree with `psos recall --tree TREE`",
            )
        })
}
