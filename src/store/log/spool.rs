//! The spool: a durable place for saves that could not have the store in time.
//!
//! It is a folder beside the store, with one file for each group of saves. The next process that
//! has the store puts each of them into the tables exactly once, before anything else. Must never
//! lose or change a file that it cannot read, never block the store because of one, and never hold
//! in plain what the store has sealed.
//!
//! # Who spools, and when files are taken in
//!
//! A save waits for 20 ms (`Options::spool_after`); then the leader of its group writes the group
//! into one file and syncs file and folder. Saves that need the tables wait as a read does: those
//! under an id of the caller's own, those with captured files, and batches with one of these. No
//! leader waits long, so they delay no other save, and no save waits for a lock that is held by a
//! waiting thread.
//!
//! The lock file tells which store this is if the handle never had it, so that a command that only
//! saves (`open_late`) need not wait. That text names device and inode too. Without this check, a
//! store that was put at the path by hand would set aside what was spooled for the store before.
//!
//! A lock holder takes files in before it reads, and in the transaction of its next save. The
//! keeper looks every 5 ms, that of a sole owner every 250 ms. While nothing is spooled, a look is
//! one `stat`: every new file changes the time of the folder. That time is trusted once it is three
//! seconds old, so a coarse clock hides nothing. So everything acknowledged before a save began has
//! a lower sequence than that save. Of saves at the same moment either may be the first, as with
//! threads. Taken-in documents become deltas like any others, and `prune_on_save` counts them in
//! the same transaction.
//!
//! # Why every file is taken in exactly once
//!
//! At least once: a file goes only after a commit that has its checkpoints is on disk, or because
//! its name is in the table `taken`, which says the same. An unreadable file is set aside, never
//! removed.
//!
//! At most once:
//!
//! 1. One durable transaction adds the checkpoints and the name to `taken`. After a crash there are
//!    both or neither.
//! 2. A file whose name is in `taken` is never added, however often it is found: because it could
//!    not be removed, a kill came between commit and removal, or a power loss undid the removal. So
//!    a checkpoint that was pruned or deleted since does not come back.
//! 3. A name leaves `taken` only after the folder was listed without its file and then synced. No
//!    crash can bring that file back.
//! 4. Names are never given out twice.
//! 5. Only the lock holder takes in, one thread at a time from the listing to the removal. So no
//!    process has read a file whose name is forgotten meanwhile.
//! 6. A spooling that failed half way may have left its file. The save then continues under its id
//!    as if the caller had chosen it, and the second of the two finds the id in the store. If that
//!    is the save, its transaction adds the file's name to `taken`, so a file that a power loss
//!    brings back does not restore what was deleted since.
//!
//! Trouble with the spool never fails a save that is stored, because a retry would store it twice.

mod folder;
mod look;
mod take_in;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::checkpoint::{Entry, Id};
use crate::codec::{Frame, KeyId, Placed, encode_spooled};
use crate::error::{Error, Result};
use crate::store::Shared;
use crate::store::engine::disk::Place;
use crate::store::engine::sealing::{Sealing, Unsealed, bytes_of};
use crate::store::options::Options;
use crate::store::save::draft::{Draft, Packed};
use crate::store::turn::enter::Patience;
use crate::store::turn::file;
use crate::sync::lock;
use folder::{Folder, Left, Listing, Stamp};
pub(in crate::store) use look::lost;
pub use look::{SetAside, Spooled};
pub(in crate::store) use take_in::Gathered;

// Documents of more than this go into several files, so that nobody has to take in much at once.
const FILE_BYTES: usize = 4 << 20;
// No file system dates changes more coarsely.
const STAMP_COARSE: Duration = Duration::from_secs(3);

// How often it is looked for a key that somebody changes just now; 5 ms each.
const SETTLING: usize = 40;

// What could not be taken in is not tried again at once.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The spool as a handle knows it.
#[derive(Debug)]
pub(in crate::store) struct Spool {
    folder: Folder,
    /// Held while files are taken in, from the listing to the removal. Taken before other locks.
    seen: Mutex<Seen>,
}

/// The key that what is spooled is sealed with, if it is; this handle has it.
struct Seals(Option<KeyId>);

/// How the folder was when it was last looked at.
#[derive(Debug, Default)]
struct Seen {
    stamp: Option<Stamp>,
    since: Option<Instant>,
    /// Nothing was there, and whatever comes will change the stamp.
    is_quiet: bool,
    /// Until then nobody tries again what could not be taken in.
    rests_until: Option<Instant>,
}

impl Spool {
    pub(in crate::store) fn of(store: &Place) -> Self {
        Self { folder: Folder::of(store), seen: Mutex::default() }
    }

    /// Forgets how the folder was, so that the next look is a thorough one.
    pub(in crate::store) fn look_anew(&self) {
        *lock(&self.seen) = Seen::default();
    }

    /// Makes it last what was removed, if there is a folder.
    pub(in crate::store) fn sync(&self) -> io::Result<()> {
        if self.folder.stamp().is_some() { self.folder.sync() } else { Ok(()) }
    }
}

impl Seen {
    /// What lies in the folder, unless that is nothing. Costs one look at the folder itself while
    /// nothing comes.
    fn news(&mut self, folder: &Folder) -> Result<Option<Listing>> {
        let stamp = folder.stamp();
        if stamp != self.stamp {
            let is_quiet = stamp.is_none();
            *self = Self { stamp, since: Some(Instant::now()), is_quiet, rests_until: None };
        }
        let rests = self.rests_until.is_some_and(|until| Instant::now() < until);
        if self.is_quiet || rests || stamp.is_none() {
            return Ok(None);
        }
        // Before the folder is read: what comes while it is, or just after, may not be seen and
        // leave the stamp as it is, unless the stamp is old.
        let is_old = self.since.is_some_and(|since| since.elapsed() > STAMP_COARSE);
        folder.check()?;
        let listing = folder.list()?;
        folder.sweep(&listing);
        self.is_quiet = is_old && listing.saved.is_empty();
        Ok((!listing.saved.is_empty()).then_some(listing))
    }

    /// Lets others do their work for a while before the same is tried again.
    fn rest(&mut self) {
        self.rests_until = Some(Instant::now() + RETRY_AFTER);
    }
}

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
    fn spool_file(
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
    fn seals(&self) -> Option<Seals> {
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
    fn standing_alone(&self, draft: &Draft, Seals(key): &Seals) -> Result<Placed, Unsealed> {
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
