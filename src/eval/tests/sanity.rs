//! Retrievers whose numbers are known before they are judged, and answers that are none.

use super::{Canned, answer, gold, hits, judged, still};
use crate::clock::Clock;
use crate::eval::metric::{Measure, Ties, score_run};
use crate::eval::trec::{Judgement, Qrels, parse_run, write_run};
use crate::eval::{
    Answer, Answered, Costs, Disclosed, Judged, Outcome, Question, Report, RetrieveError,
    Retriever, Scored, TokenBaseline, ask, curve, judge, run, to_run,
};
use crate::fault::Fault;
use crate::record::Tier;

/// Answers everything with all ids in a fixed order, with the scores of a function of the rank.
struct Same {
    ids: Vec<String>,
    score: fn(u32) -> f64,
}

impl Retriever for Same {
    fn name(&self) -> &'static str {
        "same"
    }

    fn retrieve(&mut self, _: &Question) -> Result<Answer, RetrieveError> {
        let ids = self.ids.iter().zip(0..);
        let hits = ids.map(|(id, rank)| Scored::new(id.clone(), (self.score)(rank))).collect();
        Ok(Answer { hits, tokens: 1, ..Answer::default() })
    }
}

/// Twenty records, each the answer to one question.
fn twenty() -> (Vec<Judged>, Vec<String>) {
    let ids: Vec<String> = (0..20).map(|i| format!("d{i:02}")).collect();
    (ids.iter().map(|id| judged(id, &[id])).collect(), ids)
}

fn report(judged: &[Judged], outcomes: &[Outcome]) -> Report {
    let mut report = Report::new("suite", "same", "0.0.0", 2000);
    report.add(&Answered {
        form: "",
        split: "all",
        judged,
        outcomes,
        costs: None,
        token_baselines: &[],
    });
    report
}

fn number(report: &Report, name: &str) -> String {
    format!("{:.4}", report.groups[0].number(name).unwrap())
}

#[test]
fn the_same_ranking_for_every_question_scores_chance() {
    let (questions, ids) = twenty();
    let mut same = Same { ids, score: |rank| -f64::from(rank) };
    let outcomes = run(&mut same, &questions, &still(), &mut || {}).unwrap();
    let report = report(&questions, &outcomes);
    // 1 of 20 at rank 1, 5 of 20 in the first 5; MRR@10 = (1 + 1/2 + … + 1/10) / 20 = 2.928968 / 20.
    assert_eq!(number(&report, "Success@1"), "0.0500");
    assert_eq!(number(&report, "Success@5"), "0.2500");
    assert_eq!(number(&report, "RR@10"), "0.1464");
}

#[test]
fn the_same_score_for_every_record_earns_nothing_in_a_report_and_chance_in_a_run_file() {
    let (questions, ids) = twenty();
    let mut same = Same { ids, score: |_| 1.0 };
    let outcomes = run(&mut same, &questions, &still(), &mut || {}).unwrap();
    let report = report(&questions, &outcomes);
    assert_eq!(number(&report, "Success@1"), "0.0000");
    assert_eq!(number(&report, "RR@10"), "0.0000");
    assert_eq!(report.groups[0].n_tied_first, 20);
    // In the order it gave, as `recall --format trec` writes it, it has the first rank once.
    let mut given = crate::eval::trec::Run { tag: "same".into(), ..Default::default() };
    for outcome in &outcomes {
        given.hits.insert(outcome.question.clone(), outcome.answer.hits.clone());
    }
    let read = parse_run("r", write_run(&given).unwrap().as_bytes()).accept().unwrap().0;
    let scores = score_run(&read, &qrels(&questions), &[Measure::Success(1)], Ties::Trec);
    assert_eq!(format!("{:.4}", scores.means[0]), "0.0500");
}

#[test]
fn a_perfect_ranking_reversed_is_the_worst() {
    let questions = [judged("q", &["a"])];
    let score = |order: &[(&str, f64)]| {
        let mut canned = Canned::of([("q", answer(order))]);
        let outcomes = run(&mut canned, &questions, &still(), &mut || {}).unwrap();
        number(&report(&questions, &outcomes), "RR@10")
    };
    assert_eq!(score(&[("a", 4.0), ("b", 3.0), ("c", 2.0), ("d", 1.0)]), "1.0000");
    assert_eq!(score(&[("d", 4.0), ("c", 3.0), ("b", 2.0), ("a", 1.0)]), "0.2500");
}

