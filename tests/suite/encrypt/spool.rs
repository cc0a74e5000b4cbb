//! The spool of an encrypted store: sealed as the store is, or not used.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use waypost::Timestamp;
use waypost::care::{Repair, SetAside};

use super::*;
use crate::engine;

/// Of a handle that spools at once, and waits for a short time.
fn hurried(keys: &[&SecretKey]) -> Options {
    Options {
        keys: keys.iter().map(|key| (*key).clone()).collect(),
        spool_after: Duration::from_millis(1),
        wait: Duration::from_millis(100),
        ..Options::default()
    }
}

impl Place {
    fn open_hurried(&self, keys: &[&SecretKey]) -> Store {
        engine::opened(&self.path, &hurried(keys))
    }

    /// Opens the store for saves alone, while another process holds it.
    fn open_late(&self, keys: &[&SecretKey]) -> Store {
        let options = Options { open_late: true, ..hurried(keys) };
        Store::open_with(&self.path, options).unwrap()
    }

    /// Has the store and takes nothing in, as a process that hangs.
    fn hold(&self) -> redb::Database {
        let held = (0..60_000).find_map(|_| {
            thread::sleep(Duration::from_millis(1));
            redb::Database::open(&self.path).ok()
        });
        held.expect("it is let go when it is idle")
    }

    /// What is in the files that wait to be taken in.
    fn spooled(&self) -> Vec<Vec<u8>> {
        let folder = self.path.with_file_name("store.redb.spool");
        let files = fs::read_dir(folder).into_iter().flatten().map(|it| it.unwrap().path());
        files.filter(|path| path.is_file()).map(|path| fs::read(path).unwrap()).collect()
    }
}

fn save(store: &Store, number: u64) -> Result<Entry> {
    store.save(NewEntry::default(), &state(number))
}

#[track_caller]
fn waits_in_vain(outcome: Result<Entry>) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
}

#[test]
fn what_is_spooled_is_sealed_and_taken_in_by_who_has_the_key() {
    let [key, other] = keys();
    let place = Place::new();
    let known = place.open_hurried(&[&key]);
    save(&known, 0).unwrap();
    let held = place.hold();
    let saved = [save(&known, 1).unwrap(), save(&place.open_late(&[&other, &key]), 2).unwrap()];
    assert!(saved.iter().all(|entry| entry.sequence == 0), "they were spooled");
    drop((held, known));
    let spooled = place.spooled();
    assert_eq!(spooled.len(), 2);
    assert!(spooled.iter().all(|bytes| !has(bytes, SECRET)));
    // Others leave them where they are.
    let told: Arc<Mutex<Vec<SetAside>>> = Arc::default();
    for keys in [&[][..], &[&other]] {
        let told = told.clone();
        let hear = move |it: SetAside| told.lock().unwrap().push(it);
        let options = Options { on_set_aside: Some(Arc::new(hear)), ..hurried(keys) };
        let store = Store::open_with(&place.path, options).unwrap();
        assert_eq!(store.count().unwrap(), 1);
        is_locked(save(&store, 3), &key);
        store.close().unwrap();
    }
    assert_eq!((place.spooled(), told.lock().unwrap().len()), (spooled, 0));
    let store = place.open(&[&key]);
    assert_eq!(store.count().unwrap(), 3);
    for (entry, number) in saved.iter().zip(1..) {
        assert_eq!(store.get(&entry.id).unwrap().state::<Vec<String>>().unwrap(), state(number));
    }
    store.close().unwrap();
    assert!(place.spooled().is_empty());
    assert!(Store::verify(&place.path, Duration::ZERO).unwrap().findings.is_empty());
}

#[test]
fn who_has_no_key_or_a_needless_one_waits_for_the_store() {
    let [key] = keys();
    for (its, given) in [(&[&key][..], &[][..]), (&[], &[&key])] {
        let place = Place::new();
        save(&place.open(its), 0).unwrap();
        let _held = place.hold();
        waits_in_vain(save(&place.open_late(given), 1));
        assert!(place.spooled().is_empty());
    }
}

#[test]
fn who_knew_a_store_before_it_was_encrypted_spools_nothing_in_plain() {
    let [key] = keys();
    let place = Place::new();
    let known = place.open_hurried(&[]);
    save(&known, 0).unwrap();
    let held = place.hold();
    assert_eq!(save(&known, 1).unwrap().sequence, 0, "it is spooled while it is as it was");
    drop(held);
    let owner = place.open(&[&key]);
    owner.rekey(Some(key.id())).unwrap();
    while !place.spooled().is_empty() {
        assert_eq!(owner.count().unwrap(), 2, "it was taken in");
        thread::sleep(Duration::from_millis(5));
    }
    waits_in_vain(save(&known, 2));
    owner.close().unwrap();
    let _held = place.hold();
    waits_in_vain(save(&known, 3));
    assert!(place.spooled().is_empty());
}

#[test]
fn nothing_is_spooled_while_nobody_wrote_down_whether_the_store_is_encrypted() {
    let place = Place::new();
    let known = place.open_hurried(&[]);
    save(&known, 0).unwrap();
    let _held = place.hold();
    let lock = place.path.with_file_name("store.redb.lock");
    let text = fs::read_to_string(&lock).unwrap();
    fs::write(&lock, text.split("plain\n").next().unwrap()).unwrap();
    waits_in_vain(save(&known, 1));
    assert!(place.spooled().is_empty());
    fs::write(&lock, text).unwrap();
    assert_eq!(save(&known, 1).unwrap().sequence, 0);
}

