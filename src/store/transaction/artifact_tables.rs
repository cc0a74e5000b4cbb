//! The tables of captured files, opened when a transaction first needs them.

use redb::{Table, WriteTransaction};

use crate::key::{BlobBytes, FrameBytes, HolderBytes};
use crate::store::engine::table::{ARTIFACTS, BLOBS, HOLDERS};

/// The tables of captured files in a write transaction.
pub(in crate::store) struct ArtifactTables<'a> {
    pub(in crate::store) artifacts: Table<'a, FrameBytes, &'static [u8]>,
    pub(in crate::store) holders: Table<'a, HolderBytes, &'static [u8]>,
    pub(in crate::store) blobs: Table<'a, BlobBytes, &'static [u8]>,
}

impl<'a> ArtifactTables<'a> {
    pub(super) fn open(transaction: &'a WriteTransaction) -> Result<Self, redb::TableError> {
        Ok(Self {
            artifacts: transaction.open_table(ARTIFACTS)?,
            holders: transaction.open_table(HOLDERS)?,
            blobs: transaction.open_table(BLOBS)?,
        })
    }
}
