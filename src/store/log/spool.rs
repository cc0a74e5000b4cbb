//! The spool: a durable place for saves that could not have the store in time.
//!
//! It is a folder beside the store with *logs*. A log is a journal that one process writes. The
//! process that has the store puts each save of a log into the tables exactly once, before anything
//! else. Must never lose or change a save that it cannot read, never block the store because of
//! one, and never hold in plain what the store has sealed.
//!
//! # Who spools, and when logs are taken in
//!
//! A save that finds the store held by another process goes to the log of its own process: one
//! append and one sync. `Options::spool_after` lets it wait for the turn first. Saves that need the
//! tables wait as a change does: those under an id of the caller's own, those with captured files,
//! and batches with one of these. While several processes save at once, the holder's saves go to
//! its log, too: otherwise it would take in what the others spooled before each of its own.
//!
//! The lock file tells which store this is if the handle never had it, so that a command that only
//! saves (`open_late`) need not wait. That text names device and inode too. Without this check, a
//! store that was put at the path by hand would set aside what was spooled for the store before.
//!
//! A lock holder takes in what is in the logs before it reads, and in the transaction of its next
//! save. The keeper looks every 5 ms, every millisecond while others spool often, and that of a
//! sole owner every 250 ms. A process that has spooled eight saves since the last durable commit
//! waits for the next commit, for 5 ms at most (`pace.rs`). So there is never much to
//! take in, and a stopped holder stops nobody.
//!
//! While there is no log, a look is one `stat`: every new file changes the time of the folder. That
//! time is trusted once it is three seconds old, so a coarse clock hides nothing. Each log costs a
//! `stat` and two short reads where it ended.
//!
//! # Why a log can be trusted
//!
//! A log has the format of the journal, and the same code reads it. The sum of its first item is
//! seeded with the identity of the store and the name of the log. The mark behind the last item
//! shows damage before that; when a process lets its log go, a last mark shows damage to the last
//! group, too. A process holds a lock on its log while it writes to it, and uses it no more after a
//! failed write or sync, after 1 MiB, or when it has not saved for 200 ms. Before a save is
//! acknowledged, the process checks that the log is still at its path.
//!
//! # Why the order is right
//!
//! Everything acknowledged before a save began has a lower sequence than that save. Of saves at the
//! same moment either may be the first, as with threads.
//!
//! Each item has a *stamp* in the place of the sequence: the time of a clock that all processes of
//! one boot share and that is never set. It is read when the save is appended. The save is
//! acknowledged only once the clock shows a later time. So a stamp lies between the beginning of
//! its save and the acknowledgement, and stamps rise in a log.
//!
//! 1. If A was acknowledged before B began, A has the lower stamp. Saves are taken in by stamps.
//! 2. The taker reads the clock before it lists the folder and reads the first log. This is the
//!    *cut*: it takes in only what has a lower stamp. If B has one, and A was acknowledged before B
//!    began, then A was in its log before anything was read. So A is taken in before B.
//! 3. A call of the taker that began before the cut sees all that was acknowledged before.
//! 4. Logs of earlier boots come first, and the cut does not concern them: their writers have
//!    ended. Boots are in the order of the names of their logs. The name of a log is later than all
//!    names in the folder. It has the boot, and the time at which the log was started.
//!
//! Limit: if the system does not tell the boot, or two systems share the folder, nothing is lost,
//! but saves of different boots may be taken in in another order.
//!
//! Taken-in documents become deltas like any others, and `prune_on_save` counts them in the same
//! transaction.
//!
//! # Why every save is taken in exactly once
//!
//! At least once: a log goes only after a commit that has all of its checkpoints is on disk, and no
//! process holds it. Whether a process holds it is checked before its end is read. A damaged log is
//! copied to the folder `aside`, and what can be read of it is taken in; a foreign one is moved
//! there. A save that this handle cannot read stops its log at that place.
//!
//! At most once:
//!
//! 1. One durable transaction adds the checkpoints of a log and notes the stamp of the last one in
//!    `taken`. After a crash there are both or neither.
//! 2. A save with no later stamp than its log has in `taken` is never added, however often it is
//!    found: because its log could not be removed yet, or a power loss undid the removal. So a
//!    checkpoint that was pruned or deleted since does not come back.
//! 3. A row leaves `taken` only after the folder was listed without its log and then synced. No
//!    crash can bring that log back.
//! 4. Names are never given out twice.
//! 5. Only the lock holder takes in, one thread at a time from the listing to the removal. So no
//!    process has read a log whose row is forgotten meanwhile.
//! 6. A save whose append failed may be in the log all the same. It then continues under its id as
//!    if the caller had chosen it, and the second of the two finds the id in the store. If that is
//!    the save, its transaction adds its log and stamp to `taken`. So a log that a power loss
//!    brings back does not restore what was deleted since.
//!
//! Earlier builds wrote one file for each group of saves. Such files are taken in before logs; a
//! file whose name is in `taken` is not.
//!
//! Trouble with the spool never fails a save that is stored, because a retry would store it twice.

