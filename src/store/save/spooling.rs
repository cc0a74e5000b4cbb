//! Spooling: a save that cannot have the store in time is made durable beside the store.
//!
//! Must never write plain text beside a sealed store.

use std::time::Instant;

use crate::checkpoint::Entry;
use crate::codec::{Frame, KeyId, Placed};
use crate::error::{Error, Result};
use crate::store::chain::packed::Packed;
use crate::store::engine::sealing::{Sealing, Unsealed, bytes_of};
use crate::store::log::spool::GROUP_BYTES;
use crate::store::log::spool::own::Left;
use crate::store::log::spool::taken::LogName;
use crate::store::options::Options;
use crate::store::save::draft::Draft;
use crate::store::save::shared::Shared;
use crate::store::turn::enter::Patience;
use crate::store::turn::file;

/// The key that seals spooled saves, if any; this handle has it.
pub(in crate::store) struct Seals(pub(in crate::store) Option<KeyId>);

// Names, and what else an entry has.
const ITEM_BYTES: u64 = 512;
// Retries, of 5 ms each, to read the key while another process changes it.
const SETTLING: usize = 40;

impl Draft {
    /// Whether another process can save it later: an id chosen by the caller may be taken, and
    /// captured files may exist already.
    pub(in crate::store) fn can_be_spooled(&self) -> bool {
        !self.has_own_id && self.artifacts.is_empty()
    }
}

/// An entry has no sequence before it is taken in.
fn acknowledged(placed: Placed) -> Entry {
    Entry { sequence: 0, ..placed.entry }
}

fn can_be_spooled(drafts: &[Draft]) -> Vec<usize> {
    (0..drafts.len()).filter(|at| drafts[*at].can_be_spooled()).collect()
}

impl Shared {
    /// The deadline by which a save that began at `arrived` has the store or is spooled. `None` if
    /// spooling is off, or the identity of the store is unknown.
    pub(in crate::store) fn spools_at(&self, arrived: Instant) -> Option<Instant> {
        self.turn.identity()?;
        self.waits_until(arrived)
    }

    /// Opens the file for the first time, or learns that another process has it and saves can be
    /// spooled.
    pub(in crate::store) fn enter(&self) -> Result<()> {
        let until = self.waits_until(Instant::now()).filter(|_| self.options.open_late);
        let wait = |patience| self.glance_within(patience, |_| Ok(()));
        let Some(until) = until else { return wait(Patience::Usual) };
        match wait(Patience::Until(until)) {
            Err(Error::Locked { .. }) if self.turn.learn_identity() => Ok(()),
            Err(Error::Locked { .. }) => wait(Patience::Usual),
            entered => entered,
        }
    }

    /// Whether saves of this process go to its log though it has the store: it would have to take
    /// in what others spool before each of them, so the keeper does that for all together.
    pub(in crate::store) fn saves_beside(&self) -> bool {
        self.spool.is_busy() && !self.keeper.is_absent() && self.turn.note_use()
    }

    /// `None` if nothing is spooled.
    fn waits_until(&self, arrived: Instant) -> Option<Instant> {
        let Options { wait, spool_after, .. } = &self.options;
        let at = arrived.checked_add(*spool_after)?;
        Some(arrived.checked_add(*wait).map_or(at, |over| at.min(over)))
    }

    /// Makes drafts durable without the store, and returns the entries of those that are.
    ///
    /// The others have to wait for the store.
    pub(in crate::store) fn spool(&self, drafts: &mut [Draft]) -> Vec<Option<Entry>> {
        let mut entries: Vec<Option<Entry>> = vec![None; drafts.len()];
        let Some(identity) = self.turn.identity() else { return entries };
        if file::check_there(self.turn.place()).is_err() {
            // The next holder would not find the file. Waiting for the store reports the reason.
            return entries;
        }
        let mut left = can_be_spooled(drafts);
        self.spool.pace(self.turn.path(), left.len());
        while !left.is_empty() {
            // Writing takes time, and the lock holder may change the key meanwhile.
            let Some(seals) = self.seals() else { break };
            let Some(saved) = self.spool_part((identity, &seals), drafts, &mut left) else { break };
            for (at, entry) in saved {
                entries[at] = Some(entry);
            }
        }
        for (draft, entry) in drafts.iter_mut().zip(&entries) {
            // These drafts wait for the store, and are not spooled again. The file may exist all
            // the same, so the second save must notice the first.
            draft.has_own_id |= draft.can_be_spooled() && entry.is_none();
        }
        entries
    }

