//! What is on disk: old stores are read, newer ones refused, other files left alone.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use redb::TableDefinition;
use waypost::{Error, JsonStyle, NewEntry, Order, Query, Store};

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
    made_with_format(&path, 3);
    let error = refused(&path);
    assert!(matches!(error, Error::TooNew { found: 3, supported: 2, .. }), "{error}");
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

/// The fixture was written by the first release of format 1 and is never written again.
#[test]
fn a_store_of_format_1_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::copy(fixtures.join("format-1.redb"), &path).unwrap();
    let store = Store::open(&path).unwrap();
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
    let deleted = store.deleted(&Query::default()).unwrap();
    let operations = store.operations(usize::MAX).unwrap();
    let notes = [
        serde_json::to_string(&store.settings().unwrap()).unwrap(),
        serde_json::to_string(&deleted).unwrap(),
        serde_json::to_string(&operations).unwrap(),
    ];
    for note in notes {
        writeln!(listing, "{note}").unwrap();
    }
    assert_eq!(listing, fs::read_to_string(fixtures.join("format-1.txt")).unwrap());
    for restorable in deleted {
        let id = restorable.entry.id;
        store.undelete(std::slice::from_ref(&id)).unwrap();
        assert!(store.get(&id).unwrap().to_json(JsonStyle::Compact).unwrap().contains("history"));
    }
    store.save(NewEntry::default(), &"and can be written").unwrap();
    assert!(store.stats().unwrap().checkpoints > 3);
}

#[test]
fn a_wait_of_no_time_still_opens_a_free_store() {
    let dir = tempfile::tempdir().unwrap();
    let options = waypost::Options { wait: Duration::ZERO, ..waypost::Options::default() };
    let path = |number: u32| dir.path().join(format!("{number}.redb"));
    // A process that another test starts at the same moment has a copy of its lock.
    let is_opened = |number| Store::open_with(path(number), options.clone()).is_ok();
    assert!((0..100).any(is_opened));
}
