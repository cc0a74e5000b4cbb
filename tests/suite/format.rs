//! What is on disk: old stores are read, newer ones refused, other files left alone.

use std::fmt::Write as _;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redb::{ReadableDatabase as _, TableDefinition};
use waypost::care::Repair;
use waypost::source::{JsonStyle, Source};
use waypost::{Entry, Error, NewEntry, Options, Order, Query, Store, Timestamp};

use super::engine;

const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

fn made_with_format(path: &Path, format: u64) {
    drop(Store::open(path).unwrap());
    let database = engine::open(path);
    let transaction = database.begin_write().unwrap();
    transaction.open_table(META).unwrap().insert("format", format).unwrap();
    transaction.commit().unwrap();
}

fn refused(path: &Path) -> Error {
    let before = fs::read(path).unwrap_or_default();
    let error = Store::open(path).unwrap_err();
    assert_eq!(fs::read(path).unwrap_or_default(), before);
    error
}

#[test]
fn a_newer_format_is_refused_and_left_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    made_with_format(&path, 5);
    let error = refused(&path);
    assert!(matches!(error, Error::TooNew { found: 5, supported: 4, .. }), "{error}");
}

fn format_of(path: &Path) -> u64 {
    let database = engine::open(path);
    let meta = database.begin_read().unwrap().open_table(META).unwrap();
    meta.get("format").unwrap().unwrap().value()
}

/// A store whose clock shows one of these after the other.
fn clocked(path: &Path, seconds: &[i64]) -> Store {
    let left = Mutex::new(seconds.to_vec());
    let last = *seconds.last().unwrap();
    let clock = move || {
        let mut left = left.lock().unwrap();
        let now = if left.is_empty() { last } else { left.remove(0) };
        Timestamp::from_micros(now * 1_000_000)
    };
    Store::open_with(path, Options { clock: Arc::new(clock), ..Options::default() }).unwrap()
}

/// A build that does not know lags would take the order time for the date.
#[test]
fn a_store_has_format_3_from_the_first_save_by_a_clock_that_is_behind() {
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("store.redb"), dir.path().join("copy.redb"));
    let store = Store::open(&path).unwrap();
    let stated = |seconds: i64| NewEntry {
        created_at: Some(Timestamp::from_micros(seconds * 1_000_000)),
        ..NewEntry::default()
    };
    (0..3).for_each(|number| drop(store.save(stated(9 - number), &number).unwrap()));
    store.save(NewEntry::default(), &3).unwrap();
    store.close().unwrap();
    assert_eq!(format_of(&path), 1, "stated times and a clock that is right change nothing");
    let store = clocked(&path, &[5]);
    store.save(NewEntry::default(), &4).unwrap();
    // As a crash would leave it: the format is on disk with the checkpoint, and no journal has it.
    fs::copy(&path, &copy).unwrap();
    assert!(!dir.path().join("store.redb.journal").exists());
    assert_eq!(format_of(&copy), 3);
    store.save(NewEntry::default(), &5).unwrap();
    store.close().unwrap();
    assert_eq!(format_of(&path), 3);
    assert!(Store::verify(&path, Duration::from_mins(1)).unwrap().is_clean());
}

#[test]
fn a_repair_keeps_the_order_and_the_format() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = clocked(&path, &[900]);
    let first = store.save(NewEntry::default(), &0).unwrap();
    store.close().unwrap();
    let store = clocked(&path, &[100]);
    (1..4).for_each(|number| drop(store.save(NewEntry::default(), &number).unwrap()));
    store.delete(std::slice::from_ref(&first.id)).unwrap();
    let listed = |store: &Store| {
        store.entries(Query::default()).map(|it| it.unwrap()).collect::<Vec<Entry>>()
    };
    let before = listed(&store);
    store.close().unwrap();
    let repaired = Store::repair(&path, &Repair::default(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(repaired.unwrap().lost, []);
    assert_eq!(format_of(&path), 3);
    let store = clocked(&path, &[50]);
    assert_eq!(listed(&store), before);
    let last = store.save(NewEntry::default(), &4).unwrap();
    store.undelete(std::slice::from_ref(&first.id)).unwrap();
    let found = listed(&store);
    assert_eq!((&found[0], &found[4]), (&last, &first));
    let until = Query { until: Some(Timestamp::from_micros(100_000_001)), ..Query::default() };
    assert_eq!(store.entries(until).count(), 4);
}

#[test]
fn an_older_format_than_any_is_refused_and_left_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    made_with_format(&path, 0);
    let error = refused(&path);
    assert!(matches!(error, Error::TooOld { found: 0, oldest: 1, .. }), "{error}");
}

