//! Ids in so few characters that they still lead to one checkpoint.

use std::collections::HashSet;

use super::name::resolve;
use crate::checkpoint::Id;
use crate::error::{Error, Result};
use crate::store::{Snapshot, Store};

// Where groups of a UUID end. Up to 13 a UUIDv7 is its time in milliseconds; the rest is chance.
const GROUPS: [usize; 3] = [13, 18, 23];
const UUID_CHARS: usize = 36;
// So many ids are looked up: more are not told apart at a glance, and shown whole.
const LOOKED_UP_MAX: usize = 1000;

impl Store {
    /// Returns how many characters of these ids, as far as they are UUIDs, it takes for each to be
    /// told from the others and from all in the store by its start, in whole groups.
    ///
    /// Costs a look-up for each id; of more than a thousand, none is cut.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn short_length(&self, ids: &[&Id]) -> Result<usize> {
        if ids.len() > LOOKED_UP_MAX {
            return Ok(UUID_CHARS);
        }
        let uuids: Vec<&str> =
            ids.iter().map(|id| id.as_str()).filter(|id| id.len() == UUID_CHARS).collect();
        self.read(|snapshot| {
            for length in GROUPS {
                if are_told_apart(snapshot, &uuids, length)? {
                    return Ok(length);
                }
            }
            Ok(UUID_CHARS)
        })
    }
}

fn are_told_apart(snapshot: &Snapshot<'_>, ids: &[&str], length: usize) -> Result<bool> {
    let mut seen = HashSet::new();
    for id in ids {
        let Some(start) = id.get(..length).filter(|start| seen.insert(*start)) else {
            return Ok(false);
        };
        match resolve(snapshot, start) {
            Ok(entry) if entry.id.as_str() == *id => {}
            // What was deleted meanwhile is no other one.
            Err(Error::NotFound { .. }) => {}
            Ok(_) | Err(Error::Ambiguous { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
