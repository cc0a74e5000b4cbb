//! Turns names from documents and people into safe parts of paths.

use crate::codec::check;

// What common file systems take.
const PART_BYTES: usize = 255;
// Leaves room for what a layout puts around a name.
const NAME_BYTES: usize = 200;
// A longer name keeps this many bytes, to be recognisable, before its hash.
const CUT_BYTES: usize = 160;

/// The rule for names.
pub(super) const RULE: &str = "must be able to name a file";

/// Names of devices on Windows, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// Tells whether a path with `/` stays below where it starts, on any system.
pub(super) fn is_path(path: &str) -> bool {
    path.split('/').all(is_part)
}

/// True if a text can be part of a file name: no separator, and no hidden file.
pub(super) fn is_name(text: &str) -> bool {
    is_part(text) && !text.starts_with('.') && text.len() <= NAME_BYTES
}

/// On Windows a backslash separates parts, and a colon names a drive or a stream.
fn is_part(text: &str) -> bool {
    let leads_away = |it: char| matches!(it, '/' | '\\' | ':') || it.is_control();
    !matches!(text, "" | "." | "..") && text.len() <= PART_BYTES && !text.contains(leads_away)
}

/// A unique file name for any text.
///
/// Letters, digits, `-`, `_` and inner `.` stay; all else is a `%` and two hexadecimal digits for
/// each byte. If capitals or the length could make two names equal, `~` and a hash of the text
/// follow, so names are unique on case-insensitive file systems, too.
pub(super) fn safe_name(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for (at, byte) in text.bytes().enumerate() {
        let is_edge = at == 0 || at + 1 == text.len();
        match byte {
            b'a'..=b'z' if at == 0 && is_device(text) => name.push_str(&escaped(byte)),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if !is_edge => name.push('.'),
            _ => name.push_str(&escaped(byte)),
        }
    }
    let is_alone = !text.bytes().any(|byte| byte.is_ascii_uppercase()) && name.len() <= NAME_BYTES;
    if is_alone {
        return name;
    }
    name.truncate(CUT_BYTES);
    format!("{name}~{}", hash(text))
}

/// Sixteen hexadecimal digits that are the same for the same text.
pub(super) fn hash(text: &str) -> String {
    format!("{:016x}", check(0, text.as_bytes()))
}

fn escaped(byte: u8) -> String {
    format!("%{byte:02x}")
}

fn is_device(text: &str) -> bool {
    let stem = text.split('.').next().unwrap_or_default();
    let letters = stem.trim_end_matches(|it: char| it.is_ascii_digit());
    stem.len() <= 4 && DEVICES.contains(&letters)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        let long = "a".repeat(256);
        for wrong in [
            "", ".", "..", "../a", "a/b", "/a", "a\\b", "a\0", "a\nb", "\u{85}", "c:d", ".a", &long,
        ] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
        for right in ["a", "PROJ-42", "a.b", "a..b", "\u{e9}t\u{e9}", "a b", "~"] {
            assert!(is_name(right), "{right:?}");
        }
        for wrong in ["", "/a", "a//b", "a/../b", "./a", "a/", "a/b\\c", &long] {
            assert!(!is_path(wrong), "{wrong:?}");
        }
        assert!(is_path(".claude/crunch/42/a..b"));
    }

    #[test]
    fn any_text_has_a_name_of_its_own_even_where_case_does_not_count() {
        let long = ["a".repeat(300), "a".repeat(301), "a".repeat(299) + "b"];
        let mut texts = vec![
            "loop:x", "loop%3ax", "loop/x", "a", "A", "%41", "..", ".", "%2e", "a.", "a", "con",
            "%63on", "con.x", "com1", "com", "a~b", "a\0", "a\n", "a ", " a", "Ab", "aB", "\u{e9}",
            "",
        ];
        texts.extend(long.iter().map(String::as_str));
        texts.sort_unstable();
        texts.dedup();
        let names: BTreeSet<String> =
            texts.iter().map(|text| safe_name(text).to_lowercase()).collect();
        assert_eq!(names.len(), texts.len());
        assert_eq!(safe_name("loop:ralph-x-a1b2c3d4"), "loop%3aralph-x-a1b2c3d4");
        assert_eq!(safe_name("con"), "%63on");
        assert!(safe_name("issue:PROJ-42").starts_with("issue%3aPROJ-42~"));
    }

    proptest! {
        #[test]
        fn a_safe_name_is_one_part_of_a_path(text in "(?s).{1,300}", other in "(?s).{1,10}") {
            prop_assert!(is_name(&safe_name(&text)), "{}", safe_name(&text));
            let is_same = safe_name(&text).eq_ignore_ascii_case(&safe_name(&other));
            prop_assert_eq!(is_same, text == other);
        }
    }
}
