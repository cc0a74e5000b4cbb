//! An overlay over a file: writes stay in memory, and the file does not change.
//!
//! With it the engine can repair what a crash left, and take in the journal and the spool, for a
//! caller that only reads. Either the file is locked, or the overlay is a *view*: then another
//! process may write to the file, and the view checks after every read that the file still has the
//! same commit.
//!
//! Must never write to the file.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use redb::StorageBackend;

use crate::store::engine::disk::{DiskFile, Lock};
use crate::store::engine::published::Published;
use crate::sync::lock;

const BLOCK: usize = 4096;
const BLOCK_BYTES: u64 = BLOCK as u64;

/// A file, and the blocks written over it. Clones share the same overlay.
#[derive(Debug, Clone)]
pub(in crate::store) struct Overlay {
    /// Stays open and locked while any clone lives.
    file: Arc<dyn DiskFile>,
    written: Arc<Mutex<Written>>,
    /// The commit that this shows if it is a view; `None` if the file is locked.
    viewed: Option<Arc<Viewed>>,
}

#[derive(Debug)]
struct Written {
    /// Blocks by their number.
    blocks: HashMap<u64, Vec<u8>>,
    bytes: u64,
    /// Up to here, blocks that were not written are read from the file.
    file_bytes: u64,
}

/// The commit that a view shows of a file without a lock.
#[derive(Debug)]
struct Viewed {
    published: Published,
    /// Whether a read found that the file has another commit; the engine got an error then.
    is_stale: AtomicBool,
    has_ended: AtomicBool,
}

impl Overlay {
    /// Locks the file while this lives; `None` if another process has it.
    pub(in crate::store) fn new(file: Box<dyn DiskFile>) -> io::Result<Option<Self>> {
        if !file.try_lock(Lock::Exclusive)? {
            return Ok(None);
        }
        let bytes = file.length()?;
        Ok(Some(Self::over(file, bytes, None)))
    }

    /// Opens a view, without a lock; `None` if the header names no durable commit.
    pub(in crate::store) fn view(file: Box<dyn DiskFile>) -> io::Result<Option<Self>> {
        let Some(published) = Published::read(file.as_ref())? else { return Ok(None) };
        let (bytes, header) = (published.file_bytes, published.header().to_vec());
        let viewed = Viewed {
            published,
            is_stale: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        };
        let overlay = Self::over(file, bytes, Some(Arc::new(viewed)));
        // Kept in memory, since other fields of the header change without a commit.
        match overlay.write(0, &header) {
            Err(_) if overlay.is_stale() => Ok(None),
            written => written.map(|()| Some(overlay)),
        }
    }

    fn over(file: Box<dyn DiskFile>, bytes: u64, viewed: Option<Arc<Viewed>>) -> Self {
        let written = Written { blocks: HashMap::new(), bytes, file_bytes: bytes };
        Self { file: file.into(), written: Arc::new(Mutex::new(written)), viewed }
    }

    /// The file below, as it is on disk.
    pub(in crate::store) fn file(&self) -> &dyn DiskFile {
        self.file.as_ref()
    }

    /// Whether a read of this view failed because the file has another commit now.
    pub(in crate::store) fn is_stale(&self) -> bool {
        self.viewed.as_ref().is_some_and(|it| it.is_stale.load(Ordering::Acquire))
    }

    /// Whether the file still names the commit of this view.
    pub(in crate::store) fn is_current(&self) -> io::Result<bool> {
        match &self.viewed {
            Some(viewed) if !self.is_stale() => viewed.published.is_still(self.file()),
            viewed => Ok(viewed.is_none()),
        }
    }

    /// Ends this view: from now on the engine gets errors, so that it closes without more work.
    pub(in crate::store) fn end(&self) {
        if let Some(viewed) = &self.viewed {
            viewed.has_ended.store(true, Ordering::Release);
        }
    }

    fn check_open(&self) -> io::Result<()> {
        let has_ended = |it: &Arc<Viewed>| it.has_ended.load(Ordering::Acquire);
        if self.viewed.as_ref().is_some_and(has_ended) {
            return Err(io::Error::other("this view of the store has ended"));
        }
        Ok(())
    }

    /// Returns what was read, or an error if the file has another commit by now.
    fn checked<T>(&self, read: io::Result<T>) -> io::Result<T> {
        let Some(viewed) = &self.viewed else { return read };
        if viewed.published.is_still(self.file()).unwrap_or(false) {
            return read;
        }
        viewed.is_stale.store(true, Ordering::Release);
        Err(io::Error::other("another process has written to the store meanwhile"))
    }
}

impl Written {
    /// Fills `out`, and returns whether some of it is from the file.
    fn read(&self, file: &dyn DiskFile, offset: u64, out: &mut [u8]) -> io::Result<bool> {
        let is_written = |(number, ..): (u64, usize, usize)| self.blocks.contains_key(&number);
        let end = offset + out.len() as u64;
        if end <= self.file_bytes && !parts(offset, out.len()).any(is_written) {
            return file.read_at(out, offset).map(|()| true);
        }
        let (mut at, mut is_of_file) = (0, false);
        for (number, start, length) in parts(offset, out.len()) {
            let part = &mut out[at..at + length];
            if let Some(block) = self.blocks.get(&number) {
                part.copy_from_slice(&block[start..start + length]);
            } else {
                part.copy_from_slice(&self.block_of(file, number)?[start..start + length]);
                is_of_file = true;
            }
            at += length;
        }
        Ok(is_of_file)
    }

    /// Reads a block that was not written from the file.
    fn block_of(&self, file: &dyn DiskFile, number: u64) -> io::Result<Vec<u8>> {
        let start = number * BLOCK_BYTES;
        let there = self.file_bytes.saturating_sub(start).min(BLOCK_BYTES);
        let mut block = vec![0; BLOCK];
        if there > 0 {
            file.read_at(&mut block[..within(there)], start)?;
        }
        Ok(block)
    }
}

/// A length or a place that is within a block.
fn within(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(BLOCK).min(BLOCK)
}

/// The parts of blocks that some bytes lie in: number, start within it, length.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + length as u64;
    (offset / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES)).map(move |number| {
        let from = offset.max(number * BLOCK_BYTES);
        let to = end.min((number + 1) * BLOCK_BYTES);
        (number, within(from - number * BLOCK_BYTES), within(to - from))
    })
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(lock(&self.written).bytes)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.check_open()?;
        let written = lock(&self.written);
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > written.bytes) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match written.read(self.file.as_ref(), offset, out) {
            Ok(false) => Ok(()),
            read => self.checked(read).map(drop),
        }
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.check_open()?;
        let mut written = lock(&self.written);
        written.bytes = bytes;
        written.file_bytes = written.file_bytes.min(bytes);
        written.blocks.retain(|number, _| *number * BLOCK_BYTES < bytes);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check_open()?;
        let mut written = lock(&self.written);
        let mut at = 0;
        for (number, start, length) in parts(offset, data.len()) {
            let part = &data[at..at + length];
            if length == BLOCK {
                written.blocks.insert(number, part.to_vec());
            } else {
                if !written.blocks.contains_key(&number) {
                    let block = written.block_of(self.file.as_ref(), number);
                    written.blocks.insert(number, self.checked(block)?);
                }
                let block = written.blocks.get_mut(&number).expect("it was inserted above");
                block[start..start + length].copy_from_slice(part);
            }
            at += length;
        }
        Ok(())
    }
}
