//! Forks: a checkpoint that another series was forked from stays as long as that fork does.
//!
//! Knows no rules: the caller says what goes.
//!
//! A fork that goes releases what it was forked from, so a plan of what is left removes nothing
//! more. A parent in the same series is no fork point: a loop that names the one before as parent
//! would keep everything.

use std::collections::HashMap;

use super::lines::Lines;
use crate::checkpoint::{Entry, Id};

/// Which entries were forked from which, by their numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Forks {
    /// What each was forked from: its parent, if that is of another series.
    origins: Vec<Option<u32>>,
    /// How many forks of each are still there.
    counts: Vec<u32>,
}

impl Forks {
    /// The forks between entries, all of which are still there.
    pub(super) fn new(entries: &[Entry], lines: &Lines) -> Self {
        let strays = strays(entries, lines);
        let mut places: HashMap<&Id, Option<u32>> = HashMap::new();
        places.extend(strays.iter().map(|(_, parent)| (*parent, None)));
        // Without forks, a million ids need not be looked up.
        let found = entries.iter().zip(0..).take_while(|_| !strays.is_empty());
        for (entry, at) in found {
            if let Some(place) = places.get_mut(&entry.id) {
                *place = Some(at);
            }
        }
        let mut forks = Self { origins: vec![None; entries.len()], counts: vec![0; entries.len()] };
        for (at, parent) in strays {
            let origin = places[parent];
            let is_other = |origin: &u32| lines.series[*origin as usize] != lines.series[at];
            if let Some(origin) = origin.filter(is_other) {
                forks.origins[at] = Some(origin);
                forks.counts[origin as usize] += 1;
            }
        }
        forks
    }

    /// What an entry was forked from.
    pub(super) fn origin(&self, at: usize) -> Option<usize> {
        self.origins[at].map(|origin| origin as usize)
    }

    /// Whether there still is a fork of an entry.
    pub(super) fn hold(&self, at: usize) -> bool {
        self.counts[at] > 0
    }

    /// Notes that an entry goes; returns its fork point if it was the last fork of it.
    pub(super) fn release(&mut self, at: usize) -> Option<usize> {
        let origin = self.origin(at)?;
        self.counts[origin] -= 1;
        (self.counts[origin] == 0).then_some(origin)
    }
}

/// Entries whose parent is not the one before in their series, with the parent.
///
/// Nearly all of them continue the one before, and are not worth looking up.
fn strays<'a>(entries: &'a [Entry], lines: &Lines) -> Vec<(usize, &'a Id)> {
    let mut strays = Vec::new();
    let mut before: Vec<Option<&Id>> = vec![None; lines.series_count];
    for at in lines.newest_first.iter().rev().map(|at| *at as usize) {
        let entry = &entries[at];
        let before = before[lines.series[at] as usize].replace(&entry.id);
        if let Some(parent) = entry.parent.as_ref().filter(|parent| before != Some(parent)) {
            strays.push((at, parent));
        }
    }
    strays
}
