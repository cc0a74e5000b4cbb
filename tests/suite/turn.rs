//! Several handles on one file take turns. Two handles in one process lock each other out just as
//! two processes do.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use waypost::options::Hold;
use waypost::{Durability, Error, NewEntry, Options, Query, Store};

const PATIENT: Duration = Duration::from_mins(5);

fn patient() -> Options {
    Options { wait: PATIENT, ..Options::default() }
}

/// A state of which most is the same for all numbers, so that it is stored as a difference.
fn state(number: u64) -> (u64, Vec<u64>) {
    (number, (0..60).map(|it: u64| it.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect())
}

/// How many there are; each of them can be read.
fn count(store: &Store) -> usize {
    let entries: Vec<_> = store.entries(Query::default()).map(Result::unwrap).collect();
    for entry in &entries {
        store.get(&entry.id).unwrap();
    }
    entries.len()
}

#[test]
fn a_handle_lets_go_when_another_waits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    // Neither would ever let go because it is idle.
    let never_idle = || Options { hold: Hold::Idle(Duration::MAX), ..patient() };
    let first = Store::open_with(&path, never_idle()).unwrap();
    first.save(NewEntry::default(), &1).unwrap();
    let second = Store::open_with(&path, never_idle()).unwrap();
    second.save(NewEntry::default(), &2).unwrap();
    first.save(NewEntry::default(), &3).unwrap();
    assert_eq!(count(&second), 3);
}

#[test]
fn handles_that_save_at_the_same_time_all_succeed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let store = Store::open_with(&path, patient()).unwrap();
                for number in 0..20 {
                    store.save(NewEntry::default(), &state(number)).unwrap();
                }
                store.close().unwrap();
            });
        }
    });
    assert_eq!(count(&Store::open(&path).unwrap()), 80);
}

#[test]
fn a_handle_that_never_lets_go_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let label = "the nightly loop".to_owned();
    let options = Options { hold: Hold::Forever, label, ..Options::default() };
    let holder = Store::open_with(&path, options).unwrap();
    let hurried = Options { wait: Duration::from_millis(30), ..Options::default() };
    let error = Store::open_with(&path, hurried).unwrap().compact().unwrap_err();
    let Error::Locked { path: locked, holder: name, waited } = error else {
        panic!("{error}");
    };
    assert_eq!(locked, path);
    assert_eq!(name, format!("process {} (the nightly loop)", std::process::id()));
    assert!(waited >= Duration::from_millis(30));
    holder.close().unwrap();
    // A process that another test starts has a copy of its locks for a moment.
    Store::open_with(&path, patient()).unwrap();
}

/// Threads queued behind one that waited in vain must not each wait as long again.
#[test]
fn threads_that_wait_together_give_up_together() {
    let mut waits = Vec::new();
    // On a busy machine a thread may reach the queue late, and wait alone: then all get longer.
    for longer in [1, 5, 25, 125] {
        waits = waits_together(Duration::from_millis(200) * longer);
        if waits.windows(2).all(|pair| pair[0] == pair[1]) {
            return;
        }
    }
    panic!("{waits:?}");
}

/// How long each of some threads waited that all had `time` to reach the queue.
fn waits_together(time: Duration) -> Vec<Duration> {
    const THREADS: usize = 8;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let arrived = Arc::new(AtomicUsize::new(0));
    let all_there: OnceLock<Instant> = OnceLock::new();
    let counted = arrived.clone();
    // No process gives up before all have joined the queue.
    let keeps_waiting = move || {
        let is_there = counted.load(Ordering::Relaxed) == THREADS;
        !is_there || all_there.get_or_init(Instant::now).elapsed() < time
    };
    let options = Options { keeps_waiting: Some(Arc::new(keeps_waiting)), ..patient() };
    let second = Store::open_with(&path, options).unwrap();
    // Opening it makes the second let go.
    let forever = Options { hold: Hold::Forever, ..patient() };
    let _first = Store::open_with(&path, forever).unwrap();
    let write = || {
        arrived.fetch_add(1, Ordering::Relaxed);
        second.delete_now(&[])
    };
    thread::scope(|scope| {
        let writers: Vec<_> = (0..THREADS).map(|_| scope.spawn(write)).collect();
        writers
            .into_iter()
            .map(|writer| match writer.join().unwrap() {
                Err(Error::Locked { waited, .. }) => waited,
                other => panic!("{other:?}"),
            })
            .collect()
    })
}

