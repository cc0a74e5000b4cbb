//! Faults: each call to the disk fails in turn, and the store must report it and go on.
//!
//! Nothing acknowledged is lost, on the same boot or after a power loss. Data of a failed sync is
//! never written later.

use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::chance::Chance;
use super::check::{Reader, read_all};
use super::power::Durable;
use super::simulated::{Call, Change, Fault, Manner, SimulatedDisk};
use super::workload::{Done, Workload, later, open};
use super::{Trial, Tried};
use crate::checkpoint::NewEntry;
use crate::error::Error;
use crate::extent::{extent, number};
use crate::sync::lock;

const SEEDS: u64 = 2;
/// A default run tries each fifth fault: every call fails in every way, but not at every moment.
const STRIDE: u64 = 5;
const STEPS: usize = 14;
/// How often the power is lost after each fault, and after a failed sync.
const CUTS: usize = 2;
const SYNC_CUTS: usize = 12;

#[test]
fn whatever_call_fails_nothing_acknowledged_is_lost() {
    let (seeds, stride) = match (number("WAYPOST_CRASH_SEED"), number("WAYPOST_FAULT_SEEDS")) {
        (Some(seed), _) => (seed..seed + 1, 1),
        (None, Some(seeds)) => (0..seeds, 1),
        (None, None) => (0..SEEDS, extent(STRIDE, 1)),
    };
    let stride = usize::try_from(stride).expect("a small number");
    let cases: Vec<(u64, Fault)> = seeds.flat_map(faults).step_by(stride).collect();
    let (tried, next) = (Tried::default(), AtomicUsize::new(0));
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((seed, fault)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(reason) = fail(*seed, *fault, &tried) {
                        let failure = format!("WAYPOST_CRASH_SEED={seed}: {fault:?}: {reason}");
                        lock(&failures).push(failure);
                    }
                }
            });
        }
    });
    eprintln!("{} faults, {} states after them", cases.len(), tried.count());
    let failures = lock(&failures);
    assert!(failures.is_empty(), "{} failed, first {:?}", failures.len(), failures.first());
}

/// The process that made the store could not sync its directory, and the next one saved into it.
/// The checkpoint was on disk, but the file had no name there.
#[test]
fn the_name_of_a_store_is_on_disk_before_its_first_checkpoint() {
    let disk = SimulatedDisk::default();
    disk.fail(Fault { call: Call::SyncDirectory, number: 0, manner: Manner::Error });
    assert!(open(&disk, &later(), &[]).is_err());
    let store = open(&disk, &later(), &[]).unwrap();
    let saved = store.save(NewEntry::default(), &1).unwrap();
    for seed in 0..64 {
        let mut chance = Chance::new(&[seed]);
        let mut durable = Durable::default();
        disk.changes().iter().for_each(|change| durable.pass(change, &mut chance));
        let left = open(&SimulatedDisk::with(durable.cut(&mut chance)), &later(), &[]).unwrap();
        assert_eq!(left.get(&saved.id).unwrap().state::<i32>().unwrap(), 1);
    }
}

/// The retry used the name of the first try.
#[test]
fn a_log_that_cannot_be_started_is_tried_again_under_another_name() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    let mut drafts = [store.draft(NewEntry::default(), &1).unwrap()];
    store.shared.let_go();
    let number = disk.calls(Call::Write);
    disk.fail(Fault { call: Call::Write, number, manner: Manner::Gone });
    assert!(store.shared.spool(&mut drafts)[0].is_some());
    let mut tried = BTreeSet::new();
    for change in disk.changes() {
        let Change::Name(names) = change else { continue };
        tried.extend(names.into_iter().map(|(name, _)| name.with_extension("")).filter(|name| {
            name.parent().is_some_and(|folder| folder.ends_with("store.redb.spool"))
        }));
    }
    assert_eq!(tried.len(), 2, "{tried:?}");
    assert_eq!(store.count().unwrap(), 1);
}

/// A folder that was removed and created again had a name that was never synced.
#[test]
fn the_name_of_the_spool_is_on_disk_though_it_was_made_again() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    let spool = || {
        let mut drafts = [store.draft(NewEntry::default(), &1).unwrap()];
        store.shared.let_go();
        let before = disk.calls(Call::SyncDirectory);
        assert!(store.shared.spool(&mut drafts)[0].is_some());
        disk.calls(Call::SyncDirectory) - before
    };
    assert_eq!([spool(), spool()], [2, 0]);
    disk.remake_directories();
    assert_eq!([spool(), spool()], [1, 0]);
}

