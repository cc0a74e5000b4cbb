//! The parts of two texts that differ, with some lines around them.

use std::fmt;
use std::ops::Range;

use super::Line;

// Lines around a change that show where it is.
const CONTEXT: usize = 2;

/// Changes that lie together. Printed as its header in a unified diff.
///
/// ```
/// use waypost::diff::{Line, hunks, lines};
///
/// let lines = lines("a\nb\n", "a\nc\n");
/// let hunks = hunks(&lines);
/// assert_eq!(hunks[0].to_string(), "@@ -1,2 +1,2 @@");
/// assert_eq!(hunks[0].lines, [Line::Kept("a\n"), Line::Removed("b\n"), Line::Added("c\n")]);
/// ```
#[derive(Debug)]
pub struct Hunk<'l, 't> {
    /// Its lines, with those around the changes.
    pub lines: &'l [Line<'t>],
    old: Extent,
    new: Extent,
}

/// Lines of one text.
#[derive(Debug)]
struct Extent {
    /// How many are before.
    before: usize,
    count: usize,
}

impl Extent {
    fn of(before: &[Line<'_>], lines: &[Line<'_>], is_in: impl Fn(&Line<'_>) -> bool) -> Self {
        let count = |lines: &[Line<'_>]| lines.iter().filter(|line| is_in(line)).count();
        Self { before: count(before), count: count(lines) }
    }
}

/// Returns all parts of two texts that differ, by their lines, with some lines around them.
#[must_use]
pub fn hunks<'l, 't>(lines: &'l [Line<'t>]) -> Vec<Hunk<'l, 't>> {
    let mut rest = 0;
    let mut hunks: Vec<Hunk<'l, 't>> = Vec::new();
    for range in ranges(lines) {
        // Only what is between is counted, lest many hunks take long.
        let (between, lines) = (&lines[rest..range.start], &lines[range.clone()]);
        let mut old = Extent::of(between, lines, |line| !matches!(line, Line::Added(_)));
        let mut new = Extent::of(between, lines, |line| !matches!(line, Line::Removed(_)));
        if let Some(last) = hunks.last() {
            old.before += last.old.before + last.old.count;
            new.before += last.new.before + last.new.count;
        }
        hunks.push(Hunk { lines, old, new });
        rest = range.end;
    }
    hunks
}

/// The places of changes and of what is around them.
fn ranges(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| !matches!(line, Line::Kept(_))) {
        let (from, to) = (at.saturating_sub(CONTEXT), lines.len().min(at + CONTEXT + 1));
        match ranges.last_mut() {
            Some(last) if from <= last.end => last.end = to,
            _ => ranges.push(from..to),
        }
    }
    ranges
}

impl fmt::Display for Hunk<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@@ -{} +{} @@", self.old, self.new)
    }
}

impl fmt::Display for Extent {
    /// As in unified diffs: the first line and the count; of no lines, the one before.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.before + usize::from(self.count > 0);
        write!(f, "{first},{}", self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::lines;

    fn headers(old: &str, new: &str) -> Vec<String> {
        hunks(&lines(old, new)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn changes_that_are_near_share_a_hunk() {
        let old: String = (0..20).map(|it| it.to_string() + "\n").collect();
        let changed = |numbers: &[&str]| {
            numbers.iter().fold(old.clone(), |text, it| {
                text.replace(&format!("\n{it}\n"), &format!("\nx{it}\ny\n"))
            })
        };
        assert_eq!(headers(&old, &changed(&["10"])), ["@@ -9,5 +9,6 @@"]);
        assert_eq!(headers(&old, &changed(&["10", "14"])), ["@@ -9,9 +9,11 @@"]);
        let apart = ["@@ -4,5 +4,6 @@", "@@ -15,5 +16,6 @@"];
        assert_eq!(headers(&old, &changed(&["5", "16"])), apart);
        assert_eq!(headers("", "a\n"), ["@@ -0,0 +1,1 @@"]);
        assert!(headers(&old, &old).is_empty());
    }
}
