//! Paths that are taken.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use super::render::Way;

/// Paths that are taken, by their hashes and those of who took them: a million take 40 MB, and two
/// share one by a chance of one in forty million.
#[derive(Default)]
pub(super) struct Claims {
    hasher: RandomState,
    taken: HashMap<u64, u64>,
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    Granted,
    /// The path is taken by the same series.
    Own,
    /// The path is taken by another one.
    Foreign,
}

impl Claims {
    /// Takes a path; `false` if it is taken.
    pub(super) fn take(&mut self, path: &str) -> bool {
        self.claim(path, "") == Claim::Granted
    }

    /// Takes a path for a series.
    pub(super) fn claim(&mut self, path: &str, series: &str) -> Claim {
        let series = self.hasher.hash_one(series);
        match self.taken.entry(self.hasher.hash_one(path)) {
            Entry::Vacant(free) => {
                free.insert(series);
                Claim::Granted
            }
            Entry::Occupied(taken) if *taken.get() == series => Claim::Own,
            Entry::Occupied(_) => Claim::Foreign,
        }
    }
}

/// Files of which a checkpoint was seen, by hashes of paths and lines.
#[derive(Default)]
pub(super) struct Seen {
    hasher: RandomState,
    files: HashSet<u64>,
}

impl Seen {
    /// Whether a newer checkpoint is of the same file. The newest comes first.
    pub(super) fn has_newer(&mut self, way: &Way) -> bool {
        let key = match way {
            Way::Restored(path, _) => self.hasher.hash_one((path, None::<u64>)),
            Way::Line(path, form) => self.hasher.hash_one((path, form.line)),
            Way::Made(_) => return false,
        };
        !self.files.insert(key)
    }
}
