//! Run files, judgements, sets and suites: what is read, what is refused, what is named.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::hits;
use crate::eval::beir::{self, Bytes};
use crate::eval::suite::{Questions, repeated_ids};
use crate::eval::trec::{Run, parse_qrels, parse_run, write_hits, write_qrels, write_run};
use crate::eval::{EvalError, Form, Problem, Role, Split, Suite, load};
use crate::fault::Fault;

fn shown(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn written_scores_decrease_strictly_even_as_32_bit_floats() {
    let tied = hits(&[("a", 1.0), ("b", 1.0), ("c", 1.0 - 1e-12), ("d", 0.5), ("e", 0.75)]);
    let mut text = String::new();
    write_hits(&mut text, "q", &tied, "psos").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "q Q0 a 1 1 psos",
            "q Q0 b 2 0.99999994 psos",
            "q Q0 c 3 0.9999999 psos",
            "q Q0 d 4 0.5 psos",
            // The order given is the order written, whatever the scores say.
            "q Q0 e 5 0.49999997 psos",
        ]
    );
}

#[test]
fn extreme_scores_leave_room_for_the_next_one() {
    let many = hits(&[
        ("a", f64::MAX),
        ("b", f64::MAX),
        ("c", 0.0),
        ("d", 0.0),
        ("e", f64::MIN),
        ("f", f64::MIN),
    ]);
    let mut text = String::new();
    write_hits(&mut text, "q", &many, "t").unwrap();
    let run = parse_run("r", text.as_bytes()).accept().unwrap().0;
    #[expect(clippy::cast_possible_truncation, reason = "as trec_eval reads them")]
    let scores: Vec<f32> = run.hits["q"].iter().map(|hit| hit.score as f32).collect();
    assert!(scores.windows(2).all(|pair| pair[0] > pair[1]), "{scores:?}");
}

#[test]
fn an_id_with_a_space_makes_its_line_tab_separated_and_is_read_back() {
    let mut text = String::new();
    write_hits(&mut text, "q", &hits(&[("My File.md#a%20b", 2.0), ("plain", 1.0)]), "t").unwrap();
    assert_eq!(text, "q\tQ0\tMy File.md#a%20b\t1\t2\tt\nq Q0 plain 2 1 t\n");
    let run = parse_run("r", text.as_bytes()).accept().unwrap().0;
    assert_eq!(run.hits["q"], hits(&[("My File.md#a%20b", 2.0), ("plain", 1.0)]));
}

#[test]
fn ids_that_would_break_a_line_are_refused() {
    for id in ["", "a\tb", "a\nb", "a\rb"] {
        let mut text = String::new();
        let error = write_hits(&mut text, "q", &hits(&[(id, 1.0)]), "t").unwrap_err();
        assert!(matches!(&error, EvalError::UnwritableId { id: named } if named == id));
        assert_eq!((error.fault(), text.as_str()), (Fault::Data, ""));
    }
}

#[test]
fn bad_lines_of_a_run_are_named_with_their_numbers() {
    let text = "q Q0 a 1 2.5 t\r\n\nq Q0 b 2 t\nq Q0 c 3 high t\nq Q0 a 4 1 t\nq Q0 d 5 NaN t\nq\tQ0\te\t6\t0.5\tt\n";
    let parsed = parse_run("run.txt", text.as_bytes());
    assert_eq!(parsed.value.hits["q"], hits(&[("a", 2.5), ("e", 0.5)]));
    assert_eq!(
        shown(&parsed.problems),
        [
            "run.txt:3: malformed line: expected six columns, found 5",
            "run.txt:4: malformed line: `high` is not a score",
            "run.txt:5: malformed line: `a` is already on line 1 for question `q`",
            "run.txt:6: malformed line: `NaN` is not a score",
        ]
    );
}

