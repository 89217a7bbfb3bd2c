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
