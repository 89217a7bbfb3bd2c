//! `psos eval` from outside: reports, gates, and what is wrong with a set.

use serde_json::Value;

use crate::harness::{Env, Outcome};

const UNDO: &str = "git/undo.md#undo-the-last-commit";

/// A suite over the small tree, with two splits.
fn suite() -> Env {
    let env = Env::new();
    env.write(
        "suite.toml",
        "schema_version = 1\nname = \"small\"\ntree = \"tree\"\nforms = [\"authored\", \"derived\"]\n\
         budget_tokens = 600\ncurve_tokens = [100, 600]\n\
         token_baselines = [\"gold-file\", \"top3-files\", \"description-list\"]\n\
         [[split]]\nname = \"tune\"\nrole = \"tune\"\nquestions = \"q/tune.jsonl\"\n\
         [[split]]\nname = \"heldout\"\nrole = \"heldout\"\nquestions = \"q/heldout.jsonl\"\n",
    );
    env.write(
        "q/tune.jsonl",
        [
            question("t1", "take back a commit", &[UNDO], "standard"),
            question("t2", "renew the certificate", &["rows.jsonl#d2"], "standard"),
            question("t3", "xylophone zebra", &[], "negative"),
        ]
        .concat(),
    );
    env.write(
        "q/heldout.jsonl",
        [
            question("h1", "how do I ship a new release", &["skills/deploy/SKILL.md"], "standard"),
            question(
                "h2",
                "bring back the committed content",
                &["git/undo.md#discard-edits-in-a-file"],
                "standard",
            ),
        ]
        .concat(),
    );
    env
}

fn question(id: &str, text: &str, gold: &[&str], level: &str) -> String {
    serde_json::json!({"_id": id, "text": text, "gold": gold, "level": level}).to_string() + "\n"
}

/// A set of three records in two scopes, and three questions.
fn set() -> Env {
    let env = Env::empty();
    env.write(
        "set/corpus.jsonl",
        "{\"_id\": \"a\", \"title\": \"Rotate a key\", \"text\": \"Create the new key first.\", \"scope\": \"x\"}\n\
         {\"_id\": \"b\", \"title\": \"Renew a certificate\", \"text\": \"Ask for it early.\", \"scope\": \"x\"}\n\
         {\"_id\": \"c\", \"title\": \"Water the plants\", \"text\": \"Twice a week, with rain.\", \"scope\": \"y\"}\n",
    );
    env.write(
        "set/queries.jsonl",
        "{\"_id\": \"1\", \"text\": \"rotate the key\", \"scope\": \"x\"}\n\
         {\"_id\": \"2\", \"text\": \"renew the certificate\", \"scope\": \"x\"}\n\
         {\"_id\": \"3\", \"text\": \"water plants\", \"scope\": \"y\"}\n",
    );
    env.write("set/qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t1\n3\tc\t1\n");
    env
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {outcome:?}"))
}

