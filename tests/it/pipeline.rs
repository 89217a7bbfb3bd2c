//! Tasks on the command line, with a model that is a program: runs, a kill, a continuation, replays, reports.

use crate::harness::{Env, Outcome};
use crate::schema::{Json, Schema};
use crate::tidy::assert_none;

const TASK: &str = "schema_version = 1\nname = 'undo'\nquestion = 'How do I take back a commit in git?'\n\
                    tree = 'tree'\n[survey]\npattern = 'git reset'\n";

/// A model in `sh`: it finds the code at the end of its input, and what it is asked to reply as.
const MODEL: &str = r#"in=$(cat)
tail=$(printf '%s' "$in" | sed -n 's/.*\\ntail: \([0-9a-f]*\)".*/\1/p')
say() { printf '{"schema_version": 1, "text": "%s", "finish": "stop"}\n' "$1"; }
id='git/undo.md#undo-the-last-commit'
case "$in" in
*'Reply as orient.'*) say "{\\\"select\\\": [\\\"$id\\\"], \\\"tail\\\": \\\"$tail\\\"}" ;;
*'Reply as plan.'*) say "{\\\"steps\\\": [{\\\"id\\\": \\\"a\\\", \\\"kind\\\": \\\"examine\\\", \\\"goal\\\": \\\"how\\\", \\\"targets\\\": [\\\"$id\\\"], \\\"needs\\\": []}], \\\"tail\\\": \\\"$tail\\\"}" ;;
*'Reply as step.'*) DIE
  say "{\\\"findings\\\": [{\\\"claim\\\": \\\"a soft reset\\\", \\\"file\\\": \\\"git/undo.md\\\", \\\"line\\\": 10, \\\"quote\\\": \\\"moves the branch back and keeps the changes staged\\\"}], \\\"absent\\\": [], \\\"suggest\\\": [], \\\"tail\\\": \\\"$tail\\\"}" ;;
*'Reply as review.'*) say "{\\\"drop\\\": [], \\\"gaps\\\": [], \\\"tail\\\": \\\"$tail\\\"}" ;;
*'Reply as synthesis.'*) say "{\\\"answer\\\": \\\"With a soft reset.\\\", \\\"cites\\\": [\\\"a.1\\\"], \\\"delivered\\\": false, \\\"verdict\\\": \\\"answered\\\", \\\"tail\\\": \\\"$tail\\\"}" ;;
*) exit 9 ;;
esac
"#;

/// A folder with a tree, a task, and the cards of three models: one that works, one that kills psos in its
/// first step, and one that only writes prose.
fn env() -> Env {
    let env = Env::new();
    env.write("task.toml", TASK);
    env.write("good.sh", MODEL.replace("DIE", ""));
    env.write("deadly.sh", MODEL.replace("DIE", "kill -9 $PPID; exit 1"));
    env.write(
        "prose.sh",
        "cat >/dev/null\nprintf '{\"schema_version\": 1, \"text\": \"Let me see.\"}'\n",
    );
    for name in ["good", "deadly", "prose"] {
        let card = format!(
            "schema_version = 1\nname = '{name}'\n[capability]\nwindow_tokens = 20000\nstructured_output = false\n\
             prompt_cache = false\ntools = false\n[subprocess]\nargv = ['sh', '{name}.sh']\n"
        );
        env.write(&format!("{name}.toml"), card);
    }
    env
}

#[track_caller]
fn ok(outcome: Outcome) -> Outcome {
    assert_eq!(outcome.code, Some(0), "{outcome:#?}");
    outcome
}

/// The name of the only run of a ledger.
fn run_name(env: &Env) -> String {
    let account = Json::parse(&env.run(&["report", "--json", "--store", "tree/.psos"]).stdout);
    let list = account.get("list").unwrap().items();
    assert_eq!(list.len(), 1);
    list[0].get("run").unwrap().text().to_owned()
}

