//! Places in a document, as RFC 6901 writes them.

use std::fmt;

/// A JSON pointer: empty for the whole document, else `/` and a key or index for each step.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(String);

impl Pointer {
    /// Returns the text of the pointer, with `~` and `/` in keys as `~0` and `~1`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Goes one step on, in place since keys can be long, and returns the length to go back to.
    pub(super) fn push(&mut self, step: Step<'_>) -> usize {
        let length = self.0.len();
        self.0.push('/');
        match step {
            Step::Index(index) => self.0.push_str(&index.to_string()),
            Step::Key(key) => {
                for character in key.chars() {
                    match character {
                        '~' => self.0.push_str("~0"),
                        '/' => self.0.push_str("~1"),
                        other => self.0.push(other),
                    }
                }
            }
        }
        length
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// An element of what it points to.
    pub(super) fn index(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }
}

/// A step of a pointer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'k> {
    Key(&'k str),
    Index(usize),
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
