//! A closed store on a full disk: parts of the file that no checkpoint uses are given back, so that
//! there is room to remove more.

use std::path::Path;

use super::chance::Chance;
use super::power::Durable;
use super::simulated::{Call, Fault, Manner, SimulatedDisk};
use super::workload::{LOCK, STORE, later, open};
use crate::checkpoint::{Id, NewEntry, Timestamp};
use crate::retention::{Policy, plan};
use crate::store::engine::disk::Disk as _;
use crate::store::engine::pages::Pages;

/// A store of small checkpoints without free pages, on a disk without free space, and their ids.
fn closed(number: u64) -> (SimulatedDisk, Vec<Id>) {
    let disk = SimulatedDisk::default().with_reserves();
    let store = open(&disk, &later(), &[]).unwrap();
    let draft =
        |it: u64| store.draft(NewEntry::default(), &(it, Chance::new(&[it]).below(1 << 40)));
    let drafts = (0..number).map(|it| draft(it).unwrap()).collect();
    let saved = store.batch(drafts).unwrap().into_iter().map(|it| it.unwrap().id).collect();
    store.compact().unwrap();
    store.close().unwrap();
    disk.fill();
    (disk, saved)
}

/// A large delete used up the reserve and failed. Then nothing more could be removed: the engine
/// chose free pages without blocks on disk, while other free pages had the blocks.
#[test]
fn a_large_delete_gets_its_room_from_what_it_frees() {
    let (disk, ids) = closed(1000);
    // As if another program had taken most of the reserve. Without the space of free pages, the
    // delete would need at least 40 pages.
    disk.lose(Path::new(LOCK));
    disk.leave(28);
    let store = open(&disk, &later(), &[]).unwrap();
    // Scattered, so that most pages have some of them.
    let chosen: Vec<Id> = ids.iter().step_by(2).cloned().collect();
    assert_eq!(store.delete(&chosen).unwrap().checkpoints, 500);
    store.close().unwrap();
    remove_the_rest(&disk, &ids[1]);
}

#[test]
fn a_large_delete_leaves_room_to_remove_more() {
    for (number, part) in [(60, 2), (400, 3), (1000, 5)] {
        let (disk, ids) = closed(number);
        let store = open(&disk, &later(), &[]).unwrap();
        let chosen: Vec<Id> = ids.iter().step_by(part).cloned().collect();
        assert_eq!(store.delete(&chosen).unwrap().checkpoints, chosen.len() as u64);
        store.close().unwrap();
        remove_the_rest(&disk, &ids[1]);
    }
}

fn remove_the_rest(disk: &SimulatedDisk, one: &Id) {
    let store = open(disk, &later(), &[]).unwrap();
    store.delete_now(std::slice::from_ref(one)).unwrap();
    let entries = store.inventory(None).unwrap();
    let kept = plan(&entries, &Policy::preset("last-5").unwrap(), Timestamp::now());
    store.apply_now(&kept).unwrap();
    store.compact().unwrap();
    assert_eq!(store.count().unwrap(), 5);
    store.close().unwrap();
}

/// A sync may fail because the disk is full, too. Then the header on disk names the commit before,
/// and in the cache of the kernel the new one. Pages of the former must not be given back.
#[test]
fn after_a_failed_sync_and_a_power_cut_nothing_is_missing() {
    for number in 0..8 {
        let (disk, ids) = closed(120);
        let chosen: Vec<Id> = ids.iter().step_by(3).cloned().collect();
        let store = open(&disk, &later(), &[]).unwrap();
        let number = disk.calls(Call::Sync) + number;
        disk.fail(Fault { call: Call::Sync, number, manner: Manner::NoSpace });
        let before = disk.changes().len();
        let _ = store.delete_now(&chosen);
        let mut chance = Chance::new(&[number as u64]);
        let mut durable = Durable::default();
        for (cut, change) in disk.changes().iter().enumerate() {
            durable.pass(change, &mut chance);
            if cut < before || !chance.happens(20) {
                continue;
            }
            let left = SimulatedDisk::with(durable.cut(&mut chance));
            let store = open(&left, &later(), &[]).unwrap();
            for id in ids.iter().filter(|id| !chosen.contains(id)) {
                store.get(id).unwrap();
            }
        }
    }
}

/// Giving back unused parts changes nothing in the store.
#[test]
fn what_the_last_commit_does_not_use_is_free_and_nothing_else() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    let saved: Vec<_> =
        (0..300).map(|it| store.save(NewEntry::default(), &vec![it; 90]).unwrap()).collect();
    let ids: Vec<Id> = saved.iter().step_by(2).map(|it| it.id.clone()).collect();
    store.delete_now(&ids).unwrap();
    store.close().unwrap();
    let unused = || Pages::open(disk.open(Path::new(STORE)).unwrap()).unwrap().unused().unwrap();
    let before = disk.files().pages();
    assert!(disk.open_to_write(Path::new(STORE)).unwrap().free(&unused()).unwrap());
    assert!(disk.files().pages() < before);
    assert!(!disk.open_to_write(Path::new(STORE)).unwrap().free(&unused()).unwrap());
    let store = open(&disk, &later(), &[]).unwrap();
    for (number, entry) in saved.iter().enumerate().skip(1).step_by(2) {
        assert_eq!(store.get(&entry.id).unwrap().state::<Vec<usize>>().unwrap(), vec![number; 90]);
    }
    store.save(NewEntry::default(), &1).unwrap();
    store.close().unwrap();
}

/// A damaged page may lead to others, which then seem unused.
#[test]
fn nothing_is_given_back_of_a_damaged_store() {
    let (disk, _) = closed(400);
    disk.empty();
    let path = Path::new(STORE);
    let pages = || Pages::open(disk.open(path).unwrap()).unwrap();
    let unused = pages().unused().unwrap();
    let bytes = disk.content(path).len() as u64;
    let used = |at: &u64| !unused.iter().any(|part| part.contains(at));
    for at in (0..bytes).step_by(4096).filter(used) {
        let file = disk.open_to_write(path).unwrap();
        let mut start = [0; 16];
        file.read_at(&mut start, at).unwrap();
        file.write_at(&start.map(|byte| !byte), at).unwrap();
        assert_eq!(pages().unused(), None, "the page at {at}");
        file.write_at(&start, at).unwrap();
    }
    assert_eq!(pages().unused(), Some(unused));
}
