//! Lets the file go: when its turn is over, and what is done before.
//!
//! Must never let go of a file of which some is not on disk though the system takes it for written.

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
    /// Lets the file go once no call uses it, after `last` has been done with it.
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

    /// What closing itself meets with is told later; an error says that the file is not closed.
    fn close(&self, open: &mut Option<Open>, last: impl FnOnce(&Open)) -> Result<()> {
        self.write_anew(open.as_ref())?;
        if let Some(open) = open.take() {
            // What a broken file lacks is in the journal, which stays for whoever opens it next.
            let is_broken = self.broken.swap(false, Ordering::AcqRel);
            let result = without_panics(self.path(), || {
                if !is_broken {
                    last(&open);
                }
                // Nobody is to be told that this process has the file when it has not; and once it
                // is closed, another one signs.
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
                // Only now can others see that the file is free.
                self.yielded_micros.store(self.now_micros(), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Whether the file is to be let go now: it is idle, another process waits, or somebody has
    /// moved it or put another in its place.
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

    /// Whether the path leads elsewhere; not if that cannot be told.
    pub(in crate::store) fn is_replaced(&self, open: &Open) -> bool {
        matches!(location::is_at(self.disk(), open.file, self.path()), Ok(false))
    }

    /// Notes that the engine could not sync the file, and writes all of it anew. Until that is done
    /// nobody can use the file, and this process keeps it: others would build on what is not there.
    pub(in crate::store) fn mend(&self, open: &Open) -> Result<()> {
        self.unwritten.store(true, Ordering::Release);
        self.broken.store(true, Ordering::Release);
        self.write_anew(Some(open))
    }

    /// Whether the file is yet to be written anew.
    pub(in crate::store) fn is_unwritten(&self) -> bool {
        self.unwritten.load(Ordering::Acquire)
    }

    /// Writes the file anew if need be, for whoever has it.
    pub(super) fn write_anew(&self, open: Option<&Open>) -> Result<()> {
        if let Some(open) = open.filter(|_| self.is_unwritten()) {
            // What is not at the path any more, nobody will find.
            if !self.is_replaced(open) {
                file::write_anew(self.disk(), self.path(), open.file).at(self.path())?;
            }
            self.unwritten.store(false, Ordering::Release);
        }
        Ok(())
    }
}
