//! Backups: a complete copy of one moment while other processes save.

use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use waypost::care::{Backup, Stage};
use waypost::options::Hold;
use waypost::{Durability, Error, NewEntry, Options, Query, Store};

const WAIT: Duration = Duration::from_mins(1);

#[test]
fn a_copy_is_whole_while_others_save() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open(&path).unwrap();
    let other = Store::open(&path).unwrap();
    let saved = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let save = |store: &Store| {
        while !is_over.load(Ordering::Relaxed) {
            let number = saved.fetch_add(1, Ordering::Relaxed);
            store.save(NewEntry::default(), &vec![number; 300]).unwrap();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| save(&store));
        scope.spawn(|| save(&other));
        for number in 0..3 {
            let before = store.count().unwrap();
            let copy = dir.path().join(format!("copy-{number}.redb"));
            let copied = store.backup(&copy).unwrap();
            assert!(copied.is_whole && copied.checkpoints >= before, "{copied:?}, {before}");
            let found = Store::verify(&copy, WAIT).unwrap();
            assert_eq!(found.findings, []);
            assert_eq!((found.checkpoints, found.waiting), (copied.checkpoints, 0));
            assert_eq!(fs::metadata(&copy).unwrap().len(), copied.bytes);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let names = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name());
    let left: Vec<_> = names.filter(|it| it.to_string_lossy().contains(".backup")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_copy_is_a_store_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("store.redb"), dir.path().join("copy.redb"));
    // A sole owner has a journal, and relaxed saves that are in it only.
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    for number in 0..5 {
        let draft = store.draft(NewEntry::default(), &number).unwrap();
        store.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
    }
    let position = store.position().unwrap();
    assert_eq!(store.backup(&copy).unwrap().checkpoints, 5);
    let copied = Store::open(&copy).unwrap();
    let list =
        |store: &Store| -> Vec<_> { store.entries(Query::default()).map(Result::unwrap).collect() };
    assert_eq!(list(&copied), list(&store));
    // For another store, everything is new.
    assert_eq!(copied.arrivals(position).unwrap().entries.len(), 5);
    copied.save(NewEntry::default(), &1).unwrap();
    store.save(NewEntry::default(), &2).unwrap();
    assert_eq!((list(&copied).len(), list(&store).len()), (6, 6));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn nothing_is_replaced_unless_that_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy.redb");
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    store.save(NewEntry::default(), &1).unwrap();
    fs::write(&copy, "mine").unwrap();
    let refused = store.backup(&copy);
    assert!(matches!(refused, Err(Error::Io { .. })), "{refused:?}");
    assert_eq!(fs::read(&copy).unwrap(), b"mine");
    let itself = store
        .backup_with(store.path(), Backup { overwrite: true }, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(itself, Err(Error::Invalid { .. })), "{itself:?}");
    let wanted = Backup { overwrite: true };
    let replace = || store.backup_with(&copy, wanted, &mut |_| ControlFlow::Continue(()));
    // Even then, a file that is no store stays, and so does a store that a process holds.
    assert!(matches!(replace(), Err(Error::Invalid { .. })));
    assert_eq!(fs::read(&copy).unwrap(), b"mine");
    fs::write(&copy, "").unwrap();
    replace().unwrap();
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let held = Store::open_with(&copy, options).unwrap();
    assert!(matches!(replace(), Err(Error::Locked { .. })));
    drop(held);
    replace().unwrap();
    assert!(Store::verify(&copy, WAIT).unwrap().is_clean());
}

#[test]
fn a_backup_that_is_ended_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy.redb");
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    store.save(NewEntry::default(), &1).unwrap();
    for stage in [Stage::Copy, Stage::Pages] {
        let copied = store.backup_with(&copy, Backup::default(), &mut |step| {
            if step.stage == stage { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(!copied.unwrap().is_whole);
        let names = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with("copy")));
    }
}

#[test]
fn a_damaged_store_is_not_copied_as_if_it_were_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("store.redb"), dir.path().join("copy.redb"));
    let text = "Jackdaws love my big sphinx of quartz";
    let store = Store::open(&path).unwrap();
    store.save(NewEntry::default(), text).unwrap();
    store.close().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let is_text = |at: &usize| bytes[*at..].starts_with(text.as_bytes());
    let places: Vec<usize> = (0..bytes.len()).filter(is_text).collect();
    for at in places {
        bytes[at] ^= 1;
    }
    fs::write(&path, bytes).unwrap();
    let refused = Store::open(&path).unwrap().backup(&copy);
    assert!(matches!(refused, Err(Error::Corrupt { .. })), "{refused:?}");
    assert!(!copy.exists());
}

/// The next backup removed a user's copies whose names look like unfinished ones.
#[test]
fn only_what_a_backup_left_unfinished_is_swept() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    store.save(NewEntry::default(), &1).unwrap();
    let unique = "0123456789abcdef0123456789abcdef";
    let names = [
        format!("copy.redb.backup-{unique}"),
        "copy.redb.backup-01234567-89ab-cdef-0123-456789abcdef".to_owned(),
        "copy.redb.backup-1.unfinished".to_owned(),
        format!("copy.redb.backup-{unique}.unfinished"),
    ];
    let old = std::time::SystemTime::now() - Duration::from_hours(1);
    for name in &names {
        let file = fs::File::create(dir.path().join(name)).unwrap();
        file.set_modified(old).unwrap();
    }
    store.backup(dir.path().join("copy.redb")).unwrap();
    let is_there = |name: &String| dir.path().join(name).exists();
    assert_eq!(names.iter().map(is_there).collect::<Vec<_>>(), [true, true, true, false]);
}
