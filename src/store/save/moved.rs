//! Files that another program moves, removes or replaces while this process writes to them.
//!
//! A write to such a file succeeds, but the next process does not find the file. So after a save
//! was written and before it is acknowledged, it checks that the store and the journal are still at
//! their paths.
//!
//! The check takes one `stat` for each file and group, about 2 us, while a save takes 20 to 300 us.
//! `fstat` would take 0.6 us, but would not notice a move.
//!
//! - The journal is gone: one durable commit puts all saves of this process that were only in the
//!   journal into the tables, earlier ones included. The next save makes a new journal. If another
//!   file is at that path by then, it is set aside.
//! - The store is gone: the process closes the moved file, which keeps all earlier saves, and saves
//!   the group again into the store that is at the path now, or into a new one. Any other change
//!   (`tag`, `delete`) fails and says so.
//! - The folder of the spool is gone or was replaced: the save waits for the store.
//! - Something other than a directory lies at `NAME.spool`: saves wait for the store, and
//!   `Options::on_trouble` reports it.
//!
//! The keeper checks both files every 5 ms (250 ms for a sole owner). Limits: saves acknowledged
//! before a removal are lost if the process is killed before it notices. A file that is overwritten
//! in place (`cp`) is not noticed, nor is anything on systems without inodes.

use std::io;

use crate::checkpoint::Entry;
use crate::error::{At as _, Error, Result};
use crate::store::log::journal::Journal;
use crate::store::options::SetAside;
use crate::store::save::draft::Draft;
use crate::store::save::pack::Reach;
use crate::store::save::shared::Shared;
use crate::store::turn::enter::Patience;
use crate::store::turn::open::Open;
use crate::sync::try_lock;

// Only a test replaces a store this often during one save.
const MOVES_MAX: usize = 8;

impl Shared {
    /// Writes packed drafts as [`Shared::write_group_once`] does. If the store is moved meanwhile,
    /// writes them again into the store that is at the path by then.
    pub(in crate::store) fn write_group(
        &self,
        patience: Patience,
        drafts: &mut [Draft],
    ) -> Result<Vec<Result<Entry>>> {
        for _ in 0..MOVES_MAX {
            if let Some(outcomes) = self.write_group_once(patience, drafts)? {
                return Ok(outcomes);
            }
            self.let_go();
            for draft in &mut *drafts {
                draft.sequence = None;
                // If the same store comes back to the path, it may have the draft already.
                draft.has_own_id = true;
            }
            self.pack_by(drafts, Reach::Turn(patience))?;
        }
        Err(self.moved())
    }

    /// Fails if the path no longer leads to the file that was written to.
    pub(in crate::store) fn check_moved(&self, is_moved: bool) -> Result<()> {
        if is_moved {
            self.let_go();
            return Err(self.moved());
        }
        Ok(())
    }

    fn moved(&self) -> Error {
        let reason = "another program moved, removed or replaced the file during the write; the \
                      change is not in the store at this path: try again";
        Err::<(), _>(io::Error::other(reason)).at(self.turn.path()).expect_err("it is an error")
    }

    /// If the journal is no longer at its path, commits everything in it durably to the tables and
    /// drops the journal: the next process would not find it.
    pub(in crate::store) fn keep_journal(&self, open: &Open, journal: &mut Journal) -> Result<()> {
        if journal.is_gone() {
            self.write_durably(open, journal, |_| Ok(()))?;
            journal.remove();
        }
        Ok(())
    }

    /// As [`Shared::keep_journal`], unless a saver has the journal: savers check for themselves.
    pub(in crate::store) fn watch_journal(&self, open: &Open) -> Result<()> {
        try_lock(&open.journal).map_or(Ok(()), |mut journal| self.keep_journal(open, &mut journal))
    }

    /// Reports a file that was moved out of the way of a new journal.
    pub(in crate::store) fn tell_aside(&self, journal: &mut Journal) {
        if let (Some((path, reason)), Some(hear)) = (journal.aside(), &self.options.on_set_aside) {
            hear(SetAside { path, reason: reason.to_owned() });
        }
    }
}
