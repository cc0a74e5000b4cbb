//! Damaged files: the right data or an error, and never a panic, a wait without end, or a lie.
//!
//! Covers flipped bytes, lost, swapped and repeated pages, damaged journals, and what verify and
//! repair say and save of each.

mod cases;
mod journal;
mod order;
mod pages;
mod specimen;
mod whole;

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use waypost::{ArtifactStatus, Checkpoint, NewArtifact, NewEntry, Query, Store};

const FILES: u64 = 60;
/// A file that makes one call hang would hang the test; this says which.
const PATIENCE: Duration = Duration::from_mins(1);

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// The files of a checkpoint, by its phase: some share a content, and one is of many chunks.
fn files(phase: &str) -> Vec<NewArtifact> {
    let number: u64 = phase.parse().unwrap();
    let file = |path: &str, content: Vec<u8>| {
        let (mode, status) = (Some(0o600), ArtifactStatus::Created);
        NewArtifact { path: path.to_owned(), content: Some(content), mode, status }
    };
    let mut state = number / 16 + 1;
    let noise = (0..1_000).flat_map(|_| random(&mut state).to_le_bytes()).collect();
    vec![file("own", phase.repeat(500).into_bytes()), file("shared/noise", noise)]
}

/// A small store, and what is in it.
fn make(path: &Path) -> Vec<Checkpoint> {
    let store = Store::open(path).unwrap();
    for number in 0..40_u64 {
        let about = NewEntry { phase: Some(number.to_string()), ..NewEntry::default() };
        let files = if number % 8 == 0 { files(&number.to_string()) } else { Vec::new() };
        let draft = store.draft(about, &vec![number; 200]).unwrap();
        store.save_draft(draft.with_artifacts(files).unwrap()).unwrap();
    }
    let entries: Vec<_> = store.entries(Query::default()).map(Result::unwrap).collect();
    entries.iter().map(|entry| store.get(&entry.id).unwrap()).collect()
}

fn check_files(store: &Store, checkpoint: &Checkpoint) {
    let expected = files(checkpoint.entry.phase.as_deref().unwrap());
    if let Ok(found) = store.artifacts(&checkpoint.entry.id) {
        let paths = found.iter().map(|it| it.path.as_str());
        assert!(paths.eq(expected.iter().map(|it| it.path.as_str())));
    }
    for file in expected {
        if let Ok(found) = store.artifact(&checkpoint.entry.id, &file.path) {
            assert_eq!(Some(found), file.content);
        }
    }
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
        if checkpoint.entry.artifact_count > 0 {
            check_files(&store, checkpoint);
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
    let again = store.draft(NewEntry::default(), &1).unwrap().with_artifacts(files("16")).unwrap();
    if let Ok(entry) = store.save_draft(again) {
        for file in files("16") {
            let found = store.artifact(&entry.id, &file.path);
            assert!(found.is_err() || found.ok() == file.content);
        }
    }
    let _ = store.delete(&[known[0].entry.id.clone()]);
    let _ = store.delete_now(&[known[8].entry.id.clone()]);
    let _ = store.compact();
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
