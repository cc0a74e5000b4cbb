//! Lines: which entries are of the same series, and which of two is newer.
//!
//! Goes by [`Entry::order`], and never by the order in which entries are given.
//!
//! So a clock that is set back never makes a fresh save look old. Earlier builds had no such order
//! and compared the time in an id with the date. A checkpoint that such a build saved while its
//! clock was wrong keeps the place that its date gives it; whatever this build saves is newer.
//!
//! The status of a series is that of its newest checkpoint.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::checkpoint::{Entry, Series, Timestamp};

/// Entries in their series and in their order, by their numbers.
pub(super) struct Lines {
    /// The number of each entry's series.
    pub(super) series: Vec<u32>,
    pub(super) series_count: usize,
    /// From the newest to the oldest.
    pub(super) newest_first: Vec<u32>,
    /// The newest of each series.
    newest: Vec<u32>,
}

impl Lines {
    pub(super) fn new(entries: &[Entry]) -> Self {
        let mut numbers: HashMap<&Series, u32> = HashMap::new();
        let mut series = Vec::with_capacity(entries.len());
        for entry in entries {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            series.push(*numbers.entry(&entry.series).or_insert(next));
        }
        let series_count = numbers.len();
        let newest_first = newest_first(entries);
        let mut newest: Vec<Option<u32>> = vec![None; series_count];
        for at in &newest_first {
            newest[series[*at as usize] as usize].get_or_insert(*at);
        }
        let newest = newest.into_iter().flatten().collect();
        Self { series, series_count, newest_first, newest }
    }

    /// Whether an entry is the newest of its series.
    pub(super) fn is_newest(&self, at: usize) -> bool {
        self.newest[self.series[at] as usize] as usize == at
    }
}

/// The numbers of entries from the newest to the oldest.
fn newest_first(entries: &[Entry]) -> Vec<u32> {
    let mut places: Vec<((Timestamp, u64), u32)> =
        entries.iter().map(Entry::order).zip(0..).collect();
    places.sort_unstable_by_key(|(place, _)| Reverse(*place));
    places.into_iter().map(|(_, at)| at).collect()
}
