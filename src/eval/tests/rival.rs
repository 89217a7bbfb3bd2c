//! Retrievers beside psos, evidence within a budget, and sweeps over budgets.

use super::{Canned, answer, judged, still};
use crate::eval::{
    Answer, Answered, Bm25, Contender, Disclosed, Evidence, Question, Report, Retriever, Seen,
    Shows, Sweep, Text, run,
};
use crate::record::Tier;

fn question(text: &str, scope: Option<&str>, budget_tokens: u32) -> Question {
    Question { id: "q".into(), text: text.into(), scope: scope.map(str::to_owned), budget_tokens }
}

fn text<'a>(id: &'a str, text: &'a str) -> Text<'a> {
    Text { id, scope: "", text, tokens: 10 }
}

fn ids(answer: &Answer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.id.as_str()).collect()
}

#[test]
fn bm25_gives_the_numbers_of_its_formula() {
    let texts = [text("a", "red fox"), text("b", "red red hen hen"), text("c", "blue owl")];
    let mut bm25 = Bm25::new("bm25", Shows::Nothing, texts);
    let found = bm25.retrieve(&question("red", None, 100)).unwrap();
    // N = 3, n = 2, idf = ln(1 + 1.5 / 2.5) = 0.470004. Lengths 2, 4, 2, mean 8/3.
    // a: 1 · 2.2 / (1 + 1.2 · (0.25 + 0.75 · 0.75)) = 2.2 / 1.975, times idf: 0.523548.
    // b: 2 · 2.2 / (2 + 1.2 · (0.25 + 0.75 · 1.5)) = 4.4 / 3.65, times idf: 0.566580.
    let scores: Vec<String> = found.hits.iter().map(|hit| format!("{:.6}", hit.score)).collect();
    assert_eq!(ids(&found), ["b", "a"]);
    assert_eq!(scores, ["0.566580", "0.523548"]);
    // A word asked for twice counts twice.
    let twice = bm25.retrieve(&question("red red", None, 100)).unwrap();
    assert_eq!(format!("{:.6}", twice.hits[0].score), "1.133159");
    assert!(bm25.retrieve(&question("green", None, 100)).unwrap().no_match);
}

#[test]
fn bm25_orders_ties_by_id_and_stems_each_text_in_its_language() {
    let german = "Die Katzen der Nachbarn schlafen am liebsten auf den warmen Dächern der Häuser.";
    let texts = [text("b", "sleeping"), text("a", "sleeping"), text("d", german)];
    let mut bm25 = Bm25::new("bm25", Shows::Nothing, texts);
    assert_eq!(ids(&bm25.retrieve(&question("sleep", None, 1)).unwrap()), ["a", "b"]);
    assert_eq!(ids(&bm25.retrieve(&question("Katze", None, 1)).unwrap()), ["d"]);
}

#[test]
fn bm25_keeps_to_the_scope_of_a_question() {
    let texts = ["x", "y"].map(|scope| Text { id: scope, scope, text: "red", tokens: 1 });
    let mut bm25 = Bm25::new("bm25", Shows::Nothing, texts);
    assert_eq!(ids(&bm25.retrieve(&question("red", Some("y"), 1)).unwrap()), ["y"]);
    assert_eq!(ids(&bm25.retrieve(&question("red", None, 1)).unwrap()), ["x", "y"]);
}

#[test]
fn packing_passes_over_what_does_not_fit() {
    let mut texts = [text("a", "red"), text("b", "red"), text("c", "red"), text("d", "red")];
    for (text, tokens) in texts.iter_mut().zip([40, 50, 30, 5]) {
        text.tokens = tokens;
    }
    let shown = |shows, budget| {
        let answer = Bm25::new("", shows, texts).retrieve(&question("red", None, budget)).unwrap();
        let ids: Vec<String> = answer.disclosed.iter().map(|d| d.id.clone()).collect();
        (ids.join(" "), answer.tokens)
    };
    assert_eq!(shown(Shows::Packed { n_records: 9 }, 80), ("a c d".to_owned(), 75));
    assert_eq!(shown(Shows::Packed { n_records: 3 }, 80), ("a c".to_owned(), 70));
    assert_eq!(shown(Shows::Packed { n_records: 9 }, 4), (String::new(), 0));
    assert_eq!(shown(Shows::First, 4), ("a".to_owned(), 40));
    assert_eq!(shown(Shows::Nothing, 80), (String::new(), 0));
}

