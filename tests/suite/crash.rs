//! What is left after a crash. A copy of the files of a store in use is what a process that is
//! killed leaves behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use waypost::artifact::ArtifactStatus;
use waypost::care::SetAside;
use waypost::options::Hold;
use waypost::retention::Rule;
use waypost::{Durability, Entry, NewArtifact, NewEntry, Options, Policy, Query, Settings, Store};

use crate::extent::extent;

struct Place {
    dir: tempfile::TempDir,
    copies: usize,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), copies: 0 }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("store.redb")
    }

    fn open(&self) -> Store {
        // In the background, saves are only put into the tables, which no crash remembers.
        let options =
            Options { hold: Hold::Forever, flush_within: Duration::MAX, ..Options::default() };
        Store::open_with(self.path(), options).unwrap()
    }

    /// The files as a crash would leave them.
    fn crashed(&mut self) -> PathBuf {
        self.copies += 1;
        let copy = self.dir.path().join(format!("copy-{}.redb", self.copies));
        for suffix in ["", ".journal"] {
            let file = with_suffix(&self.path(), suffix);
            if file.exists() {
                fs::copy(file, with_suffix(&copy, suffix)).unwrap();
            }
        }
        copy
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A state that differs a little from that of the number before, so that it is stored so.
fn state(number: u64) -> Vec<u64> {
    (number..number + 60).map(|it| it.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

fn save(store: &Store, number: u64) -> Entry {
    store.save(NewEntry::default(), &state(number)).unwrap()
}

fn save_relaxed(store: &Store, number: u64) -> Entry {
    let draft = store.draft(NewEntry::default(), &state(number)).unwrap();
    store.save_draft(draft.with_durability(Durability::Relaxed)).unwrap()
}

fn sequences(store: &Store) -> Vec<u64> {
    let mut found: Vec<u64> =
        store.entries(Query::default()).map(|entry| entry.unwrap().sequence).collect();
    found.sort_unstable();
    found
}

#[test]
fn every_acknowledged_save_is_there_after_a_crash() {
    let mut place = Place::new();
    let store = place.open();
    let mut saved: Vec<Entry> = Vec::new();
    for number in 0..40 {
        saved.push(save(&store, number));
        if number % 5 == 0 {
            // Reading puts what is in the journal into the tables, but not for good.
            store.list(&Query::default()).unwrap();
        }
        let copy = Store::open(place.crashed()).unwrap();
        for (entry, number) in saved.iter().zip(0..) {
            let found = copy.get(&entry.id).unwrap();
            assert_eq!(found.entry, *entry);
            assert_eq!(found.state::<Vec<u64>>().unwrap(), state(number));
        }
        assert_eq!(sequences(&copy).len(), saved.len());
        // And it goes on from there.
        assert!(save(&copy, 99).sequence > saved.last().unwrap().sequence);
    }
}

#[test]
fn what_stays_of_a_chain_can_be_read_after_a_crash() {
    let mut place = Place::new();
    let store = place.open();
    let mut saved: Vec<(Entry, u64)> = Vec::new();
    for number in 0..60 {
        let save = if number % 2 == 0 { save } else { save_relaxed };
        saved.push((save(&store, number), number));
        if number % 4 == 3 {
            let (gone, _) = saved.remove(usize::try_from(number).unwrap() * 7 % saved.len());
            store.delete_now(&[gone.id]).unwrap();
        }
        let copy = Store::open(place.crashed()).unwrap();
        assert_eq!(sequences(&copy).len(), saved.len());
        for (entry, number) in &saved {
            let found = copy.get(&entry.id).unwrap();
            assert_eq!(found.state::<Vec<u64>>().unwrap(), state(*number));
        }
    }
    let stored: u64 = saved.iter().map(|(entry, _)| entry.stored_bytes).sum();
    assert!(stored < saved.len() as u64 * 200, "most are deltas: {stored}");
}

/// Before a crash savers and readers prune again and again, but nothing of that is synced.
#[test]
fn a_ring_has_its_last_few_after_a_crash_and_they_can_be_read() {
    let mut place = Place::new();
    let store = place.open();
    let rule = Rule { keep_last: Some(4), ..Rule::default() };
    let policy = Policy { rules: vec![rule], ..Policy::default() };
    let settings = Settings { policy: Some(policy), prune_on_save: true, ..Settings::default() };
    store.set_settings(&settings).unwrap();
    let mut saved: Vec<Entry> = Vec::new();
    for number in 0..60 {
        let save = if number % 3 == 0 { save } else { save_relaxed };
        saved.push(save(&store, number));
        if number % 7 == 0 {
            assert!(sequences(&store).len() <= 4);
        }
        if number % 11 == 0 {
            store.tag(&saved[saved.len() - 1].id, &[]).unwrap();
        }
        let copy = Store::open(place.crashed()).unwrap();
        let newest: Vec<(&Entry, u64)> =
            saved.iter().rev().zip((0..=number).rev()).take(4).collect();
        assert_eq!(sequences(&copy).len(), newest.len());
        for (entry, number) in newest {
            let found = copy.get(&entry.id).unwrap();
            assert_eq!(found.state::<Vec<u64>>().unwrap(), state(number));
        }
    }
}

#[test]
fn what_can_be_restored_can_be_so_after_a_crash() {
    let mut place = Place::new();
    let store = place.open();
    let saved: Vec<Entry> = (0..20).map(|number| save(&store, number)).collect();
    for (entry, number) in saved.iter().zip(0_u64..).step_by(3) {
        store.delete(std::slice::from_ref(&entry.id)).unwrap();
        let copy = Store::open(place.crashed()).unwrap();
        assert!(copy.get(&entry.id).is_err());
        copy.undelete(std::slice::from_ref(&entry.id)).unwrap();
        let found = copy.get(&entry.id).unwrap();
        assert_eq!(found.state::<Vec<u64>>().unwrap(), state(number));
    }
}

#[test]
fn what_was_deleted_does_not_come_back_from_the_journal() {
    let mut place = Place::new();
    let store = place.open();
    let saved: Vec<Entry> = (0..6).map(|number| save(&store, number)).collect();
    for (entry, left) in saved.iter().rev().zip((0..6).rev()) {
        store.delete_now(std::slice::from_ref(&entry.id)).unwrap();
        assert_eq!(sequences(&Store::open(place.crashed()).unwrap()).len(), left);
    }
}

#[test]
fn a_save_after_a_relaxed_one_takes_it_along() {
    let mut place = Place::new();
    let store = place.open();
    save(&store, 0);
    for number in 1..10 {
        save_relaxed(&store, number);
        store.list(&Query::default()).unwrap();
    }
    save(&store, 10);
    assert_eq!(sequences(&Store::open(place.crashed()).unwrap()), (1..=11).collect::<Vec<_>>());
}

#[test]
fn a_crash_loses_no_more_than_the_end_of_the_journal() {
    let mut place = Place::new();
    let store = place.open();
    for number in 0..8 {
        save(&store, number);
    }
    let copy = place.crashed();
    let journal = fs::read(with_suffix(&copy, ".journal")).unwrap();
    // The last item ends before the mark behind it.
    let content = journal.iter().rposition(|byte| *byte != 0).unwrap() + 1 - 28;
    drop(store);
    let mut most = 0;
    let stride = usize::try_from(extent(29, 7)).unwrap();
    for cut in 0..content {
        // Every place near the end, and some of the others.
        if cut % stride != 0 && cut + 40 < content {
            continue;
        }
        // Torn there: what follows never reached the disk, or is old.
        for filler in [0, 0xa5] {
            let torn = place.dir.path().join("torn.redb");
            fs::copy(&copy, &torn).unwrap();
            let mut bytes = journal.clone();
            bytes[cut..].fill(filler);
            if filler == 0 {
                bytes.truncate(cut);
            }
            fs::write(with_suffix(&torn, ".journal"), bytes).unwrap();
            let found = sequences(&Store::open(&torn).unwrap());
            // The first save was put into the tables; of the others, some first ones are left.
            let count = found.len() as u64;
            assert_eq!(found, (1..=count).collect::<Vec<_>>());
            most = most.max(count);
            assert!(count >= 1);
        }
    }
    assert_eq!(most, 7, "a cut anywhere costs the last one at least");
}

#[test]
fn the_journal_of_another_store_is_left_out() {
    let mut place = Place::new();
    let store = place.open();
    for number in 0..5 {
        save(&store, number);
    }
    let copy = place.crashed();
    let journal = with_suffix(&copy, ".journal");
    let bytes = fs::read(&journal).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    // It is set aside, since its owner may need it, and a second one gets a name of its own.
    for _ in 0..2 {
        fs::remove_file(&copy).unwrap();
        fs::write(&journal, &bytes).unwrap();
        let tell = told.clone();
        let hear = move |aside: SetAside| tell.lock().unwrap().push(aside);
        let options = Options { on_set_aside: Some(Arc::new(hear)), ..Options::default() };
        let other = Store::open_with(&copy, options).unwrap();
        assert!(sequences(&other).is_empty());
        other.close().unwrap();
    }
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 2);
    assert_ne!(told[0].path, told[1].path);
    for aside in told.iter() {
        assert_eq!(aside.reason, "it is the journal of another store");
        assert!(fs::read(&aside.path).unwrap() == bytes, "{}", aside.path.display());
    }
}

/// Whatever lay there was removed, or written over.
#[test]
fn what_is_no_journal_and_no_lock_is_kept() {
    let place = Place::new();
    place.open().close().unwrap();
    let (journal, lock) =
        (with_suffix(&place.path(), ".journal"), with_suffix(&place.path(), ".lock"));
    fs::write(&journal, "my notes").unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = told.clone();
    let hear = move |aside: SetAside| tell.lock().unwrap().push(aside);
    let options =
        Options { hold: Hold::Forever, on_set_aside: Some(Arc::new(hear)), ..Options::default() };
    Store::open_with(place.path(), options).unwrap().close().unwrap();
    let take_a_turn = || {
        let options = Options { hold: Hold::Forever, ..Options::default() };
        Store::open_with(place.path(), options).unwrap().close().unwrap();
    };
    let told = told.lock().unwrap();
    assert_eq!((told.len(), told[0].reason.as_str()), (1, "it is not a journal"));
    assert_eq!(fs::read_to_string(&told[0].path).unwrap(), "my notes");
    // It works as a lock whatever it holds.
    fs::write(&lock, "my notes").unwrap();
    take_a_turn();
    assert_eq!(fs::read_to_string(&lock).unwrap(), "my notes");
    // What a kill or a power cut leaves of a text is written over.
    for left in ["", "proc", "process 7", "\n", "\0\0\0\0\0\0\0\0\0", "pro\0\0\0\0\0\0"] {
        fs::write(&lock, left).unwrap();
        take_a_turn();
        assert!(fs::read_to_string(&lock).unwrap().contains("\nsum "), "{left:?}");
    }
}

/// Items of one round and of the next have the same lengths, so after a lost write an old item can
/// stand right before a new one.
#[test]
fn what_is_behind_a_lost_write_is_not_taken() {
    const HEADER: usize = 16;
    let mut place = Place::new();
    let store = place.open();
    let journal = with_suffix(&place.path(), ".journal");
    let save = |number| store.save(NewEntry::default(), &number).unwrap();
    let first: Vec<Entry> = (0..6).map(save).collect();
    let old = fs::read(&journal).unwrap();
    // A delete makes everything durable, and the journal starts over.
    store.delete_now(std::slice::from_ref(&first[0].id)).unwrap();
    // In one write, of which a loss of power may keep any part.
    let drafts = (0..3).map(|number| store.draft(NewEntry::default(), &number).unwrap());
    let second = store.batch(drafts.collect()).unwrap();
    let mut torn = fs::read(&journal).unwrap();
    let length = u32::from_le_bytes(torn[HEADER..HEADER + 4].try_into().unwrap()) as usize;
    let end = HEADER + 12 + length;
    assert_eq!(torn[HEADER..HEADER + 4], old[HEADER..HEADER + 4], "items differ in length");
    torn[HEADER..end].copy_from_slice(&old[HEADER..end]);
    let copy = place.crashed();
    fs::write(with_suffix(&copy, ".journal"), torn).unwrap();
    let left = sequences(&Store::open(&copy).unwrap());
    assert_eq!(left, (2..=6).collect::<Vec<_>>());
    assert_eq!(second[0].as_ref().unwrap().sequence, 7);
}

/// A process that opened the file itself did not find a journal beside a link.
#[cfg(unix)]
#[test]
fn a_store_has_one_journal_whatever_it_is_called() {
    let place = Place::new();
    drop(place.open());
    let link = place.dir.path().join("link.redb");
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    let store = Store::open(&link).unwrap();
    for number in 0..3 {
        save(&store, number);
    }
    assert!(with_suffix(&place.path(), ".journal").exists());
    assert!(!with_suffix(&link, ".journal").exists());
}

#[test]
fn a_journal_starts_over_when_it_is_full() {
    let mut place = Place::new();
    let store = place.open();
    // Have nothing in common and do not compress: they fill the journal several times.
    let bulky = |seed: u64| -> Vec<u64> {
        (0..20_000_u64).map(|it| (it + seed * 20_000).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    };
    for seed in 0..100 {
        store.save(NewEntry::default(), &bulky(seed)).unwrap();
    }
    save(&store, 1);
    let journal = fs::metadata(with_suffix(&place.path(), ".journal")).unwrap();
    // Three times what is in it, and a group: the reserve.
    assert!(journal.len() < 16 << 20, "{}", journal.len());
    assert_eq!(sequences(&Store::open(place.crashed()).unwrap()).len(), 101);
}

#[test]
fn a_closed_store_is_one_file() {
    let place = Place::new();
    let store = place.open();
    for number in 0..5 {
        save(&store, number);
    }
    store.close().unwrap();
    let mut names: Vec<_> = fs::read_dir(place.dir.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["store.redb", "store.redb.lock"]);
    assert_eq!(sequences(&place.open()).len(), 5);
}

/// Captured files go past the journal, and are no less durable than what goes through it.
#[test]
fn captured_files_are_there_after_a_crash() {
    let mut place = Place::new();
    let store = place.open();
    let mut saved: Vec<(Entry, Vec<u8>)> = Vec::new();
    for number in 0..12 {
        let relaxed = save_relaxed(&store, number);
        // Two in a row have the same content, of which the first goes later on.
        let content: Vec<u8> = state(number / 2).into_iter().flat_map(u64::to_le_bytes).collect();
        let file = NewArtifact {
            path: "a".to_owned(),
            content: Some(content.clone()),
            mode: None,
            status: ArtifactStatus::Created,
        };
        let draft = store.draft(NewEntry::default(), &number).unwrap();
        let draft = draft.with_artifacts(vec![file]).unwrap();
        let entry = store.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
        saved.push((entry, content));
        if number % 4 == 3 {
            let (gone, _) = saved.remove(0);
            store.delete_now(&[gone.id]).unwrap();
        }
        let copy = Store::open(place.crashed()).unwrap();
        assert!(copy.get(&relaxed.id).is_ok(), "{number}: what came before is there, too");
        for (entry, content) in &saved {
            assert_eq!(copy.entry(&entry.id).unwrap(), *entry);
            assert_eq!(copy.artifact(&entry.id, "a").unwrap(), *content);
        }
    }
}