#[test]
fn what_is_not_a_store_is_refused_and_left_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    for content in ["", "x", "{\"a\": 1}", &"text ".repeat(10_000)] {
        fs::write(&path, content).unwrap();
        let error = refused(&path);
        assert!(matches!(error, Error::NotAStore { .. }), "{content:.9}: {error}");
    }
    let error = refused(dir.path());
    assert!(matches!(error, Error::NotAStore { .. }), "{error}");
    let other = dir.path().join("other.redb");
    drop(redb::Database::create(&other).unwrap());
    let error = refused(&other);
    assert!(matches!(error, Error::NotAStore { .. }), "{error}");
}

#[test]
fn a_place_that_does_not_exist_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("missing/store.redb");
    let Error::Io { path: named, .. } = Store::open(&path).unwrap_err() else {
        panic!("another error");
    };
    assert_eq!(named, dir.path().join("missing"));
}

#[test]
fn only_the_owner_can_read_a_store() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    drop(Store::open(&path).unwrap());
    for file in fs::read_dir(dir.path()).unwrap() {
        let mode = file.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// The content of a fixture, as text. Fixtures are never written again.
fn listing_of(store: &Store) -> String {
    let query = Query { order: Order::Oldest, ..Query::default() };
    let mut listing = String::new();
    for entry in store.entries(query) {
        let entry = entry.unwrap();
        let checkpoint = store.get(&entry.id).unwrap();
        let document = checkpoint.to_json(JsonStyle::Compact).unwrap();
        let entry = serde_json::to_string(&entry).unwrap();
        writeln!(listing, "{entry}\n{document:.90} ({} bytes)", document.len()).unwrap();
        if let Some(text) = checkpoint.source_text().unwrap() {
            writeln!(listing, "{:?}", String::from_utf8_lossy(&text)).unwrap();
        }
    }
    let notes = [
        serde_json::to_string(&store.settings().unwrap()).unwrap(),
        serde_json::to_string(&store.deleted(&Query::default()).unwrap()).unwrap(),
        serde_json::to_string(&store.operations(usize::MAX).unwrap()).unwrap(),
    ];
    for note in notes {
        writeln!(listing, "{note}").unwrap();
    }
    listing
}

/// A copy of the fixture of a format, and what it must hold.
fn fixture(dir: &Path, format: u32) -> (PathBuf, String) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let path = dir.join("store.redb");
    fs::copy(fixtures.join(format!("format-{format}.redb")), &path).unwrap();
    (path, fs::read_to_string(fixtures.join(format!("format-{format}.txt"))).unwrap())
}

/// The fixture was written by the first release of format 1 and is never written again.
#[test]
fn a_store_of_format_1_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let (path, expected) = fixture(dir.path(), 1);
    let store = Store::open(&path).unwrap();
    assert_eq!(listing_of(&store), expected);
    for restorable in store.deleted(&Query::default()).unwrap() {
        let id = restorable.entry.id;
        store.undelete(std::slice::from_ref(&id)).unwrap();
        assert!(store.get(&id).unwrap().to_json(JsonStyle::Compact).unwrap().contains("history"));
    }
    store.save(NewEntry::default(), &"and can be written").unwrap();
    assert!(store.stats().unwrap().checkpoints > 3);
    store.close().unwrap();
    assert_eq!(format_of(&path), 1);
}

/// The fixture is encrypted: documents and the captured file need the key, lists do not.
#[cfg(feature = "encrypt")]
#[test]
fn a_store_of_format_2_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let (path, expected) = fixture(dir.path(), 2);
    let without = Store::open(&path).unwrap();
    let newest = without.entries(Query::default()).next().unwrap().unwrap();
    assert_eq!(newest.id.as_str(), "captured");
    let locked = without.get(&newest.id);
    assert!(matches!(locked, Err(Error::Key { .. })), "{locked:?}");
    without.close().unwrap();
    let keys = vec![waypost::SecretKey::from_bytes([2; 32])];
    let how = waypost::care::Verify { keys: keys.clone(), wait: Duration::from_mins(1) };
    let verified = Store::verify_with(&path, &how, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(verified.is_clean() && verified.sealed == 0, "{verified:?}");
    let store = Store::open_with(&path, Options { keys, ..Options::default() }).unwrap();
    assert_eq!(listing_of(&store), expected);
    assert_eq!(store.artifact(&newest.id, "src/main.rs").unwrap(), b"fn main() {}\n");
    for restorable in store.deleted(&Query::default()).unwrap() {
        let id = restorable.entry.id;
        store.undelete(std::slice::from_ref(&id)).unwrap();
        assert_eq!(store.get(&id).unwrap().to_json(JsonStyle::Compact).unwrap(), "\"deleted\"");
    }
    store.save(NewEntry::default(), &"and can be written").unwrap();
    assert_eq!(store.count().unwrap(), 8);
    store.close().unwrap();
    assert_eq!(format_of(&path), 2);
}

