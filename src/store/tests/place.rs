//! Files that are moved or replaced while a process has them, opens them, or waits for them.
//!
//! A lock is on a file and not on its name, so the lock holder may have a file that no process will
//! find again.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::NewEntry;
use crate::error::Error;
use crate::store::engine::disk::{RealDisk, StorePath};
use crate::store::engine::location;
use crate::store::log::journal::Journal;
use crate::store::turn::file::{self, Refusal};
use crate::store::turn::lock::LockFile;
use crate::store::watch::{Stage, unwatched};
use crate::store::{Backup, Hold, Options, Repair, Store};
use tempfile::TempDir;

/// A store with one checkpoint, and another beside it with two.
fn two_stores() -> (TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (path, other) = (dir.path().join("store.redb"), dir.path().join("other.redb"));
    for (path, count) in [(&path, 1), (&other, 2)] {
        let store = Store::open(path).unwrap();
        (0..count).for_each(|number| drop(store.save(NewEntry::default(), &number).unwrap()));
        store.close().unwrap();
    }
    (dir, path, other)
}

fn count(path: &Path) -> u64 {
    Store::open(path).unwrap().count().unwrap()
}

/// Takes a turn and lets the file go. A call that only reads would not take a turn.
fn enter(path: &Path) {
    Store::open(path).unwrap().shared.turn.with(|_| Ok(())).unwrap();
}

fn forever() -> Options {
    Options { hold: Hold::Forever, wait: Duration::from_millis(20), ..Options::default() }
}

/// Opens a store that no process has. A process started by another test has duplicates of its locks
/// for a moment, and these options hardly wait longer.
fn opened(path: &Path, options: &Options) -> Store {
    loop {
        match Store::open_with(path, options.clone()) {
            Err(Error::Locked { .. }) => {}
            opened => return opened.unwrap(),
        }
    }
}

/// A process that had opened the file before a repair replaced it got the lock of the old file,
/// which had no name any more. Its saves were lost when it closed the file.
#[test]
fn who_locks_a_file_that_was_replaced_meanwhile_opens_the_one_at_the_path() {
    let (dir, path, other) = two_stores();
    // The engine repairs what a crash left, and the test can watch that.
    let (held, crashed) = (opened(&path, &forever()), dir.path().join("crashed"));
    held.save(NewEntry::default(), &2).unwrap();
    fs::copy(&path, &crashed).unwrap();
    held.close().unwrap();
    fs::rename(&crashed, &path).unwrap();
    let replace = {
        let path = path.clone();
        move |_| drop(fs::rename(&other, &path))
    };
    let options = Options { on_repair: Some(Arc::new(replace)), ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    store.save(NewEntry::default(), &3).unwrap();
    store.close().unwrap();
    assert_eq!(count(&path), 3);
}

#[test]
fn a_lock_on_a_file_that_is_elsewhere_is_none() {
    let (_dir, path, other) = two_stores();
    let file = File::open(&path).unwrap();
    let checked = || file::check_place(&RealDisk, &file, &path);
    assert!(checked().is_ok());
    fs::rename(&other, &path).unwrap();
    assert!(matches!(checked(), Err(Refusal::Held)));
    fs::remove_file(&path).unwrap();
    assert!(matches!(checked(), Err(Refusal::Held)));
}

/// A process whose file was moved away went on saving into it, for as long as it had the file.
#[test]
fn who_has_a_file_that_was_moved_lets_it_go() {
    let (dir, path, other) = two_stores();
    for options in [forever(), Options { hold: Hold::Idle(Duration::MAX), ..forever() }] {
        let store = opened(&path, &options);
        assert!(!store.shared.turn.is_over());
        fs::rename(&path, dir.path().join("moved")).unwrap();
        fs::copy(&other, &path).unwrap();
        // Unless its keeper has seen it before.
        store.shared.turn.is_over().then(|| store.shared.let_go());
        assert_eq!(store.count().unwrap(), 2);
        store.save(NewEntry::default(), &3).unwrap();
        store.close().unwrap();
        assert_eq!(count(&path), 3);
        fs::rename(dir.path().join("moved"), &path).unwrap();
        assert_eq!(count(&path), 1);
    }
}

/// A process that closed a replaced store removed the journal of the new one.
#[test]
fn a_journal_of_another_store_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb.journal");
    let mut journal = Journal::new(Arc::new(RealDisk), path.clone(), 1);
    assert!(journal.prepare(1));
    fs::rename(&path, dir.path().join("aside")).unwrap();
    let mut other = Journal::new(Arc::new(RealDisk), path.clone(), 2);
    assert!(other.prepare(1));
    journal.remove();
    assert!(path.exists());
    other.remove();
    assert!(!path.exists());
}

/// A store put in the place of the damaged one was treated as the damaged one.
#[test]
fn a_repair_does_not_replace_what_it_did_not_read() {
    let (_dir, path, other) = two_stores();
    let mut watch = |_| {
        let _ = fs::rename(&other, &path);
        ControlFlow::Continue(())
    };
    let error = Store::repair(&path, &Repair::default(), &mut watch).unwrap_err();
    assert!(error.to_string().contains("another file took its place"), "{error}");
    assert_eq!(count(&path), 2);
}

