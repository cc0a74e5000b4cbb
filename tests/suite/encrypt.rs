//! Encryption at rest: what is where, who can read it, and how keys change.
//!
//! Covers reading with, without and with some of the keys, changes of the key, backup and repair,
//! and the spool.

#![cfg(feature = "encrypt")]

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use redb::{ReadableDatabase as _, ReadableTable as _, TableDefinition};
use tempfile::TempDir;
use waypost::artifact::ArtifactStatus;
use waypost::options::Hold;
use waypost::{
    Durability, Entry, Error, Id, NewArtifact, NewEntry, Options, Query, Result, SecretKey, Series,
    Settings, Store,
};

mod care;
mod part;
mod spool;

const SECRET: &str = "xyzzy-plugh";
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
const FRAMES: TableDefinition<'_, [u8; 8], &[u8]> = TableDefinition::new("frames");

struct Place {
    _dir: TempDir,
    path: PathBuf,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        Self { _dir: dir, path }
    }

    fn open(&self, keys: &[&SecretKey]) -> Store {
        let keys = keys.iter().map(|key| (*key).clone()).collect();
        let options = Options { keys, hold: Hold::Forever, ..Options::default() };
        Store::open_with(&self.path, options).unwrap()
    }

    /// Holds the lengths that entries tell to those of the rows.
    fn check_lengths(&self) {
        let store = self.open(&[]);
        let entries = store.entries(Query::default()).map(Result::unwrap);
        let told: BTreeMap<u64, u64> = entries.map(|it| (it.sequence, it.stored_bytes)).collect();
        drop(store);
        let database = redb::Database::open(&self.path).unwrap();
        let transaction = database.begin_read().unwrap();
        let mut found: BTreeMap<u64, u64> = BTreeMap::new();
        for row in transaction.open_table(FRAMES).unwrap().iter().unwrap() {
            let (key, value) = row.unwrap();
            let key = u64::from_be_bytes(key.value());
            let (sequence, number) = (key >> 16, key & 0xffff);
            if number < 0xffff {
                *found.entry(sequence).or_default() += value.value().len() as u64;
            }
        }
        found.retain(|sequence, _| told.contains_key(sequence));
        assert_eq!(found, told);
    }

    fn format(&self) -> u64 {
        let database = redb::Database::open(&self.path).unwrap();
        let transaction = database.begin_read().unwrap();
        transaction.open_table(META).unwrap().get("format").unwrap().unwrap().value()
    }
}

fn keys<const N: usize>() -> [SecretKey; N] {
    std::array::from_fn(|at| SecretKey::from_bytes([u8::try_from(at + 1).unwrap(); 32]))
}

fn files(number: u64) -> Vec<NewArtifact> {
    let content = format!("{SECRET} {}", number / 4).into_bytes();
    let (mode, status) = (None, ArtifactStatus::Created);
    vec![NewArtifact { path: "a".to_owned(), content: Some(content), mode, status }]
}

fn state(number: u64) -> Vec<String> {
    (0..60).map(|at| format!("{SECRET} {at} {}", if at == 7 { number } else { 0 })).collect()
}

/// Saves some checkpoints of two series, every fourth with a file.
fn fill(store: &Store, numbers: std::ops::Range<u64>) -> BTreeMap<Id, u64> {
    let saved = numbers.map(|number| {
        let series = Some(Series::new(format!("s{}", number % 2)).unwrap());
        let draft = store.draft(NewEntry { series, ..NewEntry::default() }, &state(number));
        let draft = draft.unwrap().with_durability(Durability::Relaxed);
        let files = if number % 4 == 0 { files(number) } else { Vec::new() };
        (store.save_draft(draft.with_artifacts(files).unwrap()).unwrap().id, number)
    });
    saved.collect()
}

fn check(store: &Store, saved: &BTreeMap<Id, u64>) {
    for (id, number) in saved {
        assert_eq!(store.get(id).unwrap().state::<Vec<String>>().unwrap(), state(*number));
        if number % 4 == 0 {
            assert_eq!(Some(store.artifact(id, "a").unwrap()), files(*number)[0].content);
        }
    }
}

#[track_caller]
fn is_locked<T: std::fmt::Debug>(outcome: Result<T>, key: &SecretKey) {
    let error = outcome.unwrap_err();
    let Error::Key { id, .. } = &error else { panic!("{error}") };
    assert_eq!(*id, key.id().to_string());
}

