//! Which records of a file are nested in which.

/// The children of each of a file's records, in the order of the file.
#[derive(Debug)]
pub(super) struct Nest {
    top: Vec<usize>,
    below: Vec<Vec<usize>>,
}

impl Nest {
    /// Turns the parent of each record into the children of each.
    pub(super) fn of(parents: impl ExactSizeIterator<Item = Option<usize>>) -> Self {
        let mut nest = Self { top: Vec::new(), below: vec![Vec::new(); parents.len()] };
        for (idx, parent) in parents.enumerate() {
            match parent.and_then(|parent| nest.below.get_mut(parent)) {
                Some(children) => children.push(idx),
                None => nest.top.push(idx),
            }
        }
        nest
    }

    /// The records nested in a record; for `None`, those nested in no other.
    pub(super) fn children(&self, parent: Option<usize>) -> &[usize] {
        match parent {
            Some(parent) => self.below.get(parent).map(Vec::as_slice).unwrap_or_default(),
            None => &self.top,
        }
    }
}
