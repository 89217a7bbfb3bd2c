//! Stores of every released format: read, or refused with the way out.

use std::fs;
use std::path::{Path, PathBuf};

use psos::store::FORMAT;

use crate::harness::Env;
use crate::tidy::root;

/// The folders `tests/fixtures/store_v*`, with their numbers.
fn fixtures() -> Vec<(u32, PathBuf)> {
    let folder = root().join("tests/fixtures");
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name()?.to_str()?.strip_prefix("store_v")?.parse().ok()?;
            Some((name, path))
        })
        .collect();
    found.sort();
    found
}

/// Lays a fixture out as a tree with its store.
fn lay_out(env: &Env, fixture: &Path) {
    env.write("tree/undo.md", fs::read(fixture.join("undo.md")).unwrap());
    for entry in walkdir::WalkDir::new(fixture.join("store")) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let inside = entry.path().strip_prefix(fixture.join("store")).unwrap();
            let name = format!("tree/.psos/{}", inside.to_str().unwrap());
            env.write(&name, fs::read(entry.path()).unwrap());
        }
    }
}

#[test]
fn every_format_has_a_fixture() {
    let numbers: Vec<u32> = fixtures().into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, (1..=FORMAT).collect::<Vec<_>>());
}

#[test]
fn a_store_of_this_format_answers_whenever_it_was_made() {
    let env = Env::empty();
    let (number, fixture) = fixtures().pop().unwrap();
    assert_eq!(number, FORMAT);
    lay_out(&env, &fixture);
    let store = ["--store", "tree/.psos"];
    let recall = env.run(
        &[&["recall", "--format", "paths"][..], &store, &["take back the last commit"]].concat(),
    );
    assert_eq!(
        (recall.code, recall.stdout.as_str()),
        (Some(0), "undo.md#take-back-the-last-commit\n"),
        "{recall:?}"
    );
    let verify = env.run(&[&["verify"][..], &store].concat());
    assert_eq!(verify.code, Some(0), "{verify:?}");
    // And goes on, with the readers of this build, which may be others than those that filled it.
    env.write("tree/more.md", "# More\n\nWords.\n");
    let index = env.run(&["index", "tree"]);
    assert_eq!(index.code, Some(0), "{index:?}");
    let verify = env.run(&[&["verify", "--deep"][..], &store].concat());
    assert_eq!(verify.code, Some(0), "{verify:?}");
}

#[test]
fn a_store_of_an_older_format_is_refused_until_an_index_run_builds_it_anew() {
    for (number, fixture) in fixtures().into_iter().filter(|&(number, _)| number < FORMAT) {
        let env = Env::empty();
        lay_out(&env, &fixture);
        let refused = |args: &[&str]| {
            let outcome = env.run(args);
            assert_eq!(outcome.code, Some(3), "{outcome:?}");
            let says = format!("store format {number} of tree/.psos is older than {FORMAT}");
            assert!((outcome.stdout.clone() + &outcome.stderr).contains(&says), "{outcome:?}");
            assert!(outcome.stderr.contains("psos index"), "{outcome:?}");
        };
        let recall = ["recall", "--store", "tree/.psos", "undo"];
        refused(&recall);
        let doctor = env.run(&["doctor", "--store", "tree/.psos", "--fix"]);
        assert_eq!(doctor.code, Some(3), "{doctor:?}");
        assert!(doctor.stdout.starts_with("found format: "), "{doctor:?}");
        let preview = env.run(&["index", "tree", "--dry-run"]);
        let why = format!("the store has format {number}, and this psos writes format {FORMAT}");
        assert!((preview.stdout + &preview.stderr).contains(&why));
        // It is what it was: the psos that made it could still read it.
        refused(&recall);

        // A tree that is suddenly empty must not empty the store.
        fs::rename(env.path("tree/undo.md"), env.path("undo.md")).unwrap();
        let emptied = env.run(&["index", "tree"]);
        assert_eq!(emptied.code, Some(3), "{emptied:?}");
        refused(&recall);
        fs::rename(env.path("undo.md"), env.path("tree/undo.md")).unwrap();

        let index = env.run(&["index", "tree"]);
        assert_eq!(index.code, Some(0), "{index:?}");
        assert!((index.stdout.clone() + &index.stderr).contains(&why), "{index:?}");
        assert_eq!(env.run(&recall).code, Some(0));
        assert_eq!(env.run(&["verify", "--store", "tree/.psos", "--deep"]).code, Some(0));
    }
}
