//! The contract of the commands: what goes to stdout and what to stderr, with which exit code.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use crate::harness::{Env, Outcome};
use crate::schema::Json;

const UNDO: &str = "git/undo.md#undo-the-last-commit";
const STORE: [&str; 2] = ["--store", "tree/.psos"];

/// The small tree, indexed.
fn indexed() -> Env {
    let env = Env::new();
    answers(&env, &["index", "tree", "-q"], 0);
    env
}

/// Runs psos on the store of the tree.
fn ask(env: &Env, args: &[&str]) -> Outcome {
    env.run(&[&args[..1], &STORE[..], &args[1..]].concat())
}

#[track_caller]
fn answers(env: &Env, args: &[&str], code: i32) -> Outcome {
    let outcome = env.run(args);
    assert_eq!(outcome.code, Some(code), "{args:?}: {outcome:?}");
    outcome
}

/// Runs psos on the store and checks the exit code.
#[track_caller]
fn tells(env: &Env, args: &[&str], code: i32) -> Outcome {
    let outcome = ask(env, args);
    assert_eq!(outcome.code, Some(code), "{args:?}: {outcome:?}");
    outcome
}

/// A refusal: its code, nothing on stdout, and a message with these words.
#[track_caller]
fn refuses(outcome: &Outcome, code: i32, says: &[&str]) {
    assert_eq!(outcome.code, Some(code), "{outcome:?}");
    assert_eq!(outcome.stdout, "", "data beside a refusal");
    assert!(outcome.stderr.starts_with("error: "), "{outcome:?}");
    for words in says {
        assert!(outcome.stderr.contains(words), "no {words:?} in {}", outcome.stderr);
    }
}

