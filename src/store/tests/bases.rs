//! Bases of deltas, when other threads and processes come between.

use std::sync::Mutex;
use std::thread;

use super::{about, links, state};
use crate::checkpoint::{Entry, Id, NewEntry, Timestamp};
use crate::codec::NameKind;
use crate::error::{Damage, Error};
use crate::key::{RecordKey, index_row};
use crate::store::engine::table::INDEX;
use crate::store::transaction::writer::transact;
use crate::store::turn::open::Open;
use crate::store::{Durability, Hold, Limits, Options, Snapshot, Store};
use crate::sync::lock;

fn open(dir: &tempfile::TempDir, options: Options) -> Store {
    Store::open_with(dir.path().join("store.redb"), options).unwrap()
}

/// Lines that have nothing to do with those of another seed.
fn unrelated(seed: u64, lines: u64) -> Vec<String> {
    let mut number = seed + 1;
    let mut line = |_| {
        number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23).wrapping_add(seed);
        format!("{number:x}")
    };
    (0..lines).map(&mut line).collect()
}

/// How many steps each frame is from one that stands alone.
fn steps(store: &Store) -> Vec<usize> {
    let (bases, _) = links(store);
    let steps = |sequence| std::iter::successors(Some(sequence), |at| bases[at]).count() - 1;
    bases.keys().copied().map(steps).collect()
}

#[test]
fn a_handle_that_reads_little_removes_nothing_that_others_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options::default());
    let saved: Vec<Entry> =
        (0..12).map(|number| store.save(about(0), &state(0, number)).unwrap()).collect();
    store.shared.let_go();
    let limits = Limits { document_bytes: 100, ..Limits::default() };
    let little = open(&dir, Options { limits, ..Options::default() });
    assert!(matches!(little.get(&saved[5].id), Err(Error::Limit { .. })));
    little.delete_now(&[saved[0].id.clone(), saved[8].id.clone()]).unwrap();
    drop(little);
    for (entry, number) in saved.iter().zip(0..).filter(|(_, number)| ![0, 8].contains(number)) {
        let found = store.get(&entry.id).unwrap().state::<Vec<String>>().unwrap();
        assert_eq!(found, state(0, number));
    }
}

#[test]
fn after_a_failed_transaction_nothing_refers_to_what_may_be_gone() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options::default());
    for number in 0..3 {
        store.save(about(0), &state(0, number)).unwrap();
    }
    let mut drafts = [store.draft(about(0), &state(0, 3)).unwrap()];
    store.shared.pack(&mut drafts).unwrap();
    assert!(drafts[0].base().is_some());
    let failed = store.shared.turn.with(|open| {
        let failure = || Error::corrupt_store(Damage::Engine, store.path(), "a test");
        let result: Result<(), _> =
            transact(open, store.path(), redb::Durability::Immediate, |_| Err(failure()));
        // The next saver has waited for the journal meanwhile.
        let journal = lock(&open.journal);
        store.shared.drop_lost_bases(open, &journal, &mut drafts)?;
        result
    });
    assert!(failed.is_err());
    assert!(drafts[0].base().is_none());
    // Once the file is opened anew, everything is as it was.
    let mut drafts = [store.draft(about(0), &state(0, 4)).unwrap()];
    store.shared.pack(&mut drafts).unwrap();
    assert!(drafts[0].base().is_some());
}

#[test]
fn what_is_refused_changes_nothing_for_savers() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options { hold: Hold::Forever, ..Options::default() });
    let nobody = Id::new("nobody").unwrap();
    for number in 0..8 {
        store.save(about(0), &state(0, number)).unwrap();
        assert!(store.delete_now(std::slice::from_ref(&nobody)).is_err());
        assert!(store.tag(&nobody, &["tag".to_owned()]).is_err());
    }
    assert_eq!(steps(&store), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn an_index_row_that_leads_astray_does_not_lead_savers() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options { hold: Hold::Forever, ..Options::default() });
    let of = |series, number| store.save(about(series), &state(series, number)).unwrap();
    let (mut first, second) = (vec![of(1, 0)], of(2, 0));
    store.shared.let_go();
    let lead_astray = |open: &Open| {
        let snapshot = Snapshot::take(open, store.path())?;
        let name = snapshot.name(NameKind::Series, first[0].series.as_str())?.unwrap();
        let cause = snapshot.index().causes(name)?[0];
        let transaction = open.database.begin_write().unwrap();
        let mut index = transaction.open_table(INDEX).unwrap();
        index.remove(index_row(name, cause, RecordKey::of(&first[0]))).unwrap();
        index.insert(index_row(name, cause, RecordKey::of(&second)), ()).unwrap();
        drop(index);
        transaction.commit().unwrap();
        Ok(())
    };
    store.shared.turn.with(lead_astray).unwrap();
    first.extend((1..4).map(|number| of(1, number)));
    store.delete_now(std::slice::from_ref(&second.id)).unwrap();
    first.extend((4..40).map(|number| of(1, number)));
    store.shared.let_go();
    for (entry, number) in first.iter().zip(0..) {
        let found = store.get(&entry.id).unwrap().state::<Vec<String>>().unwrap();
        assert_eq!(found, state(1, number));
    }
}

#[test]
fn documents_without_anything_in_common_stand_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options::default());
    for seed in 0..30 {
        store.save(about(0), &unrelated(seed, 100)).unwrap();
        store.shared.let_go();
    }
    assert!(steps(&store).into_iter().max() <= Some(1), "{:?}", steps(&store));

    // Nor does a delete make the store forget that deltas do not pay.
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options { hold: Hold::Forever, ..Options::default() });
    let mut saved = Vec::new();
    for seed in 0..60 {
        saved.push(store.save(about(0), &unrelated(seed, 100)).unwrap());
        if seed >= 20 {
            store.delete_now(&[saved.remove(0).id]).unwrap();
        }
    }
    assert_eq!(steps(&store).into_iter().filter(|steps| *steps > 0).count(), 0);
}