/// The folder was moved away and replaced while a save was written: the acknowledged save was in a
/// folder that no process takes in.
#[test]
fn nothing_is_spooled_into_a_log_that_is_not_at_its_path() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    let mut drafts = vec![store.draft(NewEntry::default(), &1).unwrap()];
    store.shared.let_go();
    disk.lose_spool_on_sync();
    assert_eq!(store.shared.spool(&mut drafts), [None]);
    store.save_draft(drafts.remove(0)).unwrap();
    assert_eq!(store.count().unwrap(), 1);
}

/// A log whose folder could not be synced was left, and its checkpoint was saved by the holder and
/// deleted. A power loss brought back the log, and the checkpoint with it.
#[test]
fn what_was_spooled_half_way_and_deleted_since_does_not_come_back() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    let mut drafts = vec![store.draft(NewEntry::default(), &1).unwrap()];
    store.shared.let_go();
    // The first sync is of the log's name, the second of the folder's.
    let number = disk.calls(Call::SyncDirectory) + 1;
    disk.fail(Fault { call: Call::SyncDirectory, number, manner: Manner::Error });
    assert_eq!(store.shared.spool(&mut drafts), [None]);
    let saved = store.save_draft(drafts.remove(0)).unwrap();
    store.delete_now(from_ref(&saved.id)).unwrap();
    let mut came_back = 0;
    for seed in 0..64 {
        let mut chance = Chance::new(&[seed]);
        let mut durable = Durable::default();
        disk.changes().iter().for_each(|change| durable.pass(change, &mut chance));
        let files = durable.cut(&mut chance);
        came_back += u32::from(files.names.keys().any(|it| it.to_string_lossy().ends_with("log")));
        let left = open(&SimulatedDisk::with(files), &later(), &[]).unwrap();
        assert_eq!(left.count().unwrap(), 0, "seed {seed}");
    }
    assert!(came_back > 0);
}

/// A compaction failed, and so did the rewrite that mends it. The next save was acknowledged all
/// the same, on top of pages that were not on disk.
#[test]
fn a_compaction_that_cannot_be_mended_is_mended_before_anything_is_saved() {
    let (mut number, mut told) = (0, 0);
    loop {
        let disk = SimulatedDisk::default();
        let store = open(&disk, &later(), &[]).unwrap();
        let save = |number: u64| store.save(NewEntry::default(), &noise(number));
        let mut saved: Vec<_> = (0..24).map(|it| (it, save(it).unwrap().id)).collect();
        let gone: Vec<_> = saved.drain(..12).map(|(_, id)| id).collect();
        store.delete_now(&gone).unwrap();
        let fault = Fault {
            call: Call::Sync,
            number: disk.calls(Call::Sync) + number,
            manner: Manner::Twice,
        };
        disk.fail(fault);
        told += u32::from(store.compact().is_err());
        let Some(failed) = disk.failed_at() else { break };
        for it in 24..27 {
            saved.extend(save(it).ok().map(|entry| (it, entry.id)));
        }
        assert!(saved.len() >= 14, "sync {number}: it goes on");
        let changes = disk.changes();
        for seed in 0..12 {
            let mut chance = Chance::new(&[seed, number as u64]);
            let mut durable = Durable::default();
            for change in &changes {
                durable.pass(change, &mut chance);
            }
            let left = open(&SimulatedDisk::with(durable.cut(&mut chance)), &later(), &[]);
            let left = left.unwrap_or_else(|error| panic!("sync {number} at {failed}: {error}"));
            for (number, id) in &saved {
                assert_eq!(left.get(id).unwrap().state::<Vec<u64>>().unwrap(), noise(*number));
            }
        }
        number += 1;
    }
    assert!(told > 4, "{told} of {number}");
}

/// What does not compress.
fn noise(number: u64) -> Vec<u64> {
    let mut chance = Chance::new(&[number]);
    (0..400).map(|_| chance.below(usize::MAX) as u64).collect()
}

/// Every call of a seed's workload, with every way that it can fail.
fn faults(seed: u64) -> Vec<(u64, Fault)> {
    let disk = SimulatedDisk::default();
    let mut workload = Workload::start(seed, disk.clone()).unwrap();
    (0..STEPS).for_each(|_| workload.step().unwrap());
    workload.reopen().unwrap();
    let mut faults = Vec::new();
    for call in Call::ALL {
        let manners: &[Manner] = match call {
            Call::Write => &[Manner::Error, Manner::Short, Manner::NoSpace],
            Call::Resize | Call::Create => &[Manner::Error, Manner::NoSpace],
            Call::Read | Call::Sync | Call::Rename | Call::Remove | Call::SyncDirectory => {
                &[Manner::Error]
            }
        };
        for number in 0..disk.calls(call) {
            faults.extend(manners.iter().map(|it| (seed, Fault { call, number, manner: *it })));
        }
    }
    faults
}

