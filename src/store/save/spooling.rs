//! Spooling: a save that cannot have the store in time is made durable beside it.
//!
//! Must never have in plain what the store has sealed.

use std::time::Instant;

use crate::checkpoint::{Entry, Id};
use crate::codec::{Frame, KeyId, Placed, encode_spooled};
use crate::error::{Error, Result};
use crate::store::chain::packed::Packed;
use crate::store::engine::sealing::{Sealing, Unsealed, bytes_of};
use crate::store::log::spool::FILE_BYTES;
use crate::store::log::spool::folder::Left;
use crate::store::options::Options;
use crate::store::save::draft::Draft;
use crate::store::save::shared::Shared;
use crate::store::turn::enter::Patience;
use crate::store::turn::file;

/// The key that what is spooled is sealed with, if it is; this handle has it.
pub(in crate::store) struct Seals(pub(in crate::store) Option<KeyId>);

// How often it is looked for a key that somebody changes just now; 5 ms each.
const SETTLING: usize = 40;

impl Draft {
    /// Whether it can be saved by somebody else later: an id of the caller's own may be taken, and
    /// captured files may be there already.
    pub(in crate::store) fn can_be_spooled(&self) -> bool {
        !self.has_own_id && self.artifacts.is_empty()
    }
}

fn can_be_spooled(drafts: &[Draft]) -> Vec<usize> {
    (0..drafts.len()).filter(|at| drafts[*at].can_be_spooled()).collect()
}

impl Shared {
    /// By when a save that began at `arrived` has the store or is spooled, if that is wanted and
    /// it is known which store this is.
    pub(in crate::store) fn spools_at(&self, arrived: Instant) -> Option<Instant> {
        self.turn.identity()?;
        self.waits_until(arrived)
    }

    /// Opens the file for the first time, or learns that others have it and saves can be spooled.
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
            // The next holder would not find it. Waiting for the store instead reports the reason.
            return entries;
        }
        let mut left = can_be_spooled(drafts);
        while !left.is_empty() {
            // A file takes its time, and whoever has the store may change its key meanwhile.
            let Some(seals) = self.seals() else { break };
            let Some(saved) = self.spool_file((identity, &seals), drafts, &mut left) else { break };
            for (at, entry) in saved {
                entries[at] = Some(entry);
            }
        }
        for (draft, entry) in drafts.iter_mut().zip(&entries) {
            // They wait for the store, and do not come back here at once. A file may be there all
            // the same, so whoever is second must notice.
            draft.has_own_id |= draft.can_be_spooled() && entry.is_none();
        }
        entries
    }

    /// Makes one file of the first that are left, and returns the entries of those that are durable
    /// now; `None` if one cannot be sealed.
    pub(in crate::store) fn spool_file(
        &self,
        (identity, seals): (u64, &Seals),
        drafts: &mut [Draft],
        left: &mut Vec<usize>,
    ) -> Option<Vec<(usize, Entry)>> {
        let part = self.part(drafts, left, seals)?;
        let (part, alone): (Vec<usize>, Vec<Placed>) = part.into_iter().unzip();
        match self.put(identity, &alone, seals) {
            Ok(()) => Some(part.into_iter().zip(alone.into_iter().map(|it| it.entry)).collect()),
            Err(name) => {
                // The save waits for the store; the caller should know why it is slow.
                self.spool.folder.check().unwrap_or_else(|error| self.tell(error));
                for at in part {
                    drafts[at].left.clone_from(&name);
                }
                Some(Vec::new())
            }
        }
    }

    /// Writes a file; if that fails, returns the name of the one that may be there all the same.
    fn put(&self, identity: u64, alone: &[Placed], seals: &Seals) -> Result<(), Option<Id>> {
        let put = || {
            // Never twice the same: a name that is noted as taken in stays so.
            let name = self.spool.folder.next_name((self.options.clock)());
            let put = self.spool.folder.put(&name, &encode_spooled(identity, &name, alone));
            match put {
                Ok(()) if self.stays(seals) => Ok(()),
                Ok(()) => {
                    self.spool.folder.remove(&name);
                    let _ = self.spool.folder.sync();
                    Err((Left::Perhaps, name))
                }
                Err(left) => Err((left, name)),
            }
        };
        let put = match put() {
            Err((Left::Swept, _)) => put(),
            other => other,
        };
        put.map_err(|(left, name)| (left == Left::Perhaps).then_some(name))
    }

    /// Whether a file may stay, since the store still has the key that it is sealed with.
    ///
    /// Whoever changes the key says so first and takes in what there is after that: a file that was
    /// there before is taken in, and one that comes later could be read by nobody who has the new
    /// key alone.
    fn stays(&self, Seals(key): &Seals) -> bool {
        let mut looks = (0..SETTLING).map(|_| self.turn.learn_sealing());
        let now = looks.find(|sealing| *sealing != Sealing::Unknown);
        now == Some(Sealing::from(*key))
    }

    /// What is spooled is sealed with, as the store is; `None` if that is not known, or if this
    /// handle could not save there: whoever has the store says why.
    pub(in crate::store) fn seals(&self) -> Option<Seals> {
        let keys = self.frames.keys();
        match self.turn.learn_sealing() {
            Sealing::With(id) => keys.get(id).map(|_| Seals(Some(id))),
            Sealing::Plain => keys.first().is_none().then_some(Seals(None)),
            Sealing::Unknown => None,
        }
    }

    /// Takes the first drafts that make up a file; `None` if one cannot be sealed, and whoever has
    /// the store says why.
    fn part(
        &self,
        drafts: &[Draft],
        left: &mut Vec<usize>,
        seals: &Seals,
    ) -> Option<Vec<(usize, Placed)>> {
        let mut part = Vec::new();
        let mut bytes = 0;
        while bytes < FILE_BYTES && !left.is_empty() {
            let at = left.remove(0);
            let placed = self.standing_alone(&drafts[at], seals).ok()?;
            bytes += drafts[at].raw.len();
            part.push((at, placed));
        }
        Some(part)
    }

    /// A checkpoint without a place: which one it gets is known when it is taken in.
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
