//! Captured files in the lines of an export, with their content where the store has it.

use serde::Serialize;

use crate::checkpoint::Artifact;

/// A captured file with its content.
#[derive(Debug, Serialize)]
pub(super) struct Captured {
    #[serde(flatten)]
    artifact: Artifact,
    // Named as `json::TEXT` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    // Named as `json::HEX` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
    /// True if the store has a content that cannot be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    damaged: bool,
}

impl Captured {
    /// A file, and its content unless the file was deleted.
    pub(super) fn new(artifact: Artifact, content: Option<Vec<u8>>) -> Self {
        let (text, hex) = match content.map(String::from_utf8) {
            None => (None, None),
            Some(Ok(text)) => (Some(text), None),
            Some(Err(error)) => (None, Some(digits(error.as_bytes()))),
        };
        Self { artifact, text, hex, damaged: false }
    }

    /// A file whose content cannot be read.
    pub(super) fn damaged(artifact: Artifact) -> Self {
        Self { artifact, text: None, hex: None, damaged: true }
    }
}

fn digits(bytes: &[u8]) -> String {
    // A table, since a file may have millions of bytes.
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
    text
}
