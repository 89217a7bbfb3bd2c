//! What people read: the text and the page.

use expect_test::expect;

use super::{Canned, answer, judged, still};
use crate::eval::compare::compare;
use crate::eval::report::Share;
use crate::eval::{
    Answer, Answered, Contender, Costs, Curve, Evidence, ListLimits, Point, Report, Seen, Sweep,
    TokenBaseline, metric, run,
};

fn share(successes: u32, n: u32) -> Share {
    Share::of(metric::Proportion { successes, n })
}

fn report() -> Report {
    let mut questions = vec![judged("q1", &["a"]), judged("q2", &["b"]), judged("q3", &[])];
    questions[1].question.text = "<script>alert(1)</script> & \"b\"\u{7}".into();
    let missed = Answer {
        explanation: Some("trigger `x` <b>\nbm25 1.5".into()),
        ..answer(&[("a", 2.0), ("b", 1.0)])
    };
    let mut canned = Canned::of([("q1", answer(&[("a", 1.0)])), ("q2", missed)]);
    let outcomes = run(&mut canned, &questions, &still(), &mut || {}).unwrap();
    let costs = Costs {
        file_of: [("a", "f"), ("b", "f")].map(|(id, f)| (id.to_owned(), f.to_owned())).into(),
        file_tokens: [("f".to_owned(), 4_000)].into(),
        description_list_tokens: 20_000,
    };
    let mut report = Report::new("guide <1>", "canned", "0.0.0", 2000);
    report.indexes.insert("authored".into(), "0123456789abcdef0123".into());
    report.add(&Answered {
        form: "authored",
        split: "tune",
        judged: &questions,
        outcomes: &outcomes,
        costs: Some(&costs),
        token_baselines: &TokenBaseline::ALL,
    });
    report.curves.push(Curve {
        group: "authored/tune".into(),
        points: [(250, 1), (1000, 2)]
            .map(|(budget_tokens, n)| Point {
                budget_tokens,
                mean_tokens: 200.0,
                whole: share(n, 2),
                shown: share(2, 2),
            })
            .to_vec(),
    });
    report.others = Contender::of("psos <2>", "authored", "tune", &questions, &outcomes);
    report.tiers = Contender::of("+ detail", "authored", "tune", &questions, &outcomes);
    report.evidence.push(Evidence::of("canned <3>", &questions, &outcomes));
    let mut sweep = Sweep::over(&[100, 200]);
    sweep.add(
        "text",
        "q<4>",
        &[Seen::TooSmall, Seen::Answer { claimed_tokens: 201, tokens: 9, first: None }],
    );
    report.sweep = Some(sweep);
    report.comparison = compare(&report, &report, "Success@1", 1).ok();
    report.refusals.push("g: Success@1 is 0.1 <5>".into());
    report.problems.push("qrels.tsv:5: negative grade, read as not relevant: -1 for `f`".into());
    report.problem_counts.insert("negative grade, read as not relevant".into(), 1);
    report.without_times()
}

