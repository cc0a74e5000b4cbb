//! The journal: where a save is made durable by one short write, before the tables have it.
//!
//! A commit of the engine writes some sixteen pages here and there; a loop that saves often is
//! better served by a file beside the store that is written from front to back. What is in it is
//! put into the tables soon after, many saves at a time. Once a durable commit has them, the
//! journal starts over from the front. Each item's sum is seeded with that of the item before, so
//! old content behind the new, or between, is never taken for its continuation.
//!
//! Must never pass over an item that was on disk once: what cannot be read then is an error.

mod foreign;
mod mark;
mod reserve;
mod scan;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::codec::{Placed, check};
use crate::error::{At, Damage, Error, Result};
use crate::store::engine::disk::{Disk, DiskFile, FileId, write_zeros};
use crate::store::engine::location;
use crate::store::engine::sectors::{Sectors, Unreadable};
pub(in crate::store) use foreign::clear_place;
use foreign::{Foreign, set_aside};
use mark::Mark;
pub(in crate::store) use reserve::{cut, room_for};
pub(in crate::store) use scan::scan;

/// Content beyond this is put into the tables for good.
const BYTES_MAX: u64 = 4 << 20;
// Full, and a group of the largest size behind it, with room to spare. A longer file is refused, so
// the reserve ends here, too.
const FILE_BYTES_MAX: u64 = 8 * BYTES_MAX;
// Blocks that are there already make a sync cheaper than ones that the file system has to find.
const GROW_BYTES: u64 = 256 << 10;
// More is kept for the next group only if most groups are as large.
const SCRATCH_BYTES_MAX: usize = 1 << 20;
const MAGIC: &[u8; 8] = b"waypostj";
const HEADER_BYTES: usize = 16;
const HEAD_BYTES: usize = 12;

const OF_ANOTHER: &str = "it is the journal of another store";
const STRANGE: &str = "it is not a journal";

