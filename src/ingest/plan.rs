//! What an index run has to do: a comparison of two listings, on values alone.

use crate::ingest::Entry;

/// A change that is younger than this when the file is read may hide behind the same size and
/// time: file systems keep times in steps of up to two seconds.
const RACY_NANOSECONDS: i128 = 2_000_000_000;

/// What the store knows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    /// Relative to the root.
    pub(crate) path: String,
    /// Size and time of the file and of its sidecar, as they were when it was read.
    pub(crate) stamp: Stamp,
    /// When it was read, in nanoseconds since 1970.
    pub(crate) read_at: i128,
}

/// Size and time of a file, and of the sidecar beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    pub(crate) mtime: i128,
    pub(crate) sidecar: Option<(u64, i128)>,
}

impl Stamp {
    fn youngest(&self) -> i128 {
        self.sidecar.map_or(self.mtime, |(_, mtime)| mtime.max(self.mtime))
    }
}

/// A file that an index run found, with the sidecar that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) entry: Entry,
    pub(crate) sidecar: Option<Entry>,
}

impl Found {
    /// What to compare with what the store knows.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp {
            size: self.entry.size,
            mtime: self.entry.mtime,
            sidecar: self.sidecar.as_ref().map(|entry| (entry.size, entry.mtime)),
        }
    }
}

/// What to do, each list sorted by path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Files to read: new, changed, or too young to be told apart by size and time.
    pub(crate) read: Vec<Found>,
    /// Files whose records leave the store.
    pub(crate) remove: Vec<String>,
    /// How many files are left as they are.
    pub(crate) n_unchanged: u64,
}

/// How far to trust size and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// A file with the same size and time, read well after that time, is unchanged.
    SizeAndTime,
    /// Every file is read, and its hash decides.
    HashOnly,
}

/// Compares what the store knows with what is there; both sorted by path.
///
/// `unreadable` are folders that could not be listed: what the store knows below them stays.
pub(crate) fn plan(
    known: &[Known],
    found: Vec<Found>,
    unreadable: &[String],
    trust: Trust,
) -> Plan {
    let mut plan = Plan::default();
    let mut known = known.iter().peekable();
    let is_hidden = |path: &str| {
        unreadable.iter().any(|folder| {
            folder.is_empty()
                || path == folder
                || path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let gone = |plan: &mut Plan, path: &str| {
        if is_hidden(path) {
            plan.n_unchanged += 1;
        } else {
            plan.remove.push(path.to_owned());
        }
    };
    for file in found {
        while let Some(old) = known.next_if(|old| old.path < file.entry.path) {
            gone(&mut plan, &old.path);
        }
        let old = known.next_if(|old| old.path == file.entry.path);
        let unchanged = trust == Trust::SizeAndTime
            && old.is_some_and(|old| {
                old.stamp == file.stamp() && old.stamp.youngest() + RACY_NANOSECONDS < old.read_at
            });
        if unchanged {
            plan.n_unchanged += 1;
        } else {
            plan.read.push(file);
        }
    }
    for old in known {
        gone(&mut plan, &old.path);
    }
    plan
}

#[cfg(test)]
mod tests {
    //! Claims about plans, on values.

    use super::{Found, Known, Stamp, Trust, plan};
    use crate::ingest::Entry;

    fn found(path: &str, size: u64, mtime: i128) -> Found {
        Found { entry: Entry { path: path.into(), size, mtime }, sidecar: None }
    }

    fn known(path: &str, size: u64, mtime: i128, read_at: i128) -> Known {
        Known { path: path.into(), stamp: Stamp { size, mtime, sidecar: None }, read_at }
    }

    const SECOND: i128 = 1_000_000_000;

    fn check(
        known: &[Known],
        found: Vec<Found>,
        unreadable: &[&str],
        trust: Trust,
        want: (&[&str], &[&str], u64),
    ) {
        let unreadable: Vec<String> = unreadable.iter().map(|&s| s.to_owned()).collect();
        let plan = plan(known, found, &unreadable, trust);
        let read: Vec<&str> = plan.read.iter().map(|f| f.entry.path.as_str()).collect();
        let remove: Vec<&str> = plan.remove.iter().map(String::as_str).collect();
        assert_eq!((read.as_slice(), remove.as_slice(), plan.n_unchanged), want);
    }

    #[test]
    fn only_what_changed_is_read() {
        let old = [
            known("a", 1, 0, 9 * SECOND),
            known("b", 1, 0, 9 * SECOND),
            known("c", 1, 0, 9 * SECOND),
            known("z", 1, 0, 9 * SECOND),
        ];
        let new = vec![found("a", 1, 0), found("b", 2, 0), found("c", 1, 5), found("d", 1, 0)];
        check(&old, new, &[], Trust::SizeAndTime, (&["b", "c", "d"], &["z"], 1));
    }

    #[test]
    fn a_file_read_within_two_seconds_of_its_change_is_read_again() {
        let old = [known("a", 1, 8 * SECOND, 9 * SECOND), known("b", 1, 6 * SECOND, 9 * SECOND)];
        let new = vec![found("a", 1, 8 * SECOND), found("b", 1, 6 * SECOND)];
        check(&old, new, &[], Trust::SizeAndTime, (&["a"], &[], 1));
    }

    #[test]
    fn with_hashes_only_everything_is_read() {
        let old = [known("a", 1, 0, 9 * SECOND)];
        check(&old, vec![found("a", 1, 0)], &[], Trust::HashOnly, (&["a"], &[], 0));
    }

    #[test]
    fn a_folder_that_cannot_be_listed_keeps_its_records() {
        let old = [known("d/a", 1, 0, 9 * SECOND), known("da", 1, 0, 9 * SECOND)];
        check(&old, vec![], &["d"], Trust::SizeAndTime, (&[], &["da"], 1));
        check(&old, vec![], &[""], Trust::SizeAndTime, (&[], &[], 2));
    }

    #[test]
    fn a_changed_sidecar_has_its_file_read() {
        let old = [known("a", 1, 0, 9 * SECOND)];
        let mut new = found("a", 1, 0);
        new.sidecar = Some(Entry { path: "a.psos.yaml".into(), size: 1, mtime: 0 });
        check(&old, vec![new], &[], Trust::SizeAndTime, (&["a"], &[], 0));
    }
}
