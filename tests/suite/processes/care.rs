//! Backups and repairs that are killed at any moment: nothing is half done, nothing is lost, and
//! the same command once more succeeds.
//!
//! `WAYPOST_CARE_KILLS` kills more of them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use redb::{ReadableTable as _, TableDefinition};
use rustix::process::Signal;
use waypost::{Durability, NewEntry, Store};

use super::{command, document, ended, patient, send, store_in};
use crate::extent::extent_of;

const FRAMES: TableDefinition<'_, [u8; 8], &[u8]> = TableDefinition::new("frames");
pub(super) const CHECKPOINTS: u64 = 300;

fn kills() -> u32 {
    u32::try_from(extent_of("WAYPOST_CARE_KILLS", 8, 40)).unwrap()
}

pub(super) fn fill(path: &Path) {
    let store = Store::open_with(path, patient()).unwrap();
    for number in 0..CHECKPOINTS {
        let draft = store.draft(NewEntry::default(), &document(0, number)).unwrap();
        store.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
    }
    store.close().unwrap();
}

/// Changes the last frame, on which nothing stands.
pub(super) fn damage(path: &Path) {
    let database = redb::Database::open(path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut frames = transaction.open_table(FRAMES).unwrap();
        let row = (CHECKPOINTS << 16).to_be_bytes();
        let mut bytes = frames.get(row).unwrap().unwrap().value().to_owned();
        *bytes.last_mut().unwrap() ^= 1;
        frames.insert(row, bytes.as_slice()).unwrap();
    }
    transaction.commit().unwrap();
}

/// Checks that a store is undamaged and has this many checkpoints.
#[track_caller]
pub(super) fn is_whole(path: &Path, checkpoints: u64) {
    let found = Store::verify(path, Duration::from_mins(1)).unwrap();
    assert!(found.is_clean(), "{found:?}");
    assert_eq!(found.checkpoints, checkpoints);
}

pub(super) fn run(path: &Path, args: &str) -> Output {
    command(path, args).output().unwrap()
}

/// Starts a command again and again, and kills it at moments that are spread over the time it
/// takes; `after` looks at what is left each time. How many were killed.
fn kill(path: &Path, args: &str, mut after: impl FnMut()) -> u32 {
    let start = Instant::now();
    run(path, args);
    let whole = start.elapsed();
    after();
    let kills = kills();
    let (mut killed, mut number) = (0, 0);
    // All may be quicker than a busy machine kills them; then there are more.
    while number < kills || (killed == 0 && number < 100 * kills) {
        let child = command(path, args).spawn().unwrap();
        thread::sleep(whole * (number % kills) / kills);
        number += 1;
        send(&child, Signal::KILL);
        killed += u32::from(ended(child).0.code().is_none());
        after();
    }
    assert!(killed > 0, "all of them were quicker");
    killed
}

/// The files beside a store whose names go on like this.
pub(super) fn beside(path: &Path, suffix: &str) -> Vec<PathBuf> {
    let start = format!("{}{suffix}", path.file_name().unwrap().to_str().unwrap());
    let all = fs::read_dir(path.parent().unwrap()).unwrap().map(|it| it.unwrap().path());
    all.filter(|it| it.file_name().unwrap().to_str().unwrap().starts_with(&start)).collect()
}

#[test]
fn a_backup_that_is_killed_leaves_no_copy_or_all_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = store_in(&dir);
    fill(&path);
    let copy = path.with_file_name("copy.redb");
    let mut made = 0;
    let killed = kill(&path, "backup copy.redb", || {
        is_whole(&path, CHECKPOINTS);
        if copy.exists() {
            is_whole(&copy, CHECKPOINTS);
            fs::remove_file(&copy).unwrap();
            made += 1;
        }
    });
    let left = beside(&copy, ".backup-");
    println!("{killed} killed, {made} copies made, {} drafts left", left.len());
    // A draft that may be in use stays; an old one is removed.
    for draft in &left {
        let then = SystemTime::now() - Duration::from_hours(1);
        File::options().write(true).open(draft).unwrap().set_modified(then).unwrap();
    }
    let again = run(&path, "backup copy.redb");
    assert!(again.status.success(), "{again:?}");
    is_whole(&copy, CHECKPOINTS);
    assert_eq!(beside(&copy, ".backup-"), [] as [PathBuf; 0]);
}

#[test]
fn a_repair_into_another_file_that_is_killed_leaves_the_store_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = store_in(&dir);
    fill(&path);
    damage(&path);
    let before = fs::read(&path).unwrap();
    let into = path.with_file_name("saved.redb");
    let mut made = 0;
    let killed = kill(&path, "repair --into saved.redb", || {
        assert!(fs::read(&path).unwrap() == before, "the store was changed");
        if into.exists() {
            is_whole(&into, CHECKPOINTS - 1);
            fs::remove_file(&into).unwrap();
            made += 1;
        }
    });
    println!("{killed} killed, {made} repaired");
    let again = run(&path, "repair --into saved.redb");
    assert_eq!(again.status.code(), Some(7), "{again:?}");
    is_whole(&into, CHECKPOINTS - 1);
    assert_eq!(beside(&into, ".repair.unfinished"), [] as [PathBuf; 0]);
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn a_repair_that_is_killed_leaves_the_old_store_or_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = store_in(&dir);
    fill(&path);
    damage(&path);
    let before = fs::read(&path).unwrap();
    let mut made = 0;
    let killed = kill(&path, "repair", || {
        if fs::read(&path).unwrap() == before {
            return;
        }
        is_whole(&path, CHECKPOINTS - 1);
        let aside = beside(&path, ".damaged-");
        assert!(aside.iter().any(|it| fs::read(it).unwrap() == before), "the old store is gone");
        made += 1;
        for it in &aside {
            fs::remove_file(it).unwrap();
        }
        fs::write(&path, &before).unwrap();
    });
    println!("{killed} killed, {made} repaired");
    let again = run(&path, "repair");
    assert_eq!(again.status.code(), Some(7), "{again:?}");
    is_whole(&path, CHECKPOINTS - 1);
    assert_eq!(beside(&path, ".repair.unfinished"), [] as [PathBuf; 0]);
}
