//! Captured files: what is stored of them, and what happens to it when checkpoints go.
//!
//! Covers what captured files cost, share and leave behind, damage to them, and random use against
//! a model.

mod damage;
mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use redb::ReadableTable as _;

use super::{about, state};
use crate::checkpoint::{
    Artifact, ArtifactStatus, Entry, Hash, Id, NewArtifact, NewEntry, Timestamp,
};
use crate::codec::{Holders, decode_holders};
use crate::error::Error;
use crate::key::{blob_hash, blob_row, frame_row, frame_sequence};
use crate::retention::{Policy, Rule, plan};
use crate::store::transaction::snapshot::Snapshot;
use crate::store::transaction::writer::{Writer, transact};
use crate::store::turn::enter::Patience;
use crate::store::turn::open::Open;
use crate::store::{Draft, Options, Settings, Store};
use crate::sync::lock;
use proptest::prelude::*;

/// Contents of all forms: empty, plain, primed, whole, and of many large chunks.
fn content(number: usize) -> Vec<u8> {
    let word = |at: usize| {
        let mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number as u64;
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    match number % 5 {
        0 => Vec::new(),
        1 => vec![0xff, u8::try_from(number % 256).unwrap()],
        2 => format!("fn main() {{ answer({number}); }}\n").repeat(9).into_bytes(),
        3 => format!("line {number}\n").repeat(2_000).into_bytes(),
        _ => (0..9_000).flat_map(|at| word(at).to_le_bytes()).collect(),
    }
}

fn file(path: &str, content: Vec<u8>) -> NewArtifact {
    let status = ArtifactStatus::Created;
    NewArtifact { path: path.to_owned(), content: Some(content), mode: Some(0o644), status }
}

fn files(contents: &[usize]) -> Vec<NewArtifact> {
    let path = |at: usize| format!("src/{at}.rs");
    contents.iter().enumerate().map(|(at, number)| file(&path(at), content(*number))).collect()
}

fn draft(store: &Store, about: NewEntry, contents: &[usize]) -> Draft {
    store.draft(about, &state(0, 1)).unwrap().with_artifacts(files(contents)).unwrap()
}

fn named(id: &str) -> NewEntry {
    NewEntry { id: Some(Id::new(id).unwrap()), ..NewEntry::default() }
}

fn open(dir: &tempfile::TempDir) -> Store {
    Store::open(dir.path().join("store.redb")).unwrap()
}

fn check_files(store: &Store, id: &Id, contents: &[usize]) {
    let found = store.artifacts(id).unwrap();
    let expected = files(contents);
    let paths = |it: &Artifact| it.path.clone();
    assert_eq!(
        found.iter().map(paths).collect::<Vec<_>>(),
        expected.iter().map(|it| it.path.clone()).collect::<Vec<_>>()
    );
    for (found, expected) in found.iter().zip(&expected) {
        let content = expected.content.as_ref().unwrap();
        assert_eq!(found.sha256, Some(Hash::of(content)));
        assert_eq!(found.bytes, content.len() as u64);
        assert_eq!((found.mode, found.status), (expected.mode, expected.status));
        assert_eq!(store.artifact(id, &found.path).unwrap(), *content);
    }
}

/// The rows of the three tables: contents by hash, their counts, and files.
#[derive(Debug, Default, PartialEq)]
struct Tables {
    blobs: BTreeSet<Hash>,
    holders: BTreeMap<Hash, Holders>,
    rows: BTreeMap<u64, usize>,
}

fn tables(store: &Store) -> Tables {
    let mut tables = Tables::default();
    write(store, |writer| {
        let open = writer.artifact_tables()?;
        for row in open.blobs.iter().unwrap() {
            tables.blobs.insert(blob_hash(row.unwrap().0.value()));
        }
        for row in open.holders.iter().unwrap() {
            let (row, value) = row.unwrap();
            let holders = decode_holders(&row.value(), value.value()).unwrap();
            tables.holders.insert(Hash::from_bytes(row.value()), holders);
        }
        for row in open.artifacts.iter().unwrap() {
            *tables.rows.entry(frame_sequence(row.unwrap().0.value())).or_default() += 1;
        }
        Ok(())
    });
    tables
}

fn write(store: &Store, work: impl FnOnce(&mut Writer<'_>) -> crate::error::Result<()>) {
    let path = store.path().to_owned();
    let work = |open: &Open| transact(open, &path, redb::Durability::Immediate, work);
    store.shared.turn.with(work).unwrap();
}

/// Damages, truncates or removes a row, and clears the caches.
fn damage_row(store: &Store, change: impl FnOnce(&mut Writer<'_>)) {
    write(store, |writer| {
        change(writer);
        Ok(())
    });
    store.shared.let_go();
}

#[test]
fn what_is_captured_is_read_back_and_a_content_is_stored_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let first = store.save_draft(draft(&store, about(0), &[0, 1, 2, 3, 4, 4])).unwrap();
    let second = store.save_draft(draft(&store, about(1), &[4, 3])).unwrap();
    assert_eq!((first.artifact_count, second.artifact_count), (6, 2));
    store.shared.let_go();
    check_files(&store, &first.id, &[0, 1, 2, 3, 4, 4]);
    check_files(&store, &second.id, &[4, 3]);
    assert_eq!(tables(&store).blobs.len(), 5);
    assert_eq!(store.entry(&first.id).unwrap(), first);
    let plain = store.save(about(0), &1).unwrap();
    assert_eq!(store.artifacts(&plain.id).unwrap(), []);
    assert_eq!(store.stats().unwrap().artifacts, 8);
    for path in ["src/9.rs", "", "src"] {
        let missing = store.artifact(&first.id, path);
        assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    }
}

#[test]
fn stats_count_each_content_once_as_it_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    assert_eq!(store.stats().unwrap().artifact_bytes, 0);
    let all = [0, 1, 2, 3, 4];
    let first = store.save_draft(draft(&store, about(0), &all)).unwrap();
    store.save_draft(draft(&store, about(1), &[4, 4, 3])).unwrap();
    store.delete(std::slice::from_ref(&first.id)).unwrap();
    let mut stored = 0;
    write(&store, |writer| {
        for row in writer.artifact_tables()?.blobs.iter().unwrap() {
            stored += row.unwrap().1.value().len() as u64;
        }
        Ok(())
    });
    assert!(stored > 70_000, "chunks of all lengths");
    assert_eq!(store.stats().unwrap().artifact_bytes, stored);
    store.compact().unwrap();
    let left = store.stats().unwrap().artifact_bytes;
    assert!(left < stored && left > 70_000, "{left} of {stored}");
}

#[test]
fn a_deleted_file_has_no_content() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let gone = NewArtifact { content: None, status: ArtifactStatus::Deleted, ..file("a", vec![]) };
    let draft = store.draft(about(0), &1).unwrap().with_artifacts(vec![gone.clone()]).unwrap();
    let entry = store.save_draft(draft).unwrap();
    let found = store.artifacts(&entry.id).unwrap();
    assert_eq!((found[0].sha256, found[0].bytes), (None, 0));
    assert!(matches!(store.artifact(&entry.id, "a"), Err(Error::Invalid { .. })));
    let wrong = [
        NewArtifact { content: Some(Vec::new()), ..gone.clone() },
        NewArtifact { status: ArtifactStatus::Unchanged, ..gone },
    ];
    for wrong in wrong {
        let refused = store.draft(about(0), &1).unwrap().with_artifacts(vec![wrong]);
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    }
}

