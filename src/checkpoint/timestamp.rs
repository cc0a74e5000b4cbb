//! Points in time: UTC microseconds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

/// A point in time, to the microsecond, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The system's clock.
    #[must_use]
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_microsecond())
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

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC, with six fractional digits, so that texts sort as times do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => f.pad(&format!("{time:.6}")),
            // Outside the years that RFC 3339 can write.
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let time: jiff::Timestamp = text.parse().map_err(|_| {
            let reason = format!("{text:?} is not like 2026-01-25T15:00:00Z, up to 9999-12-30");
            Error::invalid("time", reason)
        })?;
        Ok(Self(time.as_microsecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // How it is told is up to whoever reads; an error of our own would quote it.
        let expected = "a time like 2026-01-25T15:00:00Z";
        text.parse().map_err(|_| D::Error::invalid_value(Unexpected::Str(&text), &expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        for micros in [0, -1, 1_700_000_000_123_456, -62_135_596_800_000_000] {
            let time = Timestamp::from_micros(micros);
            assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        }
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
