//! Measures, intervals and percentiles, on numbers worked by hand and on another tool's output.

use proptest::prelude::*;

use super::{gold, hits};
use crate::eval::metric::{
    Measure, Proportion, Ranking, Ties, mean, median, percentile, rank, score_run,
};
use crate::eval::trec::{parse_qrels, parse_run};

/// The values as they would be printed, so that a difference in the last bit does not matter.
fn check(ranking: &Ranking, want: &[(&str, &str)]) {
    for (name, value) in want {
        let measure = Measure::parse(name).unwrap();
        assert_eq!(measure.to_string(), *name);
        assert_eq!(format!("{:.6}", measure.value(ranking)), *value, "{name}");
    }
}

#[test]
fn measures_are_those_worked_by_hand() {
    // Relevant: a (3), b (2), c (1), z (1); ranked x, b, a, y, c.
    // DCG@10 = 2/log2(3) + 3/log2(4) + 1/log2(6) = 1.261860 + 1.5 + 0.386853 = 3.148712
    // IDCG@10 = 3/1 + 2/log2(3) + 1/log2(4) + 1/log2(5) = 3 + 1.261860 + 0.5 + 0.430677 = 5.192536
    // nDCG@10 = 0.606392; DCG@2 = 1.261860, IDCG@2 = 4.261860, nDCG@2 = 0.296082
    let gold = gold(&[("a", 3), ("b", 2), ("c", 1), ("z", 1)]);
    let hits = hits(&[("x", 9.0), ("b", 8.0), ("a", 7.0), ("y", 6.0), ("c", 5.0)]);
    let ranking = Ranking::of(&hits, &gold, Ties::Against);
    check(
        &ranking,
        &[
            ("Success@1", "0.000000"),
            ("Success@2", "1.000000"),
            ("RR@10", "0.500000"),
            ("RR@1", "0.000000"),
            ("nDCG@10", "0.606392"),
            ("nDCG@2", "0.296082"),
            ("R@5", "0.750000"),
            ("R@3", "0.500000"),
            ("P@5", "0.600000"),
            // Ranks beyond the end hold nothing: 3 of 10.
            ("P@10", "0.300000"),
        ],
    );
    assert_eq!(ranking.first_relevant(), Some(2));
}

#[test]
fn a_question_without_hits_is_zero_in_every_measure() {
    let ranking = Ranking::of(&[], &gold(&[("a", 1)]), Ties::Against);
    for measure in Measure::REPORTED {
        assert_eq!(format!("{:.1}", measure.value(&ranking)), "0.0", "{measure}");
    }
}

#[test]
fn unknown_names_and_cut_offs_are_no_measures() {
    for name in ["", "MRR@10", "Success", "Success@", "Success@0", "R@-1", "ndcg@10"] {
        assert_eq!(Measure::parse(name), None, "{name}");
    }
}

#[test]
fn ties_are_broken_against_the_judged_or_as_trec_eval_sorts() {
    let gold = gold(&[("m", 1), ("p", 2)]);
    let tied = hits(&[("a", 1.0), ("m", 1.0), ("p", 1.0), ("z", 1.0)]);
    let order = |ties| -> Vec<&str> {
        rank(&tied, &gold, ties).into_iter().map(|hit| hit.id.as_str()).collect()
    };
    assert_eq!(order(Ties::Against), ["z", "a", "m", "p"]);
    assert_eq!(order(Ties::Trec), ["z", "p", "m", "a"]);
}

#[test]
fn the_two_zeros_are_one_score() {
    let gold = gold(&[("a", 1)]);
    let zeros = hits(&[("a", 0.0), ("b", -0.0)]);
    assert_eq!(Ranking::of(&zeros, &gold, Ties::Against).first_relevant(), Some(2));
    assert_eq!(Ranking::of(&zeros, &gold, Ties::Trec).first_relevant(), Some(2));
}

#[test]
fn scores_that_32_bits_cannot_tell_apart_are_a_tie_to_trec_eval_only() {
    let gold = gold(&[("a", 1)]);
    let close = hits(&[("a", 1.0 + 1e-12), ("b", 1.0)]);
    assert_eq!(Ranking::of(&close, &gold, Ties::Trec).first_relevant(), Some(2));
    assert_eq!(Ranking::of(&close, &gold, Ties::Against).first_relevant(), Some(1));
}

