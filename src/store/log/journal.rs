//! The journal: where a save is made durable by one short write, before the tables have it.
//!
//! A commit of the engine writes some sixteen pages here and there; a loop that saves often is
//! better served by a file beside the store that is written from front to back. What is in it is
//! put into the tables soon after, many saves at a time. Once a durable commit has them, the
//! journal starts over from the front. Each item's sum is seeded with that of the item before, so
//! old content behind the new, or between, is never taken for its continuation.
//!
//! The logs of the spool are journals, too: see the page of `spool`. Their items have stamps where
//! those of a journal have sequences, and they never start over.
//!
//! Must never pass over an item that was on disk once: what cannot be read then is an error.

mod followed;
mod foreign;
pub(in crate::store) mod item;
mod left;
mod mark;
mod reserve;
mod runs;
mod scan;
#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::codec::Placed;
use crate::error::{At, Result};
use crate::store::chain::choice::CHAIN_STEPS_MAX;
use crate::store::engine::disk::{Disk, DiskFile, FileId, write_zeros};
use crate::store::engine::location;
pub(in crate::store) use followed::Followed;
pub(in crate::store) use foreign::clear_place;
use foreign::set_aside;
use item::{HEADER_BYTES, MAGIC};
pub(in crate::store) use item::{frame, identified};
use left::is_begun;
pub(in crate::store) use left::look;
use mark::Mark;
pub(in crate::store) use reserve::{cut, room_for};
use runs::Runs;
pub(in crate::store) use scan::scan;

/// Beyond this length the content is put into the tables durably.
const BYTES_MAX: u64 = 4 << 20;
/// Beyond this number of items, too: a process that only reads puts all of them into its tables,
/// half of them in 10 ms.
const ITEMS_MAX: usize = 8192;
// A reader without a turn reads all logs from their fronts.
const LOG_BYTES_MAX: u64 = 1 << 20;
// A full journal and one group of the largest size, with room to spare. A longer file is refused,
// so the reserve ends here, too.
pub(in crate::store) const FILE_BYTES_MAX: u64 = 8 * BYTES_MAX;
// Allocated blocks make a sync cheaper than blocks that the file system must find.
const GROW_BYTES: u64 = 256 << 10;
// A larger buffer is kept for the next group only if most groups are as large.
const SCRATCH_BYTES_MAX: usize = 1 << 20;

const OF_ANOTHER: &str = "it is the journal of another store";
const STRANGE: &str = "it is not a journal";

/// The journal of this process. The file is made when it is first needed.
pub(in crate::store) struct Journal {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// Identity of the store; content of another store is ignored.
    identity: u64,
    file: Option<Box<dyn DiskFile>>,
    /// Identifies the file; `None` if the system cannot.
    id: Option<FileId>,
    /// A file that was in the way of this journal: where it is now, and what it is.
    aside: Option<(PathBuf, &'static str)>,
    /// Where the next item goes.
    end: u64,
    /// Where the last group of items begins.
    before: u64,
    /// The sum of the last item, or the identity if there is none.
    chain: u64,
    /// Everything before this byte is on disk, and has not been changed since.
    synced: u64,
    /// How many items there are.
    items: usize,
    /// The last sequence that was added.
    last: u64,
    runs: Runs,
    /// Zeros were written up to here, so that a sync need not write the allocation of blocks.
    zeroed: u64,
    /// Blocks are allocated up to here: the reserve follows the zeros.
    allocated: u64,
    /// After a failed write or sync nothing written later is reliable.
    has_failed: bool,
    /// Reused write buffer: fresh memory of this size costs page faults.
    scratch: Vec<u8>,
    usage: Usage,
}

/// What a journal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usage {
    Store,
    /// A store that is open in memory: the file at the path must not be changed.
    Detached,
    /// A log of the spool: locked while it is open, and without a reserve.
    Log,
}

impl Journal {
    pub(in crate::store) fn new(disk: Arc<dyn Disk>, path: PathBuf, identity: u64) -> Self {
        Self {
            disk,
            path,
            identity,
            file: None,
            id: None,
            aside: None,
            end: HEADER_BYTES as u64,
            before: HEADER_BYTES as u64,
            chain: identity,
            synced: 0,
            items: 0,
            last: 0,
            runs: Runs::default(),
            zeroed: 0,
            allocated: 0,
            has_failed: false,
            scratch: Vec::new(),
            usage: Usage::Store,
        }
    }

