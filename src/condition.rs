//! Conditions on documents, as a person types them: `/score < 50 and not /phase == build`.
//!
//! Knows nothing of stores or terminals. Takes any text: an invalid condition is refused with its
//! column.

mod parse;
#[cfg(test)]
mod tests;
mod token;
mod value;

use std::cmp::Ordering;
use std::str::FromStr;

use self::parse::parse;
use self::value::Value;
use crate::checkpoint::Document;
use crate::diff::Pointer;
use crate::error::{Error, Result};

/// A condition on a document.
///
/// ```
/// use waypost::{Condition, Document};
///
/// # fn main() -> waypost::Result<()> {
/// let condition: Condition = "/score < 50 and not /phase == build".parse()?;
/// assert!(condition.holds(&Document::from_json(br#"{"score": 49.9}"#)?));
/// assert!(!condition.holds(&Document::from_json(br#"{"score": 1, "phase": "build"}"#)?));
/// # Ok(())
/// # }
/// ```
///
/// A test is a JSON pointer (RFC 6901; in quotes if it has spaces, or is empty for the whole
/// document) and one of
///
/// - `<`, `<=`, `>`, `>=` and a number or a text: numbers are compared exactly, texts by their
///   characters, and values of different kinds never hold;
/// - `==`, `!=` and a value: numbers are compared by value and not by spelling; `!=` holds where a
///   value is there and is another one;
/// - `~` and a value: a text has it in it, a list has it as an element, an object has it as a key;
/// - `exists` and `absent`.
///
/// A value is a number, `true`, `false`, `null`, a text in double quotes as in JSON, or a word.
/// Tests are combined by `not`, `and`, `or`, which bind in this order, and by parentheses.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    root: Node,
    pointers: Vec<Pointer>,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Test(Test),
}

#[derive(Debug, Clone, PartialEq)]
struct Test {
    pointer: Pointer,
    asks: Asks,
}

/// The test of a value.
#[derive(Debug, Clone, PartialEq)]
enum Asks {
    Exists,
    Absent,
    Has(Relation, Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
    Contains,
}

impl Condition {
    /// Tells whether a document meets it.
    #[must_use]
    pub fn holds(&self, document: &Document) -> bool {
        self.root.holds(document)
    }

    /// Returns the places that it tests, each once, in the order they are named.
    #[must_use]
    pub fn pointers(&self) -> &[Pointer] {
        &self.pointers
    }
}

impl FromStr for Condition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let root = parse(text)?;
        let mut pointers = Vec::new();
        root.add_pointers(&mut pointers);
        Ok(Self { root, pointers })
    }
}

impl Node {
    fn holds(&self, document: &Document) -> bool {
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.holds(document)),
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(document)),
            Self::Not(node) => !node.holds(document),
            Self::Test(Test { pointer, asks }) => asks.of(pointer.find(document)),
        }
    }

    fn add_pointers(&self, pointers: &mut Vec<Pointer>) {
        match self {
            Self::All(nodes) | Self::Any(nodes) => {
                for node in nodes {
                    node.add_pointers(pointers);
                }
            }
            Self::Not(node) => node.add_pointers(pointers),
            Self::Test(Test { pointer, .. }) if pointers.contains(pointer) => {}
            Self::Test(Test { pointer, .. }) => pointers.push(pointer.clone()),
        }
    }
}

impl Asks {
    fn of(&self, found: Option<&Document>) -> bool {
        match self {
            Self::Exists => found.is_some(),
            Self::Absent => found.is_none(),
            Self::Has(relation, value) => found.is_some_and(|found| relation.holds(found, value)),
        }
    }
}

impl Relation {
    fn holds(self, found: &Document, value: &Value) -> bool {
        match self {
            Self::Less => value.compare(found).is_some_and(Ordering::is_lt),
            Self::AtMost => value.compare(found).is_some_and(Ordering::is_le),
            Self::Greater => value.compare(found).is_some_and(Ordering::is_gt),
            Self::AtLeast => value.compare(found).is_some_and(Ordering::is_ge),
            Self::Equal => value.equals(found),
            Self::Unequal => !value.equals(found),
            Self::Contains => value.is_within(found),
        }
    }
}
