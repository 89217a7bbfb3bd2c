//! Which records say the same: copies of one text in several places are one hit of an answer.
//! Knows nothing of scores; who represents the copies is decided by the order they come in.

use crate::recall::RecallError;
use crate::recall::rank::Ranked;
use crate::record::Hash;
use crate::store::{Head, Snapshot};

/// The width of the runs of words that texts are compared by.
const SHINGLE: usize = 3;
/// From which resemblance on two texts say the same: shared runs of words over all of them (Broder, "On the
/// resemblance and containment of documents", 1997). A changed word touches three runs, so this lets
/// about one word in sixty differ.
const MIN_RESEMBLANCE: f64 = 0.9;
/// Shorter texts say the same only if they are the same: a few words differ by what matters.
const MIN_WORDS: usize = 20;
/// How many candidates are looked at for each one that is wanted: behind them, copies are not looked for.
pub(super) const LOOK_AHEAD: usize = 4;

/// A hit and the records further down that say the same.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) hit: &'a Ranked,
    /// In their order.
    pub(super) copies: Vec<&'a Head>,
}

impl<'a> Group<'a> {
    /// A hit whose copies are hits of their own.
    pub(super) fn alone(hit: &'a Ranked) -> Self {
        Self { hit, copies: Vec::new() }
    }
}

/// What a text is compared by.
struct Print {
    hash: Hash,
    /// Sorted, without repeats.
    shingles: Vec<[u32; SHINGLE]>,
    n_words: usize,
}

/// Takes the first `n_wanted` hits that say something new, each with its copies among the others.
pub(super) fn group<'a>(
    snapshot: &Snapshot,
    ranked: &'a [Ranked],
    n_wanted: usize,
) -> Result<Vec<Group<'a>>, RecallError> {
    let mut groups: Vec<(Group<'a>, Print)> = Vec::new();
    for hit in ranked {
        let print = Print::of(snapshot, hit)?;
        if let Some((group, _)) = groups.iter_mut().find(|(_, known)| known.says_the_same(&print)) {
            group.copies.push(&hit.head);
        } else if groups.len() < n_wanted {
            groups.push((Group::alone(hit), print));
        }
    }
    Ok(groups.into_iter().map(|(group, _)| group).collect())
}

impl Print {
    fn of(snapshot: &Snapshot, hit: &Ranked) -> Result<Self, RecallError> {
        let detail =
            snapshot.forward(hit.measured.key)?.map(|forward| forward.detail).unwrap_or_default();
        let mut shingles: Vec<[u32; SHINGLE]> =
            detail.windows(SHINGLE).filter_map(|run| run.try_into().ok()).collect();
        shingles.sort_unstable();
        shingles.dedup();
        Ok(Self { hash: hit.head.hash, shingles, n_words: detail.len() })
    }

    fn says_the_same(&self, other: &Self) -> bool {
        self.hash == other.hash
            || self.n_words.min(other.n_words) >= MIN_WORDS
                && self.resemblance(other) >= MIN_RESEMBLANCE
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    fn resemblance(&self, other: &Self) -> f64 {
        let (small, large) = (
            self.shingles.len().min(other.shingles.len()) as f64,
            self.shingles.len().max(other.shingles.len()) as f64,
        );
        // The share can be no larger than this: most pairs are told apart without a comparison.
        if small < MIN_RESEMBLANCE * large {
            return 0.0;
        }
        let is_shared = |run: &&[u32; SHINGLE]| other.shingles.binary_search(run).is_ok();
        let common = self.shingles.iter().filter(is_shared).count() as f64;
        common / (small + large - common)
    }
}