#[test]
fn what_cannot_be_written_back_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let limits = crate::options::Limits {
        artifacts: 3,
        artifact_bytes: 10,
        ..crate::options::Limits::default()
    };
    let options = Options { limits, ..Options::default() };
    let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
    let refused = |files: Vec<NewArtifact>| {
        store.draft(about(0), &1).unwrap().with_artifacts(files).unwrap_err().to_string()
    };
    assert_eq!(
        refused(vec![file("../a", vec![])]),
        "invalid artifact path \"../a\": has . or .. as a part"
    );
    assert_eq!(
        refused(vec![file("a", vec![]), file("a", vec![1])]),
        "invalid artifact \"a\": is given twice"
    );
    assert_eq!(
        refused(["a/b/c", "a/b.c", "a/b"].map(|path| file(path, vec![])).into()),
        "invalid artifact \"a/b\": \"a/b/c\" is below it"
    );
    // A file may become a directory, and names may start alike.
    let gone = NewArtifact { content: None, status: ArtifactStatus::Deleted, ..file("a", vec![]) };
    for fine in [vec![gone, file("a/b", vec![])], vec![file("a.b", vec![]), file("a", vec![])]] {
        store.draft(about(0), &1).unwrap().with_artifacts(fine).unwrap();
    }
    assert_eq!(
        refused(["a", "b", "c", "d"].map(|path| file(path, vec![])).into()),
        "number of artifacts is beyond the limit of 3"
    );
    assert_eq!(
        refused(vec![file("a", vec![0; 11])]),
        "length in bytes of artifact \"a\" is beyond the limit of 10"
    );
    assert!(
        !store.shared.turn.with(|open| Ok(open.has_artifacts.load(Ordering::Relaxed))).unwrap()
    );
}

