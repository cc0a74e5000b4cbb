//! A backup on a full disk: the store is opened, filled and closed in memory.

use crate::error::Result;
use crate::store::engine::fault::without_panics;
use crate::store::engine::overlay::Overlay;
use crate::store::save::shared::Shared;
use crate::store::turn::open::Open;
use crate::store::turn::wait::when_free;

impl Shared {
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
}
