//! A store for which no thread can be started.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use super::state;
use crate::checkpoint::{NewEntry, Series};
use crate::error::{Error, Result};
use crate::store::engine::location;
use crate::store::{Durability, Hold, Options, Repair, Store, Verify};
use crate::threads::with_at_most;

/// With a keeper it would keep the store open for an hour.
fn idle() -> Options {
    Options {
        hold: Hold::Idle(Duration::from_hours(1)),
        flush_within: Duration::from_hours(1),
        ..Options::default()
    }
}

fn without_a_keeper(path: &Path, options: Options) -> Store {
    with_at_most(0, || Store::open_with(path, options)).unwrap()
}

/// It could not be opened at all: "cannot access store.redb: Resource temporarily unavailable".
#[test]
fn without_a_keeper_every_call_leaves_the_file_closed_and_durable() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = without_a_keeper(&path, idle());
    let impatient = Options { wait: Duration::ZERO, ..Options::default() };
    let others = |count: u64| {
        assert!(!location::beside(&path, ".journal").exists(), "everything is in the file");
        let other = Store::open_with(&path, impatient.clone()).unwrap();
        assert_eq!(other.count().unwrap(), count);
        other.close().unwrap();
    };
    others(0);
    for number in [1, 2] {
        let entry = store.save(NewEntry::default(), &number).unwrap();
        others(number);
        assert_eq!(store.get(&entry.id).unwrap().state::<u64>().unwrap(), number);
        others(number);
    }
    let relaxed = store.draft(NewEntry::default(), &3).unwrap();
    store.save_draft(relaxed.with_durability(Durability::Relaxed)).unwrap();
    others(3);
    let drafts = [4, 5].map(|number| store.draft(NewEntry::default(), &number).unwrap());
    assert!(store.batch(drafts.into()).unwrap().iter().all(Result::is_ok));
    others(5);
    store.compact().unwrap();
    others(5);
    store.flush().unwrap();
    others(5);
    store.close().unwrap();
    others(5);
}

#[test]
fn without_a_keeper_states_are_still_stored_as_differences() {
    let dir = tempfile::tempdir().unwrap();
    let store = without_a_keeper(&dir.path().join("store.redb"), idle());
    let about = NewEntry { series: Some(Series::new("a").unwrap()), ..NewEntry::default() };
    let [first, second] =
        [0, 1].map(|number| store.save(about.clone(), &state(0, number)).unwrap().stored_bytes);
    assert!(second * 2 < first, "{first} and {second} bytes");
}

#[test]
fn without_a_keeper_a_sole_owner_stays_the_owner() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = without_a_keeper(&path, Options { hold: Hold::Forever, ..idle() });
    let relaxed = store.draft(NewEntry::default(), &1).unwrap();
    store.save_draft(relaxed.with_durability(Durability::Relaxed)).unwrap();
    assert!(!store.shared.keeper.is_relaxed(), "it is durable when the call ends");
    let impatient = Options { wait: Duration::ZERO, hold: Hold::Forever, ..Options::default() };
    let other = Store::open_with(&path, impatient);
    assert!(matches!(other, Err(Error::Locked { .. })));
    store.close().unwrap();
    assert_eq!(Store::open(&path).unwrap().count().unwrap(), 1);
}

/// Both panicked.
#[test]
fn a_store_is_verified_and_repaired_with_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open(&path).unwrap();
    let draft = |number: u32| store.draft(NewEntry::default(), &number).unwrap();
    store.batch((0..500).map(draft).collect()).unwrap();
    store.close().unwrap();
    for threads in 0..4 {
        let watch = &mut |_| ControlFlow::Continue(());
        let found = with_at_most(threads, || Store::verify_with(&path, &Verify::default(), watch));
        let found = found.unwrap();
        assert!(found.is_clean() && found.is_whole, "{threads} threads: {:?}", found.findings);
        assert_eq!(found.checkpoints, 500);
        let into = dir.path().join(format!("repaired-{threads}.redb"));
        let how = Repair { into: Some(into.clone()), ..Repair::default() };
        with_at_most(threads, || Store::repair(&path, &how, watch)).unwrap();
        assert_eq!(Store::open(&into).unwrap().count().unwrap(), 500, "{threads} threads");
    }
}
