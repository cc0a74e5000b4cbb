//! Stores full of small checkpoints, to see what grows with their number.
//!
//! Made once and kept for the next run. Nothing may be saved into them but by [`copy`].

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use waypost::{Draft, Issue, LoopId, NewEntry, Series, Status, Store, Timestamp, Trigger};

use crate::document::sentence;
use crate::invocation;
use crate::place::{self, Scratch};
use crate::random::Random;

const SIZES: [u32; 3] = [1_000, 100_000, 1_000_000];
// In the name of the files: goes up when the bytes or the checkpoints would be others.
const FORMAT: u32 = 2;
const BATCH: u32 = 1_000;
const ISSUES: u32 = 100;
const SERIES_MAX: u32 = 1_000;
// A list of 20 of one series is full at every size.
const SERIES_CHECKPOINTS_MIN: u32 = 20;
// All there are; each series goes without one of them.
const TRIGGERS: u32 = 16;
const PHASES: [&str; 8] =
    ["intake", "plan", "design", "implement", "test", "review", "merge", "release"];
// The first of January 2025, so that all are older than what is saved now.
const FIRST_MICROS: i64 = 1_735_689_600_000_000;
const SECOND_MICROS: i64 = 1_000_000;

/// How many checkpoints the stores of this run have.
pub(crate) fn sizes() -> &'static [u32] {
    if !invocation::is_measured() {
        &SIZES[..1]
    } else if invocation::is_small() {
        &SIZES[..2]
    } else {
        &SIZES
    }
}

/// The store with `count` checkpoints, to read from.
pub(crate) fn open(count: u32) -> Store {
    Store::open(path(count)).expect("it was closed when it was full")
}

/// A store with `count` checkpoints, to save more into.
pub(crate) fn copy(count: u32) -> Scratch {
    Scratch::copy_of(&path(count))
}

pub(crate) fn series(number: u32) -> Series {
    Series::of_loop(&loop_id(number))
}

pub(crate) fn issue(series: u32) -> Issue {
    Issue::new((series % ISSUES).to_string()).expect("a number is not empty")
}

/// A trigger that no checkpoint of this series has.
pub(crate) fn absent_trigger(series: u32) -> Trigger {
    trigger(series, TRIGGERS - 1)
}

/// The time of the checkpoint that was saved as the `number`th.
pub(crate) fn time(number: u32) -> Timestamp {
    Timestamp::from_micros(FIRST_MICROS + i64::from(number) * SECOND_MICROS)
}

fn path(count: u32) -> PathBuf {
    let path = place::directory().join(format!("population-{FORMAT}-{count}.redb"));
    if !path.exists() {
        // Filled elsewhere, so that a run that is stopped leaves no store that is half full.
        let directory = place::temporary();
        let unfinished = directory.path().join("store.redb");
        fill(&unfinished, count);
        fs::rename(&unfinished, &path).expect("both are on the same disk");
    }
    path
}

fn fill(path: &Path, count: u32) {
    eprintln!("making a store of {count} checkpoints");
    let store = Store::open(path).expect("a new store can be made");
    let mut random = Random::new(count.into());
    for first in (0..count).step_by(BATCH as usize) {
        let drafts = drafts(&store, first..(first + BATCH).min(count), count, &mut random);
        for outcome in store.batch(drafts).expect("the store takes a batch") {
            outcome.expect("every id is new");
        }
    }
    store.close().expect("everything is durable");
}

fn drafts(store: &Store, numbers: Range<u32>, count: u32, random: &mut Random) -> Vec<Draft> {
    let draft = |number| {
        let note = sentence(random, 28);
        let json = format!(r#"{{"number":{number},"stage":"implement","note":"{note}"}}"#);
        store.draft_json(about(number, count), json.as_bytes()).expect("it is a document")
    };
    numbers.map(draft).collect()
}

/// The series take turns, and in each the triggers and the phases do.
fn about(number: u32, count: u32) -> NewEntry {
    let series_count = SERIES_MAX.min(count / SERIES_CHECKPOINTS_MIN);
    let (series, round) = (number % series_count, number / series_count);
    NewEntry {
        loop_id: Some(loop_id(series)),
        issue: Some(issue(series)),
        trigger: trigger(series, round % (TRIGGERS - 1)),
        phase: Some(PHASES[(round % 8) as usize].to_owned()),
        iteration: Some(round.into()),
        status: if round % 10 == 9 { Status::Completed } else { Status::InProgress },
        created_at: Some(time(number)),
        ..NewEntry::default()
    }
}

fn loop_id(series: u32) -> LoopId {
    LoopId::new(format!("ralph-population-{series:08x}")).expect("it is not empty")
}

fn trigger(series: u32, turn: u32) -> Trigger {
    Trigger::ALL[((series + turn) % TRIGGERS) as usize].clone()
}
