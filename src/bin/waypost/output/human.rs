//! Short forms of numbers, times and ids for people.

use std::collections::HashSet;
use std::time::Duration;

use waypost::text::{self, age};
pub(crate) use waypost::text::{counted, grouped, plain, quoted};
pub(crate) use waypost::transfer::size::size;
use waypost::{Id, Timestamp};

/// As [`age`] of something from `then`; `in 2d` if that is ahead of `now`.
pub(crate) fn age_of(then: Timestamp, now: Timestamp) -> String {
    match text::ahead(then.saturating_since(now)) {
        Some(left) if left > text::FAR => "in >99y".to_owned(),
        Some(left) => format!("in {}", age(left)),
        None => age(now.saturating_since(then)),
    }
}

/// How long before `now` something was; `in 2d` if it is ahead.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    since(then, now, age)
}

/// The same in words: `12 minutes ago`, `in 2 days`.
pub(crate) fn ago_in_words(then: Timestamp, now: Timestamp) -> String {
    since(then, now, |passed| {
        let age = age(passed);
        let (number, unit) = age.split_at(age.len() - 1);
        let unit = match unit {
            "s" => "second",
            "m" => "minute",
            "h" => "hour",
            _ => "day",
        };
        let plural = if number == "1" { "" } else { "s" };
        format!("{number} {unit}{plural}")
    })
}

fn since(then: Timestamp, now: Timestamp, words: impl Fn(Duration) -> String) -> String {
    text::ago(now.saturating_since(then), then.saturating_since(now), words)
}

/// A score in few characters.
pub(crate) fn rounded(score: f64) -> String {
    if score.abs() >= 1e9 {
        return format!("{score:.2e}");
    }
    let text = format!("{score:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The shortest prefix, in whole UUID groups, that distinguishes these ids.
pub(crate) fn short_length(ids: &[&Id]) -> usize {
    // The first 13 characters of a UUIDv7 are its time in milliseconds; the rest is random.
    const GROUPS: [usize; 4] = [13, 18, 23, 36];
    let are_told_apart = |length: &usize| {
        let mut seen = HashSet::new();
        ids.iter().all(|id| seen.insert(short_id(id, *length)))
    };
    GROUPS.into_iter().find(are_told_apart).unwrap_or(36)
}

/// The first characters of a UUID, or the whole of another id.
pub(crate) fn short_id(id: &Id, length: usize) -> String {
    let id = id.as_str();
    let is_uuid = id.len() == 36 && uuid::Uuid::try_parse(id).is_ok();
    if is_uuid { id[..length].to_owned() } else { plain(id) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dated_ahead_is_not_old() {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        assert_eq!(ago(at(0), at(7200)), "2h ago");
        assert_eq!(ago(at(5), at(0)), "0s ago");
        assert_eq!(ago(at(61), at(0)), "in 1m");
        assert_eq!(ago_in_words(at(61), at(0)), "in 1 minute");
        assert_eq!(ago_in_words(at(3 * 86_400), at(0)), "in 3 days");
        assert_eq!(ago(at(i64::MAX / 1_000_000), at(0)), "in more than 99 years");
        assert_eq!(age_of(at(i64::MAX / 1_000_000), at(0)), "in >99y");
        assert_eq!(age_of(at(0), at(7200)), "2h");
        assert_eq!(age_of(at(60), at(0)), "0s");
        assert_eq!(age_of(at(2 * 86_400), at(0)), "in 2d");
        assert_eq!(ago_in_words(at(0), at(725)), "12 minutes ago");
        assert_eq!(ago_in_words(at(0), at(3600)), "1 hour ago");
    }

    #[test]
    fn only_a_uuid_is_shortened() {
        let short = |text: &str| short_id(&Id::new(text).unwrap(), 13);
        assert_eq!(short("019a8b2c-d3e4-7000-8000-0123456789ab"), "019a8b2c-d3e4");
        assert_eq!(
            short("CP-20260125-150000-and-much-more-than"),
            "CP-20260125-150000-and-much-more-than"
        );
    }

    #[test]
    fn ids_are_as_short_as_can_be_told_apart() {
        let length = |ids: &[&str]| {
            let ids: Vec<Id> = ids.iter().map(|id| Id::new(*id).unwrap()).collect();
            short_length(&ids.iter().collect::<Vec<_>>())
        };
        let first = "019a8b2c-d3e4-7000-8000-0123456789ab";
        assert_eq!(length(&[first, "019a8b2c-d3e5-7000-8000-0123456789ab"]), 13);
        assert_eq!(length(&[first, "019a8b2c-d3e4-7001-8000-0123456789ab"]), 18);
        assert_eq!(length(&[first, "019a8b2c-d3e4-7000-8000-0123456789ac"]), 36);
    }
}
