//! Trees as people have them: names, links and files that are no files.

use std::fs;

use crate::harness::{Env, Outcome};
use crate::schema::Json;

fn index(env: &Env, more: &[&str]) -> Json {
    let outcome = env.run(&[&["index", "tree", "--json"], more].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    Json::parse(&outcome.stdout)
}

fn first(env: &Env, question: &str) -> String {
    let args = ["recall", "--store", "tree/.psos", "--format", "paths", "-n", "1", question];
    env.run(&args).stdout.trim_end().to_owned()
}

fn files(report: &Json) -> String {
    format!("{:?}", report.get("files").unwrap().get("total").unwrap())
}

/// The paths that were passed over, each with its reason.
fn skipped(report: &Json) -> Vec<(String, String)> {
    let items = report.get("skipped").unwrap().items();
    let text = |item: &Json, key: &str| item.get(key).unwrap().text().to_owned();
    items.iter().map(|item| (text(item, "path"), text(item, "reason"))).collect()
}

fn verified(env: &Env) {
    let outcome: Outcome = env.run(&["verify", "--store", "tree/.psos", "--deep"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

/// Names that differ in little, or that mean something to a shell, a URL or a pattern.
const NAMES: [(&str, &str); 15] = [
    ("a b.md", "aardvark"),
    ("a_b.md", "baboon"),
    ("a-b.md", "capybara"),
    ("README.md", "dromedary"),
    ("readme.md", "echidna"),
    ("\u{1f600}.md", "flamingo"),
    ("e\u{301}.md", "gorilla"),
    ("\u{e9}.md", "hamster"),
    ("#1.md", "iguana"),
    ("100%.md", "jackal"),
    ("[x].md", "kangaroo"),
    ("d d/#/%41/[a-z]*.md", "leopard"),
    ("'quoted' \"twice\".md", "meerkat"),
    ("-n.md", "narwhal"),
    ("$HOME;&.md", "ocelot"),
];

#[test]
fn names_that_differ_in_little_or_mean_something_elsewhere_are_names() {
    let env = Env::empty();
    for (name, animal) in NAMES {
        env.write(&format!("tree/{name}"), format!("# On the {animal}\n\nThe {animal} sleeps.\n"));
    }
    // Where the file system takes two names for one, there are fewer files.
    let n_files = walkdir::WalkDir::new(env.path("tree"))
        .into_iter()
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_type().is_file()))
        .count();
    let report = index(&env, &[]);
    assert_eq!(files(&report), format!("Number({n_files}.0)"));
    if n_files == NAMES.len() {
        for (name, animal) in NAMES {
            let id = first(&env, animal);
            assert!(id.starts_with(name), "{animal}: {id}");
            let got = env.run(&["get", "--store", "tree/.psos", "--", &id]);
            assert!(got.stdout.contains(animal), "{id}: {got:?}");
        }
    }
    // Indexed twice, nothing is read again once the files are old enough; and nothing is ever twice.
    let again = index(&env, &[]);
    assert_eq!(again.get("changed"), Some(&Json::Bool(false)));
    assert_eq!(files(&again), files(&report));
    verified(&env);
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_text_is_passed_over_and_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let env = Env::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
    fs::write(env.path("tree").join(name), "# Coffee\n").unwrap();
    let report = index(&env, &[]);
    assert_eq!(files(&report), "Number(3.0)");
    let reason = "the path is not UTF-8";
    assert_eq!(skipped(&report), [("caf\u{fffd}.md".to_owned(), reason.to_owned())]);
    verified(&env);
}

#[cfg(unix)]
#[test]
fn links_are_followed_when_told_and_never_out_of_the_tree_or_in_circles() {
    use std::os::unix::fs::symlink;
    let env = Env::new();
    env.write("outside/secret.md", "# Secret\n\nThe hippopotamus is outside.\n");
    symlink("..", env.path("tree/git/up")).unwrap();
    symlink("loop-b", env.path("tree/loop-a")).unwrap();
    symlink("loop-a", env.path("tree/loop-b")).unwrap();
    symlink(env.path("outside"), env.path("tree/out")).unwrap();
    symlink(env.path("outside/secret.md"), env.path("tree/secret.md")).unwrap();
    symlink("git/undo.md", env.path("tree/inside.md")).unwrap();
    symlink("nowhere.md", env.path("tree/broken.md")).unwrap();
    let leads_out = |report: &Json| {
        let found = skipped(report).into_iter();
        let found = found.filter(|(_, why)| why == "a symbolic link that leads out of the tree");
        found.map(|(path, _)| path).collect::<Vec<_>>()
    };
    let report = index(&env, &[]);
    assert_eq!(files(&report), "Number(3.0)");
    assert_eq!(leads_out(&report), ["out", "secret.md"]);
    let report = index(&env, &["--follow"]);
    assert_eq!(files(&report), "Number(4.0)", "{:?}", skipped(&report));
    assert_eq!(leads_out(&report), ["out", "secret.md"]);
    assert_ne!(first(&env, "hippopotamus"), "secret.md");
    verified(&env);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_passed_over_and_what_cannot_be_read_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixListener;
    let env = Env::new();
    index(&env, &[]);
    let made = std::process::Command::new("mkfifo").arg(env.path("tree/pipe.md")).status();
    let _socket = UnixListener::bind(env.path("tree/socket.md")).unwrap();
    let locked = env.path("tree/git/undo.md");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let may_read = fs::read(&locked).is_ok();
    // A pipe that nobody writes to must not be waited for.
    let report = index(&env, &["--hash"]);
    let expected = ["pipe.md", "socket.md"].into_iter().filter(|name| {
        *name != "pipe.md" || made.as_ref().is_ok_and(std::process::ExitStatus::success)
    });
    for name in expected {
        let reason = "not a regular file".to_owned();
        assert!(skipped(&report).contains(&(name.to_owned(), reason)), "{:?}", skipped(&report));
    }
    assert_eq!(files(&report), "Number(3.0)");
    // The superuser reads everything.
    if !may_read {
        assert!(skipped(&report).iter().any(|(path, _)| path == "git/undo.md"));
        let full = index(&env, &["--full"]);
        assert_eq!(files(&full), "Number(3.0)");
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(first(&env, "take back a commit").starts_with("git/undo.md"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_in_the_tree_is_passed_over() {
    use std::os::unix::fs::symlink;
    let env = Env::new();
    // A device of one's own needs the superuser; a link to one does not, and leads out of the tree.
    symlink("/dev/zero", env.path("tree/zero.md")).unwrap();
    for more in [&[][..], &["--follow"]] {
        assert_eq!(files(&index(&env, more)), "Number(3.0)");
    }
}

#[test]
fn ignore_files_nest_and_negate_and_those_of_other_tools_mean_nothing() {
    let env = Env::new();
    env.write("tree/.dockerignore", "*\n");
    env.write("tree/.gitignore", "build/\n*.txt\n");
    env.write("tree/build/made.md", "# Made\n");
    env.write("tree/notes/.gitignore", "*.md\n!keep.md\n");
    env.write("tree/notes/drop.md", "# Dropped\n");
    env.write("tree/notes/keep.md", "# Kept giraffe\n");
    env.write("tree/notes/log.txt", "dropped, too\n");
    env.write("tree/more/.psosignore", "*\n!only.md\n");
    env.write("tree/more/only.md", "# Only this\n");
    env.write("tree/more/not.md", "# Not this\n");
    let report = index(&env, &[]);
    assert_eq!(files(&report), "Number(5.0)");
    assert!(first(&env, "kept giraffe").starts_with("notes/keep.md"));
    let report = index(&env, &["--no-ignore"]);
    assert_eq!(files(&report), "Number(9.0)");
    verified(&env);
}

/// A tree as deep as this file system lets a path be.
fn deep(depth: usize) {
    let env = Env::empty();
    let mut path = String::from("tree");
    let mut n_made = 0;
    for _ in 0..depth {
        let longer = format!("{path}/d");
        if fs::create_dir(env.path(&longer)).is_err() {
            break;
        }
        path = longer;
        n_made += 1;
    }
    while fs::write(env.path(&format!("{path}/bottom.md")), "# Bottom\n\nThe walrus.\n").is_err() {
        path.truncate(path.len() - 2);
        n_made -= 1;
    }
    env.write("tree/top.md", "# Top\n\nThe gull.\n");
    println!("{n_made} folders deep");
    let report = index(&env, &[]);
    assert_eq!(files(&report), "Number(2.0)", "{:?}", skipped(&report));
    assert!(first(&env, "walrus").ends_with("bottom.md"));
}

#[test]
fn a_deep_tree_is_walked_to_the_bottom() {
    deep(300);
}

#[test]
#[ignore = "slow; tests/README.md has the command"]
fn a_tree_of_two_thousand_levels_is_walked_to_the_bottom() {
    deep(2_000);
}

fn wide(n: usize) {
    let env = Env::empty();
    for at in 0..n {
        env.write(&format!("tree/f{at}.md"), format!("# File {at}\n\nThe number {at}.\n"));
    }
    let report = index(&env, &[]);
    assert_eq!(files(&report), format!("Number({n}.0)"));
    let id = first(&env, &format!("file {}", n / 2));
    assert_eq!(id, format!("f{}.md", n / 2));
    verified(&env);
}

#[test]
fn a_folder_of_many_files_is_read() {
    wide(1_000);
}

#[test]
#[ignore = "minutes; tests/README.md has the command"]
fn a_folder_of_a_hundred_thousand_files_is_read() {
    wide(100_000);
}
