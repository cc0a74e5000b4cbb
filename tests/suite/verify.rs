//! Verifying: nothing is found in a store that is whole, and whatever is lost is found.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use redb::{Database, Key, ReadableDatabase as _, ReadableTable as _, TableDefinition, Value};
use waypost::artifact::ArtifactStatus;
use waypost::care::{Harm, Repair, Verification, Verify};
use waypost::options::Hold;
use waypost::source::Source;
use waypost::{
    Durability, Error, Id, Issue, NewArtifact, NewEntry, Options, Policy, Query, Series, Settings,
    Store, Timestamp, Trigger,
};

const WAIT: Duration = Duration::from_mins(1);

fn verify(path: &Path) -> Verification {
    Store::verify(path, WAIT).unwrap()
}

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

/// A store with rows in every table.
fn filled(path: &Path) {
    let store = Store::open(path).unwrap();
    for number in 0..12_u32 {
        let about = NewEntry {
            issue: Some(Issue::new("42").unwrap()),
            series: Some(Series::new(format!("series {}", number % 2)).unwrap()),
            phase: Some("build".to_owned()),
            trigger: Trigger::Iteration,
            ..NewEntry::default()
        };
        let file = NewArtifact {
            path: "a".to_owned(),
            content: Some(vec![7; 5000]),
            mode: None,
            status: ArtifactStatus::Created,
        };
        let state: Vec<String> = (0..30).map(|line| format!("{line} {}", number / 4)).collect();
        let draft = store.draft(about, &state).unwrap();
        let files = if number % 5 == 0 { vec![file] } else { Vec::new() };
        store.save_draft(draft.with_artifacts(files).unwrap()).unwrap();
    }
    for name in ["own-1", "own-2", "own-3"] {
        let about =
            NewEntry { id: Some(id(name)), parent: Some(id("own-1")), ..NewEntry::default() };
        store.save(about, &name).unwrap();
    }
    let about = NewEntry { source_path: Some("a.json".to_owned()), ..NewEntry::default() };
    let draft = store.draft_source(about, Source::from_json(b"[1]").unwrap()).unwrap();
    store.save_draft(draft).unwrap();
    store.tag(&id("own-1"), &["keep".to_owned()]).unwrap();
    let policy = Some(Policy::preset("crunch").unwrap());
    store.set_settings(&Settings { policy, ..Settings::default() }).unwrap();
    store.delete(&[id("own-3")]).unwrap();
    store.close().unwrap();
}

#[test]
fn nothing_is_found_in_a_store_that_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    filled(&path);
    let before = fs::read(&path).unwrap();
    let found = verify(&path);
    assert_eq!(found.findings, []);
    assert!(found.is_clean() && found.is_whole);
    assert_eq!((found.checkpoints, found.deleted, found.documents), (15, 1, 16));
    assert_eq!((found.artifacts, found.contents, found.content_bytes), (3, 1, 5000));
    assert!(found.rows > 100 && found.pages > 10 && found.waiting == 0, "{found:?}");
    assert!(before == fs::read(&path).unwrap());
    // Nor in one of the first release.
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/format-1.redb");
    let copy = dir.path().join("format-1.redb");
    fs::copy(fixture, &copy).unwrap();
    assert_eq!(verify(&copy).findings, []);
}

/// Removes one row after the other, each from a copy of the store; every one must be missed.
fn lose_each<K: Key + 'static, V: Value + 'static>(
    path: &Path,
    table: TableDefinition<'_, K, V>,
    kept: impl Fn(usize) -> bool,
) {
    let copy = path.with_extension("copy");
    let mut number = 0;
    loop {
        fs::copy(path, &copy).unwrap();
        let database = Database::open(&copy).unwrap();
        let count = {
            let transaction = database.begin_read().unwrap();
            let table = transaction.open_table(table).unwrap();
            table.iter().unwrap().count()
        };
        if number == count {
            break;
        }
        let transaction = database.begin_write().unwrap();
        {
            let mut table = transaction.open_table(table).unwrap();
            let mut at = 0;
            table
                .retain(|_, _| {
                    at += 1;
                    at != number + 1
                })
                .unwrap();
        }
        transaction.commit().unwrap();
        drop(database);
        let found = Store::verify(&copy, WAIT);
        let is_clean = found.as_ref().is_ok_and(Verification::is_clean);
        assert!(!is_clean || kept(number), "row {number} of {table} is not missed");
        number += 1;
    }
    assert!(number > 0, "{table} has no rows");
}

