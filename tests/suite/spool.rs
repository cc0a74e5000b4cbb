//! Saves that cannot have the store in time: durable beside it, and in it once.
//!
//! Two handles in one process lock each other out just as two processes do.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use waypost::care::{SetAside, Spooled};
use waypost::options::Hold;
use waypost::retention::Rule;
use waypost::{
    Durability, Entry, Error, Id, NewEntry, Options, Policy, Query, Series, Settings, Store,
    Timestamp,
};

use super::engine;

/// A store that one has and keeps, and a handle that cannot have it.
struct Place {
    dir: tempfile::TempDir,
    /// Takes nothing in, as a process that hangs.
    held: Option<redb::Database>,
    other: Store,
    told: Arc<Mutex<Vec<SetAside>>>,
}

impl Place {
    fn new() -> Self {
        Self::with_clock(Arc::new(Timestamp::now))
    }

    fn with_clock(clock: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        let told = Arc::new(Mutex::new(Vec::new()));
        let other = Store::open_with(&path, Options { clock, ..options(&told) }).unwrap();
        other.save(NewEntry::default(), &state(0)).unwrap();
        let held = (0..60_000).find_map(|_| {
            thread::sleep(Duration::from_millis(1));
            redb::Database::open(&path).ok()
        });
        assert!(held.is_some(), "it is let go when it is idle");
        Self { dir, held, other, told }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("store.redb")
    }

    fn spool(&self) -> PathBuf {
        self.dir.path().join("store.redb.spool")
    }

    /// A handle that holds the store from now on, in place of the hung process.
    fn owner(&mut self) -> Store {
        drop(self.held.take());
        let forever = Options { hold: Hold::Forever, ..options(&self.told) };
        Store::open_with(self.path(), forever).unwrap()
    }

    fn save(&self, number: u64) -> Entry {
        let saved = self.other.save(NewEntry::default(), &state(number)).unwrap();
        assert_eq!(saved.sequence, 0, "it was spooled");
        saved
    }

