//! Which files were looked at, so that only those that change are looked at again.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher as _, Hash};

use super::read::stamp;
use super::walk::Found;

/// What was seen of a tree. Takes 16 bytes for each file, whatever its name is.
#[derive(Default)]
pub(super) struct Seen {
    hasher: RandomState,
    stamps: HashMap<u64, u64>,
}

impl Seen {
    /// Whether this was not found before, or is not as it was.
    pub(super) fn is_new(&mut self, found: &Found) -> bool {
        let (what, state) = match found {
            Found::File(item) => {
                let metadata = fs::symlink_metadata(&item.path).ok();
                let state = (metadata.as_ref().map(stamp), item.beside);
                (self.hash(("file", &item.place)), self.hash(state))
            }
            Found::Skipped { place, reason } => (self.hash(("skipped", place)), self.hash(reason)),
            Found::Problem { place, reason } => (self.hash(("problem", place)), self.hash(reason)),
            Found::Note { place, reason } => (self.hash(("note", place, reason)), 0),
        };
        self.stamps.insert(what, state) != Some(state)
    }

    fn hash(&self, value: impl Hash) -> u64 {
        self.hasher.hash_one(value)
    }
}
