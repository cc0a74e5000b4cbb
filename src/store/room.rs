//! A disk without room: a store is read from memory there, and every call that writes tries.

use std::io;
use std::path::Path;

use super::Shared;
use super::held::when_free;
use super::open::Open;
use super::overlay::Overlay;
use super::table::without_panics;
use super::turn::Patience;
use crate::error::{Error, Result};

/// Whether the file system has no room for something, or the user may not have more of it.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::QuotaExceeded | io::ErrorKind::StorageFull)
}

/// Whether an error says so of a path.
pub(super) fn lacks_room(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if is_full(source))
}

/// What is said of a journal that cannot be taken in.
pub(super) fn no_room(path: &Path, bytes: u64) -> Error {
    let mebibytes = bytes.div_ceil(1 << 20);
    let reason = format!(
        "the disk is full: about {mebibytes} MiB must be free to put what is in the journal into \
         the store"
    );
    let source = io::Error::new(io::ErrorKind::StorageFull, reason);
    Error::Io { path: path.to_owned(), source }
}

impl Shared {
    /// Runs `work` on a file whose tables have all that was saved so far.
    ///
    /// Where the disk has no room for that, they have it in memory.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Open) -> Result<T>) -> Result<T> {
        let mut work = Some(work);
        loop {
            let outcome = self.glance(|open| {
                self.settle(open)?;
                work.take().map(|work| work(open)).transpose()
            });
            match outcome {
                Ok(Some(value)) => return Ok(value),
                Err(error) if lacks_room(&error) && work.is_some() => self.turn.expect_no_room(),
                Err(error) => return Err(error),
                Ok(None) => unreachable!("the work is taken once, and that ends the loop"),
            }
        }
    }

    /// Runs `work` on the file as it is, whatever waits for its tables; in memory if need be.
    pub(super) fn glance<T>(&self, work: impl FnOnce(&Open) -> Result<T>) -> Result<T> {
        self.glance_within(Patience::Usual, work)
    }

    /// As [`Shared::glance`], but waits for so long.
    pub(super) fn glance_within<T>(
        &self,
        patience: Patience,
        work: impl FnOnce(&Open) -> Result<T>,
    ) -> Result<T> {
        let result = self.turn.read_within(patience, work);
        self.tend();
        result
    }

    /// Runs `work` on the file in memory, where it has everything, and `read` on what it would be
    /// if it were closed then. Nobody else has it meanwhile.
    pub(super) fn closed_in_memory<T>(
        &self,
        work: impl FnOnce(&Open) -> Result<T>,
        read: impl FnOnce(&Overlay) -> Result<()>,
    ) -> Result<T> {
        let path = self.turn.path();
        let outcome = self.closed(|| {
            let open = when_free(path, self.options.wait, || self.turn.open_in_memory())?;
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

    /// Puts what was spooled into the tables, unless the disk has no room for it; whether it did.
    ///
    /// Then it stays where it is, and whatever makes room comes first.
    pub(super) fn take_in_if_room(&self) -> Result<bool> {
        match self.with(|open| self.take_in(open)) {
            Err(error) if lacks_room(&error) => Ok(false),
            taken => taken.map(|()| true),
        }
    }
}
