//! Places in a document, as RFC 6901 writes them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::checkpoint::Document;
use crate::error::{Error, Result};

/// A JSON pointer: empty for the whole document, else `/` and a key or index for each step.
///
/// ```
/// use waypost::Document;
/// use waypost::diff::Pointer;
///
/// # fn main() -> waypost::Result<()> {
/// let document = Document::from_json(br#"{"tasks": ["plan", "code"]}"#)?;
/// let pointer: Pointer = "/tasks/1".parse()?;
/// assert_eq!(pointer.find(&document), Some(&Document::Text("code".to_owned())));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer(String);

impl Pointer {
    /// Returns the text of the pointer, with `~` and `/` in keys as `~0` and `~1`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns what it points to in a document, if there is anything: of a key that stands twice,
    /// the last.
    #[must_use]
    pub fn find<'d>(&self, document: &'d Document) -> Option<&'d Document> {
        // What stands before the first slash is empty.
        self.0.split('/').skip(1).try_fold(document, |found, step| match found {
            Document::Object(_) => found.get(&unescaped(step)),
            Document::Array(elements) => elements.get(index(step)?),
            _ => None,
        })
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

impl FromStr for Pointer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let invalid = |reason: &str| Error::invalid("pointer", format_args!("{text:?} {reason}"));
        if !text.is_empty() && !text.starts_with('/') {
            return Err(invalid("does not start with a slash, as in /state/score"));
        }
        let mut escapes = text.split('~').skip(1);
        if escapes.any(|rest| !rest.starts_with(['0', '1'])) {
            return Err(invalid("has a ~ that is neither ~0, for itself, nor ~1, for a slash"));
        }
        Ok(Self(text.to_owned()))
    }
}

fn unescaped(step: &str) -> Cow<'_, str> {
    if step.contains('~') {
        // In this order: ~01 is a tilde and a one.
        return Cow::Owned(step.replace("~1", "/").replace("~0", "~"));
    }
    Cow::Borrowed(step)
}

/// The index that a step means in an array; with a sign or a zero before it, it means none.
fn index(step: &str) -> Option<usize> {
    let is_plain = step == "0" || step.starts_with(|it: char| matches!(it, '1'..='9'));
    step.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pointer: &str) -> Option<Document> {
        let text = |text: &str| Document::Text(text.to_owned());
        let keys = ["foo", "", "a/b", "m~n", "~1", "0", "twice", "twice"];
        let fields = keys.iter().enumerate().map(|(at, key)| {
            let value = if at == 0 {
                Document::Array(vec![text("bar"), text("baz")])
            } else {
                Document::Uint(at as u64)
            };
            ((*key).to_owned(), value)
        });
        let document = Document::Object(fields.collect());
        pointer.parse::<Pointer>().unwrap().find(&document).cloned()
    }

    #[test]
    fn a_pointer_finds_what_its_steps_lead_to() {
        for (pointer, at) in [("/", 1), ("/a~1b", 2), ("/m~0n", 3), ("/~01", 4), ("/0", 5)] {
            assert_eq!(found(pointer), Some(Document::Uint(at)), "{pointer}");
        }
        assert_eq!(found("/foo/1"), Some(Document::Text("baz".to_owned())));
        assert_eq!(found("/twice"), Some(Document::Uint(7)));
        assert!(matches!(found(""), Some(Document::Object(_))));
    }

    #[test]
    fn where_nothing_is_nothing_is_found() {
        for pointer in
            ["/x", "/foo/2", "/foo/-", "/foo/+1", "/foo/01", "/foo/", "/foo/1/x", "/foo/1e0", "//"]
        {
            assert_eq!(found(pointer), None, "{pointer}");
        }
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        for wrong in ["score", "#/score", "/a~", "/a~2", " /a"] {
            assert!(wrong.parse::<Pointer>().is_err(), "{wrong}");
        }
    }
}
