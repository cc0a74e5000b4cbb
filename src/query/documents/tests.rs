//! Documents come in the order of the query, once each, whatever cannot be read between them.

use std::ops::ControlFlow;

use super::*;
use crate::checkpoint::NewEntry;
use crate::key::Order;
use crate::store::{Durability, Limits, Options};
use crate::threads::with_at_most;

// Several parts, with series in turns.
const COUNT: u64 = 150;
const SERIES: u64 = 3;
const LONG: u64 = 70;

struct Case {
    _dir: tempfile::TempDir,
    store: Store,
}

fn issue(number: u64) -> NewEntry {
    NewEntry::issue((number % SERIES).to_string()).unwrap()
}

fn state(number: u64) -> Vec<String> {
    let long = if number == LONG { 5_000 } else { 0 };
    (number..number + 20 + long).map(|it| format!("step {it}")).collect()
}

impl Case {
    /// A store with states, one of them longer than the others.
    fn new(options: Options) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        let filled = Store::open(&path).unwrap();
        for number in 0..COUNT {
            let draft = filled.draft(issue(number), &state(number)).unwrap();
            filled.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
        }
        filled.close().unwrap();
        let store = Store::open_with(&path, options).unwrap();
        Self { _dir: dir, store }
    }

    /// A handle for which one document is too long.
    fn limited() -> Self {
        let limits = Limits { document_bytes: 8 << 10, ..Limits::default() };
        Self::new(Options { limits, ..Options::default() })
    }
}

fn oldest() -> Query {
    Query { order: Order::Oldest, ..Query::default() }
}

#[test]
fn documents_come_in_the_order_of_the_query_and_are_those_that_were_saved() {
    let case = Case::new(Options::default());
    for query in [oldest(), Query::default(), Query::issue("1").unwrap(), oldest().limit(77)] {
        let entries: Vec<Entry> = case.store.entries(query.clone()).map(Result::unwrap).collect();
        let read = case.store.documents(query.clone()).map(Result::unwrap);
        let mut count = 0;
        for (checkpoint, entry) in read.zip(&entries) {
            assert_eq!(checkpoint.entry, *entry);
            assert_eq!(checkpoint, case.store.get(&entry.id).unwrap());
            count += 1;
        }
        assert_eq!(count, entries.len(), "{query:?}");
        assert_eq!(case.store.documents(query).count(), count);
    }
    assert_eq!(case.store.documents(oldest().limit(0)).count(), 0);
}

#[test]
fn one_that_cannot_be_read_is_named_and_hides_no_other() {
    let case = Case::limited();
    for query in [oldest(), Query::default(), Query::issue((LONG % SERIES).to_string()).unwrap()] {
        let entries: Vec<Entry> = case.store.entries(query.clone()).map(Result::unwrap).collect();
        let mut documents = case.store.documents(query);
        let (mut found, mut unread) = (Vec::new(), 0);
        while let Some(document) = documents.read_next() {
            match document {
                Ok(checkpoint) => found.push(checkpoint.entry),
                Err(Unread { entry: Some(entry), error: Error::Limit { .. } }) => {
                    unread += 1;
                    found.push(*entry);
                }
                Err(unread) => panic!("{unread}"),
            }
        }
        assert_eq!(found, entries);
        // The long one, and those that are stored as deltas to it.
        assert!((1..10).contains(&unread), "{unread}");
    }
}

#[test]
fn one_that_was_deleted_after_it_was_listed_is_reported_in_its_place() {
    let case = Case::new(Options::default());
    let entries: Vec<Entry> = case.store.entries(oldest()).map(Result::unwrap).collect();
    case.store.delete(&[entries[40].id.clone()]).unwrap();
    let mut documents = case.store.documents_of(entries.iter().cloned().map(Ok));
    for (at, entry) in entries.iter().enumerate() {
        match documents.read_next().unwrap() {
            Ok(checkpoint) => assert_eq!(checkpoint.entry, *entry),
            Err(unread) => {
                assert!(at == 40 && matches!(unread.error, Error::NotFound { .. }), "{unread}");
                assert_eq!(unread.entry.unwrap().id, entry.id);
            }
        }
    }
    assert!(documents.next().is_none());
}

#[test]
fn a_list_that_fails_hands_out_what_came_before() {
    let case = Case::new(Options::default());
    let entries = case.store.entries(oldest()).take(30);
    let listed = entries.chain([Err(Error::corrupt("table", "a test"))]);
    let read: Vec<_> = case.store.documents_of(listed).collect();
    assert_eq!(read.len(), 31);
    assert!(read[..30].iter().all(Result::is_ok));
    assert!(matches!(read[30], Err(Error::Corrupt { .. })));
}

#[test]
fn what_others_do_meanwhile_ends_no_iteration() {
    let case = Case::new(Options::default());
    let other = Store::open(case.store.path()).unwrap();
    let mut count = 0;
    for (number, checkpoint) in case.store.documents(oldest()).enumerate() {
        let entry = checkpoint.unwrap().entry;
        count += 1;
        // Behind the place, before it, and at the end.
        if number % 20 == 0 && number < 100 {
            other.delete(&[entry.id]).unwrap();
            other.save(issue(1), &"new").unwrap();
        }
    }
    assert_eq!(count, COUNT + 5, "what is saved meanwhile comes last");
}

#[test]
fn texts_are_the_same_with_any_number_of_threads() {
    let case = Case::limited();
    let mut expected = Vec::new();
    for checkpoint in case.store.documents(oldest()) {
        let text = checkpoint.map(|it| it.to_json(crate::codec::JsonStyle::Compact).unwrap());
        expected.push(text.map_err(|error| error.to_string()));
    }
    let (mut documents, mut buffer) = (case.store.documents(oldest()), Vec::new());
    for expected in &expected {
        buffer.clear();
        let entry = documents.next_json(&mut buffer).unwrap();
        assert_eq!(entry.is_ok(), expected.is_ok());
        assert_eq!(buffer, expected.as_ref().map_or("", String::as_str).as_bytes());
    }
    for threads in 0..4 {
        for startable in 0..5 {
            let mut texts = Vec::new();
            with_at_most(startable, || {
                case.store.documents(oldest()).for_each_json(threads, |document| {
                    let text = document.map(|(_, text)| String::from_utf8(text.to_vec()).unwrap());
                    texts.push(text.map_err(|unread| unread.to_string()));
                    ControlFlow::Continue(())
                });
            });
            assert_eq!(texts, expected, "{threads} threads, of which {startable} start");
        }
        let mut count = 0;
        case.store.documents(oldest()).for_each_json(threads, |_| {
            count += 1;
            if count == 90 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(count, 90, "it ends when the caller has enough");
    }
}
