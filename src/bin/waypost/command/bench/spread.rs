//! Many times of the same thing, and what is told of them.

use std::time::Duration;

use serde::Serialize;

/// How long something took, in microseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Spread {
    #[serde(rename = "median_us")]
    pub(super) median: f64,
    #[serde(rename = "p90_us")]
    pub(super) p90: f64,
    #[serde(rename = "p99_us")]
    pub(super) p99: f64,
    #[serde(rename = "max_us")]
    pub(super) max: f64,
}

impl Spread {
    pub(super) fn of(times: &[Duration]) -> Self {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let at = |percent: usize| {
            let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
            sorted.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        Self { median: at(50), p90: at(90), p99: at(99), max: at(100) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "whole microseconds are exact")]
    fn percentiles_are_times_that_occurred() {
        let times: Vec<Duration> = (1..=200).rev().map(Duration::from_micros).collect();
        let spread = Spread::of(&times);
        assert_eq!(
            [spread.median, spread.p90, spread.p99, spread.max],
            [100.0, 180.0, 198.0, 200.0]
        );
        assert_eq!(Spread::of(&times[..1]).median, 200.0);
        assert_eq!(Spread::of(&[]).max, 0.0);
    }
}
