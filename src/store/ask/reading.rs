//! Reading: a call that only reads sees all saves so far, also on a full disk.
//!
//! # A full disk
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
//! Every commit takes some new pages, so removing needs room, too. It comes from the reserve of the
//! journal, or from that of the lock file: see `Shared::make_room`.

use crate::error::{Error, Result};
use crate::store::engine::full::is_full;
use crate::store::engine::sectors::is_bad_sector;
use crate::store::save::shared::Shared;
use crate::store::turn::open::Open;

// The first read may fail because of another thread's write, the second because of its own. The
// third is from memory.
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
