//! Reading: a call that only reads sees all saves so far, also on a full disk.

use crate::error::{Error, Result};
use crate::store::engine::full::is_full;
use crate::store::engine::sectors::is_bad_sector;
use crate::store::save::shared::Shared;
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
}