#[test]
fn a_repaired_store_has_what_was_spooled_if_its_key_was_given() {
    let [key] = keys();
    let place = Place::new();
    let known = place.open_hurried(&[&key]);
    save(&known, 0).unwrap();
    let held = place.hold();
    let saved = save(&known, 1).unwrap();
    drop((held, known));
    let spooled = place.spooled();
    let watch = &mut |_| ControlFlow::Continue(());
    is_locked(Store::repair(&place.path, &Repair::default(), watch), &key);
    assert_eq!(place.spooled(), spooled);
    let how = Repair { keys: vec![key.clone()], ..Repair::default() };
    let repaired = Store::repair(&place.path, &how, watch).unwrap();
    // The next process that opens the store takes in the spool.
    assert_eq!((repaired.checkpoints, repaired.lost.len()), (1, 0));
    let store = place.open(&[&key]);
    assert_eq!(store.get(&saved.id).unwrap().state::<Vec<String>>().unwrap(), state(1));
    assert!(!has(&fs::read(&place.path).unwrap(), SECRET));
}

/// Without the key no process can take in spooled saves, and a copy of the file lacks them.
#[test]
fn a_backup_without_the_key_says_what_it_leaves_out() {
    let [key] = keys();
    let place = Place::new();
    let known = place.open_hurried(&[&key]);
    save(&known, 0).unwrap();
    let held = place.hold();
    let saved = save(&known, 1).unwrap();
    drop((held, known));
    let copy = |name: &str| place.path.with_file_name(name);
    let without = place.open(&[]).backup(copy("without.redb")).unwrap();
    assert_eq!((without.checkpoints, without.left_out), (1, 1));
    let with = place.open(&[&key]).backup(copy("with.redb")).unwrap();
    assert_eq!((with.checkpoints, with.left_out), (2, 0));
    assert_eq!(place.open(&[]).backup(copy("again.redb")).unwrap().left_out, 0);
    let options = Options { keys: vec![key.clone()], ..Options::default() };
    let store = Store::open_with(copy("with.redb"), options).unwrap();
    assert_eq!(store.get(&saved.id).unwrap().state::<Vec<String>>().unwrap(), state(1));
}

/// What was asked once held for all files of a batch, however long they took.
#[test]
fn each_file_of_a_batch_is_as_the_store_is_by_then() {
    let [key] = keys();
    let place = Place::new();
    let lock = place.path.with_file_name("store.redb.lock");
    let change: Arc<Mutex<Option<String>>> = Arc::default();
    let (changing, changed) = (change.clone(), lock.clone());
    // Asked for the name of each file, right before that is written.
    let clock = move || {
        if let Some(text) = changing.lock().unwrap().take() {
            fs::write(&changed, text).unwrap();
        }
        Timestamp::now()
    };
    let options = Options { clock: Arc::new(clock), ..hurried(&[]) };
    let known = Store::open_with(&place.path, options).unwrap();
    save(&known, 0).unwrap();
    let _held = place.hold();
    // One fills a file.
    let long = "x".repeat(5 << 20);
    let drafts = (0..3).map(|_| known.draft(NewEntry::default(), &long).unwrap()).collect();
    let text = fs::read_to_string(&lock).unwrap();
    *change.lock().unwrap() = Some(text.replace("plain", &key.id().to_string()));
    let outcome = known.batch(drafts);
    assert!(change.lock().unwrap().is_none());
    let is_refused = |it: &Result<Entry>| matches!(it, Err(Error::Locked { .. }));
    match outcome {
        Ok(outcomes) => assert!(outcomes.iter().all(is_refused), "{outcomes:?}"),
        Err(error) => assert!(matches!(error, Error::Locked { .. }), "{error}"),
    }
    // The one that was being written was taken back.
    assert_eq!(place.spooled().len(), 0);
}

/// The new store has no key, so that none was there to read what was spooled before, either.
#[test]
fn a_store_that_was_to_be_decrypted_is_repaired_with_what_was_spooled_before() {
    let [key] = keys();
    let place = Place::new();
    let known = place.open_hurried(&[&key]);
    save(&known, 0).unwrap();
    let held = place.hold();
    let saved = save(&known, 1).unwrap();
    drop((held, known));
    // As if the decrypting process had been killed before that step.
    let folder = place.path.with_file_name("store.redb.spool");
    let away = place.path.with_file_name("away");
    fs::rename(&folder, &away).unwrap();
    let store = place.open(&[&key]);
    store.rekey_with(None, &mut |_| ControlFlow::Break(())).unwrap();
    store.close().unwrap();
    let _ = fs::remove_dir_all(&folder);
    fs::rename(&away, &folder).unwrap();
    let into = Place::new();
    let how =
        Repair { into: Some(into.path.clone()), keys: vec![key.clone()], ..Repair::default() };
    let repaired = Store::repair(&place.path, &how, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((repaired.checkpoints, repaired.lost.len()), (2, 0));
    let found = into.open(&[]).get(&saved.id).unwrap();
    assert_eq!(found.state::<Vec<String>>().unwrap(), state(1));
}
