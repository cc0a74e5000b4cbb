//! Lines: which entries are of the same series, and which of two is newer.
//!
//! Goes by what the entries say, and never by the order in which they are given.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::checkpoint::{Entry, Id, Series, Timestamp};

/// Entries in their series and in time, by their numbers.
pub(super) struct Lines {
    /// The number of each entry's series.
    pub(super) series: Vec<u32>,
    pub(super) series_count: usize,
    /// From the newest to the oldest.
    pub(super) newest_first: Vec<u32>,
    /// The orders of which each may say that an entry is one of the last.
    ///
    /// The first has all entries, by time alone; a second one what the store dated, by arrival,
    /// where that is not the same. Neither puts more before an entry in a part of a series than in
    /// the whole.
    pub(super) orders: Vec<Vec<u32>>,
    /// The latest of each series by time alone, as a listing has it.
    latest: Vec<u32>,
    /// Those of each series that the store dated last, where that may be another one.
    last: HashSet<u32>,
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
        let mut places = places(entries);
        let dated = dated(&places, entries, &series, series_count);
        let last: HashMap<u32, u32> = dated.iter().map(|at| (series[*at as usize], *at)).collect();
        let by_time = newest_first(&mut places);
        let latest = latest(&by_time, &series, series_count);
        let mut orders = vec![by_time];
        if !dated.is_empty() {
            raise(&mut places, &dated, &series);
            orders.push(dated.into_iter().rev().collect());
        }
        let newest_first = newest_first(&mut places);
        let last = last.into_values().collect();
        Self { series, series_count, newest_first, orders, latest, last }
    }

    /// Whether an entry is the newest of its series in any order.
    pub(super) fn is_newest(&self, at: usize) -> bool {
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        self.latest[self.series[at] as usize] == number || self.last.contains(&number)
    }
}

/// Where entries stand in time, in the order of arrival.
fn places(entries: &[Entry]) -> Vec<Place> {
    let place =
        |(entry, at): (&Entry, u32)| Place { time: entry.created_at, sequence: entry.sequence, at };
    let mut places: Vec<Place> = entries.iter().zip(0..).map(place).collect();
    places.sort_unstable_by_key(|place| place.sequence);
    places
}

/// The numbers of entries from the newest to the oldest.
fn newest_first(places: &mut [Place]) -> Vec<u32> {
    places.sort_unstable_by_key(|place| Reverse((place.time, place.sequence)));
    places.iter().map(|place| place.at).collect()
}

/// Gives what the store dated the latest time of all that it dated before in the series.
///
/// These came in the order they have; where their times do not rise, the clock was set back, and
/// what was saved later is newer.
fn raise(places: &mut [Place], dated: &[u32], series: &[u32]) {
    let is_dated: HashSet<u32> = dated.iter().copied().collect();
    let mut clocks: HashMap<u32, Timestamp> = HashMap::new();
    places.sort_unstable_by_key(|place| place.sequence);
    for place in places.iter_mut().filter(|place| is_dated.contains(&place.at)) {
        let clock = clocks.entry(series[place.at as usize]).or_insert(place.time);
        *clock = (*clock).max(place.time);
        place.time = *clock;
    }
}

fn latest(by_time: &[u32], series: &[u32], series_count: usize) -> Vec<u32> {
    let mut latest: Vec<Option<u32>> = vec![None; series_count];
    for at in by_time {
        latest[series[*at as usize] as usize].get_or_insert(*at);
    }
    latest.into_iter().flatten().collect()
}

/// What the store dated, in the order of arrival, of series where that is not the order of time.
///
/// That may be so where times fall, and where the caller dated some of them.
fn dated(
    in_sequence: &[Place],
    entries: &[Entry],
    series: &[u32],
    series_count: usize,
) -> Vec<u32> {
    let mut is_odd = vec![false; series_count];
    let mut last: Vec<Option<(Timestamp, bool)>> = vec![None; series_count];
    let mut dated = Vec::new();
    for place in in_sequence {
        let number = series[place.at as usize] as usize;
        let is_dated = is_dated_by_store(&entries[place.at as usize]);
        let before = last[number].replace((place.time, is_dated));
        is_odd[number] |=
            before.is_some_and(|(time, was_dated)| place.time < time || is_dated != was_dated);
        if is_dated {
            dated.push(place.at);
        }
    }
    dated.retain(|at| is_odd[series[*at as usize] as usize]);
    dated
}

/// Whether the store dated a checkpoint, and not the caller: then its id has the same time.
pub(crate) fn is_dated_by_store(entry: &Entry) -> bool {
    // Also where the clock shows what no id can hold: whatever it shows, this is the newest.
    made_at(&entry.id).is_some_and(|millis| millis == Id::millis_at(entry.created_at))
}

/// The milliseconds in a UUIDv7.
///
/// Asked of every entry, so no more of it is read.
fn made_at(id: &Id) -> Option<u64> {
    let id = id.as_str();
    let is_uuid = id.len() == 36 && id.as_bytes()[8] == b'-' && id.as_bytes()[13..15] == *b"-7";
    let digits = id.bytes().take(13).filter(|byte| *byte != b'-').take(12);
    digits.filter(|_| is_uuid).try_fold(None, |sum: Option<u64>, byte| {
        let digit = char::from(byte).to_digit(16)?;
        Some(Some(sum.unwrap_or(0) << 4 | u64::from(digit)))
    })?
}
