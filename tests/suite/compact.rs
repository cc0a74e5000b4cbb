//! Compacting: space comes back, and nothing that is found changes.

use redb::{ReadableDatabase as _, ReadableTableMetadata as _, TableDefinition};
use waypost::{Durability, Id, Issue, LoopId, NewEntry, Query, Store};

use super::engine;
use super::store::{Place, named};

#[test]
fn compacting_gives_space_back() {
    let place = Place::new();
    let store = place.open();
    // Have nothing in common, or they would take no space to give back.
    let numbers = |seed: u64| -> Vec<u64> {
        let from = seed * 50_000;
        (from..from + 50_000).map(|it| it.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    };
    let save = |seed| store.save(NewEntry::default(), &numbers(seed)).unwrap().id;
    let ids: Vec<Id> = (0..10).map(save).collect();
    store.delete(&ids[1..]).unwrap();
    let compacted = store.compact().unwrap();
    assert!(compacted.after_bytes < compacted.before_bytes / 2, "{compacted:?}");
    assert_eq!(store.get(&ids[0]).unwrap().state::<Vec<u64>>().unwrap(), numbers(0));
}

/// Length of what no row needs in the index.
fn room_in_index(path: &std::path::Path) -> u64 {
    const INDEX: TableDefinition<'_, [u8; 22], ()> = TableDefinition::new("index");
    let database = engine::open(path);
    let transaction = database.begin_read().unwrap();
    transaction.open_table(INDEX).unwrap().stats().unwrap().fragmented_bytes()
}

#[test]
fn compacting_fills_the_index_and_changes_nothing_that_is_found() {
    let place = Place::new();
    let store = place.open();
    let about = |number: u32| NewEntry {
        loop_id: Some(LoopId::new(format!("loop-{}", number % 5)).unwrap()),
        issue: Some(Issue::new((number % 3).to_string()).unwrap()),
        phase: Some(format!("phase {}", number % 7)),
        ..NewEntry::default()
    };
    let list = |store: &Store| -> Vec<Vec<Id>> {
        let of = |number: u32| Query { phase: about(number).phase, ..Query::default() };
        let ids = |number| store.entries(of(number)).map(|entry| entry.unwrap().id).collect();
        (0..7).map(ids).collect()
    };
    for number in 0..700 {
        let draft = store.draft(about(number), &number).unwrap();
        store.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
        // Reading puts what was saved into the tables, a few rows at a time.
        if number % 4 == 0 {
            store.latest(&Query::default()).unwrap();
        }
    }
    let listed = list(&store);
    store.close().unwrap();
    let before = room_in_index(&place.path());
    let store = place.open();
    store.compact().unwrap();
    assert_eq!(list(&store), listed);
    store.close().unwrap();
    let after = room_in_index(&place.path());
    assert!(after * 4 < before, "{after} by {before}");
    let store = place.open();
    let next = store.save(about(7), &0).unwrap();
    assert_eq!(list(&store)[0][0], next.id);
}

#[test]
fn compacting_forgets_names_that_nobody_has() {
    let place = Place::new();
    let store = place.open();
    let keep = NewEntry { session_id: Some("kept".to_owned()), ..named("kept") };
    store.save(keep, &1).unwrap();
    // What was done is noted, and that takes a page.
    let gone = store.save(named("gone"), &1).unwrap();
    store.delete(&[gone.id]).unwrap();
    store.compact().unwrap();
    let before = store.compact().unwrap().after_bytes;
    for round in 0..3 {
        let drafts = (0..2000).map(|number| {
            let session_id = Some(format!("session {round} {number} {}", "x".repeat(100)));
            let loop_id = Some(LoopId::new(format!("loop {round} {number}")).unwrap());
            store.draft(NewEntry { session_id, loop_id, ..NewEntry::default() }, &1).unwrap()
        });
        let saved = store.batch(drafts.collect()).unwrap();
        let ids: Vec<Id> = saved.into_iter().map(|entry| entry.unwrap().id).collect();
        store.delete(&ids).unwrap();
        store.compact().unwrap();
        assert_eq!(store.compact().unwrap().after_bytes, before);
    }
    let kept = store.entry(&Id::new("kept").unwrap()).unwrap();
    assert_eq!(kept.session_id.as_deref(), Some("kept"));
    let query = Query { loop_id: Some(LoopId::new("loop 0 7").unwrap()), ..Query::default() };
    assert!(store.latest(&query).unwrap().is_none());
}

/// The first read after a compaction made the file 16 KiB longer than `compact` had reported: the
/// close recorded the free pages a second time.
#[test]
fn reading_a_compacted_store_does_not_grow_it() {
    for checkpoints in [1, 300, 2000] {
        let place = Place::new();
        let store = place.open();
        let drafts = (0..checkpoints).map(|number: u64| {
            let text = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_string().repeat(20);
            store.draft(NewEntry::default(), &text).unwrap()
        });
        store.batch(drafts.collect()).unwrap();
        let compacted = store.compact().unwrap().after_bytes;
        store.close().unwrap();
        for _ in 0..3 {
            let store = place.open();
            assert!(store.latest(&Query::default()).unwrap().is_some());
            store.close().unwrap();
            assert_eq!(std::fs::metadata(place.path()).unwrap().len(), compacted);
        }
    }
}

/// A new store had a megabyte of free pages.
#[test]
fn a_small_store_is_a_small_file() {
    const PAGE_BYTES: u64 = 4096;
    let place = Place::new();
    let pages = || std::fs::metadata(place.path()).unwrap().len() / PAGE_BYTES;
    let store = place.open();
    let saved = store.save(named("one"), &1).unwrap();
    store.close().unwrap();
    assert!(pages() <= 24, "{}", pages());
    let store = place.open();
    store.compact().unwrap();
    assert!(pages() <= 18, "{}", pages());
    store.delete_now(&[saved.id]).unwrap();
    store.compact().unwrap();
    store.close().unwrap();
    assert!(pages() <= 14, "{}", pages());
}
