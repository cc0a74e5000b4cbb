//! Every page of a store lost in turn: all that does not lie on it is saved.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use waypost::artifact::ArtifactStatus;
use waypost::care::{Repair, Repaired, Verification};
use waypost::{Checkpoint, Error, Id, NewArtifact, NewEntry, Query, Series, Store};

use super::cases::hush_engine;
use super::random;

const PAGE: usize = 4096;
const SERIES: u64 = 12;
const EACH: u64 = 5;
const RECORDS: TableDefinition<'_, [u8; 14], &[u8]> = TableDefinition::new("records");
const FRAMES: TableDefinition<'_, [u8; 8], &[u8]> = TableDefinition::new("frames");

/// A state that does not get small, so that there are many pages.
fn state(series: u64, number: u64) -> Vec<String> {
    let mut seed = series * 1000 + number + 1;
    (0..20).map(|_| format!("{:x}", random(&mut seed))).collect()
}

/// Some short series, one of them with a captured file, and one checkpoint that was removed.
fn make(path: &Path) -> Vec<Checkpoint> {
    let store = Store::open(path).unwrap();
    for series in 0..SERIES {
        for number in 0..EACH {
            let about = NewEntry {
                series: Some(Series::new(format!("series {series}")).unwrap()),
                ..NewEntry::default()
            };
            let file = NewArtifact {
                path: "file".to_owned(),
                content: Some(vec![7; 300]),
                mode: None,
                status: ArtifactStatus::Created,
            };
            let files = if series + number == 9 { vec![file] } else { Vec::new() };
            let draft = store.draft(about, &state(series, number)).unwrap();
            store.save_draft(draft.with_artifacts(files).unwrap()).unwrap();
        }
    }
    let removed = store.entries(Query::default()).nth(30).unwrap().unwrap().id;
    store.delete_now(&[removed]).unwrap();
    let entries: Vec<_> = store.entries(Query::default()).map(Result::unwrap).collect();
    let checkpoints = entries.iter().map(|entry| store.get(&entry.id).unwrap()).collect();
    store.close().unwrap();
    checkpoints
}

/// The values of the rows that each checkpoint stands on, as the file has them: its entry, its
/// document, and the documents of its series before it, some of which are bases.
fn values(path: &Path, checkpoints: &[Checkpoint]) -> BTreeMap<Id, Vec<Vec<u8>>> {
    let database = Database::open(path).unwrap();
    let transaction = database.begin_read().unwrap();
    let mut rows: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
    let mut entries = BTreeMap::new();
    for row in transaction.open_table(FRAMES).unwrap().iter().unwrap() {
        let (key, value) = row.unwrap();
        let sequence = u64::from_be_bytes(key.value()) >> 16;
        rows.entry(sequence).or_default().push(value.value().to_vec());
    }
    for row in transaction.open_table(RECORDS).unwrap().iter().unwrap() {
        let (key, value) = row.unwrap();
        let mut sequence = [0; 8];
        sequence[2..].copy_from_slice(&key.value()[8..]);
        entries.insert(u64::from_be_bytes(sequence), value.value().to_vec());
    }
    let stands_on = |checkpoint: &Checkpoint| {
        let entry = &checkpoint.entry;
        let before = checkpoints.iter().map(|it| &it.entry);
        let before = before.filter(|it| it.series == entry.series && it.sequence <= entry.sequence);
        let mut values: Vec<_> =
            before.flat_map(|it| rows.get(&it.sequence).cloned().unwrap_or_default()).collect();
        values.push(entries[&entry.sequence].clone());
        (entry.id.clone(), values)
    };
    checkpoints.iter().map(stands_on).collect()
}

fn has(page: &[u8], value: &[u8]) -> bool {
    page.windows(value.len()).any(|part| part == value)
}

fn repair(path: &Path, into: &Path) -> Result<Repaired, Error> {
    let how = Repair { into: Some(into.to_owned()), ..Repair::default() };
    Store::repair(path, &how, &mut |_| ControlFlow::Continue(()))
}

/// Whatever the new store has is right, and all of `whole` is there.
fn check(case: &str, store: &Store, known: &[Checkpoint], whole: &BTreeSet<&Id>) {
    for checkpoint in known {
        let expected = &checkpoint.entry;
        match store.get(&expected.id) {
            Ok(found) => {
                assert_eq!(found.stored_form(), checkpoint.stored_form(), "{case}");
                assert_eq!(found.entry.created_at, expected.created_at, "{case}");
                let is_named = found.entry.series == expected.series;
                assert!(is_named || !found.entry.warnings.is_empty(), "{case}: {found:?}");
            }
            Err(error) => assert!(!whole.contains(&expected.id), "{case}: {error}"),
        }
    }
}

/// The report names what is not saved, and what is unsure.
fn check_told(case: &str, store: &Store, known: &[Checkpoint], repaired: &Repaired) {
    let told = |list: &[waypost::care::Lost], id: &Id| {
        list.iter().any(|it| it.checkpoint.as_ref() == Some(id))
    };
    let saved: BTreeSet<Id> =
        store.entries(Query::default()).map(|entry| entry.unwrap().id).collect();
    let entries = repaired.lost.iter().filter(|it| it.place.starts_with("entry ")).count() as u64;
    assert!(entries >= repaired.salvaged, "{case}: {repaired:?}");
    let missing = known.iter().map(|it| &it.entry.id).filter(|id| !saved.contains(id));
    let untold = missing.filter(|id| !told(&repaired.lost, id)).count() as u64;
    assert!(untold <= entries, "{case}: {untold} are not told of: {repaired:?}");
    for id in saved.iter().filter(|id| known.iter().all(|it| it.entry.id != **id)) {
        let is_salvaged = store.entry(id).unwrap().series.as_str() == "salvaged";
        assert!(is_salvaged || told(&repaired.unsure, id), "{case}: {id} of {repaired:?}");
    }
}