#[test]
fn judgements_of_trec_and_beir_are_the_same() {
    let trec = parse_qrels("a", b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n");
    let beir = parse_qrels(
        "b",
        b"\xef\xbb\xbfquery-id\tcorpus-id\tscore\r\nq1\td1\t1.0\r\n\r\nq1\td2\t0\r\nq2\td3\t+2\r\n",
    );
    assert_eq!((trec.problems.len(), beir.problems.len()), (0, 0));
    for question in ["q1", "q2", "q3"] {
        assert_eq!(trec.value.gold(question), beir.value.gold(question));
    }
    assert_eq!(write_qrels(&beir.value).unwrap(), "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n");
}

#[test]
fn ids_under_a_heading_that_calls_them_prefixes_stand_for_all_that_begin_so() {
    let named = parse_qrels("a", b"query-id\tpath-prefix\tscore\nq\tgit/\t2\nq\tweb/\t1\n");
    let starred = parse_qrels("b", b"query-id\tcorpus-id\tscore\nq\tgit/*\t2\nq\tweb/*\t1\n");
    assert_eq!((named.problems.len(), &named.value), (0, &starred.value));
}

#[test]
fn what_is_wrong_with_judgements_is_named_and_only_some_of_it_refuses() {
    let text = "q\tscore\tmany\nq\td\t1\nq\td\t1\nq\te\t0.5\nq\tf\t-1\nq\td\t2\nq\t0\tg\t1\nq\tg\n";
    let parsed = parse_qrels("qrels.tsv", text.as_bytes());
    assert_eq!(
        shown(&parsed.problems),
        [
            "qrels.tsv:1: malformed line: `many` is not a whole grade",
            "qrels.tsv:3: judged twice: `d` for question `q`, see line 2",
            "qrels.tsv:4: malformed line: `0.5` is not a whole grade",
            "qrels.tsv:5: negative grade, read as not relevant: -1 for `f`",
            "qrels.tsv:6: judged twice, differently: `d` for question `q`, see line 2",
            "qrels.tsv:7: malformed line: expected 3 columns as above, found 4",
            "qrels.tsv:8: malformed line: expected three or four columns, found 2",
        ]
    );
    assert_eq!(parsed.value.gold("q"), super::gold(&[("d", 1)]));
    let EvalError::Refused { problems } = parsed.accept().unwrap_err() else { panic!("refused") };
    assert_eq!(problems.len(), 5);
}

#[test]
fn a_file_without_a_judgement_is_refused() {
    let error = parse_qrels("qrels.tsv", b"query-id\tcorpus-id\tscore\n").accept().unwrap_err();
    assert_eq!(error.to_string(), "qrels.tsv: nothing in it: no judgement");
    assert_eq!(error.fault(), Fault::Data);
}

/// Writes a set into a folder and reads it.
fn set(corpus: &str, questions: &str, qrels: &str) -> (beir::Beir, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("qrels")).unwrap();
    for (name, text) in
        [("corpus.jsonl", corpus), ("queries.jsonl", questions), ("qrels/test.tsv", qrels)]
    {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let parsed = load::beir(dir.path(), None, 500).unwrap();
    let prefix = format!("{}/", dir.path().display());
    let problems = shown(&parsed.problems).iter().map(|p| p.replace(&prefix, "")).collect();
    (parsed.value, problems)
}

const CORPUS: &str = r#"{"_id": "a/1", "title": "T", "text": "x", "metadata": {"scope": "s1"}}
{"_id": "a/2", "text": "y", "metadata": {"scope": "s2"}}
{"_id": 7, "title": null, "text": "z"}
"#;

#[test]
fn a_set_is_joined_and_a_star_stands_for_every_id_that_begins_so() {
    let questions = "{\"_id\": \"q1\", \"text\": \"one\", \"extra\": 1}\n{\"_id\": \"q2\", \"text\": \"two\", \"scope\": \"s1\"}\n";
    let (set, problems) = set(CORPUS, questions, "q1\ta/*\t2\nq2\ta/1\t1\n");
    assert_eq!(problems, [""; 0]);
    assert_eq!(set.judged[0].gold, super::gold(&[("a/1", 2), ("a/2", 2)]));
    assert_eq!(set.judged[1].question.scope.as_deref(), Some("s1"));
    assert_eq!(set.judged[1].question.budget_tokens, 500);
    assert_eq!(set.documents[2].id, "7");
    assert_eq!(set.documents[0].scope.as_deref(), Some("s1"));
}

#[test]
fn what_is_wrong_with_a_set_is_named_and_located() {
    let corpus = format!(
        "{CORPUS}{{\"_id\": \"a/1\", \"text\": \"again\"}}\n{{\"_id\": \"e\", \"text\": \" \"}}\nnot json\n"
    );
    let questions = "{\"_id\": \"q1\", \"text\": \"one\", \"scope\": \"s1\"}\n{\"_id\": \"q1\", \"text\": \"uno\"}\n{\"_id\": \"q2\", \"text\": \"two\"}\n{\"_id\": \"q3\", \"text\": \"\"}\n";
    let qrels = "q1\ta/2\t1\nq1\tghost\t1\nq3\tnone*\t1\nq4\ta/1\t1\nq5\ta/1\t0\n";
    let (set, problems) = set(&corpus, questions, qrels);
    assert_eq!(
        problems,
        [
            "corpus.jsonl:4: record id twice: `a/1` is already on line 1",
            "corpus.jsonl:5: without a word: record `e`",
            "corpus.jsonl:6: malformed line: expected ident at line 1 column 2",
            "queries.jsonl:2: question id twice: `q1` is already on line 1",
            "queries.jsonl:4: without a word: question `q3`",
            "qrels/test.tsv:1: judged record is outside the scope of its question: `a/2` for question `q1`",
            "qrels/test.tsv:2: judged record is not in the corpus: `ghost` for question `q1`",
            "qrels/test.tsv:3: judged record is not in the corpus: `none*` for question `q3`",
            "qrels/test.tsv:4: judged question is not among the questions: `q4`",
            "qrels/test.tsv:5: question without a relevant record: `q5`",
            "queries.jsonl: question without a relevant record: `q2`",
        ]
    );
    // What is missing stays and counts: q1 and q3 with what cannot be found, q4 unasked.
    let ids: Vec<&str> = set.judged.iter().map(|j| j.question.id.as_str()).collect();
    assert_eq!(ids, ["q1", "q3", "q4"]);
    assert_eq!(set.judged[0].gold.len(), 2);
}

#[test]
fn lines_that_are_not_utf8_cost_themselves_only() {
    let source =
        Bytes { file: "corpus.jsonl", bytes: b"{\"_id\": \"a\", \"text\": \"x\"}\n\xff\n" };
    let parsed = beir::parse_corpus(source);
    assert_eq!(parsed.value.len(), 1);
    assert_eq!(shown(&parsed.problems), ["corpus.jsonl:2: malformed line: not UTF-8"]);
}

#[test]
fn a_missing_file_is_the_fault_of_whoever_named_it() {
    let error = load::beir(Path::new("/nowhere/at/all"), None, 1).unwrap_err();
    assert_eq!(error.to_string(), "cannot read /nowhere/at/all/corpus.jsonl");
    assert_eq!(error.fault(), Fault::Usage);
}

const SUITE: &str =
    "schema_version = 1\nname = \"s\"\ntree = \"t\"\nforms = [\"authored\"]\nbudget_tokens = 100\n";
const SPLIT: &str = "[[split]]\nname = \"tune\"\nrole = \"tune\"\nquestions = \"tune.jsonl\"\n";

#[test]
fn suites_are_strict_and_newer_ones_are_named_as_such() {
    let suite = Suite::parse("s.toml", &format!("{SUITE}{SPLIT}")).unwrap();
    assert_eq!((suite.forms, suite.splits[0].role), (vec![Form::Authored], Role::Tune));
    let newer = "schema_version = 2\nname = \"s\"\nnovelty = true\n";
    for (text, want) in [
        (newer.to_owned(), "s.toml has version 2 of a suite, this build reads version 1"),
        (format!("{SUITE}novelty = 1\n{SPLIT}"), "s.toml is not a suite"),
        (format!("{SUITE}split = []\n"), "s.toml: nothing in it: no split"),
        (
            format!("{SUITE}{SPLIT}{SPLIT}"),
            "s.toml: malformed line: two splits or two forms have the same name",
        ),
    ] {
        assert_eq!(Suite::parse("s.toml", &text).unwrap_err().to_string(), want);
    }
}

fn split(name: &str, role: Role) -> Split {
    Split { name: name.to_owned(), role, questions: format!("{name}.jsonl") }
}

#[test]
fn question_files_are_checked_line_by_line_and_against_the_corpus() {
    let text = r#"{"_id": "a", "text": "one", "gold": ["x", "gone"], "level": "standard"}
{"_id": "b", "text": "two", "gold": [], "level": "negative"}
{"_id": "c", "text": "three", "gold": [], "level": "hard"}
{"_id": "d", "text": "four", "gold": ["x"], "level": "negative"}
{"_id": "a", "text": "five", "gold": ["x"], "level": "hard"}
{"_id": "f", "text": "six", "gold": ["x"], "level": "hard", "typo": 1}
"#;
    let parsed = Questions::parse(split("tune", Role::Tune), "tune.jsonl", text.as_bytes(), 100);
    assert_eq!(
        shown(&parsed.problems)[..3],
        [
            "tune.jsonl:3: malformed line: a question without a gold record is not of level `negative`",
            "tune.jsonl:4: malformed line: a negative question has a gold record",
            "tune.jsonl:5: question id twice: `a` is already on line 1",
        ]
    );
    assert!(parsed.problems[3].detail.starts_with("unknown field `typo`"));
    let questions = parsed.value;
    assert_eq!(questions.judged.len(), 2);
    assert!(questions.judged[1].is_negative());
    assert_eq!(
        shown(&questions.unknown_gold(&["x".to_owned()].into())),
        ["tune.jsonl:1: expected record is not in the corpus: `gone` for question `a`"]
    );
    let mut other = questions.clone();
    other.file = "heldout.jsonl".to_owned();
    assert_eq!(
        shown(&repeated_ids(&[questions, other]))[0],
        "heldout.jsonl:1: question id twice: `a` is already in tune.jsonl"
    );
}

#[test]
fn only_the_roles_asked_for_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.toml");
    let heldout = "[[split]]\nname = \"h\"\nrole = \"heldout\"\nquestions = \"absent.jsonl\"\n";
    fs::write(&path, format!("{SUITE}{SPLIT}{heldout}")).unwrap();
    let line = r#"{"_id": "a", "text": "one", "gold": ["x"], "level": "standard"}"#;
    fs::write(dir.path().join("tune.jsonl"), line).unwrap();
    let suite = load::suite(&path).unwrap();
    let tune = load::splits(&suite, &path, &[Role::Tune]).unwrap();
    assert_eq!((tune.value.len(), tune.problems.len()), (1, 0));
    assert!(load::splits(&suite, &path, &Role::ALL).is_err());
}