/// Runs the workload of a seed on a disk with a fault, and loses the power some time later.
fn fail(seed: u64, fault: Fault, tried: &Tried) -> Result<(), String> {
    let disk = SimulatedDisk::default();
    disk.fail(fault);
    let mut workload = start(seed, &disk)?;
    for _ in 0..STEPS {
        if let Err(error) = workload.step() {
            let step = workload.under_way(usize::MAX);
            go_on(&mut workload, &error).map_err(|reason| format!("after {step}: {reason}"))?;
        }
    }
    if let Err(error) = workload.reopen() {
        go_on(&mut workload, &error).map_err(|reason| format!("after closing: {reason}"))?;
    }
    check(&mut workload)?;
    let Some(failed) = disk.failed_at() else { return Err("did not happen".to_owned()) };
    let changes = disk.changes();
    let is_sync = matches!(fault.call, Call::Sync | Call::SyncDirectory);
    let cuts = if is_sync { SYNC_CUTS } else { CUTS };
    for variant in 0..cuts {
        let mut chance = Chance::new(&[seed, fault.number as u64, variant as u64]);
        // Soon after the fault more often than late.
        let rest = changes.len() + 1 - failed;
        let cut = failed + chance.below(rest).min(chance.below(rest));
        let mut durable = Durable::default();
        changes[..cut].iter().for_each(|change| durable.pass(change, &mut chance));
        let files = durable.cut(&mut chance);
        let mut trial = Trial { tried, reader: Reader::default() };
        trial.recover(files, &workload.candidates(cut), (0, &mut chance)).map_err(|reason| {
            let place = format!("failed at {failed}, cut {cut} of {}, {variant}", changes.len());
            format!("{place}, in {}: {reason}", workload.under_way(cut))
        })?;
    }
    Ok(())
}

/// Creating a store may fail; it can be retried.
fn start(seed: u64, disk: &SimulatedDisk) -> Result<Workload, String> {
    Workload::start(seed, disk.clone()).or_else(|error| {
        is_told(disk, &error)?;
        disk.free_space();
        Workload::start(seed, disk.clone()).map_err(|error| format!("cannot be made: {error:?}"))
    })
}

/// The failed call took effect or not; everything else did.
fn go_on(workload: &mut Workload, error: &Error) -> Result<(), String> {
    is_told(&workload.disk, error)?;
    workload.store.shared.spool.look_anew();
    // Reading needs no room, and shows nothing wrong.
    match read_all(&workload.store) {
        Ok(found) => {
            let candidates = workload.candidates(usize::MAX);
            if !candidates.iter().any(|it| it.allows(&found.settled())) {
                return Err("something else is read before there is space again".to_owned());
            }
        }
        Err(error) if workload.disk.is_full() => {
            return Err(format!("cannot be read on a full disk: {error:?}"));
        }
        Err(_) => {}
    }
    workload.disk.free_space();
    check(workload)
}

fn is_told(disk: &SimulatedDisk, error: &Error) -> Result<(), String> {
    match error {
        Error::Io { .. } if disk.failed_at().is_some() => Ok(()),
        // The store retries an unreadable spool file after a second.
        Error::NotFound { .. } if disk.failed_at().is_some() && disk.has_spooled() => Ok(()),
        other => Err(format!("fails in another way: {other:?}")),
    }
}

/// The content is one that the store may hold, and from now on the one that it must hold.
fn check(workload: &mut Workload) -> Result<(), String> {
    let found = read_all(&workload.store);
    let found = found.map_err(|error| format!("cannot be read: {error:?}"))?.settled();
    let candidates = workload.candidates(usize::MAX);
    let fits = candidates.iter().rev().find(|it| it.allows(&found));
    let Some(model) = fits.map(|it| (**it).clone()) else {
        let differences = candidates.iter().map(|it| it.settled().difference(&found));
        return Err(format!("differs: {:#?}", differences.collect::<Vec<_>>()));
    };
    workload.model = model.clone();
    let end = workload.disk.changed();
    workload.done.push(Done { name: "check", states: vec![model], is_durable: false, end });
    Ok(())
}
