//! How long calls took: of many, a few that stand for all.

/// What stands for the times of many calls, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Latency {
    pub(crate) count: usize,
    pub(crate) median: u64,
    /// What one in a hundred takes longer than.
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

impl Latency {
    /// From durations in microseconds, in any order; `None` if there are none.
    pub(crate) fn of(mut micros: Vec<u64>) -> Option<Self> {
        micros.sort_unstable();
        Some(Self {
            count: micros.len(),
            median: quantile(&micros, 50)?,
            p99: quantile(&micros, 99)?,
            max: *micros.last()?,
        })
    }
}

/// The percentile of sorted values: the smallest one that at least this many in a hundred do not
/// exceed.
pub(crate) fn quantile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// The middle one of some values, in any order.
pub(crate) fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    quantile(&values, 50)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values: Vec<u64> = (1..=100).collect();
        assert_eq!(quantile(&values, 50), Some(50));
        assert_eq!(quantile(&values, 99), Some(99));
        assert_eq!(quantile(&values, 100), Some(100));
        assert_eq!(quantile(&values, 0), Some(1));
        assert_eq!(quantile(&[7], 99), Some(7));
        assert_eq!(quantile(&[1, 2], 99), Some(2));
        assert_eq!(quantile::<u64>(&[], 50), None);
    }

    #[test]
    fn the_order_of_calls_does_not_matter() {
        let latency = Latency::of(vec![900, 100, 300, 200, 400]).unwrap();
        assert_eq!(latency, Latency { count: 5, median: 300, p99: 900, max: 900 });
        assert_eq!(Latency::of(Vec::new()), None);
        assert_eq!(median([3, 1, 2].into_iter()), Some(2));
    }
}
