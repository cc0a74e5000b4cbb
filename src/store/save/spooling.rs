//! Spooling: a save that cannot have the store in time is made durable beside the store.
//!
//! Must never write plain text beside a sealed store.

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

/// The key that seals spooled saves, if any; this handle has it.
pub(in crate::store) struct Seals(pub(in crate::store) Option<KeyId>);

// Retries, of 5 ms each, to read the key while another process changes it.
const SETTLING: usize = 40;

impl Draft {
    /// Whether another process can save it later: an id chosen by the caller may be taken, and
    /// captured files may exist already.
    pub(in crate::store) fn can_be_spooled(&self) -> bool {
        !self.has_own_id && self.artifacts.is_empty()
    }
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
        while !left.is_empty() {
            // Writing a file takes time, and the lock holder may change the key meanwhile.
            let Some(seals) = self.seals() else { break };
            let Some(saved) = self.spool_file((identity, &seals), drafts, &mut left) else { break };
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

    /// Makes one file of the first drafts left, and returns the entries of those that are durable
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
                // The save waits for the store. The caller should learn why it is slow.
                self.spool.folder.check().unwrap_or_else(|error| self.tell(error));
                for at in part {
                    drafts[at].left.clone_from(&name);
                }
                Some(Vec::new())
            }
        }
    }

    /// Writes a file; on failure returns the name of the file that may exist all the same.
    fn put(&self, identity: u64, alone: &[Placed], seals: &Seals) -> Result<(), Option<Id>> {
        let put = || {
            // Never reused: a name noted as taken in stays noted.
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

    /// Whether a file may stay, since the store still uses the key that seals it.
    ///
    /// A rekey first changes the lock file, and then takes in what is there. So it takes in every
    /// earlier file. A later file under the old key could not be read with the new key alone.
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

    /// Takes the first drafts that fill a file; `None` if one cannot be sealed: then opening the
    /// store reports why.
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