#[test]
fn the_field_guide_suite_is_whole() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("eval/fieldguide.toml");
    if !path.exists() {
        return; // A published crate comes without its questions.
    }
    let suite = load::suite(&path).unwrap();
    let parsed = load::splits(&suite, &path, &Role::ALL).unwrap();
    assert_eq!(parsed.problems, []);
    let tree = path.parent().unwrap().join(&suite.tree);
    let gold = parsed.value.iter().flat_map(|split| &split.judged).flat_map(|j| j.gold.keys());
    let mut n_gold = 0;
    for id in gold {
        let file = id.split_once('#').map_or(id.as_str(), |(file, _)| file);
        assert!(tree.join(file).is_file(), "no file of gold {id}");
        n_gold += 1;
    }
    assert!(n_gold > 250, "{n_gold}");
}

proptest! {
    #[test]
    fn a_run_written_is_a_run_read(
        ids in proptest::collection::btree_set("[a-z% \u{a0}\u{3000}#é/.-]{1,8}", 1..12),
        scores in proptest::collection::vec(-1e9_f64..1e9, 12),
    ) {
        let mut ranked: Vec<_> = ids.into_iter().zip(&scores)
            .map(|(id, score)| crate::eval::Scored::new(id, *score)).collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        let order: Vec<String> = ranked.iter().map(|hit| hit.id.clone()).collect();
        let run = Run { tag: "t".into(), hits: [("q".to_owned(), ranked)].into() };
        let text = write_run(&run).unwrap();
        let (read, notes) = parse_run("r", text.as_bytes()).accept().unwrap();
        prop_assert!(notes.is_empty());
        let read: Vec<String> = read.hits["q"].iter().map(|hit| hit.id.clone()).collect();
        prop_assert_eq!(read, order);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_run("r", &bytes);
        let _ = parse_qrels("q", &bytes);
        let _ = beir::parse_corpus(Bytes { file: "c", bytes: &bytes });
        let _ = Questions::parse(split("t", Role::Tune), "t", &bytes, 1);
        let _ = Suite::parse("s", &String::from_utf8_lossy(&bytes));
    }
}
