//! Whether what is saved is sealed, and with which key: the store says so, whoever opens it.
//!
//! Must never let a document of a sealed store be written in plain.

use std::io;

use crate::codec::{Flaw, Frame, Frames, KeyId, Keyring};
use crate::error::{Error, Result};

/// What everything in a store is sealed with, for who does not have the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::store) enum Sealing {
    /// Nobody wrote it down, or it changes.
    #[default]
    Unknown,
    Plain,
    With(KeyId),
}

impl From<Option<KeyId>> for Sealing {
    fn from(key: Option<KeyId>) -> Self {
        key.map_or(Self::Plain, Self::With)
    }
}

/// Why a frame cannot be sealed.
#[derive(Debug)]
pub(in crate::store) enum Unsealed {
    NoKey(KeyId),
    /// The system has no random numbers.
    NoNonce(io::Error),
}

impl Unsealed {
    /// As an error about the store.
    pub(in crate::store) fn error(self, keys: &Keyring) -> Error {
        match self {
            Self::NoKey(id) => no_key(keys, "the store", id),
            Self::NoNonce(source) => Error::Io { path: "random numbers".into(), source },
        }
    }
}

/// A frame as it is stored at a place and with a base: sealed if there is to be a key.
pub(in crate::store) fn bytes_of(
    frames: &Frames,
    frame: &Frame,
    (place, base): (u64, Option<u64>),
    key: Option<KeyId>,
) -> Result<Vec<u8>, Unsealed> {
    let Some(id) = key else { return Ok(frame.to_bytes(place, base)) };
    let key = frames.keys().get(id).ok_or(Unsealed::NoKey(id))?;
    frame.to_sealed_bytes(place, base, key).map_err(Unsealed::NoNonce)
}

/// What is wrong with a frame, as an error about what it belongs to.
pub(in crate::store) fn flawed(frames: &Frames, place: impl Into<String>, flaw: Flaw) -> Error {
    match flaw {
        Flaw::Damaged(reason) => Error::corrupt(place, reason),
        Flaw::NoKey(id) => no_key(frames.keys(), place, id),
    }
}

/// That something takes a key which is not at hand.
pub(in crate::store) fn no_key(keys: &Keyring, what: impl Into<String>, id: KeyId) -> Error {
    Error::Key { what: what.into(), id: id.to_string(), reason: keys.lack() }
}
