//! Contents that nobody has any more, though their rows cannot tell so.

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

/// Who has captured what.
#[derive(Debug, Default)]
pub(in crate::store) struct Holding {
    /// Those of all checkpoints with files.
    sequences: HashSet<u64>,
    /// All that a checkpoint has.
    contents: HashMap<Hash, Holders>,
}

impl Snapshot<'_> {
    /// Who has which contents, deleted checkpoints that can be restored included.
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
    /// Removes what belongs to no checkpoint, not even to one that can be restored, and makes the
    /// rows anew that tell how many have a content.
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
