//! A store of 100,000 records: how large it is, and what an index run and an answer cost in it.

use std::fmt::Write as _;
use std::time::Duration;

use psos::clock::{Clock as _, SystemClock};

use crate::harness::{Env, QUESTIONS, Words};
use crate::schema::Json;

const N_FILES: usize = 10_000;
const N_SECTIONS: usize = 10;
/// Sentences of a section, each of twelve words: with them a file has some 5 kB.
const N_SENTENCES: usize = 6;
/// The most that a store may have, in bytes for each byte of the tree.
const MAX_RATIO: f64 = 2.5;

fn section(words: &mut Words) -> String {
    let mut text = format!("## {}\n\n", words.text(4));
    for _ in 0..N_SENTENCES {
        writeln!(text, "{}.", words.text(12)).unwrap();
    }
    text.push('\n');
    text
}

/// Writes the tree and returns how many bytes it has.
fn grow(env: &Env, n_files: usize) -> u64 {
    let mut words = Words::of_the_guide();
    let mut n_bytes = 0;
    for n in 0..n_files {
        let text: String = (0..N_SECTIONS).map(|_| section(&mut words)).collect();
        n_bytes += text.len() as u64;
        env.write(&format!("tree/{:02}/{n}.md", n % 100), text);
    }
    n_bytes
}

/// Runs psos, which must succeed, and returns how long it took.
fn timed(env: &Env, args: &[&str]) -> (Duration, String) {
    let begin = SystemClock.now();
    let outcome = env.run(args);
    let time = SystemClock.now().saturating_sub(begin);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    (time, outcome.stdout)
}

fn median(times: impl IntoIterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.into_iter().collect();
    times.sort();
    times[times.len() / 2]
}

/// How long psos takes to start and end.
fn to_start(env: &Env) -> Duration {
    median((0..9).map(|_| timed(env, &["--version"]).0))
}

/// How long an index run takes after an edit of one file.
fn after_an_edit(env: &Env) -> Duration {
    let mut words = Words::of_the_guide();
    median((0..9).map(|_| {
        env.write("tree/00/0.md", section(&mut words));
        timed(env, &["index", "tree"]).0
    }))
}

/// How long an answer takes, in a process of its own.
fn an_answer(env: &Env) -> Duration {
    median(QUESTIONS.map(|question| {
        let store = ["recall", "--store", "tree/.psos", "--format", "paths"];
        let begin = SystemClock.now();
        // Random words may answer, or not.
        assert!(matches!(env.run(&[&store[..], &[question]].concat()).code, Some(0 | 1)));
        SystemClock.now().saturating_sub(begin)
    }))
}

fn check(n_files: usize) {
    let env = Env::empty();
    let n_source = grow(&env, n_files);
    let (first, _) = timed(&env, &["index", "tree"]);
    let status = timed(&env, &["status", "--store", "tree/.psos", "--json"]).1;
    let status = Json::parse(&status);
    let number = |key: &str| status.get(key).unwrap().number();
    let n_store = number("store_bytes");
    println!("{}", timed(&env, &["status", "--store", "tree/.psos", "--tables"]).1);
    #[expect(clippy::cast_precision_loss, reason = "sizes of files are far below 2^52")]
    let ratio = n_store / n_source as f64;
    println!("{} records, {n_source} bytes in a store of {n_store}: {ratio:.2}", number("records"));
    println!("first index {first:.1?}, to start and end {:.1?}", to_start(&env));
    println!("an answer {:.1?}, one edited file {:.1?}", an_answer(&env), after_an_edit(&env));
    assert!(ratio <= MAX_RATIO, "{ratio}");
}

#[test]
#[ignore = "minutes; tests/README.md has the command"]
fn a_store_of_a_hundred_thousand_records_is_small() {
    check(N_FILES);
}
