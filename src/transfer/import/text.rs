//! From the bytes of a file to a document, before its system is known.

use std::borrow::Cow;
use std::path::Path;

use crate::codec::{Datum, Source};
use crate::error::{Error, Result, Subject};
use crate::store::Limits;
use crate::transfer::gzip;
use crate::transfer::steady::{self, Content, Unread};

/// The longest file that an import reads.
pub(in crate::transfer) fn bytes_max() -> u64 {
    Limits::default().document_bytes as u64
}

/// Reads a file of at most [`bytes_max`].
pub(in crate::transfer) fn read(path: &Path) -> Result<Content, Unread> {
    steady::read(path, bytes_max())
}

/// Why a file holds no document: a crash left it behind.
pub(in crate::transfer) fn debris(bytes: &[u8]) -> Option<&'static str> {
    if bytes.is_empty() {
        Some("empty")
    } else if bytes.iter().all(|byte| *byte == 0) {
        Some("nothing but NUL bytes, as after a crash")
    } else {
        None
    }
}

/// Why a gzip file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(in crate::transfer) enum Unzip {
    #[error("longer than {} bytes once decompressed", bytes_max())]
    TooLong,
    #[error("not a whole file of gzip: {0}")]
    Damaged(Error),
}

/// The text of a file; owned if it was compressed.
pub(in crate::transfer) fn unzipped(bytes: &[u8], limit: u64) -> Result<Cow<'_, [u8]>, Unzip> {
    if !gzip::is_gzip(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    match gzip::decompress(bytes, limit) {
        Ok(text) => Ok(Cow::Owned(text)),
        Err(Error::Limit { .. }) => Err(Unzip::TooLong),
        Err(error) => Err(Unzip::Damaged(error)),
    }
}

/// Reads a text as YAML or JSON, by the name of its file.
pub(in crate::transfer) fn source(name: &str, text: &[u8]) -> Result<Source> {
    let is_yaml = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    if is_yaml { Source::from_yaml(text) } else { Source::from_json(text) }
}

/// True for what an export writes of a native checkpoint: its entry and its document.
pub(in crate::transfer) fn is_dump(document: Datum<'_>) -> bool {
    ["id", "series", "trigger", "created_at", "document"]
        .into_iter()
        .all(|key| document.get(key).is_some())
}

/// The message without `invalid document`: a report has the path of the file in front of it.
pub(in crate::transfer) fn said(error: &Error) -> String {
    match error {
        Error::Invalid { what: Subject::Document(None) | Subject::TextAfterDocument, reason } => {
            reason.clone()
        }
        other => other.to_string(),
    }
}
