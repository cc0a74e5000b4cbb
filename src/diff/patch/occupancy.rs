//! How many elements of an array lie before a step, while elements come and go.

/// Counts by step, after P. M. Fenwick (1994): asking and changing take logarithmic time.
#[derive(Debug)]
pub(super) struct Occupancy {
    /// The sum of the counts of some steps up to each: as many as the lowest bit of its number,
    /// from one, says.
    sums: Vec<usize>,
}

impl Occupancy {
    pub(super) fn new(counts: impl Iterator<Item = usize>) -> Self {
        let mut sums: Vec<usize> = counts.collect();
        for number in 1..=sums.len() {
            let next = number + lowest_bit(number);
            if next <= sums.len() {
                sums[next - 1] += sums[number - 1];
            }
        }
        Self { sums }
    }

    /// How many lie before a step.
    pub(super) fn before(&self, step: usize) -> usize {
        let lower = |number: &usize| Some(number - lowest_bit(*number)).filter(|it| *it > 0);
        let numbers = std::iter::successors(Some(step).filter(|it| *it > 0), lower);
        numbers.map(|number| self.sums[number - 1]).sum()
    }

    pub(super) fn add(&mut self, step: usize) {
        self.each_sum(step, |sum| *sum += 1);
    }

    pub(super) fn remove(&mut self, step: usize) {
        self.each_sum(step, |sum| *sum -= 1);
    }

    fn each_sum(&mut self, step: usize, change: impl Fn(&mut usize)) {
        let mut number = step + 1;
        while let Some(sum) = self.sums.get_mut(number - 1) {
            change(sum);
            number += lowest_bit(number);
        }
    }
}

fn lowest_bit(number: usize) -> usize {
    number & number.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_all_steps_before() {
        let mut counts = vec![3, 0, 1, 7, 0, 0, 1, 1, 2];
        let mut occupancy = Occupancy::new(counts.iter().copied());
        for step in [1, 4, 8, 0, 1] {
            occupancy.add(step);
            counts[step] += 1;
            occupancy.remove(3);
            counts[3] -= 1;
            for at in 0..counts.len() {
                assert_eq!(occupancy.before(at), counts[..at].iter().sum::<usize>());
            }
        }
    }
}
