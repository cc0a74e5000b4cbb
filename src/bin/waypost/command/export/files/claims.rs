//! Paths that are taken.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
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

/// Which checkpoint of each file came last, by hashes of paths and lines.
#[derive(Default)]
pub(super) struct Lasts {
    hasher: RandomState,
    sequences: HashMap<u64, u64>,
}

impl Lasts {
    pub(super) fn note(&mut self, way: &Way, sequence: u64) {
        if let Some(key) = self.key(way) {
            let last = self.sequences.entry(key).or_default();
            *last = sequence.max(*last);
        }
    }

    /// Whether a later one is what the file held last.
    pub(super) fn has_later(&self, way: &Way, sequence: u64) -> bool {
        let last = self.key(way).and_then(|key| self.sequences.get(&key));
        last.is_some_and(|last| *last > sequence)
    }

    fn key(&self, way: &Way) -> Option<u64> {
        match way {
            Way::Restored(path, _) => Some(self.hasher.hash_one((path, None::<u64>))),
            Way::Line(path, form) => Some(self.hasher.hash_one((path, form.line))),
            Way::Made(_) => None,
        }
    }
}
