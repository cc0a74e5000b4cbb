//! Paths that are taken.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

/// Paths that are taken, by their hashes: a million take 20 MB, and two share one by a chance of
/// one in forty million.
#[derive(Default)]
pub(super) struct Claims {
    hasher: RandomState,
    taken: HashSet<u64>,
}

impl Claims {
    /// Takes a path; `false` if it is taken.
    pub(super) fn take(&mut self, path: &str) -> bool {
        self.taken.insert(self.hasher.hash_one(path))
    }
}
