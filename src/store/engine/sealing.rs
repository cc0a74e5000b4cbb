//! Whether saves are sealed, and with which key. The store decides this, not the process that opens
//! it.
//!
//! Must never write a document of a sealed store in plain.
//!
//! # Who may save
//!
//! The store says which key it is under (`meta`). A handle without that key cannot save, and a
//! handle with a key cannot save into a plain store, unless it is being decrypted. Listing,
//! tagging, deleting (not for good) and undeleting need no key. Without one, a policy prunes
//! nothing on save and nothing expires, since what loses its base would have to be stored anew.
//! While a change of key is unfinished, the same holds for each checkpoint whose dependents take a
//! key that is not at hand.
//!
//! A spooling process does not have the store, so the lock holder writes its key id into the lock
//! file, and takes that back before `rekey` changes it. Where it is not written, or the key is not
//! at hand, a save waits for the store. After spooling, a process checks the key again before the
//! save counts, and takes back what has another key by now; `rekey` takes in what was there before.
//! So nothing is left that the new key alone cannot read.
//!
//! # Limits of what a seal promises
//!
//! Nonces are random: sequences would repeat, since two copies of a store give out the same ones. A
//! frame is bound to its sequence, but not to its store. Who can write the file can remove
//! checkpoints, put back older ones, change entries, take frames of another store with the same
//! key, or put in plain frames, since a store whose key is being changed has those too; `verify`
//! counts them. He can neither read sealed frames nor make any. A spooled frame has no sequence yet
//! and is bound to its key alone, so in the spool he can also give one checkpoint the document of
//! another.
//!
//! Memory is not protected, except for the key, which lies in one place and is overwritten when it
//! goes. The code that reads it from a file, or makes it, has had it on its stack.
//!
//! A missing key is `Error::Key` and never damage: a sum over what is stored tells them apart
//! without the key. `verify` without the key checks what is stored by that sum and counts what it
//! could not look into; that is no finding. `repair` takes all keys that exist, or changes nothing:
//! what it packs anew is sealed with the key of the store, or, if that note is lost, of its newest
//! sealed frame. `backup` copies pages and takes no key; without one it says how many saves wait in
//! the spool, which the copy then lacks.
//!
//! # Changing the key
//!
//! `rekey` notes the new key, so that from then on all saves take it. Then it stores every frame
//! and content anew in transactions of some thousand rows or 4 MiB. Only what was plain is
//! decompressed, to get its sum. A kill leaves a store with both keys, readable with both, and the
//! same call continues. During all of it `meta` has a mark (`rekey`), which `stats`, `doctor` and
//! `verify` report; a backup has it too, and a repair makes everything anew and needs none.
//! `verify` also counts what is not under the key of the store. The journal is removed at the
//! start. Old pages are free then and not overwritten; `compact` gives them back to the file
//! system, which may keep their content.

use std::io;

use crate::codec::{Flaw, Frame, Frames, KeyId, Keyring};
use crate::error::{Error, Result};

/// The key of a store, for a process that does not have the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::store) enum Sealing {
    /// The lock file does not say it, or it is about to change.
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

/// A frame as stored at a sequence and with a base; sealed if there is a key.
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

/// The fault of a frame, as an error about its checkpoint or content.
pub(in crate::store) fn flawed(frames: &Frames, place: impl Into<String>, flaw: Flaw) -> Error {
    match flaw {
        Flaw::Damaged(reason) => Error::corrupt(place, reason),
        Flaw::NoKey(id) => no_key(frames.keys(), place, id),
    }
}

/// The error for a missing key.
pub(in crate::store) fn no_key(keys: &Keyring, what: impl Into<String>, id: KeyId) -> Error {
    Error::Key { what: what.into(), id: id.to_string(), reason: keys.lack() }
}
