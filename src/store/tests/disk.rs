//! Power losses and disk faults at any moment, on a simulated disk.
//!
//! A workload that a seed decides runs on a simulated disk; then the power is lost after each
//! change of the disk, with some of what was not synced kept, dropped or torn; then the store is
//! opened, read, checked and saved to, and some of these recoveries lose their power, too. Every
//! third workload has keys, and changes them: what is found is readable with all of them, and the
//! change can be finished.
//!
//! Covers loss of power (here), failing calls (`faults`), unreadable sectors (`sectors`), full
//! disks (`room`), lock files (`lock_file`), changes of the key (`rekeyed`), backups (`backed_up`),
//! repairs (`repaired`) and readers beside a writer (`viewed`).
//!
//! `WAYPOST_TESTS=long` tries 50,000 states instead of 6,000, and every fault and sector instead of
//! each fifth. `WAYPOST_CRASH_STATES=1000000` tries that many states, `WAYPOST_FAULT_SEEDS=100`
//! every fault of that many workloads, and `WAYPOST_CRASH_SEED=17` that seed alone, as a failure
//! names it.
//!
//! # What is simulated
//!
//! Everything that a store asks of the file system goes through one trait (`engine/disk.rs`). The
//! simulated disk below it knows what the processes of one boot see, and what is sure to be on
//! disk: the content of a file when it is synced, and names when their directory is. Everything
//! else may be there or not after a power loss, in any combination within a file and across files:
//! each write, each change of a length, each name, and of a write any of its sectors of 512 bytes.
//! A sector is written whole or not at all. An unsynced write may also leave the file longer, with
//! zeros instead of its bytes, as on ext4. The lock file is simulated too: what it says about the
//! store must be right or unknown in every state.
//!
//! A workload has forty steps of everything that changes a store: durable and relaxed saves, saves
//! under own ids, repeated saves, groups, imports with stated times, captured files, deletes,
//! undelete, tags, marks, forks, prunes by plan and on save, reads, flushes, compactions, letting
//! go, closing and opening. In two of five workloads the clock is set back or ahead by up to six
//! days, at one tick in five. Now and then another program removes the journal.
//!
//! # What must hold
//!
//! What is left must be what the store held after one of its steps: the last one acknowledged as
//! durable, or a later one. Of relaxed saves and unfinished groups a first part may be there.
//! Everything listed is read and compared, and every row of every table must have its reason.
//! Checkpoints that the store dated must be in the order of arrival. After the check one more
//! checkpoint is saved. Half of the recoveries lose their power at some moment too, and half of
//! what opens those.
//!
//! The same workload runs with each read, write, sync, resize, creation, rename and removal failing
//! in turn: with an error, after half of the bytes, or because the disk is full until the test
//! makes room. The call reports it or copes; the next one continues with the same handle. Nothing
//! acknowledged may be missing. Then the power is lost.
//!
//! Each sector in turn of a closed store, of a store that a crash left, and of its journal cannot
//! be read. Every read returns the right data or an error that names the sector, and a repair saves
//! at least what it would save if the whole page were zeros.
//!
//! A repair in place runs on what a kill leaves after such a workload, with a power loss after each
//! change and each call failing in turn. The path then leads to the old store or to the new one;
//! either has everything acknowledged, and the old one is complete, at the path or beside it.
//!
//! A process that only reads looks at a workload through views: in each state between two changes
//! of the disk, and with a handle that keeps reading while changes happen between its calls to the
//! disk, some of them only half. A read must find everything that was acknowledged before it began,
//! and nothing that the writer did not save before it ended.
//!
//! Not simulated: a disk that reports a sync that it did not do, and bytes that change by
//! themselves (see the tests of damage).

mod backed_up;
mod beside;
mod chance;
mod check;
mod faults;
mod image;
mod keys;
mod lock_file;
mod model;
mod power;
mod rekeyed;
mod repaired;
mod room;
mod sectors;
mod simulated;
mod space;
mod spooled;
mod viewed;
mod workload;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::checkpoint::{Id, NewEntry};
use crate::extent::{extent_of, number};
use crate::store::Store;
use crate::store::watch::unwatched;
use crate::sync::lock;
use chance::Chance;
use check::Reader;
use model::{Model, Saved};
use power::Durable;
use simulated::{Files, SimulatedDisk};
use workload::{STORE, Workload, later, open};