/// In a store that can be opened every checkpoint that is lost is named.
fn check_verified(case: &str, verified: Option<&Verification>, repaired: &Repaired) {
    let Some(verified) = verified else { return };
    assert!(verified.findings.iter().all(|it| !it.reason.contains("panic")), "{verified:?}");
    if verified.findings.iter().any(|it| it.reason.contains("cannot be opened")) {
        return;
    }
    let lost = repaired.lost.iter().filter(|it| it.place.starts_with("checkpoint "));
    for lost in lost.filter_map(|lost| lost.checkpoint.as_ref()) {
        let is_named = verified.findings.iter().any(|it| it.checkpoint.as_ref() == Some(lost));
        assert!(is_named, "{case}: {lost} is not in {:?}", verified.findings);
    }
}

#[test]
fn all_that_is_not_on_a_lost_page_is_saved() {
    hush_engine();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("store.redb");
    let known = make(&path);
    let values = values(&path, &known);
    let bytes = fs::read(&path).unwrap();
    let (damaged, saved) = (path.with_extension("damaged"), path.with_extension("saved"));
    let mut repairs = 0;
    for at in (0..bytes.len()).step_by(PAGE) {
        let case = format!("page at {at}");
        let mut file = bytes.clone();
        let page = file[at..at + PAGE].to_vec();
        file[at..at + PAGE].fill(0);
        fs::write(&damaged, &file).unwrap();
        let verified = Store::verify(&damaged, Duration::ZERO);
        if verified.as_ref().is_ok_and(Verification::is_clean) {
            continue;
        }
        let is_whole = |id: &&Id| values[*id].iter().all(|value| !has(&page, value));
        let whole = known.iter().map(|it| &it.entry.id).filter(is_whole).collect();
        let repaired = repair(&damaged, &saved).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(fs::read(&damaged).unwrap() == file, "{case}: it was changed");
        let store = Store::open(&saved).unwrap();
        check(&case, &store, &known, &whole);
        check_told(&case, &store, &known, &repaired);
        check_verified(&case, verified.as_ref().ok(), &repaired);
        store.close().unwrap();
        fs::remove_file(&saved).unwrap();
        repairs += 1;
    }
    assert!(repairs > 20, "{repairs}");
}

/// A repair that saved nothing put an empty store in the place of the old one.
#[test]
fn a_store_of_which_nothing_can_be_saved_stays_where_it_is() {
    hush_engine();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("store.redb");
    let store = Store::open(&path).unwrap();
    store.save(NewEntry::default(), &state(1, 1)).unwrap();
    let known = [store.latest(&Query::default()).unwrap().unwrap()];
    store.close().unwrap();
    let values = values(&path, &known);
    let frame = values.values().flatten().next().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    for page in bytes.chunks_mut(PAGE).filter(|page| has(page, frame)) {
        page.fill(0);
    }
    fs::write(&path, &bytes).unwrap();
    for dry_run in [true, false] {
        let how = Repair { dry_run, ..Repair::default() };
        let refused = Store::repair(&path, &how, &mut |_| ControlFlow::Continue(()));
        let Err(Error::Corrupt { reason, .. }) = refused else { panic!("{refused:?}") };
        assert!(reason.contains("restore a backup"), "{reason}");
        assert!(fs::read(&path).unwrap() == bytes);
    }
    let names = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name());
    let names: BTreeSet<_> = names.map(|name| name.into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.contains("damaged-")), "{names:?}");
}

/// The key of an entry was damaged so that it had the sequence of another, and both were lost.
#[test]
fn an_entry_whose_key_becomes_that_of_another_costs_only_itself() {
    hush_engine();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("store.redb");
    let known = make(&path);
    let database = Database::open(&path).unwrap();
    let records = database.begin_read().unwrap().open_table(RECORDS).unwrap();
    let keys: Vec<_> = records.iter().unwrap().map(|row| row.unwrap().0.value()).collect();
    drop((records, database));
    let bytes = fs::read(&path).unwrap();
    let (damaged, saved) = (path.with_extension("damaged"), path.with_extension("saved"));
    let last = |key: [u8; 14]| key[13];
    let mut repairs = 0;
    for (key, other) in [(keys[2], keys[9]), (keys[9], keys[2]), (keys[20], keys[21])] {
        let places = (0..bytes.len() - key.len()).filter(|at| bytes[*at..].starts_with(&key));
        for at in places {
            let mut file = bytes.clone();
            file[at + 13] = last(other);
            fs::write(&damaged, &file).unwrap();
            if Store::verify(&damaged, Duration::ZERO).is_ok_and(|it| it.is_clean()) {
                continue;
            }
            let case = format!("byte {}", at + 13);
            let repaired = repair(&damaged, &saved).unwrap();
            let own = |it: &&Checkpoint| it.entry.sequence != u64::from(last(key));
            let whole = known.iter().filter(own).map(|it| &it.entry.id).collect();
            let store = Store::open(&saved).unwrap();
            check(&case, &store, &known, &whole);
            check_told(&case, &store, &known, &repaired);
            store.close().unwrap();
            fs::remove_file(&saved).unwrap();
            repairs += 1;
        }
    }
    assert!(repairs >= 3, "{repairs}");
}
