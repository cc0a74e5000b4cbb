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
    /// What is new in this pass.
    fresh: Vec<u64>,
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
        let is_new = self.stamps.insert(what, state) != Some(state);
        if is_new {
            self.fresh.push(what);
        }
        is_new
    }

    /// Ends a pass. What could not be read is looked at again.
    pub(super) fn end(&mut self, unread: &[String]) {
        for place in unread {
            let what = self.hash(("file", place));
            self.stamps.remove(&what);
        }
        self.fresh.clear();
    }

    /// Ends a pass that came to nothing: all that was new in it still is.
    pub(super) fn forget(&mut self) {
        for what in self.fresh.drain(..) {
            self.stamps.remove(&what);
        }
    }

    fn hash(&self, value: impl Hash) -> u64 {
        self.hasher.hash_one(value)
    }
}

#[cfg(test)]
mod tests {
    use waypost::layouts::Kind;

    use super::super::walk::Item;
    use super::*;

    fn found(place: &str) -> Found {
        let (path, place) = (place.into(), place.to_owned());
        Found::File(Item { path, place, kind: Kind::Checkpoint, index: None, beside: 0 })
    }

    /// A file that was seen while the store was held by another process was never imported.
    #[test]
    fn what_could_not_be_taken_in_is_new_again() {
        let mut seen = Seen::default();
        assert!(seen.is_new(&found("a")) && seen.is_new(&found("b")));
        seen.forget();
        assert!(seen.is_new(&found("a")) && seen.is_new(&found("b")));
        seen.end(&["b".to_owned()]);
        assert!(!seen.is_new(&found("a")) && seen.is_new(&found("b")));
        seen.end(&[]);
        assert!(!seen.is_new(&found("b")));
    }
}