#[test]
fn index_reports_what_it_did_and_a_second_run_finds_nothing_to_do() {
    let env = Env::new();
    let first = answers(&env, &["index", "tree"], 0);
    assert!(
        first.stdout.starts_with(
            "indexed 6 records of 3 files in [TIME]: 3 files read (552 bytes), 0 unchanged, 0 removed\n"
        ),
        "{first:?}"
    );
    assert_eq!(first.stderr, "");
    let before = tells(&env, &["verify", "--dump"], 0);

    let again = answers(&env, &["index", "tree", "--json"], 0);
    let report = Json::parse(&again.stdout);
    assert_eq!(report.get("changed"), Some(&Json::Bool(false)));
    assert_eq!(report.get("generation"), Some(&Json::Number(1.0)));
    assert_eq!(tells(&env, &["verify", "--dump"], 0), before);

    let quiet = answers(&env, &["index", "tree", "-q", "--full"], 0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    assert_eq!(tells(&env, &["verify", "--dump"], 0), before);
}

#[test]
fn a_dry_run_tells_and_leaves_nothing_behind() {
    let env = Env::new();
    env.write("tree/picture.png", "x");
    let dry = answers(&env, &["index", "tree", "--dry-run"], 0);
    assert_eq!(
        dry.stdout,
        "read     git/undo.md\nread     rows.jsonl\nread     skills/deploy/SKILL.md\n\
         skip     picture.png: no reader for this kind of file (give it an ending that says what it is, such as .txt)\n\
         3 files would be read, 0 removed, 0 left as they are\n"
    );
    assert!(!env.path("tree/.psos").exists());

    answers(&env, &["index", "tree", "-q"], 0);
    let before = tells(&env, &["verify", "--dump"], 0);
    fs::remove_file(env.path("tree/rows.jsonl")).unwrap();
    env.write("tree/new.md", "# New\n\nText.\n");
    let dry = answers(&env, &["index", "tree", "--dry-run"], 0);
    assert!(dry.stdout.contains("read     new.md\n"), "{dry:?}");
    assert!(dry.stdout.contains("remove   rows.jsonl\n"), "{dry:?}");
    assert_eq!(tells(&env, &["verify", "--dump"], 0), before);
}

#[test]
fn edits_removals_and_renames_are_followed() {
    let env = indexed();
    let first =
        |question: &str| ask(&env, &["recall", "--format", "paths", "-n", "1", question]).stdout;
    assert_eq!(first("renew the certificate"), "rows.jsonl#d2\n");

    env.write(
        "tree/rows.jsonl",
        "{\"_id\": \"d2\", \"title\": \"Feed the cat\", \"text\": \"Twice a day.\"}\n",
    );
    fs::rename(env.path("tree/git"), env.path("tree/vcs")).unwrap();
    fs::remove_dir_all(env.path("tree/skills")).unwrap();
    let report = Json::parse(&answers(&env, &["index", "tree", "--json"], 0).stdout);
    assert_eq!(report.get("records"), Some(&Json::Number(4.0)));
    let files = report.get("files").unwrap();
    for (key, n) in [("read", 2.0), ("removed", 2.0), ("total", 2.0)] {
        assert_eq!(files.get(key), Some(&Json::Number(n)), "{key} of {files:?}");
    }

    assert_eq!(first("feed the cat"), "rows.jsonl#d2\n");
    assert_eq!(first("take back a commit"), "vcs/undo.md#undo-the-last-commit\n");
    for gone in ["certificate", "ship it"] {
        assert_eq!(tells(&env, &["recall", gone], 1).stdout, "", "{gone}");
    }
    tells(&env, &["verify"], 0);
}

#[test]
fn a_tree_that_is_suddenly_empty_does_not_empty_the_store() {
    let env = indexed();
    for folder in ["git", "skills"] {
        fs::remove_dir_all(env.path(&format!("tree/{folder}"))).unwrap();
    }
    fs::remove_file(env.path("tree/rows.jsonl")).unwrap();
    refuses(&env.run(&["index", "tree"]), 3, &["no file to read", "--allow-empty"]);
    assert_eq!(tells(&env, &["ls"], 0).stdout.lines().count(), 6);
    answers(&env, &["index", "tree", "--allow-empty"], 0);
    assert_eq!(tells(&env, &["ls"], 1).stdout, "");
}

#[test]
fn a_bad_line_costs_that_line_and_is_named() {
    let env = Env::new();
    env.write("tree/rows.jsonl", "{\"_id\": \"ok\", \"text\": \"Fine.\"}\n{broken\n{\"_id\": \"too\", \"text\": \"Fine.\"}\n");
    let outcome = answers(&env, &["index", "tree"], 0);
    assert!(outcome.stderr.starts_with("rows.jsonl:2:"), "{outcome:?}");
    assert!(outcome.stdout.contains("remarks    1 on files read, 0 skipped"), "{outcome:?}");
    assert_eq!(tells(&env, &["ls", "--path", "rows.jsonl"], 0).stdout.lines().count(), 2);
}

#[test]
fn recall_answers_in_every_format() {
    let env = indexed();
    let recall = |args: &[&str]| tells(&env, &[&["recall"], args].concat(), 0);
    let text = recall(&["take back a commit"]);
    assert!(
        text.stdout.starts_with(
            "[1] git/undo.md#undo-the-last-commit lines 3-11 detail\n## Undo the last commit\n\n\
             `git reset --soft HEAD~1` moves the branch back and keeps the changes staged.\n\n[2] "
        ),
        "{text:?}"
    );
    assert_eq!(text.stderr, "");
    assert_eq!(recall(&["take", "back", "a", "commit"]), text, "words are joined");

    let md = recall(&["--format", "md", "take back a commit"]);
    assert_eq!(md.stdout.replace("### [", "["), text.stdout);
    assert!(md.stdout.starts_with("### [1] ") && md.stdout.contains("\n\n### [2] "), "{md:?}");

    let paths = recall(&["--format", "paths", "take back a commit"]);
    assert_eq!(paths.stdout.lines().next(), Some(UNDO));

    let trec = recall(&["--format", "trec", "take back a commit"]);
    let rows: Vec<Vec<&str>> = trec.stdout.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(rows[0][..4], ["query", "Q0", UNDO, "1"]);
    assert!(rows.iter().all(|row| row.len() == 6 && row[5] == "psos"), "{trec:?}");
    let ids: Vec<&str> = rows.iter().map(|row| row[2]).collect();
    assert_eq!(ids, paths.stdout.lines().collect::<Vec<_>>());

    let json = recall(&["--json", "take back a commit"]);
    assert_eq!(json.stdout.lines().count(), 1);
    assert_eq!(recall(&["--format", "json", "take back a commit"]), json);
    assert_eq!(recall(&["--format", "jsonl", "take back a commit"]), json);
}

#[test]
fn the_json_of_a_recall_has_the_documented_keys_in_their_order() {
    let env = indexed();
    let json = |more: &[&str]| {
        Json::parse(
            &ask(&env, &[&["recall", "--json", "take back a commit"], more].concat()).stdout,
        )
    };
    let answer = json(&[]);
    assert_eq!(
        answer.keys(),
        [
            "schema_version",
            "query",
            "budget",
            "tokens_used",
            "total",
            "returned",
            "truncated",
            "results",
            "omitted"
        ]
    );
    let result = &answer.get("results").unwrap().items()[0];
    let keys = [
        "id", "path", "lines", "kind", "tier", "complete", "score", "why", "text", "stale",
        "source",
    ];
    assert_eq!(result.keys(), keys);
    assert_eq!(result.get("id"), Some(&Json::Text(UNDO.to_owned())));
    assert_eq!(answer.get("omitted").unwrap().keys(), ["ids", "over_budget", "past_limit"]);
    let explained = &json(&["--explain"]).get("results").unwrap().items()[0].clone();
    assert_eq!(explained.keys(), [&keys[..], &["explain"]].concat());
    assert_eq!(
        explained.get("explain").unwrap().keys(),
        ["score", "triggers", "terms", "paraphrases", "features"]
    );
}

#[test]
fn recall_keeps_to_the_number_the_tier_and_the_part_of_the_store() {
    let env = Env::new();
    env.write(
        "tree/chat.jsonl",
        "{\"_id\": \"m1\", \"text\": \"The commit of Ann.\", \"scope\": \"ann\"}\n\
         {\"_id\": \"m2\", \"text\": \"The commit of Bob.\", \"scope\": \"bob\"}\n",
    );
    answers(&env, &["index", "tree", "-q"], 0);
    let ids = |args: &[&str]| -> Vec<String> {
        let outcome = ask(&env, &[&["recall", "--format", "paths", "commit"], args].concat());
        outcome.stdout.lines().map(str::to_owned).collect()
    };
    assert!(ids(&[]).len() > 2);
    assert_eq!(ids(&["-n", "1"]).len(), 1);
    assert_eq!(ids(&["--scope", "bob"]), ["chat.jsonl#m2"]);
    assert_eq!(ids(&["--path", "chat.*"]).len(), 2);
    assert!(ids(&["--path", "git/**"]).iter().all(|id| id.starts_with("git/")));
    assert!(ids(&["--kind", "section"]).iter().all(|id| id.starts_with("git/")));
    assert_eq!(ids(&["--kind", "skill"]), Vec::<String>::new());
    assert_eq!(ids(&["--scope", "carl"]), Vec::<String>::new());
    refuses(&ask(&env, &["recall", "--path", "a[", "commit"]), 2, &["a[", "pattern"]);

    let tier =
        |tier: &str| tells(&env, &["recall", "--tier", tier, "take back a commit"], 0).stdout;
    assert!(tier("description").starts_with(&format!("[1] {UNDO} lines 3-11 description of ")));
    assert!(tier("summary").starts_with(&format!("[1] {UNDO} lines 3-11 summary of ")));
    assert!(tier("detail").starts_with(&format!("[1] {UNDO} lines 3-11 detail\n")));
    refuses(
        &ask(&env, &["recall", "--tier", "trigger", "commit"]),
        2,
        &["never shown", "psos get ID:trigger"],
    );
}

#[test]
fn explain_talks_on_stderr_and_leaves_the_data_as_it_is() {
    let env = indexed();
    let plain = tells(&env, &["recall", "take back a commit"], 0);
    let explained = tells(&env, &["recall", "--explain", "take back a commit"], 0);
    assert_eq!(explained.stdout, plain.stdout);
    for words in [UNDO, "trigger `take back a commit` (exact)", "word `commit`", "tokens used"] {
        assert!(explained.stderr.contains(words), "no {words:?} in {}", explained.stderr);
    }
}

#[test]
fn a_question_comes_from_standard_input_or_behind_two_dashes() {
    let env = indexed();
    let wanted = tells(&env, &["recall", "take back a commit"], 0);
    let piped =
        env.run_with_input(&["recall", "--store", "tree/.psos", "-"], "take back a commit\n");
    assert_eq!(piped, wanted);
    let dashed = tells(&env, &["recall", "--format", "paths", "--", "--soft"], 0);
    assert_eq!(dashed.stdout.lines().next(), Some(UNDO));
    let empty = env.run_with_input(&["recall", "--store", "tree/.psos", "-"], " \n");
    refuses(&empty, 2, &["the query is empty"]);
}

#[test]
fn a_file_of_questions_is_answered_line_by_line() {
    let env = indexed();
    env.write(
        "q.jsonl",
        "\u{feff}{\"_id\": \"a b\", \"text\": \"take back a commit\"}\n\n{\"_id\": \"none\", \"text\": \"xylophone\"}\n\
         {\"_id\": \"empty\", \"text\": \" \"}\n{\"_id\": \"d2\", \"text\": \"renew the certificate\", \"more\": 1}\n",
    );
    let trec = tells(&env, &["recall", "--queries", "q.jsonl", "--format", "trec"], 0);
    let rows: Vec<Vec<&str>> = trec.stdout.lines().map(|line| line.split(' ').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 6), "{trec:?}");
    assert_eq!(rows[0][..4], ["a%20b", "Q0", UNDO, "1"]);
    let second = rows.iter().find(|row| row[0] == "d2").unwrap();
    assert_eq!(second[..4], ["d2", "Q0", "rows.jsonl#d2", "1"]);
    assert_eq!(trec.stderr, "q.jsonl:4: the query is empty\n");
    for pair in rows.windows(2).filter(|pair| pair[0][0] == pair[1][0]) {
        let score = |row: &[&str]| row[4].parse::<f64>().unwrap();
        assert!(score(&pair[0]) > score(&pair[1]), "{trec:?}");
    }

    let jsonl = tells(&env, &["recall", "--queries", "q.jsonl", "--format", "jsonl"], 0);
    let answered: Vec<Json> = jsonl.stdout.lines().map(Json::parse).collect();
    let ids: Vec<&str> = answered.iter().map(|answer| answer.get("_id").unwrap().text()).collect();
    assert_eq!(ids, ["a b", "none", "d2"]);
    assert_eq!(answered[0].keys()[..3], ["schema_version", "_id", "query"]);
    assert_eq!(answered[1].get("results").unwrap().items().len(), 0);

    refuses(&ask(&env, &["recall", "--queries", "q.jsonl"]), 2, &["--format trec"]);
    refuses(&ask(&env, &["recall", "--queries", "no.jsonl", "--format", "trec"]), 2, &["no.jsonl"]);
}

