//! Numbers and times of a document as reports to programs spell them.

use serde::{Serialize, Serializer};

use crate::checkpoint::Timestamp;

/// A whole number as one: 40 and not 40.0.
#[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref)] // As serde calls it.
pub(super) fn number<S: Serializer>(
    number: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    // Whole numbers up to there are exact.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    match number {
        Some(number) if number.fract() == 0.0 && number.abs() <= WHOLE_MAX =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
            serializer.serialize_i64(*number as i64)
        }
        other => other.serialize(serializer),
    }
}

/// Seconds since 1970 as a time like all others.
#[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref)] // As serde calls it.
pub(super) fn time<S: Serializer>(seconds: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    let time = |seconds: i64| Timestamp::from_micros(seconds.saturating_mul(1_000_000));
    seconds.map(time).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use crate::layouts::Standing;

    #[test]
    fn scores_and_times_are_spelled_as_elsewhere() {
        let told = |score: f64, seconds: i64| {
            let mut standing = Standing { score: Some(score), ..Standing::default() };
            standing.snapshot.plan_modified_at = Some(seconds);
            let told = serde_json::to_value(&standing).unwrap();
            format!("{} {}", told["score"], told["snapshot"]["plan_modified_at"])
        };
        assert_eq!(told(40.0, 0), "40 \"1970-01-01T00:00:00.000000Z\"");
        assert_eq!(told(-0.5, 1_769_353_200), "-0.5 \"2026-01-25T15:00:00.000000Z\"");
        assert_eq!(told(f64::NAN, 1), "null \"1970-01-01T00:00:01.000000Z\"");
        assert!(told(1e300, i64::MAX).starts_with("1e+300 \""), "{}", told(1e300, i64::MAX));
    }
}
