//! Cuts texts to terminal columns, wide and combining characters included.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// A text in at most `room` columns. A cut is marked with dots if they fit.
pub(crate) fn cut(text: &str, room: usize) -> String {
    const MORE: &str = "...";
    if text.width() <= room {
        return text.to_owned();
    }
    let (room, end) = if room > MORE.len() { (room - MORE.len(), MORE) } else { (room, "") };
    start(text.chars(), room) + end
}

/// The same, cut in the middle.
pub(crate) fn cut_middle(text: &str, room: usize) -> String {
    const MORE: &str = "...";
    if text.width() <= room || room <= MORE.len() {
        return cut(text, room);
    }
    // Names differ more often at their end.
    let left = room - MORE.len();
    let start = start(text.chars(), left / 2);
    let end: String = self::start(text.chars().rev(), left - left / 2).chars().rev().collect();
    start + MORE + &end
}

/// The leading characters that fit into `room` columns.
fn start(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut taken = 0;
    let fits = |character: &char| {
        taken += character.width().unwrap_or(0);
        taken <= room
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_start_and_its_end() {
        for (text, room, expected) in [
            ("abcdefgh", 8, "abcdefgh"),
            ("abcdefgh", 7, "ab...gh"),
            ("abcdefgh", 6, "a...gh"),
            ("abcdefgh", 3, "abc"),
            ("\u{4e2d}\u{6587}\u{5b57}\u{4e2d}\u{6587}", 7, "\u{4e2d}...\u{6587}"),
        ] {
            assert_eq!(cut_middle(text, room), expected, "{text} {room}");
            assert!(columns(&cut_middle(text, room)) <= room);
        }
    }

    #[test]
    fn a_text_is_cut_by_the_columns_it_takes() {
        for (text, room, expected) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "ab..."),
            ("abcdef", 2, "ab"),
            ("abcdef", 0, ""),
            // Each takes two columns.
            ("\u{4e2d}\u{6587}\u{5b57}", 6, "\u{4e2d}\u{6587}\u{5b57}"),
            ("\u{4e2d}\u{6587}\u{5b57}", 5, "\u{4e2d}..."),
            // A letter and an accent that takes none.
            ("e\u{301}e\u{301}", 2, "e\u{301}e\u{301}"),
        ] {
            assert_eq!(cut(text, room), expected, "{text} {room}");
            assert!(columns(&cut(text, room)) <= room);
        }
    }
}
