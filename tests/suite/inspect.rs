//! Looking at a store changes nothing, whatever state it is in.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use waypost::care::{Inspection, StoreState};
use waypost::options::Hold;
use waypost::{Entry, Error, NewEntry, Options, Policy, Settings, Store};

// A process that another test starts has a copy of all locks for a moment.
const PATIENT: Duration = Duration::from_mins(1);

/// Inspects a store that no process holds.
fn inspect(path: &Path) -> Inspection {
    inspect_and_hear(path, &mut |_| {})
}

fn inspect_and_hear(path: &Path, hear: &mut dyn FnMut(&Entry)) -> Inspection {
    loop {
        let found = Store::inspect(path, Duration::ZERO, hear).unwrap();
        if found.state != StoreState::Held {
            return found;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn forever() -> Options {
    Options { hold: Hold::Forever, label: "the loop".to_owned(), ..Options::default() }
}

#[test]
fn what_a_closed_store_holds_is_told_without_a_change() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open(&path).unwrap();
    let first = store.save(NewEntry::default(), &1).unwrap();
    let last = store.save(NewEntry::default(), &2).unwrap();
    store.delete(std::slice::from_ref(&first.id)).unwrap();
    let policy = Some(Policy::preset("crunch").unwrap());
    let settings = Settings { policy, ..Settings::default() };
    store.set_settings(&settings).unwrap();
    store.close().unwrap();
    let before = fs::read(&path).unwrap();
    let mut heard = Vec::new();
    let found = inspect_and_hear(&path, &mut |it| heard.push(it.id.clone()));
    assert_eq!((found.holder, found.journal_bytes), (None, None));
    assert_eq!(found.file_bytes, before.len() as u64);
    let StoreState::Closed(contents) = found.state else { panic!("{:?}", found.state) };
    assert_eq!(contents.format, 1, "nothing of it is encrypted");
    assert_eq!((contents.checkpoints, contents.deleted, contents.damaged), (1, 1, 0));
    assert_eq!(contents.deleted_bytes, first.stored_bytes);
    assert_eq!(contents.newest, Some(last.created_at));
    assert_eq!(contents.settings, Some(settings));
    assert_eq!(heard, [last.id, first.id]);
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn who_has_the_store_is_told_and_whether_it_lets_go() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let name = format!("process {} (the loop)", std::process::id());
    let store = Store::open_with(&path, forever()).unwrap();
    let found = Store::inspect(&path, Duration::ZERO, &mut |_| {}).unwrap();
    assert_eq!(found.state, StoreState::Held);
    let holder = found.holder.unwrap();
    assert_eq!(holder.name, name);
    assert!(holder.since.is_some());
    store.close().unwrap();
    // It never lets go because it is idle, but when another waits.
    let options = Options { hold: Hold::Idle(Duration::MAX), ..forever() };
    let store = Store::open_with(&path, options).unwrap();
    // The first goes straight into the tables, the second has a journal.
    store.save(NewEntry::default(), &1).unwrap();
    store.save(NewEntry::default(), &2).unwrap();
    let found = Store::inspect(&path, PATIENT, &mut |_| {}).unwrap();
    assert_eq!(found.holder.map(|holder| holder.name), Some(name));
    assert!(matches!(found.state, StoreState::Closed(_)));
    // It was taken in when the holder let go, and no crash left it.
    assert_eq!(found.journal_bytes, None);
}

/// A copy of the files of a store in use is what a process that is killed leaves behind.
#[test]
fn what_a_crash_left_is_not_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open_with(&path, forever()).unwrap();
    // The first goes straight into the tables.
    store.save(NewEntry::default(), &1).unwrap();
    store.save(NewEntry::default(), &2).unwrap();
    let copy = dir.path().join("copy.redb");
    let journal = dir.path().join("copy.redb.journal");
    fs::copy(&path, &copy).unwrap();
    fs::copy(dir.path().join("store.redb.journal"), &journal).unwrap();
    let before = (fs::read(&copy).unwrap(), fs::read(&journal).unwrap());
    let found = inspect(&copy);
    assert_eq!(found.state, StoreState::Unclosed);
    assert_eq!(found.journal_bytes, Some(before.1.len() as u64));
    assert!((fs::read(&copy).unwrap(), fs::read(&journal).unwrap()) == before);
    assert_eq!(Store::open(&copy).unwrap().count().unwrap(), 2);
    // One that was cut as well cannot be repaired by being opened.
    fs::write(&copy, &before.0[..before.0.len() / 4]).unwrap();
    let refused = Store::inspect(&copy, PATIENT, &mut |_| {});
    assert!(matches!(refused, Err(Error::Corrupt { .. })), "{refused:?}");
}

#[test]
fn damaged_entries_are_counted_and_the_others_heard() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open(&path).unwrap();
    for session in ["before", "jackdaws", "after"] {
        let session_id = Some(session.to_owned());
        store.save(NewEntry { session_id, ..NewEntry::default() }, &1).unwrap();
    }
    store.close().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    for at in 0..bytes.len() - 8 {
        if bytes[at..].starts_with(b"jackdaws") {
            bytes[at] ^= 1;
        }
    }
    fs::write(&path, bytes).unwrap();
    let mut heard = Vec::new();
    let found = inspect_and_hear(&path, &mut |it| heard.push(it.session_id.clone()));
    let StoreState::Closed(contents) = found.state else { panic!() };
    assert_eq!((contents.checkpoints, contents.damaged), (3, 1));
    assert!(contents.damage.unwrap().starts_with("damaged data in "));
    assert_eq!(heard, [Some("before".to_owned()), Some("after".to_owned())]);
}

#[test]
fn what_is_no_store_is_told_from_what_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let of = |path: &Path| Store::inspect(path, PATIENT, &mut |_| {}).unwrap_err();
    assert!(matches!(of(dir.path()), Error::NotAStore { .. }));
    assert!(matches!(of(&dir.path().join("none")), Error::Io { .. }));
    let notes = dir.path().join("notes.txt");
    for text in [String::new(), "notes, long enough for a header\n".repeat(200)] {
        fs::write(&notes, text).unwrap();
        assert!(matches!(of(&notes), Error::NotAStore { .. }));
    }
    assert!(!dir.path().join("none").exists());
}
