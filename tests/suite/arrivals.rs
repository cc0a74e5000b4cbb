//! What was saved since somebody last looked.

use std::slice::from_ref;

use waypost::{Arrivals, NewEntry, Position, Store, Timestamp};

use crate::store::{Place, named};

fn dated(id: &str, micros: i64) -> NewEntry {
    NewEntry { created_at: Some(Timestamp::from_micros(micros)), ..named(id) }
}

/// The ids of what arrived, and where to go on.
#[track_caller]
fn arrived(store: &Store, position: Position) -> (Vec<String>, Position) {
    let Arrivals { entries, next, .. } = store.arrivals(position).unwrap();
    (entries.iter().map(|entry| entry.id.to_string()).collect(), next)
}

#[test]
fn arrivals_come_in_the_order_of_saving_whatever_time_they_are_dated() {
    let place = Place::new();
    let store = place.open();
    store.save(named("before"), &0).unwrap();
    let position = store.position().unwrap();
    assert_eq!(arrived(&store, position), (vec![], position));

    let times = [("now", 4_000_000_000_000_000), ("long-ago", 1), ("then", 5_000_000)];
    for (id, time) in times {
        store.save(dated(id, time), &id).unwrap();
    }
    let (ids, next) = arrived(&store, position);
    assert_eq!(ids, ["now", "long-ago", "then"]);
    assert_eq!(arrived(&store, next).0, Vec::<String>::new());
    // Looking changes nothing: whoever asks from before gets all of it again.
    assert_eq!(arrived(&store, position).0.len(), 3);
}

#[test]
fn another_process_is_seen_and_a_whole_batch_at_once() {
    let place = Place::new();
    let (one, other) = (place.open(), place.open());
    let position = one.position().unwrap();
    let ids: Vec<String> = (0..300).map(|number| format!("id-{number}")).collect();
    // Long enough for several chunks of a frame each.
    let state = |id: &String| id.repeat(20_000);
    let drafts = ids.iter().map(|id| other.draft(named(id), &state(id)).unwrap()).collect();
    other.batch(drafts).unwrap().into_iter().for_each(|saved| drop(saved.unwrap()));
    assert_eq!(arrived(&one, position).0, ids);
}

#[test]
fn what_is_gone_again_is_left_out_and_what_comes_after_it_is_not() {
    let place = Place::new();
    let store = place.open();
    let position = store.position().unwrap();
    let saved = ["a", "b", "c"].map(|id| store.save(named(id), &id).unwrap().id);
    store.delete(from_ref(&saved[1])).unwrap();
    store.delete_now(from_ref(&saved[2])).unwrap();
    let (ids, next) = arrived(&store, position);
    assert_eq!(ids, ["a"]);
    store.delete_now(from_ref(&saved[0])).unwrap();
    store.compact().unwrap();
    // Nothing is left that would tell how far it had come.
    let (ids, next) = arrived(&store, next);
    assert!(ids.is_empty());
    store.save(named("d"), &4).unwrap();
    assert_eq!(arrived(&store, next).0, ["d"]);
}

#[test]
fn another_store_in_the_same_place_is_new_as_a_whole() {
    let place = Place::new();
    let store = place.open();
    for id in ["a", "b"] {
        store.save(named(id), &id).unwrap();
    }
    let position = store.position().unwrap();
    store.close().unwrap();
    std::fs::remove_file(place.path()).unwrap();
    let store = place.open();
    store.save(named("c"), &3).unwrap();
    assert_eq!(arrived(&store, position).0, ["c"]);
}
