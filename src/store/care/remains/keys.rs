//! The keys to read a damaged store with, and the one that it is sealed with.
//!
//! Must never let a store that was sealed become one that is not.

use super::rows::Rows;
use crate::codec::{FoundFrame, KeyId, Keyring};
use crate::error::Result;
use crate::key::{frame_row, frame_sequence};
use crate::store::engine::sealing::no_key;
use crate::store::engine::table::{FORMAT_KEY, KEY_KEY};

#[derive(Debug, Clone)]
pub(in crate::store::care) struct Keys {
    /// All that were given.
    pub(in crate::store::care) ring: Keyring,
    /// What the new store is sealed with, if it is.
    pub(in crate::store::care) store: Option<KeyId>,
}

impl Keys {
    /// The given keys, for a store with these rows, unless the key of that is not among them.
    pub(in crate::store::care) fn of(ring: Keyring, rows: &Rows) -> Result<Self> {
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
