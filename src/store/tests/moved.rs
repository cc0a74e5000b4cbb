//! Files that another program moves, removes or replaces while a process saves: every acknowledged
//! save must be found by the next process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::checkpoint::NewEntry;
use crate::store::engine::location;
use crate::store::{Durability, Hold, Options, SetAside, Store};
use crate::sync::lock;
use tempfile::TempDir;

/// A store in use, whose files can be copied as a kill would leave them.
struct Used {
    dir: TempDir,
    path: PathBuf,
    store: Store,
    told: Arc<Mutex<Vec<SetAside>>>,
}

impl Used {
    /// Has some saves in the tables and some in the journal.
    fn new() -> Self {
        let (dir, told) = (tempfile::tempdir().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let (path, tell) = (dir.path().join("store.redb"), told.clone());
        let hear = move |aside| lock(&tell).push(aside);
        let hold = Hold::Forever;
        let options = Options {
            hold,
            flush_within: Duration::MAX,
            on_set_aside: Some(Arc::new(hear)),
            ..Options::default()
        };
        let store = Store::open_with(&path, options).unwrap();
        // The calls themselves must notice it, without the keeper.
        store.shared.keeper.stop();
        let used = Self { dir, path, store, told };
        (0..5).for_each(|number| used.save(number));
        assert!(used.journal().exists());
        used
    }

    fn save(&self, number: u32) {
        self.store.save(NewEntry::default(), &number).unwrap();
    }

    fn journal(&self) -> PathBuf {
        location::beside(&self.path, ".journal")
    }

    fn elsewhere(&self) -> PathBuf {
        self.dir.path().join("elsewhere")
    }

    /// What the next process finds if this one is killed now.
    fn count_killed(&self) -> u64 {
        let copy = tempfile::tempdir().unwrap();
        for file in [&self.path, &self.journal()].into_iter().filter(|file| file.exists()) {
            fs::copy(file, copy.path().join(file.file_name().unwrap())).unwrap();
        }
        count(&copy.path().join("store.redb"))
    }
}

/// Acknowledged saves were in a deleted file, and lost with the process.
#[test]
fn no_save_is_acknowledged_from_a_journal_that_is_gone() {
    type Meddle = fn(&Used);
    let meddle: [Meddle; 3] = [
        |used| fs::remove_file(used.journal()).unwrap(),
        |used| fs::rename(used.journal(), used.elsewhere()).unwrap(),
        |used| {
            fs::rename(used.journal(), used.elsewhere()).unwrap();
            fs::copy(used.elsewhere(), used.journal()).unwrap();
        },
    ];
    for meddle in meddle {
        let used = Used::new();
        meddle(&used);
        for number in 5..8 {
            used.save(number);
            assert_eq!(used.count_killed(), u64::from(number) + 1);
        }
        assert!(used.journal().exists(), "there is a new one");
        assert_eq!(used.store.count().unwrap(), 8);
        used.store.close().unwrap();
        assert_eq!(count(&used.path), 8);
    }
}

#[test]
fn no_relaxed_save_is_flushed_into_a_journal_that_is_gone() {
    let used = Used::new();
    let draft = used.store.draft(NewEntry::default(), &5).unwrap();
    used.store.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
    fs::remove_file(used.journal()).unwrap();
    used.store.flush().unwrap();
    assert_eq!(used.count_killed(), 6);
}

/// No save follows, so only the keeper can notice before the process ends.
#[test]
fn a_keeper_notices_that_the_journal_is_gone() {
    let used = Used::new();
    fs::remove_file(used.journal()).unwrap();
    used.store.shared.turn.if_open(|open| used.store.shared.watch_journal(open)).unwrap();
    assert_eq!(used.count_killed(), 5);
}

#[test]
fn foreign_content_in_the_place_of_the_journal_is_set_aside() {
    let used = Used::new();
    fs::remove_file(used.journal()).unwrap();
    fs::write(used.journal(), "my notes").unwrap();
    (5..8).for_each(|number| used.save(number));
    assert_eq!(used.count_killed(), 8);
    let told = lock(&used.told);
    assert_eq!((told.len(), told[0].reason.as_str()), (1, "it is not a journal"));
    assert_eq!(fs::read_to_string(&told[0].path).unwrap(), "my notes");
}

/// The save went into a deleted file, and was acknowledged.
#[test]
fn no_save_is_acknowledged_from_a_store_that_is_gone() {
    for is_relaxed in [false, true] {
        let used = Used::new();
        let save = |number: u32| {
            let draft = used.store.draft(NewEntry::default(), &number).unwrap();
            let how = if is_relaxed { Durability::Relaxed } else { Durability::Immediate };
            used.store.save_draft(draft.with_durability(how)).unwrap()
        };
        fs::rename(&used.path, used.elsewhere()).unwrap();
        save(5);
        assert_eq!(used.count_killed(), 1, "in a new store at the path");
        assert!(count(&used.elsewhere()) >= 5, "all before is in the one that was moved");
        // The same store comes back to the path, and has the save once.
        fs::rename(used.elsewhere(), &used.path).unwrap();
        save(6);
        assert!(used.count_killed() >= 6);
        fs::remove_file(&used.path).unwrap();
        save(7);
        assert_eq!(used.count_killed(), 1);
    }
}

#[test]
fn no_change_is_acknowledged_from_a_store_that_is_gone() {
    let used = Used::new();
    let id = used.store.save(NewEntry::default(), &5).unwrap().id;
    fs::rename(&used.path, used.elsewhere()).unwrap();
    let error = used.store.tag(&id, &["kept".to_owned()]).unwrap_err();
    assert!(error.to_string().contains("cannot access"), "{error}");
    fs::rename(used.elsewhere(), &used.path).unwrap();
    used.store.tag(&id, &["kept".to_owned()]).unwrap();
    assert_eq!(used.count_killed(), 6);
}

fn count(path: &Path) -> u64 {
    Store::open(path).unwrap().count().unwrap()
}
