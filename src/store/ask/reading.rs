//! Reading: a call that only reads sees all saves so far, and waits for no other process.
//!
//! # How a read goes on
//!
//! 1. If this process has the file, the read uses it: what is pending goes into the tables first.
//! 2. Otherwise the read uses a view ([`View`]), which no other process notices. The handle keeps
//!    the view for its next read, which adds newer saves. If a durable commit overtakes the view,
//!    the read runs again on a new view.
//! 3. If commits overtake `VIEWS_MAX` views, or go on for longer than `OVERTAKEN`, the read waits
//!    for a turn as long as that, then tries views again, until `Options::wait` is over.
//! 4. If a view fails for another reason, the read takes a turn. An error of the turn is the
//!    result, unless this user may not write: then it is the error of the view.
//!
//! # A full disk
//!
//! Opening for a turn may write: the engine repairs what a crash left, and the journal and the
//! spool go into the tables. If there is no room for that (`StorageFull`, `QuotaExceeded`) and the
//! call only reads, the file is opened in memory. The rules:
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
//! Every commit takes some new pages, so removing needs room, too. The room comes from the reserve
//! of the journal, from the reserve of the lock file, or from parts of the store file that its last
//! commit does not use: see `Turn::free_space`.

use std::io::ErrorKind;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::error::{Error, Result};
use crate::store::engine::fault::{in_view, without_panics};
use crate::store::engine::full::is_full;
use crate::store::engine::sectors::is_bad_sector;
use crate::store::options::Hold;
use crate::store::save::shared::Shared;
use crate::store::turn::enter::Patience;
use crate::store::turn::open::Open;
use crate::store::turn::view::{OVERTAKEN, PUBLISHING, VIEWS_MAX, View};

// The first read may fail because of another thread's write, the second because of its own. The
// third is from memory.
const READS_MAX: usize = 3;

/// The outcome of a read in views.
enum Viewed<T> {
    Done(Result<T>),
    Failed(Error),
    /// Commits overtook each view.
    Overtaken,
}

impl Shared {
    /// Runs `work` on a file whose tables hold all saves so far.
    pub(in crate::store) fn read<T>(&self, work: impl Fn(&Open) -> Result<T>) -> Result<T> {
        if self.turn.is_at_hand() {
            self.views.forget();
            return self.read_in_turn(work);
        }
        let arrived = Instant::now();
        loop {
            match self.read_in_view(&work) {
                Viewed::Done(outcome) => return outcome,
                Viewed::Failed(why) => {
                    return self.read_in_turn(work).map_err(|error| match why {
                        // A user who may only read could never take a turn.
                        why if is_forbidden(&error) => why,
                        _ => error,
                    });
                }
                Viewed::Overtaken => {
                    let is_last = arrived.elapsed() + OVERTAKEN >= self.options.wait;
                    let until = Patience::Until(Instant::now() + OVERTAKEN);
                    let patience = if is_last { Patience::Usual } else { until };
                    match self.read_in_turn_within(patience, &work) {
                        Err(Error::Locked { .. }) if !is_last => {}
                        Err(error) if is_forbidden(&error) && !is_last => {}
                        outcome => return outcome,
                    }
                }
            }
        }
    }

    /// Looks at the store in a view or, if that is not enough, takes a turn.
    pub(in crate::store) fn look_or_enter(&self) -> Result<()> {
        if self.options.open_late || self.options.hold == Hold::Forever {
            return self.enter();
        }
        match self.read_in_view(&|_| Ok(())) {
            Viewed::Done(Ok(())) => Ok(()),
            // Of two things that this user may not do, the turn is the one that nobody asked for.
            Viewed::Failed(why) if is_forbidden(&why) => {
                self.enter().map_err(|error| if is_forbidden(&error) { why } else { error })
            }
            _ => self.enter(),
        }
    }

    /// As [`Shared::read`], but always in a turn, and never in a view.
    ///
    /// On a full disk this happens in memory. After a failed write of any thread the engine refuses
    /// reads, too; `work` then runs again on the file, which is opened anew.
    pub(in crate::store) fn read_in_turn<T>(&self, work: impl Fn(&Open) -> Result<T>) -> Result<T> {
        self.read_in_turn_within(Patience::Usual, &work)
    }

    /// As [`Shared::read_in_turn`], but waits for the turn as long as `patience` says.
    fn read_in_turn_within<T>(
        &self,
        patience: Patience,
        work: &impl Fn(&Open) -> Result<T>,
    ) -> Result<T> {
        for _ in 1..READS_MAX {
            let mut is_open = false;
            let outcome = self.glance_within(patience, |open| {
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
        self.glance_within(patience, |open| {
            self.settle(open)?;
            work(open)
        })
    }

    fn read_in_view<T>(&self, work: &impl Fn(&Open) -> Result<T>) -> Viewed<T> {
        in_view(|| self.read_in_views(work))
    }

    fn read_in_views<T>(&self, work: &impl Fn(&Open) -> Result<T>) -> Viewed<T> {
        let began = Instant::now();
        for number in 0..VIEWS_MAX {
            if number > 1 && began.elapsed() > OVERTAKEN {
                break;
            }
            let view = match self.view() {
                Ok(Some(view)) => view,
                Ok(None) => {
                    thread::sleep(PUBLISHING * number);
                    continue;
                }
                Err(error) => return Viewed::Failed(error),
            };
            let outcome = without_panics(self.turn.path(), || work(view.open_file()));
            if view.is_stale() {
                self.views.forget();
                continue;
            }
            match outcome {
                // After its own errors the engine refuses further work on this view.
                Err(error) if error.is_of_engine() => {
                    self.views.forget();
                    return Viewed::Failed(error);
                }
                outcome => return Viewed::Done(outcome),
            }
        }
        Viewed::Overtaken
    }

    /// A view with all saves so far; `None` if a commit overtook it.
    fn view(&self) -> Result<Option<Arc<View>>> {
        if let Some(view) = self.views.kept() {
            if matches!(self.complete(&view), Ok(true)) {
                return Ok(Some(view));
            }
            self.views.forget();
        }
        let (place, options) = (self.turn.place(), &self.options);
        let is_first = !self.views.has_had();
        let Some(view) = View::open(place, options, self.frames.clone(), is_first)? else {
            return Ok(None);
        };
        match self.complete(&view) {
            Ok(true) => {
                self.turn.note_identity(view.open_file().identity);
                let view = Arc::new(view);
                self.views.keep(&view);
                Ok(Some(view))
            }
            Err(error) if view.is_current().unwrap_or(false) => Err(error),
            _ => Ok(None),
        }
    }

    /// Adds to a view what the journal and the spool have beyond it; false if a commit overtook it.
    fn complete(&self, view: &View) -> Result<bool> {
        // The journal and the spool may belong to a later commit, and would not fit these tables.
        Ok(view.follow()? && view.is_current()? && {
            without_panics(self.turn.path(), || self.settle(view.open_file()))?;
            // Checked last, since a commit may have removed items while they were read.
            view.is_current()?
        })
    }
}

/// Whether a turn failed because this user may not write there.
pub(in crate::store) fn is_forbidden(error: &Error) -> bool {
    use ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error, Error::Io { source, .. }
        if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem))
}
