//! An exact question for a simulated model with a window of 512 tokens.

use std::fs;
use std::io;
use std::path::Path;

use super::tiny::{OnOverflow, Tiny};
use super::{Measure, Outcome, Source};
use crate::pipeline::atomic::{Narrow, NarrowError, Question, answer};

/// The calls that one question may take.
const MAX_CALLS: u32 = 9;
/// The tokens that one call may have.
const MAX_TOKENS: u32 = 443;

/// A tree in which a name stands as everything that a name can be, some of it in a language whose syntax
/// is not known here.
const FILES: [(&str, &str); 6] = [
    (
        "src/store.rs",
        "//! Keeps things. See `flush_all`.\n\
         use crate::disk::flush_all;\n\
         \n\
         /// Calls flush_all(true) in the end.\n\
         pub fn close(store: &Store) {\n\
         \x20   store.flush_all(true);\n\
         \x20   log(\"flush_all(true) was called\");\n\
         }\n\
         \n\
         pub fn open() {\n\
         \x20   assert!(flush_all(false), \"could not {}\", \"flush_all(false)\");\n\
         \x20   let later = flush_all;\n\
         }\n",
    ),
    ("src/disk.rs", "pub fn flush_all(now: bool) -> bool {\n    !now || flush_all(!now)\n}\n"),
    (
        "tools/backup.py",
        "from disk import flush_all\n\n\ndef run():\n    # flush_all(1) is too slow\n    \
         return [flush_all(1), flush_all]\n",
    ),
    (
        "plugins/hook.lua",
        "local function flush_all(now)\n\
         \x20 return now -- not the same as flush_all(true)\n\
         end\n\
         \n\
         function on_exit()\n\
         \x20 flush_all(true)\n\
         \x20 print(\"flush_all(true) done\")\n\
         \x20 return flush_all (false)\n\
         end\n",
    ),
    ("CHANGELOG.md", "# 1.2\n\n- `flush_all(true)` no longer blocks.\n"),
    ("src/flush.rs", "fn flush_all_now() {}\nfn g() { flush_all_now(); reflush_all(); }\n"),
];

/// Where `flush_all` is called in it.
const SITES: [(&str, u32); 6] = [
    ("plugins/hook.lua", 6),
    ("plugins/hook.lua", 8),
    ("src/disk.rs", 2),
    ("src/store.rs", 6),
    ("src/store.rs", 11),
    ("tools/backup.py", 6),
];

/// Asks where a function is called in a tree that is written to `folder`; then asks servers that cut
/// inputs without a word, at windows from a fifth of the declared one upwards.
///
/// # Errors
/// When the tree cannot be written.
pub fn atomic(folder: &Path) -> io::Result<Outcome> {
    for (file, text) in FILES {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
    }
    let mut tiny = Tiny::new(512, 512, OnOverflow::Refuse);
    let mut narrow = Narrow::new(&mut tiny);
    let question = Question::Calls { name: "flush_all".to_owned() };
    let answer = answer(folder, &question, &mut narrow, MAX_CALLS);
    let got: Vec<_> = answer.sites.iter().map(|site| (site.file.as_str(), site.line)).collect();
    let is_exact = answer.is_complete() && got == SITES;
    let n_calls = narrow.asked().len();
    let counted = narrow.asked().iter().filter_map(|call| call.usage);
    let largest = counted.map(|usage| usage.input).max().unwrap_or_default();

    let (mut n_silent, mut n_detected) = (0_u32, 0_u32);
    let mut notes = Vec::new();
    for window in (100..=430).step_by(10) {
        let mut tiny = Tiny::new(512, window, OnOverflow::CutSilently);
        n_silent += 1;
        match Narrow::new(&mut tiny).probe() {
            Err(NarrowError::SilentOverflow { .. }) => n_detected += 1,
            other => notes.push(format!("a silent window of {window} tokens: {other:?}")),
        }
    }
    if !is_exact {
        notes.push(format!("got {got:?}, should be {SITES:?}; {:?}", answer.undecided));
    }
    let measure = |what: &str, value: f64, target: &str, reached| Measure {
        what: what.to_owned(),
        value,
        target: target.to_owned(),
        reached,
    };
    let n_calls = u32::try_from(n_calls).unwrap_or(u32::MAX);
    let exact = f64::from(u8::from(is_exact));
    Ok(Outcome {
        scenario: "atomic".to_owned(),
        source: Source::Simulated,
        measures: vec![
            measure("answer exact", exact, "1", is_exact),
            measure("calls", n_calls.into(), "at most 9", n_calls <= MAX_CALLS),
            measure("largest call, tokens", largest.into(), "at most 443", largest <= MAX_TOKENS),
            measure(
                "silent overflows detected, share",
                f64::from(n_detected) / f64::from(n_silent),
                "1",
                n_detected == n_silent,
            ),
        ],
        notes,
    })
}
