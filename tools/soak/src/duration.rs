//! Durations as people write them: `500ms`, `2s`, `10m`, `3h`.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// Reads a duration.
pub(crate) fn parse(text: &str) -> Result<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().context("a duration is like 500ms, 2s, 10m or 3h")?;
    let unit_millis = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        other => bail!("{other:?} is no unit: a duration is like 500ms, 2s, 10m or 3h"),
    };
    let millis = number.checked_mul(unit_millis).context("a duration that long is none")?;
    Ok(Duration::from_millis(millis))
}

/// Writes a duration so that [`parse`] reads it.
pub(crate) fn show(duration: Duration) -> String {
    let millis = duration.as_millis();
    let units = [("h", 3_600_000), ("m", 60_000), ("s", 1000)];
    let fits = |(_, unit): &&(&str, u128)| millis > 0 && millis.is_multiple_of(*unit);
    match units.iter().find(fits) {
        Some((name, unit)) => format!("{}{name}", millis / unit),
        None => format!("{millis}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_as_it_is_written() {
        for text in ["500ms", "2s", "90s", "10m", "3h", "0ms"] {
            assert_eq!(show(parse(text).unwrap()), text);
        }
        assert_eq!(parse("120s").unwrap(), parse("2m").unwrap());
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in
            ["", "10", "m", "1.5s", "-1s", "10 m", "99999999999999999999s", "9999999999999999h"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
