//! The common subsequence of two sequences, as long as bounded work finds it.
//!
//! The shortest script is looked for first. Where it is long, elements that stand once on either
//! side are taken as anchors, then groups of elements that do, and the same is done between them.
//! In the end there may be less in common than could have been found, but never what is not.

mod myers;
mod patience;

use std::collections::HashSet;
use std::ops::Range;

use self::myers::Work;

// How many elements in a row make an anchor, one after the other: single ones if they are rare,
// and enough of them that even zeros and ones are.
const WIDTHS: [usize; 3] = [1, 8, 48];

/// Places of equal elements, rising on both sides.
pub(super) fn align(old: &[u64], new: &[u64]) -> Vec<(usize, usize)> {
    let mut aligner = Aligner { old, new, pairs: Vec::new(), work: Work::for_length(old, new) };
    aligner.align();
    let mut pairs = aligner.pairs;
    pairs.sort_unstable();
    pairs
}

struct Aligner<'h> {
    old: &'h [u64],
    new: &'h [u64],
    pairs: Vec<(usize, usize)>,
    work: Work,
}

/// A part of either side.
#[derive(Debug, Clone)]
struct Gap {
    old: Range<usize>,
    new: Range<usize>,
}

impl Aligner<'_> {
    fn align(&mut self) {
        let all = Gap { old: 0..self.old.len(), new: 0..self.new.len() };
        let Some(gap) = self.trimmed(all) else { return };
        if self.by_script(&gap) {
            return;
        }
        // Elements on one side only cannot be common, but lie between common ones.
        let (old, new) = (&self.old[gap.old.clone()], &self.new[gap.new.clone()]);
        let (old_places, old_common) = common(old, new);
        let (new_places, new_common) = common(new, old);
        let mut inner = Aligner {
            old: &old_common,
            new: &new_common,
            pairs: Vec::new(),
            work: std::mem::take(&mut self.work),
        };
        inner.between(Gap { old: 0..old_common.len(), new: 0..new_common.len() }, &WIDTHS);
        let back =
            |(i, j): (usize, usize)| (gap.old.start + old_places[i], gap.new.start + new_places[j]);
        self.pairs.extend(inner.pairs.into_iter().map(back));
    }

    /// Recursion is as deep as there are widths.
    fn between(&mut self, gap: Gap, widths: &[usize]) {
        let Some(gap) = self.trimmed(gap) else { return };
        if self.by_script(&gap) {
            return;
        }
        let Some((width, narrower)) = widths.split_first() else { return };
        let mut from = (gap.old.start, gap.new.start);
        let (old, new) = (&self.old[gap.old.clone()], &self.new[gap.new.clone()]);
        let anchors = patience::anchors(old, new, *width);
        for (i, j) in anchors {
            let at = (gap.old.start + i, gap.new.start + j);
            // Groups overlap: earlier ones may have reached beyond.
            if at.0 < from.0 || at.1 < from.1 {
                continue;
            }
            self.between(Gap { old: from.0..at.0, new: from.1..at.1 }, narrower);
            self.pairs.extend((0..*width).map(|step| (at.0 + step, at.1 + step)));
            from = (at.0 + width, at.1 + width);
        }
        self.between(Gap { old: from.0..gap.old.end, new: from.1..gap.new.end }, narrower);
    }

    /// The gap without what both sides start and end with, if that leaves something on both.
    fn trimmed(&mut self, mut gap: Gap) -> Option<Gap> {
        let (old, new) = (self.old, self.new);
        while !gap.old.is_empty() && !gap.new.is_empty() && old[gap.old.start] == new[gap.new.start]
        {
            self.pairs.push((gap.old.start, gap.new.start));
            gap = Gap { old: gap.old.start + 1..gap.old.end, new: gap.new.start + 1..gap.new.end };
        }
        while !gap.old.is_empty()
            && !gap.new.is_empty()
            && old[gap.old.end - 1] == new[gap.new.end - 1]
        {
            gap = Gap { old: gap.old.start..gap.old.end - 1, new: gap.new.start..gap.new.end - 1 };
            self.pairs.push((gap.old.end, gap.new.end));
        }
        (!gap.old.is_empty() && !gap.new.is_empty()).then_some(gap)
    }

    /// Finds all that a gap has in common, if the script is short.
    fn by_script(&mut self, gap: &Gap) -> bool {
        let (old, new) = (&self.old[gap.old.clone()], &self.new[gap.new.clone()]);
        let Some(pairs) = myers::common(old, new, &mut self.work) else { return false };
        self.pairs.extend(pairs.iter().map(|(i, j)| (gap.old.start + i, gap.new.start + j)));
        true
    }
}

/// The places and hashes of elements that are also on the other side.
fn common(side: &[u64], other: &[u64]) -> (Vec<usize>, Vec<u64>) {
    let other: HashSet<u64> = other.iter().copied().collect();
    side.iter().copied().enumerate().filter(|(_, hash)| other.contains(hash)).unzip()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The length of the longest common sequence, by the plain rule.
    fn longest(old: &[u64], new: &[u64]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for one in old {
            let mut diagonal = 0;
            for (j, other) in new.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if one == other { diagonal + 1 } else { above.max(row[j]) };
                diagonal = above;
            }
        }
        row[new.len()]
    }

    fn check(old: &[u64], new: &[u64]) -> usize {
        let pairs = align(old, new);
        assert!(pairs.iter().all(|(i, j)| old[*i] == new[*j]));
        assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        pairs.len()
    }

    /// Numbers that look random, below `bound`.
    fn noise(seed: u64, bound: u64) -> impl Iterator<Item = u64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) % bound
        })
    }

    proptest! {
        #[test]
        fn short_sequences_keep_as_much_as_they_can(
            old in prop::collection::vec(0_u64..6, 0..40),
            new in prop::collection::vec(0_u64..6, 0..40),
        ) {
            prop_assert_eq!(check(&old, &new), longest(&old, &new));
        }
    }

    #[test]
    fn nothing_in_common_is_seen_soon() {
        let old: Vec<u64> = (0..200_000).collect();
        let new: Vec<u64> = (200_000..400_000).collect();
        assert_eq!(check(&old, &new), 0);
    }

    /// Single elements are no anchors here: each stands thousands of times.
    #[test]
    fn long_sequences_of_few_values_keep_nearly_all() {
        for values in [2, 10] {
            let old: Vec<u64> = noise(1, values).take(50_000).collect();
            let mut new = old.clone();
            for place in noise(2, 50_000).take(400) {
                new.remove(usize::try_from(place).unwrap().min(new.len() - 1));
            }
            assert!(check(&old, &new) > 47_000);
        }
    }

    #[test]
    fn changes_everywhere_leave_the_rest() {
        let old: Vec<u64> = (0..100_000).collect();
        let new: Vec<u64> =
            old.iter().map(|it| if it % 3 == 0 { it + 1_000_000 } else { *it }).collect();
        assert_eq!(check(&old, &new), 66_666);
    }

    #[test]
    fn reversed_and_constant_sequences_take_no_time() {
        let old: Vec<u64> = (0..100_000).collect();
        let new: Vec<u64> = old.iter().rev().copied().collect();
        assert_eq!(check(&old, &new), 1);
        check(&vec![1; 100_000], &vec![1; 80_000]);
        let (old, new): (Vec<u64>, Vec<u64>) =
            (noise(3, 2).take(100_000).collect(), noise(4, 2).take(100_000).collect());
        check(&old, &new);
    }
}