#[test]
fn a_task_is_answered_and_its_report_is_as_its_schema_says() {
    let env = env();
    let outcome = ok(env.run(&["run", "task.toml", "--model", "good.toml", "--json"]));
    let report = Json::parse(&outcome.stdout);
    assert_none(Schema::read("run-report.schema.json").faults(&report));
    let verdict = report.get("outcome").and_then(|outcome| outcome.get("verdict")).unwrap();
    assert_eq!(verdict.text(), "answered");
    let bound = outcome.stderr.find("at most 26 calls and 120000 input tokens");
    let first = outcome.stderr.find("call 1 of at most 26: orient");
    assert!(
        bound.is_some() && bound < first,
        "the bound is told before the first call: {}",
        outcome.stderr
    );

    let name = run_name(&env);
    let store = ["--store", "tree/.psos"];
    let with_store = |args: &[&str]| ok(env.run(&[args, &store[..]].concat()));
    assert_eq!(with_store(&["report", &name, "--json"]).stdout, outcome.stdout);
    let strict = with_store(&["replay", &name, "--mode", "strict"]);
    assert!(strict.stdout.starts_with("all "), "{strict:?}");
    let cost = with_store(&["replay", &name]);
    assert!(cost.stdout.contains("5 calls, ") && !cost.stdout.contains("changed"), "{cost:?}");
    let what_if = with_store(&["replay", &name, "--mode", "what-if", "--model", "good.toml"]);
    assert!(what_if.stdout.contains("replayed: answered, 5 calls"), "{what_if:?}");
    for (schema, args) in [
        ("account.schema.json", &["report", "--json"][..]),
        ("replay.schema.json", &["replay", &name, "--json"]),
        ("replay.schema.json", &["replay", &name, "--json", "--mode", "strict"]),
        (
            "replay.schema.json",
            &["replay", &name, "--json", "--mode", "what-if", "--model", "good.toml"],
        ),
    ] {
        let answer = with_store(args);
        assert_none(Schema::read(schema).faults(&Json::parse(&answer.stdout)));
    }
    let export = with_store(&["report", &name, "--export", "jsonl"]);
    assert!(export.stdout.lines().all(|line| line.starts_with("{\"actor\":")), "{export:?}");
    let spans = Json::parse(&with_store(&["report", &name, "--export", "otel"]).stdout);
    assert_eq!(spans.keys(), ["resourceSpans"]);
}

#[test]
fn a_run_that_was_killed_is_continued_by_another_model_to_the_same_report() {
    let whole = env();
    let wanted = ok(whole.run(&["run", "task.toml", "--model", "good.toml", "--json"]));
    let env = env();
    let killed = env.run(&["run", "task.toml", "--model", "deadly.toml"]);
    assert_eq!(killed.code, None, "a signal ended it: {killed:?}");
    let name = run_name(&env);
    let unfinished = env.run(&["report", "--store", "tree/.psos"]);
    assert!(
        unfinished.stdout.contains("unfinished") && unfinished.stdout.contains("crash"),
        "{unfinished:?}"
    );
    let resume =
        ["run", "--resume", &name, "--store", "tree/.psos", "--model", "good.toml", "--json"];
    let report = Json::parse(&ok(env.run(&resume)).stdout);
    let wanted = Json::parse(&wanted.stdout);
    assert_eq!(report.get("outcome"), wanted.get("outcome"));
    assert_eq!(report.get("models").unwrap().items().len(), 2);
    // It is over now: nothing more happens.
    assert_eq!(Json::parse(&ok(env.run(&resume)).stdout), report);
}

