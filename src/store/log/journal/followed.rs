//! Follows the journal of a process that may be writing to it.
//!
//! What was read counts until the next durable commit, even if the file is gone by then: the
//! journal starts over, or goes, only after a commit that has its saves.
//!
//! Must never miss an item that was synced before it looked, nor change a byte.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::item::{HEAD_BYTES, HEADER_BYTES, items};
use super::left::{Left, look};
use super::mark::Mark;
use crate::codec::Placed;
use crate::error::{At, Error, Result};
use crate::store::engine::disk::{Disk, DiskFile, FileId};

// A journal that is read while it is written may look damaged, but not for longer than a write
// takes.
const LOOKS: usize = 5;
const LOOK_EVERY: Duration = Duration::from_millis(1);
// A few small saves.
const CHUNK_BYTES: usize = 64 << 10;

/// A journal as far as it was read.
pub(in crate::store) struct Followed {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// A longer file is refused.
    bytes_max: u64,
    identity: u64,
    /// The sequence after that of the last item, or of the tables.
    next_sequence: u64,
    /// `None` if there was none.
    file: Option<(Box<dyn DiskFile>, Option<FileId>)>,
    /// Where the next item will be, and the seed of its sum.
    end: (u64, u64),
    /// Length and sum of the first item. A journal that started over has another one.
    first: [u8; HEAD_BYTES],
    is_foreign: bool,
}

impl Followed {
    /// Reads the journal of a store whose tables have everything before this sequence.
    pub(in crate::store) fn start(
        disk: Arc<dyn Disk>,
        (path, bytes_max): (PathBuf, u64),
        identity: u64,
        next_sequence: u64,
    ) -> Result<(Self, Vec<Placed>)> {
        let mut followed = Self {
            disk,
            path,
            bytes_max,
            identity,
            next_sequence,
            file: None,
            end: (HEADER_BYTES as u64, identity),
            first: [0; HEAD_BYTES],
            is_foreign: false,
        };
        let left = followed.read_all()?;
        Ok((followed, left))
    }

    /// Whether the file at the path was another one when it was last read from its front.
    pub(in crate::store) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// The sequence after that of the last item, or of the tables.
    pub(in crate::store) fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// The items that were not read before.
    pub(in crate::store) fn news(&mut self) -> Result<Vec<Placed>> {
        let id = match self.disk.look(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            found => found.at(&self.path)?.id,
        };
        if self.file.as_ref().is_some_and(|(_, read)| *read == id)
            && let Some(news) = self.read_on().at(&self.path)?
        {
            return Ok(self.note(news));
        }
        self.read_all()
    }

    /// The items behind those that were read; `None` if the file must be read from its front.
    fn read_on(&mut self) -> io::Result<Option<Vec<Placed>>> {
        let Some((file, _)) = &self.file else { return Ok(None) };
        let mut first = [0; HEAD_BYTES];
        read_up_to(file.as_ref(), &mut first, HEADER_BYTES as u64)?;
        if first != self.first {
            return Ok(None);
        }
        let (at, chain) = self.end;
        let mut length = [0; 4];
        read_up_to(file.as_ref(), &mut length, at)?;
        if length == [0; 4] {
            return Ok(Some(Vec::new()));
        }
        let mut bytes = Vec::new();
        loop {
            let wanted = CHUNK_BYTES.max(2 * bytes.len());
            bytes.resize(wanted, 0);
            let read = read_up_to(file.as_ref(), &mut bytes, at)?;
            bytes.truncate(read);
            let Ok((placed, (length, chain))) = items(&bytes, chain) else { return Ok(None) };
            let end = at + length as u64;
            // Nothing was written after the mark that follows the last item.
            if Mark::read(&bytes[length..], end, self.identity).is_some() {
                self.end = (end, chain);
                return Ok(Some(placed));
            }
            if read < wanted {
                return Ok(None);
            }
        }
    }

    fn read_all(&mut self) -> Result<Vec<Placed>> {
        // Opened first: what is read is that of this file or of a later one.
        self.file = match self.disk.open(&self.path) {
            Ok(file) => file.id().map(|id| Some((file, id))).at(&self.path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).at(&self.path),
        };
        let left = self.look()?;
        (self.end, self.first) = (left.items_end, left.first);
        self.is_foreign = left.foreign.is_some();
        Ok(self.note(left.placed))
    }

    fn note(&mut self, placed: Vec<Placed>) -> Vec<Placed> {
        if let Some(last) = placed.last() {
            self.next_sequence = last.entry.sequence + 1;
        }
        placed
    }

    fn look(&self) -> Result<Left> {
        let look = || {
            let place = (self.path.as_path(), self.bytes_max);
            look(self.disk.as_ref(), place, self.identity, self.next_sequence)
        };
        let mut looked = look();
        for _ in 1..LOOKS {
            if !matches!(looked, Err(Error::Corrupt { .. })) {
                break;
            }
            thread::sleep(LOOK_EVERY);
            looked = look();
        }
        looked
    }
}

/// Fills the front of `bytes` with what the file has; returns how much that is.
fn read_up_to(file: &dyn DiskFile, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    let there = file.length()?.saturating_sub(at);
    let length = usize::try_from(there).map_or(bytes.len(), |it| it.min(bytes.len()));
    file.read_at(&mut bytes[..length], at)?;
    Ok(length)
}