    /// A log of the spool, whose name no other file ever has.
    pub(in crate::store) fn log(disk: Arc<dyn Disk>, path: PathBuf, seed: u64) -> Self {
        Self { usage: Usage::Log, ..Self::new(disk, path, seed) }
    }

    /// The journal of a store that is open in memory: never written, and the file at the path
    /// stays.
    pub(in crate::store) fn detached(disk: Arc<dyn Disk>, path: PathBuf, identity: u64) -> Self {
        Self { usage: Usage::Detached, ..Self::new(disk, path, identity) }
    }

    /// Whether there is a file to write to.
    pub(in crate::store) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Where its content ends.
    #[cfg(test)]
    pub(in crate::store) fn end(&self) -> u64 {
        self.end
    }

    /// The last sequence that was added, or zero.
    pub(in crate::store) fn last(&self) -> u64 {
        self.last
    }

    /// Whether content of this length should go to the tables at once.
    pub(in crate::store) fn is_too_much(bytes: u64) -> bool {
        bytes > BYTES_MAX / 2
    }

    /// Whether it should start over before more is added.
    pub(in crate::store) fn is_full(&self) -> bool {
        let bytes_max = match self.usage {
            Usage::Store | Usage::Detached => BYTES_MAX,
            Usage::Log => LOG_BYTES_MAX,
        };
        self.end >= self.disk.journal_bytes(bytes_max) || self.items >= ITEMS_MAX
    }

    /// Makes the file with room for content of about this length; false if that fails.
    ///
    /// Then nothing is lost: the tables can still take the content.
    pub(in crate::store) fn prepare(&mut self, bytes: u64) -> bool {
        let is_ready = !self.has_failed && self.make().and_then(|()| self.grow(bytes)).is_ok();
        self.has_failed |= !is_ready;
        is_ready
    }

