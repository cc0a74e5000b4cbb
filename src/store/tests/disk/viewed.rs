//! Views: a process that only reads sees all acknowledged saves of a process that writes, in every
//! state of the disk and while the writer works.
//!
//! A workload is recorded once. Then a reader opens a view in the states between two changes of the
//! disk, while the writer rests. Another handle keeps reading while changes happen between its
//! calls to the disk. Each must find what the store held at some moment of its read, and lock and
//! write nothing.
//!
//! `WAYPOST_TESTS=long` tries more states, `WAYPOST_VIEWS=1000000` that many, and
//! `WAYPOST_CRASH_SEED=17` those of that seed alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fmt, thread};

use super::beside::{Pace, ReaderDisk};
use super::chance::Chance;
use super::check::Reader;
use super::run;
use super::simulated::{Change, Files};
use super::workload::{STORE, Workload, later};
use super::{keys, told};
use crate::checkpoint::Timestamp;
use crate::error::Result;
use crate::extent::{extent_of, number};
use crate::store::engine::disk::StorePath;
use crate::store::{Hold, Options, Store};
use crate::sync::lock;

const VIEWS: u64 = 1_200;
const VIEWS_LONG: u64 = 40_000;
/// Changes of the disk from one view to the next, in a default run.
const APART: usize = 11;

/// Reads without and with a view, by the step that the writer was in.
#[derive(Debug, Default)]
struct Counted {
    views: Mutex<BTreeMap<&'static str, [u64; 2]>>,
    /// Reads during which the disk changed.
    overtaken: AtomicU64,
}

impl Counted {
    fn note(&self, step: &'static str, is_view: bool) {
        lock(&self.views).entry(step).or_default()[usize::from(is_view)] += 1;
    }

    fn all(&self) -> u64 {
        lock(&self.views).values().flatten().sum()
    }

    /// Reads without a view, except those during compaction, which commits in one phase.
    fn without(&self) -> u64 {
        let views = lock(&self.views);
        views.iter().filter(|(step, _)| **step != "compact").map(|(_, counts)| counts[0]).sum()
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let overtaken = self.overtaken.load(Ordering::Relaxed);
        write!(f, "{} reads, {overtaken} overtaken; without and with a view:", self.all())?;
        lock(&self.views).iter().try_for_each(|(step, counts)| write!(f, " {step} {counts:?}"))
    }
}

#[test]
fn a_view_of_every_state_has_all_that_was_acknowledged() {
    let counted = each_seed(look_at_states);
    eprintln!("{counted}");
    assert_eq!(counted.without(), 0, "{counted}");
}

#[test]
fn a_reader_that_a_writer_overtakes_has_all_that_was_acknowledged() {
    let counted = each_seed(read_on);
    eprintln!("{counted}");
    let (all, without) = (counted.all(), counted.without());
    assert!(counted.overtaken.load(Ordering::Relaxed) > all / 8, "{counted}");
    assert!(without * 50 < all, "{counted}");
}

/// Runs `read` with one seed after the other.
fn each_seed(read: fn(u64, &Counted, u64)) -> Counted {
    let counted = Counted::default();
    if let Some(seed) = number("WAYPOST_CRASH_SEED") {
        read(seed, &counted, u64::MAX);
        return counted;
    }
    let wanted = extent_of("WAYPOST_VIEWS", VIEWS, VIEWS_LONG);
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while counted.all() < wanted {
                    read(next.fetch_add(1, Ordering::Relaxed), &counted, wanted);
                }
            });
        }
    });
    counted
}

/// Looks at the states between the changes of a workload, while nothing happens.
fn look_at_states(seed: u64, counted: &Counted, wanted: u64) {
    let workload = run(seed);
    let mut reader = Reader::default();
    let mut files = Files::default();
    let changes = workload.disk.changes();
    let apart = if wanted > VIEWS { 1 } else { APART };
    for cut in 0..=changes.len() {
        let is_due = (cut as u64 + seed).is_multiple_of(apart as u64);
        if is_due && files.names.contains_key(Path::new(STORE)) {
            let disk = ReaderDisk::still(files.clone());
            let looked = look_once(seed, &disk, &mut reader);
            judge((seed, &workload, counted), vec![(looked, [cut; 2])], &disk);
        }
        if let Some(change) = changes.get(cut) {
            files.replay(change);
        }
        if counted.all() >= wanted {
            return;
        }
    }
}

/// What a new handle reads, or why it gets no view.
fn look_once(seed: u64, disk: &ReaderDisk, reader: &mut Reader) -> Looked {
    let store = open(seed, disk, 1 << 20);
    store.and_then(|store| reader.read_view(&store, false))
}

