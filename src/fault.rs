//! Whose fault an error is. Knows no error type; every error type answers `fault()` with one of these.

/// Whose fault an error is, and with it what the caller can do about it.
///
/// Every public error of this crate has a `fault()`; the binary turns it into an exit code and
/// reads nothing else of the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request cannot be meant as it stands: a wrong flag, an unknown id, an empty query.
    Usage,
    /// What was pointed at cannot be read as what it claims to be.
    Data,
    /// The machine refuses: permissions, a full disk, a missing folder, a lock held for too long.
    Environment,
    /// psos itself is wrong.
    Bug,
}
