//! A full disk: what a killed process left can be read, and room can be made.

use std::io::ErrorKind::StorageFull;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use super::chance::Chance;
use super::simulated::{Call, Fault, Manner, SimulatedDisk};
use super::workload::{LOCK, later, open, place};
use crate::checkpoint::{Id, Issue, LoopId, NewEntry, Series, Timestamp};
use crate::error::Error;
use crate::extent::extent;
use crate::retention::{Policy, Rule, plan};
use crate::store::engine::disk::Disk as _;
use crate::store::engine::full::lacks_room;
use crate::store::{Draft, Durability, Hold, Limits, Options, Settings, Store};
use crate::sync::lock;

/// The saves of a process until it is killed.
#[derive(Debug, Clone, Copy)]
struct Habit {
    name: &'static str,
    series: usize,
    words: usize,
    /// How many it has saved and settled before.
    before: usize,
    /// The length of the journal at which it stops.
    journal_bytes: usize,
    keep_last: Option<u32>,
}

const USUAL: Habit =
    Habit { name: "usual", series: 3, words: 9, before: 50, journal_bytes: FULL, keep_last: None };
const HABITS: [Habit; 7] = [
    USUAL,
    Habit { name: "few", journal_bytes: 40, ..USUAL },
    Habit { name: "known names", series: 500, words: 2, before: 900, ..USUAL },
    Habit { name: "new names", series: 90_000, words: 2, ..USUAL },
    Habit { name: "states", series: 7, words: 200, ..USUAL },
    Habit { name: "large", series: 2, words: 9000, before: 2, ..USUAL },
    Habit { name: "pruned", series: 40, words: 20, before: 400, keep_last: Some(3), ..USUAL },
];
const FULL: usize = 256 << 10;
const FULL_SHORT: u64 = 64 << 10;
const JOURNAL: &str = "/disk/store.redb.journal";

impl Habit {
    fn save(&self, store: &Store, numbers: Range<usize>) {
        let draft = |number| {
            let mut chance = Chance::new(&[number as u64]);
            let series = Series::new(format!("loop {}", chance.below(self.series))).unwrap();
            let about = NewEntry { series: Some(series), ..NewEntry::default() };
            let words: Vec<u64> =
                (0..self.words).map(|_| chance.below(usize::MAX) as u64).collect();
            store.draft(about, &words).unwrap()
        };
        store
            .batch(numbers.map(draft).collect())
            .unwrap()
            .into_iter()
            .for_each(|it| drop(it.unwrap()));
    }

    /// About as many as grow the journal by one step.
    fn at_once(&self) -> usize {
        (40_000 / (self.words * 8 + 200)).clamp(1, 200)
    }

    /// The disk that a killed process leaves, and the number of checkpoints that it saved.
    fn killed(&self) -> (SimulatedDisk, u64) {
        let disk = SimulatedDisk::default().with_long_journals();
        let store = open(&disk, &later(), &[]).unwrap();
        if self.keep_last.is_some() {
            let rule = Rule { keep_last: self.keep_last, ..Rule::default() };
            let policy = Some(Policy { rules: vec![rule], ..Policy::default() });
            let settings = Settings { policy, prune_on_save: true, ..Settings::default() };
            store.set_settings(&settings).unwrap();
        }
        self.save(&store, 0..self.before);
        let mut number = self.before;
        let end = || store.shared.turn.with(|open| Ok(lock(&open.journal).end()));
        while end().unwrap() < self.journal_bytes as u64 {
            let many = self.at_once();
            self.save(&store, number..number + many);
            number += many;
        }
        let left = SimulatedDisk::with(disk.files()).with_long_journals();
        (left, store.count().unwrap())
    }
}

/// Opening the store put the journal into the tables. There was no room for that, so nothing could
/// be read or removed.
#[test]
fn the_reserve_has_room_for_the_journal_on_a_full_disk() {
    let most = usize::try_from(extent(FULL_SHORT, FULL as u64)).unwrap();
    for habit in HABITS {
        let habit = Habit { journal_bytes: habit.journal_bytes.min(most), ..habit };
        let (disk, count) = habit.killed();
        disk.fill();
        let store = open(&disk, &later(), &[]).unwrap();
        let length = disk.content(Path::new(JOURNAL)).len();
        assert_eq!(store.count().unwrap(), count, "{}", habit.name);
        assert_eq!(disk.content(Path::new(JOURNAL)).len(), length, "{}", habit.name);
        let ids: Vec<_> = store.inventory(None).unwrap().into_iter().map(|it| it.id).collect();
        store.delete_now(&ids[ids.len() / 2..]).unwrap();
        assert_eq!(store.count().unwrap(), ids.len() as u64 / 2, "{}", habit.name);
        assert!(!disk.is_file(Path::new(JOURNAL)), "{}: it is in the tables", habit.name);
    }
}

