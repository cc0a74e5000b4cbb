//! The log of operations: what is added up, and how much of it stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tempfile::TempDir;

use super::*;
use crate::checkpoint::NewEntry;
use crate::store::options::Options;

const HOUR: i64 = 60 * 60 * 1_000_000;

/// A store whose clock shows the returned number of microseconds.
fn dated() -> (TempDir, Store, Arc<AtomicI64>) {
    let dir = tempfile::tempdir().unwrap();
    let micros = Arc::new(AtomicI64::new(HOUR));
    let clock = micros.clone();
    let clock = Arc::new(move || Timestamp::from_micros(clock.load(Ordering::Relaxed)));
    let options = Options { clock, ..Options::default() };
    let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
    (dir, store, micros)
}

/// A row with a right sum and the largest possible count made a prune panic.
#[test]
fn counts_beyond_all_reason_are_added_up_without_a_panic() {
    let mut operation = Operation::new(Action::Prune, Timestamp::from_micros(0));
    operation.triggers.insert(Trigger::Iteration, u64::MAX);
    let more = operation.clone();
    operation.add(&more);
    assert_eq!(operation.triggers[&Trigger::Iteration], u64::MAX);
}

/// Each of 2,000 imports of one small file took 200 bytes of the store.
#[test]
fn imports_from_one_source_are_one_entry_a_day() {
    let (_dir, store, micros) = dated();
    let saved = store.save(NewEntry::issue("42").unwrap(), &1).unwrap();
    for hour in 1..=20 {
        micros.store(hour * HOUR, Ordering::Relaxed);
        store.log_import("one.json", 2).unwrap();
        store.log_import("other.json", 1).unwrap();
        if hour == 10 {
            store.delete(std::slice::from_ref(&saved.id)).unwrap();
        }
    }
    let operations = store.operations(9).unwrap();
    let sums = |it: &Operation| (it.number, it.times, it.checkpoints, it.until);
    let last = Some(Timestamp::from_micros(20 * HOUR));
    let found: Vec<_> = operations.iter().map(sums).collect();
    assert_eq!(found, [(3, 1, 1, None), (2, 20, 20, last), (1, 20, 40, last)]);
    assert_eq!(operations[2].at, Timestamp::from_micros(HOUR));
    assert_eq!(operations[2].source.as_deref(), Some("one.json"));

    micros.store(25 * HOUR, Ordering::Relaxed);
    store.log_import("one.json", 1).unwrap();
    let newest = store.operations(1).unwrap().remove(0);
    assert_eq!((newest.number, newest.times), (4, 1), "another day");
}

#[test]
fn what_was_done_once_is_written_as_before_it_was_counted() {
    let once_done = Operation::new(Action::Delete, Timestamp::from_micros(0));
    let text = serde_json::to_string(&once_done).unwrap();
    assert!(!text.contains("times"), "{text}");
    assert_eq!(serde_json::from_str::<Operation>(&text).unwrap(), once_done);
}

#[test]
fn the_log_keeps_the_last_thousand() {
    let (_dir, store, _) = dated();
    let operation = || Operation::new(Action::Delete, Timestamp::from_micros(0));
    let log = |count| {
        let all = |writer: &mut Writer<'_>| {
            (0..count).try_for_each(|_| writer.log(operation()).map(drop))
        };
        store.shared.write(all).unwrap();
    };
    log(1000);
    assert_eq!(store.operations(usize::MAX).unwrap().len(), 1000);
    log(5);
    let numbers: Vec<u64> =
        store.operations(usize::MAX).unwrap().iter().map(|it| it.number).collect();
    assert_eq!((numbers.len(), numbers[0], numbers[999]), (1000, 1005, 6));
}