#[test]
fn a_retry_is_a_no_op_and_other_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let saved = store.save_draft(draft(&store, named("a"), &[2, 3])).unwrap();
    assert_eq!(store.save_draft(draft(&store, named("a"), &[2, 3])).unwrap(), saved);
    for other in [&[2, 4][..], &[2], &[], &[2, 3, 3]] {
        let refused = store.save_draft(draft(&store, named("a"), other));
        assert!(matches!(refused, Err(Error::Exists { .. })), "{other:?}: {refused:?}");
    }
    let refused = store.save(named("a"), &state(0, 1));
    assert!(matches!(refused, Err(Error::Exists { .. })), "{refused:?}");
    check_files(&store, &saved.id, &[2, 3]);
    assert_eq!(tables(&store).blobs.len(), 2, "what was refused left nothing");
}

/// The status of a file depends on what was saved before, and others save between two tries.
#[test]
fn a_retry_may_know_more_of_what_became_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let gone = NewArtifact { content: None, status: ArtifactStatus::Deleted, ..file("z", vec![]) };
    let save = |id: &str, files: Vec<NewArtifact>| {
        let draft = store.draft(named(id), &state(0, 1)).unwrap();
        store.save_draft(draft.with_artifacts(files).unwrap())
    };
    let unchanged = files(&[2, 3])
        .into_iter()
        .map(|file| NewArtifact { status: ArtifactStatus::Unchanged, ..file })
        .chain([gone.clone()]);
    let unchanged: Vec<_> = unchanged.collect();
    let saved = save("a", files(&[2, 3])).unwrap();
    assert_eq!(save("a", unchanged.clone()).unwrap(), saved);
    check_files(&store, &saved.id, &[2, 3]);
    let saved = save("b", unchanged).unwrap();
    assert_eq!(save("b", files(&[2, 3])).unwrap(), saved);
    assert_eq!(saved.artifact_count, 3);
    // An empty content is as good as none only for a deleted file.
    let saved = save("c", Vec::new()).unwrap();
    assert_eq!(save("c", vec![gone]).unwrap(), saved);
    let other_mode = files(&[2, 3]).into_iter().map(|file| NewArtifact { mode: None, ..file });
    let other_path = vec![file("src/0.rs", content(2)), file("src/2.rs", content(3))];
    for other in [files(&[2]), files(&[3, 2]), other_mode.collect(), other_path, Vec::new()] {
        let refused = save("a", other);
        assert!(matches!(refused, Err(Error::Exists { .. })), "{refused:?}");
    }
}

#[test]
fn drafts_of_a_batch_share_contents_even_of_one_that_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    store.save_draft(draft(&store, named("a"), &[])).unwrap();
    let drafts = vec![
        draft(&store, named("a"), &[3]),
        draft(&store, about(0), &[3, 4]),
        draft(&store, about(0), &[4]),
    ];
    let saved: Vec<_> = store.batch(drafts).unwrap();
    assert!(matches!(saved[0], Err(Error::Exists { .. })));
    check_files(&store, &saved[1].as_ref().unwrap().id, &[3, 4]);
    check_files(&store, &saved[2].as_ref().unwrap().id, &[4]);
}

