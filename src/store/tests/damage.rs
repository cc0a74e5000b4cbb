//! Damage to bases of deltas.

use std::ops::ControlFlow;

use redb::ReadableTable as _;

use super::{about, links, state};
use crate::checkpoint::{Entry, Id};
use crate::error::Error;
use crate::key::{RecordKey, dependents_row, frame_row};
use crate::store::transaction::writer::transact;
use crate::store::{Durability, Repair, Store};

const SERIES: u8 = 0;
const OTHER: u8 = 1;

/// A store with a series of 20, and another one beside it.
fn filled(dir: &tempfile::TempDir) -> (Store, Vec<Entry>, Entry) {
    let store = Store::open(dir.path().join("store.redb")).unwrap();
    let save = |series, number| store.save(about(series), &state(series, number)).unwrap();
    let entries = (0..20).map(|number| save(SERIES, number)).collect();
    let other = save(OTHER, 0);
    (store, entries, other)
}

/// Damages the first chunk of a frame in the tables, and clears the caches.
fn damage(store: &Store, row: [u8; 8], change: impl FnOnce(&mut Vec<u8>)) {
    let path = store.path().to_owned();
    let change = |open: &crate::store::turn::open::Open| {
        transact(open, &path, redb::Durability::Immediate, |writer| {
            let old = writer.frames.remove(row).unwrap().unwrap().value().to_owned();
            let mut new = old.clone();
            change(&mut new);
            assert_ne!(old, new);
            if !new.is_empty() {
                writer.frames.insert(row, new.as_slice()).unwrap();
            }
            Ok(())
        })
    };
    store.shared.turn.with(change).unwrap();
    store.shared.let_go();
}

/// The checkpoints of the series that depend on `base`, it included.
fn on(store: &Store, entries: &[Entry], base: u64) -> Vec<Id> {
    let (bases, _) = links(store);
    let stands_on = |entry: &&Entry| {
        std::iter::successors(Some(entry.sequence), |at| bases[at]).any(|at| at == base)
    };
    entries.iter().filter(stands_on).map(|entry| entry.id.clone()).collect()
}

