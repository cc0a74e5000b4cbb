//! Times in all the forms that files and their names have.
//!
//! Must never ask for the zone of this machine: a file means the same everywhere.
//!
//! A checkpoint whose time cannot be read gets the time of its file; a time without a zone counts
//! as UTC. Both give a warning.

use crate::checkpoint::Timestamp;
use crate::codec::{Datum, Kind};

/// The assumption about a time without a zone.
const NO_ZONE: &str = "has no zone and is taken as UTC";
/// The assumption about a date without a time.
const NO_CLOCK: &str = "has no time of day and is taken as midnight UTC";

/// No form of a time is longer.
const TEXT_BYTES_MAX: usize = 64;

/// A time, and the assumption made to read it.
pub(super) type Assumed = (Timestamp, Option<&'static str>);

/// The time that a value of a document is.
pub(super) fn of_value<'a>(value: impl Into<Datum<'a>>) -> Option<Assumed> {
    match value.into().kind() {
        Kind::Text(text) => of_text(text.trim()),
        Kind::Uint(number) => Some((of_epoch(number)?, None)),
        Kind::Float(number) => Some((of_seconds(number)?, None)),
        Kind::Number(literal) => Some((of_seconds(literal.parse().ok()?)?, None)),
        _ => None,
    }
}

/// The time that a text is.
pub(super) fn of_text(text: &str) -> Option<Assumed> {
    let is_digits_first = text.starts_with(|first: char| first.is_ascii_digit());
    // This library prints times beyond the calendar in microseconds; in a file such a number means
    // something else.
    if text.len() > TEXT_BYTES_MAX || !is_digits_first || text.ends_with("us") {
        return None;
    }
    if let Ok(time) = text.parse() {
        return Some((time, None));
    }
    if let Ok(time) = format!("{text}Z").parse() {
        return Some((time, Some(NO_ZONE)));
    }
    if let Ok(time) = format!("{text}T00:00:00Z").parse() {
        return Some((time, Some(NO_CLOCK)));
    }
    // Fewer digits are a year or a count, fourteen a day and a time.
    let is_epoch = (9..=13).contains(&text.len());
    let epoch = || Some((of_epoch(text.parse().ok().filter(|_| is_epoch)?)?, None));
    of_compact(text).or_else(epoch)
}

/// `YYYYMMDD`, which may be followed by `HHMMSS`, with or without `_` or `T` between.
pub(super) fn of_compact(text: &str) -> Option<Assumed> {
    let (day, clock) = match text.split_once(['_', 'T']) {
        Some((day, clock)) => (day, clock),
        None => text.split_at_checked(8)?,
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if day.len() != 8 || !is_digits(day) || !is_digits(clock) {
        return None;
    }
    let (clock, assumed) = match clock.len() {
        0 => ("000000", NO_CLOCK),
        6 => (clock, NO_ZONE),
        _ => return None,
    };
    let day = format!("{}-{}-{}", &day[..4], &day[4..6], &day[6..]);
    let time = format!("{day}T{}:{}:{}Z", &clock[..2], &clock[2..4], &clock[4..]);
    Some((time.parse().ok()?, Some(assumed)))
}

/// Seconds, milliseconds or microseconds since 1970; each begins after the year 5000 of the one
/// before, and zero stands for no time.
pub(super) fn of_epoch(number: u64) -> Option<Timestamp> {
    let micros = match number {
        1..100_000_000_000 => number * 1_000_000,
        100_000_000_000..100_000_000_000_000 => number * 1_000,
        100_000_000_000_000..100_000_000_000_000_000 => number,
        _ => return None,
    };
    Some(Timestamp::from_micros(i64::try_from(micros).ok()?))
}

/// Python writes seconds with a fraction.
fn of_seconds(number: f64) -> Option<Timestamp> {
    if !(number > 0.0 && number < 1e14) {
        return None;
    }
    let unit = if number < 1e11 { 1e6 } else { 1e3 };
    // Not a cast, which clippy would report as lossy.
    let micros = format!("{:.0}", number * unit).parse().ok()?;
    Some(Timestamp::from_micros(micros))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Document;

    fn read(text: &str) -> Option<(String, Option<&'static str>)> {
        of_text(text).map(|(time, assumed)| (time.to_string().replace(".000000", ""), assumed))
    }

    #[test]
    fn every_form_of_a_time_is_read() {
        for (text, expected, assumed) in [
            ("2026-11-16T02:17:33.312164+00:00", "2026-11-16T02:17:33.312164Z", None),
            ("2026-03-07T03:38:38.4648208+05:00", "2026-03-06T22:38:38.464820Z", None),
            ("2026-02-14T14:30:00Z", "2026-02-14T14:30:00Z", None),
            ("2026-02-14 14:30:00Z", "2026-02-14T14:30:00Z", None),
            ("2026-02-14T14:30:00", "2026-02-14T14:30:00Z", Some(NO_ZONE)),
            ("2026-02-14T14:30:00.123456", "2026-02-14T14:30:00.123456Z", Some(NO_ZONE)),
            ("2026-02-14", "2026-02-14T00:00:00Z", Some(NO_CLOCK)),
            ("20260214", "2026-02-14T00:00:00Z", Some(NO_CLOCK)),
            ("20260214_143000", "2026-02-14T14:30:00Z", Some(NO_ZONE)),
            ("20260214T143000", "2026-02-14T14:30:00Z", Some(NO_ZONE)),
            ("20260214143000", "2026-02-14T14:30:00Z", Some(NO_ZONE)),
            ("1771079400", "2026-02-14T14:30:00Z", None),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z", None),
            ("9999-12-31", "9999-12-31T00:00:00Z", Some(NO_CLOCK)),
            ("99991231_235959", "9999-12-31T23:59:59Z", Some(NO_ZONE)),
            ("2016-12-31T23:59:60", "2016-12-31T23:59:59Z", Some(NO_ZONE)),
            ("1771079400123", "2026-02-14T14:30:00.123000Z", None),
        ] {
            assert_eq!(read(text), Some((expected.to_owned(), assumed)), "{text}");
        }
        for wrong in [
            "",
            "ISO-8601",
            "0",
            "20261399",
            "2026-13-01",
            "12",
            "-1",
            "now",
            "2026",
            "2026-01-25T24:00:00Z",
            "9223372036854775807us",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_are_seconds_or_parts_of_them() {
        let time = |value| of_value(&value).map(|(time, _)| time.as_micros());
        assert_eq!(time(Document::Uint(1_771_079_400)), Some(1_771_079_400_000_000));
        assert_eq!(time(Document::Uint(1_771_079_400_123)), Some(1_771_079_400_123_000));
        assert_eq!(time(Document::Uint(1_771_079_400_123_456)), Some(1_771_079_400_123_456));
        assert_eq!(time(Document::Float(1_771_079_400.5)), Some(1_771_079_400_500_000));
        assert_eq!(time(Document::Number("1771079400.25".into())), Some(1_771_079_400_250_000));
        for wrong in [
            Document::Uint(0),
            Document::Uint(u64::MAX),
            Document::Int(-1),
            Document::Float(f64::NAN),
            Document::Float(f64::INFINITY),
            Document::Number("1e400".into()),
            Document::Bool(true),
        ] {
            assert_eq!(time(wrong), None);
        }
    }
}
