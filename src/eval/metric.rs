//! What is measured of a ranking, exactly as `trec_eval` and `ir_measures` define and name it.
//!
//! Throughout, a record is *relevant* when its grade is 1 or more, `R` is how many relevant records
//! a question has, and `g(i)` is the grade of the record at rank `i`, 0 when it is not relevant.
//! A question without an answer has an empty ranking, for which every measure is 0.

use std::collections::BTreeMap;
use std::fmt;

use super::Scored;
use super::trec::{Qrels, Run, narrow};

/// A measure with its cut-off: how far down the ranking it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// `Success@k`: 1 when a relevant record is among the first k, else 0 (`success_k` of
    /// `trec_eval`; also called hit@k). `Success@1` is "the right record at rank 1".
    Success(u32),
    /// `RR@k`: 1 over the rank of the first relevant record, 0 when it is below k (`recip_rank` of
    /// `trec_eval` on the first k; its mean is MRR@k).
    ReciprocalRank(u32),
    /// `nDCG@k`: `DCG@k / IDCG@k` with `DCG@k = sum of g(i) / log2(i + 1) for i = 1..k`, and `IDCG@k`
    /// the same over all relevant records, best grade first (`ndcg_cut_k` of `trec_eval`).
    ///
    /// The gain is the grade itself, linear, as in Järvelin and Kekäläinen, "Cumulated gain-based
    /// evaluation of IR techniques", TOIS 20(4), 2002, with the discount from rank 2 on that
    /// `trec_eval` uses; not the `2^g - 1` of Burges et al. 2005.
    Ndcg(u32),
    /// `R@k`: the share of the R relevant records that is among the first k (`recall_k` of
    /// `trec_eval`).
    Recall(u32),
    /// `P@k`: the share of the first k ranks that hold a relevant record; ranks beyond the end of a
    /// short ranking hold none (`P_k` of `trec_eval`).
    Precision(u32),
}

impl Measure {
    /// The measures of a report.
    pub const REPORTED: [Self; 7] = [
        Self::Success(1),
        Self::Success(3),
        Self::Success(5),
        Self::ReciprocalRank(10),
        Self::Ndcg(10),
        Self::Recall(5),
        Self::Precision(5),
    ];

    /// The measure with this name, as `ir_measures` writes it: `Success@1`, `RR@10`, `nDCG@10`,
    /// `R@5`, `P@5`.
    pub fn parse(name: &str) -> Option<Self> {
        let (name, k) = name.split_once('@')?;
        let k = k.parse().ok().filter(|&k| k > 0)?;
        match name {
            "Success" => Some(Self::Success(k)),
            "RR" => Some(Self::ReciprocalRank(k)),
            "nDCG" => Some(Self::Ndcg(k)),
            "R" => Some(Self::Recall(k)),
            "P" => Some(Self::Precision(k)),
            _ => None,
        }
    }

    /// Returns the value for one question, from 0 to 1.
    pub fn value(self, ranking: &Ranking) -> f64 {
        let n_relevant = ranking.ideal.len();
        match self {
            Self::Success(k) => {
                if found(ranking, k) > 0 {
                    1.0
                } else {
                    0.0
                }
            }
            Self::ReciprocalRank(k) => match ranking.first_relevant() {
                Some(rank) if rank <= k => 1.0 / f64::from(rank),
                _ => 0.0,
            },
            Self::Ndcg(k) => ratio(gain(&ranking.grades, k), gain(&ranking.ideal, k)),
            Self::Recall(k) => ratio(number(found(ranking, k)), number(n_relevant)),
            Self::Precision(k) => ratio(number(found(ranking, k)), f64::from(k)),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success(k) => write!(f, "Success@{k}"),
            Self::ReciprocalRank(k) => write!(f, "RR@{k}"),
            Self::Ndcg(k) => write!(f, "nDCG@{k}"),
            Self::Recall(k) => write!(f, "R@{k}"),
            Self::Precision(k) => write!(f, "P@{k}"),
        }
    }
}

/// What order records of the same score are taken to be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// The worst for whoever is judged: a record that is not relevant comes before a relevant one,
    /// a lower grade before a higher one, and then the higher id first. What reports use, so that
    /// giving everything the same score earns nothing.
    Against,
    /// As `trec_eval`: scores are equal when they are equal as 32-bit floats, and the higher id
    /// comes first.
    Trec,
}

/// Orders hits by score, highest first, and equal scores as `ties` says.
pub fn rank<'h>(hits: &'h [Scored], gold: &BTreeMap<String, u32>, ties: Ties) -> Vec<&'h Scored> {
    let grade = |hit: &Scored| gold.get(&hit.id).copied().unwrap_or(0);
    let mut ranked: Vec<&Scored> = hits.iter().collect();
    ranked.sort_by(|a, b| {
        let order = match ties {
            // Adding zero makes one zero of the two.
            Ties::Against => {
                (b.score + 0.0).total_cmp(&(a.score + 0.0)).then(grade(a).cmp(&grade(b)))
            }
            Ties::Trec => (narrow(b.score) + 0.0).total_cmp(&(narrow(a.score) + 0.0)),
        };
        order.then_with(|| b.id.cmp(&a.id))
    });
    ranked
}

/// The grades of a ranking, and those of the best one possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranking {
    /// The grade at each rank, best rank first; 0 for what is not relevant.
    grades: Vec<u32>,
    /// The grades of all relevant records, best first.
    ideal: Vec<u32>,
}

impl Ranking {
    /// Ranks `hits` by their scores and looks up their grades.
    pub fn of(hits: &[Scored], gold: &BTreeMap<String, u32>, ties: Ties) -> Self {
        let ranked = rank(hits, gold, ties);
        let grades = ranked.iter().map(|hit| gold.get(&hit.id).copied().unwrap_or(0)).collect();
        let mut ideal: Vec<u32> = gold.values().copied().filter(|&grade| grade > 0).collect();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        Self { grades, ideal }
    }

