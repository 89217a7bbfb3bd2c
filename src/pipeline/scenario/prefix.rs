//! What carrying a digest from call to call costs, beside reading everything again and beside a provider
//! that keeps every prefix.

use std::collections::BTreeSet;
use std::time::Duration;

use super::sim::{Seen, Shelf, Shelved, Simulated, diligent};
use super::{Measure, Outcome, Source};
use crate::clock::FixedClock;
use crate::ledger::{Actor, RunId};
use crate::pipeline::model::{Message, ModelError, Request};
use crate::pipeline::{
    Cache, FoldError, MemoryJournal, RunError, Settings, State, Task, Verdict, begin, count, drive,
    take_over,
};
use crate::text;

/// Turns of work: the steps of the plan.
const N_TURNS: usize = 40;
/// Tokens of the file that every turn reads, about: some 250 lines of text.
const FILE_TOKENS: u32 = 3_000;
/// What a token from a provider's cache costs, beside one that is read: as providers charge.
const CACHED_PRICE: f64 = 0.1;

/// Forty turns with the emulated cache, without it, and beside an ideal one; and a crash in the middle.
///
/// # Errors
/// None that its parts do not make up.
pub fn prefix() -> Result<Outcome, RunError> {
    let task = task()?;
    let mut with = model("with");
    let (emulated, entries) = run(&task, Cache::Digest, &mut with)?;
    let mut without = model("without");
    let (naive, _) = run(&task, Cache::Transcript, &mut without)?;
    let (ideal, fresh) = ideal(&without.requests);
    // The first message is the prefix; of three, the second is the digest.
    let inputs = || with.requests.iter().map(|request| request.messages.as_slice());
    let prefix: u32 = inputs().filter_map(|input| input.get(..1)).map(count).sum();
    let digests = inputs().filter(|input| input.len() == 3);
    let digest: u32 = digests.filter_map(|input| input.get(1..2)).map(count).sum();
    let (sent, again) =
        (f64::from(emulated.spent.input_tokens), f64::from(naive.spent.input_tokens));

    // A crash in the middle of the run, which another model then ends.
    let half = entries.get(..entries.len() / 2).unwrap_or_default();
    let continued = resume(half)?;
    let prefixes: BTreeSet<&String> = emulated.prefixes.iter().chain(&continued.prefixes).collect();
    let n_hashes = u32::try_from(prefixes.len()).unwrap_or(u32::MAX);
    let n_answered = [&emulated, &naive, &continued]
        .iter()
        .filter(|state| state.ended == Some(Verdict::Answered))
        .count();
    Ok(Outcome {
        scenario: "prefix".to_owned(),
        source: Source::Simulated,
        measures: vec![
            Measure::between(
                "prefix hashes over a run and across a crash",
                f64::from(n_hashes),
                (1.0, 1.0),
            ),
            Measure::at_most(
                "emulated, as a share of an ideal prefix cache at a tenth of the price",
                sent / ideal,
                1.10,
            ),
            Measure::at_most("emulated, as a share of naive re-reading", sent / again, 0.15),
            Measure::between(
                "runs answered, of 3",
                f64::from(u32::try_from(n_answered).unwrap_or(u32::MAX)),
                (3.0, 3.0),
            ),
        ],
        notes: vec![
            format!(
                "{N_TURNS} turns, each reads a file of about {FILE_TOKENS} tokens: emulated {sent} input tokens, \
                 naive {again}, ideal prefix cache {ideal:.0} when a cached token costs {CACHED_PRICE}"
            ),
            "an ideal prefix cache: of the transcript of a call, all that the call before began with as well is \
             taken from a cache that never forgets; the rest is read"
                .to_owned(),
            format!(
                "when a cached token costs nothing, that is every token once: {fresh:.0}. Emulated is {:.2} times that \
                 and not within 10 %: {prefix} tokens are the prefix, sent {} times, and {digest} the digest",
                sent / fresh,
                with.requests.len()
            ),
            "naive is the same run with --no-run-cache".to_owned(),
        ],
    })
}

fn task() -> Result<Task, RunError> {
    let text = format!(
        "schema_version = 1\nname = 'prefix'\nquestion = 'What does each file begin with?'\n[limits]\n\
         steps = {N_TURNS}\ncandidates = {N_TURNS}\nsummaries = {N_TURNS}\nsoft_calls = 100\nhard_calls = 100\n\
         soft_input_tokens = 20000000\nhard_input_tokens = 20000000\ncall_input_tokens = 1000000\n"
    );
    // The text is above.
    Task::parse("prefix", &text).map_err(|_| FoldError::NoStart.into())
}

fn shelf() -> Shelf {
    let record = |n: usize| {
        let mut detail = format!("File {n} begins with these words.\n");
        let line = |i: usize| format!("Line {i} of file {n} goes on about its matter.\n");
        let per_line = text::count(&line(10));
        let n_lines = usize::try_from(FILE_TOKENS / per_line.max(1)).unwrap_or(0);
        (0..n_lines).for_each(|i| detail.push_str(&line(i)));
        Shelved {
            path: format!("file{n}.md"),
            description: format!("File {n}."),
            summary: format!("File {n} of the forty."),
            detail,
        }
    };
    Shelf((0..N_TURNS).map(record).collect())
}

fn model(name: &str) -> Simulated<impl FnMut(&Seen) -> Result<String, ModelError>> {
    Simulated::new(name, 2_000_000, |seen: &Seen| Ok(diligent(seen, N_TURNS)))
}

fn run<F: FnMut(&Seen) -> Result<String, ModelError>>(
    task: &Task,
    cache: Cache,
    model: &mut Simulated<F>,
) -> Result<(State, Vec<crate::ledger::Entry>), RunError> {
    let mut journal = MemoryJournal::new(RunId::from_text("prefix"));
    let settings = Settings { cache, ..Settings::default() };
    let state = shelf().work(model, &FixedClock::default(), &mut journal, |parts| {
        let state = begin(task, settings, &Actor::harness(), parts)?;
        drive(state, parts)
    })?;
    Ok((state, journal.entries))
}

/// Continues a run from the first part of its journal.
fn resume(entries: &[crate::ledger::Entry]) -> Result<State, RunError> {
    let mut journal = MemoryJournal::new(RunId::from_text("prefix"));
    journal.entries = entries.to_vec();
    let clock = FixedClock(Duration::from_secs(1));
    shelf().work(&mut model("another"), &clock, &mut journal, |parts| {
        let state = take_over(entries, &Actor::harness(), "", parts)?;
        drive(state, parts)
    })
}

/// What a transcript costs with a provider that keeps every prefix: with a price for what is kept, and with
/// none.
fn ideal(requests: &[Request]) -> (f64, f64) {
    let (mut priced, mut fresh) = (0.0, 0.0);
    let mut before = String::new();
    for request in requests {
        let text = joined(&request.messages);
        let common = common_bytes(&before, &text);
        let cached = f64::from(text::count(text.get(..common).unwrap_or_default()));
        let read = f64::from(count(&request.messages)) - cached;
        priced += read + cached * CACHED_PRICE;
        fresh += read;
        before = text;
    }
    (priced, fresh)
}

fn joined(messages: &[Message]) -> String {
    messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n")
}

/// How many bytes two texts have in common from their beginning, up to a boundary of characters.
fn common_bytes(a: &str, b: &str) -> usize {
    let n = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    (0..=n).rev().find(|&at| b.is_char_boundary(at)).unwrap_or(0)
}
