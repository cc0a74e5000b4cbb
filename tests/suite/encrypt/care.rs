//! Verify, repair and backup of an encrypted store: with its key, and without.

use std::time::Duration;

use waypost::Timestamp;
use waypost::care::{Backup, Repair, Repaired, Verification, Verify};

use super::*;

fn verify(path: &Path, keys: &[&SecretKey]) -> Verification {
    let keys = keys.iter().map(|key| (*key).clone()).collect();
    let how = Verify { keys, wait: Duration::from_mins(1) };
    Store::verify_with(path, &how, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn repair(path: &Path, keys: &[&SecretKey], dry_run: bool) -> Result<Repaired> {
    let keys = keys.iter().map(|key| (*key).clone()).collect();
    let how = Repair { keys, dry_run, ..Repair::default() };
    Store::repair(path, &how, &mut |_| ControlFlow::Continue(()))
}

/// A store with 20 documents and 5 files.
fn filled(key: &SecretKey) -> (Place, BTreeMap<Id, u64>) {
    let place = Place::new();
    let store = place.open(&[key]);
    let saved = fill(&store, 0..20);
    store.close().unwrap();
    (place, saved)
}

/// Changes the last chunk of a frame.
fn damage(path: &Path, sequence: u64) {
    let database = redb::Database::open(path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut frames = transaction.open_table(FRAMES).unwrap();
        let row = (sequence << 16).to_be_bytes();
        let mut bytes = frames.get(row).unwrap().unwrap().value().to_owned();
        *bytes.last_mut().unwrap() ^= 1;
        frames.insert(row, bytes.as_slice()).unwrap();
    }
    transaction.commit().unwrap();
}

#[test]
fn without_the_key_it_is_counted_what_was_not_checked() {
    let [key, other] = keys();
    let (place, _) = filled(&key);
    for given in [&[][..], &[&other]] {
        let found = verify(&place.path, given);
        assert_eq!(found.findings, []);
        assert_eq!((found.documents, found.contents, found.sealed), (0, 0, 25));
        assert!(found.is_whole && !found.is_clean());
    }
    let found = verify(&place.path, &[&other, &key]);
    assert_eq!((found.documents, found.contents, found.sealed), (20, 5, 0));
    assert!(found.is_clean(), "{found:?}");
}

#[test]
fn damage_is_found_without_the_key_even_behind_what_is_whole() {
    let [key] = keys();
    let (place, saved) = filled(&key);
    damage(&place.path, 20);
    let last = saved.iter().find(|(_, number)| **number == 19).unwrap().0;
    for given in [&[][..], &[&key]] {
        let found = verify(&place.path, given);
        let hurt: Vec<_> = found.findings.iter().map(|it| it.checkpoint.clone()).collect();
        assert_eq!(hurt, [Some(last.clone())], "{found:?}");
    }
}

#[test]
fn a_repair_takes_the_key_and_changes_nothing_without() {
    let [key, other] = keys();
    let (place, mut saved) = filled(&key);
    damage(&place.path, 20);
    let before = on_disk(&place.path);
    for given in [&[][..], &[&other]] {
        for dry_run in [true, false] {
            is_locked(repair(&place.path, given, dry_run), &key);
        }
    }
    assert!(on_disk(&place.path) == before, "a file was changed");
    let repaired = repair(&place.path, &[&other, &key], false).unwrap();
    assert_eq!((repaired.checkpoints, repaired.lost.len()), (19, 1));
    assert!(!has(&on_disk(&place.path), SECRET));
    assert_eq!(place.format(), 2);
    assert!(verify(&place.path, &[&key]).is_clean());
    saved.retain(|_, number| *number < 19);
    let store = place.open(&[&key]);
    assert_eq!(store.key().unwrap(), Some(key.id()));
    check(&store, &saved);
}

#[test]
fn a_store_that_lost_its_note_of_the_key_is_repaired_with_it() {
    let [key, other] = keys();
    let (place, saved) = filled(&key);
    let database = redb::Database::open(&place.path).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(META).unwrap().retain(|_, _| false).unwrap();
    transaction.commit().unwrap();
    drop(database);
    is_locked(repair(&place.path, &[&other], false), &key);
    repair(&place.path, &[&other, &key], false).unwrap();
    let store = place.open(&[&key]);
    assert_eq!(store.key().unwrap(), Some(key.id()));
    check(&store, &saved);
    drop(store);
    assert!(!has(&on_disk(&place.path), SECRET));
}

#[test]
fn a_store_with_some_of_two_keys_has_one_when_it_is_repaired() {
    let [first, second] = keys();
    let place = Place::new();
    let saved = fill(&place.open(&[&first]), 0..1_200);
    let store = place.open(&[&first, &second]);
    let mut steps = 0;
    let ended = store.rekey_with(Some(second.id()), &mut |_| {
        steps += 1;
        if steps > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(!ended.unwrap().is_done);
    store.close().unwrap();
    assert!(place.open(&[]).stats().unwrap().is_rekeying);
    is_locked(repair(&place.path, &[&second], false), &first);
    let repaired = repair(&place.path, &[&first, &second], false).unwrap();
    assert_eq!((repaired.checkpoints, repaired.lost.len()), (1_200, 0));
    assert!(verify(&place.path, &[&second]).is_clean());
    assert!(!place.open(&[]).stats().unwrap().is_rekeying);
    check(&place.open(&[&second]), &saved);
}

/// A killed process had marked the store as encrypted, and most of it was not.
#[test]
fn a_rekey_that_was_not_done_is_told_until_it_is() {
    let [first, second] = keys();
    for (from, to) in [(None, Some(&first)), (Some(&first), Some(&second)), (Some(&first), None)] {
        let place = Place::new();
        let from: Vec<&SecretKey> = from.into_iter().collect();
        fill(&place.open(&from), 0..8);
        let both = [&first, &second];
        let to = to.map(SecretKey::id);
        let store = place.open(&both);
        store.rekey_with(to, &mut |_| ControlFlow::Break(())).unwrap();
        assert!(store.stats().unwrap().is_rekeying);
        store.close().unwrap();
        let copy = Place::new();
        place.open(&[]).backup(&copy.path).unwrap();
        for path in [&place.path, &copy.path] {
            let found = verify(path, &both);
            assert_eq!((found.documents, found.contents, found.unlike), (8, 2, 10));
            assert!(found.is_rekeying && found.is_clean(), "{:?}", found.findings);
        }
        let look = |path: &Path| {
            let found = Store::inspect(path, Duration::ZERO, &mut |_| {}).unwrap();
            let waypost::care::StoreState::Closed(contents) = found.state else {
                panic!("{found:?}")
            };
            contents.is_rekeying
        };
        assert!(look(&place.path));
        assert!(place.open(&both).rekey(to).unwrap().is_done);
        assert!(!look(&place.path) && !place.open(&[]).stats().unwrap().is_rekeying);
        let found = verify(&place.path, &both);
        assert!(found.is_clean() && !found.is_rekeying);
    }
}

/// Who can write the file needs no key for that: a frame of his own in plain is as good as any.
#[test]
fn a_frame_in_plain_that_somebody_put_into_an_encrypted_store_shows() {
    let [key] = keys();
    let (place, _) = filled(&key);
    let other = Place::new();
    // As long as the other, in the same place.
    fill(&other.open(&[]), 0..20);
    let row = (1_u64 << 16).to_be_bytes();
    let forged = redb::Database::open(&other.path).unwrap();
    let forged = forged.begin_read().unwrap().open_table(FRAMES).unwrap();
    let database = redb::Database::open(&place.path).unwrap();
    let transaction = database.begin_write().unwrap();
    let bytes = forged.get(row).unwrap().unwrap().value().to_owned();
    transaction.open_table(FRAMES).unwrap().insert(row, bytes.as_slice()).unwrap();
    transaction.commit().unwrap();
    drop(database);
    assert_eq!(verify(&place.path, &[&key]).unlike, 1);
    place.open(&[&key]).rekey(Some(key.id())).unwrap();
    assert!(verify(&place.path, &[&key]).is_clean());
}

#[test]
fn a_backup_takes_no_key() {
    let [key] = keys();
    let (place, saved) = filled(&key);
    let copy = Place::new();
    let how = Backup { overwrite: false };
    place.open(&[]).backup_with(&copy.path, how, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(!has(&on_disk(&copy.path), SECRET));
    assert!(verify(&copy.path, &[&key]).is_clean());
    check(&copy.open(&[&key]), &saved);
}

/// `rekey` set the format by the key alone.
#[test]
fn a_store_in_which_a_date_lags_keeps_its_format_with_any_key() {
    let place = Place::new();
    let key = SecretKey::generate().unwrap();
    let ahead = Some(Timestamp::from_micros(i64::MAX));
    let store = place.open(&[&key]);
    store.save(NewEntry { created_at: ahead, ..NewEntry::default() }, &0).unwrap();
    let last = store.save(NewEntry::default(), &1).unwrap();
    assert_eq!(last.ordered_at, ahead);
    for to in [None, Some(key.id())] {
        assert!(store.rekey(to).unwrap().is_done);
    }
    store.rekey(None).unwrap();
    store.close().unwrap();
    let database = redb::Database::open(&place.path).unwrap();
    let meta = database.begin_read().unwrap().open_table(META).unwrap();
    assert_eq!(meta.get("format").unwrap().unwrap().value(), 3);
    drop((meta, database));
    let store = place.open(&[]);
    assert_eq!(store.latest(&Query::default()).unwrap().unwrap().entry.id, last.id);
}
