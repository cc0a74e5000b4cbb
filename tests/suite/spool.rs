//! Saves that cannot have the store in time: durable beside it, and in it once.
//!
//! Two handles in one process lock each other out just as two processes do.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use waypost::{
    Durability, Entry, Error, Hold, Id, NewEntry, Options, Policy, Query, Rule, Series, Settings,
    Spooled, Store,
};

/// A store, one handle that keeps it, and one that cannot have it.
struct Place {
    dir: tempfile::TempDir,
    holder: Option<Store>,
    other: Store,
    told: Arc<Mutex<Vec<(PathBuf, String)>>>,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        let told = Arc::new(Mutex::new(Vec::new()));
        let other = Store::open_with(&path, options(&told)).unwrap();
        let mut place = Self { dir, holder: None, other, told };
        place.hold();
        place
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("store.redb")
    }

    fn spool(&self) -> PathBuf {
        self.dir.path().join("store.redb.spool")
    }

    /// Keeps the store from everybody, and looks at nothing for a while.
    fn hold(&mut self) {
        let forever = Options { hold: Hold::Forever, ..options(&self.told) };
        self.holder = Some(Store::open_with(self.path(), forever).unwrap());
    }

    fn save(&self, number: u64) -> Entry {
        self.other.save(NewEntry::default(), &state(number)).unwrap()
    }

    /// The files that wait to be taken in.
    fn files(&self) -> Vec<PathBuf> {
        let found = fs::read_dir(self.spool()).into_iter().flatten();
        let mut files: Vec<PathBuf> = found.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|it| it == "save"));
        files.sort();
        files
    }

    /// A copy of all that lies beside the store, as a kill at this moment would leave it.
    fn copy_spool(&self) -> Vec<(PathBuf, Vec<u8>)> {
        self.files().into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }
}

/// Of a save that does not wait, and a call that does.
fn options(told: &Arc<Mutex<Vec<(PathBuf, String)>>>) -> Options {
    let told = told.clone();
    let hear = move |path: &Path, reason: &str| {
        told.lock().unwrap().push((path.to_owned(), reason.to_owned()));
    };
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

fn put_back(files: &[(PathBuf, Vec<u8>)]) {
    for (path, bytes) in files {
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn a_save_that_cannot_have_the_store_is_spooled_and_seen_by_the_next_reader() {
    let place = Place::new();
    let holder = place.holder.as_ref().unwrap();
    let first = holder.save(NewEntry::default(), &state(0)).unwrap();
    let saved: Vec<Entry> = (1..=5).map(|number| place.save(number)).collect();
    assert!(saved.iter().all(|entry| entry.sequence == 0 && entry.stored_bytes > 0));
    // The holder has not let go, and sees them all the same, in the order of their times.
    let mut expected: Vec<Id> = saved.iter().rev().map(|entry| entry.id.clone()).collect();
    expected.push(first.id);
    assert_eq!(ids(holder), expected);
    for (entry, number_saved) in saved.iter().zip(1..) {
        let found = holder.entry(&entry.id).unwrap();
        assert_eq!(found.created_at, entry.created_at);
        assert!(found.sequence > 0);
        assert_eq!(number(holder, &entry.id), number_saved);
    }
    assert!(place.files().is_empty());
    assert_eq!(holder.stats().unwrap().spool, Spooled::default());
}

#[test]
fn what_was_spooled_is_stored_as_a_difference_like_all_else() {
    let place = Place::new();
    let holder = place.holder.as_ref().unwrap();
    holder.save(NewEntry::default(), &state(0)).unwrap();
    let spooled = place.save(1);
    let taken_in = holder.entry(&spooled.id).unwrap();
    assert!(taken_in.stored_bytes * 4 < spooled.stored_bytes, "{taken_in:?}");
}

#[test]
fn a_sole_owner_takes_in_what_was_spooled_without_being_asked() {
    let place = Place::new();
    place.save(1);
    assert_eq!(place.files().len(), 1);
    let start = Instant::now();
    while !place.files().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "nobody took it in");
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
    let before = place.copy_spool();
    let found = Store::inspect(place.path(), Duration::ZERO, &mut |_| {}).unwrap();
    assert_eq!(found.spool.checkpoints, 3);
    assert_eq!(found.spool.bytes, before.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>());
    assert_eq!(place.copy_spool(), before);
}

#[test]
fn saves_from_many_threads_share_a_file() {
    const THREADS: u64 = 24;
    let place = Place::new();
    thread::scope(|scope| {
        (0..THREADS).for_each(|number| {
            drop(scope.spawn({
                let place = &place;
                move || place.save(number)
            }))
        });
    });
    assert!(place.files().len() < THREADS.try_into().unwrap(), "{:?}", place.files());
    let holder = place.holder.as_ref().unwrap();
    let mut numbers: Vec<u64> = ids(holder).iter().map(|id| number(holder, id)).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..THREADS).collect::<Vec<_>>());
}