#[test]
fn a_full_disk_has_room_again_after_pruning_and_compacting() {
    let (disk, _) = USUAL.killed();
    disk.fill();
    let before = disk.files().pages();
    let store = open(&disk, &later(), &[]).unwrap();
    let entries = store.inventory(None).unwrap();
    let plan = plan(&entries, &Policy::preset("last-5").unwrap(), Timestamp::now());
    store.apply_now(&plan).unwrap();
    store.compact().unwrap();
    drop(store);
    assert!(disk.files().pages() < before / 4);
    assert_eq!(open(&disk, &later(), &[]).unwrap().count().unwrap(), 15);
}

/// Older builds wrote journals without a reserve.
#[test]
fn without_a_reserve_a_full_store_is_read_from_memory_and_unchanged() {
    let (disk, count) = USUAL.killed();
    // Data of other programs.
    let path = Path::new(JOURNAL);
    let content = disk.content(path);
    let used = content.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    disk.open_to_write(path).unwrap().set_length(used as u64).unwrap();
    disk.fill();
    let journal = disk.content(path);
    let store = open(&disk, &later(), &[]).unwrap();
    for _ in 0..2 {
        assert_eq!(store.count().unwrap(), count);
        assert_eq!(disk.content(path), journal);
    }
    let saved = store.save(NewEntry::default(), &1);
    assert!(matches!(saved, Err(Error::Io { source, .. }) if source.kind() == StorageFull));
    assert_eq!(store.count().unwrap(), count);
    disk.empty();
    store.save(NewEntry::default(), &1).unwrap();
    assert_eq!(store.count().unwrap(), count + 1);
    drop(store);
    assert_eq!(open(&disk, &later(), &[]).unwrap().count().unwrap(), count + 1);
}

/// Spool files that were only taken in in memory must not count as taken in for good.
#[test]
fn what_is_spooled_on_a_full_disk_is_read_and_stays() {
    let other = SimulatedDisk::default();
    let store = open(&other, &later(), &[]).unwrap();
    let saved: Vec<_> = (0..3).map(|it| store.save(NewEntry::default(), &it).unwrap()).collect();
    // A journal, and more spooled saves than its reserve has room for.
    let disk = SimulatedDisk::with(other.files());
    let mut drafts: Vec<Draft> =
        (0..300).map(|it| store.draft(NewEntry::default(), &noise(it)).unwrap()).collect();
    store.shared.let_go();
    assert!(store.shared.spool(&mut drafts).iter().all(Option::is_some));
    let folder = Path::new("/disk/store.redb.spool");
    for name in other.list(folder).unwrap() {
        let path = folder.join(name);
        disk.create(&path).unwrap().write_at(&other.content(&path), 0).unwrap();
    }
    // The clock of this boot goes on.
    let now = other.ticks();
    while disk.ticks() < now {}
    disk.fill();
    let spooled = || disk.list(folder).unwrap().len();
    let before = spooled();
    assert!(before > 0);
    let store = open(&disk, &later(), &[]).unwrap();
    for _ in 0..3 {
        assert_eq!(store.count().unwrap(), 303);
        assert_eq!(spooled(), before);
    }
    // A call that makes room does not wait for them.
    store.delete_now(&[saved[0].id.clone()]).unwrap();
    assert_eq!(spooled(), before);
    assert_eq!(store.count().unwrap(), 302);
    disk.empty();
    store.save(NewEntry::default(), &1).unwrap();
    assert_eq!(store.count().unwrap(), 303);
    // This save may be in a log, too.
    drop(store);
    assert_eq!(open(&disk, &later(), &[]).unwrap().count().unwrap(), 303);
    assert_eq!(spooled(), 0);
}

/// On a full disk, making a store failed with "not found" instead of "no space".
#[test]
fn making_a_store_on_a_full_disk_says_so() {
    let disk = SimulatedDisk::default();
    disk.fill();
    let error = open(&disk, &later(), &[]).map(drop).unwrap_err();
    assert!(lacks_room(&error), "{error:?}");
}