fn check(store: &Store, entries: &[Entry], lost: &[Id]) {
    for (entry, number) in entries.iter().zip(0..) {
        match store.get(&entry.id) {
            Ok(found) => {
                assert!(!lost.contains(&entry.id), "{number} was read from damage");
                assert_eq!(found.state::<Vec<String>>().unwrap(), state(SERIES, number));
            }
            Err(Error::Corrupt { place, .. }) => {
                assert!(lost.contains(&entry.id), "{number} is not hurt");
                assert_eq!(place, format!("checkpoint {}", entry.id));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_damaged_base_hurts_its_dependents_and_nothing_else() {
    let changes: [fn(&mut Vec<u8>); 4] = [
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        |bytes| bytes[0] ^= 3,
        |bytes| bytes.truncate(bytes.len() / 2),
        Vec::clear,
    ];
    // Damage to the frame that stands alone hurts all; to one of a higher rank, also later ones.
    let cases = [(0, 20), (8, 12), (10, 6)];
    for ((at, hurt), change) in cases.into_iter().flat_map(|case| changes.map(|it| (case, it))) {
        let dir = tempfile::tempdir().unwrap();
        let (store, entries, other) = filled(&dir);
        let lost = on(&store, &entries, entries[at].sequence);
        assert_eq!(lost.len(), hurt);
        damage(&store, frame_row(entries[at].sequence, 0), change);
        check(&store, &entries, &lost);
        assert!(store.get(&other.id).is_ok());

        // The series continues, with a frame that stands alone if needed.
        let next = store.save(about(SERIES), &state(SERIES, 20)).unwrap();
        store.shared.let_go();
        let found = store.get(&next.id).unwrap().state::<Vec<String>>().unwrap();
        assert_eq!(found, state(SERIES, 20));

        // Damaged checkpoints can be removed, and no readable one goes with them.
        store.delete_now(&[entries[at].id.clone()]).unwrap();
        let (left, _): (Vec<_>, Vec<_>) =
            lost.iter().cloned().partition(|id| store.entry(id).is_ok());
        assert_eq!(left.len(), lost.len() - 1);
        for id in left {
            assert!(matches!(store.get(&id), Err(Error::Corrupt { .. })));
        }
        assert!(store.get(&next.id).is_ok());
    }
}

#[test]
fn a_length_that_no_document_has_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let (store, entries, _) = filled(&dir);
    // The next tag of an integer: eight bytes instead of two.
    damage(&store, frame_row(entries[3].sequence, 0), |bytes| bytes[1] = 253);
    for entry in &entries[3..8] {
        let found = store.get(&entry.id);
        assert!(matches!(found, Err(Error::Corrupt { .. })), "{found:?}");
    }
    for entry in &entries[2..5] {
        store.delete_now(std::slice::from_ref(&entry.id)).unwrap();
    }
}

#[test]
fn the_frame_that_is_damaged_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (store, entries, _) = filled(&dir);
    let (hurt, reader) = (&entries[3], &entries[6]);
    let length = usize::try_from(hurt.stored_bytes).unwrap();
    for at in 0..length {
        let flip = |bytes: &mut Vec<u8>| bytes[at] ^= 1;
        damage(&store, frame_row(hurt.sequence, 0), flip);
        match store.get(&reader.id) {
            Err(Error::Corrupt { place, reason, .. }) => {
                assert_eq!(place, format!("checkpoint {}", reader.id));
                assert!(reason.contains("as a delta to frame"), "byte {at}: {reason}");
            }
            // These bytes only prove the frame itself, or are for writers.
            Ok(found) => assert_eq!(found.state::<Vec<String>>().unwrap(), state(SERIES, 6)),
            Err(error) => panic!("{error}"),
        }
        damage(&store, frame_row(hurt.sequence, 0), flip);
    }
    assert!(store.get(&reader.id).is_ok());
}

#[test]
fn what_may_have_dependents_that_cannot_be_found_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (store, entries, _) = filled(&dir);
    damage(&store, dependents_row(entries[10].sequence), |bytes| bytes[0] ^= 1);
    let refused = store.delete_now(&[entries[9].id.clone(), entries[10].id.clone()]);
    let Err(Error::Corrupt { place, reason, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(place, format!("checkpoint {}", entries[10].id));
    assert!(reason.contains("waypost repair"), "{reason}");
    // The rest of the store works as before.
    store.delete_now(&[entries[11].id.clone(), entries[9].id.clone()]).unwrap();
    let relaxed = store.draft(about(SERIES), &state(SERIES, 20)).unwrap();
    store.save_draft(relaxed.with_durability(Durability::Relaxed)).unwrap();
    store.shared.let_go();
    let left = [&entries[..9], &entries[10..11], &entries[12..]].concat();
    for entry in left {
        assert!(store.get(&entry.id).is_ok());
    }
    // The remedy that the error names.
    let path = store.path().to_owned();
    store.close().unwrap();
    Store::repair(&path, &Repair::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    Store::open(&path).unwrap().delete_now(&[entries[10].id.clone()]).unwrap();
}

/// One damaged row hid all other deleted checkpoints, and the store could not be counted.
#[test]
fn a_damaged_row_of_a_deleted_one_hides_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let (store, entries, _) = filled(&dir);
    let ids: Vec<Id> = entries[3..6].iter().map(|it| it.id.clone()).collect();
    store.delete(&ids).unwrap();
    let path = store.path().to_owned();
    let hurt = |open: &crate::store::turn::open::Open| {
        transact(open, &path, redb::Durability::Immediate, |writer| {
            let table = writer.deleted()?;
            let (row, mut value) = table
                .first()
                .unwrap()
                .map(|(row, value)| (row.value(), value.value().to_owned()))
                .unwrap();
            *value.last_mut().unwrap() ^= 1;
            table.insert(row, value.as_slice()).unwrap();
            Ok(())
        })
    };
    store.shared.turn.with(hurt).unwrap();
    let each = store.read(|it| Ok(it.restorable_each()?.into_iter().partition(Result::is_ok)));
    let (found, damaged): (Vec<_>, Vec<_>) = each.unwrap();
    let found: Vec<Id> = found.into_iter().map(|it| it.unwrap().entry.id).collect();
    assert_eq!(found, ids[1..]);
    let [Err(Error::Corrupt { place, .. })] = &damaged[..] else { panic!("{damaged:?}") };
    assert!(place.starts_with("deleted "), "{place}");
    let all = store.read(|snapshot| Ok(snapshot.restorable()?.len()));
    assert!(matches!(all, Err(Error::Corrupt { .. })), "it is not passed over");
    let stats = store.stats().unwrap();
    assert_eq!((stats.checkpoints, stats.deleted, stats.damaged), (18, 2, 1));
    store.undelete(&ids[1..]).unwrap();
}

/// A damaged record ended every listing with documents, and so did a damaged document.
#[test]
fn documents_go_on_after_a_damaged_record_and_a_damaged_frame() {
    let dir = tempfile::tempdir().unwrap();
    let (store, entries, _) = filled(&dir);
    let path = store.path().to_owned();
    let hurt = |open: &crate::store::turn::open::Open| {
        transact(open, &path, redb::Durability::Immediate, |writer| {
            let key = RecordKey::of(&entries[5]).to_bytes();
            let mut record = writer.records.get(key).unwrap().unwrap().value().to_owned();
            *record.last_mut().unwrap() ^= 1;
            writer.records.insert(key, record.as_slice()).unwrap();
            Ok(())
        })
    };
    store.shared.turn.with(hurt).unwrap();
    damage(&store, frame_row(entries[8].sequence, 0), |bytes| *bytes.last_mut().unwrap() ^= 1);
    let lost = on(&store, &entries, entries[8].sequence);
    #[expect(clippy::default_trait_access, reason = "the store names no query")]
    let mut documents = store.documents(Default::default());
    let (mut found, mut unread, mut unnamed) = (0, Vec::new(), 0);
    while let Some(document) = documents.read_next() {
        match document {
            Ok(checkpoint) => {
                assert!(!lost.contains(&checkpoint.entry.id));
                found += 1;
            }
            Err(it) => {
                assert!(matches!(it.error, Error::Corrupt { .. }), "{it}");
                match it.entry {
                    Some(entry) => unread.push(entry.id),
                    None => unnamed += 1,
                }
            }
        }
    }
    unread.reverse();
    assert_eq!((unread, unnamed), (lost, 1));
    assert_eq!(found, 21 - 12 - 1);
}
