//! A damaged journal: what it still proves is taken in, in order, and nothing else.

use std::fs;
use std::time::Duration;

use waypost::{Durability, Hold, Id, NewEntry, Options, Query, Repair, Store};

const SAVED: usize = 30;
// A prime; some forty files.
const STRIDE: usize = 101;

/// A store and its journal as a kill leaves them, and the ids in the order of saving.
fn killed() -> (Vec<u8>, Vec<u8>, Vec<Id>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    let mut ids = vec![store.save(NewEntry::default(), &0).unwrap().id];
    let draft = |number| store.draft(NewEntry::default(), &vec![number; 20]).unwrap();
    let drafts = (1..SAVED).map(|it| draft(it).with_durability(Durability::Relaxed)).collect();
    ids.extend(store.batch(drafts).unwrap().into_iter().map(|entry| entry.unwrap().id));
    let bytes = fs::read(&path).unwrap();
    let mut journal = fs::read(path.with_extension("redb.journal")).unwrap();
    let end = journal.iter().rposition(|byte| *byte != 0).unwrap();
    journal.truncate(end + 100);
    (bytes, journal, ids)
}

#[test]
fn what_follows_damage_is_not_taken_in_and_not_taken_for_whole() {
    let (bytes, journal, ids) = killed();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let journal_path = dir.path().join("store.redb.journal");
    let flips = (0..journal.len()).step_by(STRIDE).map(|at| (at, false));
    let cuts = (0..journal.len()).step_by(7 * STRIDE).map(|at| (at, true));
    let mut found_some = 0;
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
        let dry_run = Repair { dry_run: true, ..Repair::default() };
        let told =
            Store::repair(&path, &dry_run, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
        let store = Store::open(&path).unwrap();
        let mut entries: Vec<_> = store.entries(Query::default()).map(Result::unwrap).collect();
        entries.sort_by_key(|entry| entry.sequence);
        let there: Vec<_> = entries.iter().map(|entry| entry.id.clone()).collect();
        assert!(ids.starts_with(&there), "byte {at}: what came first, without a gap");
        for id in &there {
            store.get(id).unwrap();
        }
        store.close().unwrap();
        let count = there.len() as u64;
        assert!(told.checkpoints >= count, "byte {at}: {told:?}");
        if found.is_clean() {
            assert_eq!(found.checkpoints + found.waiting, count, "byte {at}");
        } else {
            found_some += 1;
            assert!(there.len() < SAVED && told.checkpoints > count, "byte {at}: {found:?}");
        }
        for name in ["store.redb.journal", "store.redb.lock"] {
            let _ = fs::remove_file(dir.path().join(name));
        }
    }
    assert!(found_some > 10, "{found_some}");
}
