//! Arrivals: checkpoints saved since a caller last looked, in the order of arrival.
//!
//! Frames are in the order of arrival, so the rows after the last sequence that a caller has seen
//! are what came since. `Position` holds that sequence and the identity of the store, since another
//! store at the same path starts anew. A frame does not tell the order time of its record, so the
//! record keys are searched from the newest on. Only a checkpoint dated long ago makes that long.
//!
//! `waypost watch` looks when the files have changed, or every five seconds. If the store is
//! closed, the look changes no byte (`Store::is_unchanged_since`), so that two watchers do not wake
//! each other. If something may be new, it takes a turn and ends it at once. So a saving loop is
//! asked for its turn twice a second at most.

use std::collections::BTreeSet;
use std::path::Path;

use redb::{ReadTransaction, ReadableDatabase as _, ReadableTable as _};

use crate::checkpoint::Entry;
use crate::error::Result;
use crate::key::{FrameBytes, SEQUENCE_MAX, frame_row, frame_sequence};
use crate::store::Store;
use crate::store::engine::disk::StorePath;
use crate::store::engine::fault::{In, without_panics};
use crate::store::engine::location;
use crate::store::engine::table::{FRAMES, IDENTITY_KEY, META};
use crate::store::log::spool::Spooled;
use crate::store::transaction::snapshot::Snapshot;
use crate::store::turn::file;

// Bounds the memory of one call; a caller that is far behind calls again.
const ARRIVALS_MAX: usize = 16_384;

/// How far a caller has seen what was saved into a store.
///
/// The default is before everything. Valid only for the life of the process: do not store it.
///
/// See [`Arrivals`] for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// Identity of the store: another one in its place starts anew.
    identity: u64,
    sequence: u64,
}

/// What [`Store::arrivals`] found.
///
/// ```
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let seen = store.position()?;
/// let saved = store.save(NewEntry::issue("42")?, &"state")?;
/// let new = store.arrivals(seen)?;
/// assert_eq!(new.entries[0].id, saved.id);
/// assert!(store.arrivals(new.next)?.entries.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Arrivals {
    /// Entries in the order in which they came, whatever time they are dated.
    pub entries: Vec<Entry>,
    /// Where to go on.
    pub next: Position,
    /// Whether there are more already: one call returns 16,384 at most.
    pub has_more: bool,
}

impl Store {
    /// Returns where the store stands now, to ask for [`arrivals`](Store::arrivals) from here on.
    ///
    /// # Errors
    /// [`Error::Locked`](crate::Error::Locked), or that the store cannot be read.
    pub fn position(&self) -> Result<Position> {
        self.read(Position::of)
    }

    /// Returns what was saved or imported after `position`, by any process, and still exists.
    ///
    /// What was deleted or pruned meanwhile is left out. If the file is another store by now, all
    /// of its checkpoints are new. The cost grows with the new ones, unless some are dated long
    /// ago: then the keys of all checkpoints dated later are read once.
    ///
    /// # Errors
    /// As [`Store::position`].
    pub fn arrivals(&self, position: Position) -> Result<Arrivals> {
        self.read(|snapshot| {
            let now = Position::of(snapshot)?;
            let is_same = now.identity == position.identity;
            let after = if is_same { position.sequence } else { 0 };
            let mut sequences = snapshot.sequences_after(after)?;
            let has_more = sequences.len() > ARRIVALS_MAX;
            if has_more {
                sequences.pop_last();
            }
            let last = sequences.last().copied().filter(|_| has_more);
            // All of them may be gone again; the position advances all the same.
            let sequence = last.unwrap_or(now.sequence.max(after));
            let entries = snapshot.arrived(sequences)?;
            Ok(Arrivals { entries, next: Position { sequence, ..now }, has_more })
        })
    }

    /// Whether nothing was saved into the store at `path` after `position`, told without changing a
    /// byte of it.
    ///
    /// False also if that is not known: another process has the store, or a crash left it.
    #[must_use]
    pub fn is_unchanged_since(path: impl AsRef<Path>, position: Position) -> bool {
        let path = location::resolve(path.as_ref());
        let is_spooled = Spooled::of(&StorePath::real(path.clone())).checkpoints > 0;
        if is_spooled || location::beside(&path, ".journal").exists() {
            return false;
        }
        let now = without_panics(&path, || {
            let Ok(Some((database, _))) = file::open_read_only(&path) else { return Ok(None) };
            let transaction = database.begin_read().within(&path)?;
            let meta = transaction.open_table(META).within(&path)?;
            let identity = meta.get(IDENTITY_KEY).within(&path)?.map(|identity| identity.value());
            let sequence = last_sequence(&transaction, &path)?;
            Ok(identity.map(|identity| Position { identity, sequence }))
        });
        let is_old =
            |now: Position| now.identity == position.identity && now.sequence <= position.sequence;
        now.is_ok_and(|now| now.is_some_and(is_old))
    }
}

impl Position {
    fn of(snapshot: &Snapshot<'_>) -> Result<Self> {
        let sequence = last_sequence(&snapshot.transaction, snapshot.path)?;
        Ok(Self { identity: snapshot.open.identity, sequence })
    }
}

/// The sequence that came last, or zero if there is none.
fn last_sequence(transaction: &ReadTransaction, path: &Path) -> Result<u64> {
    let frames = transaction.open_table(FRAMES).within(path)?;
    let last = frames.last().within(path)?;
    Ok(last.map_or(0, |(row, _)| frame_sequence(row.value())))
}

impl Snapshot<'_> {
    /// The entries with these sequences, in the order given.
    fn arrived(&self, mut wanted: BTreeSet<u64>) -> Result<Vec<Entry>> {
        let mut entries = Vec::with_capacity(wanted.len());
        let mut keys = self.keys()?;
        // Nearly all are dated now, so the search starts with the newest.
        while !wanted.is_empty()
            && let Some(key) = keys.next_back()
        {
            let key = key?;
            if wanted.remove(&key.sequence) {
                entries.extend(self.entry(key)?);
            }
        }
        entries.sort_by_key(|entry| entry.sequence);
        Ok(entries)
    }

    /// The first sequences after one; one more than a call returns, if there are that many.
    fn sequences_after(&self, after: u64) -> Result<BTreeSet<u64>> {
        let mut sequences = BTreeSet::new();
        if after >= SEQUENCE_MAX {
            return Ok(sequences);
        }
        let frames = self.transaction.open_table(FRAMES).within(self.path)?;
        let rows = frames.range::<FrameBytes>(frame_row(after + 1, 0)..).within(self.path)?;
        for row in rows {
            sequences.insert(frame_sequence(row.within(self.path)?.0.value()));
            if sequences.len() > ARRIVALS_MAX {
                break;
            }
        }
        Ok(sequences)
    }
}
