//! A full disk: calls that only read open the store in memory, calls that write still try.

use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::store::Shared;
use crate::store::engine::overlay::Overlay;
use crate::store::engine::sectors::is_bad_sector;
use crate::store::engine::table::without_panics;
use crate::store::turn::enter::Patience;
use crate::store::turn::held::when_free;
use crate::store::turn::open::Open;

// The first read may fail over a write of another thread, the second over its own; the third is
// from memory.
const READS_MAX: usize = 3;

/// Whether the disk is full, or the quota of the user.
pub(in crate::store) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::QuotaExceeded | io::ErrorKind::StorageFull)
}

/// As [`is_full`], for an error of this crate.
pub(in crate::store) fn lacks_room(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if is_full(source))
}

/// The error for a journal that cannot be put into the tables.
pub(in crate::store) fn no_room(path: &Path, bytes: u64) -> Error {
    let mebibytes = bytes.div_ceil(1 << 20);
    let reason = format!(
        "the disk is full: putting the journal into the store needs about {mebibytes} MiB of free \
         space"
    );
    let source = io::Error::new(io::ErrorKind::StorageFull, reason);
    Error::Io { path: path.to_owned(), source }
}

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
