//! Points in time: UTC microseconds.
//!
//! Digits beyond microseconds are cut off. A leap second counts as the second before it; hour 24 is
//! no time. The calendar ends with 9999-12-31T23:59:59.999999Z; a later time is printed as
//! microseconds (`...us`), and read so. No value of a clock is special: tests use 1970, times
//! before it, the end of 9999, and both ends of 64 bits.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use jiff::fmt::temporal::Pieces;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

const EPOCH: jiff::civil::DateTime = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);

/// A point in time, to the microsecond, in UTC.
///
/// ```
/// use waypost::Timestamp;
///
/// # fn main() -> waypost::Result<()> {
/// let start: Timestamp = "2026-01-25T15:00:00Z".parse()?;
/// let end: Timestamp = "2026-01-25T15:01:30Z".parse()?;
/// assert_eq!(end.saturating_since(start).as_secs(), 90);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The time of the system clock; any value is accepted.
    #[must_use]
    pub fn now() -> Self {
        Self::of_system(SystemTime::now())
    }

    /// A system time, or the nearest that can be represented.
    fn of_system(time: SystemTime) -> Self {
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        Self(match time.duration_since(UNIX_EPOCH) {
            Ok(since) => micros(since),
            Err(before) => -micros(before.duration()),
        })
    }

    /// The system time; `None` if the system cannot represent it.
    #[cfg(feature = "transfer")]
    pub(crate) fn to_system(self) -> Option<SystemTime> {
        let micros = Duration::from_micros(self.0.unsigned_abs());
        if self.0 < 0 { UNIX_EPOCH.checked_sub(micros) } else { UNIX_EPOCH.checked_add(micros) }
    }

    /// A point in time by microseconds since 1970.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since 1970, rounded towards the past.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The time from `earlier` to this one; zero if `earlier` is later, as after a clock change.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        Duration::from_micros(if micros < 0 { 0 } else { micros.unsigned_abs() })
    }
}

impl Timestamp {
    /// Microseconds from this time to a later one; zero if that is earlier.
    pub(crate) const fn micros_until(self, later: Self) -> u64 {
        if later.0 < self.0 { 0 } else { later.0.abs_diff(self.0) }
    }

    /// The time `micros` microseconds later; `None` on overflow.
    pub(crate) fn checked_add_micros(self, micros: u64) -> Option<Self> {
        self.0.checked_add_unsigned(micros).map(Self)
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC, with six fractional digits, so that texts sort as times do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Ok(time) = jiff::Timestamp::from_microsecond(self.0) {
            return f.pad(&format!("{time:.6}"));
        }
        match civil(self.0) {
            Some(time) => f.pad(&format!("{time:.6}Z")),
            // Outside the years that RFC 3339 can write.
            None => f.pad(&format!("{}us", self.0)),
        }
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(time) = text.parse::<jiff::Timestamp>() {
            return Ok(Self(time.as_microsecond()));
        }
        at_the_edge(text).or_else(|| beyond(text)).map(Self).ok_or_else(|| {
            let reason = format!("{text:?} is not like 2026-01-25T15:00:00Z, up to 9999-12-31");
            Error::invalid("time", reason)
        })
    }
}

/// A time as date and time of day in UTC, for the hours at either end of the calendar that `jiff`
/// keeps free for offsets.
fn civil(micros: i64) -> Option<jiff::civil::DateTime> {
    EPOCH.checked_add(SignedDuration::from_micros(micros)).ok()
}

/// A text with a date, a time and an offset that leads to those hours: many programs write the last
/// second of 9999 for never.
fn at_the_edge(text: &str) -> Option<i64> {
    let pieces = Pieces::parse(text).ok()?;
    let time = pieces.date().to_datetime(pieces.time()?);
    let since = time.duration_since(EPOCH).as_micros();
    let offset = i128::from(pieces.to_numeric_offset()?.seconds()) * 1_000_000;
    i64::try_from(since - offset).ok()
}

