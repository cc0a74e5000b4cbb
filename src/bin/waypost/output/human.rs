//! Numbers, times and texts in a form that a person takes in at a glance.

use std::collections::HashSet;
use std::time::Duration;

pub(crate) use waypost::text::{age, counted, grouped, plain, quoted};
pub(crate) use waypost::transfer::size::size;
use waypost::{Id, Timestamp};

/// How long before `now` something was. A clock that was set back makes it seem to come.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    since(then, now, age)
}

/// The same as it is said: `12 minutes ago`.
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
    // Clocks of two machines differ by some seconds.
    const SKEW: Duration = Duration::from_mins(1);
    if then.saturating_since(now) > SKEW {
        return "in the future".to_owned();
    }
    format!("{} ago", words(now.saturating_since(then)))
}

/// A score in few characters.
pub(crate) fn rounded(score: f64) -> String {
    if score.abs() >= 1e9 {
        return format!("{score:.2e}");
    }
    let text = format!("{score:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How many characters of UUIDs it takes to tell these ids apart, in whole groups of them.
pub(crate) fn short_length(ids: &[&Id]) -> usize {
    // Up to 13 a UUIDv7 is its time in milliseconds; the rest is chance.
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
        assert_eq!(ago(at(61), at(0)), "in the future");
        assert_eq!(ago_in_words(at(61), at(0)), "in the future");
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