fn group<'v>(report: &'v Value, name: &str) -> &'v Value {
    let groups = report["groups"].as_array().unwrap();
    groups.iter().find(|group| group["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[track_caller]
fn refuses(env: &Env, args: &[&str], code: i32, says: &[&str]) {
    let outcome = env.run(args);
    assert_eq!(outcome.code, Some(code), "{outcome:?}");
    for words in says {
        assert!(outcome.stderr.contains(words), "{words:?} is not in {}", outcome.stderr);
    }
}

#[test]
fn a_suite_is_reported_whole_in_one_run_and_its_tree_left_alone() {
    let env = suite();
    let outcome = env.run(&["eval", "suite.toml"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(outcome.stderr, "");
    for present in [
        "small: psos, psos ",
        "budget 600 tokens",
        "authored/tune/standard         2    100.0 %  34.2 to 100.0        100.0 %",
        "derived/heldout/standard",
        "authored/tune/negative          1 of 1  100.0 %",
        "whole file of the right record",
        "descriptions of all records",
        "BM25 over whole records",
        "BM25 over summaries",
        "BM25 over triggers",
        "trigger automata alone",
        "BM25 over whole files, right file first",
        "trigger, title, breadcrumb",
        "+ detail",
        "right record whole",
        "milliseconds for an answer",
    ] {
        assert!(outcome.stdout.contains(present), "{present:?} is not in\n{}", outcome.stdout);
    }
    assert!(!env.path("tree/.psos").exists());
}

#[test]
fn the_json_has_everything_and_equal_runs_give_equal_numbers() {
    let env = suite();
    let read = || {
        let mut report = json(&env.run(&["eval", "suite.toml", "--json"]));
        for group in report["groups"].as_array_mut().unwrap() {
            group["latency_ms"] = Value::Null;
        }
        report
    };
    let report = read();
    assert_eq!(report, read());
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["indexes"].as_object().unwrap().len(), 2);
    assert_ne!(report["indexes"]["authored"], report["indexes"]["derived"]);
    // A phrase that somebody wrote makes the difference that it should.
    assert_eq!(group(&report, "authored/tune/standard")["rank1"]["successes"], 2);
    let curves = report["curves"].as_array().unwrap();
    let curves: Vec<&str> = curves.iter().map(|curve| curve["group"].as_str().unwrap()).collect();
    assert_eq!(curves, ["authored/heldout", "derived/heldout"]);
}

#[test]
fn a_question_that_only_the_detail_answers_is_ranked_first_by_the_detail_alone() {
    let env = suite();
    env.write(
        "q/tune.jsonl",
        question("t1", "key changes staged branch moves", &[UNDO], "standard"),
    );
    let report = json(&env.run(&[
        "eval",
        "suite.toml",
        "--json",
        "--splits",
        "tune",
        "--forms",
        "authored",
    ]));
    let tiers: Vec<(&str, u64)> = report["tiers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let n = one["ranked_first"]["successes"].as_u64().unwrap();
            (one["retriever"].as_str().unwrap(), n)
        })
        .collect();
    assert_eq!(tiers.first(), Some(&("trigger, title, breadcrumb", 0)));
    assert_eq!(tiers.last(), Some(&("+ detail", 1)));
}

#[test]
fn every_miss_says_what_decided_it() {
    let env = suite();
    let wrong = question("t1", "renew the certificate", &["rows.jsonl#d1"], "standard");
    env.write("q/tune.jsonl", wrong);
    let args = ["eval", "suite.toml", "--splits", "tune", "--forms", "authored"];
    let text = env.run(&args).stdout;
    for present in [
        "1 of 1 missed",
        "wanted  rows.jsonl#d1  (at rank ",
        "1. rows.jsonl#d2  score ",
        "certificate (trigger, title",
        "\n    difference +",
    ] {
        assert!(text.contains(present), "{present:?} is not in\n{text}");
    }
    let none = env.run(&[&args[..], &["--misses", "0"]].concat()).stdout;
    assert!(!none.contains("missed"), "{none}");
}

#[test]
fn only_the_splits_asked_for_are_opened() {
    let env = suite();
    std::fs::remove_file(env.path("q/heldout.jsonl")).unwrap();
    let args = ["eval", "suite.toml", "--splits", "tune"];
    assert_eq!(env.run(&args).code, Some(0));
    refuses(&env, &["eval", "suite.toml"], 2, &["cannot read q/heldout.jsonl"]);
    let wrong = ["eval", "suite.toml", "--splits", "tuen"];
    refuses(&env, &wrong, 2, &["no split `tuen`", "tune, heldout"]);
}

#[test]
fn a_run_holds_every_question_of_the_first_form() {
    let env = suite();
    assert_eq!(env.run(&["eval", "suite.toml", "--run-out", "run.trec"]).code, Some(0));
    let run = std::fs::read_to_string(env.path("run.trec")).unwrap();
    let first: Vec<&str> = run.lines().filter(|line| line.contains(" 1 ")).collect();
    assert_eq!(first.len(), 4, "{run}");
    assert!(first.iter().any(|line| line.starts_with(&format!("t1 Q0 {UNDO} 1 "))), "{run}");
}

#[test]
fn a_report_page_needs_nothing_from_outside() {
    let env = suite();
    assert_eq!(env.run(&["eval", "suite.toml", "--report", "page.html"]).code, Some(0));
    let page = std::fs::read_to_string(env.path("page.html")).unwrap();
    for absent in ["http:", "https:", "<script", "<link", "url("] {
        assert!(!page.contains(absent), "{absent}");
    }
    for present in ["Other retrievers", "What each tier adds", "Recall against budget", "<svg"] {
        assert!(page.contains(present), "{present}");
    }
}

#[test]
fn a_baseline_is_kept_and_each_number_below_it_is_named() {
    let env = suite();
    let with = |flag: &str| env.run(&["eval", "suite.toml", flag, "base.json"]);
    assert_eq!(with("--write-baseline").code, Some(0));
    let outcome = with("--baseline");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    // Another question in a split: neither the number of questions nor rank 1 is what it was.
    let more = question("t9", "renew the certificate", &["rows.jsonl#d1"], "standard");
    let old = std::fs::read_to_string(env.path("q/tune.jsonl")).unwrap();
    env.write("q/tune.jsonl", old + &more);
    let outcome = with("--baseline");
    assert_eq!(outcome.code, Some(1));
    for says in [
        "refused: authored/tune/standard: 3 questions, the baseline has 2",
        "refused: authored/tune/standard: Success@1 is 0.6667, below 1.0000 - 0",
    ] {
        assert!(outcome.stderr.contains(says), "{}", outcome.stderr);
    }
    assert!(outcome.stdout.contains("\nrefused\n"), "{}", outcome.stdout);
    env.write("base.json", "{\"schema_version\": 9}");
    refuses(&env, &["eval", "suite.toml", "--baseline", "base.json"], 3, &["version 9"]);
    env.write("base.json", "[]");
    refuses(&env, &["eval", "suite.toml", "--baseline", "base.json"], 3, &["is not a baseline"]);
}

#[test]
fn reports_are_compared_question_by_question() {
    let env = suite();
    let before = env.run(&["eval", "suite.toml", "--json"]).stdout;
    env.write("before.json", &before);
    let outcome = env.run(&["eval", "suite.toml", "--compare", "before.json", "--seed", "7"]);
    assert_eq!(outcome.code, Some(0));
    for present in ["Success@1, paired by question, seed 7", "0 better, 0 worse, 2 equal"] {
        assert!(outcome.stdout.contains(present), "{}", outcome.stdout);
    }
    // A report as a baseline: no worse than itself.
    assert_eq!(env.run(&["eval", "suite.toml", "--baseline", "before.json"]).code, Some(0));
    let other = question("t1", "something else", &[UNDO], "standard");
    env.write("q/tune.jsonl", other);
    refuses(&env, &["eval", "suite.toml", "--compare", "before.json"], 2, &["are not the same"]);
}

#[test]
fn a_report_that_is_answered_better_beyond_chance_refuses_this_one() {
    let env = suite();
    let questions: Vec<String> = (0..20)
        .map(|i| {
            question(&format!("t{i}"), "renew the certificate", &["rows.jsonl#d1"], "standard")
        })
        .collect();
    env.write("q/tune.jsonl", questions.concat());
    let args = ["eval", "suite.toml", "--splits", "tune", "--forms", "authored", "--json"];
    let mut better = json(&env.run(&args));
    for row in better["groups"][0]["questions"].as_array_mut().unwrap() {
        row["values"]["Success@1"] = 1.into();
    }
    env.write("better.json", better.to_string());
    let args = [&args[..], &["--baseline", "better.json"]].concat();
    refuses(&env, &args, 1, &["authored/tune/standard: Success@1 is 0.0000, was 1.0000"]);
}

#[test]
fn the_least_share_at_rank_1_is_over_held_out_questions_with_authored_tiers() {
    let env = suite();
    let min = |share: &str, splits: &str| {
        env.run(&["eval", "suite.toml", "--min-rank1", share, "--splits", splits])
    };
    assert_eq!(min("0.5", "tune,heldout").code, Some(0));
    // The questions to tune on are all right; those are not what counts.
    env.write(
        "q/heldout.jsonl",
        question("h1", "renew a certificate soon", &["rows.jsonl#d1"], "standard"),
    );
    let outcome = min("0.5", "tune,heldout");
    assert_eq!(outcome.code, Some(1));
    let says = "authored/heldout/standard: 0 of 1 at rank 1, 0.0000, below 0.5";
    assert!(outcome.stderr.contains(says), "{}", outcome.stderr);
    refuses(&env, &["eval", "suite.toml", "--min-rank1", "93"], 2, &["0.93"]);
    refuses(&env, &["eval", "suite.toml", "--min-rank1", "-1"], 2, &[]);
    let tune = ["eval", "suite.toml", "--min-rank1", "0.5", "--splits", "tune"];
    refuses(&env, &tune, 2, &["no held-out question"]);
}

#[test]
fn features_are_written_of_the_questions_to_tune_on_and_of_no_others() {
    let env = suite();
    std::fs::remove_file(env.path("q/heldout.jsonl")).unwrap();
    let outcome = env.run(&["eval", "suite.toml", "--features", "f.tsv"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{outcome:?}");
    for form in ["f.authored.tsv", "f.derived.tsv"] {
        let table = std::fs::read_to_string(env.path(form)).unwrap();
        assert!(table.lines().any(|line| line.starts_with(&format!("t1\tstandard\t1\t{UNDO}\t"))));
        assert!(table.lines().all(|line| line.starts_with('t')), "{table}");
    }
    let both = ["eval", "suite.toml", "--features", "f.tsv", "--json"];
    refuses(&env, &both, 2, &["--json has no meaning"]);
}

#[test]
fn answers_keep_to_every_budget_in_every_format() {
    let env = suite();
    let sweep = "1,60,150,300,2000";
    let outcome = env.run(&["eval", "suite.toml", "--json", "--sweep", sweep]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let report = json(&outcome);
    let formats = report["sweep"]["formats"].as_array().unwrap();
    assert_eq!(formats.len(), 3);
    for format in formats {
        // No question has an answer of one token.
        assert!(format["n_too_small"].as_u64().unwrap() >= 8, "{format}");
        assert!(format["n_answers"].as_u64().unwrap() >= 16, "{format}");
        for fault in ["n_over_budget", "n_understated", "n_cheaper", "n_shallower", "n_empty"] {
            assert_eq!(format[fault], 0, "{format}");
        }
    }
    refuses(&env, &["eval", "suite.toml", "--sweep", "0"], 2, &[]);
}

#[test]
fn a_held_out_question_that_is_a_trigger_refuses_the_suite() {
    let env = suite();
    env.write(
        "q/heldout.jsonl",
        question("h1", "Ship it!", &["skills/deploy/SKILL.md"], "standard"),
    );
    let says = ["q/heldout.jsonl:1", "stands in a trigger", "`h1` in `skills/deploy/SKILL.md`"];
    refuses(&env, &["eval", "suite.toml"], 3, &says);
    // Questions to tune on may be triggers: one is.
    assert_eq!(env.run(&["eval", "suite.toml", "--splits", "tune"]).code, Some(0));
}

#[test]
fn what_is_wrong_with_a_suite_is_named_with_its_place() {
    let line = question("t1", "undo", &[UNDO], "standard");
    let gone = question("t1", "undo", &["git/undo.md#gone"], "standard");
    let half = "{\"_id\": \"t1\"\n".to_owned();
    let no_gold = question("t1", "undo", &[], "standard");
    let unknown_key =
        "{\"_id\": \"t1\", \"text\": \"a\", \"gold\": [], \"level\": \"negative\", \"x\": 1}\n";
    for (content, says) in [
        (
            gone.clone() + &question("t2", "undo", &["nowhere"], "standard"),
            vec![
                "q/tune.jsonl:1: expected record is not in the corpus: `git/undo.md#gone` for question `t1`",
                "q/tune.jsonl:2: expected record is not in the corpus: `nowhere`",
            ],
        ),
        (
            line.clone() + &line,
            vec!["q/tune.jsonl:2: question id twice: `t1` is already on line 1"],
        ),
        (String::new(), vec!["q/tune.jsonl: nothing in it"]),
        (line.clone() + &half, vec!["q/tune.jsonl:2: malformed line"]),
        (no_gold, vec!["q/tune.jsonl:1: malformed line", "not of level `negative`"]),
        (unknown_key.to_owned(), vec!["unknown field `x`"]),
        (question("t1", "  ", &[UNDO], "standard"), vec!["the question is empty"]),
        (
            question("h1", "undo", &[UNDO], "standard"),
            vec!["question id twice: `h1` is already in q/tune.jsonl"],
        ),
    ] {
        let env = suite();
        env.write("q/tune.jsonl", content);
        refuses(&env, &["eval", "suite.toml"], 3, &says);
    }
}

#[test]
fn what_is_wrong_with_a_suite_file_is_named() {
    let good = {
        let env = suite();
        std::fs::read_to_string(env.path("suite.toml")).unwrap()
    };
    for (from, to, says) in [
        ("schema_version = 1", "schema_version = 7", "has version 7"),
        ("forms = [\"authored\", \"derived\"]", "forms = []", "no form"),
        ("\"derived\"]", "\"invented\"]", "is not a suite"),
        ("name = \"heldout\"", "name = \"tune\"", "the same name"),
        ("role = \"tune\"", "role = \"tuning\"", "is not a suite"),
        ("budget_tokens = 600", "budget = 600", "is not a suite"),
    ] {
        let env = suite();
        env.write("suite.toml", good.replace(from, to));
        refuses(&env, &["eval", "suite.toml"], 3, &["suite.toml", says]);
    }
    let env = suite();
    env.write("suite.toml", good.split("[[split]]").next().unwrap());
    refuses(&env, &["eval", "suite.toml"], 3, &["is not a suite"]);
    refuses(&env, &["eval", "nowhere.toml"], 2, &["cannot read nowhere.toml"]);
    env.write("suite.toml", good.replace("tree = \"tree\"", "tree = \"no-tree\""));
    refuses(&env, &["eval", "suite.toml"], 2, &["no-tree"]);
    refuses(&env, &["eval"], 2, &[]);
    refuses(&env, &["eval", "suite.toml", "--tier", "trigger"], 2, &["never shown"]);
    refuses(&env, &["eval", "suite.toml", "--beir", "set"], 2, &[]);
    refuses(&env, &["eval", "suite.toml", "--qrels", "q.tsv"], 2, &[]);
}

#[test]
fn byte_order_marks_and_windows_line_ends_change_nothing() {
    let env = suite();
    let before = env.run(&["eval", "suite.toml", "--json"]);
    for file in ["suite.toml", "q/tune.jsonl", "q/heldout.jsonl"] {
        let text = std::fs::read_to_string(env.path(file)).unwrap().replace('\n', "\r\n");
        env.write(file, format!("\u{feff}{text}"));
    }
    let after = env.run(&["eval", "suite.toml", "--json"]);
    assert_eq!(json(&before)["others"], json(&after)["others"]);

    let env = set();
    let before = env.run(&["eval", "--beir", "set", "--json"]);
    for file in ["set/corpus.jsonl", "set/queries.jsonl", "set/qrels/test.tsv"] {
        let text = std::fs::read_to_string(env.path(file)).unwrap().replace('\n', "\r\n");
        env.write(file, format!("\u{feff}{text}"));
    }
    let after = env.run(&["eval", "--beir", "set", "--json"]);
    assert_eq!(after.code, Some(0), "{after:?}");
    assert_eq!(json(&before)["others"], json(&after)["others"]);
}

#[test]
fn a_set_counts_the_evidence_that_its_answers_show_whole() {
    let env = set();
    let args = ["eval", "--beir", "set", "--tier", "detail", "-n", "50"];
    let outcome = env.run(&args);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let says =
        "R@budget of psos: 100.0 % of the evidence is shown whole within 1200 tokens (3 of 3;";
    assert!(outcome.stdout.contains(says), "{}", outcome.stdout);
    // Too small for a detail under its line, not for a bare one; a description is no evidence.
    let small = env.run(&[&args[..], &["-b", "70", "--json"]].concat());
    let evidence = json(&small)["evidence"].clone();
    let of = |at: usize| evidence[at]["all"]["successes"].as_u64().unwrap();
    assert_eq!(evidence[0]["retriever"], "psos");
    assert!(of(0) <= of(1), "{evidence}");
    assert_eq!(of(1), 3, "{evidence}");
    assert_eq!(evidence[0]["all"]["n"], 3);
    assert_eq!(evidence[0]["scopes"][0]["scope"], "x");
    assert_eq!(evidence[0]["scopes"][0]["share"]["n"], 2);
}

#[test]
fn other_judgements_can_be_named() {
    let env = set();
    env.write("other.tsv", "query-id\tcorpus-id\tscore\n1\tb\t1\n");
    let report = json(&env.run(&["eval", "--beir", "set", "--qrels", "other.tsv", "--json"]));
    assert_eq!(group(&report, "set")["n"], 1);
    assert_eq!(group(&report, "set")["rank1"]["successes"], 0);
    refuses(
        &env,
        &["eval", "--beir", "set", "--min-rank1", "0.5", "--qrels", "other.tsv"],
        1,
        &["set: 0 of 1"],
    );
}

#[test]
fn what_is_wrong_with_a_set_is_named_with_its_place() {
    let corpus = "{\"_id\": \"a\", \"text\": \"key\"}\n";
    let query = "{\"_id\": \"1\", \"text\": \"key\"}\n";
    for (file, content, says) in [
        (
            "corpus.jsonl",
            corpus.repeat(2),
            "corpus.jsonl:2: record id twice: `a` is already on line 1",
        ),
        ("corpus.jsonl", String::new(), "corpus.jsonl: nothing in it"),
        ("corpus.jsonl", "{\"_id\": \"a\"}\n".into(), "corpus.jsonl:1: malformed line"),
        ("queries.jsonl", query.repeat(2), "queries.jsonl:2: question id twice"),
        ("queries.jsonl", "nonsense\n".into(), "queries.jsonl:1: malformed line"),
        (
            "qrels/test.tsv",
            "1\ta\t0.5\n".into(),
            "test.tsv:1: malformed line: `0.5` is not a whole grade",
        ),
        ("qrels/test.tsv", "1\ta\t1\n1\ta\t2\n".into(), "test.tsv:2: judged twice, differently"),
        ("qrels/test.tsv", "1\ta\n".into(), "expected three or four columns"),
        ("qrels/test.tsv", String::new(), "test.tsv: nothing in it"),
    ] {
        let env = set();
        env.write(&format!("set/{file}"), content);
        refuses(&env, &["eval", "--beir", "set"], 3, &[says]);
    }
}

#[test]
fn what_only_makes_a_set_worse_is_counted() {
    let env = set();
    env.write("set/qrels/test.tsv", "1\ta\t1.0\n2\tb\t-1\n2\tgone\t1\n3\tc\t1\n3\tc\t1\n9\ta\t1\n");
    let outcome = env.run(&["eval", "--beir", "set", "--json"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let report = json(&outcome);
    let counts = report["problem_counts"].as_object().unwrap();
    let counts: Vec<(&str, u64)> =
        counts.iter().map(|(name, n)| (name.as_str(), n.as_u64().unwrap())).collect();
    assert_eq!(
        counts,
        [
            ("judged question is not among the questions", 1),
            ("judged record is not in the corpus", 1),
            ("judged twice", 1),
            ("negative grade, read as not relevant", 1),
        ]
    );
    // The question nobody asked and the record nobody has count as zero.
    let group = group(&report, "set");
    assert_eq!((&group["n"], &group["n_unanswered"]), (&4.into(), &1.into()));
    assert_eq!(group["rank1"]["successes"], 2);
}
