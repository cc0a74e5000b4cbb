//! Captured files: what is stored of them, whatever becomes of their checkpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use redb::ReadableTable as _;

use super::{about, state};
use crate::checkpoint::{
    Artifact, ArtifactStatus, Entry, Hash, Id, NewArtifact, NewEntry, Timestamp,
};
use crate::codec::{Holders, decode_holders};
use crate::error::Error;
use crate::key::{blob_hash, blob_row, frame_row, frame_sequence};
use crate::retention::{Policy, Rule, plan};
use crate::store::open::Open;
use crate::store::read::Snapshot;
use crate::store::write::{Writer, transact};
use crate::store::{Draft, Options, Settings, Store};
use crate::sync::lock;

/// Contents of all forms there are: empty, plain, primed, whole, and of many large chunks.
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

/// What the three tables have: contents by hash, how many have them, and rows.
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
        assert!(matches!(missing, Err(Error::Invalid { .. })), "{missing:?}");
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
    let limits = crate::Limits { artifacts: 3, artifact_bytes: 10, ..crate::Limits::default() };
    let options = Options { limits, ..Options::default() };
    let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
    let refused = |files: Vec<NewArtifact>| {
        store.draft(about(0), &1).unwrap().with_artifacts(files).unwrap_err().to_string()
    };
    assert_eq!(
        refused(vec![file("../a", vec![])]),
        "invalid artifact path \"../a\": has a part that is no name"
    );
    assert_eq!(
        refused(vec![file("a", vec![]), file("a", vec![1])]),
        "invalid artifact \"a\": stands there twice"
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

/// What had become of a file is told by what was saved before, and between two tries others save.
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
    // Nothing but what is gone is as good as nothing.
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

/// Between looking and saving, the last checkpoint that had a content may go.
#[test]
fn a_content_that_went_meanwhile_is_stored_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let first = store.save_draft(draft(&store, about(0), &[3])).unwrap();
    let mut drafts = vec![draft(&store, about(0), &[3])];
    store.shared.pack(&mut drafts).unwrap();
    store.delete_now(&[first.id]).unwrap();
    assert_eq!(tables(&store), Tables::default());
    let second = store.shared.save_all(&mut drafts).unwrap().pop().unwrap().unwrap();
    check_files(&store, &second.id, &[3]);
}

/// A fork reads its checkpoint once: by the next look the id may be another checkpoint's.
#[test]
fn a_fork_has_the_document_and_the_files_of_one_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let meanwhile = Arc::new(Mutex::new(None::<Box<dyn FnOnce() + Send>>));
    let hook = meanwhile.clone();
    // The clock is asked after the checkpoint was read, and before the copy is saved.
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

/// Flips, cuts or removes a row and forgets what is in memory.
fn damage_row(store: &Store, change: impl FnOnce(&mut Writer<'_>)) {
    write(store, |writer| {
        change(writer);
        Ok(())
    });
    store.shared.let_go();
}

#[test]
fn a_damaged_content_is_an_error_that_names_it_and_is_mended_by_the_next_capture() {
    for number in 0..5 {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        let hash = Hash::of(&content(number));
        let whole = store.save_draft(draft(&store, about(0), &[number, 6 + number])).unwrap();
        let row = blob_row(&hash, 0);
        let mut length = 0;
        damage_row(&store, |writer| {
            let blobs = &writer.artifact_tables().unwrap().blobs;
            length = blobs.get(row).unwrap().unwrap().value().len();
        });
        for at in (0..length).step_by(length / 10 + 1).chain([usize::MAX]) {
            damage_row(&store, |writer| {
                let blobs = &mut writer.artifact_tables().unwrap().blobs;
                let mut bytes = blobs.remove(row).unwrap().unwrap().value().to_owned();
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1;
                    blobs.insert(row, bytes.as_slice()).unwrap();
                }
            });
            match store.artifact(&whole.id, "src/0.rs") {
                Err(Error::Corrupt { place, .. }) => {
                    assert_eq!(place, format!("artifact \"src/0.rs\" of checkpoint {}", whole.id));
                }
                other => panic!("byte {at}: {other:?}"),
            }
            assert_eq!(store.artifact(&whole.id, "src/1.rs").unwrap(), content(6 + number));
            assert!(store.get(&whole.id).is_ok(), "the document is not hurt");
            let again = store.save_draft(draft(&store, about(0), &[number])).unwrap();
            check_files(&store, &again.id, &[number]);
            check_files(&store, &whole.id, &[number, 6 + number]);
        }
    }
}

