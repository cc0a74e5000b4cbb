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
//! into one file and syncs file and folder. Saves that need the tables wait as a change does: those
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

pub(in crate::store) mod folder;
mod look;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::store::engine::disk::StorePath;
use crate::store::options::Limits;
use crate::sync::lock;
use folder::{Folder, Listing, Stamp};
pub use look::Spooled;
pub(in crate::store) use look::lost;

// Documents beyond this go into several files, so that taking one in needs little memory.
pub(in crate::store) const FILE_BYTES: usize = 4 << 20;
// The longest possible document, the rest of its file, and room to spare.
pub(in crate::store) const FILE_BYTES_MAX: u64 = 2 * Limits::DOCUMENT_BYTES_MAX as u64;
// The coarsest timestamps of any file system.
const STAMP_COARSE: Duration = Duration::from_secs(3);

// How long a file that could not be taken in is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The spool of a handle.
#[derive(Debug)]
pub(in crate::store) struct Spool {
    pub(in crate::store) folder: Folder,
    /// Held while files are taken in, from the listing to the removal. Taken before other locks.
    pub(in crate::store) seen: Mutex<FolderState>,
}

/// The state of the folder at the last look.
#[derive(Debug, Default)]
pub(in crate::store) struct FolderState {
    stamp: Option<Stamp>,
    since: Option<Instant>,
    /// The folder was empty, and any new file changes the stamp.
    is_quiet: bool,
    /// Until then no thread retries what could not be taken in.
    rests_until: Option<Instant>,
}

impl Spool {
    pub(in crate::store) fn of(store: &StorePath) -> Self {
        Self { folder: Folder::of(store), seen: Mutex::default() }
    }

    /// Forgets the state, so that the next look lists the folder.
    pub(in crate::store) fn look_anew(&self) {
        *lock(&self.seen) = FolderState::default();
    }

    /// Makes removals durable, if there is a folder.
    pub(in crate::store) fn sync(&self) -> io::Result<()> {
        if self.folder.stamp().is_some() { self.folder.sync() } else { Ok(()) }
    }
}

impl FolderState {
    /// The files in the folder, if any. Costs one `stat` of the folder while no file comes.
    ///
    /// If the files are taken in for good, this also removes what killed writers left, and skips
    /// what could not be taken in a moment ago.
    pub(in crate::store) fn news(
        &mut self,
        folder: &Folder,
        is_for_good: bool,
    ) -> Result<Option<Listing>> {
        let stamp = folder.stamp();
        if stamp != self.stamp {
            let is_quiet = stamp.is_none();
            *self = Self { stamp, since: Some(Instant::now()), is_quiet, rests_until: None };
        }
        let rests = is_for_good && self.rests_until.is_some_and(|until| Instant::now() < until);
        if self.is_quiet || rests || stamp.is_none() {
            return Ok(None);
        }
        // Read before the folder: a file that comes meanwhile, or just after, may be missed and
        // leave the stamp unchanged, unless the stamp is old.
        let is_old = self.since.is_some_and(|since| since.elapsed() > STAMP_COARSE);
        folder.check()?;
        let listing = match folder.list() {
            // This user cannot take them in, and works with the rest. A read fails instead, since
            // it would leave out acknowledged saves.
            Err(error) if is_for_good && is_forbidden(&error) => return Ok(None),
            listing => listing?,
        };
        if is_for_good {
            folder.sweep(&listing);
        }
        self.is_quiet = is_old && listing.saved.is_empty();
        Ok((!listing.saved.is_empty()).then_some(listing))
    }

    /// Delays the next try, so that other threads can work.
    pub(in crate::store) fn rest(&mut self) {
        self.rests_until = Some(Instant::now() + RETRY_AFTER);
    }
}

fn is_forbidden(error: &Error) -> bool {
    let denied = io::ErrorKind::PermissionDenied;
    matches!(error, Error::Io { source, .. } if source.kind() == denied)
}