/// The backup copied the file without a name.
#[test]
fn a_backup_is_of_the_store_at_the_path() {
    let (dir, path, other) = two_stores();
    let store = Store::open(&path).unwrap();
    let copy = dir.path().join("copy.redb");
    let mut watch = |step: crate::store::Step| {
        if step.stage == Stage::Copy {
            store.shared.let_go();
            let _ = fs::rename(&other, &path);
        }
        ControlFlow::Continue(())
    };
    assert_eq!(store.backup_with(&copy, Backup::default(), &mut watch).unwrap().checkpoints, 2);
    assert_eq!(count(&copy), 2);
}

/// A process whose file was replaced by a backup went on saving into one without a name.
#[test]
fn a_backup_replaces_no_store_that_somebody_has() {
    let (_dir, path, other) = two_stores();
    let store = opened(&path, &forever());
    let target = opened(&other, &forever());
    let overwrite = || store.backup_with(&other, Backup { overwrite: true }, &mut unwatched);
    assert!(matches!(overwrite(), Err(Error::Locked { .. })));
    target.close().unwrap();
    overwrite().unwrap();
    assert_eq!(count(&other), 1);
}

/// A store put at the path by hand set aside what was spooled for the old one.
#[test]
fn nothing_is_spooled_for_a_store_that_was_replaced() {
    let (_dir, path, other) = two_stores();
    let options = || Options {
        open_late: true,
        spool_after: Duration::ZERO,
        wait: Duration::from_millis(20),
        ..Options::default()
    };
    let store = Store::open_with(&path, options()).unwrap();
    store.shared.let_go();
    // As a process holds it that only reads, and does not write down the identity.
    let held = File::open(&path).unwrap();
    held.lock().unwrap();
    store.save(NewEntry::default(), &2).unwrap();
    Store::open_with(&path, options()).unwrap().save(NewEntry::default(), &3).unwrap();
    fs::rename(&other, &path).unwrap();
    let held = File::open(&path).unwrap();
    held.lock().unwrap();
    assert!(matches!(store.save(NewEntry::default(), &4), Err(Error::Locked { .. })));
    assert!(matches!(Store::open_with(&path, options()), Err(Error::Locked { .. })));
}

#[test]
fn a_lock_file_that_does_not_say_which_file_it_was_is_read() {
    let (_dir, path, _) = two_stores();
    let lock_path = location::beside(&path, ".lock");
    let lock_file = LockFile::of(&StorePath::real(path));
    let known = lock_file.known().unwrap();
    let text = fs::read_to_string(&lock_path).unwrap();
    let text = text.trim_end();
    assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [0, 16, 48, 5, 20]);
    // The format of older builds: no file identity, no checksum.
    let old: Vec<&str> = text.lines().filter(|line| line.len() <= 16).collect();
    fs::write(&lock_path, old.join("\n") + "\n").unwrap();
    let old = lock_file.known().unwrap();
    assert_eq!((old.identity, old.sealing), (known.identity, known.sealing));
}

/// If a power cut had left the lock file as zeros, or it held the notes of a user, every open of
/// the store failed.
#[test]
fn a_store_opens_whatever_its_lock_file_holds() {
    let (_dir, path, _) = two_stores();
    let lock_path = location::beside(&path, ".lock");
    let lock_file = LockFile::of(&StorePath::real(path.clone()));
    let text = fs::read(&lock_path).unwrap();
    let text = text.trim_ascii_end();
    let lost: [&[u8]; 4] = [b"", &[0; 85], b"proc", &text[..text.len() - 1]];
    let foreign: [&[u8]; 3] =
        [b"my notes\n0000000000000001\nplain\n", &[0xff; 5], &vec![7; 100_000]];
    for content in lost {
        fs::write(&lock_path, content).unwrap();
        assert_eq!(lock_file.known(), None);
        enter(&path);
        assert!(lock_file.known().is_some(), "it is written anew");
    }
    for content in foreign {
        fs::write(&lock_path, content).unwrap();
        assert_eq!(lock_file.known(), None);
        assert_eq!(lock_file.holder(), "another process");
        // It works as a lock all the same.
        let waits = lock_file.announce().unwrap();
        assert!(lock_file.is_awaited());
        enter(&path);
        drop(waits);
        assert!(!lock_file.is_awaited());
        assert!(fs::read(&lock_path).unwrap() == content, "it is kept");
    }
}

/// The target of the link was overwritten.
#[cfg(unix)]
#[test]
fn a_lock_file_that_is_a_link_is_not_followed() {
    let (dir, path, _) = two_stores();
    let (lock, elsewhere) = (location::beside(&path, ".lock"), dir.path().join("elsewhere"));
    fs::remove_file(&lock).unwrap();
    fs::write(&elsewhere, "precious").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
    let saved = Store::open(&path).unwrap().save(NewEntry::default(), &1);
    assert!(matches!(saved, Err(Error::Io { path, .. }) if path == lock));
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
}
