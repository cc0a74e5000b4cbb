//! Bytes to documents and entries, and back.
//!
//! The only module that names bincode, zstd, XXH3, SHA-256 and the cipher. `docs/FORMAT.md`
//! specifies what it writes.

mod artifact;
mod compact;
mod compress;
mod datum;
mod decode;
mod deleted;
mod dependents;
mod encode;
mod fault;
mod frame;
mod hash;
mod holders;
mod json;
mod key;
mod keyring;
mod note;
mod placed;
#[cfg(feature = "encrypt")]
mod seal;
mod sealed;
mod source;
mod spooled;
mod text;
mod token;
mod v1;
mod wire;
mod yaml;

#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::io::Write;

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned, IgnoredAny};
use twox_hash::{XxHash3_64, XxHash3_128};

use crate::checkpoint::{Checkpoint, Document, TextStyle};
use crate::error::{Error, Result};

pub(crate) use artifact::{decode_artifact, encode_artifact};
#[cfg(feature = "transfer")]
pub(crate) use datum::Tokened;
pub(crate) use datum::{Datum, Kind};
pub(crate) use deleted::{decode_deleted, encode_deleted};
pub(crate) use dependents::{decode_dependents, encode_dependents};
pub(crate) use fault::Misfit;
pub(crate) use frame::{FoundFrame, Frame, Frames};
pub(crate) use holders::{Holders, decode_holders, encode_holders};
pub use keyring::KeyId;
pub(crate) use keyring::Keyring;
pub(crate) use note::{decode_note, encode_note};
pub(crate) use placed::Placed;
#[cfg(feature = "encrypt")]
pub use seal::SecretKey;
pub(crate) use sealed::Flaw;
pub use source::Source;
#[cfg(test)]
pub(crate) use spooled::encode_spooled;
pub(crate) use spooled::{SPOOLED_HEAD_BYTES, decode_spooled, spooled_count, spooled_identity};
use text::Appending;
pub use text::JsonStyle;
pub(crate) use token::Bounds;
pub(crate) use v1::{
    NameKind, cause, decode_entry, decode_id, derived_tail, encode_entry, may_have_tail,
    parse_cause,
};

// Every stack frame of the decoder is small; a deeper limit would still fit a 2 MiB stack.
const DEPTH_READ: usize = 1024;
// A style comes from a record or a line of an export, and a wide one multiplies the length.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 30;

/// The error for a text longer than this.
pub(crate) fn too_long() -> Error {
    let what = "length in bytes of the document in its style".to_owned();
    Error::Limit { what, limit: TEXT_BYTES_MAX as u64 }
}

/// The stored form of any value; `expected_bytes` is its approximate length.
pub(crate) fn encode(
    value: &(impl Serialize + ?Sized),
    bounds: Bounds,
    expected_bytes: usize,
) -> Result<Vec<u8>> {
    let mut tokens = token::Tokens::new(bounds, expected_bytes);
    value
        .serialize(encode::Encoder(&mut tokens))
        .and_then(|()| tokens.finish())
        .map_err(|fault| fault.into_error("document"))
}

/// The stored form of a JSON text.
pub(crate) fn encode_json(json: &[u8], bounds: Bounds) -> Result<Vec<u8>> {
    json::read(json, bounds).map_err(|fault| fault.into_error("document"))
}

/// A JSON text as a tree; errors call it `place`.
pub(crate) fn read_json(json: &[u8], place: &str) -> Result<Document> {
    let raw = json::read(json, Bounds::DEFAULT).map_err(|fault| fault.into_error(place))?;
    let mut decoder = decode::Decoder::new(&raw, DEPTH_READ);
    Document::deserialize(&mut decoder).map_err(|fault| fault.into_error(place))
}

/// Any value as another type; errors call it `place`, and name the part that does not fit.
pub(crate) fn convert<T: DeserializeOwned>(value: &impl Serialize, place: &str) -> Result<T> {
    fit(value, place).map_err(|(error, _)| error)
}

/// As [`convert`]; an error says why the value does not fit.
pub(crate) fn fit<T: DeserializeOwned>(
    value: &impl Serialize,
    place: &str,
) -> Result<T, (Error, Misfit)> {
    let raw = encode(value, Bounds::DEFAULT, 0).map_err(|error| (error, Misfit::Other))?;
    let mut decoder = decode::Decoder::new(&raw, DEPTH_READ);
    T::deserialize(&mut decoder).map_err(|fault| {
        let misfit = fault.misfit();
        (fault.into_error(place), misfit)
    })
}

