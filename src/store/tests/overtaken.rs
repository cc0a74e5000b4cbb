//! Views that another process overtakes with a commit while a read uses them.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::viewed::{Pair, list};
use super::{about, state};
use crate::checkpoint::{ArtifactStatus, Checkpoint, Id, NewArtifact, NewEntry};
use crate::error::{Error, Result};
use crate::retention::Policy;
use crate::store::{Options, Store};

const FILES: u64 = 12;

/// A checkpoint with files that a small cache does not keep.
fn save_with_files(store: &Store) -> Id {
    let file = |number: u64| NewArtifact {
        path: format!("file-{number:02}"),
        content: Some(noise(number)),
        mode: None,
        status: ArtifactStatus::Created,
    };
    let draft = store.draft(NewEntry::default(), &1).unwrap();
    let draft = draft.with_artifacts((0..FILES).map(file).collect()).unwrap();
    store.save_draft(draft).unwrap().id
}

fn noise(number: u64) -> Vec<u8> {
    let mut word = number;
    let mut next = || {
        word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        word.to_be_bytes()[0]
    };
    (0..100_000).map(|_| next()).collect()
}

/// Reads all files, and calls `meanwhile` with the number of this run before the last.
fn read_files(reader: &Store, id: &Id, meanwhile: impl Fn(u32)) -> Result<Checkpoint> {
    let runs = Cell::new(0);
    reader.get_with_artifacts(id, |checkpoint, files| {
        runs.set(runs.get() + 1);
        for (number, file) in (0..).zip(files) {
            assert!(file?.1.unwrap() == noise(number));
            if number == FILES - 2 {
                meanwhile(runs.get());
            }
        }
        Ok(checkpoint)
    })
}

fn reader_of(pair: &Pair, wait: Duration) -> Store {
    let options = Options { create: false, cache_bytes: 0, wait, ..Options::default() };
    Store::open_with(pair.writer.path(), options).unwrap()
}

/// What runs with the files could not run twice: it ended in a panic and the report of damage.
#[test]
fn files_are_read_again_if_a_commit_overtakes_the_view() {
    let pair = Pair::new();
    let id = save_with_files(&pair.writer);
    let reader = reader_of(&pair, Duration::ZERO);
    let last = Cell::new(0);
    let read = read_files(&reader, &id, |run| {
        last.set(run);
        if run == 1 {
            pair.writer.tag(&id, &["seen".to_owned()]).unwrap();
        }
    });
    assert_eq!(read.unwrap().entry.tags.len(), 1, "of the run that counts");
    assert_eq!(last.get(), 2);
}

/// After sixteen views a read waited for a turn, and failed if the holder never lets go.
#[test]
fn a_read_that_is_overtaken_often_tries_views_and_turns() {
    let pair = Pair::new();
    let id = save_with_files(&pair.writer);
    let reader = reader_of(&pair, Duration::from_mins(1));
    let read = read_files(&reader, &id, |run| {
        if run <= 20 {
            pair.writer.tag(&id, &[format!("run-{run}")]).unwrap();
        }
    });
    assert_eq!(read.unwrap().entry.tags.len(), 20);
    let reader = reader_of(&pair, Duration::from_millis(10));
    let read = read_files(&reader, &id, |run| {
        pair.writer.tag(&id, &[format!("again-{run}")]).unwrap();
    });
    assert!(matches!(read, Err(Error::Locked { .. })), "{read:?}");
}

/// A view pruned by what its own handle prunes its saves by, so that saves of others were missing.
#[test]
fn what_a_handle_prunes_its_saves_by_hides_none_of_others() {
    let pair = Pair::new();
    let saved: Vec<Id> =
        (0..10).map(|it| pair.writer.save(about(0), &state(0, it)).unwrap().id).collect();
    let prune_on_save = Some(Policy::preset("last-1").unwrap());
    let options = Options { create: false, prune_on_save, ..Options::default() };
    let reader = Store::open_with(pair.writer.path(), options).unwrap();
    assert_eq!(list(&reader).unwrap(), saved);
    for id in &saved {
        reader.get(id).unwrap();
    }
}

/// Threads share a view. One that found news of a later commit left it to the others in the tables
/// of an earlier one.
#[test]
fn news_of_a_later_commit_stay_out_of_a_shared_view() {
    let pair = Pair::new();
    let deleted = pair.writer.save(about(0), &state(0, 0)).unwrap().id;
    pair.writer.save(about(0), &state(0, 1)).unwrap();
    assert_eq!(list(&pair.reader).unwrap().len(), 2);
    let view = pair.reader.shared.views.kept().unwrap();
    // This commits, and the journal starts over.
    pair.writer.delete(std::slice::from_ref(&deleted)).unwrap();
    let saved = pair.writer.save(about(0), &state(0, 2)).unwrap().id;
    assert!(!view.follow().unwrap(), "only another view has both");
    assert_eq!(view.open_file().unsettled.load(Ordering::Acquire), 0);
    let found = list(&pair.reader).unwrap();
    assert!(found.contains(&saved) && !found.contains(&deleted), "{found:?}");
}
