//! Cuts values that are too long for their line.

/// A text cut to `room` characters, dots included. The result has at least the three dots.
pub(super) fn shortened(text: &str, room: Option<usize>) -> String {
    const MORE: &str = "...";
    let Some(room) = room else { return text.to_owned() };
    // A text never has more characters than bytes.
    if text.len() <= room || text.chars().nth(room).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(MORE.len())).collect();
    kept + MORE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_only_where_it_is_too_long() {
        for (text, room, expected) in [
            ("abcdef", None, "abcdef"),
            ("abcdef", Some(6), "abcdef"),
            ("abcdef", Some(5), "ab..."),
            ("\u{e9}\u{e9}\u{e9}\u{e9}", Some(4), "\u{e9}\u{e9}\u{e9}\u{e9}"),
            ("abcdef", Some(0), "..."),
        ] {
            assert_eq!(shortened(text, room), expected);
        }
    }
}