#[test]
fn a_damaged_row_hurts_its_file_only_and_leaves_nothing_behind() {
    let changes: [fn(&mut Vec<u8>); 4] = [
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        |bytes| bytes[0] ^= 3,
        |bytes| bytes.truncate(bytes.len() / 2),
        Vec::clear,
    ];
    for change in changes {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        let hurt = store.save_draft(draft(&store, about(0), &[2, 3, 4])).unwrap();
        let other = store.save_draft(draft(&store, about(1), &[3])).unwrap();
        let row = frame_row(hurt.sequence, 2);
        damage_row(&store, |writer| {
            let rows = &mut writer.artifact_tables().unwrap().artifacts;
            let mut bytes = rows.remove(row).unwrap().unwrap().value().to_owned();
            change(&mut bytes);
            if !bytes.is_empty() {
                rows.insert(row, bytes.as_slice()).unwrap();
            }
        });
        assert!(matches!(store.artifacts(&hurt.id), Err(Error::Corrupt { .. })));
        assert!(store.artifact(&hurt.id, "src/2.rs").is_err());
        assert_eq!(store.artifact(&hurt.id, "src/1.rs").unwrap(), content(3));
        assert!(store.get(&hurt.id).is_ok());
        // Which content the row had cannot be told any more; compacting finds that nobody has it.
        store.delete_now(std::slice::from_ref(&hurt.id)).unwrap();
        check_files(&store, &other.id, &[3]);
        store.compact().unwrap();
        check_files(&store, &other.id, &[3]);
        assert_eq!(tables(&store).blobs, BTreeSet::from([Hash::of(&content(3))]));
        assert_eq!(tables(&store).holders.len(), 1);
    }
}

/// Damage to a row that a search does not meet does not matter to it: it looks at few of them.
#[test]
fn a_file_is_found_by_halving_and_by_looking_at_all_where_that_meets_damage() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let many: Vec<NewArtifact> = (0..99_u8).map(|at| file(&format!("{at:02}"), vec![at])).collect();
    let draft = store.draft(about(0), &1).unwrap().with_artifacts(many).unwrap();
    let entry = store.save_draft(draft).unwrap();
    let check = |hurt: Option<u8>| {
        for at in (0..99).filter(|at| Some(*at) != hurt) {
            assert_eq!(store.artifact(&entry.id, &format!("{at:02}")).unwrap(), [at]);
        }
    };
    check(None);
    for path in ["", "0", "00/", "50.5", "99"] {
        let missing = store.artifact(&entry.id, path);
        assert!(matches!(missing, Err(Error::Invalid { .. })), "{path}: {missing:?}");
    }
    // One at the edge, which few searches meet, and the one in the middle, which all do.
    for (hurt, can_tell) in [(1, true), (49, false)] {
        let row = frame_row(entry.sequence, hurt.into());
        let mut whole = Vec::new();
        damage_row(&store, |writer| {
            let rows = &mut writer.artifact_tables().unwrap().artifacts;
            whole = rows.remove(row).unwrap().unwrap().value().to_owned();
            rows.insert(row, &whole[1..]).unwrap();
        });
        check(Some(hurt));
        let lost = store.artifact(&entry.id, &format!("{hurt:02}"));
        assert!(matches!(lost, Err(Error::Corrupt { .. })), "{lost:?}");
        let missing = store.artifact(&entry.id, "99");
        assert_eq!(matches!(missing, Err(Error::Invalid { .. })), can_tell, "{missing:?}");
        damage_row(&store, |writer| {
            let rows = &mut writer.artifact_tables().unwrap().artifacts;
            rows.insert(row, whole.as_slice()).unwrap();
        });
    }
}

/// Loses or damages the row that tells how many have a content.
fn damage_holders(store: &Store, number: usize, change: fn(&mut Vec<u8>)) {
    let hash = Hash::of(&content(number));
    damage_row(store, |writer| {
        let holders = &mut writer.artifact_tables().unwrap().holders;
        let row = hash.as_bytes();
        let mut bytes = holders.remove(row).unwrap().unwrap().value().to_owned();
        change(&mut bytes);
        if !bytes.is_empty() {
            holders.insert(row, bytes.as_slice()).unwrap();
        }
    });
}

const CHANGES: [fn(&mut Vec<u8>); 3] = [
    Vec::clear,
    |bytes| bytes[0] ^= 3,
    |bytes| {
        bytes.pop();
    },
];

#[test]
fn a_content_survives_that_nothing_tells_any_more_who_has_it() {
    for change in CHANGES {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        let kept = store.save_draft(draft(&store, about(0), &[2, 3])).unwrap();
        let gone = store.save_draft(draft(&store, about(1), &[3, 4])).unwrap();
        damage_holders(&store, 3, change);
        store.delete_now(&[gone.id]).unwrap();
        check_files(&store, &kept.id, &[2, 3]);
        // One that captures it anew cannot tell either.
        let again = store.save_draft(draft(&store, about(1), &[3])).unwrap();
        check_files(&store, &again.id, &[3]);
        store.delete_now(&[again.id]).unwrap();
        check_files(&store, &kept.id, &[2, 3]);
        store.compact().unwrap();
        check_files(&store, &kept.id, &[2, 3]);
        assert_eq!(tables(&store).holders.len(), 2, "mended");
        store.delete_now(&[kept.id]).unwrap();
        assert_eq!(tables(&store), Tables::default());
    }
}

