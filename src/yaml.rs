//! YAML text as a tree: every node with its place, every scalar as `PyYAML`'s safe loader has it.
//!
//! Keys stay in order, and duplicates are kept; `<<` is a key like any other. Must never panic,
//! recurse without bound, or grow beyond its bounds, whatever the text.

mod build;
mod scalar;
#[cfg(test)]
mod tests;

use std::fmt;

use granit_parser::{Parser, ScanError, options};

use self::build::Builder;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: LineColumn,
    pub(crate) value: Value,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// An integer below zero.
    Int(i64),
    /// An integer from zero up.
    Uint(u64),
    /// An integer that neither of them holds, in decimal.
    BigInt(String),
    /// A number with a point, and how it was written.
    Float {
        value: f64,
        text: String,
    },
    Text(String),
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

/// Line and column, from one; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineColumn {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The limits of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Of the text, and of all its scalars once aliases stand for what they name.
    pub(crate) bytes: usize,
    /// Sequences and mappings within each other.
    pub(crate) depth: usize,
    /// Once aliases stand for what they name.
    pub(crate) nodes: usize,
}

/// The reason that a text is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) place: LineColumn,
    pub(crate) reason: String,
}

/// Reads a text of one document; no document counts as null.
pub(crate) fn read(text: &[u8], bounds: Bounds) -> Result<Node, Fault> {
    if text.len() > bounds.bytes {
        return Err(Fault::new(
            LineColumn::START,
            format_args!("longer than {} bytes", bounds.bytes),
        ));
    }
    let text = utf8(text)?;
    let options = options! {
        emit_comments: false,
        flow_nesting_limit: bounds.depth,
        block_nesting_limit: bounds.depth,
    };
    let mut builder = Builder::new(bounds);
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next?;
        builder.take(event, LineColumn::of(span.start))?;
    }
    Ok(builder.finish())
}

/// The text without a byte order mark.
fn utf8(text: &[u8]) -> Result<&str, Fault> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let (right, _) = text.split_at(error.valid_up_to());
        Fault::new(LineColumn::after(&String::from_utf8_lossy(right)), "not UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

impl LineColumn {
    const START: Self = Self { line: 1, column: 1 };

    fn of(marker: granit_parser::Marker) -> Self {
        Self { line: marker.line(), column: marker.col() + 1 }
    }

    fn after(text: &str) -> Self {
        let line = text.split('\n').count();
        let column = text.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column }
    }
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}

impl Fault {
    fn new(place: LineColumn, reason: impl fmt::Display) -> Self {
        Self { place, reason: reason.to_string() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

impl From<ScanError> for Fault {
    fn from(error: ScanError) -> Self {
        Self::new(LineColumn::of(*error.marker()), error.kind())
    }
}
