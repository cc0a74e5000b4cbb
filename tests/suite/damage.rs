//! Damaged files: the right data or an error, and never a panic, a wait without end, or a lie.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use waypost::{Checkpoint, NewEntry, Query, Store};

const FILES: u64 = 60;
/// A file that makes one call hang would hang the test; this says which.
const PATIENCE: Duration = Duration::from_mins(1);

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// A small store, and what is in it.
fn make(path: &Path) -> Vec<Checkpoint> {
    let store = Store::open(path).unwrap();
    for number in 0..40_u64 {
        let about = NewEntry { phase: Some(number.to_string()), ..NewEntry::default() };
        store.save(about, &vec![number; 200]).unwrap();
    }
    let entries: Vec<_> = store.entries(Query::default()).map(Result::unwrap).collect();
    entries.iter().map(|entry| store.get(&entry.id).unwrap()).collect()
}

/// Uses a store in every way; whatever it returns must be right.
fn use_all(path: &Path, known: &[Checkpoint]) {
    let Ok(store) = Store::open(path) else {
        return;
    };
    for checkpoint in known {
        if let Ok(found) = store.get(&checkpoint.entry.id) {
            assert_eq!(found, *checkpoint);
        }
        let query = Query { phase: checkpoint.entry.phase.clone(), ..Query::default() };
        if let Ok(Some(found)) = store.latest(&query) {
            assert_eq!(found, *checkpoint);
        }
    }
    for entry in store.entries(Query::default()).flatten() {
        assert!(known.iter().any(|checkpoint| checkpoint.entry == entry), "{entry:?}");
    }
    for number in 0..3 {
        let saved = store.save(NewEntry::default(), &number);
        if let Ok(found) = saved.and_then(|entry| store.get(&entry.id)) {
            assert_eq!(found.state::<i32>().unwrap(), number);
        }
    }
    let _ = store.delete(&[known[0].entry.id.clone()]);
    let _ = store.stats();
    let _ = store.close();
}

#[test]
fn a_damaged_file_gives_the_right_data_or_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let known = make(&path);
    let bytes = fs::read(&path).unwrap();
    for file in 1..=FILES {
        let mut state = file.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut damaged = bytes.clone();
        for _ in 0..=random(&mut state) % 4 {
            let at = usize::try_from(random(&mut state)).unwrap() % damaged.len();
            damaged[at] ^= 1 << (random(&mut state) % 8);
        }
        if file % 10 == 0 {
            damaged.truncate(damaged.len() / 2);
        }
        let copy = dir.path().join(format!("damaged-{file}.redb"));
        fs::write(&copy, damaged).unwrap();
        let (done, ended) = mpsc::channel();
        let known = known.clone();
        thread::spawn(move || {
            use_all(&copy, &known);
            let _ = done.send(());
        });
        match ended.recv_timeout(PATIENCE) {
            Ok(()) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("file {file} made a panic"),
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("file {file} made a call hang"),
        }
    }
}
