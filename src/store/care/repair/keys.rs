//! The keys of a repair: what it takes to read the old store, and what the new one is sealed with.
//!
//! Must never let a store that was sealed become one that is not.

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
    /// All that were given.
    pub(super) ring: Keyring,
    /// What the new store is sealed with, if it is.
    pub(super) store: Option<KeyId>,
}

impl Keys {
    /// Those of a repair of a store with these rows, unless the key of that is not among them.
    pub(super) fn of(repair: &Repair, rows: &Rows) -> Result<Self> {
        let ring = repair.options().keyring();
        let store = match rows.meta.get(KEY_KEY) {
            Some(number) => Some(KeyId::from_number(*number)),
            None if rows.meta.contains_key(FORMAT_KEY) => None,
            // What it was sealed with is lost. Better sealed than not.
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
    /// How stores are opened for it.
    #[cfg_attr(not(feature = "encrypt"), expect(clippy::unused_self, reason = "it has no keys"))]
    pub(super) fn options(&self) -> Options {
        Options {
            hold: Hold::Forever,
            #[cfg(feature = "encrypt")]
            keys: self.keys.clone(),
            ..Options::default()
        }
    }

    /// How the new store is checked, which nobody else has.
    #[cfg_attr(not(feature = "encrypt"), expect(clippy::unused_self, reason = "it has no keys"))]
    pub(super) fn verify(&self) -> Verify {
        Verify {
            wait: Duration::ZERO,
            #[cfg(feature = "encrypt")]
            keys: self.keys.clone(),
        }
    }

    /// How the new store is made.
    pub(super) fn options_of_new(&self, keys: &Keys) -> Options {
        #[cfg_attr(not(feature = "encrypt"), expect(unused_mut, reason = "there are no keys"))]
        let mut options = self.options();
        #[cfg(feature = "encrypt")]
        match keys.store {
            // A new store takes the first.
            Some(id) => options.keys.sort_by_key(|key| key.id() != id),
            None => options.keys.clear(),
        }
        #[cfg(not(feature = "encrypt"))]
        let _ = keys;
        options
    }
}

/// The key of the newest frame that is sealed; rather one that is at hand.
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