    /// The rank of the first relevant record, from 1.
    pub fn first_relevant(&self) -> Option<u32> {
        let ranks = self.grades.iter().zip(1..);
        ranks.filter(|(grade, _)| **grade > 0).map(|(_, rank)| rank).next()
    }
}

fn head(grades: &[u32], k: u32) -> &[u32] {
    let k = usize::try_from(k).unwrap_or(usize::MAX);
    grades.get(..k).unwrap_or(grades)
}

fn found(ranking: &Ranking, k: u32) -> usize {
    head(&ranking.grades, k).iter().filter(|&&grade| grade > 0).count()
}

fn gain(grades: &[u32], k: u32) -> f64 {
    let ranks = head(grades, k).iter().zip(1_u32..);
    // From a positive zero: the sum of nothing is a negative one.
    ranks.fold(0.0, |sum, (&grade, rank)| sum + f64::from(grade) / f64::from(rank + 1).log2())
}

/// The values of every judged question under one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// By question, then in the order of the measures asked for.
    pub by_question: BTreeMap<String, Vec<f64>>,
    /// The means, in the order of the measures asked for.
    pub means: Vec<f64>,
    /// How many of the judged questions the run does not answer. Each counted as zero.
    pub n_missing: u32,
    /// How many questions of the run have no relevant record, and were passed over.
    pub n_unjudged: u32,
}

/// Scores a run file against judgements.
///
/// The mean is over every question with a relevant record, whether or not the run answers it
/// (`trec_eval -c`).
pub fn score_run(run: &Run, qrels: &Qrels, measures: &[Measure], ties: Ties) -> Scores {
    let mut by_question = BTreeMap::new();
    let mut n_missing = 0;
    for question in qrels.judged.keys() {
        let gold = qrels.gold(question);
        if gold.is_empty() {
            continue;
        }
        let hits = run.hits.get(question).map(Vec::as_slice).unwrap_or_default();
        n_missing += u32::from(hits.is_empty());
        let ranking = Ranking::of(hits, &gold, ties);
        let values: Vec<f64> = measures.iter().map(|measure| measure.value(&ranking)).collect();
        by_question.insert(question.clone(), values);
    }
    let column = |idx| by_question.values().filter_map(move |row: &Vec<f64>| row.get(idx).copied());
    let means = (0..measures.len()).map(|idx| mean(column(idx))).collect();
    let unjudged = run.hits.keys().filter(|question| !by_question.contains_key(*question));
    let n_unjudged = small(unjudged.count());
    Scores { by_question, means, n_missing, n_unjudged }
}

/// Returns the mean, 0 of nothing.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, n) = values.into_iter().fold((0.0, 0_usize), |(sum, n), v| (sum + v, n + 1));
    ratio(sum, number(n))
}

/// A share of something, with the interval that its true value lies in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proportion {
    /// How many it holds for.
    pub successes: u32,
    /// Of how many.
    pub n: u32,
}

impl Proportion {
    /// The 97.5th percentile of the normal distribution: 95 % lie within this many standard
    /// deviations.
    pub const Z_95: f64 = 1.959_963_984_540_054;

    /// The share itself, 0 of nothing.
    pub fn value(self) -> f64 {
        ratio(f64::from(self.successes), f64::from(self.n))
    }

    /// Returns the 95 % score interval of Wilson, "Probable inference, the law of succession, and
    /// statistical inference", JASA 22, 1927:
    ///
    /// `(p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)`, with `p` the share of the `n` and `z`
    /// [`Proportion::Z_95`]. Of nothing, it is everything: 0 to 1.
    ///
    /// # Examples
    /// ```
    /// use psos::eval::metric::Proportion;
    /// let (low, high) = Proportion { successes: 90, n: 100 }.wilson_95();
    /// assert_eq!(format!("{low:.4} {high:.4}"), "0.8256 0.9448");
    /// ```
    pub fn wilson_95(self) -> (f64, f64) {
        if self.n == 0 {
            return (0.0, 1.0);
        }
        let (p, n, z2) = (self.value(), f64::from(self.n), Self::Z_95 * Self::Z_95);
        let middle = p + z2 / (2.0 * n);
        let reach = Self::Z_95 * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
        let scale = 1.0 + z2 / n;
        // At the ends the formula gives exactly 0 and 1, the arithmetic not quite.
        let low = if self.successes == 0 { 0.0 } else { (middle - reach) / scale };
        let high = if self.successes >= self.n { 1.0 } else { (middle + reach) / scale };
        (low, high)
    }
}

/// Returns the value that `percent` of the values do not exceed, by nearest rank: the value at rank
/// `ceil(percent / 100 · n)` of the sorted values. None of nothing.
pub fn percentile(values: &[f64], percent: u32) -> Option<f64> {
    permille(values, percent.saturating_mul(10))
}

/// As [`percentile`], in thousandths.
pub(super) fn permille(values: &[f64], permille: u32) -> Option<f64> {
    let sorted = sorted(values);
    let permille = usize::try_from(permille.min(1000)).unwrap_or(1000);
    let rank = (sorted.len() * permille).div_ceil(1000).max(1);
    sorted.get(rank - 1).copied()
}

/// Returns the middle value, the mean of the two middle ones when there is an even number. None of
/// nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let upper = sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(*upper);
    }
    let lower = sorted.get(sorted.len() / 2 - 1)?;
    Some(lower.midpoint(*upper))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// `part / whole`, 0 of nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// A number of things, as it is kept in a report.
pub(super) fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The same, to calculate with.
pub(super) fn number(n: usize) -> f64 {
    f64::from(small(n))
}
