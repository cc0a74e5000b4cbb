//! A repair in place that loses its power at any moment: the path leads to the old store or to the
//! new one, and both have everything acknowledged.

use std::path::Path;

use super::chance::Chance;
use super::check::{Reader, read_all};
use super::model::Model;
use super::power::Durable;
use super::simulated::{Call, Fault, Files, Manner, SimulatedDisk};
use super::workload::{STORE, later, open, place};
use super::{Trial, Tried, keys, run};
use crate::extent::number;
use crate::store::care::repair::repair_at;
use crate::store::watch::unwatched;

const SEEDS: u64 = 12;

#[test]
fn a_repair_that_loses_its_power_leaves_the_old_store_or_the_new_one() {
    let seeds = match number("WAYPOST_CRASH_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..SEEDS,
    };
    let tried = Tried::default();
    for seed in seeds {
        // As a kill leaves it, with journal and spool.
        let workload = run(seed);
        let files = workload.disk.files();
        for is_exchanged in [false, true] {
            let disk = SimulatedDisk::with(files.clone());
            if is_exchanged {
                disk.allow_exchange();
            }
            let repaired = repair_at(&place(&disk), &keys::repair(), &mut unwatched).unwrap();
            assert_eq!(repaired.lost, []);
            lose_power((seed, &files), &disk, &workload.model, &tried);
        }
    }
    eprintln!("{} states", tried.count());
}

fn lose_power((seed, files): (u64, &Files), disk: &SimulatedDisk, model: &Model, tried: &Tried) {
    // A repair puts frames of an unfinished rekey under the key of the store.
    let whole = Model { is_mixed: false, ..model.clone() };
    let (changes, old) = (disk.changes(), files.content(Path::new(STORE)).unwrap());
    let mut trial = Trial { tried, reader: Reader::default() };
    let mut durable = Durable::new(files.clone());
    for cut in 0..=changes.len() {
        let mut chance = Chance::new(&[seed, cut as u64]);
        let files = durable.cut(&mut chance);
        assert!(has_old(&files, &old), "seed {seed}, cut {cut}: the old store is gone");
        trial.recover(files, &[model, &whole], (0, &mut chance)).unwrap_or_else(|reason| {
            panic!("WAYPOST_CRASH_SEED={seed}: cut {cut} of {}: {reason}", changes.len())
        });
        if let Some(change) = changes.get(cut) {
            durable.pass(change, &mut chance);
        }
    }
}

/// Whether the old store is at its path, or beside it.
fn has_old(files: &Files, old: &[u8]) -> bool {
    let is_its = |name: &str| name == STORE || name.starts_with(&format!("{STORE}.damaged-"));
    let names = files.names.keys().filter(|name| name.to_str().is_some_and(is_its));
    names.into_iter().any(|name| files.content(name).is_some_and(|content| content == old))
}

#[test]
fn whatever_call_of_a_repair_fails_nothing_is_lost() {
    let (workload, mut failed) = (run(0), 0);
    let files = workload.disk.files();
    let old = files.content(Path::new(STORE)).unwrap();
    for call in Call::ALL {
        for number in 0.. {
            let disk = SimulatedDisk::with(files.clone());
            disk.fail(Fault { call, number, manner: Manner::Error });
            let repaired = repair_at(&place(&disk), &keys::repair(), &mut unwatched);
            if disk.failed_at().is_none() {
                break;
            }
            failed += u32::from(repaired.is_err());
            assert!(has_old(&disk.files(), &old), "{call:?} {number}: the old store is gone");
            let store = open(&disk, &later(), &[]);
            let found = store.and_then(|store| read_all(&store));
            let found = found.unwrap_or_else(|error| panic!("{call:?} {number}: {error}"));
            assert!(workload.model.allows(&found.settled()), "{call:?} {number}");
        }
    }
    assert!(failed > 50, "{failed} told");
}
