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
*'Reply as plan.'*) say "{\\\"steps\\\": [{\\\"id\\\": \\\"a\\\", \\\"kind\\\": \\\"examine\\\", \\\"goal\\\": \\\"how\\\", \\\"targets\\\": [\\\"$id\\\"], \\\"needs\\\": []}PLAN], \\\"tail\\\": \\\"$tail\\\"}" ;;
*'Reply as step.'*) DIE
  say "{\\\"findings\\\": [{\\\"claim\\\": \\\"a soft reset\\\", \\\"file\\\": \\\"git/undo.md\\\", \\\"line\\\": 10, \\\"quote\\\": \\\"moves the branch back and keeps the changes staged\\\"}], \\\"absent\\\": [], \\\"suggest\\\": [], \\\"tail\\\": \\\"$tail\\\"}" ;;
*'Reply as deliver.'*) say "{\\\"arguments\\\": [], \\\"tail\\\": \\\"$tail\\\"}" ;;
*'Reply as review.'*) say "{\\\"drop\\\": [], \\\"gaps\\\": [], \\\"tail\\\": \\\"$tail\\\"}" ;;
*'Reply as synthesis.'*) say "{\\\"answer\\\": \\\"With a soft reset.\\\", \\\"cites\\\": [\\\"a.1\\\"], CLAIM\\\"verdict\\\": \\\"answered\\\", \\\"tail\\\": \\\"$tail\\\"}" ;;
*) exit 9 ;;
esac
"#;

/// The model for a task that needs no deliverable; `die` is what it does in its first step.
fn plain(die: &str) -> String {
    MODEL.replace("DIE", die).replace("PLAN", "").replace("CLAIM", "")
}

