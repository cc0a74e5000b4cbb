//! Ages as people write them: `90m`, `12h`, `30d`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

/// How old something may get, in whole seconds: `45s`, `90m`, `12h`, `30d`, `2w`.
///
/// ```
/// use waypost::retention::Age;
///
/// # fn main() -> waypost::Result<()> {
/// assert_eq!("90m".parse::<Age>()?.duration().as_secs(), 5400);
/// assert_eq!(Age::days(2).to_string(), "2d");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Age {
    seconds: u64,
}

// The largest first, so that an age is written in the largest unit that fits.
const UNITS: [(char, u64); 5] = [('w', 604_800), ('d', 86_400), ('h', 3600), ('m', 60), ('s', 1)];

impl Age {
    /// An age in days.
    #[must_use]
    pub const fn days(days: u32) -> Self {
        Self { seconds: days as u64 * 86_400 }
    }

    /// An age in seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self { seconds }
    }

    /// The age as a duration.
    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |unit: &&(char, u64)| {
            // People say 14 days and 30 days, and weeks only to be understood.
            unit.0 != 'w' && self.seconds.is_multiple_of(unit.1)
        };
        let (name, seconds) = UNITS.iter().find(fits).expect("any age is of whole seconds");
        match self.seconds {
            0 => f.pad("0s"),
            total => f.pad(&format!("{}{name}", total / seconds)),
        }
    }
}

impl FromStr for Age {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = || {
            let name = text.chars().next_back()?;
            let (_, seconds) = UNITS.iter().find(|unit| unit.0 == name)?;
            // The unit is one byte long.
            let digits = &text[..text.len() - 1];
            let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
            let count: u64 = digits.parse().ok().filter(|_| is_number)?;
            count.checked_mul(*seconds)
        };
        let seconds = parsed().ok_or_else(|| {
            Error::invalid("age", format_args!("{text:?} is not like 45s, 90m, 12h, 30d or 2w"))
        })?;
        Ok(Self { seconds })
    }
}

impl Serialize for Age {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Age {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // The deserializer words the error; one of ours would quote the text.
        let expected = "an age like 45s, 90m, 12h, 30d or 2w";
        text.parse().map_err(|_| D::Error::invalid_value(Unexpected::Str(&text), &expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_written_in_its_largest_unit_and_read_back() {
        for (text, written) in [
            ("0s", "0s"),
            ("45s", "45s"),
            ("120s", "2m"),
            ("24h", "1d"),
            ("25h", "25h"),
            ("2w", "14d"),
            ("30d", "30d"),
        ] {
            let age: Age = text.parse().unwrap();
            assert_eq!(age.to_string(), written);
            assert_eq!(written.parse::<Age>().unwrap(), age);
        }
    }

    #[test]
    fn what_is_no_age_is_refused() {
        for wrong in
            ["", "d", "7", "-7d", "+7d", "7 d", "1.5h", "7y", "7\u{e9}", "99999999999999999w"]
        {
            assert!(wrong.parse::<Age>().is_err(), "{wrong:?}");
        }
    }
}
