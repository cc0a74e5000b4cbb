//! What only the inside of a store can bring about.

use std::fs;
use std::slice::from_ref;

use super::{Hold, Options, Store, file};
use crate::checkpoint::NewEntry;
use crate::sync::lock;

/// A sequence that a failed save used up hid from the delete that it removed the newest one; after
/// a crash that one came back from the journal.
#[test]
fn what_is_deleted_stays_so_though_a_sequence_was_used_up_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    let saved = [0, 1, 2].map(|number| store.save(NewEntry::default(), &number).unwrap());
    let failed = store.draft(NewEntry::default(), &3).unwrap();
    let used_up = store.shared.turn.with(|open| lock(&open.intake).place(&failed)).unwrap();
    store.delete(from_ref(&saved[2].id)).unwrap();
    let copy = dir.path().join("copy.redb");
    for suffix in ["", ".journal"] {
        fs::copy(file::beside(&path, suffix), file::beside(&copy, suffix)).unwrap();
    }
    let copy = Store::open(&copy).unwrap();
    assert!(copy.get(&saved[2].id).is_err());
    let next = copy.save(NewEntry::default(), &4).unwrap();
    assert!(next.sequence > used_up.entry.sequence);
}