/// The last checkpoint with a content may be removed between packing and saving.
#[test]
fn a_content_that_went_meanwhile_is_stored_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let first = store.save_draft(draft(&store, about(0), &[3])).unwrap();
    let mut drafts = vec![draft(&store, about(0), &[3])];
    store.shared.pack(&mut drafts).unwrap();
    store.delete_now(&[first.id]).unwrap();
    assert_eq!(tables(&store), Tables::default());
    let second =
        store.shared.write_group(Patience::Usual, &mut drafts).unwrap().pop().unwrap().unwrap();
    check_files(&store, &second.id, &[3]);
}

/// A fork reads its checkpoint once: a moment later the id may belong to another checkpoint.
#[test]
fn a_fork_has_the_document_and_the_files_of_one_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let meanwhile = Arc::new(Mutex::new(None::<Box<dyn FnOnce() + Send>>));
    let hook = meanwhile.clone();
    // The clock is read after the checkpoint was read, and before the copy is saved.
    let clock = move || {
        let hook = lock(&hook).take();
        if let Some(hook) = hook {
            hook();
        }
        Timestamp::now()
    };
    let options = Options { clock: Arc::new(clock), ..Options::default() };
    let store = Arc::new(Store::open_with(dir.path().join("store.redb"), options).unwrap());
    let first = store.save_draft(draft(&store, named("a"), &[2, 3])).unwrap();
    let other = store.clone();
    *lock(&meanwhile) = Some(Box::new(move || {
        other.delete_now(std::slice::from_ref(&first.id)).unwrap();
        let draft = other.draft(named("a"), &state(1, 7)).unwrap();
        other.save_draft(draft.with_artifacts(files(&[4, 1])).unwrap()).unwrap();
    }));
    let fork = store.fork(&Id::new("a").unwrap(), about(1)).unwrap();
    assert!(lock(&meanwhile).is_none());
    assert_eq!(store.get(&fork.id).unwrap().state::<Vec<String>>().unwrap(), state(0, 1));
    check_files(&store, &fork.id, &[2, 3]);
}

#[test]
fn a_checkpoint_comes_with_its_files_one_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let gone = NewArtifact { content: None, status: ArtifactStatus::Deleted, ..file("z", vec![]) };
    let all = [files(&[2, 3, 4]), vec![gone]].concat();
    let draft = store.draft(about(0), &state(0, 1)).unwrap().with_artifacts(all).unwrap();
    let entry = store.save_draft(draft).unwrap();
    let row = blob_row(&Hash::of(&content(3)), 0);
    damage_row(&store, |writer| {
        writer.artifact_tables().unwrap().blobs.remove(row).unwrap();
    });
    let read = store.get_with_artifacts(&entry.id, |checkpoint, files| {
        assert_eq!(checkpoint.entry, entry);
        assert_eq!(checkpoint.state::<Vec<String>>()?, state(0, 1));
        let files: Vec<_> = files.collect();
        let paths = files.iter().flatten().map(|(artifact, _)| artifact.path.as_str());
        assert_eq!(paths.collect::<Vec<_>>(), ["src/0.rs", "src/2.rs", "z"]);
        assert_eq!(files[0].as_ref().unwrap().1, Some(content(2)));
        assert!(matches!(files[1], Err(Error::Corrupt { .. })), "{:?}", files[1]);
        assert_eq!(files[2].as_ref().unwrap().1, Some(content(4)));
        assert_eq!(files[3].as_ref().unwrap().1, None);
        Ok(files.len())
    });
    assert_eq!(read.unwrap(), 4);
    let missing = store.get_with_artifacts(&Id::new("b").unwrap(), |_, _| Ok(()));
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    let refused = store.get_with_artifacts(&entry.id, |_, _| {
        Err::<(), _>(Error::invalid("what", "the caller says"))
    });
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
}
