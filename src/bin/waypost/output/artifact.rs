//! Captured files as programs read them, with their content where that is to be kept.

use serde::Serialize;
use waypost::{Artifact, Entry, Store};

/// A captured file with its content.
#[derive(Debug, Serialize)]
pub(crate) struct Kept {
    #[serde(flatten)]
    artifact: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
    /// Whether there is a content that cannot be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    damaged: bool,
}

impl Kept {
    /// A file, and its content unless it was deleted.
    pub(crate) fn new(artifact: Artifact, content: Option<Vec<u8>>) -> Self {
        let (text, hex) = match content.map(String::from_utf8) {
            None => (None, None),
            Some(Ok(text)) => (Some(text), None),
            Some(Err(error)) => (None, Some(digits(error.as_bytes()))),
        };
        Self { artifact, text, hex, damaged: false }
    }

    /// A file whose content cannot be read.
    pub(crate) fn damaged(artifact: Artifact) -> Self {
        Self { artifact, text: None, hex: None, damaged: true }
    }
}

/// The files of a checkpoint; most have none, and then nothing is looked for.
pub(crate) fn artifacts(store: &Store, entry: &Entry) -> waypost::Result<Vec<Artifact>> {
    if entry.artifact_count == 0 { Ok(Vec::new()) } else { store.artifacts(&entry.id) }
}

fn digits(bytes: &[u8]) -> String {
    // A file may have millions of them.
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
    text
}
