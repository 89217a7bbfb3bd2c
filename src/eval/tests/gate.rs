//! Leak audits, baselines and comparisons.

use super::{Canned, answer, judged, still};
use crate::eval::baseline::{Baseline, Tolerances};
use crate::eval::compare::compare;
use crate::eval::leak::{Audit, Phrase, audit};
use crate::eval::random::Random;
use crate::eval::suite::{Questions, Role, Split};
use crate::eval::{Answered, EvalError, Report, run};

fn questions(role: Role, texts: &[&str]) -> Questions {
    let lines: String = texts
        .iter()
        .enumerate()
        .map(|(i, text)| {
            serde_json::json!({"_id": format!("q{i}"), "text": text, "gold": ["x"], "level": "hard"})
                .to_string()
                + "\n"
        })
        .collect();
    let split = Split { name: "s".into(), role, questions: "s.jsonl".into() };
    Questions::parse(split, "s.jsonl", lines.as_bytes(), 100).accept().unwrap().0
}

fn audited(role: Role, text: &str, trigger: &str) -> Audit {
    audit(&[questions(role, &[text])], &[Phrase { owner: "r#1", text: trigger }])
}

#[test]
fn a_held_out_question_that_is_a_trigger_is_refused_however_it_is_spelled() {
    let audit = audited(Role::Heldout, "Undo the LAST commit?", "undo the last commit");
    let error = audit.accept().unwrap_err();
    assert_eq!(
        error.to_string(),
        "s.jsonl:1: held-out question stands in a trigger: `q0` in `r#1`"
    );
    for role in [Role::Hard, Role::Negative] {
        assert_eq!(audited(role, "undo", "undo").refused.len(), 1);
    }
}

#[test]
fn questions_to_tune_on_may_be_triggers() {
    assert_eq!(
        audited(Role::Tune, "undo the last commit", "undo the last commit"),
        Audit::default()
    );
}

#[test]
fn a_long_question_inside_a_trigger_is_refused_and_a_short_one_is_not() {
    let long = audited(Role::Heldout, "how to undo a commit", "git: how to undo a commit safely");
    assert_eq!((long.refused.len(), long.shared.len()), (1, 0));
    let short = audited(Role::Heldout, "undo a commit", "git: how to undo a commit safely");
    assert_eq!(short, Audit::default());
}

#[test]
fn five_shared_words_in_a_row_are_listed_once_at_their_full_length() {
    let text = "please tell me how to undo the last commit in git now";
    let audit = audited(Role::Heldout, text, "quickly undo the last commit in git, or else");
    let shared: Vec<String> = audit.shared.iter().map(ToString::to_string).collect();
    assert_eq!(shared, ["question `q0` shares `undo the last commit in git` with `r#1`"]);
    assert_eq!(audit.refused, []);
    // Four in a row are what questions about the same thing are bound to share.
    assert_eq!(audited(Role::Heldout, text, "undo the last commit"), Audit::default());
}

/// A report on questions q0, q1, …: `ranks` says at which rank each right record came, 0 for not.
fn report(ranks: &[u32]) -> Report {
    let ids: Vec<String> = (0..ranks.len()).map(|i| format!("q{i}")).collect();
    let questions: Vec<_> = ids.iter().map(|id| judged(id, &["gold"])).collect();
    let mut canned = Canned::of([]);
    for (id, &rank) in ids.iter().zip(ranks) {
        let names = ["x1", "x2", "x3", "x4"].into_iter();
        let mut ranking: Vec<&str> = names.collect();
        if let Some(at) = rank.checked_sub(1) {
            ranking.insert(at as usize, "gold");
        }
        let pairs: Vec<(&str, f64)> =
            ranking.into_iter().zip((0..).map(|i| -f64::from(i))).collect();
        canned.answers.insert(id.clone(), answer(&pairs));
    }
    let outcomes = run(&mut canned, &questions, &still(), &mut || {}).unwrap();
    let mut report = Report::new("suite", "canned", "0.0.0", 2000);
    report.add(&Answered {
        form: "authored",
        split: "tune",
        judged: &questions,
        outcomes: &outcomes,
        costs: None,
        token_baselines: &[],
    });
    report.without_times()
}

const TOLERANCES: Tolerances = Tolerances { measure: 0.0, tokens: 0.1 };

fn refusals(baseline: &Baseline, report: &Report) -> Vec<String> {
    baseline.check(report).iter().map(ToString::to_string).collect()
}

#[test]
fn a_report_passes_its_own_baseline_and_a_better_one_passes_too() {
    let baseline = Baseline::of(&report(&[1, 2, 1, 3]), TOLERANCES);
    assert_eq!(refusals(&baseline, &report(&[1, 2, 1, 3])), [""; 0]);
    assert_eq!(refusals(&baseline, &report(&[1, 1, 1, 3])), [""; 0]);
    let read = Baseline::parse("b.json", baseline.to_json().as_bytes()).unwrap();
    assert_eq!(read, baseline);
}

#[test]
fn a_worse_number_is_refused_beyond_its_tolerance() {
    let mut baseline = Baseline::of(&report(&[1, 2, 1, 3]), TOLERANCES);
    let worse = report(&[1, 2, 2, 3]);
    let found = refusals(&baseline, &worse);
    assert_eq!(found.len(), 3);
    assert!(
        found.contains(&"authored/tune/standard: Success@1 is 0.2500, below 0.5000 - 0".to_owned())
    );
    for bound in baseline.groups.values_mut().flat_map(|group| group.bounds.values_mut()) {
        bound.tolerance = 0.25;
    }
    assert_eq!(refusals(&baseline, &worse), [""; 0]);
}