#[test]
fn relaxed_saves_are_spooled_too() {
    let place = Place::new();
    let draft = place.other.draft(NewEntry::default(), &state(1)).unwrap();
    let saved = place.other.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
    place.other.flush().unwrap();
    assert_eq!(number(place.holder.as_ref().unwrap(), &saved.id), 1);
}

#[test]
fn a_save_under_an_id_of_its_own_waits_and_keeps_nobody_waiting() {
    let mut place = Place::new();
    let holder = place.holder.take();
    let other = Arc::new(Store::open_with(place.path(), options(&place.told)).unwrap());
    drop(holder);
    other.count().unwrap();
    place.hold();
    let waiting = thread::spawn({
        let other = other.clone();
        let about = NewEntry { id: Some(Id::new("own").unwrap()), ..NewEntry::default() };
        move || other.save(about, &1)
    });
    // Whether it has begun to wait or not, these do not wait for it.
    for number in 0..20 {
        assert_eq!(other.save(NewEntry::default(), &state(number)).unwrap().sequence, 0);
    }
    assert!(!waiting.is_finished());
    drop(place.holder.take());
    assert!(waiting.join().unwrap().unwrap().sequence > 0);
    assert_eq!(other.count().unwrap(), 21);
}

#[test]
fn without_a_spool_a_save_waits_and_says_so() {
    let place = Place::new();
    let wait = Duration::from_millis(30);
    drop(place.other);
    let mut holder = place.holder;
    drop(holder.take());
    let path = place.dir.path().join("store.redb");
    let never = Options { spool_after: Duration::MAX, wait, ..Options::default() };
    let other = Store::open_with(&path, never).unwrap();
    let patient = Options { hold: Hold::Forever, ..options(&place.told) };
    let _holder = Store::open_with(&path, patient).unwrap();
    let error = other.save(NewEntry::default(), &1).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    assert!(!place.dir.path().join("store.redb.spool").exists());
}

/// A kill after the commit and before the removal leaves the file.
#[test]
fn what_is_taken_in_is_taken_in_once_though_the_file_stays() {
    let place = Place::new();
    let holder = place.holder.as_ref().unwrap();
    let saved = place.save(1);
    let files = place.copy_spool();
    assert_eq!(holder.count().unwrap(), 1);
    put_back(&files);
    assert_eq!(holder.count().unwrap(), 1);
    assert!(place.files().is_empty(), "it is removed again");
    put_back(&files);
    assert_eq!(number(holder, &saved.id), 1);
    assert_eq!(holder.count().unwrap(), 1);
}