/// Spooled saves were settled in memory, and then all relaxed saves counted as durable.
#[test]
fn a_flush_after_reading_from_memory_makes_relaxed_saves_durable() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    let mut drafts: Vec<Draft> =
        (0..300).map(|it| store.draft(NewEntry::default(), &noise(it)).unwrap()).collect();
    let draft = store.draft(NewEntry::default(), &1).unwrap();
    store.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
    assert!(store.shared.spool(&mut drafts).iter().all(Option::is_some));
    disk.fill();
    assert_eq!(store.count().unwrap(), 301);
    let synced = disk.calls(Call::Sync);
    assert!(store.flush().is_err() || disk.calls(Call::Sync) > synced);
}

/// A lock file could not be made, and the open retried for ever, whatever `wait` said.
#[test]
fn a_reader_that_finds_no_room_for_a_lock_file_waits_as_long_as_it_is_to() {
    let disk = SimulatedDisk::default();
    let options = Options { wait: Duration::ZERO, hold: Hold::Forever, ..Options::default() };
    let store = Store::open_at(place(&disk), options).unwrap();
    store.shared.let_go();
    disk.lose(Path::new(LOCK));
    disk.hold();
    let number = disk.calls(Call::Create);
    disk.fail(Fault { call: Call::Create, number, manner: Manner::NoSpace });
    assert!(matches!(store.count(), Err(Error::Locked { .. })));
}

/// When the keeper could not take in the spool, a concurrent read failed, too.
#[test]
fn a_reader_does_not_fail_where_another_thread_finds_no_room() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, &later(), &[]).unwrap();
    store.save(NewEntry::default(), &1).unwrap();
    let draft = |it| store.draft(NewEntry::default(), &noise(it)).unwrap();
    let mut drafts: Vec<Draft> = (0..300).map(draft).collect();
    assert!(store.shared.spool(&mut drafts).iter().all(Option::is_some));
    disk.fill();
    // Before the failed call reports that the file must be opened anew.
    let failed = store.shared.turn.with(|open| Ok(store.shared.take_in(open).is_err()));
    assert!(failed.unwrap());
    assert_eq!(store.count().unwrap(), 301);
}

/// With its reserve such a journal was longer than a reader accepts, so after a kill the store was
/// refused.
#[test]
fn a_journal_is_never_longer_than_what_is_read_of_one() {
    let disk = SimulatedDisk::default().with_long_journals();
    let limits = Limits { name_bytes: 1024, ..Limits::default() };
    let options = Options { limits, hold: Hold::Forever, ..Options::default() };
    let store = Store::open_at(place(&disk), options).unwrap();
    store.shared.keeper.stop();
    let long = |what: &str, number| Some(format!("{what} {number:01000}"));
    let draft = |number: u64| {
        let about = NewEntry {
            series: Some(Series::new(format!("{number:01000}")).unwrap()),
            issue: Some(Issue::new(format!("{number:01000}")).unwrap()),
            loop_id: Some(LoopId::new(format!("{number:01000}")).unwrap()),
            workflow_id: long("workflow", number),
            workflow_type: long("type", number),
            session_id: long("session", number),
            agent: long("agent", number),
            phase: long("phase", number),
            step: long("step", number),
            resume_from: long("from", number),
            parent: Some(Id::new(format!("{number:01000}")).unwrap()),
            ..NewEntry::default()
        };
        store.draft(about, &noise(number)[..350]).unwrap()
    };
    let save = |numbers: Range<u64>| {
        let saved = store.batch(numbers.map(draft).collect()).unwrap();
        assert!(saved.into_iter().all(|it| it.is_ok()));
    };
    save(0..1);
    // Not full yet, followed by a group of the largest size.
    save(1..260);
    save(260..260 + 512);
    let left = SimulatedDisk::with(disk.files());
    assert!(disk.content(Path::new(JOURNAL)).len() > 10 << 20);
    assert_eq!(open(&left, &later(), &[]).unwrap().count().unwrap(), 260 + 512);
}

/// Data that does not compress.
fn noise(number: u64) -> Vec<u64> {
    let mut chance = Chance::new(&[number]);
    (0..400).map(|_| chance.below(usize::MAX) as u64).collect()
}
