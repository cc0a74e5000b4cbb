//! What all calls of one handle share, and how a call enters the turn.
//!
//! Every call on the file begins here. None of these functions writes by itself.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::Duration;

use crate::checkpoint::Timestamp;
use crate::codec::Frames;
use crate::error::{Error, Result};
use crate::store::log::spool::Spool;
use crate::store::options::{Hold, Options};
use crate::store::save::queue::Queue;
use crate::store::transaction::writer::Writer;
use crate::store::turn::enter::{Patience, Turn};
use crate::store::turn::keeper::Keeper;
use crate::store::turn::open::Open;
use crate::store::turn::view::Views;

/// The prune of a saving transaction, run before the commit; the time is that of the clock.
pub(in crate::store) type Prune = fn(&mut Writer<'_>, Timestamp) -> Result<()>;

/// What the handle and its keeper thread share.
pub(in crate::store) struct Shared {
    pub(in crate::store) options: Options,
    pub(in crate::store) turn: Turn,
    pub(in crate::store) queue: Queue,
    pub(in crate::store) spool: Spool,
    /// For reads while this process does not have the file.
    pub(in crate::store) views: Views,
    pub(in crate::store) keeper: Arc<Keeper>,
    pub(in crate::store) frames: Arc<Frames>,
    /// Length of the document that was encoded last.
    pub(in crate::store) last_raw_bytes: AtomicUsize,
    /// Prunes after a save, in the same transaction. The room `keep` decides what goes, and lies
    /// above this one.
    pub(in crate::store) prune: Prune,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("path", &self.turn.path()).finish_non_exhaustive()
    }
}

impl Shared {
    /// Reports trouble that fails no call; see [`Keeper::tell`].
    pub(in crate::store) fn tell(&self, error: Error) {
        self.keeper.tell(&self.options, error);
    }

    /// Runs `work` with the file, after waiting for the turn if needed.
    pub(in crate::store) fn with<T>(&self, work: impl FnOnce(&Open) -> Result<T>) -> Result<T> {
        self.within(Patience::Usual, work)
    }

    /// As [`Shared::with`], but waits as long as `patience` says.
    pub(in crate::store) fn within<T>(
        &self,
        patience: Patience,
        work: impl FnOnce(&Open) -> Result<T>,
    ) -> Result<T> {
        // Its memory would serve no read for a while.
        self.views.forget();
        let result = self.turn.within(patience, work);
        self.tend();
        result
    }

    /// Runs `work` with the file while no other thread uses it.
    pub(in crate::store) fn alone<T>(
        &self,
        work: impl FnOnce(&mut Open) -> Result<T>,
    ) -> Result<T> {
        let result = self.turn.alone(work);
        self.tend();
        result
    }

    /// Does the keeper's work at the end of a call, if it has no thread.
    ///
    /// Nothing would notice later that another process waits or a relaxed save is due.
    pub(in crate::store) fn tend(&self) {
        if !self.keeper.is_absent() {
            return;
        }
        self.spool.let_go_if_idle();
        if self.options.hold != Hold::Forever || self.turn.is_over() {
            return self.let_go();
        }
        self.keeper.note_failure(self.flush());
        self.keeper.note_failure(self.turn.if_open(|open| self.settle(open)));
    }

    /// Puts everything into the tables durably and closes the file.
    pub(in crate::store) fn let_go(&self) {
        self.keeper.note_closed();
        self.turn.release(|open| self.keeper.note_failure(self.settle_for_good(open)));
    }

    /// Closes the file as [`Shared::let_go`] does, and keeps it closed while `work` runs.
    pub(in crate::store) fn closed<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.keeper.note_closed();
        self.turn.closed(|open| self.keeper.note_failure(self.settle_for_good(open)), work)
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
}

/// Lets waiting threads run while one call makes many transactions: locks are not fair.
pub(in crate::store) fn give_way() {
    thread::sleep(Duration::from_millis(1));
}
