//! A full disk: calls that only read open the store in memory, calls that write still try.
//!
//! Opening may write: the engine repairs what a crash left, and the journal and the spool go into
//! the tables. If there is no room for that (`StorageFull`, `QuotaExceeded`) and the call only
//! reads, the file is opened in memory. The rules:
//!
//! - Nothing that was written to an overlay reaches the disk. The journal and the files of the
//!   spool stay. An overlay notes which of them it has read, but only the tables on disk decide
//!   which may be removed.
//! - A call that writes closes a file that is open in memory, and tries to open it on disk.
//! - A call that removes something continues without the spool if there is no room to take it in.
//!   It may not see the spooled saves; they are taken in later.
//! - `backup` copies the closed overlay if the file cannot be closed cleanly, because the disk is
//!   full or other processes are killed with the store time and again.
//!
//! A store that was closed properly has no reserve: the engine trims its file, and every commit
//! takes some new pages. So removing anything from it needs some free space.

use crate::error::{Error, Result};
use crate::store::Shared;
use crate::store::engine::fault::without_panics;
use crate::store::engine::full::{is_full, lacks_room};
use crate::store::engine::overlay::Overlay;
use crate::store::engine::sectors::is_bad_sector;
use crate::store::turn::enter::Patience;
use crate::store::turn::held::when_free;
use crate::store::turn::open::Open;

// The first read may fail over a write of another thread, the second over its own; the third is
// from memory.
const READS_MAX: usize = 3;

impl Shared {
    /// Runs `work` on a file whose tables hold all saves so far.
    ///
    /// On a full disk this happens in memory. After a failed write of any thread the engine refuses
    /// reads, too; `work` then runs again on the file, which is opened anew.
    pub(in crate::store) fn read<T>(&self, work: impl Fn(&Open) -> Result<T>) -> Result<T> {
        for _ in 1..READS_MAX {
            let mut is_open = false;
            let outcome = self.glance(|open| {
                is_open = true;
                self.settle(open)?;
                work(open)
            });
            match outcome {
                Err(Error::Io { source, .. }) if is_open && !is_bad_sector(&source) => {
                    if is_full(&source) {
                        self.turn.expect_no_room();
                    }
                }
                outcome => return outcome,
            }
        }
        self.glance(|open| {
            self.settle(open)?;
            work(open)
        })
    }

    /// Runs `work` on the file as it is, without putting pending saves into its tables; in memory
    /// if needed.
    pub(in crate::store) fn glance<T>(&self, work: impl FnOnce(&Open) -> Result<T>) -> Result<T> {
        self.glance_within(Patience::Usual, work)
    }

    /// As [`Shared::glance`], but waits as long as `patience` says.
    pub(in crate::store) fn glance_within<T>(
        &self,
        patience: Patience,
        work: impl FnOnce(&Open) -> Result<T>,
    ) -> Result<T> {
        let result = self.turn.read_within(patience, work);
        self.tend();
        result
    }

    /// Opens the file in memory, takes in journal and spool, runs `work`, closes it there, and runs
    /// `read` on the closed overlay. No other process has the file meanwhile.
    pub(in crate::store) fn closed_in_memory<T>(
        &self,
        work: impl FnOnce(&Open) -> Result<T>,
        read: impl FnOnce(&Overlay) -> Result<()>,
    ) -> Result<T> {
        let path = self.turn.path();
        let outcome = self.closed(|| {
            let open =
                when_free(self.turn.place(), self.options.wait, || self.turn.open_in_memory())?;
            let outcome = without_panics(path, || {
                self.take_in(&open)?;
                work(&open)
            });
            let overlay = open.memory.clone();
            without_panics(path, || {
                drop(open);
                Ok(())
            })?;
            let value = outcome?;
            overlay.as_ref().map_or(Ok(()), read)?;
            Ok(value)
        });
        self.keeper.note_closed();
        outcome
    }

    /// Runs `work`, which removes something. If the disk is too full for that, frees the reserve
    /// and runs it again.
    pub(in crate::store) fn make_room<T>(&self, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        match work() {
            Err(error) if lacks_room(&error) && self.turn.release_reserve() => work(),
            outcome => outcome,
        }
    }

    /// Puts spooled saves into the tables; false if the disk is too full for that.
    ///
    /// Then they stay in the spool, so that a call that makes room can go first.
    pub(in crate::store) fn take_in_if_room(&self) -> Result<bool> {
        match self.with(|open| self.take_in(open)) {
            Err(error) if lacks_room(&error) => Ok(false),
            taken => taken.map(|()| true),
        }
    }
}
