//! Repairing: readable data is saved, the rest is named, and the old store is unchanged.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use redb::{Database, TableDefinition};
use waypost::artifact::ArtifactStatus;
use waypost::care::{Repair, Repaired};
use waypost::options::Hold;
use waypost::{
    Durability, Error, Id, NewArtifact, NewEntry, Options, Policy, Query, Series, Settings, Status,
    Store, Timestamp,
};

const WAIT: Duration = Duration::from_mins(1);
const SERIES: &str = "a loop";

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn state(number: u32) -> Vec<String> {
    (0..50).map(|line| format!("{line} {}", if line == 9 { number } else { 0 })).collect()
}

/// Ten checkpoints of one series, `a-0` to `a-9`, of which `a-2` has files and `a-9` is deleted.
fn filled(path: &Path) {
    let store = Store::open(path).unwrap();
    for number in 0..10 {
        let about = NewEntry {
            id: Some(id(&format!("a-{number}"))),
            series: Some(Series::new(SERIES).unwrap()),
            phase: Some("a phase".to_owned()),
            created_at: Some(Timestamp::from_micros(i64::from(number) * 1_000_000)),
            ..NewEntry::default()
        };
        let file = |path: &str, byte| NewArtifact {
            path: path.to_owned(),
            content: Some(vec![byte; 100]),
            mode: Some(0o600),
            status: ArtifactStatus::Created,
        };
        let files = if number == 2 { vec![file("one", 1), file("two", 2)] } else { Vec::new() };
        let draft = store.draft(about, &state(number)).unwrap();
        store.save_draft(draft.with_artifacts(files).unwrap()).unwrap();
    }
    let policy = Some(Policy::preset("aiwg").unwrap());
    store.set_settings(&Settings { policy, ..Settings::default() }).unwrap();
    store.tag(&id("a-1"), &["keep".to_owned()]).unwrap();
    store.delete(&[id("a-9")]).unwrap();
    store.close().unwrap();
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("store.redb");
    filled(&path);
    (dir, path)
}