type Looked = Result<Arc<super::model::Model>>;

/// One handle reads, with one thread or two, while the writer goes on.
fn read_on(seed: u64, counted: &Counted, wanted: u64) {
    let workload = run(seed);
    let changes: Arc<[Change]> = workload.disk.changes().into();
    let mut chance = Chance::new(&[seed, 1]);
    let mut files = Files::default();
    let mut start = 0;
    while !files.names.contains_key(Path::new(STORE)) {
        files.replay(&changes[start]);
        start += 1;
    }
    let disk = ReaderDisk::new(files, (changes, start), chance.clone());
    // Without a cache, every page is read from the file.
    let cache_bytes = [0, 1 << 20][chance.below(2)];
    let mut handle = None;
    // One reader for each thread that uses the handle.
    let mut readers = [Reader::default(), Reader::default()];
    while !disk.is_over() && counted.all() < wanted {
        disk.set_pace(None);
        disk.go_on(chance.below(40));
        // A few changes now and then, or many at once: after two commits the engine reuses pages of
        // the view.
        let pace = if chance.happens(50) {
            Pace { calls: [100, 300, 1000][chance.below(3)], changes: 1 + chance.below(6) }
        } else {
            Pace { calls: [100, 500, 2000][chance.below(3)], changes: 80 }
        };
        disk.set_pace(Some(pace));
        let Some(store) = &handle else {
            let begin = disk.done();
            let opened = open(seed, &disk, cache_bytes);
            let looked = opened.and_then(|store| {
                let looked = readers[0].read_view(&store, true);
                handle = Some(store);
                looked
            });
            judge((seed, &workload, counted), vec![(looked, [begin, disk.done()])], &disk);
            continue;
        };
        let is_thorough = chance.happens(50);
        let look = |reader: &mut Reader| {
            let begin = disk.done();
            let looked = reader.read_view(store, is_thorough);
            (looked, [begin, disk.done()])
        };
        let threads = if chance.happens(30) { 2 } else { 1 };
        let looked: Vec<_> = thread::scope(|scope| {
            let spawned = readers[..threads].iter_mut().map(|it| scope.spawn(|| look(it)));
            let spawned: Vec<_> = spawned.collect();
            spawned.into_iter().map(|it| it.join().expect("a read does not panic")).collect()
        });
        judge((seed, &workload, counted), looked, &disk);
    }
}

/// Compares what each read found with what the store held between the first and the last change of
/// the disk during that read.
fn judge(
    (seed, workload, counted): (u64, &Workload, &Counted),
    looked: Vec<(Looked, [usize; 2])>,
    disk: &ReaderDisk,
) {
    let refused = disk.take_refused();
    let has_failed = looked.iter().any(|(looked, _)| looked.is_err());
    for (looked, [begin, end]) in looked {
        let step = workload.under_way(end);
        let place = || format!("WAYPOST_CRASH_SEED={seed}: changes {begin} to {end}, in {step}");
        counted.overtaken.fetch_add(u64::from(begin < end), Ordering::Relaxed);
        let found = match looked {
            // Without a view, the read tried to take a turn.
            Err(_) if !refused.is_empty() => {
                counted.note(step, false);
                continue;
            }
            looked => told("cannot be read", looked),
        };
        let found = found.unwrap_or_else(|it| panic!("{}: {it}", place()));
        assert!(has_failed || refused.is_empty(), "{}: a view called {refused:?}", place());
        counted.note(step, true);
        let candidates = workload.visible(begin, end);
        if !candidates.iter().any(|wanted| wanted.allows(&found)) {
            let differences = candidates.iter().map(|it| it.settled().difference(&found));
            panic!("{}: {:#?}", place(), differences.collect::<Vec<_>>());
        }
    }
}

/// Opens a store to look at it, without waiting for a turn.
fn open(seed: u64, disk: &ReaderDisk, cache_bytes: usize) -> Result<Store> {
    let clock = later();
    let options = Options {
        create: false,
        hold: Hold::Idle(Duration::ZERO),
        wait: Duration::ZERO,
        cache_bytes,
        clock: Arc::new(move || Timestamp::from_micros(clock.load(Ordering::Relaxed))),
        ..Options::default()
    };
    let keys = if seed % 3 == 1 { keys::all() } else { Vec::new() };
    let place = StorePath { path: STORE.into(), disk: Arc::new(disk.clone()) };
    let store = Store::open_at(place, keys::given(&keys, options))?;
    store.shared.keeper.stop();
    Ok(store)
}