#[test]
fn compacting_looks_at_the_files_of_all_that_is_there_or_can_be_restored() {
    for change in CHANGES {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        let here = store.save_draft(draft(&store, about(0), &[2, 3])).unwrap();
        let away = store.save_draft(draft(&store, about(1), &[3, 4])).unwrap();
        let expected = tables(&store);
        store.delete(std::slice::from_ref(&away.id)).unwrap();
        for number in [2, 3, 4] {
            damage_holders(&store, number, change);
        }
        // What compacting does once it has purged what it can: here it could not purge this one.
        let sweep = |writer: &mut Writer<'_>| {
            let holding = Snapshot::take(writer.open, writer.path)?.holding()?;
            writer.sweep_artifacts(holding)
        };
        write(&store, sweep);
        assert_eq!(tables(&store), expected);
        store.undelete(std::slice::from_ref(&away.id)).unwrap();
        check_files(&store, &here.id, &[2, 3]);
        check_files(&store, &away.id, &[3, 4]);
    }
}

#[test]
fn compacting_removes_no_content_while_it_cannot_read_who_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let hurt = store.save_draft(draft(&store, about(0), &[2, 3])).unwrap();
    let whole = store.save_draft(draft(&store, about(1), &[4])).unwrap();
    let row = frame_row(hurt.sequence, 1);
    let mut value = Vec::new();
    damage_row(&store, |writer| {
        let rows = &mut writer.artifact_tables().unwrap().artifacts;
        value = rows.remove(row).unwrap().unwrap().value().to_owned();
        rows.insert(row, &value[1..]).unwrap();
    });
    for number in [2, 3, 4] {
        damage_holders(&store, number, Vec::clear);
    }
    store.compact().unwrap();
    assert_eq!(tables(&store).blobs.len(), 3);
    // Somebody mends the row, say from a copy of the store.
    damage_row(&store, |writer| {
        let rows = &mut writer.artifact_tables().unwrap().artifacts;
        rows.insert(row, value.as_slice()).unwrap();
    });
    store.compact().unwrap();
    check_files(&store, &hurt.id, &[2, 3]);
    check_files(&store, &whole.id, &[4]);
    assert_eq!(tables(&store).holders.len(), 3);
}

/// Its document is lost, but who mends the rest will want the files.
#[test]
fn compacting_leaves_the_files_of_a_checkpoint_whose_document_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    let hurt = store.save_draft(draft(&store, about(0), &[2, 3])).unwrap();
    damage_row(&store, |writer| writer.remove_frame_of(hurt.sequence).unwrap());
    assert!(matches!(store.get(&hurt.id), Err(Error::Corrupt { .. })));
    store.compact().unwrap();
    check_files(&store, &hurt.id, &[2, 3]);
}

#[derive(Debug, Clone)]
enum Change {
    Save {
        series: u8,
        contents: Vec<usize>,
    },
    Batch(Vec<Vec<usize>>),
    /// Saves under an id that may be taken.
    Named {
        id: u8,
        contents: Vec<usize>,
    },
    Delete {
        which: usize,
        now: bool,
    },
    Undelete(usize),
    Prune {
        keep_last: u32,
        now: bool,
    },
    /// Prunes on every save from now on, or no more.
    Ring(Option<u32>),
    /// Lets time pass, so that what was deleted expires.
    Week,
    Compact,
    Reopen,
}

fn changes() -> impl Strategy<Value = Change> {
    let contents = || prop::collection::vec(0..12_usize, 0..5);
    prop_oneof![
        6 => (0..3_u8, contents())
            .prop_map(|(series, contents)| Change::Save { series, contents }),
        2 => prop::collection::vec(contents(), 1..4).prop_map(Change::Batch),
        2 => (0..3_u8, contents()).prop_map(|(id, contents)| Change::Named { id, contents }),
        4 => (any::<usize>(), any::<bool>()).prop_map(|(which, now)| Change::Delete { which, now }),
        2 => any::<usize>().prop_map(Change::Undelete),
        1 => (1..3_u32, any::<bool>())
            .prop_map(|(keep_last, now)| Change::Prune { keep_last, now }),
        1 => prop::option::of(1..3_u32).prop_map(Change::Ring),
        1 => Just(Change::Week),
        1 => Just(Change::Compact),
        1 => Just(Change::Reopen),
    ]
}