fn repair(path: &Path) -> Repaired {
    let how = Repair { now: Timestamp::from_micros(0), ..Repair::default() };
    Store::repair(path, &how, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Changes the values of a table in the file, with sums of the engine that fit.
fn change<const N: usize>(path: &Path, table: &str, mut change: impl FnMut(usize, &mut Vec<u8>)) {
    let table = TableDefinition::<[u8; N], &[u8]>::new(table);
    let database = Database::open(path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        use redb::ReadableTable as _;
        let mut table = transaction.open_table(table).unwrap();
        let mut rows: Vec<([u8; N], Vec<u8>)> = Vec::new();
        for row in table.iter().unwrap() {
            let (key, value) = row.unwrap();
            rows.push((key.value(), value.value().to_vec()));
        }
        for (number, (key, mut value)) in rows.into_iter().enumerate() {
            change(number, &mut value);
            table.insert(key, value.as_slice()).unwrap();
        }
    }
    transaction.commit().unwrap();
}

fn ids(store: &Store) -> BTreeSet<String> {
    store.entries(Query::default()).map(|entry| entry.unwrap().id.to_string()).collect()
}

#[test]
fn a_store_that_is_whole_is_copied_as_it_is() {
    let (dir, path) = place();
    let into = dir.path().join("saved.redb");
    let before = Store::open(&path).unwrap();
    let list =
        |store: &Store| -> Vec<_> { store.entries(Query::default()).map(Result::unwrap).collect() };
    let (entries, operations) = (list(&before), before.operations(9).unwrap());
    let (settings, deleted) = (before.settings().unwrap(), before.deleted(&Query::default()));
    before.close().unwrap();
    let how = Repair { into: Some(into.clone()), ..Repair::default() };
    let repaired = Store::repair(&path, &how, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((repaired.checkpoints, repaired.deleted, repaired.salvaged), (9, 1, 0));
    assert_eq!((repaired.artifacts, repaired.operations), (2, 2));
    assert_eq!((repaired.lost, repaired.aside), (Vec::new(), None));
    let after = Store::open(&into).unwrap();
    assert_eq!(list(&after), entries);
    assert_eq!(after.operations(9).unwrap(), operations);
    assert_eq!(after.settings().unwrap(), settings);
    assert_eq!(after.deleted(&Query::default()).unwrap(), deleted.unwrap());
    after.undelete(&[id("a-9")]).unwrap();
    assert_eq!(after.get(&id("a-9")).unwrap().state::<Vec<String>>().unwrap(), state(9));
    assert_eq!(after.artifact(&id("a-2"), "two").unwrap(), [2; 100]);
    // Sequences go on, and so do chains.
    let next = after.save(NewEntry::default(), &1).unwrap();
    assert_eq!(next.sequence, 11);
}

#[test]
fn the_new_store_takes_the_place_of_the_old_one_which_stays_as_it_was() {
    let (dir, path) = place();
    change::<14>(&path, "records", |number, value| value[3] ^= u8::from(number == 4));
    let before = fs::read(&path).unwrap();
    let repaired = repair(&path);
    let aside = repaired.aside.clone().unwrap();
    assert_eq!(aside, path.with_file_name("store.redb.damaged-19700101T000000000000Z"));
    assert!(fs::read(&aside).unwrap() == before);
    assert_eq!(repaired.into.as_ref(), Some(&path));
    assert_eq!((repaired.checkpoints, repaired.salvaged), (9, 1));
    let [lost] = &repaired.lost[..] else { panic!("{repaired:?}") };
    assert_eq!((lost.place.as_str(), lost.reason.as_str()), ("entry 5", "checksum differs"));
    let store = Store::open(&path).unwrap();
    assert_eq!(ids(&store).iter().filter(|id| id.starts_with("a-")).count(), 8);
    let query = Query { series: Some(Series::new("salvaged").unwrap()), ..Query::default() };
    let salvaged = store.latest(&query).unwrap().unwrap();
    assert_eq!(salvaged.state::<Vec<String>>().unwrap(), state(4));
    assert_eq!(salvaged.entry.status, Status::Archived);
    assert_eq!(salvaged.entry.created_at, Timestamp::from_micros(4_000_000));
    store.close().unwrap();
    assert!(Store::verify(&path, WAIT).unwrap().is_clean());
    let names = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("repaired")));
}

#[test]
fn what_stands_on_a_lost_frame_is_named_and_the_rest_is_saved() {
    let (_dir, path) = place();
    // The last byte of a chunk; rows of dependents have a sum as well.
    change::<8>(&path, "frames", |number, value| {
        if number == 4 {
            *value.last_mut().unwrap() ^= 1;
        }
    });
    let repaired = repair(&path);
    let saved = repaired.checkpoints + repaired.deleted;
    assert!(saved < 10 && saved > 1, "{repaired:?}");
    assert_eq!(saved + repaired.lost.len() as u64, 10, "{repaired:?}");
    let hurt =
        |it: &waypost::care::Lost| it.checkpoint.is_some() && it.place.starts_with("checkpoint a-");
    assert!(repaired.lost.iter().all(hurt), "{repaired:?}");
    let store = Store::open(&path).unwrap();
    for checkpoint in ids(&store) {
        let number = checkpoint.trim_start_matches("a-").parse().unwrap();
        let found = store.get(&id(&checkpoint)).unwrap();
        assert_eq!(found.state::<Vec<String>>().unwrap(), state(number));
    }
}

/// Its entry and its document were two of what was lost.
#[test]
fn a_checkpoint_of_which_nothing_is_left_counts_once() {
    let (_dir, path) = place();
    change::<14>(&path, "records", |_, value| value[3] ^= 1);
    change::<8>(&path, "frames", |number, value| {
        if number > 3 {
            *value.last_mut().unwrap() ^= 1;
        }
    });
    let repaired = repair(&path);
    let Repaired { checkpoints, deleted, salvaged, lost_checkpoints, lost, .. } = &repaired;
    assert!(*salvaged > 0 && *lost_checkpoints > 0, "{repaired:?}");
    assert_eq!(checkpoints + deleted + lost_checkpoints, 10, "{repaired:?}");
    assert_eq!(lost.len() as u64, salvaged + lost_checkpoints, "{repaired:?}");
}

#[test]
fn a_checkpoint_is_saved_without_the_files_that_are_lost() {
    let (_dir, path) = place();
    change::<34>(&path, "blobs", |number, value| {
        if number == 0 {
            *value.last_mut().unwrap() ^= 1;
        }
    });
    let repaired = repair(&path);
    assert_eq!((repaired.checkpoints, repaired.artifacts, repaired.lost.len()), (9, 1, 1));
    assert!(repaired.lost[0].place.ends_with("of checkpoint a-2"), "{repaired:?}");
    let store = Store::open(&path).unwrap();
    let entry = store.entry(&id("a-2")).unwrap();
    assert_eq!(entry.warnings, ["repair: 1 of its captured files were lost"]);
    assert_eq!(store.artifacts(&id("a-2")).unwrap().len(), 1);
}

#[test]
fn a_checkpoint_is_saved_without_a_name_that_is_lost() {
    let (_dir, path) = place();
    let names = TableDefinition::<&[u8], &[u8]>::new("names");
    let database = Database::open(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(names).unwrap();
        // The phase, both ways.
        let is_phase = |key: &[u8], value: &[u8]| {
            key.ends_with(b"a phase") || value.windows(7).any(|part| part == b"a phase")
        };
        table.retain(|key, value| !is_phase(key, value)).unwrap();
    }
    transaction.commit().unwrap();
    drop(database);
    let repaired = repair(&path);
    assert_eq!((repaired.checkpoints, repaired.salvaged, repaired.deleted), (9, 0, 1));
    let store = Store::open(&path).unwrap();
    let entry = store.entry(&id("a-3")).unwrap();
    assert_eq!(entry.series.as_str(), SERIES);
    assert!(entry.phase.unwrap().starts_with("lost-name-"));
    assert_eq!(entry.warnings.len(), 1);
}

#[test]
fn what_only_the_journal_has_is_saved_past_what_is_damaged_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("store.redb");
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    store.save(NewEntry::default(), &0).unwrap();
    let drafts = (1..=20).map(|number| store.draft(NewEntry::default(), &number).unwrap());
    let drafts = drafts.map(|draft| draft.with_durability(Durability::Relaxed)).collect();
    store.batch(drafts).unwrap();
    let copy = dir.path().canonicalize().unwrap().join("copy.redb");
    fs::copy(&path, &copy).unwrap();
    let journal = copy.with_extension("redb.journal");
    let mut bytes = fs::read(path.with_extension("redb.journal")).unwrap();
    drop(store);
    bytes[100] ^= 1;
    fs::write(&journal, &bytes).unwrap();
    let repaired = repair(&copy);
    assert_eq!((repaired.checkpoints, repaired.lost.len()), (20, 1), "{repaired:?}");
    let aside = repaired.aside.unwrap();
    assert!(fs::read(aside.with_extension("damaged-19700101T000000000000Z.journal")).is_ok());
    // The new store has all of it, and the next process that opens it removes it.
    assert_eq!(Store::open(&copy).unwrap().count().unwrap(), 20);
    assert!(!journal.exists());
}