    /// Appends the first drafts left to the log of this process, and returns the entries of those
    /// that are durable now; `None` if one cannot be sealed.
    pub(in crate::store) fn spool_part(
        &self,
        (identity, seals): (u64, &Seals),
        drafts: &mut [Draft],
        left: &mut Vec<usize>,
    ) -> Option<Vec<(usize, Entry)>> {
        let part = self.part(drafts, left, seals)?;
        let (part, mut alone): (Vec<usize>, Vec<Placed>) = part.into_iter().unzip();
        match self.append(identity, &mut alone, seals) {
            Ok(()) => Some(part.into_iter().zip(alone.into_iter().map(acknowledged)).collect()),
            Err(left) => {
                // The save waits for the store. The caller should learn why it is slow.
                self.spool.folder.check().unwrap_or_else(|error| self.tell(error));
                for (at, placed) in part.into_iter().zip(alone) {
                    let row = |log: &LogName| log.left(placed.entry.sequence);
                    drafts[at].left = left.as_ref().map(row);
                }
                Some(Vec::new())
            }
        }
    }

    /// Appends a group; on failure returns the log that may have some of it all the same.
    fn append(
        &self,
        identity: u64,
        alone: &mut [Placed],
        seals: &Seals,
    ) -> Result<(), Option<LogName>> {
        let bytes = alone.iter().map(|placed| placed.frame.len() as u64 + ITEM_BYTES).sum();
        let now = (self.options.clock)();
        match self.spool.append((identity, now), alone, bytes) {
            Ok(()) if self.stays(seals) => {
                self.keeper.note_log();
                Ok(())
            }
            Ok(()) => Err(self.spool.take_back()),
            Err(Left::Perhaps(log)) => Err(Some(log)),
            Err(Left::Nothing) => Err(None),
        }
    }

    /// Whether what was appended may stay, since the store still uses the key that seals it.
    ///
    /// A rekey first changes the lock file, and then takes in what is there. So it takes in
    /// everything earlier. What came later under the old key could not be read with the new one.
    fn stays(&self, Seals(key): &Seals) -> bool {
        let mut looks = (0..SETTLING).map(|_| self.turn.learn_sealing());
        let now = looks.find(|sealing| *sealing != Sealing::Unknown);
        now == Some(Sealing::from(*key))
    }

    /// How spooled saves are sealed, as the store is; `None` if that is unknown, or if this handle
    /// could not save there: then opening the store reports why.
    pub(in crate::store) fn seals(&self) -> Option<Seals> {
        let keys = self.frames.keys();
        match self.turn.learn_sealing() {
            Sealing::With(id) => keys.get(id).map(|_| Seals(Some(id))),
            Sealing::Plain => keys.first().is_none().then_some(Seals(None)),
            Sealing::Unknown => None,
        }
    }

    /// Takes the first drafts that fill a group; `None` if one cannot be sealed: then opening the
    /// store reports why.
    fn part(
        &self,
        drafts: &[Draft],
        left: &mut Vec<usize>,
        seals: &Seals,
    ) -> Option<Vec<(usize, Placed)>> {
        let mut part = Vec::new();
        let mut bytes = 0;
        while bytes < GROUP_BYTES && !left.is_empty() {
            let at = left.remove(0);
            let placed = self.standing_alone(&drafts[at], seals).ok()?;
            bytes += drafts[at].raw.len();
            part.push((at, placed));
        }
        Some(part)
    }

    /// A checkpoint without a place: it gets one when it is taken in.
    pub(in crate::store) fn standing_alone(
        &self,
        draft: &Draft,
        Seals(key): &Seals,
    ) -> Result<Placed, Unsealed> {
        let packed = draft.packed.as_ref().filter(|packed| packed.base.is_none());
        let sealed = |frame: &Frame| bytes_of(&self.frames, frame, (0, None), *key);
        let frame = match packed {
            Some(packed) => sealed(&packed.frame)?,
            None => sealed(&Packed::alone(&self.frames, &draft.raw).frame)?,
        };
        let entry = Entry { stored_bytes: frame.len() as u64, ..draft.entry.clone() };
        Ok(Placed { entry, frame })
    }
}