    /// The files that wait to be taken in.
    fn files(&self) -> Vec<PathBuf> {
        let found = fs::read_dir(self.spool()).into_iter().flatten();
        let mut files: Vec<PathBuf> = found.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|it| it == "save" || it == "log"));
        files.sort();
        files
    }

    /// Waits until no process writes to a log any more.
    fn let_go(&self) {
        let is_held = |path: &PathBuf| fs::File::open(path).is_ok_and(|it| it.try_lock().is_err());
        while self.files().iter().any(is_held) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until a store has removed all that it took in.
    fn empties(&self, store: &Store) {
        while !self.files().is_empty() {
            store.count().unwrap();
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// A log of its own with one save.
    fn log(&self, number: u64) -> Entry {
        let late = Options { open_late: true, ..options(&self.told) };
        let store = Store::open_with(self.path(), late).unwrap();
        let saved = store.save(NewEntry::default(), &state(number)).unwrap();
        store.close().unwrap();
        assert_eq!(saved.sequence, 0, "it was spooled");
        saved
    }

    /// A copy of what lies in the spool.
    fn copy_spool(&self) -> Vec<(PathBuf, Vec<u8>)> {
        self.files().into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }

    /// Puts a file into the spool, all of it at once.
    fn put(&self, path: &Path, bytes: &[u8]) {
        let new = self.dir.path().join("new");
        fs::write(&new, bytes).unwrap();
        fs::rename(&new, path).unwrap();
    }

    fn put_back(&self, files: &[(PathBuf, Vec<u8>)]) {
        for (path, bytes) in files {
            self.put(path, bytes);
        }
    }
}

/// Of a save that does not wait, and a call that does.
fn options(told: &Arc<Mutex<Vec<SetAside>>>) -> Options {
    let told = told.clone();
    let hear = move |it: SetAside| told.lock().unwrap().push(it);
    Options {
        spool_after: Duration::from_millis(1),
        wait: Duration::from_secs(30),
        on_set_aside: Some(Arc::new(hear)),
        ..Options::default()
    }
}

/// A state of which most is the same for all numbers.
fn state(number: u64) -> (u64, Vec<u64>) {
    (number, (0..60).map(|it: u64| it.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect())
}

fn number(store: &Store, id: &Id) -> u64 {
    let (found, rest) = store.get(id).unwrap().state::<(u64, Vec<u64>)>().unwrap();
    assert_eq!(rest, state(found).1);
    found
}

fn ids(store: &Store) -> Vec<Id> {
    store.entries(Query::default()).map(|entry| entry.unwrap().id).collect()
}

/// Spool files were taken in by the time in their names. If the clock was set back between two
/// saves of a loop, the first counted as the newer.
#[test]
fn what_is_spooled_while_the_clock_is_set_back_stays_in_the_order_it_came() {
    let micros = Arc::new(AtomicI64::new(1_800_000_000_000_000));
    let clock = micros.clone();
    let mut place =
        Place::with_clock(Arc::new(move || Timestamp::from_micros(clock.load(Ordering::Relaxed))));
    let mut saved = Vec::new();
    for (number, ahead) in (1..).zip([600, 1200, -600, -1200, 600, i64::MIN / 4_000_000, 0]) {
        let seconds = 1_800_000_000 + ahead;
        micros.store(seconds * 1_000_000, Ordering::Relaxed);
        saved.push(place.save(number));
    }
    // A stated time counts as stated even if it equals the clock.
    let now = Timestamp::from_micros(micros.load(Ordering::Relaxed));
    let about = NewEntry { created_at: Some(now), ..NewEntry::default() };
    let stated = place.other.save(about, &state(9)).unwrap();
    let owner = place.owner();
    let found: Vec<u64> = ids(&owner).iter().map(|id| number(&owner, id)).collect();
    assert_eq!(found, [7, 6, 5, 4, 3, 2, 1, 9, 0]);
    for entry in &saved {
        let found = owner.entry(&entry.id).unwrap();
        assert_eq!(found.created_at, entry.created_at, "as it was acknowledged");
    }
    assert_eq!(owner.entry(&stated.id).unwrap().order().0, now);
    // The holder has a clock of its own, which is behind.
    let last = owner.save(NewEntry::default(), &state(10)).unwrap();
    assert_eq!(ids(&owner)[0], last.id);
}

#[test]
fn a_save_that_cannot_have_the_store_is_spooled_and_seen_by_the_next_reader() {
    let mut place = Place::new();
    let before: Vec<Entry> = (1..=3).map(|number| place.save(number)).collect();
    let owner = place.owner();
    assert_eq!(owner.count().unwrap(), 4);
    // It has the store and does not let go, and sees the others all the same.
    let after: Vec<Entry> = (4..=5).map(|number| place.save(number)).collect();
    assert_eq!(owner.count().unwrap(), 6);
    let saved: Vec<Entry> = before.into_iter().chain(after).collect();
    // In the order in which they came, whenever they were taken in.
    let expected: Vec<&Id> = saved.iter().rev().map(|entry| &entry.id).collect();
    assert_eq!(ids(&owner).iter().take(5).collect::<Vec<_>>(), expected);
    for (entry, number_saved) in saved.iter().zip(1..) {
        let found = owner.entry(&entry.id).unwrap();
        assert_eq!(found.created_at, entry.created_at);
        assert!(found.sequence > 0 && entry.stored_bytes > 0);
        assert_eq!(number(&owner, &entry.id), number_saved);
    }
    assert_eq!(owner.stats().unwrap().spool, Spooled::default());
    place.empties(&owner);
}

#[test]
fn what_was_spooled_is_stored_as_a_difference_like_all_else() {
    let mut place = Place::new();
    let spooled = place.save(1);
    let taken_in = place.owner().entry(&spooled.id).unwrap();
    assert!(taken_in.stored_bytes * 4 < spooled.stored_bytes, "{taken_in:?}");
}

#[test]
fn a_sole_owner_takes_in_what_was_spooled_without_being_asked() {
    let mut place = Place::new();
    place.save(1);
    let _owner = place.owner();
    let start = Instant::now();
    while !place.files().is_empty() {
        assert!(start.elapsed() < Duration::from_mins(1), "nobody took it in");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn files_and_folder_are_for_their_owner_alone() {
    let place = Place::new();
    place.save(1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.spool()), 0o700);
    assert_eq!(mode(&place.files()[0]), 0o600);
}

#[test]
fn inspecting_counts_what_waits_and_touches_nothing() {
    let place = Place::new();
    (0..3).for_each(|number| drop(place.save(number)));
    place.let_go();
    let before = place.copy_spool();
    let found = Store::inspect(place.path(), Duration::ZERO, &mut |_| {}).unwrap();
    assert_eq!(found.spool.checkpoints, 3);
    assert_eq!(found.spool.bytes, before.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>());
    assert_eq!(place.copy_spool(), before);
}

#[test]
fn saves_from_many_threads_share_a_file() {
    const THREADS: u64 = 24;
    let mut place = Place::new();
    thread::scope(|scope| {
        let place = &place;
        (1..=THREADS).for_each(|number| drop(scope.spawn(move || place.save(number))));
    });
    assert!(place.files().len() < THREADS.try_into().unwrap(), "{:?}", place.files());
    let owner = place.owner();
    let mut numbers: Vec<u64> = ids(&owner).iter().map(|id| number(&owner, id)).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..=THREADS).collect::<Vec<_>>());
}

#[test]
fn relaxed_saves_are_spooled_too() {
    let mut place = Place::new();
    let draft = place.other.draft(NewEntry::default(), &state(1)).unwrap();
    let saved = place.other.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
    place.other.flush().unwrap();
    assert_eq!(place.files().len(), 1);
    assert_eq!(number(&place.owner(), &saved.id), 1);
}

fn own_id() -> NewEntry {
    NewEntry { id: Some(Id::new("own").unwrap()), ..NewEntry::default() }
}

#[test]
fn a_save_under_an_id_of_its_own_waits_and_keeps_nobody_waiting() {
    let mut place = Place::new();
    let (other, held) = (&place.other, &mut place.held);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| other.save(own_id(), &1));
        // Whether it has begun to wait or not, these do not wait for it.
        for number in 0..20 {
            assert_eq!(other.save(NewEntry::default(), &state(number)).unwrap().sequence, 0);
        }
        assert!(!waiting.is_finished());
        drop(held.take());
        assert!(waiting.join().unwrap().unwrap().sequence > 0);
    });
    assert_eq!(other.count().unwrap(), 22);
}