/// Everything that lies beside a store, and the store.
fn on_disk(path: &Path) -> Vec<u8> {
    let files = fs::read_dir(path.parent().unwrap()).unwrap();
    files.flat_map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn nothing_of_a_document_or_a_file_is_on_disk_in_plain() {
    let [key] = keys();
    let place = Place::new();
    let store = place.open(&[&key]);
    let saved = fill(&store, 0..20);
    // Short ones are not compressed.
    store.save(NewEntry::default(), SECRET).unwrap();
    assert!(place.path.with_file_name("store.redb.journal").exists());
    assert!(!has(&on_disk(&place.path), SECRET), "in the journal");
    check(&store, &saved);
    drop(store);
    assert!(!has(&on_disk(&place.path), SECRET));
    check(&place.open(&[&key]), &saved);
    // Where there is no key it is found, so that this would be noticed.
    let plain = Place::new();
    plain.open(&[]).save(NewEntry::default(), SECRET).unwrap();
    assert!(has(&on_disk(&plain.path), SECRET));
}

#[test]
fn without_the_key_a_store_is_listed_and_not_read() {
    let [key, other] = keys();
    let place = Place::new();
    let saved = fill(&place.open(&[&key]), 0..8);
    for keys in [&[][..], &[&other]] {
        let store = place.open(keys);
        let entries: Vec<Entry> = store.entries(Query::default()).map(Result::unwrap).collect();
        assert_eq!(entries.len(), 8);
        assert_eq!(store.stats().unwrap().key, Some(key.id()));
        for (id, number) in &saved {
            is_locked(store.get(id), &key);
            if number % 4 == 0 {
                assert_eq!(store.artifacts(id).unwrap().len(), 1);
                is_locked(store.artifact(id, "a"), &key);
            }
        }
        is_locked(store.save(NewEntry::default(), SECRET), &key);
        is_locked(store.latest(&Query::default()), &key);
        // What has nothing to do with documents goes on.
        store.tag(saved.keys().next().unwrap(), &["t".to_owned()]).unwrap();
        let last = saved.keys().next_back().unwrap();
        store.delete(std::slice::from_ref(last)).unwrap();
        store.undelete(std::slice::from_ref(last)).unwrap();
    }
    assert!(!has(&on_disk(&place.path), SECRET));
    check(&place.open(&[&other, &key]), &saved);
}

#[test]
fn a_key_is_never_passed_over_in_silence() {
    let [key] = keys();
    let place = Place::new();
    drop(place.open(&[]));
    let store = place.open(&[&key]);
    let error = store.save(NewEntry::default(), SECRET).unwrap_err();
    assert!(matches!(&error, Error::Invalid { what, .. } if what == "key"), "{error}");
    store.rekey(Some(key.id())).unwrap();
    store.save(NewEntry::default(), SECRET).unwrap();
    drop(store);
    assert!(!has(&on_disk(&place.path), SECRET));
}

#[test]
fn a_store_is_of_format_2_while_anything_in_it_is_sealed() {
    let [key] = keys();
    let place = Place::new();
    fill(&place.open(&[]), 0..4);
    assert_eq!(place.format(), 1);
    place.open(&[&key]).rekey(Some(key.id())).unwrap();
    assert_eq!(place.format(), 2);
    place.open(&[&key]).rekey(None).unwrap();
    assert_eq!(place.format(), 1);
    let sealed = Place::new();
    drop(sealed.open(&[&key]));
    assert_eq!(sealed.format(), 2);
}

#[test]
fn a_store_goes_from_plain_to_key_to_key_to_plain() {
    let [first, second] = keys();
    let place = Place::new();
    let mut saved = fill(&place.open(&[]), 0..30);
    let (gone, number) = saved.pop_last().unwrap();
    let gone = [gone];
    place.open(&[]).delete(&gone).unwrap();
    for (from, to) in [(None, Some(&first)), (Some(&first), Some(&second)), (Some(&second), None)] {
        let both: Vec<&SecretKey> = from.into_iter().chain(to).collect();
        let one: Vec<&SecretKey> = to.into_iter().collect();
        let key = to.map(SecretKey::id);
        let store = place.open(&both);
        let rekeyed = store.rekey(key).unwrap();
        assert!(rekeyed.is_done && rekeyed.damaged == 0 && rekeyed.contents > 0, "{rekeyed:?}");
        assert_eq!(rekeyed.documents, saved.len() as u64 + 1);
        assert_eq!(store.rekey(key).unwrap().documents, 0, "once more");
        check(&store, &saved);
        drop(store);
        place.check_lengths();
        let store = place.open(&one);
        assert_eq!(store.key().unwrap(), key);
        check(&store, &saved);
        store.undelete(&gone).unwrap();
        assert_eq!(store.get(&gone[0]).unwrap().state::<Vec<String>>().unwrap(), state(number));
        store.delete(&gone).unwrap();
        saved.append(&mut fill(&store, 100..104));
    }
}

#[test]
fn a_store_that_was_encrypted_and_compacted_has_nothing_left_in_plain() {
    let [key] = keys();
    let place = Place::new();
    let store = place.open(&[]);
    fill(&store, 0..200);
    // Too short to be compressed.
    for number in 0..300 {
        let series = Some(Series::new(number.to_string()).unwrap());
        store.save(NewEntry { series, ..NewEntry::default() }, &(SECRET, number)).unwrap();
    }
    drop(store);
    assert!(has(&on_disk(&place.path), SECRET));
    let store = place.open(&[&key]);
    store.rekey(Some(key.id())).unwrap();
    store.compact().unwrap();
    drop(store);
    assert!(!has(&on_disk(&place.path), SECRET));
}

#[test]
fn what_was_ended_half_way_is_readable_with_both_keys_and_goes_on() {
    let [first, second] = keys();
    let place = Place::new();
    let mut saved = fill(&place.open(&[&first]), 0..2_500);
    let store = place.open(&[&first, &second]);
    let mut steps = 0;
    let ended = store
        .rekey_with(Some(second.id()), &mut |_| {
            steps += 1;
            if steps > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert!(!ended.is_done && ended.documents > 0 && ended.documents < 2_500, "{ended:?}");
    saved.append(&mut fill(&store, 2_500..2_510));
    drop(store);
    check(&place.open(&[&first, &second]), &saved);
    // With one key, what has it is read, and the rest says which it takes.
    let store = place.open(&[&second]);
    let locked = saved.keys().filter(|id| match store.get(id) {
        Ok(_) => false,
        outcome => {
            is_locked(outcome, &first);
            true
        }
    });
    // What was saved meanwhile stands on some of these.
    assert_eq!(locked.count() as u64, 2_500 - ended.documents + 10);
    drop(store);
    is_locked(place.open(&[&first]).save(NewEntry::default(), SECRET), &second);
    let store = place.open(&[&second, &first]);
    let rest = store.rekey(Some(second.id())).unwrap();
    assert_eq!(rest.documents, 2_500 - ended.documents);
    drop(store);
    check(&place.open(&[&second]), &saved);
}

#[test]
fn a_key_that_was_not_given_changes_nothing() {
    let [first, second] = keys();
    let place = Place::new();
    let saved = fill(&place.open(&[&first]), 0..4);
    is_locked(place.open(&[&second]).rekey(Some(second.id())), &first);
    is_locked(place.open(&[&first]).rekey(Some(second.id())), &second);
    is_locked(place.open(&[]).rekey(None), &first);
    check(&place.open(&[&first]), &saved);
}

/// Removing a base stores what stands on it anew, under the key of the store.
#[test]
fn what_loses_its_base_stays_sealed() {
    let [key] = keys();
    let place = Place::new();
    let mut saved = fill(&place.open(&[]), 0..40);
    let store = place.open(&[&key]);
    store.rekey(Some(key.id())).unwrap();
    let gone: Vec<Id> = saved.keys().step_by(3).cloned().collect();
    store.delete_now(&gone).unwrap();
    saved.retain(|id, _| !gone.contains(id));
    check(&store, &saved);
    drop(store);
    // Without the key it cannot be done, and nothing goes.
    let first = saved.first_key_value().unwrap().0.clone();
    is_locked(place.open(&[]).delete_now(&[first]), &key);
    check(&place.open(&[&key]), &saved);
}

/// A crash leaves a journal, and the next process may have no key.
#[test]
fn a_journal_is_taken_in_by_who_has_no_key() {
    let [key] = keys();
    let place = Place::new();
    let copy = Place::new();
    let store = place.open(&[&key]);
    let policy = Some(waypost::Policy::preset("aiwg").unwrap());
    let settings = Settings { policy, prune_on_save: true, ..Settings::default() };
    store.set_settings(&settings).unwrap();
    let saved = fill(&store, 1..4);
    let beside = |path: &Path| path.with_file_name("store.redb.journal");
    fs::copy(&place.path, &copy.path).unwrap();
    fs::copy(beside(&place.path), beside(&copy.path)).unwrap();
    drop(store);
    assert_eq!(copy.open(&[]).count().unwrap(), 3);
    check(&copy.open(&[&key]), &saved);
}

#[test]
fn damage_is_damage_with_the_key_and_without() {
    let [key] = keys();
    let place = Place::new();
    let id = place.open(&[&key]).save(NewEntry::default(), &state(1)).unwrap().id;
    let whole = fs::read(&place.path).unwrap();
    // Kind and raw length stand before the id of the key, and in the table of facts others do.
    let number = u64::from_str_radix(&key.id().to_string(), 16).unwrap();
    let starts = whole.windows(8).zip(0..).filter(|(bytes, _)| **bytes == number.to_be_bytes());
    let starts: Vec<usize> = starts.map(|(_, at)| at).collect();
    assert!(!starts.is_empty());
    for offset in [0, 7, 8, 16, 40, 90] {
        let mut bytes = whole.clone();
        for at in &starts {
            bytes[at + offset] ^= 1;
        }
        fs::write(&place.path, bytes).unwrap();
        for keys in [&[][..], &[&key]] {
            let error = place.open(keys).get(&id).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{offset}: {error}");
        }
    }
}
