//! The error that stops an encoder or decoder, and its place in the document.

use std::fmt::{self, Display, Write as _};

use serde::de::{Expected, Unexpected};

use super::wire::Malformed;
use crate::error::{Error, Subject};

/// Why a document does not fit a type, as far as a caller acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// An object lacks this field.
    Missing(&'static str),
    /// A value is null.
    Null,
    Other,
}

/// The path is built while the call stack unwinds, so that success costs nothing.
#[derive(Debug)]
pub(super) struct Fault(Box<Inner>);

#[derive(Debug)]
struct Inner {
    /// Innermost first.
    path: Vec<Step>,
    reason: Reason,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

#[derive(Debug)]
enum Reason {
    /// The bytes are not a document.
    Malformed,
    /// The value cannot be stored, or is not of the requested type.
    Refused(String),
    /// An object lacks a field of the requested type.
    Missing(&'static str),
    /// A null is not of the requested type; with what was expected.
    Null(String),
    /// There is text after the end of the document.
    TextAfter(String),
    Limit {
        what: &'static str,
        limit: usize,
    },
}

impl Fault {
    pub(super) fn refused(reason: impl Display) -> Self {
        Self::of(Reason::Refused(reason.to_string()))
    }

    pub(super) fn text_after(reason: impl Display) -> Self {
        Self::of(Reason::TextAfter(reason.to_string()))
    }

    pub(super) fn limit(what: &'static str, limit: usize) -> Self {
        Self::of(Reason::Limit { what, limit })
    }

    fn of(reason: Reason) -> Self {
        Self(Box::new(Inner { path: Vec::new(), reason }))
    }

    pub(super) fn in_key(mut self, key: &str) -> Self {
        self.0.path.push(Step::Key(key.to_owned()));
        self
    }

    pub(super) fn at_index(mut self, index: usize) -> Self {
        self.0.path.push(Step::Index(index));
        self
    }

    pub(super) fn misfit(&self) -> Misfit {
        match &self.0.reason {
            Reason::Missing(field) => Misfit::Missing(field),
            Reason::Null(_) => Misfit::Null,
            Reason::Malformed
            | Reason::Refused(_)
            | Reason::TextAfter(_)
            | Reason::Limit { .. } => Misfit::Other,
        }
    }

    /// The public error; `place` names the whole document.
    pub(super) fn into_error(self, place: &str) -> Error {
        let pointer = self.pointer();
        match &self.0.reason {
            Reason::Malformed => Error::corrupt(place, "not a well-formed document"),
            Reason::Refused(_) | Reason::Missing(_) | Reason::Null(_) => {
                Error::invalid(Subject::from(place).at(&pointer), self.to_string())
            }
            Reason::TextAfter(reason) => {
                Error::invalid(Subject::TextAfterDocument, reason.as_str())
            }
            Reason::Limit { what, limit } => {
                let at = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
                Error::Limit { what: format!("{what} of the {place}{at}"), limit: *limit as u64 }
            }
        }
    }

    /// RFC 6901, truncated if a deep document would fill the screen.
    fn pointer(&self) -> String {
        const STEPS_SHOWN: usize = 16;
        let mut text = String::new();
        for step in self.0.path.iter().rev().take(STEPS_SHOWN) {
            let _ = match step {
                Step::Key(key) => write!(text, "/{}", key.replace('~', "~0").replace('/', "~1")),
                Step::Index(index) => write!(text, "/{index}"),
            };
        }
        if self.0.path.len() > STEPS_SHOWN {
            text.push_str("/...");
        }
        text
    }
}

impl From<Malformed> for Fault {
    fn from(_: Malformed) -> Self {
        Self::of(Reason::Malformed)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.reason {
            Reason::Malformed => f.write_str("not a well-formed document"),
            Reason::Refused(reason) | Reason::TextAfter(reason) => f.write_str(reason),
            Reason::Missing(field) => write!(f, "missing field `{field}`"),
            Reason::Null(expected) => write!(f, "found null, expected {expected}"),
            Reason::Limit { what, limit } => write!(f, "{what} is beyond {limit}"),
        }
    }
}

impl std::error::Error for Fault {}

impl serde::ser::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self::refused(message)
    }
}

impl serde::de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self::refused(message)
    }

    // serde's own wording quotes the value, and messages must not carry content.
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        if let Unexpected::Unit | Unexpected::Option = unexpected {
            return Self::of(Reason::Null(expected.to_string()));
        }
        Self::refused(format_args!("found {}, expected {expected}", kind(&unexpected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::refused(format_args!("found another {}, expected {expected}", kind(&unexpected)))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::of(Reason::Missing(field))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::refused(format_args!("unknown variant, expected one of {}", expected.join(", ")))
    }
}

fn kind(unexpected: &Unexpected<'_>) -> &'static str {
    match unexpected {
        Unexpected::Bool(_) => "boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "integer",
        Unexpected::Float(_) => "number",
        Unexpected::Char(_) | Unexpected::Str(_) => "text",
        Unexpected::Bytes(_) => "bytes",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "array",
        Unexpected::Map => "object",
        _ => "value",
    }
}
