//! A damaged journal: what it proves to have had is not passed over.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use waypost::care::Repair;
use waypost::options::Hold;
use waypost::{Error, Id, NewEntry, Options, Query, Series, Store};

const SAVED: usize = 30;
// A prime; some forty files.
const STRIDE: usize = 101;

/// A store and its journal as a kill leaves them, and the ids in the order of saving.
fn killed() -> (Vec<u8>, Vec<u8>, Vec<Id>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    let save = |number: usize| {
        // Each in a series of its own, so that none stands on another.
        let series = Some(Series::new(format!("series-{number}")).unwrap());
        store.save(NewEntry { series, ..NewEntry::default() }, &vec![number; 20]).unwrap().id
    };
    let ids = (0..SAVED).map(save).collect();
    let bytes = fs::read(&path).unwrap();
    let mut journal = fs::read(path.with_extension("redb.journal")).unwrap();
    let end = journal.iter().rposition(|byte| *byte != 0).unwrap();
    journal.truncate(end + 100);
    (bytes, journal, ids)
}

/// The ids of a store in the order of saving, each with a document that can be read.
fn there(store: &Store) -> Vec<Id> {
    let mut entries: Vec<_> = store.entries(Query::default()).map(Result::unwrap).collect();
    entries.sort_by_key(|entry| entry.sequence);
    let ids: Vec<_> = entries.into_iter().map(|entry| entry.id).collect();
    for id in &ids {
        store.get(id).unwrap();
    }
    ids
}

fn clear(dir: &Path) {
    for file in fs::read_dir(dir).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
}

/// Saves after a damaged item were lost when the store was opened, and nothing reported it.
#[test]
fn no_save_behind_damage_is_passed_over() {
    let (bytes, journal, ids) = killed();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let journal_path = dir.path().join("store.redb.journal");
    let flips = (0..journal.len()).step_by(STRIDE).map(|at| (at, false));
    let cuts = (0..journal.len()).step_by(7 * STRIDE).map(|at| (at, true));
    let mut refused = 0;
    for (at, is_cut) in flips.chain(cuts) {
        let mut damaged = journal.clone();
        if is_cut {
            damaged.truncate(at);
        } else {
            damaged[at] ^= 0x21;
        }
        fs::write(&path, &bytes).unwrap();
        fs::write(&journal_path, &damaged).unwrap();
        let found = Store::verify(&path, Duration::ZERO).unwrap();
        match Store::open(&path) {
            Ok(store) => {
                assert!(found.is_clean(), "byte {at}: {found:?}");
                let there = there(&store);
                assert_eq!(found.checkpoints + found.waiting, there.len() as u64, "byte {at}");
                assert!(ids.starts_with(&there), "byte {at}: what came first, without a gap");
                assert!(is_cut || there.len() >= SAVED - 1, "byte {at}: {}", there.len());
            }
            Err(Error::Corrupt { place, reason, .. }) => {
                refused += 1;
                assert!(!found.is_clean() && !is_cut, "byte {at}: {place}");
                assert!(place.contains("store.redb.journal"), "byte {at}: {place}");
                assert!(reason.contains("waypost repair"), "byte {at}: {reason}");
                assert_eq!(fs::read(&journal_path).unwrap(), damaged, "byte {at}: it is as it was");
                let watch = &mut |_| ControlFlow::Continue(());
                let repaired = Store::repair(&path, &Repair::default(), watch).unwrap();
                let lost = repaired.lost.len();
                let there = there(&Store::open(&path).unwrap());
                assert_eq!(there.len(), SAVED - lost, "byte {at}: {repaired:?}");
                assert!(lost <= 1, "byte {at}: all but the one that is hurt");
                assert!(there.iter().all(|id| ids.contains(id)), "byte {at}");
            }
            Err(error) => panic!("byte {at}: {error}"),
        }
        clear(dir.path());
    }
    assert!(refused > 20, "{refused}");
}
