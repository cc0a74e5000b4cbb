//! Texts for people: numbers, ages and names in a form that is read at a glance.
//!
//! Knows nothing of checkpoints, and never writes to a terminal itself.

use std::path::Path;
use std::time::Duration;

/// A date further ahead of the clock than this is shown without the days until then.
pub const FAR: Duration = Duration::from_hours(99 * 365 * 24);
// Clocks of two machines differ by some seconds.
const SKEW: Duration = Duration::from_mins(1);

/// Returns a count with its noun: `1 file`, `2,000 files`.
#[must_use]
pub fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { several })
}

/// Returns a number with a comma before every three digits.
///
/// ```
/// assert_eq!(waypost::text::grouped(1_234_567), "1,234,567");
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let lead = digits.len() % 3;
    let is_start = |at: usize| at > 0 && at % 3 == lead;
    digits.char_indices().fold(String::new(), |mut text, (at, digit)| {
        if is_start(at) {
            text.push(',');
        }
        text.push(digit);
        text
    })
}

/// Returns an age in its largest unit, rounded down: `59s`, `47h`, `2d`.
#[must_use]
pub fn age(age: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match age.as_secs() {
        seconds if seconds < MINUTE => format!("{seconds}s"),
        seconds if seconds < HOUR => format!("{}m", seconds / MINUTE),
        // Within two days, hours still tell one working day from the next.
        seconds if seconds < 2 * DAY => format!("{}h", seconds / HOUR),
        seconds => format!("{}d", seconds / DAY),
    }
}

/// Returns how long ago a date is, in `words` such as those of [`age`], or how far it is ahead of
/// the clock: `2h ago`, `in 2d`. One of the two durations is zero.
///
/// ```
/// use std::time::Duration;
/// use waypost::text::{age, ago};
///
/// let day = Duration::from_secs(86_400);
/// assert_eq!(ago(day, Duration::ZERO, age), "24h ago");
/// assert_eq!(ago(Duration::ZERO, 2 * day, age), "in 2d");
/// ```
#[must_use]
pub fn ago(passed: Duration, left: Duration, words: impl Fn(Duration) -> String) -> String {
    match ahead(left) {
        Some(left) if left > FAR => "in more than 99 years".to_owned(),
        Some(left) => format!("in {}", words(left)),
        None => format!("{} ago", words(passed)),
    }
}

/// Returns how far a date is ahead of the clock, if that is more than a difference between two
/// clocks.
#[must_use]
pub fn ahead(left: Duration) -> Option<Duration> {
    Some(left).filter(|left| *left > SKEW)
}

/// Returns a name as a shell takes it: in single quotes unless it is plain.
#[must_use]
pub fn quoted(name: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_:./@".contains(it);
    if name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', "'\\''"))
}

/// Returns the command that moves something out of the way that lies where the store has a file or
/// folder of its own.
#[must_use]
pub fn move_away(path: &Path) -> String {
    let path = path.display().to_string();
    let aside = quoted(&format!("{path}.aside"));
    format!("move it away: mv {} {aside}", quoted(&path))
}

/// Returns the command that makes a store with several names a file of its own. The journals and
/// spools beside its other names stay.
#[must_use]
pub fn linked_advice(path: &Path) -> String {
    let path = path.display().to_string();
    let (own, path) = (quoted(&format!("{path}.own")), quoted(&path));
    format!(
        "while no process uses it, make it a file of its own: cp {path} {own} && mv {own} {path}"
    )
}

/// Returns a text that can neither control a terminal nor mislead its reader: hidden characters
/// are written as JSON escapes.
///
/// ```
/// assert_eq!(waypost::text::plain("red: \u{1b}[31m"), "red: \\u001b[31m");
/// ```
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut plain, char| {
        match char {
            '\n' => plain.push_str("\\n"),
            '\r' => plain.push_str("\\r"),
            '\t' => plain.push_str("\\t"),
            char if is_hidden(char) => plain.push_str(&escape(char)),
            char => plain.push(char),
        }
        plain
    })
}

/// Whether a character controls a terminal, changes the order in which others are shown, or is
/// invisible.
///
/// Joiners (U+200C, U+200D) and U+FE0F are not among them: some languages and many emoji need them.
#[must_use]
pub fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            // Direction of text.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Line ends that are not newlines.
            | '\u{2028}' | '\u{2029}'
            // Invisible ones; the last range spells text that only programs see.
            | '\u{ad}' | '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{200b}'
            | '\u{2060}'..='\u{2065}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}'
            // Letters that look like a blank or like nothing.
            | '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
            // Variants of the character before, which most fonts do not have.
            | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0e}' | '\u{e0100}'..='\u{e01ef}'
        )
}

/// Returns a character as a JSON escape.
#[must_use]
pub fn escape(char: char) -> String {
    let mut units = [0; 2];
    let units = char.encode_utf16(&mut units).iter();
    units.map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (12_345, "12,345"),
            (123_456, "123,456"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn ages_are_in_their_largest_unit() {
        let days = |days: u64| days * 24 * 60 * 60;
        for (seconds, text) in
            [(59, "59s"), (60, "1m"), (7199, "1h"), (days(2) - 1, "47h"), (days(2), "2d")]
        {
            assert_eq!(age(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_terminal_gets_no_control_characters() {
        assert_eq!(plain("a\u{1b}[31m\u{9b}b\n"), "a\\u001b[31m\\u009bb\\n");
    }
}
