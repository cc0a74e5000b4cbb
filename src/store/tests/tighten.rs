//! Compressing documents once more: smaller, the same, and only once.

use std::ops::ControlFlow;

use super::{about, links, state};
use crate::checkpoint::Entry;
use crate::store::{Options, Stage, Step, Store, Verify};

const COUNT: u32 = 70;

/// A state of several kilobytes, of which a little changes.
fn long(number: u32) -> Vec<Vec<String>> {
    (0..6).map(|part| state(part, if part == 0 { number } else { number / 16 })).collect()
}

fn stored(store: &Store) -> u64 {
    store.inventory(None).unwrap().iter().map(|entry| entry.stored_bytes).sum()
}

/// Compacts the store, and returns how many documents were compressed for that.
fn compact(store: &Store) -> u64 {
    let mut count = 0;
    let watch = &mut |step: Step| {
        if step.stage == Stage::Tighten {
            count = step.total.unwrap();
        }
        ControlFlow::Continue(())
    };
    store.compact_with(watch).unwrap();
    count
}

fn is_compressed_once(options: &Options, verify: &Verify) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open_with(&path, options.clone()).unwrap();
    let save = |number| store.save(about(0), &long(number)).unwrap();
    let mut saved: Vec<Entry> = (0..COUNT).map(save).collect();
    let (before, chains) = (stored(&store), links(&store));

    assert_eq!(compact(&store), u64::from(COUNT));
    let after = stored(&store);
    assert!(after * 20 < before * 19, "{after} of {before}");
    assert_eq!(links(&store), chains, "another base");
    assert_eq!(compact(&store), 0, "a second time");
    assert_eq!(stored(&store), after);

    saved.extend((COUNT..COUNT + 5).map(save));
    assert_eq!(compact(&store), 5, "what is new");
    store.delete_now(&[saved[0].id.clone(), saved[64].id.clone()]).unwrap();
    for (entry, number) in saved.iter().zip(0..).filter(|(_, number)| ![0, 64].contains(number)) {
        let found = store.get(&entry.id).unwrap().state::<Vec<Vec<String>>>().unwrap();
        assert_eq!(found, long(number), "{number}");
    }
    store.close().unwrap();
    let found = Store::verify_with(&path, verify, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(found.is_whole, "{found:?}");
}

#[test]
fn a_compacted_store_has_smaller_frames_that_are_not_made_again() {
    is_compressed_once(&Options::default(), &Verify::default());
}

#[cfg(feature = "encrypt")]
#[test]
fn sealed_frames_get_smaller_too() {
    let keys = vec![crate::codec::SecretKey::generate().unwrap()];
    let verify = Verify { keys: keys.clone(), ..Verify::default() };
    is_compressed_once(&Options { keys, ..Options::default() }, &verify);
}

/// Without the key a frame can be neither read nor sealed.
#[cfg(feature = "encrypt")]
#[test]
fn compacting_without_the_key_leaves_sealed_frames_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let options =
        Options { keys: vec![crate::codec::SecretKey::generate().unwrap()], ..Options::default() };
    let with_key = Store::open_with(&path, options.clone()).unwrap();
    let saved = with_key.save(about(0), &long(1)).unwrap();
    with_key.close().unwrap();
    let without = Store::open(&path).unwrap();
    assert_eq!(compact(&without), 0);
    without.close().unwrap();
    let with_key = Store::open_with(&path, options).unwrap();
    assert_eq!(with_key.get(&saved.id).unwrap().state::<Vec<Vec<String>>>().unwrap(), long(1));
    assert_eq!(compact(&with_key), 1);
}
