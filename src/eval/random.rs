//! Random numbers from a seed: the same everywhere, for resampling only.

/// The generator `SplitMix64` of Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014.
#[derive(Debug, Clone)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, 0 when `n` is 0.
    ///
    /// By multiplication, without the rejection of Lemire 2019: a number is favoured by at most
    /// `n / 2^64`, far below what any number of resamples could show.
    pub(super) fn below(&mut self, n: usize) -> usize {
        let wide = u128::from(self.bits()) * n as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }
}
