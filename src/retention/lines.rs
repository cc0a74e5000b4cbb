//! Lines: which entries are of the same series, and which of two is newer.
//!
//! Goes by what the entries say, and never by the order in which they are given.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::checkpoint::{Entry, Series, Timestamp};

/// Entries in their series and in time, by their numbers.
pub(super) struct Lines {
    /// The number of each entry's series.
    pub(super) series: Vec<u32>,
    pub(super) series_count: usize,
    /// The latest of each series by its time alone.
    latest: Vec<u32>,
    pub(super) newest_first: Vec<u32>,
}

/// Where an entry stands in time.
struct Place {
    time: Timestamp,
    sequence: u64,
    at: u32,
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
        let newest_first = newest_first(entries, &series, series_count);
        let latest = latest(entries, &series, series_count);
        Self { series, series_count, latest, newest_first }
    }

    /// Whether an entry is the latest of its series by its time alone, as a listing has it.
    ///
    /// Where a clock was set back that is another one than the newest.
    pub(super) fn is_latest(&self, at: usize) -> bool {
        self.latest[self.series[at] as usize] as usize == at
    }
}

fn latest(entries: &[Entry], series: &[u32], series_count: usize) -> Vec<u32> {
    let mut latest: Vec<Option<u32>> = vec![None; series_count];
    let place = |at: u32| (entries[at as usize].created_at, entries[at as usize].sequence);
    for (number, at) in series.iter().zip(0..) {
        let known = &mut latest[*number as usize];
        *known = known.filter(|known| place(*known) > place(at)).or(Some(at));
    }
    latest.into_iter().flatten().collect()
}

/// The numbers of entries from the newest to the oldest.
///
/// By their times. But those that the store's own clock dated came in the order they have; where
/// their times do not rise, the clock was set back, and what was saved later is newer.
fn newest_first(entries: &[Entry], series: &[u32], series_count: usize) -> Vec<u32> {
    let place =
        |(entry, at): (&Entry, u32)| Place { time: entry.created_at, sequence: entry.sequence, at };
    let mut places: Vec<Place> = entries.iter().zip(0..).map(place).collect();
    places.sort_unstable_by_key(|place| place.sequence);
    let falls = falls(&places, series, series_count);
    let mut clocks = vec![Timestamp::from_micros(i64::MIN); series_count];
    for place in &mut places {
        let number = series[place.at as usize] as usize;
        if falls[number] && is_dated_by_store(&entries[place.at as usize]) {
            clocks[number] = clocks[number].max(place.time);
            place.time = clocks[number];
        }
    }
    places.sort_unstable_by_key(|place| Reverse((place.time, place.sequence)));
    places.into_iter().map(|place| place.at).collect()
}

/// The series in which a time is before an earlier one, whoever gave it.
///
/// Few are, and only there it matters who did, which takes long to find out.
fn falls(in_sequence: &[Place], series: &[u32], series_count: usize) -> Vec<bool> {
    let mut falls = vec![false; series_count];
    let mut last = vec![Timestamp::from_micros(i64::MIN); series_count];
    for place in in_sequence {
        let number = series[place.at as usize] as usize;
        falls[number] |= place.time < last[number];
        last[number] = place.time;
    }
    falls
}

/// Whether the store dated a checkpoint, and not the caller: then its id has the same time.
pub(crate) fn is_dated_by_store(entry: &Entry) -> bool {
    let made_at = entry.id.parts().map(|(millis, _)| millis);
    made_at.is_some_and(|millis| i64::try_from(millis) == Ok(entry.created_at.as_millis()))
}
