//! Removes checkpoints and frames for good, and stores their dependents anew.
//!
//! Whatever stays must stay readable.

use std::sync::atomic::Ordering;

use crate::checkpoint::Entry;
use crate::error::Result;
use crate::key::{RecordKey, dependents_row};
use crate::store::engine::fault::In;
use crate::store::engine::table::{META, SEQUENCE_KEY};
use crate::store::transaction::writer::Writer;
use crate::sync::lock;

impl Writer<'_> {
    /// Removes checkpoints. Stores the deltas that are based on them anew.
    ///
    /// Returns by how much less all frames take.
    pub(in crate::store) fn remove(&mut self, entries: &[Entry]) -> Result<u64> {
        let sequences: Vec<u64> = entries.iter().map(|entry| entry.sequence).collect();
        let grown = self.detach(&sequences).map_err(|error| self.named(error, entries))?;
        let capturing = entries.iter().filter(|entry| entry.artifact_count > 0);
        self.release(capturing.map(|entry| entry.sequence))?;
        for entry in entries {
            self.records.remove(RecordKey::of(entry).to_bytes()).within(self.path)?;
            self.unlist(entry)?;
            self.remove_frame(entry)?;
            self.frames.remove(dependents_row(entry.sequence)).within(self.path)?;
        }
        self.note_removed(&sequences)?;
        let removed: u64 = entries.iter().map(|entry| entry.stored_bytes).sum();
        Ok(removed.saturating_add_signed(-grown))
    }

    /// Removes frames whose records are gone already.
    pub(in crate::store) fn erase(&mut self, sequences: &[u64]) -> Result<()> {
        self.detach(sequences)?;
        if self.open.has_artifacts.load(Ordering::Relaxed) {
            self.release(sequences.iter().copied())?;
        }
        for sequence in sequences {
            self.remove_frame_of(*sequence)?;
            self.frames.remove(dependents_row(*sequence)).within(self.path)?;
        }
        self.note_removed(sequences)
    }

    fn note_removed(&mut self, sequences: &[u64]) -> Result<()> {
        self.removed.extend(sequences);
        // The frames may no longer show it, and a sequence is never given out twice.
        let next_sequence = lock(&self.open.intake).next_sequence();
        let mut meta = self.transaction.open_table(META).within(self.path)?;
        meta.insert(SEQUENCE_KEY, next_sequence).within(self.path)?;
        Ok(())
    }
}