#[test]
fn what_was_removed_does_not_come_back_though_the_file_does() {
    let place = Place::new();
    let holder = place.holder.as_ref().unwrap();
    let gone = [place.save(1).id, place.save(2).id];
    let files = place.copy_spool();
    holder.delete_now(&gone[..1]).unwrap();
    holder.delete(&gone[1..]).unwrap();
    for _ in 0..3 {
        put_back(&files);
        assert_eq!(holder.count().unwrap(), 0);
    }
    // Nor for the next who has the store.
    put_back(&files);
    let Place { holder, other, .. } = place;
    drop(holder);
    assert_eq!(other.count().unwrap(), 0);
    // A later file is taken in as ever, and none of these with it.
    put_back(&files);
    other.save(NewEntry::default(), &state(3)).unwrap();
    assert_eq!(other.count().unwrap(), 1);
}

#[test]
fn names_of_files_are_forgotten_once_these_are_gone() {
    let place = Place::new();
    let holder = place.holder.as_ref().unwrap();
    for number in 0..40 {
        place.save(number);
        assert_eq!(holder.count().unwrap(), number + 1);
    }
    let path = place.path();
    drop(place.holder);
    drop(place.other);
    let database = redb::Database::open(&path).unwrap();
    let table = redb::TableDefinition::<&str, ()>::new("taken");
    let read = redb::ReadableDatabase::begin_read(&database).unwrap().open_table(table).unwrap();
    assert_eq!(redb::ReadableTableMetadata::len(&read).unwrap(), 1);
}

#[test]
fn a_ring_keeps_its_last_few_of_what_was_spooled() {
    let place = Place::new();
    let holder = place.holder.as_ref().unwrap();
    let rule = Rule { keep_last: Some(3), ..Rule::default() };
    let policy = Policy { rules: vec![rule], ..Policy::default() };
    let settings = Settings { policy: Some(policy), prune_on_save: true, ..Settings::default() };
    holder.set_settings(&settings).unwrap();
    for number in 0..5 {
        holder.save(NewEntry::default(), &state(number)).unwrap();
    }
    (5..12).for_each(|number| drop(place.save(number)));
    let files = place.copy_spool();
    let kept =
        |store: &Store| -> Vec<u64> { ids(store).iter().map(|id| number(store, id)).collect() };
    assert_eq!(kept(holder), [11, 10, 9]);
    put_back(&files);
    assert_eq!(kept(holder), [11, 10, 9]);
}

/// What a damaged or foreign file does to everybody else: nothing.
#[test]
fn what_cannot_be_taken_in_is_set_aside_and_told() {
    let place = Place::new();
    let another = Place::new();
    for place in [&place, &another] {
        (0..4).for_each(|number| drop(place.save(number)));
    }
    let holder = place.holder.as_ref().unwrap();
    let files = place.files();
    // A sole owner looks now and then, and may have been quicker than these.
    assert_eq!(files.len(), 4);
    let mut flipped = fs::read(&files[0]).unwrap();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 4;
    fs::write(&files[0], flipped).unwrap();
    let cut = fs::read(&files[1]).unwrap();
    fs::write(&files[1], &cut[..cut.len() - 1]).unwrap();
    fs::rename(&files[2], place.spool().join(files[3].file_name().unwrap())).unwrap();
    fs::copy(&another.files()[0], place.spool().join(another.files()[0].file_name().unwrap()))
        .unwrap();
    assert_eq!(holder.count().unwrap(), 0);
    let told = place.told.lock().unwrap();
    let mut reasons: Vec<&str> = told.iter().map(|(_, reason)| reason.as_str()).collect();
    reasons.sort_unstable();
    assert_eq!(
        reasons,
        [
            "it is of another store",
            "it was written under another name",
            "its checksum differs",
            "its checksum differs",
        ]
    );
    assert!(told.iter().all(|(path, _)| path.starts_with(place.spool().join("aside"))));
    assert!(told.iter().all(|(path, _)| path.exists()));
    assert_eq!(holder.stats().unwrap().spool.set_aside, 4);
}

