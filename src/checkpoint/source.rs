//! The file that a checkpoint came from, beyond what its document tells.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Timestamp;

/// What is needed, beside the document, to write the very file that a checkpoint came from.
///
/// See [`Source`](crate::source::Source) for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceForm {
    /// The language of the text.
    pub format: Format,
    /// How the text is laid out, if the document and this give it back byte for byte; else the
    /// text is kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub style: Option<TextStyle>,
    /// Whether the file is compressed by gzip.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_gzip: bool,
    /// The permissions of the file, such as `0o600`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mode: Option<u32>,
    /// When the file was last written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub modified_at: Option<Timestamp>,
    /// Which line of the file it is, from one, where each line is a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u64>,
    /// Length of the text, if it is kept.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub text_bytes: u64,
}

/// The language of a text.
///
/// See [`Source`](crate::source::Source) for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON, and what Python writes beyond it.
    #[default]
    Json,
    /// YAML.
    Yaml,
    /// Neither: the bytes are kept, and the document is null.
    Unreadable,
}

/// How a JSON text is laid out.
///
/// See [`Source`](crate::source::Source) for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct TextStyle {
    /// What stands between keys, values and elements.
    pub spacing: Spacing,
    /// Whether all that is not ASCII is written as `\u` escapes.
    pub is_ascii: bool,
    /// Whether the text ends in a line end.
    pub has_final_newline: bool,
    /// Whether the text starts with a byte order mark.
    pub has_byte_order_mark: bool,
}

/// What stands between keys, values and elements of a JSON text.
///
/// See [`Source`](crate::source::Source) for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    /// Nothing: `{"a":1,"b":2}`.
    #[default]
    Compact,
    /// One space in one line: `{"a": 1, "b": 2}`.
    Spaced,
    /// One element a line, with this number of spaces a level.
    Indent(u8),
    /// One element a line, one tab a level.
    Tab,
}

// serde hands out a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}
