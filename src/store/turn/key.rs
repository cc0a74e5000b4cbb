//! The key of an open store. The store decides whether saves are sealed, not the process that opens
//! it.
//!
//! Must never let a document of a sealed store be written in plain.

use std::sync::atomic::Ordering;

use crate::codec::{Flaw, Frame, KeyId};
use crate::error::{Error, Result, Subject};
use crate::store::engine::sealing::{bytes_of, flawed, no_key};
use crate::store::turn::open::Open;
use crate::sync::read;

impl Open {
    /// The key that seals everything, if any.
    pub(in crate::store) fn key(&self) -> Option<KeyId> {
        *read(&self.key)
    }

    /// Refuses a save that could not be sealed, and one with a key into a plain store.
    pub(in crate::store) fn check_key(&self) -> Result<()> {
        match self.key() {
            Some(id) => self.need_key(id),
            // A rekey may decrypt the store, which takes the key until it is done.
            None if self.is_rekeying.load(Ordering::Relaxed) => Ok(()),
            None if self.frames.keys().first().is_some() => Err(Error::invalid(
                Subject::NeedlessKey,
                "one was given, and the store is not encrypted",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses an operation that needs a key which was not given.
    pub(in crate::store) fn need_key(&self, id: KeyId) -> Result<()> {
        let found = self.frames.keys().get(id);
        found.map(drop).ok_or_else(|| no_key(self.frames.keys(), "the store", id))
    }

    /// Whether frames can be stored anew.
    pub(in crate::store) fn has_key(&self) -> bool {
        self.key().is_none_or(|id| self.frames.keys().get(id).is_some())
    }

    /// A frame as stored at a place: sealed if the store is.
    pub(in crate::store) fn bytes_of(
        &self,
        frame: &Frame,
        place: u64,
        base: Option<u64>,
    ) -> Result<Vec<u8>> {
        let bytes = bytes_of(&self.frames, frame, (place, base), self.key());
        bytes.map_err(|why| why.error(self.frames.keys()))
    }

    /// The fault of a frame, as an error about its checkpoint or content.
    pub(in crate::store) fn flawed(&self, place: impl Into<String>, flaw: Flaw) -> Error {
        flawed(&self.frames, place, flaw)
    }
}
