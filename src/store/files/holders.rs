//! The checkpoints that have a captured content: it is removed with the last of them.

use std::path::Path;

use redb::ReadableTable;

use crate::checkpoint::Hash;
use crate::codec::{Holders, decode_holders, encode_holders};
use crate::error::Result;
use crate::key::blob_rows;
use crate::store::engine::fault::In;
use crate::store::transaction::artifact_tables::ArtifactTables;

impl ArtifactTables<'_> {
    /// Notes that one more checkpoint has a content, before the content is stored.
    pub(super) fn hold(&mut self, hash: &Hash, sequence: u64, path: &Path) -> Result<()> {
        let row = hash.as_bytes();
        let found = self.holders.get(row).within(path)?;
        let found = found.map(|value| decode_holders(row, value.value()));
        let before = match found {
            Some(Some(holders)) => holders,
            None if self.blobs.range(blob_rows(hash)).within(path)?.next().is_none() => {
                Holders::default()
            }
            // Only compacting, which reads everything, can find the other checkpoints. Until then
            // the content stays, whichever checkpoint is removed.
            Some(None) | None => return Ok(()),
        };
        let value = encode_holders(row, before.with(sequence));
        self.holders.insert(row, value.as_slice()).within(path)?;
        Ok(())
    }

    /// Notes that a checkpoint with a content was removed, and removes the content with the last
    /// one.
    pub(super) fn let_go(&mut self, hash: &Hash, sequence: u64, path: &Path) -> Result<()> {
        let row = hash.as_bytes();
        let found = self.holders.get(row).within(path)?;
        let found = found.and_then(|value| decode_holders(row, value.value()));
        let Some(left) = found.and_then(|holders| holders.without(sequence)) else {
            // As above.
            return Ok(());
        };
        if left.is_empty() {
            self.holders.remove(row).within(path)?;
            return self.blobs.retain_in(blob_rows(hash), |_, _| false).within(path);
        }
        let value = encode_holders(row, left);
        self.holders.insert(row, value.as_slice()).within(path)?;
        Ok(())
    }
}
