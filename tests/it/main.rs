//! The one integration binary: everything that is tested from outside, one module a question.
//!
//! Modules carry `#[cfg(test)]`, so that the lints know test code when they see it.

/// Is a page tested in a real browser, where one is installed?
#[cfg(test)]
#[cfg(unix)]
mod browser;
/// Does an answer never cost more than its budget, in any format?
#[cfg(test)]
mod budget;
/// Do the commands keep their contract: what they print, where, and with which exit code?
#[cfg(test)]
mod cli;
/// Do equal trees give equal answers, whatever their history?
#[cfg(test)]
mod determinism;
/// Is nothing of a record shown that was not selected and paid for?
#[cfg(test)]
mod disclosure;
/// Does `psos eval` measure what it says, and refuse what it cannot measure?
#[cfg(test)]
mod eval;
/// Do stores of every released format open, or say what to do?
#[cfg(test)]
mod formats;
/// Does the shipped tree answer everyday questions with the right record first?
#[cfg(test)]
mod guide;
/// A place to run psos in: a folder of its own, an empty environment.
#[cfg(test)]
mod harness;
/// Do we accept the licences of all packages that psos is built from?
#[cfg(test)]
mod licence;
/// Are models asked over HTTP, by runs and by evaluations, and what becomes of what providers do wrong?
#[cfg(test)]
#[cfg(unix)]
mod live;
/// How much memory does a file take that is longer than memory should be?
#[cfg(test)]
#[cfg(target_os = "linux")]
mod memory;
/// Are trees read as people have them: names, links, depths, and what is no file?
#[cfg(test)]
mod paths;
/// Does a task run, end, go on after a kill, and replay, on the command line?
#[cfg(test)]
#[cfg(unix)]
mod pipeline;
/// What becomes of copies, misspellings, paraphrases and scopes?
#[cfg(test)]
mod recall;
/// How large is a store of 100,000 records, and how long does it take?
#[cfg(test)]
mod scale;
/// Does the JSON that psos prints look as its schema says, key by key?
#[cfg(test)]
mod schema;
/// A server on this machine: a page for a browser, a provider for a model.
#[cfg(test)]
#[cfg(unix)]
mod server;
/// Is a store good after kills, beside other processes, and where nothing may be written?
#[cfg(test)]
mod survival;
/// Does the source keep to its own rules: who names whom, and is every table described?
#[cfg(test)]
mod tidy;
/// Is a store looked after: doctor, deep verification, compaction, watching?
#[cfg(test)]
mod upkeep;
/// Are files that are no store refused, and never replaced?
#[cfg(test)]
mod wrong;
