//! Rounds: in each of them every rival has one turn, and the order rotates.
//!
//! A shared machine is faster at one moment than at another. So rivals are measured close to each
//! other, none always comes first, and the figure is the median of the rounds.

use anyhow::Result;

use crate::cost::Cost;

/// The median cost of a turn of each rival, in the order of `rivals`.
pub(crate) fn medians<R>(
    rivals: &mut [R],
    rounds: u32,
    mut turn: impl FnMut(&mut R) -> Result<Cost>,
) -> Result<Vec<Cost>> {
    let mut costs = vec![Vec::new(); rivals.len()];
    for round in 0..rounds as usize {
        for number in order(round, rivals.len()) {
            costs[number].push(turn(&mut rivals[number])?);
        }
    }
    Ok(costs.iter().map(|costs| Cost::median(costs)).collect())
}

/// Who comes when in a round.
pub(crate) fn order(round: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |place| (place + round) % count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rival_has_a_turn_in_each_round_and_each_comes_first_in_its_round() {
        let mut seen = Vec::new();
        medians(&mut ['a', 'b', 'c'], 4, |rival| {
            seen.push(*rival);
            Ok(Cost::default())
        })
        .unwrap();
        assert_eq!(String::from_iter(seen), "abcbcacababc");
    }
}
