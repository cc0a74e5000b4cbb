//! Checkpoints saved since a position (`Store::arrivals`).

use std::fs;
use std::slice::from_ref;
use std::time::Duration;

use waypost::options::Hold;
use waypost::query::{Arrivals, Position};
use waypost::{Id, NewEntry, Options, Query, Store, Timestamp};

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
    // Reading changes nothing: a call from an earlier position returns all of it again.
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
    fs::remove_file(place.path()).unwrap();
    let store = place.open();
    store.save(named("c"), &3).unwrap();
    assert_eq!(arrived(&store, position).0, ["c"]);
}

/// A watcher that opened the store to look changed it, and so woke all others for ever.
#[test]
fn looking_for_arrivals_changes_no_byte() {
    let place = Place::new();
    let store = place.open();
    store.save(named("a"), &1).unwrap();
    let position = store.position().unwrap();
    let path = store.path().to_owned();
    store.close().unwrap();
    let state = || (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
    let before = state();
    let looking = place.open();
    assert!(looking.arrivals(position).unwrap().entries.is_empty());
    assert_eq!(looking.arrivals(Position::default()).unwrap().entries.len(), 1);
    assert!(state() == before);
    let store = place.open();
    store.tag(&Id::new("a").unwrap(), &["seen".to_owned()]).unwrap();
    assert!(looking.arrivals(position).unwrap().entries.is_empty());
    store.save(named("b"), &2).unwrap();
    assert_eq!(arrived(&looking, position).0, ["b"]);
}

/// Every view gave a spooled save another sequence. So a position beyond such a sequence skipped
/// saves of other processes, and the spooled save arrived twice.
#[test]
fn a_spooled_save_arrives_once_and_hides_no_other() {
    let place = Place::new();
    let holder =
        Store::open_with(place.path(), Options { hold: Hold::Forever, ..Options::default() })
            .unwrap();
    holder.save(named("a"), &1).unwrap();
    let spooling = Options { spool_after: Duration::ZERO, ..Options::default() };
    let other = Store::open_with(place.path(), spooling).unwrap();
    let looking = place.open();
    let (_, position) = arrived(&looking, Position::default());
    let spooled = other.save(NewEntry::default(), &2).unwrap().id.to_string();
    assert_eq!(looking.latest(&Query::default()).unwrap().unwrap().entry.id.as_str(), spooled);
    let (ids, position) = arrived(&looking, position);
    assert!(ids.is_empty(), "{ids:?}");
    // The holder takes it in first.
    holder.save(named("b"), &3).unwrap();
    let (ids, position) = arrived(&looking, position);
    assert_eq!(ids, [spooled.as_str(), "b"]);
    let spooled = other.save(NewEntry::default(), &4).unwrap().id.to_string();
    assert!(arrived(&looking, position).0.is_empty());
    holder.close().unwrap();
    assert_eq!(arrived(&looking, position).0, [spooled]);
}

#[test]
fn whoever_is_far_behind_gets_one_part_after_the_other() {
    let place = Place::new();
    let store = place.open();
    let drafts = (0..16_390).map(|it| store.draft(NewEntry::default(), &it).unwrap()).collect();
    let saved = store.batch(drafts).unwrap();
    let first = store.arrivals(Position::default()).unwrap();
    assert_eq!((first.entries.len(), first.has_more), (16_384, true));
    let second = store.arrivals(first.next).unwrap();
    assert_eq!((second.entries.len(), second.has_more), (6, false));
    let seen = first.entries.iter().chain(&second.entries).map(|entry| &entry.id);
    assert!(seen.eq(saved.iter().map(|saved| &saved.as_ref().unwrap().id)));
    assert_eq!(second.next, store.position().unwrap());
}
