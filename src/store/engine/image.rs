//! The bytes of a new store, made in memory.
//!
//! The engine starts each file with a megabyte of free pages, and grows it by doubling. In memory
//! they cost nothing and are given back, so that a store is as long as what it holds. It also needs
//! one sync instead of seven.

use std::io;
use std::sync::{Arc, Mutex};

use redb::{Builder, Database, DatabaseError, StorageBackend};

use crate::sync::lock;

/// A file in memory; clones share it.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct Image(Arc<Mutex<Vec<u8>>>);

impl Image {
    /// Sets the engine up in it.
    pub(in crate::store) fn engine(&self) -> Result<Database, DatabaseError> {
        Builder::new().create_with_backend(self.clone())
    }

    /// What is in it now; nothing while the engine has it open counts.
    pub(in crate::store) fn into_bytes(self) -> Vec<u8> {
        std::mem::take(&mut lock(&self.0))
    }
}

fn place(offset: u64, length: usize, bytes: &[u8]) -> io::Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).ok();
    let range = start.and_then(|start| Some(start..start.checked_add(length)?));
    let range = range.filter(|range| range.end <= bytes.len());
    range.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

impl StorageBackend for Image {
    fn len(&self) -> io::Result<u64> {
        Ok(lock(&self.0).len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = lock(&self.0);
        let place = place(offset, out.len(), &bytes)?;
        out.copy_from_slice(&bytes[place]);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        lock(&self.0).resize(length, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut bytes = lock(&self.0);
        let place = place(offset, data.len(), &bytes)?;
        bytes[place].copy_from_slice(data);
        Ok(())
    }
}