#[test]
fn every_row_that_is_lost_is_missed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    filled(&path);
    let none = |_| false;
    lose_each(&path, TableDefinition::<[u8; 14], &[u8]>::new("records"), none);
    lose_each(&path, TableDefinition::<[u8; 8], &[u8]>::new("frames"), none);
    lose_each(&path, TableDefinition::<[u8; 22], ()>::new("index"), none);
    lose_each(&path, TableDefinition::<&[u8], &[u8]>::new("names"), none);
    lose_each(&path, TableDefinition::<&str, [u8; 14]>::new("ids"), none);
    lose_each(&path, TableDefinition::<(&str, [u8; 14]), ()>::new("children"), none);
    lose_each(&path, TableDefinition::<[u8; 22], ()>::new("sources"), none);
    lose_each(&path, TableDefinition::<[u8; 22], &[u8]>::new("deleted"), none);
    lose_each(&path, TableDefinition::<[u8; 8], &[u8]>::new("artifacts"), none);
    lose_each(&path, TableDefinition::<[u8; 32], &[u8]>::new("holders"), none);
    lose_each(&path, TableDefinition::<[u8; 34], &[u8]>::new("blobs"), none);
    // The format and the identity; without the others, such as `highest`, a store is as good.
    let meta = TableDefinition::<&str, u64>::new("meta");
    lose_each(&path, meta, |number| ![0, 2].contains(&number));
}

/// The store notes the longest lag; without it, a search by date misses checkpoints.
#[test]
fn a_lag_that_the_store_does_not_note_is_found_and_mended() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open(&path).unwrap();
    let ahead = Timestamp::from_micros(Timestamp::now().as_micros() + 86_400_000_000);
    store.save(NewEntry { created_at: Some(ahead), ..NewEntry::default() }, &0).unwrap();
    let last = store.save(NewEntry::default(), &1).unwrap();
    store.close().unwrap();
    assert!(verify(&path).is_clean());
    let database = Database::open(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(TableDefinition::<&str, u64>::new("meta"))
        .unwrap()
        .remove("lag")
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    let found = verify(&path).findings;
    assert_eq!(
        (found.len(), found[0].harm, &found[0].checkpoint),
        (1, Harm::Listing, &Some(last.id))
    );
    Store::repair(&path, &Repair::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(verify(&path).is_clean());
    let until = Query { until: Some(ahead), ..Query::default() };
    assert_eq!(Store::open(&path).unwrap().entries(until).count(), 1);
}

/// A table whose rows have a key and a value of bytes.
fn change_first(path: &Path, table: TableDefinition<'_, [u8; 14], &[u8]>) {
    let database = Database::open(path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(table).unwrap();
        let (key, mut value) = {
            let (key, value) = table.first().unwrap().unwrap();
            (key.value(), value.value().to_vec())
        };
        value[5] ^= 1;
        table.insert(key, value.as_slice()).unwrap();
    }
    transaction.commit().unwrap();
}

#[test]
fn a_finding_says_what_is_hurt_and_how() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    filled(&path);
    change_first(&path, TableDefinition::new("records"));
    let found = verify(&path);
    let of = |harm| found.findings.iter().filter(move |finding| finding.harm == harm);
    let reasons: BTreeSet<_> = of(Harm::Reading).map(|it| it.reason.as_str()).collect();
    assert!(reasons.contains("checksum differs"), "{found:?}");
    assert!(of(Harm::Reading).any(|it| it.place.starts_with("entry 1 saved at ")), "{found:?}");
    assert_eq!((found.checkpoints, found.documents), (15, 15), "the others are whole");
}

#[test]
fn what_a_kill_left_is_read_without_being_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    for number in 0..20 {
        store.save(NewEntry::default(), &vec![number; 100]).unwrap();
    }
    let relaxed = store.draft(NewEntry::default(), &1).unwrap();
    store.save_draft(relaxed.with_durability(Durability::Relaxed)).unwrap();
    // As it is on disk at this moment, and would be after a kill.
    let copy = dir.path().join("copy.redb");
    fs::copy(&path, &copy).unwrap();
    fs::copy(dir.path().join("store.redb.journal"), dir.path().join("copy.redb.journal")).unwrap();
    drop(store);
    let before = fs::read(&copy).unwrap();
    let found = verify(&copy);
    assert_eq!(found.findings, []);
    assert!(before == fs::read(&copy).unwrap());
    assert_eq!(found.checkpoints + found.waiting, 21, "{found:?}");
    // Where the journal is damaged and goes on behind it, that shows.
    let journal = dir.path().join("copy.redb.journal");
    let mut bytes = fs::read(&journal).unwrap();
    bytes[60] ^= 1;
    fs::write(&journal, bytes).unwrap();
    let found = verify(&copy);
    assert!(found.findings.iter().any(|it| it.place.starts_with("journal")), "{found:?}");
}