/// The suffix of a time beyond the calendar.
fn beyond(text: &str) -> Option<i64> {
    let micros = text.strip_suffix("us")?.parse().ok()?;
    // Any other has one spelling, which is not this one.
    (Timestamp(micros).to_string() == text).then_some(micros)
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // The deserializer words the error; one of ours would quote the text.
        let expected = "a time like 2026-01-25T15:00:00Z";
        text.parse().map_err(|_| D::Error::invalid_value(Unexpected::Str(&text), &expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        let end = 253_402_300_799_999_999;
        for micros in [0, -1, 1_700_000_000_123_456, -62_135_596_800_000_000, end - 1, end] {
            let time = Timestamp::from_micros(micros);
            assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        }
    }

    /// The log of a store could not read back an operation at such a time.
    #[test]
    fn what_no_calendar_has_is_read_back_too() {
        for micros in [i64::MIN, -377_705_116_800_000_001, 253_402_300_800_000_000, i64::MAX] {
            let time = Timestamp::from_micros(micros);
            assert_eq!(time.to_string(), format!("{micros}us"));
            assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        }
        for wrong in ["us", "5us", "-1us", "+9223372036854775807us", "9223372036854775808us"] {
            assert!(wrong.parse::<Timestamp>().is_err(), "{wrong}");
        }
    }

    /// The last day of 9999 was refused, and files that use it for never got the file's time.
    #[test]
    fn the_calendar_is_read_up_to_its_last_second() {
        let last: Timestamp = "9999-12-31T23:59:59.999999Z".parse().unwrap();
        assert_eq!(last.to_string(), "9999-12-31T23:59:59.999999Z");
        assert_eq!("9999-12-31T23:59:59.9999999Z".parse::<Timestamp>().unwrap(), last);
        assert!("9999-12-31T23:59:59Z".parse::<Timestamp>().unwrap() < last);
        let day: Timestamp = "9999-12-31T00:00:00Z".parse().unwrap();
        assert_eq!("9999-12-31T02:00:00+02:00".parse::<Timestamp>().unwrap(), day);
        let later: Timestamp = "9999-12-31T23:59:59.999999-00:01".parse().unwrap();
        assert!(later > last, "{later}");
        for wrong in ["9999-12-31", "9999-12-31T23:59:59", "9999-12-32T00:00:00Z", "10000-01-01Z"] {
            assert!(wrong.parse::<Timestamp>().is_err(), "{wrong}");
        }
    }

    /// A system clock beyond the year 9999 ended every command with a panic.
    #[test]
    fn any_time_of_the_system_is_taken() {
        let year_10000 = Duration::from_hours(70_389_528);
        let after = |since| Timestamp::of_system(UNIX_EPOCH + since).as_micros();
        assert_eq!(after(year_10000), 253_402_300_800_000_000);
        assert_eq!(after(Duration::from_nanos(1_999)), 1);
        assert_eq!(after(Duration::from_secs(i64::MAX as u64)), i64::MAX);
        let before = |until| Timestamp::of_system(UNIX_EPOCH - until).as_micros();
        assert_eq!(before(Duration::from_micros(5)), -5);
        assert_eq!(before(Duration::from_secs(i64::MAX as u64)), -i64::MAX);
    }

    #[test]
    fn a_leap_second_is_the_one_before_it_and_hour_24_is_none() {
        let leap: Timestamp = "2016-12-31T23:59:60Z".parse().unwrap();
        assert_eq!(leap, "2016-12-31T23:59:59Z".parse().unwrap());
        assert!(leap < "2017-01-01T00:00:00Z".parse().unwrap());
        assert!("2016-12-31T24:00:00Z".parse::<Timestamp>().is_err());
    }

    #[test]
    fn digits_beyond_microseconds_are_cut_off() {
        let cut: Timestamp = "2026-01-25T15:00:00.123456999Z".parse().unwrap();
        assert_eq!(cut, "2026-01-25T15:00:00.123456Z".parse().unwrap());
    }

    #[test]
    fn offsets_are_converted_and_times_without_a_zone_refused() {
        let utc: Timestamp = "2026-01-25T15:00:00.5Z".parse().unwrap();
        assert_eq!("2026-01-25T17:00:00.500+02:00".parse::<Timestamp>().unwrap(), utc);
        assert!("2026-01-25T15:00:00".parse::<Timestamp>().is_err());
    }

    #[test]
    fn a_time_in_the_future_is_not_old() {
        let now = Timestamp::from_micros(0);
        assert_eq!(now.saturating_since(Timestamp::from_micros(5)), Duration::ZERO);
        let end = Timestamp::from_micros(i64::MAX);
        assert_eq!(end.saturating_since(now).as_micros(), u128::from(i64::MAX.unsigned_abs()));
    }
}
