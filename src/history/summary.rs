//! What changed from one document to the next, in a few words.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::checkpoint::{Document, TextStyle};
use crate::diff::{Change, Diff, Pointer};
use crate::text::plain;

// About as much as is read at a glance.
const WORDS_CHARS: usize = 60;
// A longer value is left out: the words only say that it changed.
const VALUE_CHARS: usize = 20;
const PLACE_CHARS: usize = 28;
const POINTERS_MAX: usize = 20;

/// What changed between two documents, in a few words.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// use waypost::history::Summary;
/// use waypost::{Document, diff};
///
/// let old = Document::from_json(br#"{"score": 71, "queue": ["a"]}"#)?;
/// let new = Document::from_json(br#"{"score": 74, "queue": ["a", "b"]}"#)?;
/// let summary = Summary::of(&diff(&old, &new));
/// assert_eq!(summary.words, "/score 71 -> 74, +1 in /queue");
/// assert_eq!(summary.pointers, ["/score", "/queue/1"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// How many changes there are.
    pub changes: usize,
    /// Where the first 20 of them are, as JSON pointers.
    pub pointers: Vec<String>,
    /// About 60 characters that a terminal can show safely: numbers first, and how many more
    /// changes there are.
    pub words: String,
    /// Whether nothing changed at all, not even the order of keys or the spelling of numbers.
    pub is_same: bool,
}

/// Some changes in a few words; a piece with a lower rank comes first.
struct Piece {
    rank: u8,
    changes: usize,
    words: String,
}

/// What happened to the elements of one list.
#[derive(Default)]
struct List {
    place: String,
    added: usize,
    removed: usize,
    moved: usize,
}

impl Summary {
    /// Summarizes what differs.
    #[must_use]
    pub fn of(diff: &Diff<'_>) -> Self {
        let changes = diff.changes();
        let pointers = changes.iter().take(POINTERS_MAX).map(|it| place(it).to_string()).collect();
        let words = match (diff.is_reordered(), diff.is_respelled()) {
            _ if !changes.is_empty() => told(pieces(&changes)),
            (false, false) => "no changes".to_owned(),
            (true, false) => "only the order of keys".to_owned(),
            (false, true) => "only how numbers are spelled".to_owned(),
            (true, true) => "only how it is written".to_owned(),
        };
        let is_same = changes.is_empty() && !diff.is_reordered() && !diff.is_respelled();
        Self { changes: changes.len(), pointers, words, is_same }
    }
}

/// Where a change is: of what was removed, where that was.
fn place<'c>(change: &'c Change<'_>) -> &'c Pointer {
    match change {
        Change::Added { at, .. } | Change::Replaced { at, .. } | Change::Moved { at, .. } => at,
        Change::Removed { from, .. } => from,
    }
}

fn pieces(changes: &[Change<'_>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut lists: Vec<List> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for change in changes {
        let pointer = place(change).as_str();
        if let Change::Replaced { old, new, .. } = change {
            pieces.push(replaced(pointer, old, new));
            continue;
        }
        let Some(list) = list_of(pointer) else {
            let sign = if matches!(change, Change::Removed { .. }) { '-' } else { '+' };
            let words = format!("{sign}{}", short(pointer));
            pieces.push(Piece { rank: 2, changes: 1, words });
            continue;
        };
        let at = *places.entry(list.to_owned()).or_insert_with(|| {
            lists.push(List { place: list.to_owned(), ..List::default() });
            lists.len() - 1
        });
        match change {
            Change::Added { .. } => lists[at].added += 1,
            Change::Removed { .. } => lists[at].removed += 1,
            Change::Moved { .. } | Change::Replaced { .. } => lists[at].moved += 1,
        }
    }
    pieces.extend(lists.iter().map(List::piece));
    pieces.sort_by_key(|piece| piece.rank);
    pieces
}

/// The place of the list that a pointer leads into, if its last step can be an index.
fn list_of(pointer: &str) -> Option<&str> {
    let (list, index) = pointer.rsplit_once('/')?;
    let is_index = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    is_index.then_some(list)
}

impl List {
    fn piece(&self) -> Piece {
        let counts = [('+', self.added), ('-', self.removed), ('~', self.moved)];
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts.map(|(sign, count)| format!("{sign}{count}")).collect();
        let words = format!("{} in {}", counts.join(" "), short(&self.place));
        Piece { rank: 2, changes: self.added + self.removed + self.moved, words }
    }
}

fn replaced(pointer: &str, old: &Document, new: &Document) -> Piece {
    let place = short(pointer);
    match (value(old), value(new)) {
        (Some(old), Some(new)) => {
            // Scores and counts say most about how the work goes.
            let rank = u8::from(old.starts_with('"') || new.starts_with('"'));
            Piece { rank, changes: 1, words: format!("{place} {old} -> {new}") }
        }
        _ => Piece { rank: 3, changes: 1, words: format!("{place} changed") },
    }
}

