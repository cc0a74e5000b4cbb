//! Forks: what a checkpoint of another series was forked from stays as long as that one does.
//!
//! Knows nothing of rules: it is told what goes.

use std::collections::HashMap;

use crate::checkpoint::{Entry, Id};

/// Which entries were forked from which, by their numbers.
pub(super) struct Forks {
    /// What each was forked from: its parent, if that is of another series.
    origins: Vec<Option<u32>>,
    /// How many forks of each are still there.
    counts: Vec<u32>,
}

impl Forks {
    /// The forks between entries, all of which are still there.
    pub(super) fn new(entries: &[Entry]) -> Self {
        let mut places: HashMap<&Id, Option<u32>> = HashMap::new();
        places.extend(entries.iter().filter_map(|entry| Some((entry.parent.as_ref()?, None))));
        for (entry, at) in entries.iter().zip(0..) {
            if let Some(place) = places.get_mut(&entry.id) {
                *place = Some(at);
            }
        }
        let mut counts = vec![0; entries.len()];
        let mut origin = |entry: &Entry| {
            let origin = places.get(entry.parent.as_ref()?).copied().flatten()?;
            let is_other = entries[origin as usize].series != entry.series;
            counts[origin as usize] += u32::from(is_other);
            is_other.then_some(origin)
        };
        let origins = entries.iter().map(&mut origin).collect();
        Self { origins, counts }
    }

    /// What an entry was forked from.
    pub(super) fn origin(&self, at: usize) -> Option<usize> {
        self.origins[at].map(|origin| origin as usize)
    }

    /// Whether there still is a fork of an entry.
    pub(super) fn hold(&self, at: usize) -> bool {
        self.counts[at] > 0
    }

    /// Says that an entry goes; returns what it was forked from if that was the last fork of it.
    pub(super) fn release(&mut self, at: usize) -> Option<usize> {
        let origin = self.origin(at)?;
        self.counts[origin] -= 1;
        (self.counts[origin] == 0).then_some(origin)
    }
}
