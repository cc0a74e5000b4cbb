//! Copies a store file chunk by chunk, and later only the chunks that changed since.
//!
//! Must never write to the source.

use std::io;
use std::ops::ControlFlow;

use redb::StorageBackend as _;

use super::{NewCopy, locked};
use crate::codec::check;
use crate::error::{At as _, Result};
use crate::store::engine::disk::{DiskFile, StorePath};
use crate::store::engine::location;
use crate::store::engine::overlay::Overlay;
use crate::store::engine::sectors::failed;
use crate::store::watch::{Stage, Step, Watch};

// Large enough for efficient reads, small enough to copy again for a few changed pages.
const CHUNK_BYTES: usize = 256 << 10;

/// A file that is being copied.
pub(super) struct Copy<'a> {
    source: Box<dyn DiskFile>,
    target: Box<dyn DiskFile>,
    from: &'a StorePath,
    to: &'a NewCopy<'a>,
    /// Sum of each chunk as it was copied.
    sums: Vec<u64>,
}

impl<'a> Copy<'a> {
    /// Makes the file to copy to, and locks it against other processes.
    pub(super) fn start(from: &'a StorePath, to: &'a NewCopy<'_>) -> Result<Self> {
        let source = from.disk.open(&from.path).at(&from.path)?;
        let target = locked(to.place.disk.create(&to.place.path), to.asked)?;
        Ok(Self { source, target, from, to, sums: Vec::new() })
    }

    /// Copies everything; the file may change meanwhile.
    pub(super) fn once(&mut self, watch: Watch<'_>) -> Result<ControlFlow<()>> {
        let total = self.source.length().at(&self.from.path)?;
        let mut chunk = vec![0; CHUNK_BYTES];
        for start in (0..total).step_by(CHUNK_BYTES) {
            let step = Step { stage: Stage::Copy, done: start, total: Some(total) };
            if watch(step).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let chunk = &mut chunk[..length_at(start, total)];
            match self.source.read_at(chunk, start) {
                // The file was truncated meanwhile.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                other => other.map_err(|error| failed(&self.from.path, error))?,
            }
            self.target.write_at(chunk, start).at(self.to.asked)?;
            self.sums.push(check(0, chunk));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Starts over if another file is at the path now.
    pub(super) fn follow(&mut self) -> Result<()> {
        let (path, disk) = (self.from.path.as_path(), self.from.disk.as_ref());
        let id = self.source.id().at(path)?;
        if !location::is_at(disk, id, path).at(path)? {
            self.source = disk.open(path).at(path)?;
            self.sums.clear();
        }
        Ok(())
    }

    /// Copies what differs from what was copied before.
    ///
    /// The outer error is about the store, the inner one about the copy: they may be on different
    /// disks, of which one is full.
    pub(super) fn again(&mut self) -> Result<io::Result<()>> {
        let total = self.source.length().at(&self.from.path)?;
        self.changed(total, |it, at, bytes| it.source.read_at(bytes, at))
    }

    /// As [`Copy::again`], but from a file that is repaired and closed in memory.
    pub(super) fn again_from(&mut self, overlay: &Overlay) -> Result<io::Result<()>> {
        let total = overlay.len().at(&self.from.path)?;
        self.changed(total, |_, at, bytes| overlay.read(at, bytes))
    }

    fn changed(
        &mut self,
        total: u64,
        read: impl Fn(&Self, u64, &mut [u8]) -> io::Result<()>,
    ) -> Result<io::Result<()>> {
        let mut chunk = vec![0; CHUNK_BYTES];
        for (start, number) in (0..total).step_by(CHUNK_BYTES).zip(0..) {
            let chunk = &mut chunk[..length_at(start, total)];
            read(self, start, chunk).map_err(|error| failed(&self.from.path, error))?;
            if self.sums.get(number) != Some(&check(0, chunk))
                && let Err(error) = self.target.write_at(chunk, start)
            {
                return Ok(Err(error));
            }
        }
        Ok(self.target.set_length(total))
    }
}

fn length_at(start: u64, total: u64) -> usize {
    usize::try_from(total - start).unwrap_or(usize::MAX).min(CHUNK_BYTES)
}