#[test]
fn what_is_gone_is_refused() {
    let baseline = Baseline::of(&report(&[1, 1]), TOLERANCES);
    let mut fewer = report(&[1]);
    assert_eq!(
        refusals(&baseline, &fewer),
        ["authored/tune/standard: 1 questions, the baseline has 2"]
    );
    fewer.groups[0].name = "other".into();
    fewer.suite = "else".into();
    assert_eq!(
        refusals(&baseline, &fewer),
        [
            "the baseline is for suite `suite`, the report is on `else`",
            "authored/tune/standard: not in the report",
        ]
    );
    let mut without = report(&[1, 1]);
    without.groups[0].measures.remove("RR@10");
    assert_eq!(refusals(&baseline, &without), ["authored/tune/standard: no RR@10 in the report"]);
}

#[test]
fn answers_that_grew_are_refused() {
    let mut longer = report(&[1, 1]);
    let baseline = Baseline::of(&longer, TOLERANCES);
    longer.groups[0].tokens.as_mut().unwrap().mean = 109.0;
    assert_eq!(refusals(&baseline, &longer), [""; 0]);
    longer.groups[0].tokens.as_mut().unwrap().mean = 111.0;
    assert_eq!(
        refusals(&baseline, &longer),
        ["authored/tune/standard: tokens.mean is 111.0000, above 100.0000 + 10"]
    );
}

#[test]
fn a_baseline_that_bounds_nothing_or_is_newer_is_refused() {
    let text = r#"{"schema_version": 1, "suite": "s", "groups": {"g": {"n": 1, "bounds": {"R@5": {"tolerance": 1}}}}}"#;
    let error = Baseline::parse("b.json", text.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "b.json is not a baseline");
    let error = Baseline::parse("b.json", br#"{"schema_version": 9}"#).unwrap_err();
    assert_eq!(error.to_string(), "b.json has version 9 of a baseline, this build reads version 1");
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    let written = report(&[1, 0, 2]);
    assert_eq!(Report::parse("r.json", written.to_json().as_bytes()).unwrap(), written);
    assert_eq!(written.to_json(), report(&[1, 0, 2]).to_json());
}

#[test]
fn a_comparison_pairs_questions_and_lists_who_won() {
    let (a, b) = (report(&[1, 2, 2, 1]), report(&[1, 1, 1, 2]));
    let comparison = compare(&a, &b, "Success@1", 7).unwrap();
    let group = &comparison.groups[0];
    let ids = |changes: &[crate::eval::compare::Change]| -> Vec<String> {
        changes.iter().map(|change| change.id.clone()).collect()
    };
    assert_eq!(
        (ids(&group.wins), ids(&group.losses), group.n_equal),
        (vec!["q1".to_owned(), "q2".to_owned()], vec!["q3".to_owned()], 1)
    );
    // 2/4 to 3/4.
    assert_eq!(format!("{:.2} {:.2} {:.2}", group.a, group.b, group.difference), "0.50 0.75 0.25");
    assert!(group.low <= group.difference && group.difference <= group.high);
    assert_eq!(comparison, compare(&a, &b, "Success@1", 7).unwrap());
    assert!(comparison.to_text().contains("2 better, 1 worse, 1 equal"));
}

#[test]
fn p_values_are_those_of_the_sign_flips_counted_by_hand() {
    // Five wins and no loss: of 2^5 = 32 equally likely sign patterns, two reach a sum of 5 in either
    // direction, so p = 2/32 = 0.0625. Four wins and a loss: a sum of 3 or more has 1 + 5 patterns on
    // each side, p = 12/32 = 0.375. No difference at all: p = 1.
    for (a, b, want) in [
        ([2, 2, 2, 2, 2], [1, 1, 1, 1, 1], 0.0625),
        ([2, 2, 2, 2, 1], [1, 1, 1, 1, 2], 0.375),
        ([1, 2, 1, 2, 1], [1, 2, 1, 2, 1], 1.0),
    ] {
        let p = compare(&report(&a), &report(&b), "Success@1", 1).unwrap().groups[0].p_value;
        // Ten thousand resamples: a standard deviation of at most 0.005.
        assert!((p - want).abs() < 0.02, "{p} for {want}");
    }
}

#[test]
fn reports_on_other_questions_are_not_compared() {
    let (a, b) = (report(&[1, 1]), report(&[1, 1, 1]));
    let error = compare(&a, &b, "Success@1", 1).unwrap_err();
    assert!(matches!(error, EvalError::DifferentQuestions { .. }), "{error}");
    let error = compare(&a, &a, "Success@9", 1).unwrap_err();
    assert_eq!(error.to_string(), "no group of both reports has `Success@9`");
}

#[test]
fn the_generator_is_splitmix64() {
    // The first numbers for seed 1234567 of the reference implementation.
    let mut random = Random::seeded(1_234_567);
    assert_eq!(
        [random.bits(), random.bits(), random.bits()],
        [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
    );
    assert!((0..1000).all(|_| random.below(3) < 3));
    assert_eq!(random.below(0), 0);
}
