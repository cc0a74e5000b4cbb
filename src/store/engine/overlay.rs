//! An overlay over a file: writes stay in memory, and the file does not change.
//!
//! With it the engine can repair what a crash left for a caller that only reads, even on a full
//! disk. Must never write to the file.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};

use redb::StorageBackend;

use crate::store::engine::disk::{DiskFile, Lock};
use crate::sync::lock;

const BLOCK: usize = 4096;
const BLOCK_BYTES: u64 = BLOCK as u64;

/// A locked file, and the blocks written over it. Clones share the same overlay.
#[derive(Debug, Clone)]
pub(in crate::store) struct Overlay {
    /// Locked while any clone lives.
    file: Arc<dyn DiskFile>,
    written: Arc<Mutex<Written>>,
}

#[derive(Debug)]
struct Written {
    /// Blocks by their number.
    blocks: HashMap<u64, Vec<u8>>,
    bytes: u64,
    /// Up to here, blocks that were not written are read from the file.
    file_bytes: u64,
}

impl Overlay {
    /// Locks the file while this lives; `None` if another process has it.
    pub(in crate::store) fn new(file: Box<dyn DiskFile>) -> io::Result<Option<Self>> {
        if !file.try_lock(Lock::Exclusive)? {
            return Ok(None);
        }
        let bytes = file.length()?;
        let written = Written { blocks: HashMap::new(), bytes, file_bytes: bytes };
        Ok(Some(Self { file: file.into(), written: Arc::new(Mutex::new(written)) }))
    }

    /// The file below, as it is on disk.
    pub(in crate::store) fn file(&self) -> &dyn DiskFile {
        self.file.as_ref()
    }
}

impl Written {
    fn block(&self, file: &dyn DiskFile, number: u64) -> io::Result<Vec<u8>> {
        if let Some(block) = self.blocks.get(&number) {
            return Ok(block.clone());
        }
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
        let written = lock(&self.written);
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > written.bytes) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut at = 0;
        for (number, start, length) in parts(offset, out.len()) {
            let block = written.block(self.file.as_ref(), number)?;
            out[at..at + length].copy_from_slice(&block[start..start + length]);
            at += length;
        }
        Ok(())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
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
        let mut written = lock(&self.written);
        let mut at = 0;
        for (number, start, length) in parts(offset, data.len()) {
            let mut block = written.block(self.file.as_ref(), number)?;
            block[start..start + length].copy_from_slice(&data[at..at + length]);
            written.blocks.insert(number, block);
            at += length;
        }
        Ok(())
    }
}
