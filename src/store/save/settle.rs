//! Transactions of a handle: changes of the tables, and settling what the journal holds.
//!
//! The journal must be held for a commit that is to last.

use std::sync::atomic::Ordering;

use crate::error::Result;
use crate::store::engine::full::lacks_room;
use crate::store::log::journal::Journal;
use crate::store::save::shared::Shared;
use crate::store::transaction::writer::{Writer, transact};
use crate::store::turn::open::Open;
use crate::sync::lock;

// Of work that a full disk stops.
const TRIES: usize = 6;

impl Shared {
    /// Runs `work` in one transaction, which is on disk when this returns.
    pub(in crate::store) fn write<T>(
        &self,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T>,
    ) -> Result<T> {
        let takes_in = self.take_in_if_room()?;
        let (value, is_moved) = self.with(|open| {
            if takes_in {
                self.take_in(open)?;
            }
            let value = self.write_durably(open, &mut lock(&open.journal), work)?;
            Ok((value, self.turn.is_replaced(open)))
        })?;
        self.check_moved(is_moved).map(|()| value)
    }

    /// Runs `work`, which removes something. If the disk is too full for that, frees the reserve
    /// and what the file does not use, and runs it again: each time it may get further.
    pub(in crate::store) fn make_room<T>(&self, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        for _ in 1..TRIES {
            match work() {
                Err(error) if lacks_room(&error) && self.turn.free_space(true) => {}
                outcome => return outcome,
            }
        }
        work()
    }

    /// Puts spooled saves into the tables; false if the disk is too full for that.
    ///
    /// Then they stay in the spool, so that a call which makes room can go first.
    pub(in crate::store) fn take_in_if_room(&self) -> Result<bool> {
        match self.with(|open| self.take_in(open)) {
            Err(error) if lacks_room(&error) => {
                // The attempt took up space that this other call needs.
                self.turn.free_unused();
                Ok(false)
            }
            taken => taken.map(|()| true),
        }
    }

    /// Makes every save so far durable.
    pub(in crate::store) fn flush(&self) -> Result<()> {
        if !self.keeper.is_relaxed() {
            return Ok(());
        }
        // Relaxed saves are in the journal. If the file had to be closed, opening it puts what the
        // journal has into the tables for good. Called by `tend`, so it must not end with it.
        self.turn.with(|open| {
            let mut journal = lock(&open.journal);
            journal.sync()?;
            self.keep_journal(open, &mut journal)?;
            self.keeper.note_durable();
            Ok(())
        })
    }

    /// Puts into the tables what any process has saved so far, for all to see.
    pub(in crate::store) fn settle(&self, open: &Open) -> Result<()> {
        self.take_in(open)?;
        if open.unsettled.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        if open.on_save().is_none() {
            return transact(open, self.turn.path(), redb::Durability::None, |_| Ok(()));
        }
        // Pruning removes bases, and a saver that has the journal relies on those it has seen.
        let _journal = lock(&open.journal);
        self.settle_and_prune(open)
    }

    /// As [`Shared::settle`], for a caller that has the journal.
    pub(super) fn settle_and_prune(&self, open: &Open) -> Result<()> {
        let now = (self.options.clock)();
        transact(open, self.turn.path(), redb::Durability::None, |it| (self.prune)(it, now))
    }

    /// Puts everything into the tables durably, and removes the journal.
    pub(in crate::store) fn settle_for_good(&self, open: &Open) -> Result<()> {
        let mut journal = lock(&open.journal);
        if !journal.is_open() {
            return Ok(());
        }
        match self.write_durably(open, &mut journal, |_| Ok(())) {
            Ok(()) => journal.remove(),
            Err(error) => {
                // The journal stays, so relaxed saves must be durable in it.
                let _ = journal.sync();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Runs `work` in one durable transaction, for a caller that has the journal.
    pub(in crate::store) fn write_durably<T>(
        &self,
        open: &Open,
        journal: &mut Journal,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T>,
    ) -> Result<T> {
        let now = (self.options.clock)();
        let value = transact(open, self.turn.path(), redb::Durability::Immediate, |writer| {
            let value = work(writer)?;
            (self.prune)(writer, now)?;
            Ok(value)
        })?;
        journal.reset();
        // In memory, relaxed saves are still in a journal that was not synced.
        if !open.is_in_memory() {
            self.keeper.note_durable();
        }
        Ok(value)
    }
}