#[test]
fn a_batch_is_spooled_if_all_of_it_can_be() {
    let mut place = Place::new();
    let draft = |number| place.other.draft(NewEntry::default(), &state(number)).unwrap();
    let saved = place.other.batch((0..3).map(draft).collect()).unwrap();
    assert!(saved.iter().all(|entry| entry.as_ref().unwrap().sequence == 0));
    assert_eq!(place.files().len(), 1);
    let mixed = vec![draft(3), place.other.draft(own_id(), &4).unwrap()];
    let (other, held) = (&place.other, &mut place.held);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| other.batch(mixed).unwrap());
        thread::sleep(Duration::from_millis(30));
        assert!(!waiting.is_finished());
        drop(held.take());
        assert!(waiting.join().unwrap().iter().all(|it| it.as_ref().unwrap().sequence > 0));
    });
    assert_eq!(other.count().unwrap(), 6);
}

#[test]
fn a_handle_that_only_saves_is_opened_though_the_store_is_held() {
    let mut place = Place::new();
    let late = Options { open_late: true, ..options(&place.told) };
    let saving = Store::open_with(place.path(), late.clone()).unwrap();
    let saved = saving.save(NewEntry::default(), &state(7)).unwrap();
    assert_eq!(saved.sequence, 0);
    saving.close().unwrap();
    let owner = place.owner();
    assert_eq!(number(&owner, &saved.id), 7);
    // Which store this is cannot be known without what a holder wrote down.
    fs::write(place.dir.path().join("store.redb.lock"), "process 1 (unknown)").unwrap();
    let hurried = Options { wait: Duration::from_millis(30), ..late };
    let error = Store::open_with(place.path(), hurried).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
}

