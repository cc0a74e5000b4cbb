//! Quotes words of documents inside sentences.
//!
//! Output has no line ends, no control characters, and a bounded length.

use std::borrow::Cow;

/// How many of a list are named.
pub(super) const NAMED_MAX: usize = 20;
// Longer than real branch names; paths may be cut.
const CHARS_MAX: usize = 200;

/// A name in quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("{:?}", cut(name))
}

/// A number or an address, which needs no quotes to be read.
pub(super) fn plain(name: &str) -> String {
    cut(name).escape_debug().to_string()
}

/// Names one after the other, and how many there are beyond those that are named.
pub(super) fn listed(names: impl IntoIterator<Item = String>) -> String {
    let mut names = names.into_iter();
    let first: Vec<String> = names.by_ref().take(NAMED_MAX).collect();
    let first = first.join(", ");
    match names.count() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn cut(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(CHARS_MAX) {
        None => name.into(),
        Some((end, _)) => format!("{}...", &name[..end]).into(),
    }
}
