//! The log of this process: where it makes saves durable while another process has the store.
//!
//! Must never acknowledge a save in a file that the next holder of the store would not find.

use std::thread;
use std::time::{Duration, Instant};

use super::Spool;
use super::folder::Folder;
use super::taken::LogName;
use crate::checkpoint::Timestamp;
use crate::codec::Placed;
use crate::store::log::journal::Journal;
use crate::sync::lock;

// The next save starts another log. While nobody saves, holders can remove this one.
pub(in crate::store) const IDLE: Duration = Duration::from_millis(200);
// Shorter than a write that is synced.
const TICK: Duration = Duration::from_micros(10);

/// A log that this process writes to. It is locked while this lives.
pub(super) struct OwnLog {
    name: LogName,
    identity: u64,
    journal: Journal,
    used: Instant,
}

/// What is left of saves that could not be made durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::store) enum Left {
    Nothing,
    /// They may be in this log, now or after a power loss.
    Perhaps(LogName),
}

impl Spool {
    /// Makes saves of the store with this identity durable, and gives them stamps. The length of
    /// them all is about `bytes`.
    pub(in crate::store) fn append(
        &self,
        (identity, now): (u64, Timestamp),
        placed: &mut [Placed],
        bytes: u64,
    ) -> Result<(), Left> {
        let mut own = lock(&self.own);
        let is_usable = own.as_ref().is_some_and(|log| log.suits(identity));
        if !is_usable {
            *own = None;
        }
        // Another process may take a log for a leftover before it is locked.
        for _ in 0..2 {
            let log = own.get_or_insert_with(|| OwnLog::new(&self.folder, identity, now));
            if self.folder.make_there().is_ok() && log.journal.prepare(bytes) {
                break;
            }
            if log.journal.last() == 0 {
                self.folder.remove_log(&log.name);
            }
            *own = None;
        }
        let Some(log) = own.as_mut() else { return Err(Left::Nothing) };
        let name = log.name.clone();
        if !self.is_own(&name) {
            *lock(&self.own_name) = Some(name.clone());
        }
        let written = log.write(&self.folder, placed);
        if written.is_none() {
            *own = None;
        }
        written.ok_or(Left::Perhaps(name))
    }

    /// Takes back the last saves that were appended, which are not acknowledged.
    pub(in crate::store) fn take_back(&self) -> Option<LogName> {
        let mut own = lock(&self.own).take()?;
        own.journal.take_back();
        let name = own.name.clone();
        if own.journal.is_new() {
            self.folder.remove_log(&name);
            let _ = self.folder.sync();
        }
        Some(name)
    }

    /// Whether this is the log of this process.
    pub(in crate::store) fn is_own(&self, name: &LogName) -> bool {
        lock(&self.own_name).as_ref() == Some(name)
    }

    /// Lets the log go if this process has not used it for a while, so that it can be removed;
    /// false if there is none any more.
    pub(in crate::store) fn let_go_if_idle(&self) -> bool {
        let mut own = lock(&self.own);
        if own.as_ref().is_some_and(|log| log.used.elapsed() >= IDLE) {
            *own = None;
        }
        own.is_some()
    }
}

impl OwnLog {
    fn new(folder: &Folder, identity: u64, now: Timestamp) -> Self {
        // Never reused: what is noted about a name stays right.
        let name = folder.next_name(now);
        let journal = Journal::log(folder.disk().clone(), folder.log(&name), name.seed(identity));
        Self { name, identity, journal, used: Instant::now() }
    }

    fn suits(&self, identity: u64) -> bool {
        self.identity == identity && !self.journal.is_full() && !self.journal.is_gone()
    }

    /// `None` if the saves may not be durable.
    fn write(&mut self, folder: &Folder, placed: &mut [Placed]) -> Option<()> {
        let disk = folder.disk();
        let first = disk.ticks().max(self.journal.last() + 1);
        for (stamp, placed) in (first..).zip(placed.iter_mut()) {
            placed.entry.sequence = stamp;
        }
        self.journal.append(placed).and_then(|()| self.journal.sync()).ok()?;
        folder.make_lasting().ok()?;
        // Its folder may be gone, too.
        if self.journal.is_gone() {
            return None;
        }
        // A save that begins after this one was acknowledged gets a later stamp.
        while disk.ticks() <= self.journal.last() {
            thread::sleep(TICK);
        }
        self.used = Instant::now();
        Some(())
    }
}

impl Drop for OwnLog {
    fn drop(&mut self) {
        self.journal.finish();
    }
}

impl std::fmt::Debug for OwnLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnLog").field("name", &self.name).finish_non_exhaustive()
    }
}
