//! Releases the file: when its turn is over, and what is done before.
//!
//! Must never release a file whose pages the kernel wrongly takes for written.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{TURN_MIN, Turn};
use crate::error::{At, Result};
use crate::store::engine::fault::without_panics;
use crate::store::engine::location;
use crate::store::options::Hold;
use crate::store::turn::file;
use crate::store::turn::lock::HeldStore;
use crate::store::turn::open::Open;
use crate::sync::{lock, write};

impl Turn {
    /// Releases the file once no call uses it, after running `last` on it.
    pub(in crate::store) fn release(&self, last: impl FnOnce(&Open)) {
        let closed = self.close(&mut write(&self.open), last);
        if closed.is_err() {
            self.keeper.note_open();
        }
        self.keeper.note_failure(closed);
    }

    /// As [`Turn::release`], and runs `work` before this process can open the file again.
    pub(in crate::store) fn closed<T>(
        &self,
        last: impl FnOnce(&Open),
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let mut open = write(&self.open);
        self.close(&mut open, last).inspect_err(|_| self.keeper.note_open())?;
        work()
    }

    /// Errors of the close itself are reported later; an error here means the file is not closed.
    fn close(&self, open: &mut Option<Open>, last: impl FnOnce(&Open)) -> Result<()> {
        self.write_anew(open.as_ref())?;
        if let Some(open) = open.take() {
            // What a broken file lacks is in the journal, which stays for the next opening.
            let is_broken = self.broken.swap(false, Ordering::AcqRel);
            let result = without_panics(self.path(), || {
                if !is_broken {
                    last(&open);
                }
                // The text must not say that this process has the file once it has not. After the
                // close, another process signs.
                let (identity, file) = (open.identity, open.file);
                let known = HeldStore { identity, file, sealing: *lock(&self.sealing) };
                // A file in memory was never signed, and another process may have changed the key.
                if !open.is_in_memory() && !self.is_replaced(&open) {
                    let _ = self.lock_file.sign("", Some(known));
                }
                drop(open);
                Ok(())
            });
            self.keeper.note_failure(result);
            if self.yielded_micros.load(Ordering::Relaxed) > 0 {
                // Only now other processes can see that the file is free.
                self.yielded_micros.store(self.now_micros(), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Whether to release the file now: it is idle, another process waits, or another program has
    /// moved or replaced it.
    pub(in crate::store) fn is_over(&self) -> bool {
        let (since, is_replaced) = match self.open.try_read() {
            Ok(open) => match open.as_ref() {
                Some(open) => (open.since, self.is_replaced(open)),
                None => return false,
            },
            // A call is opening or compacting the file.
            Err(_) => return false,
        };
        let Hold::Idle(idle) = self.options.hold else { return is_replaced };
        if is_replaced {
            return true;
        }
        let used = Duration::from_micros(self.used_micros.load(Ordering::Relaxed));
        let is_used = self.in_flight.load(Ordering::Relaxed) > 0;
        if !is_used && self.start.elapsed().saturating_sub(used) >= idle {
            return true;
        }
        if since.elapsed() < TURN_MIN || !self.lock_file.is_awaited() {
            return false;
        }
        self.yielded_micros.store(self.now_micros(), Ordering::Relaxed);
        true
    }

    /// Whether the path leads to another file; false if that is unknown.
    pub(in crate::store) fn is_replaced(&self, open: &Open) -> bool {
        matches!(location::is_at(self.disk(), open.file, self.path()), Ok(false))
    }

    /// Notes that the engine could not sync the file, and rewrites it. Until that is done nobody
    /// can use the file, and this process keeps it: others would build on pages that are not on
    /// disk.
    pub(in crate::store) fn mend(&self, open: &Open) -> Result<()> {
        self.unwritten.store(true, Ordering::Release);
        self.broken.store(true, Ordering::Release);
        self.write_anew(Some(open))
    }

    /// Whether the file is yet to be rewritten.
    pub(in crate::store) fn is_unwritten(&self) -> bool {
        self.unwritten.load(Ordering::Acquire)
    }

    /// Rewrites the file if needed, for a caller that has it.
    pub(super) fn write_anew(&self, open: Option<&Open>) -> Result<()> {
        if let Some(open) = open.filter(|_| self.is_unwritten()) {
            // A file that is no longer at the path will not be found.
            if !self.is_replaced(open) {
                file::write_anew(self.disk(), self.path(), open.file).at(self.path())?;
            }
            self.unwritten.store(false, Ordering::Release);
        }
        Ok(())
    }
}