#[test]
fn a_repair_that_is_not_wanted_or_ended_changes_nothing() {
    let (dir, path) = place();
    change::<14>(&path, "records", |number, value| value[3] ^= u8::from(number == 4));
    let files = || -> BTreeSet<_> {
        let names = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().path());
        names.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    };
    let before = files();
    let dry_run = Repair { dry_run: true, ..Repair::default() };
    let told = Store::repair(&path, &dry_run, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((told.checkpoints, told.salvaged, told.lost.len()), (9, 1, 1));
    assert!(files() == before);
    let ended = Store::repair(&path, &Repair::default(), &mut |_| ControlFlow::Break(()));
    assert!(!ended.unwrap().is_whole);
    assert!(files() == before);
    let into = Repair { into: Some(path.clone()), ..Repair::default() };
    let refused = Store::repair(&path, &into, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    assert!(files() == before);
    // Files left by a killed repair do no harm.
    let unique = "0123456789abcdef0123456789abcdef";
    let left = [
        format!("store.redb.repair-{unique}.unfinished"),
        format!("store.redb.repair-{unique}.unfinished.lock"),
        format!("store.redb.repair-{unique}.unfinished.new-{unique}.unfinished"),
    ];
    for name in &left {
        fs::write(path.with_file_name(name), "half a store").unwrap();
    }
    let told = repair(&path);
    assert_eq!((told.checkpoints, told.salvaged), (9, 1));
    assert!(left.iter().all(|name| !path.with_file_name(name).exists()));
}

/// A store that had the name of a repair under way was removed by the repair.
#[test]
fn a_store_that_lies_where_the_new_one_has_something_of_its_own_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("new.redb");
    let unfinished = "repair-0123456789abcdef0123456789abcdef.unfinished";
    for name in [unfinished, &format!("{unfinished}.journal"), "journal"] {
        let path = dir.path().join(format!("new.redb.{name}"));
        let store = Store::open(&path).unwrap();
        store.save(NewEntry::default(), &1).unwrap();
        let backup = store.backup(&place);
        assert!(matches!(backup, Err(Error::Invalid { .. })), "{name}: {backup:?}");
        store.close().unwrap();
        let into = Repair { into: Some(place.clone()), ..Repair::default() };
        let refused = Store::repair(&path, &into, &mut |_| ControlFlow::Continue(()));
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{name}: {refused:?}");
        assert_eq!(Store::open(&path).unwrap().count().unwrap(), 1, "{name}");
    }
    assert!(!place.exists());
    let into = Repair { into: Some(dir.path().join("new.redb.newer")), ..Repair::default() };
    let path = dir.path().join("new.redb");
    Store::open(&path).unwrap().save(NewEntry::default(), &1).unwrap();
    Store::repair(&path, &into, &mut |_| ControlFlow::Continue(())).unwrap();
}

#[test]
fn what_is_no_store_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes.txt");
    fs::write(&path, "not a store at all".repeat(1000)).unwrap();
    let refused = Store::repair(&path, &Repair::default(), &mut |_| ControlFlow::Continue(()));
    let Err(Error::Corrupt { reason, .. }) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("nothing can be saved"), "{reason}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