#[test]
fn a_question_without_an_answer_counts_as_zero() {
    let mut questions = vec![judged("q1", &["a"]), judged("q2", &["a"])];
    let mut canned = Canned::of([("q1", answer(&[("a", 1.0)])), ("q2", answer(&[("a", 1.0)]))]);
    let mut n_calls = 0;
    questions[1].question.text = "  ".into();
    let outcomes = run(&mut canned, &questions, &still(), &mut || n_calls += 1).unwrap();
    assert_eq!((outcomes.len(), n_calls), (1, 2));
    let report = report(&questions, &outcomes);
    assert_eq!(number(&report, "Success@1"), "0.5000");
    assert_eq!((report.groups[0].n, report.groups[0].n_unanswered), (2, 1));
    let missing = qrels(&questions);
    let scores = score_run(
        &to_run("t", &questions, &outcomes),
        &missing,
        &[Measure::Success(1)],
        Ties::Trec,
    );
    assert_eq!((scores.n_missing, format!("{:.2}", scores.means[0]).as_str()), (1, "0.50"));
}

#[test]
fn hits_behind_no_match_are_not_judged() {
    let told = Answer { no_match: true, ..answer(&[("a", 1.0)]) };
    let outcome =
        Outcome { question: "q".into(), answer: told, elapsed: std::time::Duration::ZERO };
    let verdict = judge(&judged("q", &["a"]), Some(&outcome));
    assert_eq!((verdict.rank, verdict.no_match), (None, true));
    let verdict = judge(&judged("q", &[]), Some(&outcome));
    assert_eq!((verdict.rank, verdict.no_match), (None, true));
    assert!(to_run("t", &[judged("q", &["a"])], &[outcome]).hits.is_empty());
}

#[test]
fn silence_is_right_for_negatives_and_wrong_for_the_others() {
    let questions = [judged("q1", &["a"]), judged("q2", &[]), judged("q3", &[])];
    let mut canned = Canned::of([("q3", answer(&[("a", 1.0)]))]);
    let outcomes = run(&mut canned, &questions, &still(), &mut || {}).unwrap();
    let report = report(&questions, &outcomes);
    let names: Vec<&str> = report.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["all/negative", "all/standard"]);
    let (negative, standard) = (&report.groups[0], &report.groups[1]);
    assert_eq!((negative.no_match.successes, negative.no_match.n), (1, 2));
    assert_eq!((negative.rank1, negative.measures.len()), (None, 0));
    assert_eq!((standard.no_match.successes, standard.no_match.n), (1, 1));
    // The misses: an answer where there is none, and none where there is one.
    let missed = |row: &crate::eval::report::Row| row.miss.is_some();
    assert_eq!(negative.questions.iter().map(missed).collect::<Vec<_>>(), [false, true]);
    assert!(standard.questions.iter().all(missed));
}

#[test]
fn an_answer_that_is_no_ranking_is_the_retrievers_bug() {
    for (pairs, want) in [
        (vec![("a", 1.0), ("a", 0.5)], "the answer to question `q` holds `a` twice"),
        (
            vec![("a", 1.0), ("b", 2.0)],
            "the answer to question `q` ranks `b` below a lower score, or gives it none",
        ),
        (
            vec![("a", f64::NAN)],
            "the answer to question `q` ranks `a` below a lower score, or gives it none",
        ),
    ] {
        let mut canned = Canned::of([("q", answer(&pairs))]);
        let error = ask(&mut canned, &judged("q", &["a"]).question, &still()).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.fault()), (want, Fault::Bug));
    }
}

#[test]
fn the_retrievers_own_failure_keeps_its_cause_and_its_fault() {
    struct Broken;
    impl Retriever for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }
        fn retrieve(&mut self, _: &Question) -> Result<Answer, RetrieveError> {
            Err(RetrieveError::new(Fault::Environment, "the disk is full"))
        }
    }
    let error = run(&mut Broken, &[judged("q", &["a"])], &still(), &mut || {}).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.fault()),
        ("question `q` got no answer", Fault::Environment)
    );
    let causes = std::iter::successors(std::error::Error::source(&error), |e| e.source());
    assert_eq!(causes.last().unwrap().to_string(), "the disk is full");
}

#[test]
fn another_tool_finds_in_the_run_file_what_the_report_says() {
    // Ties on both sides of a relevant record, grades of two sizes.
    let mut question = judged("q", &["a", "b"]);
    question.gold = gold(&[("a", 2), ("b", 1)]);
    let questions = [question, judged("r", &["x"])];
    let mut canned = Canned::of([
        ("q", answer(&[("a", 1.0), ("c", 1.0), ("b", 1.0), ("d", 0.5)])),
        ("r", answer(&[("x", 2.0), ("y", 2.0)])),
    ]);
    let outcomes = run(&mut canned, &questions, &still(), &mut || {}).unwrap();
    let text = write_run(&to_run("t", &questions, &outcomes)).unwrap();
    assert_eq!(
        text,
        "q Q0 c 1 1 t\nq Q0 b 2 0.99999994 t\nq Q0 a 3 0.9999999 t\nq Q0 d 4 0.5 t\nr Q0 y 1 2 t\nr Q0 x 2 1.9999999 t\n"
    );
    let read = parse_run("r", text.as_bytes()).accept().unwrap().0;
    let scores = score_run(&read, &qrels(&questions), &Measure::REPORTED, Ties::Trec);
    let report = report(&questions, &outcomes);
    for (measure, mean) in Measure::REPORTED.iter().zip(&scores.means) {
        assert_eq!(number(&report, &measure.to_string()), format!("{mean:.4}"), "{measure}");
    }
}

