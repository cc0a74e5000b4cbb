//! The journal: where a save is made durable by one short write, before the tables have it.
//!
//! A commit of the engine writes some sixteen pages here and there; a loop that saves often is
//! better served by a file beside the store that is written from front to back. What is in it is
//! put into the tables soon after, many saves at a time. Once a durable commit has them, the
//! journal starts over from the front; old content behind the new is told by its sequences.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::file;
use crate::codec::{Placed, check};
use crate::error::{At, Result};

/// Content beyond this is put into the tables for good.
pub(super) const BYTES_MAX: u64 = 4 << 20;
// Blocks that are there already make a sync cheaper than ones that the file system has to find.
const GROW_BYTES: u64 = 256 << 10;
const HEAD_BYTES: usize = 12;

/// A journal that this process writes. Made only when it is first written to.
pub(super) struct Journal {
    path: PathBuf,
    /// Of the store; content of another one does not count.
    identity: u64,
    file: Option<File>,
    /// Where the next content goes.
    end: u64,
    allocated: u64,
    /// What is about to be written, reused: fresh memory of this size costs page faults.
    scratch: Vec<u8>,
}

impl Journal {
    pub(super) fn new(path: PathBuf, identity: u64) -> Self {
        Self { path, identity, file: None, end: 0, allocated: 0, scratch: Vec::new() }
    }

    /// Whether there is a file to write to already.
    pub(super) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Whether content of this length is better put into the tables at once.
    pub(super) fn is_too_much(bytes: u64) -> bool {
        bytes > BYTES_MAX / 2
    }

    /// Whether it should start over before more is added.
    pub(super) fn is_full(&self) -> bool {
        self.end >= BYTES_MAX
    }

    /// Adds content; [`Journal::sync`] makes it durable.
    pub(super) fn append(&mut self, placed: &[Placed]) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        for placed in placed {
            self.frame(placed, &mut bytes);
        }
        // An end that old content cannot be mistaken for.
        bytes.extend_from_slice(&[0; HEAD_BYTES]);
        self.write(&bytes).at(&self.path)?;
        self.end += (bytes.len() - HEAD_BYTES) as u64;
        self.scratch = bytes;
        Ok(())
    }

    /// Makes all content durable.
    pub(super) fn sync(&self) -> Result<()> {
        match &self.file {
            Some(file) => file.sync_data().at(&self.path),
            None => Ok(()),
        }
    }

    /// Starts over: the tables have everything, and that is on disk.
    pub(super) fn reset(&mut self) {
        self.end = 0;
    }

    /// Removes the file: the tables have everything, and that is on disk.
    ///
    /// If the file stays, it says nothing that the tables do not know.
    pub(super) fn remove(&mut self) {
        *self = Self::new(std::mem::take(&mut self.path), self.identity);
        let _ = fs::remove_file(&self.path);
    }

    fn frame(&self, placed: &Placed, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; HEAD_BYTES]);
        placed.encode(out);
        let payload = &out[start + HEAD_BYTES..];
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let sum = check(self.identity, payload);
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        out[start + 4..start + HEAD_BYTES].copy_from_slice(&sum.to_le_bytes());
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(make(&self.path)?),
        };
        let end = self.end + bytes.len() as u64;
        if end > self.allocated {
            let grown = end.next_multiple_of(GROW_BYTES);
            file.seek(SeekFrom::Start(end))?;
            io::copy(&mut io::repeat(0).take(grown - end), file)?;
            self.allocated = grown;
        }
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(bytes)
    }
}

fn make(path: &Path) -> io::Result<File> {
    let file = file::private().read(true).write(true).create(true).truncate(true).open(path)?;
    file::sync_parent(path)?;
    Ok(file)
}

/// What a journal holds of a store, from `sequence` on: what its tables may lack after a crash.
pub(super) fn read(path: &Path, identity: u64, sequence: u64) -> Result<Vec<Placed>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).at(path),
    };
    let mut placed: Vec<Placed> = Vec::new();
    let mut rest = bytes.as_slice();
    // The first that is cut short or of another time is where the last write ended.
    while let Some((found, left)) = first(rest, identity) {
        let last = placed.last().map_or(0, |last| last.entry.sequence);
        if found.entry.sequence <= last {
            break;
        }
        placed.push(found);
        rest = left;
    }
    placed.retain(|placed| placed.entry.sequence >= sequence);
    Ok(placed)
}

fn first(bytes: &[u8], identity: u64) -> Option<(Placed, &[u8])> {
    let (length, bytes) = bytes.split_first_chunk::<4>()?;
    let (sum, bytes) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|length| *length > 0)?;
    let (payload, rest) = bytes.split_at_checked(length)?;
    if check(identity, payload) != u64::from_le_bytes(*sum) {
        return None;
    }
    Some((Placed::decode(payload)?, rest))
}
