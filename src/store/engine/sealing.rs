//! Whether what is saved is sealed, and with which key: the store says so, whoever opens it.
//!
//! Must never let a document of a sealed store be written in plain.

use std::io;
use std::sync::atomic::Ordering;

use redb::ReadableTable as _;

use crate::codec::{Flaw, Frame, Frames, KeyId, Keyring};
use crate::error::{Error, Result};
use crate::store::engine::table::{
    FORMAT_KEY, In, KEY_KEY, META, PLAIN_FORMAT, REKEY_KEY, SEALED_FORMAT,
};
use crate::store::save::write::Writer;
use crate::store::turn::open::Open;
use crate::sync::read;

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

impl Open {
    /// The key that everything is to be sealed with, if it is.
    pub(in crate::store) fn key(&self) -> Option<KeyId> {
        *read(&self.key)
    }

    /// Refuses to save what could not be sealed, and what was to be sealed and would not be.
    pub(in crate::store) fn check_key(&self) -> Result<()> {
        match self.key() {
            Some(id) => self.need_key(id),
            // Whoever decrypts it said so, and until all is done it takes the key to read it.
            None if self.is_rekeying.load(Ordering::Relaxed) => Ok(()),
            None if self.frames.keys().first().is_some() => {
                Err(Error::invalid("key", "one was given, and the store is not encrypted"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what takes a key that was not given.
    pub(in crate::store) fn need_key(&self, id: KeyId) -> Result<()> {
        let found = self.frames.keys().get(id);
        found.map(drop).ok_or_else(|| no_key(self.frames.keys(), "the store", id))
    }

    /// Whether frames can be stored anew.
    pub(in crate::store) fn has_key(&self) -> bool {
        self.key().is_none_or(|id| self.frames.keys().get(id).is_some())
    }

    /// A frame as it is stored at a place: sealed if the store is.
    pub(in crate::store) fn bytes_of(
        &self,
        frame: &Frame,
        place: u64,
        base: Option<u64>,
    ) -> Result<Vec<u8>> {
        let bytes = bytes_of(&self.frames, frame, (place, base), self.key());
        bytes.map_err(|why| why.error(self.frames.keys()))
    }

    /// What is wrong with a frame, as an error about what it belongs to.
    pub(in crate::store) fn flawed(&self, place: impl Into<String>, flaw: Flaw) -> Error {
        flawed(&self.frames, place, flaw)
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

impl Writer<'_> {
    /// Notes what everything is to be sealed with from now on, in a store that may have both.
    pub(in crate::store) fn expect_key(&mut self, key: Option<KeyId>) -> Result<()> {
        let mut meta = self.transaction.open_table(META).within(self.path)?;
        if !self.may_lag() {
            meta.insert(FORMAT_KEY, u64::from(SEALED_FORMAT)).within(self.path)?;
        }
        match key {
            Some(id) => meta.insert(KEY_KEY, id.number()).within(self.path)?,
            None => meta.remove(KEY_KEY).within(self.path)?,
        };
        // Whoever is killed on the way leaves it, so that nobody takes all for sealed.
        meta.insert(REKEY_KEY, 1).within(self.path)?;
        Ok(())
    }

    /// Notes that everything is as it is to be; if nothing is sealed, also that builds that know
    /// nothing of it can read the store.
    pub(in crate::store) fn note_rekeyed(&mut self) -> Result<()> {
        let mut meta = self.transaction.open_table(META).within(self.path)?;
        meta.remove(REKEY_KEY).within(self.path)?;
        if meta.get(KEY_KEY).within(self.path)?.is_none() && !self.may_lag() {
            meta.insert(FORMAT_KEY, u64::from(PLAIN_FORMAT)).within(self.path)?;
        }
        Ok(())
    }
}