const STATES: u64 = 6_000;
const STATES_LONG: u64 = 50_000;
/// Seeds from one workload to the next of its kind: with or without keys and threads.
const KINDS: u64 = 12;
const STEPS: usize = 40;
/// In a default run: more workloads with fewer states each, so that each kind comes up.
const SOME: Often = Often { step: 2, variants: 1 };
/// In a long run.
const ALL: Often = Often { step: 1, variants: 3 };
/// How deep recoveries are interrupted in turn.
const DEPTH: usize = 2;
/// How many of those that are closed are verified.
const VERIFIED_PERCENT: usize = 2;

/// How often the power is lost in a workload.
#[derive(Debug, Clone, Copy)]
struct Often {
    /// Changes of the disk from one loss to the next.
    step: u64,
    /// Losses at each of these moments.
    variants: u64,
}

/// Which states were tried, by their hashes.
#[derive(Debug, Default)]
struct Tried {
    states: Mutex<HashSet<u64>>,
}

impl Tried {
    fn add(&self, files: &Files) -> bool {
        lock(&self.states).insert(files.hash())
    }

    fn count(&self) -> u64 {
        lock(&self.states).len() as u64
    }
}

#[test]
fn whatever_a_loss_of_power_leaves_has_all_that_was_acknowledged() {
    let tried = Tried::default();
    if let Some(seed) = number("WAYPOST_CRASH_SEED") {
        lose_power(seed, ALL, &tried, u64::MAX);
        eprintln!("seed {seed}: {} states", tried.count());
        return;
    }
    let wanted = extent_of("WAYPOST_CRASH_STATES", STATES, STATES_LONG);
    let often = if wanted > STATES { ALL } else { SOME };
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while tried.count() < wanted {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    lose_power(seed, often, &tried, wanted);
                }
            });
        }
    });
    assert!(tried.count() >= wanted);
    let workloads = next.into_inner();
    eprintln!("{} states of {workloads} workloads", tried.count());
    assert!(workloads >= KINDS || wanted < STATES, "only {workloads} workloads");
}

/// Runs the workload of a seed, and loses the power after each change of its disk.
fn lose_power(seed: u64, often: Often, tried: &Tried, wanted: u64) {
    let workload = run(seed);
    let changes = workload.disk.changes();
    let mut trial = Trial { tried, reader: Reader::default() };
    let mut durable = Durable::default();
    for cut in 0..=changes.len() {
        let candidates = workload.candidates(cut);
        let is_moment = (cut as u64 + seed).is_multiple_of(often.step);
        let variants = if is_moment { often.variants } else { 0 };
        for variant in 0..variants {
            let mut chance = Chance::new(&[seed, cut as u64, variant]);
            let files = durable.cut(&mut chance);
            trial.recover(files, &candidates, (DEPTH, &mut chance)).unwrap_or_else(|reason| {
                let place = format!("cut {cut} of {}, variant {variant}", changes.len());
                let step = workload.under_way(cut);
                panic!("WAYPOST_CRASH_SEED={seed}: {place}, in {step}: {reason}")
            });
        }
        if tried.count() >= wanted {
            return;
        }
        if let Some(change) = changes.get(cut) {
            durable.pass(change, &mut Chance::new(&[seed, cut as u64]));
        }
    }
}

fn run(seed: u64) -> Workload {
    let disk = SimulatedDisk::default();
    let disk = if seed.is_multiple_of(2) { disk } else { disk.with_reserves() };
    let mut workload = Workload::start(seed, disk).unwrap();
    workload.has_threads = seed % 4 == 3;
    for _ in 0..STEPS {
        let outcome = workload.step();
        let step = workload.under_way(usize::MAX);
        outcome.unwrap_or_else(|error| panic!("WAYPOST_CRASH_SEED={seed}: {step}: {error:?}"));
    }
    workload
}

/// States of one workload that are tried one after the other.
struct Trial<'a> {
    tried: &'a Tried,
    reader: Reader,
}