fn policy(keep_last: u32) -> Policy {
    let rule = Rule { keep_last: Some(keep_last), ..Rule::default() };
    Policy { name: "ring".to_owned(), rules: vec![rule], ..Policy::default() }
}

/// What can be restored.
fn away(store: &Store) -> Vec<Entry> {
    let entries = |snapshot: &Snapshot<'_>| {
        Ok(snapshot.restorable()?.into_iter().map(|it| it.entry).collect())
    };
    store.read(entries).unwrap()
}

/// A store, and what each checkpoint ever saved has captured.
struct Kept {
    store: Store,
    contents: BTreeMap<u64, Vec<usize>>,
    clock: Arc<AtomicI64>,
}

impl Kept {
    fn make(&mut self, change: &Change) {
        let store = &self.store;
        match change {
            Change::Save { series, contents } => {
                let entry = store.save_draft(draft(store, about(*series), contents)).unwrap();
                self.contents.insert(entry.sequence, contents.clone());
            }
            Change::Batch(all) => {
                let drafts = all.iter().map(|contents| draft(store, about(0), contents)).collect();
                for (entry, contents) in store.batch(drafts).unwrap().into_iter().zip(all) {
                    self.contents.insert(entry.unwrap().sequence, contents.clone());
                }
            }
            Change::Named { id, contents } => {
                let about = named(&format!("id {id}").replace(' ', "-"));
                let known = store.entry(about.id.as_ref().unwrap()).ok();
                // Some numbers stand for the same content.
                let known = known.map(|entry| files(&self.contents[&entry.sequence]));
                let is_known = known.as_ref() == Some(&files(contents));
                match store.save_draft(draft(store, about, contents)) {
                    Ok(entry) => {
                        assert!(known.is_none() || is_known);
                        self.contents.insert(entry.sequence, contents.clone());
                    }
                    Err(Error::Exists { .. }) => assert!(!is_known),
                    Err(error) => panic!("{error}"),
                }
            }
            Change::Delete { which, now } => {
                let entries = store.inventory(None).unwrap();
                if let Some(at) = which.checked_rem(entries.len()) {
                    let ids = [entries[at].id.clone()];
                    if *now { store.delete_now(&ids) } else { store.delete(&ids) }.unwrap();
                }
            }
            Change::Undelete(which) => {
                let restorable = away(store);
                if let Some(at) = which.checked_rem(restorable.len()) {
                    // Its id may be taken again.
                    let _ = store.undelete(&[restorable[at].id.clone()]);
                }
            }
            Change::Prune { keep_last, now } => {
                let entries = store.inventory(None).unwrap();
                let policy = policy(*keep_last);
                let plan = plan(&entries, &policy, self.now());
                if *now { store.apply_now(&plan) } else { store.apply(&plan) }.unwrap();
            }
            Change::Ring(keep_last) => {
                let policy = keep_last.map(policy);
                let prune_on_save = policy.is_some();
                let settings = Settings { policy, prune_on_save, ..Settings::default() };
                store.set_settings(&settings).unwrap();
            }
            Change::Week => {
                self.clock.fetch_add(8 * 24 * 3600 * 1_000_000, Ordering::Relaxed);
            }
            Change::Compact => drop(store.compact().unwrap()),
            Change::Reopen => store.shared.let_go(),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.load(Ordering::Relaxed))
    }

    fn check(&self) {
        let entries = self.store.inventory(None).unwrap();
        for entry in &entries {
            check_files(&self.store, &entry.id, &self.contents[&entry.sequence]);
        }
        let away = away(&self.store);
        let mut expected = Tables::default();
        for entry in entries.into_iter().chain(away) {
            let contents = &self.contents[&entry.sequence];
            let hashes = contents.iter().map(|number| Hash::of(&content(*number)));
            for hash in hashes.collect::<BTreeSet<_>>() {
                expected.blobs.insert(hash);
                let holders = expected.holders.entry(hash).or_default();
                *holders = holders.with(entry.sequence);
            }
            if !contents.is_empty() {
                expected.rows.insert(entry.sequence, contents.len());
            }
        }
        assert_eq!(tables(&self.store), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever becomes of checkpoints, every content that one has is there, and no other.
    #[test]
    fn a_content_stays_as_long_as_a_checkpoint_that_has_it(
        changes in prop::collection::vec(changes(), 1..24),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(AtomicI64::new(1_769_353_200_000_000));
        let ticking = clock.clone();
        let options = Options {
            clock: Arc::new(move || {
                Timestamp::from_micros(ticking.fetch_add(1_000, Ordering::Relaxed))
            }),
            ..Options::default()
        };
        let store = Store::open_with(dir.path().join("store.redb"), options).unwrap();
        let mut kept = Kept { store, contents: BTreeMap::new(), clock };
        for change in &changes {
            kept.make(change);
            kept.check();
        }
    }
}
