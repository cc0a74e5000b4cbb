//! Files that another program moves, removes or replaces while this process writes to them.
//!
//! A write to such a file succeeds, and the next process does not find it. So a save looks whether
//! store and journal are still at their paths after it was written and before it is acknowledged.

use std::io;

use super::Shared;
use super::draft::Draft;
use super::journal::Journal;
use super::open::Open;
use super::pack::Reach;
use super::spool::SetAside;
use super::turn::Patience;
use crate::checkpoint::Entry;
use crate::error::{At as _, Error, Result};
use crate::sync::try_lock;

// A store that is replaced so often is not saved to, but tested.
const MOVES_MAX: usize = 8;

impl Shared {
    /// Saves packed drafts, waiting for the turn for so long. If the store is moved meanwhile,
    /// saves them again into the one that is at the path then.
    pub(super) fn save_within(
        &self,
        patience: Patience,
        drafts: &mut [Draft],
    ) -> Result<Vec<Result<Entry>>> {
        for _ in 0..MOVES_MAX {
            if let Some(outcomes) = self.try_save(patience, drafts)? {
                return Ok(outcomes);
            }
            self.let_go();
            for draft in &mut *drafts {
                draft.sequence = None;
                // Should the same store be back at the path, it may have the draft already.
                draft.has_own_id = true;
            }
            self.pack_by(drafts, Reach::Turn(patience))?;
        }
        Err(self.moved())
    }

    /// Fails if the path leads to another file than the one that was written to, or to none.
    pub(super) fn check_moved(&self, is_moved: bool) -> Result<()> {
        if is_moved {
            self.let_go();
            return Err(self.moved());
        }
        Ok(())
    }

    fn moved(&self) -> Error {
        let reason = "the file was moved, removed or replaced while it was written to; what was to \
                      be written is not in the store at this path: try again";
        Err::<(), _>(io::Error::other(reason)).at(self.turn.path()).expect_err("it is an error")
    }

    /// Puts everything into the tables for good if the journal is not at its path any more, and
    /// has no journal then: the next process would not find what is in it.
    pub(super) fn keep_journal(&self, open: &Open, journal: &mut Journal) -> Result<()> {
        if journal.is_gone() {
            self.write_durably(open, journal, |_| Ok(()))?;
            journal.remove();
        }
        Ok(())
    }

    /// As [`Shared::keep_journal`], unless a saver has the journal, who looks itself.
    pub(super) fn watch_journal(&self, open: &Open) -> Result<()> {
        try_lock(&open.journal).map_or(Ok(()), |mut journal| self.keep_journal(open, &mut journal))
    }

    /// Tells what was moved out of the way of a new journal.
    pub(super) fn tell_aside(&self, journal: &mut Journal) {
        if let (Some((path, reason)), Some(hear)) = (journal.aside(), &self.options.on_set_aside) {
            hear(SetAside { path, reason: reason.to_owned() });
        }
    }
}
