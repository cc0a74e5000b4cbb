//! Arrivals: checkpoints saved since a caller last looked, in the order of arrival.
//!
//! Frames are in the order of arrival, so the rows after the last sequence that a caller has seen
//! are what came since. `Position` holds that sequence and the identity of the store, since another
//! store at the same path starts anew. A frame does not tell the order time of its record, so the
//! record keys are searched from the newest on. Only a checkpoint dated long ago makes that long.
//!
//! A save in the spool gets its final sequence when a process takes it in, and arrives then. If
//! nothing else is new and no process has the store, this call takes it in, since the process that
//! saved it may be gone.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::checkpoint::Entry;
use crate::error::Result;
use crate::key::{FrameBytes, SEQUENCE_MAX, frame_row, frame_rows, frame_sequence};
use crate::store::Store;
use crate::store::engine::fault::In;
use crate::store::options::Hold;
use crate::store::transaction::snapshot::Snapshot;
use crate::store::turn::enter::Patience;

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
        let (arrivals, has_waiting) = self.arrived_after(position)?;
        if !arrivals.entries.is_empty() || !has_waiting {
            return Ok(arrivals);
        }
        let at_once = Patience::Until(Instant::now());
        // If taking in fails, the saves arrive once another process takes them in.
        match self.shared.glance_within(at_once, |open| self.shared.take_in(open)) {
            Ok(()) => {
                // A saver may want the file next, and this handle only looks.
                if self.shared.options.hold != Hold::Forever {
                    self.shared.let_go();
                }
                Ok(self.arrived_after(position)?.0)
            }
            Err(_) => Ok(arrivals),
        }
    }

    /// The arrivals with final sequences, and whether saves wait in the spool.
    fn arrived_after(&self, position: Position) -> Result<(Arrivals, bool)> {
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
            let has_waiting = snapshot.last_sequence(SEQUENCE_MAX)? > now.sequence;
            Ok((Arrivals { entries, next: Position { sequence, ..now }, has_more }, has_waiting))
        })
    }
}

impl Position {
    fn of(snapshot: &Snapshot<'_>) -> Result<Self> {
        let sequence = snapshot.last_sequence(snapshot.open.last_final())?;
        Ok(Self { identity: snapshot.open.identity, sequence })
    }
}

impl Snapshot<'_> {
    /// The highest sequence up to `up_to`, or zero if there is none.
    fn last_sequence(&self, up_to: u64) -> Result<u64> {
        let mut rows =
            self.frames().range::<FrameBytes>(..frame_rows(up_to).end).within(self.path)?;
        let last = rows.next_back().transpose().within(self.path)?;
        Ok(last.map_or(0, |(row, _)| frame_sequence(row.value())))
    }

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

    /// The first final sequences after `after`: one more than a call returns, if there are enough.
    fn sequences_after(&self, after: u64) -> Result<BTreeSet<u64>> {
        let mut sequences = BTreeSet::new();
        let last = self.open.last_final();
        if after >= last {
            return Ok(sequences);
        }
        let new = frame_row(after + 1, 0)..frame_rows(last).end;
        let rows = self.frames().range::<FrameBytes>(new).within(self.path)?;
        for row in rows {
            sequences.insert(frame_sequence(row.within(self.path)?.0.value()));
            if sequences.len() > ARRIVALS_MAX {
                break;
            }
        }
        Ok(sequences)
    }
}
