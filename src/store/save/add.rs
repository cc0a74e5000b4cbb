//! Adding drafts in a transaction: each gets its place and its rows, or an outcome of its own.

use crate::checkpoint::{Entry, Timestamp};
use crate::error::{Error, Result};
use crate::store::chain::packed::Packed;
use crate::store::save::draft::{Dated, Draft};
use crate::store::transaction::writer::Writer;
use crate::sync::lock;

impl Writer<'_> {
    /// Saves all of them. The outer error is the engine's and spoils the whole transaction.
    ///
    /// The clock shows `now`.
    pub(in crate::store) fn add_each(
        &mut self,
        drafts: &mut [Draft],
        now: Timestamp,
    ) -> Result<Vec<Result<Entry>>> {
        let mut outcomes = Vec::with_capacity(drafts.len());
        for at in 0..drafts.len() {
            let saved = self.add((drafts, at), now)?;
            if saved.is_ok() {
                self.note_left(&drafts[at])?;
            }
            outcomes.push(saved);
        }
        Ok(outcomes)
    }

    /// Saves one checkpoint. The outer error is the engine's and spoils the whole transaction.
    fn add(
        &mut self,
        (drafts, at): (&mut [Draft], usize),
        now: Timestamp,
    ) -> Result<Result<Entry>> {
        let draft = &drafts[at];
        if draft.has_own_id {
            match self.find(&draft.entry.id) {
                Ok(None) => {}
                Ok(Some(found)) => return self.accept_retry(draft, found),
                Err(error) if error.is_of_engine() => return Err(error),
                // Damage to one checkpoint must not fail the others.
                Err(error) => return Ok(Err(error)),
            }
        }
        if drafts[at].base().is_some_and(|base| base.sequence(|at| drafts[at].sequence).is_none()) {
            // Its base was refused.
            drafts[at].packed = Some(Packed::alone(&self.open.frames, &drafts[at].raw));
        }
        let placed = match lock(&self.open.intake).place((drafts, at), self.open, now) {
            Ok(placed) => placed,
            Err(error) => return Ok(Err(error)),
        };
        self.insert(&placed)?;
        self.insert_artifacts(placed.entry.sequence, &drafts[at].artifacts)?;
        self.fresh.insert(placed.entry.sequence);
        Ok(Ok(placed.entry))
    }

    /// A retry of a save is a no-op; any other save must not change what exists.
    fn accept_retry(&mut self, draft: &Draft, found: Entry) -> Result<Result<Entry>> {
        let outcome = match self.is_retry(draft, &found) {
            Ok(true) => {
                self.insert_blobs(&draft.artifacts)?;
                Ok(found)
            }
            Ok(false) => Err(Error::Exists { id: found.id.to_string() }),
            Err(error) if error.is_of_engine() => return Err(error),
            Err(error) => Err(error),
        };
        Ok(outcome)
    }

    /// Whether a draft is what was saved under its id.
    fn is_retry(&mut self, draft: &Draft, found: &Entry) -> Result<bool> {
        let mut same = Entry {
            sequence: found.sequence,
            stored_bytes: found.stored_bytes,
            // The store decides that.
            ordered_at: found.ordered_at,
            // They are compared below.
            artifact_count: found.artifact_count,
            // They may have been changed since.
            tags: found.tags.clone(),
            ..draft.entry.clone()
        };
        if draft.dated != Dated::Stated {
            same.created_at = found.created_at;
        }
        let raw = self.unpacker().raw(found)?;
        Ok(same == *found && raw == draft.raw && self.has_artifacts(found, &draft.artifacts)?)
    }
}
