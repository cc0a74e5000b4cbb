//! The keys of a repair: those that the old store needs, and the one that seals the new store.
//!
//! Must never turn a sealed store into a plain one.

use std::time::Duration;

use super::Repair;
use super::rows::Rows;
use crate::codec::{FoundFrame, KeyId, Keyring};
use crate::error::Result;
use crate::key::{frame_row, frame_sequence};
use crate::store::care::verify::Verify;
use crate::store::engine::sealing::no_key;
use crate::store::engine::table::{FORMAT_KEY, KEY_KEY};
use crate::store::options::{Hold, Options};

#[derive(Debug, Clone)]
pub(super) struct Keys {
    /// All keys that were given.
    pub(super) ring: Keyring,
    /// The key that seals the new store, if any.
    pub(super) store: Option<KeyId>,
}

impl Keys {
    /// The keys for a store with these rows; an error if the store's own key is not among them.
    pub(super) fn of(repair: &Repair, rows: &Rows) -> Result<Self> {
        let ring = repair.options().keyring();
        let store = match rows.meta.get(KEY_KEY) {
            Some(number) => Some(KeyId::from_number(*number)),
            None if rows.meta.contains_key(FORMAT_KEY) => None,
            // The note of its key is lost. Sealing is the safe choice.
            None => found(rows, &ring).or(ring.first()),
        };
        let keys = Self { ring, store };
        match store.filter(|id| keys.ring.get(*id).is_none()) {
            Some(id) => Err(no_key(&keys.ring, "the store", id)),
            None => Ok(keys),
        }
    }
}

impl Repair {
    /// Options to open stores for the repair.
    #[cfg_attr(not(feature = "encrypt"), expect(clippy::unused_self, reason = "it has no keys"))]
    pub(super) fn options(&self) -> Options {
        Options {
            hold: Hold::Forever,
            #[cfg(feature = "encrypt")]
            keys: self.keys.clone(),
            ..Options::default()
        }
    }

    /// Options to check the new store, which no other process has.
    #[cfg_attr(not(feature = "encrypt"), expect(clippy::unused_self, reason = "it has no keys"))]
    pub(super) fn verify(&self) -> Verify {
        Verify {
            wait: Duration::ZERO,
            #[cfg(feature = "encrypt")]
            keys: self.keys.clone(),
        }
    }

    /// Options to make the new store.
    pub(super) fn options_of_new(&self, keys: &Keys) -> Options {
        #[cfg_attr(not(feature = "encrypt"), expect(unused_mut, reason = "there are no keys"))]
        let mut options = self.options();
        #[cfg(feature = "encrypt")]
        match keys.store {
            // A new store uses the first key.
            Some(id) => options.keys.sort_by_key(|key| key.id() != id),
            None => options.keys.clear(),
        }
        #[cfg(not(feature = "encrypt"))]
        let _ = keys;
        options
    }
}

/// The key of the newest sealed frame; one that is at hand is preferred.
fn found(rows: &Rows, ring: &Keyring) -> Option<KeyId> {
    let is_first = |row: &&[u8; 8]| **row == frame_row(frame_sequence(**row), 0);
    let first = rows.frames.iter().rev().filter(|(row, _)| is_first(row));
    let ids = first.filter_map(|(_, place)| {
        let bytes = rows.value(*place).ok()?;
        FoundFrame::parse(&bytes).ok()?.key
    });
    let mut newest = None;
    for id in ids {
        if ring.get(id).is_some() {
            return Some(id);
        }
        newest = newest.or(Some(id));
    }
    newest
}