#[test]
fn a_bad_line_of_questions_is_named_and_the_answers_before_it_stand() {
    let env = indexed();
    env.write("q.jsonl", "{\"_id\": \"1\", \"text\": \"take back a commit\"}\n{\"_id\": 2}\n");
    let outcome = tells(&env, &["recall", "--queries", "q.jsonl", "--format", "trec"], 3);
    assert!(outcome.stdout.starts_with(&format!("1 Q0 {UNDO} 1 ")), "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: q.jsonl:2: "), "{outcome:?}");
    assert!(outcome.stderr.contains("hint: each line is one object with \"_id\" and \"text\""));
}

#[test]
fn a_question_that_does_not_fit_its_budget_does_not_end_the_others() {
    let env = indexed();
    let long = "commit ".repeat(200);
    env.write(
        "q.jsonl",
        format!("{{\"_id\": \"long\", \"text\": \"{long}\"}}\n{{\"_id\": \"short\", \"text\": \"take back a commit\"}}\n"),
    );
    let outcome =
        tells(&env, &["recall", "--queries", "q.jsonl", "--format", "jsonl", "-b", "600"], 0);
    assert_eq!(Json::parse(&outcome.stdout).get("_id").unwrap().text(), "short");
    assert!(
        outcome.stderr.starts_with("q.jsonl:1: a budget of 600 tokens is too small"),
        "{outcome:?}"
    );
}

