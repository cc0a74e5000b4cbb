//! Times of many equal calls, as percentiles.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// How long something took, in microseconds; in JSON in seconds, like all times.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Spread {
    #[serde(rename = "median_seconds", serialize_with = "seconds")]
    pub(super) median: f64,
    #[serde(rename = "p90_seconds", serialize_with = "seconds")]
    pub(super) p90: f64,
    #[serde(rename = "p99_seconds", serialize_with = "seconds")]
    pub(super) p99: f64,
    #[serde(rename = "max_seconds", serialize_with = "seconds")]
    pub(super) max: f64,
}

// serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn seconds<S: Serializer>(micros: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(micros / 1e6)
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