pub(in crate::store) mod folder;
pub(in crate::store) mod logs;
mod look;
pub(in crate::store) mod own;
mod pace;
pub(in crate::store) mod taken;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::store::engine::disk::StorePath;
use crate::store::options::Limits;
use crate::sync::lock;
use folder::{Folder, Listing, Stamp};
pub use look::Spooled;
pub(in crate::store) use look::lost;
use own::OwnLog;
use pace::Pace;
use taken::LogName;

// Documents beyond this go into several groups.
pub(in crate::store) const GROUP_BYTES: usize = 4 << 20;
// The longest possible document, the rest of its file, and room to spare.
pub(in crate::store) const BYTES_MAX: u64 = 2 * Limits::DOCUMENT_BYTES_MAX as u64;
// The coarsest timestamps of any file system.
const STAMP_COARSE: Duration = Duration::from_secs(3);

// Fewer at once come from one process that saves now and then.
const BUSY_SAVES: usize = 2;
// A few durable commits.
const BUSY_MICROS: u64 = 50_000;

// How long a file that could not be taken in is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The spool of a handle.
#[derive(Debug)]
pub(in crate::store) struct Spool {
    pub(in crate::store) folder: Folder,
    /// Held while files are taken in, from the listing to the removal. Taken before other locks.
    pub(in crate::store) seen: Mutex<FolderState>,
    own: Mutex<Option<OwnLog>>,
    /// The name of the last log of this process.
    own_name: Mutex<Option<LogName>>,
    pace: Mutex<Pace>,
    /// Until then other processes are likely to spool more, in ticks of the disk.
    busy_until: AtomicU64,
}

/// The state of the folder at the last look.
#[derive(Debug, Default)]
pub(in crate::store) struct FolderState {
    stamp: Option<Stamp>,
    since: Option<Instant>,
    /// What was in the folder, once any new file changes the stamp.
    sure: Option<Listing>,
    /// Until then no thread retries what could not be taken in.
    rests_until: Option<Instant>,
}

impl Spool {
    pub(in crate::store) fn of(store: &StorePath) -> Self {
        Self {
            folder: Folder::of(store),
            seen: Mutex::default(),
            own: Mutex::default(),
            own_name: Mutex::default(),
            pace: Mutex::default(),
            busy_until: AtomicU64::new(0),
        }
    }

    /// Forgets the state, so that the next look lists the folder.
    pub(in crate::store) fn look_anew(&self) {
        *lock(&self.seen) = FolderState::default();
    }

    /// Notes how many saves of other processes were taken in together.
    pub(in crate::store) fn note_others(&self, saves: usize) {
        if saves >= BUSY_SAVES {
            let until = self.folder.disk().ticks() + BUSY_MICROS;
            self.busy_until.store(until, Ordering::Relaxed);
        }
    }

    /// Whether other processes spool often.
    pub(in crate::store) fn is_busy(&self) -> bool {
        let until = self.busy_until.load(Ordering::Relaxed);
        until > 0 && self.folder.disk().ticks() < until
    }

    /// Makes removals durable, if there is a folder.
    pub(in crate::store) fn sync(&self) -> io::Result<()> {
        if self.folder.stamp().is_some() { self.folder.sync() } else { Ok(()) }
    }
}

impl FolderState {
    /// What lies in the folder, if anything. Costs one `stat` of the folder while no file comes.
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
            *self = Self { stamp, since: Some(Instant::now()), sure: None, rests_until: None };
        }
        let rests = is_for_good && self.rests_until.is_some_and(|until| Instant::now() < until);
        if rests || stamp.is_none() {
            return Ok(None);
        }
        if let Some(sure) = &self.sure {
            return Ok((!sure.is_empty()).then(|| sure.clone()));
        }
        // Read before the folder: a file that comes meanwhile, or just after, may be missed and
        // leave the stamp unchanged, unless the stamp is old.
        let is_old = self.since.is_some_and(|since| since.elapsed() > STAMP_COARSE);
        folder.check()?;
        let listing = folder.list()?;
        if is_for_good {
            folder.sweep(&listing);
        }
        self.sure = is_old.then(|| listing.clone());
        Ok((!listing.is_empty()).then_some(listing))
    }

    /// Delays the next try, so that other threads can work.
    pub(in crate::store) fn rest(&mut self) {
        self.rests_until = Some(Instant::now() + RETRY_AFTER);
    }
}