#[test]
fn a_refused_answer_is_a_miss_whose_ranking_is_told_apart() {
    let questions = [judged("q1", &["a"]), judged("q2", &["a"])];
    let refused = |first| Answer { no_match: true, ..answer(&[(first, 1.0)]) };
    let mut canned = Canned::of([("q1", refused("a")), ("q2", refused("b"))]);
    let outcomes = run(&mut canned, &questions, &still(), &mut || {}).unwrap();
    let mut report = Report::new("suite", "canned", "0.0.0", 100);
    report.add(&Answered {
        form: "",
        split: "s",
        judged: &questions,
        outcomes: &outcomes,
        costs: None,
        token_baselines: &[],
    });
    let group = &report.groups[0];
    assert_eq!(group.rank1.unwrap().successes, 0);
    assert_eq!(group.ranked_first.unwrap().successes, 1);
    assert_eq!(group.no_match.successes, 2);
    // Refusals do not make answers look cheap.
    assert_eq!(group.tokens, None);
    assert_eq!((group.questions[0].rank, group.questions[0].ranked), (None, Some(1)));
    let miss = group.questions[0].miss.as_ref().unwrap();
    assert!(miss.refused && miss.top[0].id == "a");
    // Beside retrievers that cannot refuse, the ranking counts.
    let contenders = Contender::of("canned", "", "s", &questions, &outcomes);
    assert_eq!(contenders[0].ranked_first.successes, 1);
    assert_eq!(contenders[0].group, group.name);
}

#[test]
fn contenders_are_judged_on_questions_that_have_an_answer() {
    let questions = [judged("q1", &["a"]), judged("n1", &[])];
    let contenders = Contender::of("silent", "f", "s", &questions, &[]);
    assert_eq!(contenders.len(), 1);
    assert_eq!(contenders[0].group, "f/s/standard");
    // Silence scores nothing.
    assert_eq!((contenders[0].ranked_first.successes, contenders[0].ranked_first.n), (0, 1));
    assert_eq!(contenders[0].tokens, None);
}

#[test]
fn evidence_is_pooled_over_all_right_records_and_counts_whole_details_alone() {
    let mut questions = [judged("q1", &["a", "b", "c"]), judged("q2", &["a"]), judged("q3", &[])];
    questions[0].question.scope = Some("x".into());
    questions[1].question.scope = Some("y".into());
    let shown = |id: &str, tier, complete| Disclosed { id: id.into(), tier, complete };
    let first = Answer {
        disclosed: vec![
            shown("a", Tier::Detail, true),
            shown("b", Tier::Summary, true),
            shown("c", Tier::Detail, false),
            shown("z", Tier::Detail, true),
        ],
        ..answer(&[("a", 1.0)])
    };
    let mut canned = Canned::of([("q1", first)]);
    let outcomes = run(&mut canned, &questions[..1], &still(), &mut || {}).unwrap();
    let evidence = Evidence::of("canned", &questions, &outcomes);
    // q2 was never asked: its record counts as not shown.
    assert_eq!((evidence.all.successes, evidence.all.n), (1, 4));
    let scopes: Vec<(&str, u32, u32)> = evidence
        .scopes
        .iter()
        .map(|one| (one.scope.as_str(), one.share.successes, one.share.n))
        .collect();
    assert_eq!(scopes, [("x", 1, 3), ("y", 0, 1)]);
    assert_eq!(format!("{:.4}", evidence.mean_of_scopes), "0.1667");
}

fn seen(claimed_tokens: u32, tokens: u32, first: Option<Tier>) -> Seen {
    Seen::Answer { claimed_tokens, tokens, first }
}

/// Too small, answers, no match, then the faults: over budget, understated, cheaper, shallower, empty.
fn swept(row: &[Seen]) -> ([u64; 3], [u64; 5]) {
    let mut sweep = Sweep::over(&[300, 100, 200, 100]);
    assert_eq!(sweep.budgets_tokens, [100, 200, 300]);
    sweep.add("text", "q1", row);
    let f = &sweep.formats[0];
    let faults = [f.n_over_budget, f.n_understated, f.n_cheaper, f.n_shallower, f.n_empty];
    assert_eq!(sweep.n_faults(), faults.iter().sum::<u64>());
    assert_eq!(sweep.faults.len() as u64, sweep.n_faults());
    ([f.n_too_small, f.n_answers, f.n_no_match], faults)
}

#[test]
fn a_sweep_finds_every_way_of_not_keeping_to_a_budget() {
    let (summary, detail) = (Some(Tier::Summary), Some(Tier::Detail));
    let good = [Seen::TooSmall, seen(150, 150, summary), seen(290, 280, detail)];
    assert_eq!(swept(&good), ([1, 2, 0], [0; 5]));
    assert_eq!(swept(&[Seen::NoMatch; 3]), ([0, 0, 3], [0; 5]));
    let over = [seen(100, 100, summary), seen(200, 201, summary), seen(301, 290, summary)];
    assert_eq!(swept(&over), ([0, 3, 0], [2, 1, 0, 0, 0]));
    let cheaper = [seen(90, 90, summary), seen(80, 80, summary), seen(80, 80, summary)];
    assert_eq!(swept(&cheaper).1, [0, 0, 1, 0, 0]);
    let shallower = [seen(90, 90, detail), seen(95, 90, summary), seen(95, 90, summary)];
    assert_eq!(swept(&shallower).1, [0, 0, 0, 1, 0]);
    let empty = [seen(9, 9, None), seen(9, 9, None), seen(95, 90, summary)];
    assert_eq!(swept(&empty).1, [0, 0, 0, 0, 2]);
    let gone = [seen(9, 9, summary), Seen::TooSmall, seen(95, 90, summary)];
    assert_eq!(swept(&gone), ([1, 2, 0], [0, 0, 0, 1, 0]));
}