/// The fixture has checkpoints whose dates lag behind the order; one of them is deleted.
#[test]
fn a_store_of_format_3_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let (path, expected) = fixture(dir.path(), 3);
    let store = clocked(&path, &[0]);
    assert_eq!(listing_of(&store), expected);
    let last = store.save(NewEntry::default(), &"and can be written").unwrap();
    for restorable in store.deleted(&Query::default()).unwrap() {
        store.undelete(std::slice::from_ref(&restorable.entry.id)).unwrap();
    }
    assert_eq!(store.latest(&Query::default()).unwrap().unwrap().entry, last);
    assert_eq!(store.count().unwrap(), 9);
    let until = Query { until: Some(Timestamp::from_micros(1)), ..Query::default() };
    assert_eq!(store.entries(until).map(|it| it.unwrap()).collect::<Vec<_>>(), [last]);
    store.close().unwrap();
    assert_eq!(format_of(&path), 3);
}

/// A checkpoint of a file, dated this many seconds after 1970.
fn of_file(store: &Store, id: &str, seconds: i64, text: &str) -> Entry {
    let about = NewEntry {
        id: Some(id.parse().unwrap()),
        created_at: Some(Timestamp::from_micros(seconds * 1_000_000)),
        source_path: Some("a/state.json".to_owned()),
        ..NewEntry::default()
    };
    let draft = store.draft_source(about, Source::from_json(text.as_bytes()).unwrap()).unwrap();
    store.save_draft(draft).unwrap()
}

/// A build that does not know the rows of files would not keep them.
#[test]
fn a_store_has_format_4_from_the_first_checkpoint_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open(&path).unwrap();
    assert_eq!(store.newest_of_file("a/state.json", None).unwrap(), None);
    let first = of_file(&store, "a", 9, "[1]");
    let older = of_file(&store, "b", 5, "[2]");
    assert_eq!(store.newest_of_file("a/state.json", None).unwrap().as_ref(), Some(&first));
    for (path, line) in [("a/state.json", Some(1)), ("state.json", None)] {
        assert_eq!(store.newest_of_file(path, line).unwrap(), None);
    }
    store.delete(std::slice::from_ref(&first.id)).unwrap();
    assert_eq!(store.newest_of_file("a/state.json", None).unwrap(), Some(older));
    store.undelete(std::slice::from_ref(&first.id)).unwrap();
    assert_eq!(store.newest_of_file("a/state.json", None).unwrap(), Some(first));
    store.close().unwrap();
    assert_eq!(format_of(&path), 4);
    let repaired = Store::repair(&path, &Repair::default(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(repaired.unwrap().lost, []);
    assert_eq!(format_of(&path), 4);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.newest_of_file("a/state.json", None).unwrap().unwrap().id.as_str(), "a");
    store.compact().unwrap();
    store.close().unwrap();
    assert!(Store::verify(&path, Duration::from_mins(1)).unwrap().is_clean());
}

/// The files of a store of an earlier format have no rows until one is needed.
#[test]
fn the_files_of_an_earlier_format_are_found_before_and_after_they_have_rows() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = fixture(dir.path(), 1);
    let store = Store::open(&path).unwrap();
    let of_files: Vec<Entry> = store
        .entries(Query::default())
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.source_path.is_some() && entry.source.is_some())
        .collect();
    assert!(!of_files.is_empty());
    let newest = |entry: &Entry| {
        let path = entry.source_path.as_deref().unwrap();
        store.newest_of_file(path, entry.source.unwrap().line).unwrap().unwrap()
    };
    let before: Vec<Entry> = of_files.iter().map(newest).collect();
    assert!(!store.has_file_index().unwrap());
    store.index_files().unwrap();
    assert!(store.has_file_index().unwrap());
    assert_eq!(of_files.iter().map(newest).collect::<Vec<_>>(), before);
    store.close().unwrap();
    assert_eq!(format_of(&path), 4);
    assert!(Store::verify(&path, Duration::from_mins(1)).unwrap().is_clean());
}

/// The fixture has three revisions of a file, of which the last lags, and one is deleted.
#[test]
fn a_store_of_format_4_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let (path, expected) = fixture(dir.path(), 4);
    let store = Store::open(&path).unwrap();
    assert_eq!(listing_of(&store), expected);
    let newest = |store: &Store| store.newest_of_file("a/state.json", None).unwrap().unwrap();
    assert_eq!(newest(&store).id.as_str(), "third");
    of_file(&store, "written", 5_000_000_000, "[4]");
    assert_eq!(newest(&store).id.as_str(), "written");
    store.close().unwrap();
    assert_eq!(format_of(&path), 4);
    assert!(Store::verify(&path, Duration::from_mins(1)).unwrap().is_clean());
}

#[test]
fn a_wait_of_no_time_still_opens_a_free_store() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { wait: Duration::ZERO, ..Options::default() };
    let path = |number: u32| dir.path().join(format!("{number}.redb"));
    // A process that another test starts at the same moment has a copy of its lock.
    let is_opened = |number| Store::open_with(path(number), options.clone()).is_ok();
    assert!((0..100).any(is_opened));
}