fn qrels(questions: &[Judged]) -> Qrels {
    let mut qrels = Qrels::default();
    for judged in questions {
        let grades = judged.gold.iter();
        let grades = grades.map(|(id, &grade)| {
            (id.clone(), Judgement { grade: i32::try_from(grade).unwrap(), line: 1 })
        });
        qrels.judged.insert(judged.question.id.clone(), grades.collect());
    }
    qrels
}

#[test]
fn time_is_what_the_clock_says() {
    #[derive(Debug, Default)]
    struct Ticking(std::sync::atomic::AtomicU64);
    impl Clock for Ticking {
        fn now(&self) -> std::time::Duration {
            let tick = self.0.fetch_add(7, std::sync::atomic::Ordering::Relaxed);
            std::time::Duration::from_millis(tick)
        }
    }
    let mut canned = Canned::of([]);
    let questions = [judged("q", &["a"])];
    let outcomes = run(&mut canned, &questions, &Ticking::default(), &mut || {}).unwrap();
    assert_eq!(outcomes[0].elapsed.as_millis(), 7);
    let report = report(&questions, &outcomes);
    assert_eq!(report.groups[0].latency_ms.map(|l| l.max.to_string()), Some("7".into()));
    assert_eq!(report.without_times().groups[0].latency_ms, None);
}

#[test]
fn baselines_cost_what_a_reader_without_recall_would_read() {
    let costs = Costs {
        file_of: [("a", "f1"), ("b", "f2"), ("c", "f2"), ("d", "f3")]
            .map(|(id, file)| (id.to_owned(), file.to_owned()))
            .into(),
        file_tokens: [("f1", 100), ("f2", 40), ("f3", 7)].map(|(f, t)| (f.to_owned(), t)).into(),
        description_list_tokens: 5_000,
    };
    let outcome = |pairs: &[(&str, f64)]| Outcome {
        question: "q".into(),
        answer: answer(pairs),
        elapsed: std::time::Duration::ZERO,
    };
    let nothing = outcome(&[]);
    // Three hits in two files; the fourth hit is not counted.
    let found = outcome(&[("b", 4.0), ("c", 3.0), ("a", 2.0), ("d", 1.0)]);
    let of = |baseline, ids: &[&str], outcome| costs.of(baseline, &judged("q", ids), outcome);
    assert_eq!(of(TokenBaseline::Top3Files, &["a"], &found), Some(140));
    assert_eq!(of(TokenBaseline::GoldFile, &["a"], &found), Some(100));
    assert_eq!(of(TokenBaseline::GoldFile, &["a", "b"], &found), Some(40));
    assert_eq!(of(TokenBaseline::GoldFile, &[], &found), None);
    assert_eq!(of(TokenBaseline::Top3Files, &["a"], &nothing), None);
    assert_eq!(of(TokenBaseline::DescriptionList, &[], &nothing), Some(5_000));
}

#[test]
fn the_curve_counts_right_records_shown_whole_and_shown_at_all() {
    /// Shows the record whole from 100 tokens on, its description from 10 on.
    struct Frugal;
    impl Retriever for Frugal {
        fn name(&self) -> &'static str {
            "frugal"
        }
        fn retrieve(&mut self, question: &Question) -> Result<Answer, RetrieveError> {
            let tier = match question.budget_tokens {
                0..10 => None,
                10..100 => Some(Tier::Description),
                _ => Some(Tier::Detail),
            };
            let shown = |tier| Disclosed { id: "a".into(), tier, complete: true };
            Ok(Answer {
                hits: hits(&[("a", 1.0)]),
                tokens: question.budget_tokens,
                disclosed: tier.map(shown).into_iter().collect(),
                ..Answer::default()
            })
        }
    }
    // The negative question has no place on the curve.
    let questions = [judged("q1", &["a"]), judged("q2", &["b"]), judged("q3", &[])];
    let curve = curve(&mut Frugal, "g", &questions, &[5, 50, 500]).unwrap();
    let points: Vec<_> =
        curve.points.iter().map(|p| (p.whole.successes, p.shown.successes, p.whole.n)).collect();
    assert_eq!(points, [(0, 0, 2), (0, 1, 2), (1, 1, 2)]);
    assert_eq!(curve.points[2].mean_tokens.to_string(), "500");
}
