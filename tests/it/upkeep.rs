//! Looking after a store: doctor, deep verification, compaction, watching.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::harness::{Env, Outcome};
use crate::schema::Json;

fn indexed() -> Env {
    let env = Env::new();
    let outcome = env.run(&["index", "tree", "-q"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    env
}

fn doctor(env: &Env, more: &[&str]) -> Outcome {
    env.run(&[&["doctor", "--store", "tree/.psos"], more].concat())
}

/// What the doctor names, each once.
fn ailments(outcome: &Outcome) -> Vec<String> {
    let json = Json::parse(&outcome.stdout);
    let mut names: Vec<String> = json
        .get("findings")
        .unwrap()
        .items()
        .iter()
        .map(|finding| finding.get("ailment").unwrap().text().to_owned())
        .collect();
    names.dedup();
    names
}

#[test]
fn a_healthy_store_is_called_so() {
    let env = indexed();
    let outcome = doctor(&env, &[]);
    assert_eq!(
        (outcome.code, outcome.stdout.as_str()),
        (Some(0), "nothing is wrong with the store\n")
    );
    let json = doctor(&env, &["--json"]);
    assert_eq!((json.code, ailments(&json)), (Some(0), vec![]), "{json:?}");
}

/// A way to harm a store, what the doctor calls it, and whether it can be put right.
struct Harm {
    name: &'static str,
    ailment: &'static str,
    repairable: bool,
    act: fn(&Env),
}

fn first_segment(env: &Env) -> std::path::PathBuf {
    let mut files: Vec<_> = fs::read_dir(env.path("tree/.psos/segments"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "term"))
        .collect();
    files.sort();
    files.remove(0)
}

const HARMS: [Harm; 8] = [
    Harm {
        name: "a segment file is gone",
        ailment: "lexical",
        repairable: true,
        act: |env| fs::remove_file(first_segment(env)).unwrap(),
    },
    Harm {
        name: "a segment file is noise",
        ailment: "lexical",
        repairable: true,
        act: |env| fs::write(first_segment(env), [7; 300]).unwrap(),
    },
    Harm {
        name: "a segment file of nobody",
        ailment: "orphans",
        repairable: true,
        act: |env| env.write("tree/.psos/segments/0123456789abcdef0123456789abcdef.idx", "x"),
    },
    Harm {
        name: "an unfinished database",
        ailment: "unfinished",
        repairable: true,
        act: |env| env.write("tree/.psos/store.redb.new.1.0", "x"),
    },
    Harm {
        name: "an unfinished rebuild",
        ailment: "unfinished",
        repairable: true,
        act: |env| env.write("tree/.psos/store.redb.next", "x"),
    },
    Harm {
        name: "no ignore file",
        ailment: "ignore",
        repairable: true,
        act: |env| fs::remove_file(env.path("tree/.psos/.gitignore")).unwrap(),
    },
    Harm {
        name: "the tree moved away",
        ailment: "root",
        repairable: false,
        act: |env| {
            fs::rename(env.path("tree/.psos"), env.path("moved")).unwrap();
            fs::create_dir(env.path("tree/.psos")).unwrap();
            let text = "# Elsewhere\n\nIn another tree, which goes away.\n";
            env.write("other/a.md", text);
            let outcome = env.run(&["index", "other", "--store", "tree/.psos", "-q"]);
            assert_eq!(outcome.code, Some(0), "{outcome:?}");
            fs::remove_dir_all(env.path("other")).unwrap();
        },
    },
    Harm {
        name: "not a database",
        ailment: "damaged",
        repairable: false,
        act: |env| env.write("tree/.psos/store.redb", "a note"),
    },
];

#[test]
fn the_doctor_finds_each_harm_and_puts_right_what_needs_no_person() {
    for Harm { name, ailment, repairable, act } in HARMS {
        let env = indexed();
        let dump = env.run(&["verify", "--store", "tree/.psos", "--dump"]);
        act(&env);
        let found = doctor(&env, &["--json"]);
        assert_eq!(
            (found.code, ailments(&found)),
            (Some(3), vec![ailment.into()]),
            "{name}: {found:?}"
        );
        let fixed = doctor(&env, &["--fix"]);
        assert_eq!(fixed.code, Some(if repairable { 0 } else { 3 }), "{name}: {fixed:?}");
        let again = doctor(&env, &[]);
        assert_eq!(again.code, Some(if repairable { 0 } else { 3 }), "{name}: {again:?}");
        if repairable {
            // No record was touched.
            assert_eq!(env.run(&["verify", "--store", "tree/.psos", "--dump"]), dump, "{name}");
            let recall = env.run(&["recall", "--store", "tree/.psos", "take back a commit"]);
            assert_eq!(recall.code, Some(0), "{name}: {recall:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn permissions_that_shut_the_owner_out_are_found_and_set() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = indexed();
    let path = env.path("tree/.psos/store.redb");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let found = doctor(&env, &["--json"]);
    assert_eq!(ailments(&found), ["permissions"], "{found:?}");
    assert_eq!(doctor(&env, &["--fix"]).code, Some(0));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o600, 0o600);
    assert_eq!(doctor(&env, &[]).code, Some(0));
}

#[test]
fn deep_verification_reads_the_sources() {
    let env = indexed();
    let deep = || env.run(&["verify", "--store", "tree/.psos", "--deep"]);
    let outcome = deep();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    env.write("tree/git/undo.md", "# Undo in git\n\nOther words.\n");
    fs::remove_file(env.path("tree/rows.jsonl")).unwrap();
    let outcome = deep();
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert_eq!(
        outcome.stdout,
        "files `git/undo.md`: the file changed since it was indexed\n\
         files `rows.jsonl`: the file is gone\n"
    );
    assert_eq!(env.run(&["verify", "--store", "tree/.psos"]).code, Some(0));
}

#[test]
fn a_store_that_lost_most_of_its_files_gives_the_room_back() {
    let env = Env::empty();
    for n in 0..200 {
        let words: Vec<String> = (0..2_000).map(|w| format!("word{}", w * 7 % 600)).collect();
        env.write(&format!("tree/f{n}.md"), format!("# File {n}\n\n{}\n", words.join(" ")));
    }
    let size = || fs::metadata(env.path("tree/.psos/store.redb")).unwrap().len();
    assert_eq!(env.run(&["index", "tree", "-q"]).code, Some(0));
    let full = size();
    for n in 20..200 {
        fs::remove_file(env.path(&format!("tree/f{n}.md"))).unwrap();
    }
    assert_eq!(env.run(&["index", "tree", "-q"]).code, Some(0));
    // A tenth of the files is left.
    assert!(size() * 2 < full, "{} of {full} bytes", size());
    let verify = env.run(&["verify", "--store", "tree/.psos", "--deep"]);
    assert_eq!(verify.code, Some(0), "{verify:?}");
}

#[test]
fn a_full_build_goes_on_counting_generations_and_says_the_same() {
    let env = indexed();
    let generation = || {
        let status = env.run(&["status", "--store", "tree/.psos", "--json"]);
        let json = Json::parse(&status.stdout);
        format!("{:?}", json.get("generation").unwrap())
    };
    let dump = || env.run(&["verify", "--store", "tree/.psos", "--dump"]).stdout;
    let before = (dump(), generation());
    assert_eq!(env.run(&["index", "tree", "--full", "-q"]).code, Some(0));
    assert_eq!(before.0, dump());
    assert_eq!((before.1.as_str(), generation().as_str()), ("Number(1.0)", "Number(2.0)"));
}

#[cfg(unix)]
#[test]
fn a_watched_tree_is_followed_until_ctrl_c() {
    let env = Env::new();
    let mut command = env.command(&["index", "tree", "--watch", "--json"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || Json::parse(&lines.next().unwrap().unwrap());
    let first = next();
    assert_eq!(first.get("changed"), Some(&Json::Bool(true)));
    // The watch stands before the first report is printed.
    env.write("tree/new/deep.md", "# Open the valve\n\nSlowly.\n");
    env.write("tree/new/other.md", "# Close the valve\n\nFast.\n");
    // One commit or, on a slow machine, two: until the second file is in.
    let mut n_commits = 0;
    loop {
        next();
        n_commits += 1;
        let found = env.run(&[
            "recall",
            "--store",
            "tree/.psos",
            "--format",
            "paths",
            "-n",
            "1",
            "close the valve",
        ]);
        if found.stdout == "new/other.md\n" {
            break;
        }
        assert!(n_commits < 4, "{found:?}");
    }
    fs::remove_file(env.path("tree/new/other.md")).unwrap();
    loop {
        next();
        let gone = env.run(&["get", "--store", "tree/.psos", "new/other.md"]);
        if gone.code != Some(0) {
            break;
        }
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ended = child.wait().unwrap();
    assert_eq!(ended.code(), Some(0));
    let verify = env.run(&["verify", "--store", "tree/.psos", "--deep"]);
    assert_eq!(verify.code, Some(0), "{verify:?}");
}