#[test]
fn every_way_to_cut_or_change_a_file_is_noticed() {
    let place = Place::new();
    place.save(1);
    let [(path, bytes)] = place.copy_spool().try_into().unwrap();
    let holder = place.holder.as_ref().unwrap();
    fs::remove_file(&path).unwrap();
    let mut count = 0;
    let mut damage = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        assert_eq!(holder.count().unwrap(), 0);
        count += 1;
        assert_eq!(place.told.lock().unwrap().len(), count);
    };
    (0..bytes.len()).step_by(7).for_each(|length| damage(&bytes[..length]));
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        damage(&flipped);
    }
    fs::write(&path, &bytes).unwrap();
    assert_eq!(holder.count().unwrap(), 1);
}

#[test]
fn what_does_not_belong_there_is_left_alone_and_counted() {
    let place = Place::new();
    let saved = place.save(1);
    let [file] = place.files().try_into().unwrap();
    let elsewhere = place.dir.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    // A link to a good file, a directory with a good name, and names that say nothing.
    symlink(&elsewhere, &file).unwrap();
    let id = |last: u8| format!("0190f2e0-0000-7000-8000-0000000000{last:02x}.save");
    fs::create_dir(place.spool().join(id(1))).unwrap();
    fs::write(place.spool().join("notes.txt"), "mine").unwrap();
    fs::write(place.spool().join(".save"), "").unwrap();
    fs::write(place.spool().join("..%2f.save"), "").unwrap();
    let holder = place.holder.as_ref().unwrap();
    assert_eq!(holder.count().unwrap(), 0);
    let spool = holder.stats().unwrap().spool;
    assert_eq!((spool.strange, spool.set_aside, spool.checkpoints), (5, 0, 0));
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert_eq!(fs::read(place.spool().join("notes.txt")).unwrap(), b"mine");
    // And what does is taken in as ever.
    place.save(2);
    assert_eq!(holder.count().unwrap(), 1);
    fs::remove_file(&file).unwrap();
    fs::rename(&elsewhere, &file).unwrap();
    assert_eq!(number(holder, &saved.id), 1);
}

#[test]
fn what_a_killed_writer_left_is_removed_and_what_is_being_written_is_not() {
    let place = Place::new();
    place.save(1);
    let id = |last: u8| format!("0190f2e0-0000-7000-8000-0000000000{last:02x}.new");
    let [left, busy] = [1, 2].map(|last| place.spool().join(id(last)));
    fs::write(&left, "half of it").unwrap();
    let file = fs::File::create(&busy).unwrap();
    file.lock().unwrap();
    assert_eq!(place.holder.as_ref().unwrap().count().unwrap(), 1);
    assert!(!left.exists() && busy.exists());
    drop(file);
    place.save(2);
    assert_eq!(place.holder.as_ref().unwrap().count().unwrap(), 2);
    assert!(!busy.exists());
}

/// A folder that cannot be made is no reason not to save: the save waits.
#[test]
fn without_a_folder_a_save_waits_for_the_store() {
    let mut place = Place::new();
    fs::write(place.spool(), "in the way").unwrap();
    thread::scope(|scope| {
        let saving = scope.spawn(|| place.other.save(NewEntry::default(), &state(1)).unwrap());
        thread::sleep(Duration::from_millis(30));
        assert!(!saving.is_finished());
        drop(place.holder.take());
        assert!(saving.join().unwrap().sequence > 0);
    });
    assert_eq!(place.other.count().unwrap(), 1);
}

#[test]
fn what_is_spooled_is_there_before_what_its_taker_saves() {
    let mut place = Place::new();
    let series =
        |name: &str| NewEntry { series: Some(Series::new(name).unwrap()), ..NewEntry::default() };
    let spooled = place.other.save(series("spooled"), &1).unwrap();
    drop(place.holder.take());
    let own = place.other.save(series("own"), &2).unwrap();
    assert!(place.files().is_empty());
    assert!(place.other.entry(&spooled.id).unwrap().sequence < own.sequence);
}
