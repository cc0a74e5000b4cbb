//! Numbers that look random and are the same for the same seed.

/// Steele's splitmix64: any seed will do, also those next to each other.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Numbers that depend on all of `seeds` and on their order.
    pub(crate) fn of(seeds: &[u64]) -> Self {
        let mut random = Self(0);
        for seed in seeds {
            random.0 ^= seed;
            random.0 = random.number();
        }
        random
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.number() % u64::from(bound)).expect("a remainder is below its divisor")
    }

    /// True once in `times`, on average.
    pub(crate) fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// One of `from`, or `None` if there is none.
    pub(crate) fn choose<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let count = u32::try_from(from.len()).expect("lists of a run are short");
        if count == 0 { None } else { from.get(self.below(count) as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seeds_give_the_same_numbers_and_others_do_not() {
        let numbers = |seeds: &[u64]| Random::of(seeds).number();
        assert_eq!(numbers(&[1, 2]), numbers(&[1, 2]));
        assert_ne!(numbers(&[1, 2]), numbers(&[2, 1]));
        assert_ne!(numbers(&[0]), numbers(&[0, 0]));
    }

    #[test]
    fn nothing_is_chosen_from_nothing() {
        let mut random = Random::of(&[7]);
        assert_eq!(random.choose::<u8>(&[]), None);
        assert_eq!(random.choose(&["it"]), Some(&"it"));
    }
}
