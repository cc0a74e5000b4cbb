//! Watching a long call, and ending it between two of its transactions.
//!
//! `apply_with`, `apply_now_with` and `compact_with` call a closure with each step, between
//! transactions, and end there if it says so. They never split a transaction. An ended prune is one
//! operation for `undelete`. The command sets a flag at Ctrl-C and SIGTERM and checks it between
//! steps; a second signal ends it at once. A signal ends quick commands and reading ones at once,
//! and the store takes no harm.

use std::fmt;
use std::ops::ControlFlow;

/// How far a long call of a [`Store`](crate::Store) has come.
///
/// Calls that end in `_with` pass it to a closure before each of their steps. If the closure
/// breaks, the call ends and returns what it has done until then:
///
/// - every transaction is there as a whole or not at all, and the store can be used at once;
/// - what was removed is one operation in the log, however many transactions it took, and can be
///   restored by its number;
/// - the same call once more, after planning anew if there was a plan, continues where it ended.
///
/// The closure runs in the thread of the caller. It must not use the store. Other processes may
/// have to wait for the store meanwhile.
///
/// ```
/// use std::ops::ControlFlow;
/// use waypost::Store;
/// use waypost::care::{Stage, Step, Verify};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// # Store::open(&path)?.close()?;
/// let mut stages = Vec::new();
/// let mut watch = |step: Step| {
///     stages.push(step.stage);
///     ControlFlow::Continue(()) // `Break` would end the call here.
/// };
/// Store::verify_with(&path, &Verify::default(), &mut watch)?;
/// assert!(stages.contains(&Stage::Pages));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// What comes next.
    pub stage: Stage,
    /// How much of this stage is done.
    pub done: u64,
    /// How much there is to do, if that is known.
    pub total: Option<u64>,
}

/// A part of a long call.
///
/// See [`Step`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Removes checkpoints, some thousand at once.
    Prune,
    /// Removes for good what was deleted, some thousand at once.
    Purge,
    /// Removes names and contents that no checkpoint uses any more.
    Sweep,
    /// Compresses documents once more, more thoroughly, some hundred at once.
    Tighten,
    /// Moves pages to the front of the file, and truncates it. The number of rounds is known only
    /// at the end.
    Shrink,
    /// Rewrites tables that are half empty.
    Repack,
    /// Checks every page of the file by its sum. The number of pages is known only at the end.
    Pages,
    /// Reads every checkpoint: its entry, its document, and the rows that lead to it.
    Documents,
    /// Follows every row to where it leads.
    Rows,
    /// Reads every captured content.
    Contents,
    /// Copies the file, in bytes.
    Copy,
    /// Saves what can be read of a damaged store.
    Salvage,
    /// Stores documents under another key, some thousand at once.
    Rekey,
    /// Stores captured files under another key, some thousand at once.
    RekeyFiles,
    /// Reads everything that is to be written, before the first write.
    Read,
    /// Writes files beside their places.
    Write,
    /// Reads back what was written.
    ReadBack,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Prune => "pruning",
            Self::Purge => "removing what was deleted",
            Self::Sweep => "sweeping",
            Self::Tighten => "compressing",
            Self::Shrink => "giving space back",
            Self::Repack => "filling pages",
            Self::Pages => "checking pages",
            Self::Documents => "reading checkpoints",
            Self::Rows => "following rows",
            Self::Contents => "reading captured files",
            Self::Copy => "copying",
            Self::Salvage => "saving what can be read",
            Self::Rekey => "documents under another key",
            Self::RekeyFiles => "captured files under another key",
            Self::Read => "reading",
            Self::Write => "writing",
            Self::ReadBack => "verifying",
        })
    }
}

/// The closure that gets each step.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(Step) -> ControlFlow<()>;

/// For calls without a watcher.
pub(crate) fn unwatched(_: Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

impl Step {
    /// A step whose total is known.
    pub(crate) fn of(stage: Stage, done: usize, total: usize) -> Self {
        Self { stage, done: done as u64, total: Some(total as u64) }
    }

    /// A step whose total is not known.
    pub(crate) fn named(stage: Stage, done: u64) -> Self {
        Self { stage, done, total: None }
    }
}
