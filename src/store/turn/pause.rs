//! How long a waiting process pauses before it tries the lock again.

use std::time::Duration;

// The first poll comes within `YIELD`.
const PAUSE_MAX: Duration = Duration::from_millis(2);
// More polls cost a processor.
const PAUSE_MIN: Duration = Duration::from_micros(200);
// Two turns: a process that has waited this long polls twice as often.
const GROWN_OLD: Duration = Duration::from_millis(50);
// Part of the wait: after seconds in vain the others do not take turns, and polling costs more than
// it brings.
const RESIGNED: u32 = 10_000;

/// How long a process that released the file for others leaves it alone: they poll within that.
pub(in crate::store) const YIELD: Duration = Duration::from_millis(3);

/// The pause between two polls, after waiting this long.
///
/// The order of arrival is unknown. A process that polls more often is more often the first to see
/// the file free. That holds for waits of some turns.
pub(in crate::store) fn pause(waited: Duration) -> Duration {
    let eager = PAUSE_MAX.mul_f64(GROWN_OLD.div_duration_f64(GROWN_OLD + waited));
    let least = PAUSE_MIN.max(waited / RESIGNED).min(PAUSE_MAX);
    // Jitter, so that processes do not poll at the same moment.
    eager.max(least).mul_f64(0.5 + f64::from(waited.subsec_nanos() % 1024) / 2048.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_waited_longer_looks_more_often_until_it_is_in_vain() {
        let longest = [0, 25, 100, 400, 2000, 10_000, 60_000].map(|millis| {
            let waited = Duration::from_millis(millis);
            let looks = (0..2048).map(|nanos| pause(waited + Duration::from_nanos(nanos)));
            looks.max().unwrap()
        });
        assert!(longest[..5].is_sorted_by(|a, b| a > b), "{longest:?}");
        assert!(longest[4..].is_sorted_by(|a, b| a < b), "{longest:?}");
        let millis = |number: u64| Duration::from_micros(number * 1000);
        assert!(longest[0] <= millis(2) && longest[6] <= millis(2) && millis(2) < YIELD);
        assert!(pause(Duration::from_mins(1)) >= millis(1), "at rest");
        assert!(pause(Duration::MAX / 2) <= millis(2), "no wait is too long to tell");
    }
}
