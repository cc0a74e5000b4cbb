//! A store with two names: refused before anything is read or written.
//!
//! Each name has a journal of its own. A save that a killed process left beside one name was
//! silently missing for a process that opened the file under the other.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::checkpoint::NewEntry;
use crate::error::Error;
use crate::store::watch::unwatched;
use crate::store::{Hold, Options, Repair, Store};
use tempfile::TempDir;

/// A store with one checkpoint, and a second name for it.
fn linked() -> (TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let dir_path = fs::canonicalize(dir.path()).unwrap();
    let (path, other) = (dir_path.join("store.redb"), dir_path.join("other.redb"));
    let store = Store::open(&path).unwrap();
    store.save(NewEntry::default(), &1).unwrap();
    store.close().unwrap();
    fs::hard_link(&path, &other).unwrap();
    (dir, path, other)
}

#[track_caller]
fn is_linked<T: std::fmt::Debug>(outcome: Result<T, Error>, others: &[&PathBuf]) {
    match outcome {
        Err(Error::Linked { names: 2, others: found, .. }) => {
            assert_eq!(found.iter().collect::<Vec<_>>(), others);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_store_with_two_names_is_refused() {
    let (_dir, path, other) = linked();
    let before = fs::read(&path).unwrap();
    for (path, other) in [(&path, &other), (&other, &path)] {
        is_linked(Store::open(path), &[other]);
        is_linked(Store::inspect(path, Duration::ZERO, &mut |_| {}), &[other]);
        is_linked(Store::verify(path, Duration::ZERO), &[other]);
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    fs::remove_file(&other).unwrap();
    assert_eq!(Store::open(&path).unwrap().count().unwrap(), 1);
}

/// A name that is added while a process has the store is seen at the next opening.
#[test]
fn a_second_name_is_seen_when_the_file_is_opened_anew() {
    let (dir, path, other) = linked();
    fs::remove_file(&other).unwrap();
    let store = Store::open(&path).unwrap();
    fs::hard_link(&path, &other).unwrap();
    store.shared.let_go();
    is_linked(store.save(NewEntry::default(), &2), &[&other]);
    is_linked(store.backup(dir.path().join("copy.redb")), &[&other]);
    fs::remove_file(&other).unwrap();
    store.save(NewEntry::default(), &2).unwrap();
    assert_eq!(store.count().unwrap(), 2);
}

#[test]
fn nothing_is_spooled_for_a_store_that_has_two_names() {
    let (_dir, path, other) = linked();
    fs::remove_file(&other).unwrap();
    let wait = Duration::from_millis(20);
    let holder = Store::open_with(&path, Options { hold: Hold::Forever, ..Options::default() });
    let holder = holder.unwrap();
    let options = Options { open_late: true, wait, ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    fs::hard_link(&path, &other).unwrap();
    is_linked(store.save(NewEntry::default(), &2), &[&other]);
    holder.close().unwrap();
    fs::remove_file(&other).unwrap();
    assert_eq!(Store::open(&path).unwrap().count().unwrap(), 1);
}

/// The advice of the guide loses nothing, whichever name the journal belongs to.
#[test]
fn a_copy_under_each_name_has_what_was_saved_under_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let store = Store::open_with(at("a"), Options { hold: Hold::Forever, ..Options::default() });
    let store = store.unwrap();
    (0..3).for_each(|number| drop(store.save(NewEntry::default(), &number).unwrap()));
    // As a kill leaves it.
    fs::copy(at("a"), at("b")).unwrap();
    fs::copy(at("a.journal"), at("b.journal")).unwrap();
    fs::hard_link(at("b"), at("c")).unwrap();
    is_linked(Store::open(at("b")), &[&fs::canonicalize(at("c")).unwrap()]);
    fs::copy(at("b"), at("b.own")).unwrap();
    fs::rename(at("b.own"), at("b")).unwrap();
    assert_eq!(Store::open(at("b")).unwrap().count().unwrap(), 3);
    drop(store);
}

/// A repair makes a file of its own, and never one with two names.
#[test]
fn a_repair_makes_a_store_with_one_name() {
    let (_dir, path, other) = linked();
    let repaired = Store::repair(&path, &Repair::default(), &mut unwatched).unwrap();
    assert_eq!(repaired.checkpoints, 1);
    assert_eq!(Store::open(&path).unwrap().count().unwrap(), 1);
    is_linked(Store::open(&other), &[repaired.aside.as_ref().unwrap()]);
    fs::remove_file(&other).unwrap();
    Store::open(repaired.aside.unwrap()).unwrap();
}
