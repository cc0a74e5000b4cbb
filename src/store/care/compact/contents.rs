//! Contents that no checkpoint has any more, though their `holders` rows do not show it.

use std::collections::{HashMap, HashSet};

use crate::checkpoint::Hash;
use crate::codec::{Holders, decode_holders, encode_holders};
use crate::error::Result;
use crate::key::{HolderBytes, Span, blob_hash, frame_sequence};
use crate::store::engine::fault::In;
use crate::store::files::artifact::contents_of;
use crate::store::transaction::artifact_tables::ArtifactTables;
use crate::store::transaction::snapshot::Snapshot;
use crate::store::transaction::writer::Writer;

/// Which checkpoints have captured which contents.
#[derive(Debug, Default)]
pub(in crate::store) struct Holding {
    /// Those of all checkpoints with files.
    sequences: HashSet<u64>,
    /// The contents of one checkpoint.
    contents: HashMap<Hash, Holders>,
}

impl Snapshot<'_> {
    /// The checkpoints of each content, deleted ones that can be restored included.
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if any row of a checkpoint is missing or damaged.
    pub(in crate::store) fn holding(&self) -> Result<Holding> {
        let mut holding = Holding::default();
        let restorable = self.restorable()?.into_iter().map(|it| Ok(it.entry));
        for entry in self.entries(Span::ALL)?.chain(restorable) {
            let entry = entry?;
            if entry.artifact_count == 0 {
                continue;
            }
            for hash in contents_of(&self.artifacts(&entry)?) {
                let holders = holding.contents.entry(hash).or_default();
                *holders = holders.with(entry.sequence);
            }
            holding.sequences.insert(entry.sequence);
        }
        Ok(holding)
    }
}

impl Writer<'_> {
    /// Removes contents of no checkpoint, deleted ones that can be restored included, and rewrites
    /// the rows that count the checkpoints of each content.
    pub(in crate::store) fn sweep_artifacts(&mut self, holding: Holding) -> Result<()> {
        let Holding { sequences, mut contents } = holding;
        let path = self.path;
        let ArtifactTables { artifacts, holders, blobs } = self.artifact_tables()?;
        artifacts.retain(|row, _| sequences.contains(&frame_sequence(row))).within(path)?;
        blobs.retain(|row, _| contents.contains_key(&blob_hash(row))).within(path)?;
        let is_right = |row: HolderBytes, value: &[u8]| {
            let hash = Hash::from_bytes(row);
            let found = decode_holders(&row, value);
            let is_right = found.is_some() && found.as_ref() == contents.get(&hash);
            if is_right {
                contents.remove(&hash);
            }
            is_right
        };
        holders.retain(is_right).within(path)?;
        for (hash, left) in contents {
            let value = encode_holders(hash.as_bytes(), left);
            holders.insert(hash.as_bytes(), value.as_slice()).within(path)?;
        }
        Ok(())
    }
}
