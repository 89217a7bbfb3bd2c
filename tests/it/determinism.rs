//! Equal trees, equal bytes: answers and dumps depend on the files, the question and the options alone.

use std::fs;

use crate::harness::{Env, GUIDE, QUESTIONS};
use crate::tidy::assert_none;

/// What must not differ: the dump, and every answer as text and as JSON.
#[derive(PartialEq, Eq)]
struct Bytes {
    dump: String,
    answers: Vec<(String, String)>,
}

impl Bytes {
    fn of(env: &Env) -> Self {
        let dump = env.run(&["verify", "--store", "tree/.psos", "--dump"]);
        assert_eq!(dump.code, Some(0), "{}", dump.stderr);
        let mut answers = Vec::new();
        for question in QUESTIONS.iter().take(10) {
            for format in ["text", "json"] {
                let args =
                    ["recall", "--store", "tree/.psos", "--format", format, "--explain", question];
                let answer = env.run(&args);
                // Whether it is answered at all is a matter of ranking, and must not differ either.
                assert!(matches!(answer.code, Some(0 | 1)), "{question}: {answer:?}");
                answers.push((format!("{format}: {question}"), answer.stdout + &answer.stderr));
            }
        }
        Self { dump: dump.stdout, answers }
    }

    #[track_caller]
    fn must_equal(&self, other: &Self, what: &str) {
        let differs = self.dump.lines().zip(other.dump.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{what}: the dumps differ");
        assert_eq!(self.dump.len(), other.dump.len(), "{what}: one dump is longer");
        assert_none(
            self.answers
                .iter()
                .zip(&other.answers)
                .filter(|(a, b)| a != b)
                .map(|((name, a), (_, b))| format!("{what}: {name}\n{a}\n-- is not\n{b}")),
        );
    }
}

#[track_caller]
fn index(env: &Env, more: &[&str]) {
    let outcome = env.run(&[&["index", "tree", "-q"], more].concat());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{}", outcome.stderr);
}

#[test]
fn the_order_of_files_and_the_number_of_threads_change_nothing() {
    let n = GUIDE.len();
    let first = Env::guide_in_order(0..n);
    index(&first, &["--threads", "1"]);
    let bytes = Bytes::of(&first);
    assert_eq!(bytes.answers.len(), 20);

    // The same store, asked by other processes.
    Bytes::of(&first).must_equal(&bytes, "asked again");

    // 3 and 8 have no common divisor, so every file comes once.
    let shuffled = Env::guide_in_order((0..n).map(|place| (place * 3 + 5) % n));
    index(&shuffled, &["--threads", "2"]);
    Bytes::of(&shuffled).must_equal(&bytes, "other order, two threads");
}

#[test]
fn a_history_of_updates_changes_nothing() {
    let n = GUIDE.len();
    let fresh = Env::guide_in_order(0..n);
    index(&fresh, &[]);
    let bytes = Bytes::of(&fresh);

    // Half of the files, one of them edited and one that will go.
    let env = Env::guide_in_order([7, 1, 6, 5]);
    env.write("tree/git/git-branches.md", "# Branches\n\n## Delete a branch\n\nNot yet written.\n");
    env.write("tree/passing.md", "# Database is locked\n\nA file that is here for a while only.\n");
    index(&env, &["--threads", "1"]);
    let changed = env.run(&["recall", "--store", "tree/.psos", "--format", "paths", QUESTIONS[3]]);
    assert!(changed.stdout.starts_with("passing.md"), "{changed:?}");

    // Everything else, the edit taken back, a removal, and a rename there and back.
    for place in [3, 2, 0, 4, 1] {
        env.copy_guide(GUIDE[place]);
    }
    fs::remove_file(env.path("tree/passing.md")).unwrap();
    fs::rename(env.path("tree/linux/finding-files.md"), env.path("tree/linux/found.md")).unwrap();
    index(&env, &[]);
    fs::rename(env.path("tree/linux/found.md"), env.path("tree/linux/finding-files.md")).unwrap();
    index(&env, &["--hash"]);
    Bytes::of(&env).must_equal(&bytes, "after a history");

    let verified = env.run(&["verify", "--store", "tree/.psos"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn a_link_changes_another_file_as_if_it_had_always_been_there() {
    let pages = |env: &Env, links: &str| {
        env.write("tree/b.md", "# Guide\n\nText of it.\n\n## Undo the last step\n\nWords here.\n");
        env.write("tree/notes/a.md", format!("# Notes\n\n{links}\n"));
    };
    let fresh = |links: &str| {
        let env = Env::new();
        pages(&env, links);
        index(&env, &[]);
        Bytes::of(&env)
    };
    let called = "See [turn the wheel back](../b.md#undo-the-last-step) and [[b|user handbook]].";
    let with = fresh(called);
    assert!(with.dump.contains("turn the wheel back"));
    let without = fresh("Nothing.");

    // A file that does not change itself is called otherwise, and back.
    let env = Env::new();
    pages(&env, "Nothing.");
    index(&env, &[]);
    Bytes::of(&env).must_equal(&without, "without links");
    pages(&env, called);
    index(&env, &["--hash"]);
    Bytes::of(&env).must_equal(&with, "with links");
    pages(&env, "Nothing.");
    index(&env, &["--hash"]);
    Bytes::of(&env).must_equal(&without, "without links again");

    // A file that comes takes over the links that meant another one, and gives them back.
    pages(&env, called);
    env.write("tree/notes/b.md", "# Another b\n\nNearer to the notes.\n");
    index(&env, &["--hash"]);
    fs::remove_file(env.path("tree/notes/b.md")).unwrap();
    index(&env, &[]);
    Bytes::of(&env).must_equal(&with, "after a file came and went");
    // The one that links goes.
    fs::remove_file(env.path("tree/notes/a.md")).unwrap();
    index(&env, &[]);
    assert!(!Bytes::of(&env).dump.contains("turn the wheel back"));
    let verified = env.run(&["verify", "--store", "tree/.psos"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn a_file_that_is_read_piece_by_piece_is_updated_like_any_other() {
    // Long, and yet quick to read: each row has most of a megabyte of blanks in it.
    let rows = |texts: &[(&str, &str)]| {
        let pad = " ".repeat(900_000);
        let row =
            |(id, text): &(&str, &str)| format!("{{\"id\": \"{id}\",{pad}\"text\": \"{text}\"}}\n");
        texts.iter().map(row).collect::<String>()
    };
    let before = rows(&[
        ("a", "Oil the hinge of the gate."),
        ("b", "Paint the fence in spring."),
        ("c", "Prune the apple tree."),
        ("d", "Empty the rain barrel."),
        ("e", "Sharpen the spade."),
    ]);
    let after = rows(&[
        ("new", "Rake the leaves."),
        ("a", "Oil the hinge of the gate."),
        ("c", "Prune the pear tree."),
        ("d", "Empty the rain barrel."),
        ("e", "Sharpen the spade."),
    ]);
    let fresh = Env::new();
    fresh.write("tree/long.jsonl", &after);
    index(&fresh, &[]);
    let want = Bytes::of(&fresh);

    let env = Env::new();
    env.write("tree/long.jsonl", &before);
    index(&env, &[]);
    assert!(Bytes::of(&env) != want);
    env.write("tree/long.jsonl", &after);
    index(&env, &["--threads", "1"]);
    Bytes::of(&env).must_equal(&want, "after an update");
    index(&env, &["--hash"]);
    Bytes::of(&env).must_equal(&want, "after nothing");
    fs::remove_file(env.path("tree/long.jsonl")).unwrap();
    index(&env, &[]);
    let verified = env.run(&["verify", "--store", "tree/.psos"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(!Bytes::of(&env).dump.contains("Rake the leaves"));
}