/// Of a group, only the one that leads meets the error; the others must hear of it.
#[test]
fn savers_that_wait_in_vain_all_hear_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let is_patient = Arc::new(AtomicBool::new(true));
    let asked = is_patient.clone();
    let keeps_waiting = move || asked.load(Ordering::Relaxed);
    let options = Options {
        keeps_waiting: Some(Arc::new(keeps_waiting)),
        spool_after: Duration::MAX,
        ..patient()
    };
    let second = Store::open_with(&path, options).unwrap();
    let forever = Options { hold: Hold::Forever, ..patient() };
    let first = Store::open_with(&path, forever).unwrap();
    is_patient.store(false, Ordering::Relaxed);
    thread::scope(|scope| {
        let savers: Vec<_> =
            (0..16).map(|_| scope.spawn(|| second.save(NewEntry::default(), &1))).collect();
        for saver in savers {
            let error = saver.join().unwrap().unwrap_err();
            assert!(matches!(error, Error::Locked { .. }), "{error}");
        }
    });
    is_patient.store(true, Ordering::Relaxed);
    drop(first);
    second.save(NewEntry::default(), &1).unwrap();
    assert_eq!(count(&second), 1);
}

#[test]
fn an_idle_handle_lets_go_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let options = Options { hold: Hold::Idle(Duration::ZERO), ..Options::default() };
    let idle = Store::open_with(&path, options).unwrap();
    idle.save(NewEntry::default(), &1).unwrap();
    // Opens the file without our lock file, so the holder is not asked to release it.
    let opened = (0..60_000).any(|_| {
        thread::sleep(Duration::from_millis(1));
        redb::Database::open(&path).is_ok()
    });
    assert!(opened);
    assert_eq!(count(&idle), 1);
}

#[test]
fn a_store_made_by_many_at_once_is_made_once() {
    for _ in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        let start = Barrier::new(4);
        thread::scope(|scope| {
            for number in 0..4 {
                let (path, start) = (&path, &start);
                scope.spawn(move || {
                    start.wait();
                    let store = Store::open_with(path, patient()).unwrap();
                    store.save(NewEntry::default(), &state(number)).unwrap();
                });
            }
        });
        assert_eq!(count(&Store::open(&path).unwrap()), 4);
        let mut names: Vec<_> =
            fs::read_dir(&dir).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names.retain(|name| name != "store.redb.spool");
        assert_eq!(names, ["store.redb", "store.redb.lock"]);
    }
}

#[test]
fn relaxed_saves_survive_letting_go() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let first = Store::open_with(&path, patient()).unwrap();
    for number in 0..10 {
        let draft = first.draft(NewEntry::default(), &state(number)).unwrap();
        first.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
    }
    let second = Store::open_with(&path, patient()).unwrap();
    assert_eq!(count(&second), 10);
    first.flush().unwrap();
    assert_eq!(count(&first), 10);
}

#[test]
fn saves_from_many_threads_share_one_handle() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    thread::scope(|scope| {
        for thread in 0..16 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..10 {
                    let state = state(thread * 100 + number);
                    let saved = store.save(NewEntry::default(), &state).unwrap();
                    let found = store.get(&saved.id).unwrap();
                    assert_eq!(found.state::<(u64, Vec<u64>)>().unwrap(), state);
                }
            });
        }
    });
    assert_eq!(count(&store), 160);
}

/// Each relaxed save rang the keeper's bell, and it never came to see that another one waited.
#[test]
fn relaxed_and_immediate_saves_in_turn_keep_nobody_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let busy = Store::open_with(&path, patient()).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let draft = busy.draft(NewEntry::default(), &1).unwrap();
                busy.save_draft(draft.with_durability(Durability::Relaxed)).unwrap();
                busy.save(NewEntry::default(), &2).unwrap();
            }
        });
        let other = Store::open_with(&path, patient()).and_then(|other| other.stats());
        is_done.store(true, Ordering::Relaxed);
        other.unwrap();
    });
}

#[test]
fn a_crowd_gets_its_turns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    thread::scope(|scope| {
        for number in 0..32 {
            let path = &path;
            scope.spawn(move || {
                let store = Store::open_with(path, patient()).unwrap();
                store.save(NewEntry::default(), &state(number)).unwrap();
            });
        }
    });
    assert_eq!(count(&Store::open(&path).unwrap()), 32);
}
