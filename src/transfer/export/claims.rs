//! Taken paths, and files of newer checkpoints.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

use super::render::Way;

/// Paths that are taken, each with the series that took it, both as hashes. A million paths take
/// 40 MB; the chance that two of them share a hash is one in forty million.
#[derive(Default)]
pub(super) struct Claims {
    hasher: RandomState,
    taken: HashMap<u64, u64>,
}

/// The result of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    Granted,
    /// A newer checkpoint of the same series has the path.
    Own,
    /// A newer checkpoint of another series has it.
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

/// Files that already have a checkpoint, by hashes of paths and lines.
#[derive(Default)]
pub(super) struct SeenFiles {
    hasher: RandomState,
    files: HashSet<u64>,
}

impl SeenFiles {
    /// Whether a newer checkpoint is of the same file. Call it for the newest first.
    pub(super) fn has_newer(&mut self, way: &Way) -> bool {
        let key = match way {
            Way::Restored(path, _) => self.hasher.hash_one((path, None::<u64>)),
            Way::Line(path, form) => self.hasher.hash_one((path, form.line)),
            Way::Made(_) => return false,
        };
        !self.files.insert(key)
    }
}
