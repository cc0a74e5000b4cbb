//! The lock file: the store opens despite anything a power cut or another program leaves in it, and
//! spooling processes learn only the truth from it.

use std::path::Path;

use super::chance::Chance;
use super::power::Durable;
use super::simulated::{Call, Fault, Manner, SimulatedDisk};
use super::workload::{LOCK, later, open, place};
use super::{keys, run};
use crate::checkpoint::NewEntry;
use crate::store::Store;
use crate::store::engine::sealing::Sealing;
use crate::store::turn::lock::{Content, HeldStore, LockFile};

/// What the lock file tells a spooling process before any process opens the store.
pub(super) fn stated(disk: &SimulatedDisk) -> Option<HeldStore> {
    LockFile::of(&place(disk)).known()
}

/// Compares what the lock file said with the store.
pub(super) fn check(stated: Option<HeldStore>, store: &Store) -> Result<(), String> {
    let Some(stated) = stated else { return Ok(()) };
    let key = store.key().map_err(|error| error.to_string())?;
    let is_sealed_so = [Sealing::Unknown, key.into()].contains(&stated.sealing);
    if is_sealed_so && store.shared.turn.identity() == Some(stated.identity) {
        return Ok(());
    }
    Err(format!("its lock file says {stated:?}, and it has the key {key:?}"))
}

/// The lock file was not simulated. So no test showed that a power cut during an open may leave it
/// as zeros, and that such a store could not be opened.
#[test]
fn a_store_opens_whatever_a_power_cut_leaves_of_its_lock_file() {
    let (mut whole, mut damaged) = (0, 0);
    for seed in 0..6 {
        let workload = run(seed);
        let keys = if seed % 3 == 1 { keys::all() } else { Vec::new() };
        let mut durable = Durable::default();
        for (cut, change) in workload.disk.changes().iter().enumerate() {
            let mut chance = Chance::new(&[seed, cut as u64]);
            durable.pass(change, &mut chance);
            if !chance.happens(10) {
                continue;
            }
            let disk = SimulatedDisk::with(durable.cut(&mut chance));
            match LockFile::of(&place(&disk)).content() {
                Content::Whole(text) => whole += u32::from(text.known.is_some()),
                Content::Damaged => damaged += 1,
                Content::Foreign => panic!("seed {seed}, cut {cut}: it is ours"),
            }
            let stated = stated(&disk);
            let store = open(&disk, &later(), &keys).unwrap();
            check(stated, &store).unwrap();
        }
    }
    assert!(whole > 100 && damaged > 10, "{whole} whole, {damaged} damaged");
}

#[test]
fn a_store_opens_and_nothing_is_spooled_beside_a_foreign_lock_file() {
    for seed in 0..64 {
        let mut chance = Chance::new(&[seed]);
        let disk = SimulatedDisk::default();
        open(&disk, &later(), &[]).unwrap().close().unwrap();
        let length = 1 + chance.below(700);
        let noise: Vec<u8> = (0..length).map(|_| 1 + chance.next().to_le_bytes()[0] / 2).collect();
        disk.scribble(Path::new(LOCK), &noise).unwrap();
        let store = open(&disk, &later(), &[]).unwrap();
        let mut drafts = vec![store.draft(NewEntry::default(), &1).unwrap()];
        store.shared.let_go();
        assert_eq!(store.shared.spool(&mut drafts), [None]);
        store.save_draft(drafts.remove(0)).unwrap();
        store.close().unwrap();
        assert!(disk.content(Path::new(LOCK)) == noise, "seed {seed}: it is kept");
    }
}

/// On a full disk no process could open the store, even to read it.
#[test]
fn a_lock_file_that_cannot_be_written_keeps_nobody_out_unless_it_misleads() {
    let disk = SimulatedDisk::default();
    open(&disk, &later(), &[]).unwrap().close().unwrap();
    let place = place(&disk);
    let lock_file = LockFile::of(&place);
    let known = lock_file.known().unwrap();
    let no_room = || {
        let number = disk.calls(Call::Write);
        disk.fail(Fault { call: Call::Write, number, manner: Manner::NoSpace });
    };
    no_room();
    lock_file.sign("process 7", Some(known)).unwrap();
    no_room();
    let other = HeldStore { sealing: Sealing::Unknown, ..known };
    assert!(lock_file.sign("process 7", Some(other)).is_err(), "others would spool in plain");
    assert_eq!(lock_file.known(), Some(known));
}

/// A process that read from memory on a full disk wrote an outdated key to the lock file, and
/// others then spooled in plain although the store was encrypted.
#[cfg(feature = "encrypt")]
#[test]
fn a_file_in_memory_leaves_the_key_in_the_lock_file() {
    let disk = SimulatedDisk::default();
    let reader = open(&disk, &later(), &[]).unwrap();
    reader.shared.let_go();
    let keys = keys::all();
    let writer = open(&disk, &later(), &keys).unwrap();
    writer.rekey(Some(keys[0])).unwrap();
    writer.close().unwrap();
    let written = stated(&disk);
    reader.shared.turn.expect_no_room();
    reader.count().unwrap();
    reader.shared.let_go();
    assert_eq!(stated(&disk), written);
}