#[test]
fn what_a_task_names_runs_only_when_the_person_allows_it() {
    let env = env();
    let need = "[deliverable]\nname = 'mark'\ncall = ['sh', '-c', 'echo ran > mark; echo 1..1; echo ok 1']\n\
                kind = {test_run = {runner = 'tap'}}\n";
    env.write("task.toml", format!("{TASK}{need}"));
    let refused = env.run(&["run", "task.toml", "--model", "good.toml"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("echo ran > mark") && refused.stderr.contains("--allow-run"));
    assert!(!env.path("tree/mark").exists());
    // This model plans no step that delivers, so its plan is refused, and nothing runs either.
    let refused = env.run(&["run", "task.toml", "--model", "good.toml", "--allow-run"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stdout.contains("refused") && refused.stdout.contains("deliver"),
        "{refused:?}"
    );
    assert!(!env.path("tree/mark").exists());
    // The harness plans for one that writes prose, but no arguments come of it: not delivered.
    let prose = env.run(&["run", "task.toml", "--model", "prose.toml", "--allow-run"]);
    assert_eq!(prose.code, Some(1), "{prose:?}");
    assert!(prose.stdout.contains("deliverable_missing"), "{prose:?}");
}

#[test]
fn what_is_wrong_with_what_was_named_is_said() {
    let env = env();
    env.write("typo.toml", TASK.replace("question", "qestion"));
    env.write("broken.toml", "schema_version = 1\nname = 'x'\n");
    let long = [
        (&["run", "typo.toml", "--model", "good.toml"][..], 3, "did you mean `question`?"),
        (&["run", "none.toml", "--model", "good.toml"], 2, "cannot read none.toml"),
        (&["run", "task.toml", "--model", "broken.toml"], 3, "broken.toml"),
        (&["run", "task.toml", "--model", "none.toml"], 2, "cannot read none.toml"),
        (&["run", "task.toml", "--modle", "good.toml"], 2, "--model"),
        (
            &["run", "--resume", "nothing", "--store", "tree/.psos", "--model", "good.toml"],
            2,
            "no run nothing",
        ),
        (&["replay", "nothing", "--store", "tree/.psos"], 2, "no run nothing"),
        (&["replay", "x", "--store", "tree/.psos", "--task", "task.toml"], 2, "--mode what-if"),
        (&["report", "--store", "nowhere"], 4, "no ledger"),
    ];
    ok(env.run(&["run", "task.toml", "--model", "good.toml"]));
    for (args, code, says) in long {
        let outcome = env.run(args);
        assert_eq!(outcome.code, Some(code), "{args:?}: {outcome:?}");
        assert!(outcome.stderr.contains(says), "{args:?}: {}", outcome.stderr);
    }
    let ledger = env.path("tree/.psos/runs.redb");
    let bytes = std::fs::read(&ledger).unwrap();
    std::fs::write(&ledger, &bytes[..bytes.len() / 2]).unwrap();
    let cut = env.run(&["report", "--store", "tree/.psos"]);
    assert_eq!(cut.code, Some(3), "{cut:?}");
    assert!(cut.stderr.contains("runs.redb") && cut.stderr.contains("damaged"), "{cut:?}");
}

#[test]
fn a_suite_of_scenarios_is_measured_and_a_wrong_one_is_refused() {
    let env = Env::empty();
    env.write("s.toml", "schema_version = 1\nname = 's'\n[[scenario]]\nname = 'abort'\n");
    let outcome = ok(env.run(&["eval", "s.toml", "--json"]));
    let report = Json::parse(&outcome.stdout);
    assert_none(Schema::read("scenarios.schema.json").faults(&report));
    let text = ok(env.run(&["eval", "s.toml"]));
    assert!(
        text.stdout.contains("abort (simulated)") && text.stdout.contains("ok     calls"),
        "{text:?}"
    );
    let odd = env.run(&["eval", "s.toml", "--splits", "tune"]);
    assert_eq!(odd.code, Some(2), "{odd:?}");
    env.write("s.toml", "schema_version = 1\nname = 's'\n[[scenario]]\nname = 'abrot'\n");
    let unknown = env.run(&["eval", "s.toml"]);
    assert_eq!(unknown.code, Some(3), "{unknown:?}");
    assert!(unknown.stderr.contains("there is no scenario \"abrot\""), "{unknown:?}");
}
