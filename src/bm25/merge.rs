//! Which segments to merge: a pure function of their sizes.

/// More segments than this are never left, beside those that are full.
const MAX_SEGMENTS: usize = 8;
/// From how many live documents on a segment is full and only rewritten when it is worn. A merge maps all that it
/// merges into memory, so without a bound a large index would need memory in proportion to its size.
const FULL_DOCS: u64 = 50_000;
/// A segment of which a larger part than this is deleted is written anew, in percent.
const MAX_DELETED_PERCENT: u64 = 30;

/// How large a segment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Documents, deleted ones among them.
    pub(super) n_docs: u64,
    /// Deleted documents.
    pub(super) n_deleted: u64,
}

impl Size {
    fn live(self) -> u64 {
        self.n_docs.saturating_sub(self.n_deleted)
    }

    fn is_worn(self) -> bool {
        self.n_deleted * 100 > self.n_docs * MAX_DELETED_PERCENT
    }
}

/// Returns the positions of the segments to merge into one, nothing when all is well.
///
/// A worn segment is rewritten for a cost in proportion to what was deleted of it. When there are
/// too many segments that are not full, the smallest are merged, and with them every one that is not larger
/// than all of those together: so each document is rewritten about as often as its segment doubles.
pub(super) fn plan(sizes: &[Size]) -> Option<Vec<usize>> {
    if let Some(worn) = sizes.iter().position(|size| size.is_worn()) {
        return Some(vec![worn]);
    }
    let mut order: Vec<(u64, usize)> = (0..)
        .zip(sizes)
        .map(|(at, size)| (size.live(), at))
        .filter(|&(live, _)| live < FULL_DOCS)
        .collect();
    if order.len() <= MAX_SEGMENTS {
        return None;
    }
    order.sort_unstable();
    let mut sum = 0;
    let mut n = 0;
    let must = order.len() - MAX_SEGMENTS + 1;
    for &(live, _) in &order {
        let is_enough = n >= must && live > sum || sum + live > 2 * FULL_DOCS;
        if n >= 2 && is_enough {
            break;
        }
        sum += live;
        n += 1;
    }
    Some(order.into_iter().take(n).map(|(_, at)| at).collect())
}
