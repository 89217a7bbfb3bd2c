//! Storyboards that cannot be executed, scripts that are none, scenes that hang, cheat or fail.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::{
    Bench, Cast, PerformError, Report, Script, ScriptFault, Storyboard, Verdict, check, perform,
};
use crate::clock::FixedClock;
use crate::pipeline::deliverable::{Recording, recording};
use crate::pipeline::model::{Capability, Scripted};
use crate::pipeline::process::Environment;

fn environment() -> Environment {
    [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())].into()
}

/// A storyboard of these scenes about a tree with the file `a.txt`.
fn board(scenes: &str) -> Storyboard {
    let head =
        "schema_version = 1\nname = \"b\"\ninputs = [\"a.txt\"]\nprograms = [\"sh\", \"cat\"]\n";
    Storyboard::parse(&format!("{head}{scenes}")).unwrap()
}

/// A scene with these further lines.
fn scene(name: &str, rest: &str) -> String {
    format!(
        "[[scene]]\nname = \"{name}\"\ngiven = \"a\"\naction = \"b\"\nevidence = [\"cast\", \"output\"]\n{rest}\n"
    )
}

fn perform_in(folder: &Path, board: &Storyboard, replies: &[&str]) -> Result<Report, PerformError> {
    let tree = folder.join("tree");
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join("a.txt"), "input\n").unwrap();
    let mut model = Scripted::of_texts("s", Capability::default(), replies.iter().copied());
    perform(
        board,
        &mut model,
        &Bench {
            tree: &tree,
            scratch: &folder.join("scratch"),
            package: &folder.join("package"),
            environment: &environment(),
            timeout: Duration::from_secs(4),
            max_output_bytes: 10_000,
            clock: &FixedClock(Duration::from_secs(7)),
        },
    )
}

fn verdict(scene_rest: &str, replies: &[&str]) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let report = perform_in(folder.path(), &board(&scene("s", scene_rest)), replies).unwrap();
    report.scenes[0].verdict.clone()
}

#[test]
fn what_cannot_be_executed_is_told_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "x").unwrap();
    let good = "expect = { exit = 0 }";
    let problems = |text: &str| -> String {
        let board = board(text);
        let found = check(&board, folder.path(), &environment());
        found.into_iter().map(|problem| problem.what + "\n").collect()
    };
    assert_eq!(problems(&scene("s", good)), "");
    for (text, says) in [
        (scene("s", "expect = {}"), "could not fail"),
        (scene("s", "expect = { output_has = [\"\"] }"), "stands everywhere"),
        (scene("s", "expect = { files = { \"../x\" = \"y\" } }"), "not in its folder"),
        (scene(" ", good), "`name` says nothing"),
        (scene("s", good) + &scene("S", good), "another scene has its name"),
        (
            scene("s", "run = [[\"rm\", \"a.txt\"]]\nexpect = { exit = 0 }"),
            "calls `rm`; it may call: sh, cat",
        ),
        (scene("s", "run = [[]]\nexpect = { exit = 0 }"), "command of the script is empty"),
        (
            scene("s", &format!("run = {:?}\nexpect = {{ exit = 0 }}", vec![vec!["sh"]; 13])),
            "13 commands",
        ),
        (scene("s", good).replace("\"cast\", \"output\"", ""), "nothing to keep"),
    ] {
        assert!(problems(&text).contains(says), "{says}: {}", problems(&text));
    }
    let mut empty = board(&scene("s", good));
    empty.scenes.clear();
    empty.inputs = ["../a.txt", "/etc/passwd", "none.txt"].map(str::to_owned).to_vec();
    empty.programs = ["no-such-program", "./a.txt"].map(str::to_owned).to_vec();
    let found = check(&empty, folder.path(), &environment());
    assert_eq!(found.len(), 6, "{found:#?}");
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(perform_in(folder.path(), &empty, &[]), Err(PerformError::Problems(_))));
}