#[test]
fn without_a_spool_a_save_waits_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let wait = Duration::from_millis(30);
    let never = Options { spool_after: Duration::MAX, wait, ..Options::default() };
    Store::open(&path).unwrap().close().unwrap();
    let other = engine::opened(&path, &never);
    let forever = Options { hold: Hold::Forever, ..options(&Arc::default()) };
    let _owner = Store::open_with(&path, forever).unwrap();
    let error = other.save(NewEntry::default(), &1).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    assert!(!dir.path().join("store.redb.spool").exists());
}

/// A kill after the commit and before the removal leaves the file.
#[test]
fn what_is_taken_in_is_taken_in_once_though_the_file_stays() {
    let mut place = Place::new();
    let saved = place.save(1);
    let files = place.copy_spool();
    let owner = place.owner();
    for _ in 0..3 {
        place.put_back(&files);
        assert_eq!(owner.count().unwrap(), 2);
        assert_eq!(number(&owner, &saved.id), 1);
        // It is removed again.
        place.empties(&owner);
    }
}

#[test]
fn what_was_removed_does_not_come_back_though_the_file_does() {
    let mut place = Place::new();
    let gone = [place.save(1).id, place.save(2).id];
    let files = place.copy_spool();
    assert_eq!(files.len(), 1);
    let owner = place.owner();
    owner.delete_now(&gone[..1]).unwrap();
    owner.delete(&gone[1..]).unwrap();
    for _ in 0..3 {
        place.put_back(&files);
        assert_eq!(owner.count().unwrap(), 1);
    }
    // Nor for the next who has the store.
    place.put_back(&files);
    drop(owner);
    assert_eq!(place.other.count().unwrap(), 1);
    // Nor together with what is new.
    place.put_back(&files);
    place.other.save(NewEntry::default(), &state(3)).unwrap();
    assert_eq!(place.other.count().unwrap(), 2);
}

#[test]
fn names_of_files_are_forgotten_once_these_are_gone() {
    let mut place = Place::new();
    let owner = place.owner();
    for number in 1..=40 {
        place.save(number);
        assert_eq!(owner.count().unwrap(), number + 1);
    }
    let path = place.path();
    drop(owner);
    drop(place.other);
    let database = redb::Database::open(&path).unwrap();
    let table = redb::TableDefinition::<&str, ()>::new("taken");
    let read = redb::ReadableDatabase::begin_read(&database).unwrap().open_table(table).unwrap();
    let rows = redb::ReadableTableMetadata::len(&read).unwrap();
    assert!((1..5).contains(&rows), "{rows}");
}

#[test]
fn a_ring_keeps_its_last_few_of_what_was_spooled() {
    let mut place = Place::new();
    let owner = place.owner();
    let rule = Rule { keep_last: Some(3), ..Rule::default() };
    let policy = Policy { rules: vec![rule], ..Policy::default() };
    let settings = Settings { policy: Some(policy), prune_on_save: true, ..Settings::default() };
    owner.set_settings(&settings).unwrap();
    drop(owner);
    place.held = Some(redb::Database::open(place.path()).unwrap());
    (5..12).for_each(|number| drop(place.save(number)));
    let files = place.copy_spool();
    let owner = place.owner();
    let kept = || -> Vec<u64> { ids(&owner).iter().map(|id| number(&owner, id)).collect() };
    assert_eq!(kept(), [11, 10, 9]);
    place.put_back(&files);
    assert_eq!(kept(), [11, 10, 9]);
}