/// A value, if it is short enough to be shown.
fn value(document: &Document) -> Option<String> {
    let is_long = match document {
        Document::Text(text) => text.len() > 4 * VALUE_CHARS,
        Document::Array(elements) => !elements.is_empty(),
        Document::Object(fields) => !fields.is_empty(),
        Document::Bytes(_) => true,
        _ => false,
    };
    if is_long {
        return None;
    }
    let text = plain(&document.to_json(TextStyle::default()).ok()?);
    (text.chars().count() <= VALUE_CHARS).then_some(text)
}

/// A pointer, or its end.
fn short(pointer: &str) -> String {
    const MORE: &str = "...";
    let pointer = match pointer {
        "" => "(document)".to_owned(),
        // Escapes only the part of a long key that is shown.
        long => plain(tail(long, PLACE_CHARS + 1)),
    };
    let end = tail(&pointer, PLACE_CHARS);
    if end.len() == pointer.len() { pointer } else { format!("{MORE}{end}") }
}

/// The last characters of a text.
fn tail(text: &str, count: usize) -> &str {
    let start = text.char_indices().rev().nth(count.saturating_sub(1)).map_or(0, |(at, _)| at);
    &text[start..]
}

fn told(pieces: Vec<Piece>) -> String {
    let mut left: usize = pieces.iter().map(|piece| piece.changes).sum();
    let mut words = String::new();
    for Piece { changes, words: piece, .. } in pieces {
        let rest = left - changes;
        let more = if rest > 0 { format!(", {rest} more").len() } else { 0 };
        let is_first = words.is_empty();
        if !is_first && words.chars().count() + 2 + piece.chars().count() + more > WORDS_CHARS {
            break;
        }
        if !is_first {
            words.push_str(", ");
        }
        words.push_str(&piece);
        left = rest;
    }
    if left > 0 {
        let _ = write!(words, ", {left} more");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(old: &str, new: &str) -> Summary {
        let [old, new] = [old, new].map(|it| Document::from_json(it.as_bytes()).unwrap());
        Summary::of(&crate::diff::diff(&old, &new))
    }

    fn words(old: &str, new: &str) -> String {
        summary(old, new).words
    }

    #[test]
    fn numbers_come_first_and_lists_are_counted() {
        let old = r#"{"phase": "build", "tasks": ["a"], "queue": [1, 2, 3], "score": 71, "x": 1}"#;
        let new = r#"{"phase": "test", "tasks": ["a", "b", "c"], "queue": [3, 1], "score": 74.5}"#;
        assert_eq!(words(old, new), "/score 71 -> 74.5, /phase \"build\" -> \"test\", -/x, 4 more");
        assert_eq!(words(r#"{"t": [1, 2]}"#, r#"{"t": [2, 1, 3, 4]}"#), "+2 ~1 in /t");
        assert_eq!(words("{}", r#"{"a": 1}"#), "+/a");
    }

    #[test]
    fn changes_that_do_not_fit_are_counted() {
        let fields = |value: &str| {
            let fields = (0..30).map(|it| format!("\"field_{it:02}\": {value}"));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        };
        let Summary { changes, pointers, words, .. } = summary(&fields("1"), &fields("2"));
        assert_eq!((changes, pointers.len()), (30, 20));
        assert_eq!(words, "/field_00 1 -> 2, /field_01 1 -> 2, 28 more");
    }

    #[test]
    fn long_values_and_places_are_shortened() {
        let long = format!("{:?}", "x".repeat(100));
        assert_eq!(words(r#"{"a": 1}"#, &format!("{{\"a\": {long}}}")), "/a changed");
        let key = "k".repeat(100);
        let words = words(&format!("{{\"{key}\": 1}}"), &format!("{{\"{key}\": 2}}"));
        assert_eq!(words, format!("...{} 1 -> 2", "k".repeat(28)));
        assert_eq!(self::words("[1]", "2"), "(document) changed");
    }

    #[test]
    fn nothing_reaches_the_terminal_but_text() {
        let words = words("{}", r#"{"\u001b[31m": 1, "b\u202e": "\n"}"#);
        assert_eq!(words, "+/\\u001b[31m, +/b\\u202e");
        assert_eq!(self::words(r#"{"a": 1}"#, r#"{"a": "\u009b"}"#), "/a 1 -> \"\\u009b\"");
    }

    #[test]
    fn looks_are_no_changes() {
        assert_eq!(words("[1]", "[1]"), "no changes");
        assert_eq!(words("[1]", "[1.0]"), "only how numbers are spelled");
        assert_eq!(words(r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "a": 1}"#), "only the order of keys");
        assert_eq!(summary("[1]", "[1.0]").changes, 0);
    }
}
