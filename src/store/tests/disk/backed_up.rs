//! A backup that loses its power at any moment, or meets a failing disk: the store keeps everything
//! acknowledged, and the copy is complete or absent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chance::Chance;
use super::check::{Reader, read_all};
use super::model::Model;
use super::power::Durable;
use super::simulated::{Call, Fault, Files, Manner, SimulatedDisk};
use super::workload::{later, open, open_at};
use super::{Trial, Tried, keys, run};
use crate::codec::KeyId;
use crate::error::Result;
use crate::extent::number;
use crate::store::Backup;
use crate::store::engine::disk::StorePath;
use crate::store::watch::unwatched;

const SEEDS: u64 = 12;
const COPY: &str = "/disk/copy.redb";

#[test]
fn a_backup_that_loses_its_power_is_whole_or_not_there() {
    let seeds = match number("WAYPOST_CRASH_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..SEEDS,
    };
    let tried = Tried::default();
    for seed in seeds {
        // As a kill leaves it, with journal and spool.
        let workload = run(seed);
        let files = workload.disk.files();
        lose_power((seed, &files), &workload.model, None, &tried);
        // The copy then replaces an older, cleanly closed one.
        let disk = SimulatedDisk::with(files);
        back_up(&disk, &workload.model, Backup::default()).unwrap();
        let (files, old) = (disk.files(), disk.content(Path::new(COPY)));
        lose_power((seed, &files), &workload.model, Some(&old), &tried);
    }
    eprintln!("{} states", tried.count());
}

fn lose_power((seed, files): (u64, &Files), model: &Model, old: Option<&[u8]>, tried: &Tried) {
    let disk = SimulatedDisk::with(files.clone());
    back_up(&disk, model, Backup { overwrite: old.is_some() }).unwrap();
    let changes = disk.changes();
    let mut trial = Trial { tried, reader: Reader::default() };
    let mut durable = Durable::new(files.clone());
    for cut in 0..=changes.len() {
        let mut chance = Chance::new(&[seed, cut as u64]);
        let files = durable.cut(&mut chance);
        let place = format!("WAYPOST_CRASH_SEED={seed}: cut {cut} of {}", changes.len());
        let has_copy = check_copy(&files, model, old, &place);
        let is_told = cut == changes.len();
        assert!(has_copy || !is_told, "{place}: the backup is gone that was told to be made");
        trial
            .recover(files, &[model], (0, &mut chance))
            .unwrap_or_else(|reason| panic!("{place}: {reason}"));
        if let Some(change) = changes.get(cut) {
            durable.pass(change, &mut chance);
        }
    }
}

/// Whether there is a copy. It must be complete: the old one, or a store with everything.
fn check_copy(files: &Files, model: &Model, old: Option<&[u8]>, place: &str) -> bool {
    let Some(content) = files.content(Path::new(COPY)) else {
        assert_eq!(old, None, "{place}: the old copy is gone");
        return false;
    };
    if old == Some(&content) {
        return true;
    }
    let disk = SimulatedDisk::with(files.clone());
    let store = open_at(copy(&disk), &later(), &keys_of(model));
    let found = store.and_then(|store| read_all(&store));
    let found = found.unwrap_or_else(|error| panic!("{place}: the copy is not whole: {error}"));
    assert!(model.allows(&found.settled()), "{place}: the copy lacks something");
    true
}

#[test]
fn whatever_call_of_a_backup_fails_the_store_stays_whole() {
    let (workload, mut failed) = (run(0), 0);
    let files = workload.disk.files();
    for call in Call::ALL {
        for number in 0.. {
            let disk = SimulatedDisk::with(files.clone());
            disk.fail(Fault { call, number, manner: Manner::Error });
            let copied = back_up(&disk, &workload.model, Backup::default());
            if disk.failed_at().is_none() {
                break;
            }
            failed += u32::from(copied.is_err());
            let place = format!("{call:?} {number}");
            let has_copy = check_copy(&disk.files(), &workload.model, None, &place);
            assert!(has_copy || copied.is_err(), "{place}: told to be made");
            let store = open(&disk, &later(), &keys_of(&workload.model));
            let found = store.and_then(|store| read_all(&store));
            let found = found.unwrap_or_else(|error| panic!("{place}: {error}"));
            assert!(workload.model.allows(&found.settled()), "{place}");
        }
    }
    assert!(failed > 50, "{failed} told");
}

/// A lock of the copy that another thread's new process had a duplicate of ended the backup.
#[test]
fn a_lock_that_is_refused_once_does_not_end_a_backup() {
    let workload = run(0);
    let files = workload.disk.files();
    let mut refused = 0;
    loop {
        let disk = SimulatedDisk::with(files.clone());
        disk.refuse_lock(refused);
        let copied = back_up(&disk, &workload.model, Backup::default());
        if !disk.has_refused_lock() {
            break;
        }
        copied.unwrap_or_else(|error| panic!("lock {refused}: {error}"));
        refused += 1;
    }
    assert!(refused >= 2, "{refused} locks");
}

/// Makes a backup of what a kill left.
fn back_up(disk: &SimulatedDisk, model: &Model, backup: Backup) -> Result<()> {
    let store = open(disk, &later(), &keys_of(model))?;
    let copied = store.backup_at(&copy(disk), backup, &mut unwatched)?;
    assert!(copied.is_whole);
    // The process is killed then.
    std::mem::forget(store);
    Ok(())
}

fn keys_of(model: &Model) -> Vec<KeyId> {
    let is_plain = model.key.is_none() && !model.is_mixed;
    if is_plain { Vec::new() } else { keys::all_for(model.key) }
}

fn copy(disk: &SimulatedDisk) -> StorePath {
    StorePath { path: PathBuf::from(COPY), disk: Arc::new(disk.clone()) }
}