/// What a damaged or foreign log does to everybody else: nothing.
#[test]
fn what_cannot_be_taken_in_is_set_aside_and_told() {
    let [mut place, another] = [Place::new(), Place::new()];
    (1..=4).for_each(|number| drop(place.log(number)));
    another.log(1);
    let files = place.files();
    let mut flipped = fs::read(&files[0]).unwrap();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 4;
    fs::write(&files[0], flipped).unwrap();
    // Only of the mark.
    let cut = fs::read(&files[1]).unwrap();
    fs::write(&files[1], &cut[..cut.len() - 1]).unwrap();
    fs::rename(&files[2], &files[3]).unwrap();
    let foreign = &another.files()[0];
    fs::copy(foreign, place.spool().join(foreign.file_name().unwrap())).unwrap();
    let owner = place.owner();
    assert_eq!(owner.count().unwrap(), 2);
    let told = place.told.lock().unwrap();
    let mut reasons: Vec<&str> = told.iter().map(|it| it.reason.as_str()).collect();
    reasons.sort_unstable();
    let foreign = "it is of another store, or no log";
    assert_eq!(reasons, ["it is damaged before its end", foreign, foreign]);
    assert!(told.iter().all(|it| it.path.starts_with(place.spool().join("aside"))));
    assert!(told.iter().all(|it| it.path.exists()));
    assert_eq!(owner.stats().unwrap().spool.set_aside, 3);
}

#[test]
fn every_way_to_change_a_log_is_noticed() {
    const HEADER: usize = 16;
    const MARK: usize = 28;
    let mut place = Place::new();
    place.log(1);
    let [(path, bytes)] = place.copy_spool().try_into().unwrap();
    fs::remove_file(&path).unwrap();
    let owner = place.owner();
    for (count, at) in (1..).zip((HEADER..bytes.len() - MARK).step_by(3)) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        place.put(&path, &flipped);
        assert_eq!(owner.count().unwrap(), 1);
        assert_eq!(place.told.lock().unwrap().len(), count, "byte {at}");
    }
    place.put(&path, &bytes);
    assert_eq!(owner.count().unwrap(), 2);
}

/// What comes behind the damage to a log is taken in, once.
#[test]
fn a_log_that_is_damaged_in_its_middle_loses_only_what_is_damaged() {
    let mut place = Place::new();
    let saved: Vec<Entry> = (1..=6).map(|number| place.save(number)).collect();
    place.let_go();
    let [(path, mut bytes)] = place.copy_spool().try_into().unwrap();
    bytes[100] ^= 1;
    place.put(&path, &bytes);
    let owner = place.owner();
    let found = ids(&owner);
    assert!(!found.contains(&saved[0].id));
    // The item behind the damage has no seed that could be checked.
    assert!(saved[2..].iter().all(|entry| found.contains(&entry.id)), "{found:?}");
    assert_eq!(place.told.lock().unwrap().len(), 1);
    assert_eq!(owner.stats().unwrap().spool.set_aside, 1);
    place.put(&path, &bytes);
    assert_eq!(ids(&owner), found);
}

#[test]
fn what_does_not_belong_there_is_left_alone_and_counted() {
    let mut place = Place::new();
    let saved = place.save(1);
    let [file] = place.files().try_into().unwrap();
    let elsewhere = place.dir.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    // A link to a good file, a directory with a good name, and names that say nothing.
    symlink(&elsewhere, &file).unwrap();
    let id = "0190f2e0-0000-7000-8000-000000000001.save";
    fs::create_dir(place.spool().join(id)).unwrap();
    fs::write(place.spool().join("notes.txt"), "mine").unwrap();
    fs::write(place.spool().join(".save"), "").unwrap();
    fs::write(place.spool().join("..%2f.save"), "").unwrap();
    let owner = place.owner();
    assert_eq!(owner.count().unwrap(), 1);
    let spool = owner.stats().unwrap().spool;
    assert_eq!((spool.strange, spool.set_aside, spool.checkpoints), (5, 0, 0));
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert_eq!(fs::read(place.spool().join("notes.txt")).unwrap(), b"mine");
    // And what does is taken in as ever.
    place.save(2);
    assert_eq!(owner.count().unwrap(), 2);
    fs::remove_file(&file).unwrap();
    fs::rename(&elsewhere, &file).unwrap();
    assert_eq!(number(&owner, &saved.id), 1);
}

