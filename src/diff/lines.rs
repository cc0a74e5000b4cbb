//! Texts line by line.

use super::align::align;
use super::tree::hash_of;

/// A line of one text or of both, with its end if it has one.
///
/// See [`Hunk`](crate::diff::Hunk) for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'t> {
    /// In both texts.
    Kept(&'t str),
    /// In the old text only.
    Removed(&'t str),
    /// In the new text only.
    Added(&'t str),
}

/// Returns the lines of both texts in order; where they differ, the old ones first.
///
/// Takes time in proportion to the length of the texts.
#[must_use]
pub fn lines<'t>(old: &'t str, new: &'t str) -> Vec<Line<'t>> {
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let hashes = |lines: &[&str]| lines.iter().map(|line| hash_of(0, line)).collect::<Vec<_>>();
    let mut lines = Vec::new();
    let (mut i, mut j) = (0, 0);
    let kept = align(&hashes(&old), &hashes(&new));
    let kept = kept.into_iter().filter(|(i, j)| old[*i] == new[*j]);
    for (next_i, next_j) in kept.chain([(old.len(), new.len())]) {
        lines.extend(old[i..next_i].iter().copied().map(Line::Removed));
        lines.extend(new[j..next_j].iter().copied().map(Line::Added));
        lines.extend(old.get(next_i).copied().map(Line::Kept));
        (i, j) = (next_i + 1, next_j + 1);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_end_is_part_of_its_line() {
        use Line::{Added, Kept, Removed};
        assert_eq!(
            lines("a\nb\nc\n", "a\nx\nc"),
            [Kept("a\n"), Removed("b\n"), Removed("c\n"), Added("x\n"), Added("c")]
        );
        assert_eq!(lines("", "a\n"), [Added("a\n")]);
        assert_eq!(lines("", ""), []);
    }
}