#[test]
fn numbers_are_those_of_pytrec_eval() {
    let run = parse_run("run.txt", include_bytes!("../../../tests/fixtures/trec/run.txt"));
    let qrels = parse_qrels("qrels.txt", include_bytes!("../../../tests/fixtures/trec/qrels.txt"));
    let table = include_str!("../../../tests/fixtures/trec/pytrec_eval.tsv");
    let (run, _) = run.accept().unwrap();
    let (qrels, _) = qrels.accept().unwrap();
    let mut lines = table.lines();
    let names = lines.next().unwrap().split('\t').skip(1);
    let measures: Vec<Measure> = names.map(|name| Measure::parse(name).unwrap()).collect();
    let scores = score_run(&run, &qrels, &measures, Ties::Trec);
    // Question q05 has judgements and no answer: it is not in the table, and zero for us.
    assert_eq!((scores.by_question.len(), scores.n_missing, scores.n_unjudged), (12, 1, 0));
    let mut n_compared = 0;
    for line in lines {
        let (question, values) = line.split_once('\t').unwrap();
        for (idx, value) in values.split('\t').enumerate() {
            let (ours, theirs) = (scores.by_question[question][idx], value.parse::<f64>().unwrap());
            assert!((ours - theirs).abs() < 1e-6, "{question} {}: {ours}", measures[idx]);
            n_compared += 1;
        }
    }
    assert_eq!(n_compared, 11 * 7);
}

#[test]
fn wilson_intervals_are_those_of_the_formula() {
    // 90 of 100, z = 1.959964, z² = 3.841459:
    // (0.9 + 0.019207 ± 1.959964·sqrt(0.0009 + 0.0000960)) / 1.038415 = (0.919207 ± 0.061856) / 1.038415
    // 0 of 10: from 0 to z²/(n + z²) = 3.841459 / 13.841459; 10 of 10 is its mirror.
    for (successes, n, want) in [
        (90, 100, "0.8256 0.9448"),
        (0, 10, "0.0000 0.2775"),
        (10, 10, "0.7225 1.0000"),
        (1, 2, "0.0945 0.9055"),
        (0, 0, "0.0000 1.0000"),
    ] {
        let (low, high) = Proportion { successes, n }.wilson_95();
        assert_eq!(format!("{low:.4} {high:.4}"), want, "{successes} of {n}");
    }
}

#[test]
fn percentiles_are_by_nearest_rank_and_the_median_is_the_middle() {
    let values = [15.0, 20.0, 35.0, 40.0, 50.0];
    let at = |percent| percentile(&values, percent).map(|value| format!("{value:.0}")).unwrap();
    // ceil(0.05·5) = 1, ceil(0.3·5) = 2, ceil(0.4·5) = 2, ceil(0.5·5) = 3, ceil(0.95·5) = 5.
    assert_eq!([5, 30, 40, 50, 95, 100, 0].map(at), ["15", "20", "20", "35", "50", "50", "15"]);
    assert_eq!(median(&[3.0, 1.0, 2.0]).map(|m| m.to_string()), Some("2".to_owned()));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]).map(|m| m.to_string()), Some("2.5".to_owned()));
    assert_eq!((median(&[]), percentile(&[], 95)), (None, None));
    assert_eq!(mean([]).to_string(), "0");
}

proptest! {
    /// nDCG again, by the letter of its definition and without the code under test.
    #[test]
    fn ndcg_is_that_of_its_definition(grades in proptest::collection::vec(0_u32..4, 1..30), k in 1_u32..15) {
        let ids: Vec<String> = (0..grades.len()).map(|i| format!("d{i:02}")).collect();
        let gold = ids.iter().cloned().zip(grades.iter().copied()).filter(|(_, g)| *g > 0).collect();
        let hits: Vec<_> = ids.iter().zip((0..).map(|i| 100.0 - f64::from(i)))
            .map(|(id, score)| crate::eval::Scored::new(id.clone(), score)).collect();
        let ranking = Ranking::of(&hits, &gold, Ties::Trec);
        let dcg = |grades: &[u32]| {
            let mut sum = 0.0;
            for (grade, rank) in grades.iter().take(k as usize).zip(1_u32..) {
                sum += f64::from(*grade) / f64::from(rank + 1).log2();
            }
            sum
        };
        let mut best = grades.clone();
        best.sort_by(|a, b| b.cmp(a));
        let want = if dcg(&best) > 0.0 { dcg(&grades) / dcg(&best) } else { 0.0 };
        let found = Measure::Ndcg(k).value(&ranking);
        prop_assert!((found - want).abs() < 1e-12);
        prop_assert!((0.0..=1.0).contains(&found));
    }

    #[test]
    fn ties_against_never_help(pairs in proptest::collection::vec((0_u32..5, any::<bool>()), 1..20)) {
        let ids: Vec<String> = (0..pairs.len()).map(|i| format!("d{i:02}")).collect();
        let gold = ids.iter().zip(&pairs).filter(|(_, p)| p.1).map(|(id, _)| (id.clone(), 1)).collect();
        let hits: Vec<_> = ids.iter().zip(&pairs)
            .map(|(id, (score, _))| crate::eval::Scored::new(id.clone(), f64::from(*score))).collect();
        let value = |ties| Measure::ReciprocalRank(10).value(&Ranking::of(&hits, &gold, ties));
        prop_assert!(value(Ties::Against) <= value(Ties::Trec));
    }
}