#[test]
fn what_a_killed_writer_left_is_removed_and_what_is_being_written_is_not() {
    let mut place = Place::new();
    place.save(1);
    let name = |last: u8| format!("0190f2e0-0000-7000-8000-0000000000{last:02x}.new");
    let [left, busy] = [1, 2].map(|last| place.spool().join(name(last)));
    fs::write(&left, "half of it").unwrap();
    let file = fs::File::create(&busy).unwrap();
    file.lock().unwrap();
    let owner = place.owner();
    assert_eq!(owner.count().unwrap(), 2);
    assert!(!left.exists() && busy.exists());
    drop(file);
    place.save(2);
    fs::write(place.spool().join("new"), "").unwrap();
    assert_eq!(owner.count().unwrap(), 3);
    assert!(!busy.exists());
}

/// A folder that cannot be made is no reason not to save: the save waits.
#[test]
fn without_a_folder_a_save_waits_for_the_store() {
    let mut place = Place::new();
    fs::write(place.spool(), "in the way").unwrap();
    let (other, held) = (&place.other, &mut place.held);
    thread::scope(|scope| {
        let saving = scope.spawn(|| other.save(NewEntry::default(), &state(1)).unwrap());
        thread::sleep(Duration::from_millis(30));
        assert!(!saving.is_finished());
        drop(held.take());
        assert!(saving.join().unwrap().sequence > 0);
    });
    assert_eq!(other.count().unwrap(), 2);
}

#[test]
fn what_is_spooled_is_there_before_what_its_taker_saves() {
    let mut place = Place::new();
    let spooled = place.save(1);
    drop(place.held.take());
    let series = Some(Series::new("own").unwrap());
    let own = place.other.save(NewEntry { series, ..NewEntry::default() }, &2).unwrap();
    assert!(place.other.entry(&spooled.id).unwrap().sequence < own.sequence);
}

/// Several processes spool while the holder of the store takes in, reads and saves.
#[test]
fn what_was_acknowledged_before_a_save_began_has_a_lower_sequence() {
    const SAVERS: usize = 4;
    const SAVES: u64 = 60;
    let mut place = Place::new();
    let owner = place.owner();
    let clock = std::sync::atomic::AtomicU64::new(0);
    let saved: Mutex<Vec<(u64, u64, Id)>> = Mutex::default();
    let save = |store: &Store, number: u64| {
        let begun = clock.load(Ordering::SeqCst);
        let id = store.save(NewEntry::default(), &state(number)).unwrap().id;
        let ended = clock.fetch_add(1, Ordering::SeqCst) + 1;
        saved.lock().unwrap().push((begun, ended, id));
    };
    let late = Options { open_late: true, ..options(&place.told) };
    thread::scope(|scope| {
        for _ in 0..SAVERS {
            scope.spawn(|| {
                let store = Store::open_with(place.path(), late.clone()).unwrap();
                (0..SAVES).for_each(|number| save(&store, number));
                store.close().unwrap();
            });
        }
        scope.spawn(|| (0..SAVES).for_each(|number| save(&owner, number)));
        scope.spawn(|| (0..SAVES).for_each(|_| assert!(owner.count().unwrap() > 0)));
    });
    let saved = saved.into_inner().unwrap();
    assert_eq!(owner.count().unwrap(), 1 + (SAVERS as u64 + 1) * SAVES);
    let found: Vec<(u64, u64, u64)> = saved
        .into_iter()
        .map(|(begun, ended, id)| (begun, ended, owner.entry(&id).unwrap().sequence))
        .collect();
    for (_, ended, sequence) in &found {
        let mut after = found.iter().filter(|(begun, ..)| begun >= ended);
        assert!(after.all(|(.., later)| later > sequence));
    }
}
