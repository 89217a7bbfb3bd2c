//! How many tokens an answer may cost.

/// The most tokens of `o200k_base` that a whole rendered answer may cost. Hard: no answer is over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Budget(u32);

impl Budget {
    /// What an answer may cost when nobody says otherwise.
    pub const DEFAULT: Self = Self(1_200);
    /// No bound, for output that no model reads.
    pub const UNLIMITED: Self = Self(u32::MAX);

    /// A budget of this many tokens.
    pub const fn tokens(tokens: u32) -> Self {
        Self(tokens)
    }

    /// The number of tokens.
    pub const fn as_tokens(self) -> u32 {
        self.0
    }
}