#[test]
fn a_tree_is_indexed_before_it_is_asked() {
    let env = Env::new();
    let built = answers(&env, &["recall", "--tree", "tree", "take back a commit"], 0);
    assert!(built.stdout.starts_with(&format!("[1] {UNDO} ")), "{built:?}");
    assert!(env.path("tree/.psos/store.redb").is_file());
    env.write("tree/git/undo.md", "# Other\n\nNothing about it.\n");
    let refreshed = env.run(&["recall", "--tree", "tree", "take back a commit"]);
    assert!(!refreshed.stdout.contains(UNDO), "{refreshed:?}");
    // Postmortem: with PSOS_STORE set for good, `--tree` was refused as if --store had been given.
    let mut command = env.command(&["recall", "--tree", "tree", "renew the certificate"]);
    let output = command.env("PSOS_STORE", env.path("elsewhere")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!env.path("elsewhere").exists());
    refuses(
        &env.run(&["recall", "--tree", "tree", "--store", "x", "commit"]),
        2,
        &["--tree", "--store"],
    );
    refuses(&env.run(&["recall", "--tree", "no", "commit"]), 2, &["there is no folder no"]);
    assert!(!env.path("no").exists());
}

#[test]
fn the_store_is_found_upwards_by_its_variable_or_by_its_flag() {
    let env = indexed();
    let ask = |folder: &str, variable: Option<&str>| {
        let mut command = env.command(&["recall", "--format", "paths", "take back a commit"]);
        command.current_dir(env.path(folder));
        command.envs(variable.map(|dir| ("PSOS_STORE", env.path(dir))));
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let found = ask("tree", None);
    assert_eq!(found.0, Some(0));
    assert!(found.1.starts_with(UNDO));
    assert_eq!(ask("tree/skills/deploy", None), found);
    assert_eq!(ask(".", Some("tree/.psos")), found);
    assert_eq!(ask("tree", Some("nowhere")).0, Some(4));

    refuses(&env.run(&["recall", "commit"]), 4, &["there is no store in [DIR]", "psos index TREE"]);
    refuses(
        &env.run(&["status", "--store", "nowhere"]),
        4,
        &["no store at nowhere", "psos index TREE"],
    );
    assert!(!env.path("nowhere").exists());
}

#[test]
fn strict_refuses_sources_that_changed_or_vanished() {
    let env = indexed();
    let strict = |question| ask(&env, &["recall", "--strict", "-n", "1", question]);
    assert_eq!(strict("take back a commit").code, Some(0));

    env.write("tree/git/undo.md", "# Undo\n\nRewritten.\n");
    fs::remove_file(env.path("tree/rows.jsonl")).unwrap();
    for (question, mark, word) in [
        ("take back a commit", " stale\n", "changed"),
        ("renew the certificate", " missing\n", "vanished"),
    ] {
        let served = tells(&env, &["recall", "-n", "1", question], 0);
        assert!(served.stdout.lines().next().unwrap().ends_with(mark.trim_end()), "{served:?}");
        let json = tells(&env, &["recall", "--json", "-n", "1", question], 0);
        let result = &Json::parse(&json.stdout).get("results").unwrap().items()[0].clone();
        assert_eq!(result.get("stale"), Some(&Json::Bool(true)));
        refuses(&strict(question), 3, &[word, "since it was indexed", "--tree"]);
    }
    assert_eq!(strict("ship it").code, Some(0), "its source is as it was");
}

#[test]
fn get_shows_one_record_by_its_id() {
    let env = indexed();
    let get = |args: &[&str]| tells(&env, &[&["get"], args].concat(), 0).stdout;
    let detail = "## Undo the last commit\n\n`git reset --soft HEAD~1` moves the branch back and keeps the changes staged.\n";
    assert_eq!(get(&[UNDO]), detail);
    assert_eq!(get(&[&format!("{UNDO}:detail")]), detail);
    assert!(get(&[&format!("{UNDO}:trigger")]).contains("take back a commit\n"));
    assert_eq!(
        get(&["skills/deploy/SKILL.md:description"]),
        "Puts a new release on the servers.\n"
    );
    assert_eq!(
        get(&["skills/deploy/SKILL.md", "--tier", "description"]),
        "Puts a new release on the servers.\n"
    );
    assert_eq!(get(&[UNDO, "--lines", "1:3"]), "## Undo the last commit\n");
    assert_eq!(
        get(&[UNDO, "--lines", "10:99"]),
        "`git reset --soft HEAD~1` moves the branch back and keeps the changes staged.\n\n"
    );
    let json = Json::parse(&get(&[UNDO, "--json"]));
    assert_eq!(json.get("text").unwrap().text(), detail.trim_end());

    let unknown = tells(&env, &["get", "git/undo.md#undo-last-commit"], 1);
    refuses(
        &unknown,
        1,
        &["no record has the id git/undo.md#undo-last-commit", "hint: did you mean", UNDO],
    );
    refuses(&tells(&env, &["get", "zebra"], 1), 1, &["no record has the id zebra"]);
    refuses(&ask(&env, &["get", UNDO, "--lines", "90:99"]), 2, &["lines 3 to 11"]);
    refuses(&ask(&env, &["get", UNDO, "--lines", "9:3"]), 2, &["counted from 1"]);
    refuses(
        &ask(&env, &["get", &format!("{UNDO}:summary"), "--lines", "3:4"]),
        2,
        &["not of the summary"],
    );
}

#[test]
fn ls_status_and_verify_tell_what_a_store_holds() {
    let env = indexed();
    let ls = tells(&env, &["ls"], 0);
    let ids: Vec<&str> = ls.stdout.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(
        ids,
        [
            "git/undo.md",
            "git/undo.md#discard-edits-in-a-file",
            UNDO,
            "rows.jsonl#d1",
            "rows.jsonl#d2",
            "skills/deploy/SKILL.md"
        ]
    );
    assert_eq!(tells(&env, &["ls", "--kind", "row"], 0).stdout.lines().count(), 2);
    assert_eq!(tells(&env, &["ls", "--path", "none/**"], 1).stdout, "");

    let status = tells(&env, &["status"], 0);
    for line in
        ["tree        [DIR]/tree\n", "files       3\n", "records     6 (", "generation  1, "]
    {
        assert!(status.stdout.contains(line), "no {line:?} in {}", status.stdout);
    }

    assert_eq!(tells(&env, &["verify"], 0).stdout, "the store agrees with itself\n");
    let dump = tells(&env, &["verify", "--dump"], 0);
    assert!(dump.stdout.lines().all(|line| matches!(Json::parse(line), Json::Object(_))));
    let other = indexed();
    assert_eq!(tells(&other, &["verify", "--dump"], 0), dump, "equal trees, equal dumps");
}

#[test]
fn a_tree_that_is_no_folder_is_refused_and_no_store_is_made() {
    let env = Env::new();
    env.write("file.md", "# A file\n");
    refuses(&env.run(&["index", "no/such"]), 2, &["there is no folder no/such", "hint: "]);
    refuses(&env.run(&["index", "file.md"]), 2, &["file.md is not a folder"]);
    refuses(&env.run(&["index", "no/such", "--store", "made"]), 2, &["there is no folder"]);
    for path in ["no", "made", ".psos"] {
        assert!(!env.path(path).exists(), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_tree_that_cannot_be_read_is_the_fault_of_the_machine() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = indexed();
    let set = |path: &str, mode| {
        fs::set_permissions(env.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    env.write("closed/a.md", "# A\n");
    set("closed", 0o000);
    set("tree/git", 0o000);
    // The owner of the machine may read everything.
    if fs::read_dir(env.path("closed")).is_err() {
        refuses(
            &env.run(&["index", "closed", "--store", "made"]),
            4,
            &["cannot list the folder closed"],
        );
        assert!(!env.path("made").exists());
        // A folder that cannot be listed is passed over, and its records stay.
        let outcome = answers(&env, &["index", "tree"], 0);
        assert!(outcome.stderr.contains("git: skipped: "), "{outcome:?}");
        assert_eq!(tells(&env, &["ls"], 0).stdout.lines().count(), 6);
    }
    set("closed", 0o755);
    set("tree/git", 0o755);
}

#[test]
fn questions_without_words_are_refused_and_those_without_topic_are_not() {
    let env = indexed();
    refuses(&ask(&env, &["recall", ""]), 2, &["the query is empty", "hint: ask with words"]);
    refuses(&ask(&env, &["recall", " \t\n"]), 2, &["the query is empty"]);
    refuses(&ask(&env, &["recall", "?!\u{2026} \u{1f980}"]), 2, &["has no word to look for"]);
    for question in ["the of and", "how do I", "is it", "\u{e9}"] {
        let outcome = ask(&env, &["recall", "--", question]);
        assert!(matches!(outcome.code, Some(0 | 1)), "{question}: {outcome:?}");
    }
    let none = tells(&env, &["recall", "xylophone zebra"], 1);
    assert_eq!(
        (none.stdout.as_str(), none.stderr.as_str()),
        ("", "no match: no record shares a word with the query\n")
    );
    let json = tells(&env, &["recall", "--json", "xylophone zebra"], 1);
    assert_eq!(json.stderr, "");
    let json = Json::parse(&json.stdout);
    assert_eq!(json.get("returned"), Some(&Json::Number(0.0)));
    let long = "commit ".repeat(20_000);
    let long = env.run_with_input(&["recall", "--store", "tree/.psos", "-n", "1", "-"], &long);
    assert_eq!(long.code, Some(0), "{}", long.stderr);
}

#[test]
fn a_budget_that_is_too_small_tells_the_smallest() {
    let env = indexed();
    refuses(
        &ask(&env, &["recall", "--budget", "0", "commit"]),
        2,
        &["--budget", "0 is not in 1.."],
    );
    for format in ["text", "md", "json"] {
        let args = ["recall", "--format", format, "-b", "3", "take back a commit"];
        let refused = ask(&env, &args);
        refuses(&refused, 2, &["a budget of 3 tokens is too small", "hint: ask with `-b "]);
        let smallest = refused.stderr.split("`-b ").nth(1).unwrap().split('`').next().unwrap();
        let args = ["recall", "--format", format, "-b", smallest, "take back a commit"];
        assert!(!tells(&env, &args, 0).stdout.is_empty());
        let less = (smallest.parse::<u32>().unwrap() - 1).to_string();
        let args = ["recall", "--format", format, "-b", &less, "take back a commit"];
        assert_eq!(ask(&env, &args).code, Some(2), "{format}: {smallest} is not the smallest");
    }
}

#[test]
fn a_wrong_flag_is_answered_with_the_nearest_one() {
    let env = indexed();
    refuses(&ask(&env, &["recall", "--budgte", "9", "commit"]), 2, &["--budgte", "'--budget'"]);
    refuses(&env.run(&["recal", "commit"]), 2, &["recal", "'recall'"]);
    refuses(&ask(&env, &["recall", "--format", "jsn", "commit"]), 2, &["'json'"]);
    refuses(&ask(&env, &["recall"]), 2, &["QUERY"]);
    refuses(&env.run(&["index", "tree", "--threads", "0"]), 2, &["--threads"]);
    assert_eq!(
        answers(&env, &["--version"], 0).stdout,
        format!("psos {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let env = indexed();
    for args in [
        &["recall", "--store", "tree/.psos", "take back a commit"][..],
        &["recall", "--store", "tree/.psos", "--json", "take back a commit"],
        &["ls", "--store", "tree/.psos"],
        &["verify", "--store", "tree/.psos", "--dump"],
        &["status", "--store", "tree/.psos"],
        &["--help"],
    ] {
        let mut child =
            env.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Closed before anything can be written.
        drop(child.stdout.take());
        let mut talk = String::new();
        child.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
        assert_eq!((child.wait().unwrap().code(), talk.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_store_that_is_no_store_is_named_and_left_alone() {
    let env = Env::new();
    env.write("tree/.psos/store.redb", "this is not a database, only some words");
    for args in [
        &["recall", "--store", "tree/.psos", "commit"][..],
        &["get", "--store", "tree/.psos", "a"],
        &["ls", "--store", "tree/.psos"],
        &["status", "--store", "tree/.psos"],
        &["verify", "--store", "tree/.psos"],
        &["index", "tree"],
        &["index", "tree", "--dry-run"],
    ] {
        refuses(
            &env.run(args),
            3,
            &["tree/.psos/store.redb is damaged or is not a store", "psos index"],
        );
    }
    let left = fs::read_to_string(env.path("tree/.psos/store.redb")).unwrap();
    assert_eq!(left, "this is not a database, only some words");

    let env = indexed();
    let mut bytes = fs::read(env.path("tree/.psos/store.redb")).unwrap();
    bytes.truncate(bytes.len() / 2);
    env.write("tree/.psos/store.redb", &bytes);
    let cut = ask(&env, &["recall", "commit"]);
    assert_eq!(cut.code, Some(3), "{cut:?}");
    assert!(!cut.stderr.contains("panicked"), "{cut:?}");
}