impl Trial<'_> {
    /// Opens what a loss of power left, unless that was done before; it must be one of
    /// `candidates`, whole, and can be saved to. Some of these lose their power once more.
    fn recover(
        &mut self,
        files: Files,
        candidates: &[&Model],
        (depth, chance): (usize, &mut Chance),
    ) -> Result<(), String> {
        if !self.tried.add(&files) {
            return Ok(());
        }
        let disk = SimulatedDisk::with(files.clone());
        let stated = lock_file::stated(&disk);
        let is_plain = candidates.iter().all(|it| it.key.is_none() && !it.is_mixed);
        let keys = if is_plain { Vec::new() } else { keys::all_for(candidates[0].key) };
        let store = told("cannot be opened", open(&disk, &later(), &keys))?;
        lock_file::check(stated, &store)?;
        let opened = disk.changed();
        let found = told("is not whole", self.reader.read(&store, chance.happens(10)))?;
        let Some(before) = candidates.iter().rev().find(|wanted| wanted.allows(&found)) else {
            let differences = candidates.iter().map(|it| it.settled().difference(&found));
            return Err(format!("has lost something: {:#?}", differences.collect::<Vec<_>>()));
        };
        let before = &Model { is_mixed: found.is_mixed, ..(*before).clone() };
        let whole = &Model { is_mixed: false, ..before.clone() };
        // Who has keys cannot save in plain; for the others, once more now and then does no harm.
        let is_rekeyed = before.is_mixed || before.key.is_none() || chance.happens(5);
        let store =
            if !is_plain && is_rekeyed { self.rekeyed(store, &disk, whole)? } else { store };
        let rekeyed = disk.changed();
        let mut draft = told("has no draft", store.draft(NewEntry::default(), &"one more"))?;
        // The same in every state, so that the reader knows what it read before.
        let millis = draft.entry.created_at.as_millis().unsigned_abs();
        draft.entry.id = Id::from_parts(millis, [depth.to_le_bytes()[0]; 10]);
        let after = whole.with(Saved::of(&draft));
        told("cannot be saved to", store.save_draft(draft))?;
        let saved = disk.changed();
        if depth == 0 || !chance.happens(50) {
            // It has shown what it had to; how it is closed, others show.
            disk.die();
            return Ok(());
        }
        let found = told("is not whole after a save", self.reader.read(&store, false))?;
        if *found != after.settled() {
            return Err(format!("a save changed: {}", after.settled().difference(&found)));
        }
        told("cannot be closed", store.close())?;
        if chance.happens(VERIFIED_PERCENT) {
            verify(&disk)?;
        }
        let changes = disk.changes();
        let cut = chance.below(changes.len() + 1);
        let mut durable = Durable::new(files);
        changes[..cut].iter().for_each(|change| durable.pass(change, chance));
        let candidates: &[&Model] = match cut {
            cut if cut < opened => &[before],
            cut if cut < rekeyed => &[before, whole],
            cut if cut < saved => &[whole, &after],
            _ => &[&after],
        };
        let nested = self.recover(durable.cut(chance), candidates, (depth - 1, chance));
        nested.map_err(|reason| format!("recovery cut after {cut} of {}: {reason}", changes.len()))
    }

    /// Finishes a change of keys, if one was cut, and opens the store as who has its key alone.
    fn rekeyed(
        &mut self,
        store: Store,
        disk: &SimulatedDisk,
        whole: &Model,
    ) -> Result<Store, String> {
        told("cannot be rekeyed", store.rekey(whole.key))?;
        told("cannot be closed", store.close())?;
        let store = told("cannot be opened", open(disk, &later(), &whole.keys()))?;
        let found = told("is not whole with its key", self.reader.read(&store, false))?;
        if whole.allows(&found) {
            return Ok(store);
        }
        Err(format!("a change of keys changed: {}", whole.settled().difference(&found)))
    }
}

/// Holds a store that was closed to what `verify` says of it, on a real disk.
fn verify(disk: &SimulatedDisk) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = dir.path().join("store.redb");
    std::fs::write(&path, disk.content(Path::new(STORE))).map_err(|error| error.to_string())?;
    let verified = told("", Store::verify_with(&path, &keys::verify(), &mut unwatched))?;
    if verified.is_clean() { Ok(()) } else { Err(format!("does not verify: {verified:?}")) }
}

fn told<T>(what: &str, outcome: crate::error::Result<T>) -> Result<T, String> {
    outcome.map_err(|error| format!("{what}: {error:?}"))
}