/// XXH3, the checksum of everything on disk.
pub(crate) fn check(seed: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

/// XXH3 with 128 bits, the checksum of the engine's pages.
pub(crate) fn check_wide(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// Length of the document at the start of raw bytes; `None` if there is none.
pub(crate) fn document_bytes(raw: &[u8]) -> Option<usize> {
    let mut decoder = decode::Decoder::new(raw, DEPTH_READ);
    IgnoredAny::deserialize(&mut decoder).ok()?;
    Some(raw.len() - decoder.rest().len())
}

/// A YAML text as a tree; errors call it `place`. The tree keeps duplicate keys.
pub(crate) fn read_yaml(text: &[u8], place: &str) -> Result<Document> {
    yaml::read(text, Bounds::DEFAULT).map_err(|reason| Error::invalid(place, reason))
}

impl Document {
    /// Returns JSON text in any style.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it has a number that is none, or [`Error::Limit`] if it is nested
    /// deeper than any document in a store, or longer than 1 GiB in this style.
    pub fn to_json(&self, style: TextStyle) -> Result<String> {
        // Whatever a store takes, and what a layout has around it.
        let bounds = Bounds { bytes: usize::MAX, depth: DEPTH_READ };
        let raw = encode(self, bounds, 0)?;
        let text = text::to_text_within(&raw, style, TEXT_BYTES_MAX);
        text.map_err(|_| Error::invalid("document", text::Damaged))?.ok_or_else(too_long)
    }

    /// Reads JSON text, within the default limits.
    ///
    /// # Errors
    /// [`Error::Invalid`] with line, column and JSON pointer, or [`Error::Limit`].
    pub fn from_json(json: &[u8]) -> Result<Self> {
        read_json(json, "document")
    }
}

impl Checkpoint {
    /// Returns the document as a type of the caller's own.
    ///
    /// Reads the stored bytes directly, and skips what `T` does not ask for.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a JSON pointer if the document does not have the shape of `T`.
    pub fn state<'de, T: Deserialize<'de>>(&'de self) -> Result<T> {
        let mut decoder = decode::Decoder::new(self.stored_form(), DEPTH_READ);
        T::deserialize(&mut decoder)
            .and_then(|value| decoder.finish().map(|()| value))
            .map_err(|fault| fault.into_error(&self.place()))
    }

    /// Returns the document as a tree.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the stored bytes are not a document.
    pub fn document(&self) -> Result<Document> {
        self.state()
    }

    /// Returns the document with an index of its values, which takes less than a tree.
    ///
    /// # Errors
    /// As [`document`](Self::document).
    #[cfg(feature = "transfer")]
    pub(crate) fn tokened(&self) -> Result<Tokened<'_>> {
        let tokened = Tokened::new(self.stored_form());
        tokened.map_err(|malformed| fault::Fault::from(malformed).into_error(&self.place()))
    }

    /// Returns the document in stored form, as [`docs::format`](crate::docs::format) specifies it.
    #[must_use]
    pub fn stored_form(&self) -> &[u8] {
        // The text that it was read from may follow.
        let end = usize::try_from(self.entry.document_bytes).unwrap_or(usize::MAX);
        self.raw.get(..end).unwrap_or(&self.raw)
    }

    /// Writes the document as JSON text, without building a tree.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the stored bytes are not a document, [`Error::Io`] from `out`.
    pub fn write_json(&self, out: &mut impl Write, style: JsonStyle) -> Result<()> {
        text::write(self.stored_form(), style, out).map_err(|error| {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<text::Damaged>());
            if inner.is_some() {
                return Error::corrupt(self.place(), error);
            }
            Error::Io { path: "output".into(), source: error }
        })
    }

    /// Appends the document as compact JSON text, without building a tree: for many documents
    /// through one buffer. If that fails, the buffer is as it was.
    ///
    /// ```
    /// use waypost::{NewEntry, Store};
    ///
    /// # fn main() -> waypost::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::open(dir.path().join("store.redb"))?;
    /// let saved = store.save(NewEntry::default(), &[1, 2])?;
    /// let mut line = b"document: ".to_vec();
    /// store.get(&saved.id)?.append_json(&mut line)?;
    /// assert_eq!(line, b"document: [1,2]");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the stored bytes are not a document, or [`Error::Limit`] if the text
    /// is longer than 1 GiB.
    pub fn append_json(&self, out: &mut Vec<u8>) -> Result<()> {
        text::append(self.stored_form(), out).map_err(|unwritten| match unwritten {
            Appending::Damaged => Error::corrupt(self.place(), text::Damaged),
            Appending::TooLong => too_long(),
        })
    }

    /// Returns the document as JSON text.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the stored bytes are not a document.
    pub fn to_json(&self, style: JsonStyle) -> Result<String> {
        self.to_text(style.into())
    }

    /// Returns the text of the file that it came from, byte for byte, if it came from one.
    ///
    /// Of a compressed file this is the uncompressed text.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the stored bytes are not a document, or [`Error::Limit`] if a style
    /// makes more than 1 GiB of it.
    pub fn source_text(&self) -> Result<Option<Cow<'_, [u8]>>> {
        let Some(form) = &self.entry.source else { return Ok(None) };
        let Some(style) = form.style else {
            let text = self.raw.get(self.stored_form().len()..).unwrap_or_default();
            return Ok(Some(Cow::Borrowed(text)));
        };
        Ok(Some(Cow::Owned(self.to_text(style)?.into_bytes())))
    }

    fn to_text(&self, style: TextStyle) -> Result<String> {
        let text = text::to_text_within(self.stored_form(), style, TEXT_BYTES_MAX);
        text.map_err(|_| Error::corrupt(self.place(), text::Damaged))?.ok_or_else(too_long)
    }

    fn place(&self) -> String {
        format!("checkpoint {}", self.entry.id)
    }
}
