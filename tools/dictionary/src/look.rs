//! Texts that look like another: a time for a time, a path for a path, words for words.

use std::sync::LazyLock;

use crate::random::Random;

/// What prose and names are made of: words that come up when programs are written.
static WORDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("words.txt").split_whitespace().collect());
const WORD_CHARS_MAX: usize = 24;
// Shorter ones are versions and counts, which hardly ever change.
const NUMERAL_CHARS_MAX: usize = 4;

/// Whether a text is one of a few that may stand at its place: a status, a phase, a verdict.
pub(crate) fn is_word(text: &str) -> bool {
    let is_lower = text.bytes().all(|it| it.is_ascii_lowercase() || it == b'_');
    let is_upper =
        text.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_');
    text.len() <= WORD_CHARS_MAX
        && text.starts_with(|it: char| it.is_ascii_alphabetic())
        && (is_lower || is_upper)
}

/// Another text of the same look.
pub(crate) fn alike(text: &str, random: &mut Random) -> String {
    let is_numeral = text.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    if is_numeral && text.len() <= NUMERAL_CHARS_MAX {
        return text.to_owned();
    }
    if is_time(text) {
        return time(text, random);
    }
    if text.contains(' ') {
        return prose(text, random);
    }
    name(text, random)
}

fn is_time(text: &str) -> bool {
    text.len() >= "2026-01-01T00:00:00".len()
        && text.is_ascii()
        && text.as_bytes()[10] == b'T'
        && text[..4].bytes().all(|it| it.is_ascii_digit())
}

/// The fraction keeps its digits' number, and the zone stays.
fn time(text: &str, random: &mut Random) -> String {
    let (year, month, day) = (2025 + random.below(2), 1 + random.below(12), 1 + random.below(28));
    let (hour, minute, second) = (random.below(24), random.below(60), random.below(60));
    let start = format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    let rest = &text[start.len()..];
    let zone_at = rest.find(['+', '-', 'Z']).unwrap_or(rest.len());
    let fraction = digits(&rest[..zone_at], random);
    [&start, fraction.as_str(), &rest[zone_at..]].concat()
}

/// Words for words, one more or less; what has no letters or digits stays.
fn prose(text: &str, random: &mut Random) -> String {
    let mut words: Vec<String> = text.split(' ').map(|word| runs(word, random, word_for)).collect();
    match random.below(3) {
        0 => drop(words.pop()),
        1 => words.push((*random.choose(&WORDS)).to_owned()),
        _ => {}
    }
    words.join(" ")
}

/// An id, a path, a branch, an address: what it starts and ends with often says what it is.
fn name(text: &str, random: &mut Random) -> String {
    let start = text.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(0);
    let end = text.rfind('.').filter(|dot| text.len() - dot <= 5 && *dot >= start);
    let end = end.unwrap_or(text.len());
    let has_prefix = text[..start].bytes().all(|it| it.is_ascii_alphabetic());
    let start = if has_prefix { start } else { 0 };
    let middle = runs(&text[start..end], random, |run, random| {
        // Folders and projects come again, so half of them stay.
        if random.below(2) == 0 { run.to_owned() } else { word_for(run, random) }
    });
    [&text[..start], middle.as_str(), &text[end..]].concat()
}

/// Replaces each run of letters by `word`, and each of digits or of a hash by others.
fn runs(text: &str, random: &mut Random, word: impl Fn(&str, &mut Random) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_run = first.is_ascii_alphanumeric();
        let end = rest.find(|it: char| it.is_ascii_alphanumeric() != is_run);
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        out += &match run {
            _ if !is_run => run.to_owned(),
            _ if run.bytes().all(|it| it.is_ascii_alphabetic()) => word(run, random),
            _ if run.bytes().all(|it| it.is_ascii_hexdigit()) => digits(run, random),
            _ => run.to_owned(),
        };
        rest = after;
    }
    out
}

/// A word that is written like another one.
fn word_for(like: &str, random: &mut Random) -> String {
    let word = *random.choose(&WORDS);
    let is_upper = |at: usize| like.as_bytes().get(at).is_some_and(u8::is_ascii_uppercase);
    match (is_upper(0), is_upper(1)) {
        (true, true) => word.to_ascii_uppercase(),
        (true, false) => word[..1].to_ascii_uppercase() + &word[1..],
        (false, _) => word.to_owned(),
    }
}

/// Other digits for decimal digits, or for those of a hash; zeros in front stay.
fn digits(text: &str, random: &mut Random) -> String {
    let is_hash = text.bytes().any(|it| it.is_ascii_alphabetic());
    let zeros = text.len() - text.trim_start_matches('0').len();
    let other = text.char_indices().map(|(at, it)| {
        if !it.is_ascii_hexdigit() || (at < zeros && !is_hash) {
            return it;
        }
        let base = if is_hash { 16 } else { 10 };
        char::from_digit(random.below(base), base).unwrap_or(it)
    });
    other.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every letter as `a`, every digit as `0`.
    fn outline(text: &str) -> String {
        let sign = |it: char| match it {
            _ if it.is_ascii_digit() => '0',
            _ if it.is_ascii_alphabetic() => 'a',
            _ => it,
        };
        text.chars().map(sign).collect()
    }

    #[test]
    fn times_and_numbers_keep_their_outline() {
        for text in ["2026-02-10T10:21:07.654321+05:00", "2026-02-10T10:21:07Z", "PROJ-104"] {
            for seed in 0..20 {
                let other = alike(text, &mut Random::new(seed));
                assert_eq!(outline(&other), outline(text), "{other}");
            }
        }
    }

    #[test]
    fn a_path_keeps_its_folders_and_its_ending() {
        for seed in 0..20 {
            let other = alike("src/auth/tokens.py", &mut Random::new(seed));
            let (folders, ending) = other.split_once('.').unwrap();
            assert!(folders.starts_with("src/") && ending == "py", "{other}");
            assert_eq!(folders.matches('/').count(), 2, "{other}");
        }
    }

    #[test]
    fn versions_stay_and_words_are_told_from_names() {
        assert_eq!(alike("2.1", &mut Random::new(1)), "2.1");
        assert!(is_word("in_progress") && is_word("STAGE_2") && is_word("PASS"));
        assert!(!is_word("") && !is_word("two words") && !is_word("API-427") && !is_word("a1"));
    }
}