#[test]
fn others_save_while_a_store_is_verified() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open(&path).unwrap();
    let drafts = (0..3000).map(|number| store.draft(NewEntry::default(), &vec![number; 200]));
    store.batch(drafts.map(Result::unwrap).collect()).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let saver = scope.spawn(|| {
            let mut saved = 0_u64;
            while !is_over.load(Ordering::Relaxed) || saved == 0 {
                let entry = store.save(NewEntry::default(), &saved).unwrap();
                store.delete(&[entry.id]).unwrap();
                saved += 1;
            }
            saved
        });
        let found = verify(&path);
        is_over.store(true, Ordering::Relaxed);
        let count = saver.join().unwrap();
        assert_eq!(found.findings, []);
        // One may be there and not deleted yet whenever the file is looked at, which is in parts.
        assert!((3000..=3000 + count).contains(&found.checkpoints), "{}", found.checkpoints);
    });
}

/// Verifying waited for a process that keeps the store, and then gave up.
#[test]
fn a_store_that_another_process_keeps_is_verified_while_it_saves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    let save = |number: u64| store.save(NewEntry::default(), &vec![number; 30]).unwrap();
    (0..300).for_each(|number| drop(save(number)));
    let mut saved = 300;
    let how = Verify { wait: WAIT, ..Verify::default() };
    let found = Store::verify_with(&path, &how, &mut |_| {
        let entry = save(saved);
        saved += 1;
        // A durable commit, which overtakes a view.
        store.tag(&entry.id, &["last".to_owned()]).unwrap();
        ControlFlow::Continue(())
    });
    let found = found.unwrap();
    assert_eq!(found.findings, []);
    assert!(found.is_clean() && saved > 305, "{saved}: {found:?}");
    // A save that went from the journal to the tables meanwhile may count as both.
    assert!(found.checkpoints + found.waiting >= 300, "{found:?}");
    assert!(found.documents >= 300 && found.pages > 10, "{found:?}");
}

#[test]
fn damage_to_a_store_that_another_process_keeps_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    filled(&path);
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    let save = |number: u64| store.save(NewEntry::default(), &vec![number; 100]).unwrap();
    let saved: Vec<_> = (0..20).map(save).collect();
    let last = saved.last().unwrap();
    let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let flip = |at: u64| {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    };
    let mut hurt = BTreeSet::new();
    for page in (4096..file.metadata().unwrap().len()).step_by(4096) {
        flip(page + 5);
        match Store::verify(&path, Duration::ZERO) {
            Ok(found) => {
                let place = format!("page at byte {page}, table ");
                let tables = found.findings.iter().filter_map(|it| it.place.strip_prefix(&place));
                hurt.extend(tables.map(str::to_owned));
                assert_eq!(found.findings.is_empty(), found.is_clean());
            }
            // A page that the engine needs to open the file takes a hold.
            Err(error) => assert!(matches!(error, Error::Locked { .. }), "{error:?}"),
        }
        flip(page + 5);
    }
    for table in ["records", "frames", "index", "names", "ids", "blobs"] {
        assert!(hurt.contains(table), "{table} is not among {hurt:?}");
    }
    assert!(Store::verify(&path, Duration::ZERO).unwrap().is_clean());
    // In the journal, too.
    let journal = fs::OpenOptions::new().write(true).open(dir.path().join("store.redb.journal"));
    journal.unwrap().write_all_at(b"damaged", 60).unwrap();
    let found = Store::verify(&path, Duration::ZERO).unwrap();
    assert!(found.findings.iter().any(|it| it.place.starts_with("journal")), "{found:?}");
    assert_eq!(store.get(&last.id).unwrap().state::<Vec<u64>>().unwrap(), [19; 100]);
}

/// A user who may only read the directory can verify.
#[test]
fn verifying_locks_nothing_and_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    filled(&path);
    let names = || {
        let names = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name());
        names.collect::<BTreeSet<_>>()
    };
    let before = names();
    // An exclusive lock of the engine's kind keeps any other lock out.
    let locked = fs::File::open(&path).unwrap();
    locked.lock().unwrap();
    let found = Store::verify(&path, Duration::ZERO).unwrap();
    assert!(found.is_clean() && found.checkpoints == 15, "{found:?}");
    assert_eq!(names(), before);
}

#[test]
fn a_verification_can_be_ended() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    filled(&path);
    let how = Verify { wait: WAIT, ..Verify::default() };
    let mut stages = BTreeSet::new();
    let found = Store::verify_with(&path, &how, &mut |step| {
        stages.insert(step.stage.to_string());
        ControlFlow::Continue(())
    });
    assert!(found.unwrap().is_whole);
    assert_eq!(stages.len(), 4, "{stages:?}");
    for stage in stages {
        let found = Store::verify_with(&path, &how, &mut |step| {
            let is_it = step.stage.to_string() == stage;
            if is_it { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let found = found.unwrap();
        assert!(!found.is_whole && !found.is_clean() && found.findings.is_empty(), "{stage}");
    }
}