#[test]
fn the_text_says_what_was_measured() {
    let text = report().to_text(ListLimits { n_misses: 10, n_problems: 10 });
    expect![[r#"
        guide <1>: canned, psos 0.0.0, budget 2000 tokens
        authored 0123456789abcdef0123

        group                       n  Success@1  95 % interval   ranked first  Success@3  Success@5      RR@10    nDCG@10
        authored/tune/standard      2     50.0 %  9.5 to 90.5           50.0 %    100.0 %    100.0 %     0.7500     0.8155

        group                     questions  answered with "no match"
        authored/tune/negative       1 of 1  100.0 % (20.7 to 100.0), should be all
        authored/tune/standard       0 of 2    0.0 % (0.0 to 65.8), should be none

        group                       mean   median      p95      max  tokens of an answer
        authored/tune/standard       100      100      100      100
                                    4000     4000     4000     4000  whole file of the right record, 40.0 times the answer
                                    4000     4000     4000     4000  whole files of the first three hits, 40.0 times the answer
                                   20000    20000    20000    20000  descriptions of all records, 200.0 times the answer

        group                     budget  mean tokens right record whole  shown at all
        authored/tune                250          200             50.0 %       100.0 %
        authored/tune               1000          200            100.0 %       100.0 %

        other retrievers, on the same questions: rankings, "no match" left aside
                    ranked first  95 % interval    Success@5      RR@10    nDCG@10 mean tokens
        authored/tune/standard, n 2
          psos <2>        50.0 %  9.5 to 90.5        100.0 %     0.7500     0.8155         100

        psos, by how many tiers it ranks by: rankings, "no match" left aside
                    ranked first  95 % interval    Success@5      RR@10    nDCG@10 mean tokens
        authored/tune/standard, n 2
          + detail        50.0 %  9.5 to 90.5        100.0 %     0.7500     0.8155         100

        R@budget of canned <3>: 0.0 % of the evidence is shown whole within 2000 tokens (0 of 2; mean of scopes 0.0 %)

        answers under budgets of 100, 200 tokens
              format     answers    no match   too small over budget understated     cheaper   shallower       empty
                text           1           0           1           1           0           0           0           1
          q<4>, text, budget 200: costs 9 tokens and says 201
          q<4>, text, budget 200: shows no record

        authored/tune/standard: 1 of 2 missed
          q2  <script>alert(1)</script> & "b"�
            wanted  b  (at rank 2)
            found   a  (2.0000)
            trigger `x` <b>
            bm25 1.5

        problems of the set
               1  negative grade, read as not relevant
          qrels.tsv:5: negative grade, read as not relevant: -1 for `f`

        Success@1, paired by question, seed 1

        authored/tune/standard: 2 questions
          0.5000 -> 0.5000  difference +0.0000, 95 % interval +0.0000 to +0.0000, p = 1.0000
          0 better, 0 worse, 2 equal

        refused
          g: Success@1 is 0.1 <5>
    "#]].assert_eq(&text);
}

#[test]
fn the_text_holds_nothing_that_a_terminal_would_act_on() {
    let mut report = report();
    report.suite = "a\u{1b}[31mb\u{9b}c".into();
    let text = report.to_text(ListLimits { n_misses: 10, n_problems: 10 });
    assert!(text.starts_with("a\u{fffd}[31mb\u{fffd}c: canned"), "{text}");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn lists_are_cut_where_asked_and_say_so() {
    let mut report = report();
    report.problems = vec!["p".into(); 5];
    let text = report.to_text(ListLimits { n_misses: 0, n_problems: 2 });
    assert!(text.contains("  p\n  p\n  and 3 more\n"), "{text}");
    assert!(!text.contains("missed"));
}

#[test]
fn the_page_is_whole_and_loads_nothing() {
    let page = report().to_html();
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
    assert!(page.ends_with("</html>\n"));
    for absent in ["http:", "https:", "<script", "<img", "<link", "url(", "@import", "alert(1)</"] {
        assert!(!page.contains(absent), "{absent}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn every_text_of_the_page_is_escaped() {
    let page = report().to_html();
    for present in [
        "<h1>guide &lt;1&gt;</h1>",
        "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;b&quot;\u{fffd}</p>",
        "<pre>trigger `x` &lt;b&gt;\nbm25 1.5</pre>",
        "psos &lt;2&gt;",
        "canned &lt;3&gt;",
        "Success@1 is 0.1 &lt;5&gt;",
        "q&lt;4&gt;, text, budget 200: shows no record",
    ] {
        assert!(page.contains(present), "{present}");
    }
}

#[test]
fn every_plot_has_a_title_and_says_its_numbers() {
    let page = report().to_html();
    // Rank 1, tokens, one curve.
    assert_eq!(page.matches("<svg ").count(), 3);
    assert_eq!(page.matches("role=\"img\"").count(), 3);
    assert!(page.contains(">authored/tune/standard 50.0 percent</desc>"));
    assert!(
        page.contains(">250 tokens: 50.0 percent whole; 1000 tokens: 100.0 percent whole</desc>")
    );
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn tags_of_the_page_are_balanced() {
    let page = report().to_html();
    let body = page.split_once("<body>").unwrap().1;
    let mut open: Vec<&str> = vec!["body", "html"].into_iter().rev().collect();
    for tag in body.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        if tag.ends_with('/') {
            continue;
        }
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{tag}"),
            None => open.push(tag.split([' ', '\n']).next().unwrap()),
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn a_report_without_a_number_is_still_a_page() {
    let empty = Report::new("nothing", "nobody", "0.0.0", 1);
    assert!(empty.to_html().contains("<h1>nothing</h1>"));
    assert!(
        empty.to_text(ListLimits { n_misses: 1, n_problems: 1 }).starts_with("nothing: nobody")
    );
}