/// A journal that this process writes. Made only when it is first needed.
pub(in crate::store) struct Journal {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// Of the store; content of another one does not count.
    identity: u64,
    file: Option<Box<dyn DiskFile>>,
    /// Identifies the file; `None` where the system cannot.
    id: Option<FileId>,
    /// A file that was in the way of this journal: where it was moved to, and what it is.
    aside: Option<(PathBuf, &'static str)>,
    /// Where the next content goes.
    end: u64,
    /// The sum of the last item, or the identity if there is none.
    chain: u64,
    /// All before this byte is on disk, and has not been changed since.
    synced: u64,
    /// The last sequence that was added.
    last: u64,
    /// Blocks up to here have been written, so that a sync need not write their allocation.
    zeroed: u64,
    /// The file has blocks up to here: the reserve follows the zeros.
    allocated: u64,
    /// After a failed write or sync nothing that is written behind can be relied on.
    has_failed: bool,
    /// What is about to be written, reused: fresh memory of this size costs page faults.
    scratch: Vec<u8>,
    /// The file at the path is not ours to change.
    is_detached: bool,
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
            chain: identity,
            synced: 0,
            last: 0,
            zeroed: 0,
            allocated: 0,
            has_failed: false,
            scratch: Vec::new(),
            is_detached: false,
        }
    }

    /// The journal of a store that is open in memory: never written, and the file at the path
    /// stays.
    pub(in crate::store) fn detached(disk: Arc<dyn Disk>, path: PathBuf, identity: u64) -> Self {
        Self { is_detached: true, ..Self::new(disk, path, identity) }
    }

    /// Whether there is a file to write to already.
    pub(in crate::store) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Where its content ends.
    #[cfg(test)]
    pub(in crate::store) fn end(&self) -> u64 {
        self.end
    }

    /// Whether content of this length is better put into the tables at once.
    pub(in crate::store) fn is_too_much(bytes: u64) -> bool {
        bytes > BYTES_MAX / 2
    }

    /// Whether it should start over before more is added.
    pub(in crate::store) fn is_full(&self) -> bool {
        self.end >= self.disk.journal_bytes(BYTES_MAX)
    }

    /// Makes the file and room for content of about this length; false if that cannot be had.
    ///
    /// Then nothing is lost yet: the tables can still take what the journal cannot.
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
        // An end that old content cannot be mistaken for.
        Mark { synced: self.synced, last }.encode(end, self.identity, &mut bytes);
        self.attempt(|journal| journal.write(&bytes))?;
        (self.end, self.chain, self.last) = (end, chain, last);
        bytes.shrink_to(SCRATCH_BYTES_MAX);
        self.scratch = bytes;
        Ok(())
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
    }

    /// Removes the file: the tables have everything, and that is on disk.
    ///
    /// If this fails, the file holds nothing that the tables lack. Another file that took its place
    /// meanwhile stays.
    pub(in crate::store) fn remove(&mut self) {
        if self.is_detached {
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

    /// What lies at the path, if that is no journal of this store.
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
        if self.is_detached {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if let Some((suffix, reason)) = self.stranger()? {
            let aside = set_aside(self.disk.as_ref(), &self.path, &suffix);
            self.aside = Some((aside.map_err(io::Error::other)?, reason));
        }
        // An old one that could not be removed before: marks in it must not be taken for those of
        // this one, and that it was emptied may be lost with the power.
        match self.disk.remove(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = self.disk.create(&self.path)?;
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
        let wanted = (end + room_for(end)).next_multiple_of(GROW_BYTES).min(FILE_BYTES_MAX);
        if wanted > self.allocated {
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

/// Adds an item to `out`, and returns its sum.
pub(in crate::store) fn frame(placed: &Placed, chain: u64, out: &mut Vec<u8>) -> u64 {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD_BYTES]);
    placed.encode(out);
    let payload = &out[start + HEAD_BYTES..];
    let length = u32::try_from(payload.len()).expect("an item is within the limit of a group");
    let sum = check(chain, payload);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + HEAD_BYTES].copy_from_slice(&sum.to_le_bytes());
    sum
}

/// What is there when a store is opened.
#[derive(Debug, Default)]
pub(in crate::store) struct Left {
    /// What the tables may lack after a crash.
    pub(in crate::store) placed: Vec<Placed>,
    /// Where its content ends, including the mark; what follows means nothing.
    pub(in crate::store) end: u64,
    foreign: Option<Foreign>,
}

/// Reads the saves of a store from its journal, from `sequence` on. Changes nothing.
///
/// One that is damaged before its end is an error.
pub(in crate::store) fn look(
    disk: &dyn Disk,
    path: &Path,
    identity: u64,
    sequence: u64,
) -> Result<Left> {
    let Some((bytes, unreadable)) = read_bytes(disk, path)? else {
        return Ok(Left::default());
    };
    let damaged = |at| unreadable.first().map_or_else(|| damaged(path, at), unread);
    let named = identified(&bytes).map(|(named, _)| named);
    let rest = bytes.get(HEADER_BYTES..).unwrap_or_default();
    // A right sum is no torn write: this is content that must not be passed over.
    let (mut placed, length) = items(rest, identity).map_err(|at| damaged(HEADER_BYTES + at))?;
    // The first sum has the identity in it, whatever became of the header.
    let is_own = named == Some(identity) || !placed.is_empty();
    let end = if is_own { HEADER_BYTES + length } else { 0 };
    // What comes after a sync tells that all before was whole.
    if mark::current(&bytes, end, (identity, sequence)).any(|mark| mark.synced > end as u64) {
        return Err(damaged(end));
    }
    // Behind the mark that follows the last item nothing was ever written since.
    let is_over = is_own && Mark::at(&bytes, end, identity).is_some();
    if !is_over && !unreadable.is_empty() {
        return Err(damaged(end));
    }
    let foreign = match named.filter(|_| !is_own) {
        Some(other) => Some(Foreign::Journal(other)),
        None if !is_own && !is_begun(&bytes) => Some(Foreign::Strange),
        // Its own; or it was cut short before the first sync, so nothing in it was acknowledged.
        None => None,
    };
    placed.retain(|placed: &Placed| placed.entry.sequence >= sequence);
    let end = mark::behind(&bytes, end, identity) as u64;
    Ok(Left { placed, end, foreign })
}

/// Whether bytes start as a journal does, of whose start any part may be lost with the power.
fn is_begun(bytes: &[u8]) -> bool {
    bytes.iter().zip(MAGIC).all(|(byte, magic)| *byte == 0 || byte == magic)
}

fn damaged(path: &Path, at: usize) -> Error {
    let place = format!("byte {at} of {}", path.display());
    let reason = "the journal is damaged before its end, and saves are in it that the store lacks; \
                  it stays as it is, and `waypost repair` saves all that can be read";
    Error::corrupt(place, reason)
}

/// Saves may be there that the store lacks.
fn unread(bytes: &Unreadable) -> Error {
    let reason = format!(
        "the disk cannot read them: {}; the journal is unchanged, and `waypost repair` saves what \
         can be read",
        bytes.reason
    );
    Error::damaged(Damage::Disk, bytes.to_string(), reason)
}

/// The identity that a journal names, and what follows.
pub(in crate::store) fn identified(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (identity, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
    Some((u64::from_le_bytes(*identity), rest))
}

/// All items up to the end, and their length; or where one is that passes its sum and cannot be
/// read.
pub(in crate::store) fn items(bytes: &[u8], identity: u64) -> Result<(Vec<Placed>, usize), usize> {
    let mut placed = Vec::new();
    let (mut rest, mut chain) = (bytes, identity);
    let at = |rest: &[u8]| bytes.len() - rest.len();
    while let Some((sum, payload, left)) = first(rest, chain) {
        placed.push(Placed::decode(payload).ok_or_else(|| at(rest))?);
        (chain, rest) = (sum, left);
    }
    Ok((placed, at(rest)))
}

/// Length and sum of the first item, as it says.
fn head(bytes: &[u8]) -> Option<(usize, u64)> {
    let (length, bytes) = bytes.split_first_chunk::<4>()?;
    let sum = u64::from_le_bytes(*bytes.first_chunk()?);
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    (length > 0).then_some((length, sum))
}

/// The bytes of a journal, with zeros where the disk cannot read, and those places.
fn read_bytes(disk: &dyn Disk, path: &Path) -> Result<Option<(Vec<u8>, Vec<Unreadable>)>> {
    let file = match Sectors::open(disk, path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).at(path),
    };
    let length = file.length();
    let length = usize::try_from(length).ok().filter(|_| length <= FILE_BYTES_MAX);
    let too_long = || Error::corrupt(path.display().to_string(), "the journal is too long");
    let mut bytes = vec![0; length.ok_or_else(too_long)?];
    file.read(0, &mut bytes);
    Ok(Some((bytes, file.unreadable(path))))
}

/// The sum and the payload of the first item, if there is one, and what follows.
fn first(bytes: &[u8], chain: u64) -> Option<(u64, &[u8], &[u8])> {
    let (length, bytes) = bytes.split_first_chunk::<4>()?;
    let (sum, bytes) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|length| *length > 0)?;
    let (payload, rest) = bytes.split_at_checked(length)?;
    let sum = u64::from_le_bytes(*sum);
    (check(chain, payload) == sum).then_some((sum, payload, rest))
}
