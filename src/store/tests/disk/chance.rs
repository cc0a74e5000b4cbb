//! Numbers that look random and are the same for the same seed.

/// A stream of numbers (`SplitMix64`).
#[derive(Debug, Clone)]
pub(super) struct Chance(u64);

impl Chance {
    /// The stream of a seed and of what it is used for.
    pub(super) fn new(seed: &[u64]) -> Self {
        let mut mixed = Self(0);
        for part in seed {
            mixed.0 = mixed.next() ^ part.wrapping_mul(0xd6e8_feb8_6659_fd93);
        }
        mixed
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below a usize")
    }

    /// Whether an event happens that has this chance in percent.
    pub(super) fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