#[test]
fn a_small_document_does_not_stand_on_a_large_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options::default());
    store.save(about(0), &unrelated(0, 20_000)).unwrap();
    let small: Vec<Entry> =
        (0..3).map(|number| store.save(about(0), &state(0, number)).unwrap()).collect();
    store.shared.let_go();
    let limits = Limits { document_bytes: 64 << 10, ..Limits::default() };
    let little = open(&dir, Options { limits, ..Options::default() });
    for entry in small {
        little.get(&entry.id).unwrap();
    }
}

#[test]
fn a_base_that_is_beyond_the_limit_is_told_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options::default());
    let mut lines = unrelated(0, 300);
    store.save(about(0), &lines).unwrap();
    lines.truncate(200);
    let shorter = store.save(about(0), &lines).unwrap();
    assert_eq!(steps(&store), [0, 1]);
    store.shared.let_go();
    let document_bytes = usize::try_from(shorter.document_bytes).unwrap();
    let limits = Limits { document_bytes, ..Limits::default() };
    let little = open(&dir, Options { limits, ..Options::default() });
    let refused = little.get(&shorter.id);
    assert!(matches!(refused, Err(Error::Limit { .. })), "{refused:?}");
}

#[test]
fn one_that_is_dated_ahead_does_not_carry_all_that_come_after() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options::default());
    let created_at = Some(Timestamp::from_micros(4_000_000_000_000_000));
    let ahead = store.save(NewEntry { created_at, ..about(0) }, &state(0, 0)).unwrap();
    for number in 1..60 {
        store.save(about(0), &state(0, number)).unwrap();
        store.shared.let_go();
    }
    let (bases, _) = links(&store);
    let carried = bases.values().filter(|base| **base == Some(ahead.sequence)).count();
    assert!(carried <= 8, "{carried}");
    assert!(steps(&store).into_iter().max() <= Some(21));
    // Nor do documents after a leap stand alone for ever.
    for number in 1_000..1_030 {
        store.save(about(0), &state(0, number)).unwrap();
        store.shared.let_go();
    }
    let alone = steps(&store).into_iter().filter(|steps| *steps == 0).count();
    assert!(alone <= 4, "{alone}");
}

#[test]
fn a_document_that_loses_its_base_is_not_put_on_a_large_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options::default());
    let small = unrelated(0, 20);
    let first = store.save(about(0), &small).unwrap();
    // Large documents start like small ones, so that all are deltas to the first.
    let large = [small.clone(), vec!["x".repeat(100_000)]].concat();
    for _ in 0..7 {
        store.save(about(0), &large).unwrap();
    }
    let last = store.save(about(0), &small).unwrap();
    store.delete_now(&[first.id]).unwrap();
    store.shared.let_go();
    let limits = Limits { document_bytes: 10_000, ..Limits::default() };
    let little = open(&dir, Options { limits, ..Options::default() });
    assert_eq!(little.get(&last.id).unwrap().state::<Vec<String>>().unwrap(), small);
}

#[test]
fn a_draft_takes_no_more_memory_than_its_document() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options::default());
    for lines in [5_000, 3, 4_000, 2] {
        let draft = store.draft(about(0), &unrelated(0, lines)).unwrap();
        let (length, capacity) = (draft.raw.len(), draft.raw.capacity());
        assert!(capacity <= length + length / 4, "{length} in {capacity}");
    }
}

/// Savers of two series, a deleter and a reader, each in a thread, while the file changes hands.
#[test]
fn whatever_happens_at_once_all_that_stays_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir, Options::default());
    let saved: Mutex<Vec<(Entry, u8, u32)>> = Mutex::new(Vec::new());
    let (store_ref, saved_ref) = (&store, &saved);
    thread::scope(|scope| {
        for thread in 0..4_u32 {
            scope.spawn(move || {
                for number in 0..120 {
                    let (series, number) = (u8::from(thread % 2 == 0), thread * 50 + number);
                    let durability =
                        if number % 3 == 0 { Durability::Immediate } else { Durability::Relaxed };
                    let draft = store_ref.draft(about(series), &state(series, number)).unwrap();
                    let entry = store_ref.save_draft(draft.with_durability(durability)).unwrap();
                    lock(saved_ref).push((entry, series, number));
                }
            });
        }
        scope.spawn(move || {
            for round in 0..60_usize {
                let doomed = {
                    let mut saved = lock(saved_ref);
                    let at = (round * 7919) % saved.len().max(1);
                    (at < saved.len()).then(|| saved.swap_remove(at))
                };
                if let Some((entry, ..)) = doomed {
                    store_ref.delete_now(&[entry.id]).unwrap();
                }
                if round % 10 == 0 {
                    store_ref.shared.let_go();
                }
            }
        });
    });
    store.shared.let_go();
    let (bases, rows) = links(&store);
    // The number depends on the scheduler. With none, the test would show nothing.
    assert!(bases.values().flatten().count() > 40, "some are deltas");
    assert!(
        bases.iter().all(|(sequence, base)| base.is_none_or(|it| rows.contains(&(it, *sequence))))
    );
    for (entry, series, number) in lock(&saved).iter() {
        let found = store.get(&entry.id).unwrap().state::<Vec<String>>().unwrap();
        assert_eq!(found, state(*series, *number));
    }
}
