//! What an export reports while it runs, and how its caller stops it.

use std::ops::ControlFlow;

use super::failure::{ExportError, NotExported};
use super::report::{Exported, MovedFile};
use crate::error::Error;

/// What an export reports while it runs.
///
/// A closure that returns [`ControlFlow::Break`] stops the export. It runs in the thread of the
/// caller, between two steps, and must not use the store.
///
/// See [`Store::export_with`](crate::Store::export_with) for an example.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportEvent<'a> {
    /// Progress: before each part, and at the end.
    Progress {
        /// Number of checkpoints that are done.
        done: u64,
        /// Number of all, where it is known without reading the entries.
        total: Option<u64>,
    },
    /// A checkpoint or a file was left out.
    NotExported {
        /// The id of the checkpoint, the path of a file made of several, or the place of an entry
        /// that is damaged.
        name: &'a str,
        /// The reason.
        why: &'a NotExported,
    },
    /// A note about a file. [`Exported::notes`] counts the files with this note; only the first one
    /// is reported.
    Note {
        /// The id of the checkpoint.
        name: &'a str,
        /// What to know.
        note: &'a str,
    },
    /// A file was removed from where it was before the status of its checkpoint changed.
    Moved(&'a MovedFile),
}

/// The closure that receives events.
pub(super) type Watch<'a> = &'a mut dyn FnMut(ExportEvent<'_>) -> ControlFlow<()>;

/// For exports without a watcher.
pub(super) fn unwatched(_: ExportEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Why an export ended early.
pub(super) enum Halt {
    /// The caller stopped it.
    Stopped,
    Failed(ExportError),
}

impl From<ExportError> for Halt {
    fn from(error: ExportError) -> Self {
        Self::Failed(error)
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Reports events, and remembers that the caller wants to stop.
pub(super) struct Watcher<'a> {
    watch: Watch<'a>,
    total: Option<u64>,
    is_stopped: bool,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(watch: Watch<'a>, total: Option<u64>) -> Self {
        Self { watch, total, is_stopped: false }
    }

    pub(super) fn tell(&mut self, event: ExportEvent<'_>) {
        self.is_stopped |= (self.watch)(event).is_break();
    }

    /// Reports progress; fails once the caller wants to stop.
    pub(super) fn step(&mut self, done: u64) -> Result<(), Halt> {
        let total = self.total;
        self.tell(ExportEvent::Progress { done, total });
        if self.is_stopped { Err(Halt::Stopped) } else { Ok(()) }
    }

    /// Reports progress at the end, when it is too late to stop.
    pub(super) fn end(&mut self, done: u64) {
        let total = self.total;
        self.tell(ExportEvent::Progress { done, total });
    }

    /// Reports what was left out, and counts it in `report` for this many checkpoints.
    pub(super) fn leave_out(
        &mut self,
        report: &mut Exported,
        name: &str,
        why: &NotExported,
        checkpoints: u64,
    ) {
        report.leave_out(why, checkpoints);
        self.tell(ExportEvent::NotExported { name, why });
    }

    /// Distinguishes a stop from a failure: the wait for the store may have ended because the
    /// caller wants to stop.
    pub(super) fn halted<T>(&mut self, ended: Result<T, Halt>, done: u64) -> Result<T, Halt> {
        match ended {
            Err(Halt::Failed(error)) if error.is_locked() => {
                self.step(done).and(Err(Halt::Failed(error)))
            }
            ended => ended,
        }
    }
}