    /// Adds content; [`Journal::sync`] makes it durable.
    pub(in crate::store) fn append(&mut self, placed: &[Placed]) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        let mut chain = self.chain;
        for placed in placed {
            chain = frame(placed, chain, &mut bytes);
        }
        let end = self.end + bytes.len() as u64;
        let last = placed.last().map_or(self.last, |placed| placed.entry.sequence);
        // An end mark that cannot be mistaken for old content.
        Mark { synced: self.synced, last }.encode(end, self.identity, &mut bytes);
        self.attempt(|journal| journal.write(&bytes))?;
        self.before = self.end;
        (self.end, self.chain, self.last) = (end, chain, last);
        self.items += placed.len();
        for placed in placed {
            self.runs.add(placed);
        }
        bytes.shrink_to(SCRATCH_BYTES_MAX);
        self.scratch = bytes;
        Ok(())
    }

    /// Whether a delta to this sequence would be too far from what the tables had when the journal
    /// started over.
    pub(in crate::store) fn is_far(&self, base: u64) -> bool {
        self.runs.to(base) >= CHAIN_STEPS_MAX
    }

    /// Writes down that all content is on disk, so that damage to its end does not look like a torn
    /// write.
    pub(in crate::store) fn finish(&self) {
        if self.has_failed || self.items == 0 || self.synced != self.end {
            return;
        }
        let mut bytes = Vec::new();
        Mark { synced: self.end, last: self.last }.encode(self.end, self.identity, &mut bytes);
        let _ = self.file.as_ref().map(|file| file.write_at(&bytes, self.end));
    }

    /// Whether nothing was ever added but what was appended last.
    pub(in crate::store) fn is_new(&self) -> bool {
        self.before == HEADER_BYTES as u64
    }

    /// Takes back what was appended last, and accepts nothing more.
    pub(in crate::store) fn take_back(&mut self) {
        self.has_failed = true;
        if let Some(file) = &self.file
            && file.set_length(self.before).is_ok()
        {
            let _ = file.sync();
        }
    }

    /// Makes all content durable.
    pub(in crate::store) fn sync(&mut self) -> Result<()> {
        self.attempt(|journal| journal.file.as_ref().map_or(Ok(()), |file| file.sync()))?;
        self.synced = self.end;
        Ok(())
    }

    /// Starts over: the tables have everything, and that is on disk.
    pub(in crate::store) fn reset(&mut self) {
        if self.has_failed {
            return self.remove();
        }
        self.end = HEADER_BYTES as u64;
        self.chain = self.identity;
        self.synced = 0;
        self.items = 0;
        self.runs.clear();
    }

    /// Removes the file: the tables have everything, and that is on disk.
    ///
    /// If this fails, the file holds nothing that the tables lack. Another file that took its place
    /// meanwhile stays.
    pub(in crate::store) fn remove(&mut self) {
        if self.usage == Usage::Detached {
            return;
        }
        let is_left = match &self.file {
            Some(_) => !self.is_gone(),
            None => matches!(self.stranger(), Ok(None)),
        };
        *self = Self::new(self.disk.clone(), std::mem::take(&mut self.path), self.identity);
        if is_left {
            let _ = self.disk.remove(&self.path);
        }
    }

    /// Removes the file that was read when the store was opened.
    pub(in crate::store) fn remove_left(&self) {
        let _ = self.disk.remove(&self.path);
    }

    /// Whether the file is no longer at its path: its content would be lost with this process.
    pub(in crate::store) fn is_gone(&self) -> bool {
        let is_at = || location::is_at(self.disk.as_ref(), self.id, &self.path);
        self.file.is_some() && !matches!(is_at(), Ok(true))
    }

    /// What was last moved out of the way, returned once: where it is now, and what it is.
    pub(in crate::store) fn aside(&mut self) -> Option<(PathBuf, &'static str)> {
        self.aside.take()
    }

    /// The kind of the file at the path, if it is not the journal of this store.
    fn stranger(&self) -> io::Result<Option<(String, &'static str)>> {
        let file = match self.disk.open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut header = [0; HEADER_BYTES];
        let length =
            usize::try_from(file.length()?).map_or(HEADER_BYTES, |it| it.min(HEADER_BYTES));
        file.read_at(&mut header[..length], 0)?;
        Ok(match identified(&header) {
            Some((identity, _)) if identity == self.identity => None,
            Some((other, _)) => Some((format!("{other:016x}"), OF_ANOTHER)),
            None if is_begun(&header) => None,
            None => Some(("strange".to_owned(), STRANGE)),
        })
    }

    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<()> {
        let result = if self.has_failed {
            Err(io::Error::other("an earlier write failed; the store is opened anew"))
        } else {
            work(self)
        };
        // The kernel reports a failed write once, and then forgets what it could not write.
        self.has_failed |= result.is_err();
        result.at(&self.path)
    }

    fn make(&mut self) -> io::Result<()> {
        if self.file.is_some() {
            return Ok(());
        }
        if self.usage == Usage::Detached {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if let Some((suffix, reason)) = self.stranger()? {
            let aside = set_aside(self.disk.as_ref(), &self.path, &suffix);
            self.aside = Some((aside.map_err(io::Error::other)?, reason));
        }
        // A leftover that could not be removed before. Its marks must not count for this journal,
        // and a power loss may undo its truncation.
        match self.disk.remove(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = match self.usage {
            Usage::Log => self.disk.create_held(&self.path)?,
            Usage::Store | Usage::Detached => self.disk.create(&self.path)?,
        };
        self.id = file.id()?;
        let mut header = [0; HEADER_BYTES];
        header[..MAGIC.len()].copy_from_slice(MAGIC);
        header[MAGIC.len()..].copy_from_slice(&self.identity.to_le_bytes());
        file.write_at(&header, 0)?;
        self.disk.sync_directory(location::parent(&self.path))?;
        self.file = Some(file);
        Ok(())
    }

    fn grow(&mut self, bytes: u64) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let end = self.end + bytes;
        let is_log = self.usage == Usage::Log;
        if is_log && self.items == 0 {
            // A process that saves once needs no room for more.
            return Ok(());
        }
        let wanted = (end + room_for(end)).next_multiple_of(GROW_BYTES).min(FILE_BYTES_MAX);
        if wanted > self.allocated && !is_log {
            file.allocate(self.allocated.max(self.end), wanted)?;
            self.allocated = wanted;
        }
        let wanted = end.next_multiple_of(GROW_BYTES);
        if wanted > self.zeroed {
            write_zeros(file.as_ref(), self.zeroed.max(self.end), wanted)?;
            self.zeroed = wanted;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.make()?;
        self.grow(bytes.len() as u64)?;
        self.file.as_ref().map_or(Ok(()), |file| file.write_at(bytes, self.end))
    }
}
