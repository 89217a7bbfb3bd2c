//! Which segments to merge: a pure function of their sizes.

/// More segments than this are never left.
const MAX_SEGMENTS: usize = 8;
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
/// too many segments, the smallest are merged, and with them every one that is not larger than all
/// of those together: so each document is rewritten about as often as its segment doubles.
pub(super) fn plan(sizes: &[Size]) -> Option<Vec<usize>> {
    if let Some(worn) = sizes.iter().position(|size| size.is_worn()) {
        return Some(vec![worn]);
    }
    if sizes.len() <= MAX_SEGMENTS {
        return None;
    }
    let mut order: Vec<(u64, usize)> =
        sizes.iter().enumerate().map(|(at, size)| (size.live(), at)).collect();
    order.sort_unstable();
    let mut sum = 0;
    let mut n = 0;
    let must = sizes.len() - MAX_SEGMENTS + 1;
    for &(live, _) in &order {
        if n >= must.max(2) && live > sum {
            break;
        }
        sum += live;
        n += 1;
    }
    Some(order.into_iter().take(n).map(|(_, at)| at).collect())
}
