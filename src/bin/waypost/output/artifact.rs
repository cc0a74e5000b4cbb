//! Captured files as programs read them, with their content where that is to be kept.

use std::fmt::Write as _;

use serde::Serialize;
use waypost::{Artifact, Entry, Store};

/// The files of a checkpoint.
pub(crate) const ARTIFACTS: &str = "artifacts";
/// The content of a file.
pub(crate) const TEXT: &str = "text";
/// The same, in hexadecimal digits, where it is not UTF-8.
pub(crate) const HEX: &str = "hex";

/// A captured file with its content.
#[derive(Debug, Serialize)]
pub(crate) struct Kept {
    #[serde(flatten)]
    artifact: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

impl Kept {
    /// A file, and its content unless it was deleted.
    pub(crate) fn new(artifact: Artifact, content: Option<Vec<u8>>) -> Self {
        let (text, hex) = match content.map(String::from_utf8) {
            None => (None, None),
            Some(Ok(text)) => (Some(text), None),
            Some(Err(error)) => (None, Some(digits(error.as_bytes()))),
        };
        Self { artifact, text, hex }
    }
}

/// The files of a checkpoint; most have none, and then nothing is looked for.
pub(crate) fn artifacts(store: &Store, entry: &Entry) -> waypost::Result<Vec<Artifact>> {
    if entry.artifact_count == 0 { Ok(Vec::new()) } else { store.artifacts(&entry.id) }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
