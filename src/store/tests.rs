//! Tests that need access to the inside of a store.
//!
//! Covers captured files (`artifact`), deltas, pruning, full and failing disks, loss of power
//! (`disk`), damage, moved and linked files, threads, views of a store that another handle has
//! open, and hostile rows.

mod artifact;
mod bases;
mod damage;
mod disk;
mod full;
mod fuzz;
#[cfg(unix)]
mod linked;
#[cfg(unix)]
mod moved;
mod overtaken;
#[cfg(unix)]
mod place;
mod prune;
mod threads;
mod tighten;
mod viewed;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::slice::from_ref;

use redb::{ReadableDatabase as _, ReadableTable as _};

use crate::checkpoint::{Entry, Id, NewEntry, Series, Timestamp};
use crate::codec::{FoundFrame, decode_dependents};
use crate::key::frame_sequence;
use crate::store::engine::location;
use crate::store::engine::table::FRAMES;
use crate::store::transaction::snapshot::Snapshot;
use crate::store::watch::unwatched;
use crate::store::{Hold, Options, Store};
use crate::sync::lock;
use proptest::prelude::*;

/// A failed save used up a sequence. So a delete did not notice that it removed the newest
/// checkpoint, and after a crash the journal brought that one back.
#[test]
fn what_is_deleted_stays_so_though_a_sequence_was_used_up_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.redb");
    let options = Options { hold: Hold::Forever, ..Options::default() };
    let store = Store::open_with(&path, options).unwrap();
    let saved = [0, 1, 2].map(|number| store.save(NewEntry::default(), &number).unwrap());
    let mut failed = [store.draft(NewEntry::default(), &3).unwrap()];
    let now = Timestamp::now();
    let used_up = store
        .shared
        .turn
        .with(|open| lock(&open.intake).place((&mut failed, 0), open, now))
        .unwrap();
    store.delete_now(from_ref(&saved[2].id)).unwrap();
    let copy = dir.path().join("copy.redb");
    for suffix in ["", ".journal"] {
        fs::copy(location::beside(&path, suffix), location::beside(&copy, suffix)).unwrap();
    }
    let copy = Store::open(&copy).unwrap();
    assert!(copy.get(&saved[2].id).is_err());
    let next = copy.save(NewEntry::default(), &4).unwrap();
    assert!(next.sequence > used_up.entry.sequence);
}

/// A state that changes a little from one number to the next.
fn state(series: u8, number: u32) -> Vec<String> {
    let line = |at: u32| {
        let word = (u64::from(at) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 + u64::from(series));
        format!("step {at}: {word:x}")
    };
    (number..number + 20).map(line).collect()
}

fn about(series: u8) -> NewEntry {
    let series = Series::new(format!("series {series}")).unwrap();
    NewEntry { series: Some(series), ..NewEntry::default() }
}

/// The base of each frame, by sequence.
type BasesOf = BTreeMap<u64, Option<u64>>;

/// What the frames say, and the pairs of base and dependent that the rows of dependents say.
fn links(store: &Store) -> (BasesOf, BTreeSet<(u64, u64)>) {
    let mut frames: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut rows = BTreeSet::new();
    let read = |open: &crate::store::turn::open::Open| {
        let transaction = open.database.begin_read().unwrap();
        for row in transaction.open_table(FRAMES).unwrap().iter().unwrap() {
            let (key, value) = row.unwrap();
            let sequence = frame_sequence(key.value());
            if key.value().ends_with(&[0xff, 0xff]) {
                let dependents = decode_dependents(sequence, value.value()).unwrap();
                rows.extend(dependents.iter().map(|key| (sequence, key.sequence)));
            } else {
                frames.entry(sequence).or_default().extend_from_slice(value.value());
            }
        }
        Ok(())
    };
    store.shared.turn.with(|open| store.shared.settle(open)).unwrap();
    store.shared.turn.with(read).unwrap();
    let base = |(sequence, bytes): (u64, Vec<u8>)| {
        let link = FoundFrame::parse(&bytes).unwrap().link;
        (sequence, link.map(|link| sequence - link.distance))
    };
    (frames.into_iter().map(base).collect(), rows)
}

#[derive(Debug, Clone)]
enum Change {
    /// Saves this number of drafts, one by one or together.
    Save {
        series: u8,
        count: u32,
        together: bool,
    },
    /// A series starts anew with a state of another kind.
    Leap {
        series: u8,
    },
    /// Deletes the checkpoints at these places in the list, modulo its length.
    Delete {
        places: BTreeSet<usize>,
        modulo: usize,
        now: bool,
    },
    /// Deletes this number of the oldest or the newest of a series.
    Trim {
        series: u8,
        count: usize,
        newest: bool,
    },
    /// Restores this number of the checkpoints deleted last.
    Restore(usize),
    Purge,
    Reopen,
}

fn changes() -> impl Strategy<Value = Change> {
    let places = prop::collection::btree_set(0..12_usize, 1..10);
    prop_oneof![
        6 => (0..3_u8, 1..60_u32, any::<bool>())
            .prop_map(|(series, count, together)| Change::Save { series, count, together }),
        1 => (0..3_u8).prop_map(|series| Change::Leap { series }),
        3 => (places, 2..12_usize, any::<bool>())
            .prop_map(|(places, modulo, now)| Change::Delete { places, modulo, now }),
        2 => (1..9_usize).prop_map(Change::Restore),
        1 => Just(Change::Purge),
        2 => (0..3_u8, 1..40_usize, any::<bool>())
            .prop_map(|(series, count, newest)| Change::Trim { series, count, newest }),
        1 => Just(Change::Reopen),
    ]
}

