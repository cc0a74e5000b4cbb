//! The text of a file as a document, before it is known what it says.

use std::borrow::Cow;

use waypost::{Document, Error, Source};

use super::read;
use waypost::transfer::gzip;

/// Files that a crash left behind, by what is in them.
pub(in crate::command) fn debris(bytes: &[u8]) -> Option<&'static str> {
    if bytes.is_empty() {
        Some("empty")
    } else if bytes.iter().all(|byte| *byte == 0) {
        Some("nothing but NUL bytes, as after a crash")
    } else {
        None
    }
}

/// Why a file of gzip cannot be read.
#[derive(Debug, thiserror::Error)]
pub(in crate::command) enum Unzip {
    #[error("longer than {} bytes once decompressed", read::bytes_max())]
    TooLong,
    #[error("not a whole file of gzip: {0}")]
    Damaged(Error),
}

/// The text of a file; owned if it was compressed.
pub(in crate::command) fn unzipped(bytes: &[u8], limit: u64) -> Result<Cow<'_, [u8]>, Unzip> {
    if !gzip::is_gzip(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    match gzip::decompress(bytes, limit) {
        Ok(text) => Ok(Cow::Owned(text)),
        Err(Error::Limit { .. }) => Err(Unzip::TooLong),
        Err(error) => Err(Unzip::Damaged(error)),
    }
}

/// The document of a text; its name tells the language.
pub(in crate::command) fn source(name: &str, text: &[u8]) -> waypost::Result<Source> {
    let is_yaml = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    if is_yaml { Source::from_yaml(text) } else { Source::from_json(text) }
}

/// What `export` writes of a native checkpoint: its entry, and its document.
pub(in crate::command) fn is_dump(document: &Document) -> bool {
    ["id", "series", "trigger", "created_at", "document"]
        .into_iter()
        .all(|key| document.get(key).is_some())
}

/// Without `invalid document`, which is the file whose path stands before it.
pub(in crate::command) fn said(error: &Error) -> String {
    let text = error.to_string();
    text.strip_prefix("invalid document: ").map_or_else(|| text.clone(), str::to_owned)
}
