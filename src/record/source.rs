//! Where a record stands in its source, and the hash of what stands there.

use std::fmt;
use std::ops::Range;

/// Lines of a file, counted from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lines {
    /// The first line.
    pub first: u32,
    /// The last line, at least `first`.
    pub last: u32,
}

/// The place of a record in its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Bytes of the source file.
    pub bytes: Range<u64>,
    /// The lines that those bytes stand on.
    pub lines: Lines,
}

/// A blake3 hash of some content. It tells that content changed; it never names a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}
