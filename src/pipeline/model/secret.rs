//! Keys. Nothing here shows one: not `Debug`, not an error, not a recording.

use std::fmt;

/// What stands in place of a key.
const REDACTED: &str = "[redacted]";

/// A key, as the binary read it from the environment.
///
/// It is neither displayed nor serialised, so it cannot get into a ledger by carelessness.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A key without the white space that surrounds it; `None` when nothing is left.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    /// Returns the text with every occurrence of the key taken out.
    pub fn redact(&self, text: &str) -> String {
        text.replace(&self.0, REDACTED)
    }

    /// For the header that carries it.
    #[cfg(feature = "live-model")]
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}
