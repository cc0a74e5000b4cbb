//! Anchors: groups of elements that stand once on either side, as many as are in order.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

/// Where equal groups of `width` elements start, rising on both sides. Groups may overlap.
///
/// Takes time in proportion to the length, but for a logarithm.
pub(super) fn anchors(old: &[u64], new: &[u64], width: usize) -> Vec<(usize, usize)> {
    let (old_places, new_places) = (once(old, width), once(new, width));
    let mut both: Vec<(usize, usize)> = old_places
        .iter()
        .filter_map(|(hash, i)| Some(((*i)?, (*new_places.get(hash)?)?)))
        .filter(|(i, j)| old[*i..i + width] == new[*j..j + width])
        .collect();
    both.sort_unstable();
    longest_rise(&both)
}

/// The place of each group that stands once; `None` for others.
fn once(side: &[u64], width: usize) -> HashMap<u64, Option<usize>> {
    let mut places = HashMap::with_capacity(side.len());
    for (at, group) in side.windows(width).enumerate() {
        places.entry(hash(group)).and_modify(|place| *place = None).or_insert(Some(at));
    }
    places
}

fn hash(group: &[u64]) -> u64 {
    if let [single] = group {
        return *single;
    }
    let mut hasher = DefaultHasher::new();
    for element in group {
        hasher.write_u64(*element);
    }
    hasher.finish()
}

/// As many pairs as rise on the right side, of pairs that rise on the left.
fn longest_rise(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // By length of a rise, the pair that ends it lowest; and for each pair the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, j)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *j);
        before.push(length.checked_sub(1).map(|it| ends[it]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut rise: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |at| before[*at]).map(|at| pairs[at]).collect();
    rise.reverse();
    rise
}
