//! Points in time as a person writes them.

use std::str::FromStr;
use std::time::Duration;

use waypost::{Error, Timestamp};

/// A point in time, or a distance back from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    At(Timestamp),
    Ago(Duration),
}

impl When {
    /// The point in time, seen from `now`.
    pub(crate) fn from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::Ago(age) => {
                let micros = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
                Timestamp::from_micros(now.as_micros().saturating_sub(micros))
            }
        }
    }
}

impl FromStr for When {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match age(text) {
            Some(age) => Ok(Self::Ago(age)),
            None => text.parse().or_else(|_| midnight(text)).map(Self::At).map_err(|_| {
                let reason = format!(
                    "{text:?} is like none of 2026-01-25, 2026-01-25T15:00:00Z, 90m, 2h and 7d"
                );
                Error::Invalid { what: "time".into(), reason }
            }),
        }
    }
}

/// The beginning of a day in UTC.
fn midnight(date: &str) -> Result<Timestamp, Error> {
    format!("{date}T00:00:00Z").parse()
}

fn age(text: &str) -> Option<Duration> {
    let unit_seconds = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return None,
    };
    // The unit is one byte long.
    let count: u64 = text[..text.len() - 1].parse().ok()?;
    count.checked_mul(unit_seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    fn micros(text: &str) -> i64 {
        text.parse::<When>().unwrap().from(NOW).as_micros()
    }

    #[test]
    fn a_duration_counts_back_from_now() {
        assert_eq!(micros("90s"), NOW.as_micros() - 90_000_000);
        assert_eq!(micros("2h"), micros("120m"));
        assert_eq!(micros("2w"), micros("14d"));
    }

    #[test]
    fn a_date_stands_for_itself() {
        assert_eq!(micros("1970-01-01T00:00:01Z"), 1_000_000);
        assert_eq!(micros("1970-01-02"), 24 * 60 * 60 * 1_000_000);
    }

    #[test]
    fn what_is_neither_is_refused() {
        for wrong in ["", "2", "h", "-2h", "2 h", "2x", "yesterday", "99999999999999999999w"] {
            assert!(wrong.parse::<When>().is_err(), "{wrong:?}");
        }
    }
}
