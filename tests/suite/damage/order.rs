//! Pages of a table that lead back: a walk from row to row must not go round for ever.

use std::fs;
use std::sync::mpsc;
use std::thread;

use waypost::{ArtifactStatus, NewArtifact, NewEntry, Store};

use super::cases::hush_engine;
use super::{PATIENCE, random};
use crate::extent::extent;

const PAGE: usize = 4096;
const LEAF: u8 = 1;
const FILES: u64 = 12;
// A default run tries each fifth pair of pages.
const STRIDE: u64 = 5;

/// A content that does not get small, so that there are several pages of them.
fn file(number: u64) -> NewArtifact {
    let mut seed = number + 1;
    let content = (0..200).flat_map(|_| random(&mut seed).to_le_bytes()).collect();
    let path = format!("file {number}");
    NewArtifact { path, content: Some(content), mode: None, status: ArtifactStatus::Created }
}

/// What tells how much contents take in all went from the last row of a page to the first of the
/// next, which a copy of the same page led back to.
#[test]
fn a_page_that_is_there_twice_leads_nobody_round_for_ever() {
    hush_engine();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let store = Store::open(&path).unwrap();
    for number in 0..FILES {
        let draft = store.draft(NewEntry::default(), &number).unwrap();
        store.save_draft(draft.with_artifacts(vec![file(number)]).unwrap()).unwrap();
    }
    store.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    let leaves: Vec<usize> =
        (0..bytes.len()).step_by(PAGE).filter(|at| bytes[*at] == LEAF).collect();
    assert!(leaves.len() > 8, "{leaves:?}");
    let (mut failed, mut cases) = (0, 0);
    let pairs = leaves.iter().flat_map(|from| leaves.iter().map(move |to| (*from, *to)));
    for (from, to) in pairs.step_by(usize::try_from(extent(STRIDE, 1)).unwrap()) {
        if from == to {
            continue;
        }
        let mut damaged = bytes.clone();
        damaged.copy_within(from..from + PAGE, to);
        fs::write(&path, damaged).unwrap();
        let (ended, end) = mpsc::channel();
        let path = path.clone();
        thread::spawn(move || {
            let stats = Store::open(&path).and_then(|store| store.stats());
            ended.send(stats.is_err()).unwrap();
        });
        let is_failed = end.recv_timeout(PATIENCE);
        failed += usize::from(is_failed.unwrap_or_else(|_| panic!("{from} copied over {to}")));
        cases += 1;
    }
    assert!(failed > 0, "{failed} of {cases}");
}
