//! Numbers that look random and are the same in every run.

/// Marsaglia's xorshift64: good enough to vary documents, and needs no dependency.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds must not give similar numbers, and zero would give only zeros.
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.number() % u64::from(bound)).expect("a remainder is below its divisor")
    }

    pub(crate) fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let count = u32::try_from(from.len()).expect("lists of benchmarks are short");
        &from[self.below(count) as usize]
    }
}