/// All that was saved and not deleted.
struct Kept {
    store: Store,
    all: Vec<(Entry, u8, u32)>,
    /// Deleted, and can be restored.
    away: Vec<(Entry, u8, u32)>,
    numbers: [u32; 3],
}

impl Kept {
    fn next(&mut self, series: u8) -> u32 {
        let number = &mut self.numbers[usize::from(series)];
        *number += 1;
        *number
    }

    fn make(&mut self, change: &Change) {
        match change {
            Change::Save { series, count, together: false } => {
                for _ in 0..*count {
                    let number = self.next(*series);
                    let entry = self.store.save(about(*series), &state(*series, number)).unwrap();
                    self.all.push((entry, *series, number));
                }
            }
            Change::Save { series, count, together: true } => {
                let numbers: Vec<u32> = (0..*count).map(|_| self.next(*series)).collect();
                let draft =
                    |number| self.store.draft(about(*series), &state(*series, number)).unwrap();
                let drafts = numbers.iter().copied().map(draft).collect();
                for (entry, number) in self.store.batch(drafts).unwrap().into_iter().zip(numbers) {
                    self.all.push((entry.unwrap(), *series, number));
                }
            }
            Change::Leap { series } => self.numbers[usize::from(*series)] += 1_000,
            Change::Delete { places, modulo, now } => {
                let mut at = 0;
                let is_wanted = |_: &Entry| {
                    at += 1;
                    places.contains(&(at % modulo))
                };
                let gone = self.take(is_wanted);
                let ids: Vec<Id> = gone.iter().map(|(entry, ..)| entry.id.clone()).collect();
                if *now {
                    self.store.delete_now(&ids).unwrap();
                } else {
                    self.store.delete(&ids).unwrap();
                    self.away.extend(gone);
                }
            }
            Change::Restore(count) => {
                let from = self.away.len().saturating_sub(*count);
                let back = self.away.split_off(from);
                let ids: Vec<Id> = back.iter().map(|(entry, ..)| entry.id.clone()).collect();
                self.store.undelete(&ids).unwrap();
                self.all.extend(back);
            }
            Change::Purge => {
                let purged = self.store.purge(&mut unwatched, &mut 0);
                assert!(purged.unwrap().is_continue());
                self.away.clear();
            }
            Change::Trim { series, count, newest } => {
                let of_series = self.all.iter().filter(|(_, it, _)| it == series);
                let ids = of_series.map(|(entry, ..)| entry.id.clone());
                let ids: BTreeSet<Id> = match newest {
                    true => ids.rev().take(*count).collect(),
                    false => ids.take(*count).collect(),
                };
                let gone = self.take(|entry| ids.contains(&entry.id));
                let ids: Vec<Id> = gone.into_iter().map(|(entry, ..)| entry.id).collect();
                self.store.delete_now(&ids).unwrap();
            }
            Change::Reopen => self.store.shared.let_go(),
        }
    }

    fn take(&mut self, mut is_wanted: impl FnMut(&Entry) -> bool) -> Vec<(Entry, u8, u32)> {
        let (gone, stay) =
            std::mem::take(&mut self.all).into_iter().partition(|(entry, ..)| is_wanted(entry));
        self.all = stay;
        gone
    }

    fn check(&self) {
        let (bases, rows) = links(&self.store);
        let of_frames = bases.iter().filter_map(|(sequence, base)| Some(((*base)?, *sequence)));
        assert_eq!(of_frames.collect::<BTreeSet<_>>(), rows, "rows lead to all dependents");
        let sequences: BTreeSet<u64> =
            self.all.iter().chain(&self.away).map(|(entry, ..)| entry.sequence).collect();
        assert_eq!(bases.keys().copied().collect::<BTreeSet<_>>(), sequences);
        for sequence in sequences {
            let steps = std::iter::successors(Some(sequence), |at| bases[at]).count() - 1;
            assert!(steps <= 21, "{steps} steps from {sequence}");
        }
        for (entry, series, number) in &self.all {
            let found = self.store.get(&entry.id).unwrap();
            let length = self.store.shared.turn.with(|open| {
                let snapshot = Snapshot::take(open, self.store.path())?;
                snapshot.frame_bytes(found.entry.sequence)
            });
            assert_eq!(found.entry.stored_bytes, length.unwrap() as u64);
            assert_eq!(found.state::<Vec<String>>().unwrap(), state(*series, *number));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// After any deletes, what stays can be read, and is as close to a whole frame as before.
    #[test]
    fn what_stays_can_be_read_after_each_step(
        changes in prop::collection::vec(changes(), 1..24),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store.redb")).unwrap();
        let mut kept = Kept { store, all: Vec::new(), away: Vec::new(), numbers: [0; 3] };
        for change in &changes {
            kept.make(change);
            kept.check();
            // The caches must not hide what the file says.
            kept.store.shared.let_go();
            kept.check();
        }
    }
}