/// The model for a task that needs one: it plans a step for it, and claims what `says` has in the end, each
/// `about=is`.
fn delivering(says: &[&str]) -> String {
    let step =
        r#", {"id": "d", "kind": "deliver", "goal": "run it", "targets": [], "needs": ["a"]}"#;
    let claims: Vec<String> = says
        .iter()
        .map(|said| said.split_once('=').unwrap())
        .map(|(about, is)| format!(r#"{{"about": "{about}", "is": "{is}"}}"#))
        .collect();
    let claim = format!(r#""delivered": true, "claims": [{}], "#, claims.join(", "));
    let quoted = |text: &str| text.replace('"', r#"\\\""#);
    MODEL.replace("DIE", "").replace("PLAN", &quoted(step)).replace("CLAIM", &quoted(&claim))
}

/// A folder with a tree, a task, and the cards of three models: one that works, one that kills psos in its
/// first step, and one that only writes prose.
fn env() -> Env {
    let env = Env::new();
    env.write("task.toml", TASK);
    env.write("good.sh", plain(""));
    env.write("deadly.sh", plain("kill -9 $PPID; exit 1"));
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

/// A task that needs a test run: two tests pass. Where there is a file `die`, psos is killed during the call, once:
/// before the report is written, or after it.
fn env_with_tests(repeat: &str) -> Env {
    let env = env();
    let need = "[deliverable]\nname = 'tests'\ncall = ['sh', 'run.sh']\n\
                kind = {test_run = {runner = 'junit_xml', report = 'report.xml'}}\n";
    env.write("task.toml", format!("{TASK}{need}repeat = '{repeat}'\n"));
    let report = "echo '<testsuite tests=\"2\"><testcase name=\"a\"/><testcase name=\"b\"/></testsuite>' > report.xml";
    env.write(
        "tree/run.sh",
        format!(
            "echo called >> ../calls\ndie() {{ if [ \"$(cat ../die 2>/dev/null)\" = \"$1\" ]; then rm ../die; \
             kill -9 $PPID; exit 1; fi; }}\ndie before\n{report}\ndie after\n"
        ),
    );
    env.write("good.sh", delivering(&["passed=2", "failed=0", "exit=0", "file=report.xml"]));
    env
}

/// How often the call of the deliverable was made.
fn n_calls(env: &Env) -> usize {
    std::fs::read_to_string(env.path("calls")).unwrap_or_default().lines().count()
}

#[test]
fn a_task_with_a_deliverable_is_answered_and_its_journal_is_exported() {
    let env = env_with_tests("never");
    let run = ["run", "task.toml", "--model", "good.toml", "--allow-run", "--json"];
    let outcome = ok(env.run(&run));
    let report = Json::parse(&outcome.stdout);
    assert_none(Schema::read("run-report.schema.json").faults(&report));
    let of_run = report.get("outcome").unwrap();
    assert_eq!(of_run.get("verdict").unwrap().text(), "answered");
    let fact = of_run.get("deliverable").unwrap();
    let observed = "made: 2 passed, 0 failed, 0 skipped, report.xml, 74 bytes, exit code 0";
    assert_eq!(fact.get("observed").unwrap().text(), observed);
    assert_eq!(of_run.get("claim").unwrap().get("claims").unwrap().items().len(), 4);
    assert_eq!(n_calls(&env), 1);

    let name = run_name(&env);
    let export = |format: &str| {
        ok(env.run(&["report", &name, "--export", format, "--store", "tree/.psos"])).stdout
    };
    let kinds: Vec<String> = export("jsonl")
        .lines()
        .map(|line| Json::parse(line).get("kind").unwrap().text().to_owned())
        .collect();
    let at = |kind: &str| kinds.iter().position(|it| it == kind);
    assert_eq!(at("delivering").unwrap() + 1, at("delivered").unwrap(), "{kinds:?}");
    let spans = Json::parse(&export("otel"));
    let scope = &spans.get("resourceSpans").unwrap().items()[0];
    let scope = &scope.get("scopeSpans").unwrap().items()[0];
    let names: Vec<&str> = scope
        .get("spans")
        .unwrap()
        .items()
        .iter()
        .map(|it| it.get("name").unwrap().text())
        .collect();
    assert_eq!(
        names,
        [
            "psos run undo",
            "chat orient",
            "chat plan",
            "chat step a",
            "chat step d",
            "execute_tool tests",
            "chat review",
            "chat synthesis"
        ]
    );
    let strict = ok(env.run(&["replay", &name, "--mode", "strict", "--store", "tree/.psos"]));
    assert!(strict.stdout.starts_with("all "), "{strict:?}");
}

#[test]
fn a_lie_about_a_deliverable_is_named_and_the_run_is_not_answered() {
    for (lie, named) in [
        ("passed=3", "passed: claimed was \"3\", seen was \"2\""),
        ("failed=1", "failed: claimed was \"1\", seen was \"0\""),
        ("exit=1", "exit: claimed was \"1\", seen was \"0\""),
        ("file=other.xml", "file: claimed was \"other.xml\", seen was \"report.xml\""),
    ] {
        let env = env_with_tests("never");
        env.write("good.sh", delivering(&["ran=2", lie]));
        let outcome = env.run(&["run", "task.toml", "--model", "good.toml", "--allow-run"]);
        assert_eq!(outcome.code, Some(1), "{lie}: {outcome:?}");
        assert!(outcome.stdout.contains("partial"), "{lie}: {outcome:?}");
        assert!(outcome.stdout.contains(&format!("ungrounded: {named}")), "{lie}: {outcome:?}");
    }
}

#[test]
fn killed_during_the_call_of_a_deliverable_it_is_made_again_only_where_it_may_be() {
    let whole = env_with_tests("when_interrupted");
    let run = ["run", "task.toml", "--model", "good.toml", "--allow-run", "--json"];
    let wanted = Json::parse(&ok(whole.run(&run)).stdout);
    for (repeat, moment, calls) in [
        ("when_interrupted", "before", 2),
        ("when_interrupted", "after", 2),
        ("never", "before", 1),
        ("never", "after", 1),
    ] {
        let env = env_with_tests(repeat);
        env.write("die", moment);
        let killed = env.run(&run);
        assert_eq!(killed.code, None, "a signal ended it: {killed:?}");
        let name = run_name(&env);
        let resume = [
            "run",
            "--resume",
            &name,
            "--store",
            "tree/.psos",
            "--model",
            "good.toml",
            "--allow-run",
            "--json",
        ];
        let outcome = env.run(&resume);
        assert!(!outcome.stderr.contains("warning"), "{outcome:?}");
        let again = outcome.stderr.contains("makes \"tests\" again");
        assert_eq!(again, repeat == "when_interrupted", "{outcome:?}");
        let report = Json::parse(&outcome.stdout);
        assert_none(Schema::read("run-report.schema.json").faults(&report));
        assert_eq!(n_calls(&env), calls, "{repeat}, {moment}");
        let lost = report.get("cost").unwrap().get("lost_deliveries").unwrap();
        assert_eq!(lost, &Json::Number(1.0));
        let (of_run, of_whole) = (report.get("outcome").unwrap(), wanted.get("outcome").unwrap());
        if repeat == "when_interrupted" {
            assert_eq!(without_times(of_run), without_times(of_whole), "{moment}");
            continue;
        }
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert_eq!(of_run.get("verdict").unwrap().text(), "partial");
        let observed = of_run.get("deliverable").unwrap().get("observed").unwrap().text();
        let left =
            if moment == "after" { "it left report.xml, 74 bytes" } else { "it left no file" };
        assert!(observed.contains("psos was ended during the call") && observed.contains(left));
        // It is over: nothing is made when it is asked for once more.
        assert_eq!(Json::parse(&env.run(&resume).stdout), report);
        assert_eq!(n_calls(&env), 1);
    }
}

/// What came of a run, without when its call was made and how long it took.
fn without_times(outcome: &Json) -> Json {
    match outcome {
        Json::Object(entries) => Json::Object(
            entries
                .iter()
                .filter(|(key, _)| !["started_ms", "elapsed_ms"].contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), without_times(value)))
                .collect(),
        ),
        Json::List(items) => Json::List(items.iter().map(without_times).collect()),
        value => value.clone(),
    }
}

/// Two scenes about a program that greets; the second expects what it does not do.
const BOARD: &str = r#"
schema_version = 1
name = "greeting"
inputs = ["greet.sh"]
programs = ["sh"]
[[scene]]
name = "greet #1"
given = "nobody"
action = "greet ann"
run = [["sh", "greet.sh", "ann"]]
expect = { exit = 0, output_is = "hello ann" }
evidence = ["cast"]
[[scene]]
name = "greet nobody"
given = "nobody"
action = "greet without a name"
run = [["sh", "greet.sh"]]
expect = { output_has = ["hello?"] }
evidence = ["cast", "output"]
"#;

/// A folder with the storyboard in its tree.
fn env_with_board(board: &str) -> Env {
    let env = env();
    env.write("tree/greet.sh", "echo hello $1\n");
    env.write("tree/board.toml", board);
    env
}

#[test]
fn a_storyboard_is_executed_and_its_verdicts_are_printed_as_tap() {
    let env = env_with_board(BOARD);
    let story = |more: &[&str]| env.run(&[&["storyboard", "tree/board.toml"], more].concat());
    let outcome = story(&["--out", "out", "--allow-run"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!(
        outcome.stdout,
        "TAP version 13\n1..2\nok 1 - greet \\#1\nnot ok 2 - greet nobody\n# the output lacks \"hello?\"\n"
    );
    for file in ["01-greet--1.cast", "02-greet-nobody.cast", "02-greet-nobody.txt", "verdicts.json"]
    {
        assert!(env.path("out").join(file).is_file(), "{file}");
    }
    let json = story(&["--out", "again", "--allow-run", "--json"]);
    assert_eq!(json.stdout, std::fs::read_to_string(env.path("again/verdicts.json")).unwrap());

    let first = BOARD.split("[[scene]]\nname = \"greet nobody\"").next().unwrap();
    env.write("tree/board.toml", first);
    ok(story(&["--out", "good", "--allow-run"]));
    env.write("unwritten.toml", first.replace("run = [[\"sh\", \"greet.sh\", \"ann\"]]\n", ""));
    for (args, code, says) in [
        (&["tree/board.toml", "--out", "x"][..], 2, "the storyboard runs: sh"),
        (&["tree/board.toml", "--out", "out", "--allow-run"], 2, "is not empty"),
        (&["none.toml", "--out", "x", "--allow-run"], 2, "cannot read none.toml"),
        (&["task.toml", "--out", "x", "--allow-run"], 3, "the storyboard cannot be read"),
        (&["unwritten.toml", "--out", "x", "--allow-run"], 2, "neither commands nor a page"),
        (
            &["tree/board.toml", "--tree", ".", "--out", "x", "--allow-run"],
            3,
            "the input `greet.sh` is no file of the tree",
        ),
    ] {
        let outcome = env.run(&[&["storyboard"], args].concat());
        assert_eq!(outcome.code, Some(code), "{args:?}: {outcome:?}");
        assert!(outcome.stderr.contains(says), "{args:?}: {outcome:?}");
        assert!(!env.path("x").exists(), "{args:?}");
    }
}

#[test]
fn a_run_delivers_the_tests_of_a_storyboard_and_finds_the_fault_in_its_scene() {
    let env = env_with_board(BOARD);
    let call = format!(
        "['{}', 'storyboard', 'board.toml', '--out', '../out', '--allow-run']",
        env!("CARGO_BIN_EXE_psos")
    );
    let need = format!(
        "[deliverable]\nname = 'storyboard tests'\ncall = {call}\nkind = {{test_run = {{runner = 'tap'}}}}\n"
    );
    env.write("task.toml", format!("{TASK}{need}"));
    env.write("good.sh", delivering(&["ran=2", "passed=1", "failed=1", "exit=1"]));
    let outcome = ok(env.run(&["run", "task.toml", "--model", "good.toml", "--allow-run"]));
    assert!(outcome.stdout.contains("1 passed, 1 failed, 0 skipped, exit code 1"), "{outcome:?}");
    let verdicts = Json::parse(&std::fs::read_to_string(env.path("out/verdicts.json")).unwrap());
    let verdicts = verdicts.get("scenes").unwrap().items().iter();
    let verdicts: Vec<&str> = verdicts
        .map(|scene| scene.get("verdict").unwrap().get("verdict").unwrap().text())
        .collect();
    assert_eq!(verdicts, ["passed", "failed"]);
}

#[test]
fn of_two_runs_that_must_produce_one_file_the_second_is_refused() {
    let env = env_with_tests("never");
    let psos = env!("CARGO_BIN_EXE_psos");
    // The first run is in its first step when the second begins.
    let second =
        format!("'{psos}' run task.toml --model other.toml --allow-run --json > second.json");
    let good = delivering(&["passed=2"]);
    let step = "*'Reply as step.'*) ";
    assert!(good.contains(step));
    env.write("good.sh", good.replacen(step, &format!("{step}{second}\n"), 1));
    env.write("other.sh", good);
    let card = std::fs::read_to_string(env.path("good.toml")).unwrap();
    env.write("other.toml", card.replace("good", "other"));
    let first = ok(env.run(&["run", "task.toml", "--model", "good.toml", "--allow-run", "--json"]));
    assert_eq!(n_calls(&env), 1);
    let outcome = |text: &str| Json::parse(text).get("outcome").unwrap().clone();
    assert_eq!(outcome(&first.stdout).get("verdict").unwrap().text(), "answered");
    let second = outcome(&std::fs::read_to_string(env.path("second.json")).unwrap());
    assert_eq!(second.get("verdict").unwrap().text(), "refused");
    let failure = &second.get("failures").unwrap().items()[0];
    assert_eq!(failure.get("class").unwrap().text(), "gate_refusal");
    assert!(failure.get("message").unwrap().text().contains("report.xml"), "{failure:?}");
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
