//! Remembers which files were read, so that the next pass reads only those that changed.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher as _, Hash};

use super::walk::Discovered;
use crate::transfer::steady::stamp;

/// The stamps of files. Takes 16 bytes for each file, however long its name is.
#[derive(Default)]
pub(super) struct Stamps {
    hasher: RandomState,
    by_file: HashMap<u64, u64>,
    /// Files that are new in this pass.
    fresh: Vec<u64>,
}

impl Stamps {
    /// True if this was not found before, or has changed since.
    pub(super) fn is_new(&mut self, found: &Discovered) -> bool {
        let (what, state) = match found {
            Discovered::File(item) => {
                let metadata = fs::symlink_metadata(&item.path).ok();
                let state = (metadata.as_ref().map(stamp), item.beside);
                (self.hash(("file", &item.place)), self.hash(state))
            }
            Discovered::Skipped { place, reason } => {
                (self.hash(("skipped", place)), self.hash(reason))
            }
            Discovered::Problem { place, reason } => {
                (self.hash(("problem", place)), self.hash(reason))
            }
            Discovered::Note { place, reason } => (self.hash(("note", place, reason)), 0),
        };
        let is_new = self.by_file.insert(what, state) != Some(state);
        if is_new {
            self.fresh.push(what);
        }
        is_new
    }

    /// Ends a pass. The next one reads `unread` again.
    pub(super) fn end(&mut self, unread: &[String]) {
        for place in unread {
            let what = self.hash(("file", place));
            self.by_file.remove(&what);
        }
        self.fresh.clear();
    }

    /// Ends a pass that failed: the next one reads the same files again.
    pub(super) fn forget(&mut self) {
        for what in self.fresh.drain(..) {
            self.by_file.remove(&what);
        }
    }

    fn hash(&self, value: impl Hash) -> u64 {
        self.hasher.hash_one(value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::walk::Item;
    use super::*;
    use crate::layouts::Kind;

    fn found(place: &str) -> Discovered {
        let (path, place) = (place.into(), place.to_owned());
        Discovered::File(Item { path, place, kind: Kind::Checkpoint, index: None, beside: 0 })
    }

    /// A file that was seen while the store was held by another process was never imported.
    #[test]
    fn a_file_that_was_not_imported_is_new_again() {
        let mut stamps = Stamps::default();
        assert!(stamps.is_new(&found("a")) && stamps.is_new(&found("b")));
        stamps.forget();
        assert!(stamps.is_new(&found("a")) && stamps.is_new(&found("b")));
        stamps.end(&["b".to_owned()]);
        assert!(!stamps.is_new(&found("a")) && stamps.is_new(&found("b")));
        stamps.end(&[]);
        assert!(!stamps.is_new(&found("b")));
    }
}