#[test]
fn a_file_that_is_no_storyboard_is_refused() {
    for (text, says) in [
        ("", "missing field"),
        ("schema_version = 2\nname=\"a\"\ninputs=[]\nprograms=[]\nscene=[]", "schema_version 2"),
        (
            "schema_version = 1\nname=\"a\"\ninputs=[]\nprograms=[]\nscene=[]\ncolour=1",
            "unknown field",
        ),
        (
            "schema_version = 1\nname=\"a\"\ninputs=[]\nprograms=[]\n[[scene]]\nname=\"x\"",
            "missing field",
        ),
    ] {
        let said = Storyboard::parse(text).unwrap_err().to_string();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn scripts_of_models_are_one_object_of_allowed_commands() {
    let programs = ["sh".to_owned()];
    let parse = |text: &str| Script::parse(text, &programs);
    let script = parse(r#"{"run": [["sh", "-c", "echo 'a b'", ""]]}"#).unwrap();
    assert_eq!(script.to_shell(), "sh -c 'echo '\\''a b'\\''' ''\n");
    let huge = format!(r#"{{"run": [["sh", "{}"]]}}"#, "x".repeat(5_000));
    for text in [
        "Sure: run the program.",
        "```json\n{\"run\": [[\"sh\"]]}\n```",
        r#"{"run": [["sh"]]} {"run": [["sh"]]}"#,
        r#"{"run": [["sh"]], "then": 1}"#,
        r#"{"run": "sh"}"#,
        r#"{"run": []}"#,
        r#"{"run": [[]]}"#,
        r#"{"run": [["rm", "-rf", "x"]]}"#,
        r#"{"run": [["sh", "a\u0000b"]]}"#,
        &huge,
        "",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert!(matches!(parse(r#"{"run": []}"#), Err(ScriptFault::Empty)));
}

#[test]
fn a_model_is_asked_once_more_and_then_the_scene_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let expect = "expect = { output_is = \"input\" }";
    let board = board(&(scene("one", expect) + &scene("two", expect) + &scene("three", expect)));
    let good = r#"{"run": [["cat", "a.txt"]]}"#;
    let report =
        perform_in(folder.path(), &board, &[good, "prose", "prose", "prose", good]).unwrap();
    let verdicts: Vec<_> = report.scenes.iter().map(|scene| &scene.verdict).collect();
    assert_eq!(*verdicts[0], Verdict::Passed);
    assert!(matches!(verdicts[1], Verdict::NotExecutable { .. }), "{verdicts:?}");
    assert_eq!(*verdicts[2], Verdict::Passed);
    assert_eq!(report.n_calls, 5);
    // A model that is gone: the scene is over at once.
    let folder = tempfile::tempdir().unwrap();
    let report = perform_in(folder.path(), &board, &[]).unwrap();
    assert_eq!(report.n_calls, 3);
    let all_over =
        report.scenes.iter().all(|it| matches!(it.verdict, Verdict::NotExecutable { .. }));
    assert!(all_over);
}

#[test]
fn scenes_are_compared_with_what_is_expected() {
    let passed = |rest: &str| assert_eq!(verdict(rest, &[]), Verdict::Passed, "{rest}");
    passed(
        "run = [[\"cat\", \"a.txt\"]]\nexpect = { exit = 0, output_is = \"input\", output_lacks = [\"a.txt\"] }",
    );
    passed(
        "run = [[\"sh\", \"-c\", \"echo made > b; echo out; echo err >&2; exit 3\"]]\nexpect = { exit = 3, output_has = [\"out\", \"err\"], files = { b = \"made\" } }",
    );
    let failed = |rest: &str, says: &str| match verdict(rest, &[]) {
        Verdict::Failed { differences } => {
            assert!(differences.join("; ").contains(says), "{differences:?}");
        }
        other => panic!("{rest}: {other:?}"),
    };
    failed("run = [[\"cat\", \"none\"]]\nexpect = { exit = 0 }", "the exit code is 1, not 0");
    failed(
        "run = [[\"cat\", \"a.txt\"]]\nexpect = { output_is = \"inpu\" }",
        "the output is \"input\"",
    );
    failed("run = [[\"cat\", \"a.txt\"]]\nexpect = { output_has = [\"cat\"] }", "lacks \"cat\"");
    failed("run = [[\"cat\", \"a.txt\"]]\nexpect = { output_lacks = [\"put\"] }", "has \"put\"");
    failed("run = [[\"cat\", \"a.txt\"]]\nexpect = { files = { x = \"y\" } }", "no file `x`");
    failed(
        "run = [[\"sh\", \"-c\", \"sleep 60\"]]\nexpect = { output_lacks = [\"x\"] }",
        "the time was up",
    );
    failed(
        "run = [[\"sh\", \"-c\", \"kill -9 $$\"]]\nexpect = { output_lacks = [\"x\"] }",
        "signal 9",
    );
}

#[test]
fn a_setup_that_fails_and_an_input_that_changes_are_no_verdict_on_the_program() {
    let setup =
        "setup = [[\"cat\", \"none\"]]\nrun = [[\"cat\", \"a.txt\"]]\nexpect = { exit = 0 }";
    assert!(matches!(verdict(setup, &[]), Verdict::NotExecutable { .. }));
    let line = "rm -f a.txt; echo cheat > a.txt; echo fine";
    let cheat =
        format!("run = [[\"sh\", \"-c\", \"{line}\"]]\nexpect = {{ output_is = \"fine\" }}");
    assert_eq!(verdict(&cheat, &[]), Verdict::Tampered { input: "a.txt".to_owned() });
    let gone = "run = [[\"sh\", \"-c\", \"rm -f a.txt\"]]\nexpect = { exit = 0 }";
    assert_eq!(verdict(gone, &[]), Verdict::Tampered { input: "a.txt".to_owned() });
}

#[test]
fn scenes_do_not_see_each_other_and_the_package_holds_the_proof() {
    let folder = tempfile::tempdir().unwrap();
    let leave =
        "run = [[\"sh\", \"-c\", \"echo x > left; ls\"]]\nexpect = { output_has = [\"left\"] }";
    let look = "run = [[\"sh\", \"-c\", \"ls\"]]\nexpect = { output_is = \"a.txt\" }";
    let board = board(&(scene("leave it", leave) + &scene("look", look)));
    let report = perform_in(folder.path(), &board, &[]).unwrap();
    assert!(report.scenes.iter().all(|it| it.verdict == Verdict::Passed), "{report:#?}");
    let package = folder.path().join("package");
    let names: Vec<_> = report.scenes[0].evidence.iter().map(|it| it.file.as_str()).collect();
    assert_eq!(names, ["01-leave-it.sh", "01-leave-it.cast", "01-leave-it.txt"]);
    for evidence in report.scenes.iter().flat_map(|scene| &scene.evidence) {
        let bytes = fs::read(package.join(&evidence.file)).unwrap();
        assert_eq!(blake3::hash(&bytes).to_hex().as_str(), evidence.blake3);
    }
    let cast = fs::read(package.join("02-look.cast")).unwrap();
    assert_eq!(recording(&cast), Ok(Recording::AsciicastV2));
    let text = fs::read_to_string(package.join("verdicts.json")).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    // A second run does not mix with the first.
    assert!(matches!(perform_in(folder.path(), &board, &[]), Err(PerformError::NotEmpty(_))));
}

#[test]
fn a_cast_keeps_characters_that_come_in_pieces() {
    let mut cast = Cast::begin("t", Duration::from_secs(9));
    let seconds = Duration::from_secs_f64;
    cast.show(seconds(0.5), b"a\nGr\xc3");
    cast.show(seconds(1.0), b"\xbc\xc3\x9fe \xff!\n");
    cast.show(seconds(1.5), b"\xe2\x82");
    let text = cast.finish(seconds(2.0));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("\"version\":2"), "{text}");
    assert_eq!(lines[1], "[0.5,\"o\",\"a\\r\\nGr\"]");
    assert_eq!(lines[2], "[1.0,\"o\",\"üße \u{fffd}!\\r\\n\"]");
    assert_eq!(lines[3], "[2.0,\"o\",\"\u{fffd}\"]");
    assert_eq!(recording(text.as_bytes()), Ok(Recording::AsciicastV2));
}
