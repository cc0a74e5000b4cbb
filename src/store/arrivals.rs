//! Arrivals: what was saved since somebody last looked, in the order in which it came.

use std::collections::BTreeSet;

use redb::ReadableTable as _;

use super::Store;
use super::read::Snapshot;
use super::table::{FRAMES, In};
use crate::checkpoint::Entry;
use crate::error::Result;
use crate::key::{FrameBytes, SEQUENCE_MAX, frame_row, frame_sequence};

/// Up to where somebody has seen what was saved into a store.
///
/// By default it is before everything. It is not for keeping, but for as long as its process lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// Of the store: another one in its place starts anew.
    identity: u64,
    sequence: u64,
}

/// What [`Store::arrivals`] found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Arrivals {
    /// Entries in the order in which they came, whatever time they are dated.
    pub entries: Vec<Entry>,
    /// Where to go on.
    pub next: Position,
}

impl Store {
    /// Returns where the store stands now, to ask for [`arrivals`](Store::arrivals) from here on.
    ///
    /// # Errors
    /// [`Error::Locked`](crate::Error::Locked), or that the store cannot be read.
    pub fn position(&self) -> Result<Position> {
        self.read(Position::of)
    }

    /// Returns what was saved or imported after `position`, by any process, and is still there.
    ///
    /// What was deleted or pruned meanwhile is left out. If the file is another store by now, all
    /// of that counts as new. Costs as much as there is new, unless some of it is dated long ago:
    /// then the keys of all that is dated later are looked at once.
    ///
    /// # Errors
    /// As [`Store::position`].
    pub fn arrivals(&self, position: Position) -> Result<Arrivals> {
        self.read(|snapshot| {
            let next = Position::of(snapshot)?;
            let is_same = next.identity == position.identity;
            let after = if is_same { position.sequence } else { 0 };
            let entries = snapshot.arrived(after)?;
            // All may be gone again; what was seen is not seen twice.
            let sequence = next.sequence.max(after);
            Ok(Arrivals { entries, next: Position { sequence, ..next } })
        })
    }
}

impl Position {
    fn of(snapshot: &Snapshot<'_>) -> Result<Self> {
        let frames = snapshot.transaction.open_table(FRAMES).within(snapshot.path)?;
        let last = frames.last().within(snapshot.path)?;
        let sequence = last.map_or(0, |(row, _)| frame_sequence(row.value()));
        Ok(Self { identity: snapshot.open.identity, sequence })
    }
}

impl Snapshot<'_> {
    /// The entries whose sequence is greater than `after`, in the order of these.
    fn arrived(&self, after: u64) -> Result<Vec<Entry>> {
        let mut wanted = self.sequences_after(after)?;
        let mut entries = Vec::with_capacity(wanted.len());
        let mut keys = self.keys()?;
        // Nearly all are dated now, so the newest are looked at first.
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

    fn sequences_after(&self, after: u64) -> Result<BTreeSet<u64>> {
        let frames = self.transaction.open_table(FRAMES).within(self.path)?;
        if after >= SEQUENCE_MAX {
            return Ok(BTreeSet::new());
        }
        let rows = frames.range::<FrameBytes>(frame_row(after + 1, 0)..).within(self.path)?;
        rows.map(|row| Ok(frame_sequence(row.within(self.path)?.0.value()))).collect()
    }
}
