//! Why a checkpoint was not restored, by type, with the report up to there.

use std::error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use super::files::Obstacle;
use super::report::Restored;
use crate::checkpoint::Id;
use crate::error::Error;
use crate::recovery::Hurdle;

/// A restore that was refused, ended or failed.
///
/// See [`Refusal`] for an example.
#[derive(Debug)]
#[non_exhaustive]
pub struct NotRestored {
    /// The report until then: all six steps, with skipped ones marked.
    pub report: Box<Restored>,
    /// The reason, which is also displayed.
    pub why: Refusal,
}

impl fmt::Display for NotRestored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl error::Error for NotRestored {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.why.source()
    }
}

impl NotRestored {
    pub(super) fn new(report: Restored, why: Refusal) -> Self {
        Self { report: Box::new(report.with_skipped()), why }
    }
}

/// Why a checkpoint was not restored.
///
/// ```
/// use waypost::recovery::restore::{Refusal, Restore};
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::default(), &"state")?;
/// # std::fs::write(dir.path().join("file"), "").unwrap();
/// let how = Restore { into: dir.path().join("file"), ..Restore::default() };
/// let refused = store.restore(&saved, &how).expect_err("files go into a directory");
/// assert!(matches!(refused.why, Refusal::NotADirectory { .. }));
/// assert!(refused.report.files.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing was written: the checkpoint cannot be resumed from, and
    /// [`Restore::force`](super::Restore::force) was not set.
    #[error("checkpoint {id} cannot be resumed from")]
    NotResumable {
        /// The checkpoint.
        id: Id,
        /// What stands in the way.
        hurdles: Vec<Hurdle>,
    },

    /// Nothing was written: [`Restore::into`](super::Restore::into) is a file.
    #[error("{} cannot be restored into: it is not a directory", path.display())]
    NotADirectory {
        /// The path that was named.
        path: PathBuf,
    },

    /// Nothing was written: some paths cannot be written.
    #[error("{} cannot be restored into: {} cannot be written", path.display(), paths(obstacles))]
    NotRestorable {
        /// The directory.
        path: PathBuf,
        /// Every path that cannot be written to.
        obstacles: Vec<Obstacle>,
    },

    /// Nothing was written: the id has been reused for another checkpoint since the plan was made.
    #[error("checkpoint {id} changed meanwhile: it was deleted and saved again")]
    Changed {
        /// The checkpoint.
        id: Id,
    },

    /// Nothing was written: a file changed since the plan was made.
    #[error("{} changed since the restore was planned", path.display())]
    Outdated {
        /// The file.
        path: PathBuf,
    },

    /// Nothing was written: the state file has other content, and
    /// [`Restore::force`](super::Restore::force) was not set.
    #[error("{} is there with other content", path.display())]
    StateExists {
        /// The state file.
        path: PathBuf,
    },

    /// Nothing was written: the place of the state file is a pipe, a device or a directory.
    #[error("the state cannot go to {}: it is {kind}, not a regular file", path.display())]
    StateNoFile {
        /// The state file.
        path: PathBuf,
        /// What is there.
        kind: &'static str,
    },

    /// Nothing was written: the state file cannot be there.
    #[error("{reason}")]
    StatePlace {
        /// The state file.
        path: PathBuf,
        /// Why not, with the path.
        reason: String,
    },

    /// Written files differ from the capture; replaced files are kept.
    #[error("{count} of {total} files are not as they were captured after they were written")]
    Unverified {
        /// Number of files that differ.
        count: u64,
        /// Number of files that were written or left.
        total: u64,
    },

    /// The watcher ended it. No file was changed.
    #[error("interrupted: no file was written; run it again")]
    Stopped,

    /// The operating system refused; the source says why.
    #[error("cannot {attempt}")]
    Io {
        /// What was tried, with the path.
        attempt: String,
        /// The refusal.
        source: io::Error,
    },

    /// The store cannot be read, or the checkpoint is damaged.
    #[error(transparent)]
    Store(#[from] Error),
}

impl Refusal {
    /// The reason with the system's error, in one line.
    pub(super) fn told(&self) -> String {
        let mut text = self.to_string();
        let mut source = error::Error::source(self);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        text
    }
}

fn paths(obstacles: &[Obstacle]) -> String {
    if obstacles.len() == 1 { "1 path".to_owned() } else { format!("{} paths", obstacles.len()) }
}

/// Says what was tried when an I/O error came.
pub(super) trait Trying<T> {
    fn trying(self, attempt: impl FnOnce() -> String) -> Result<T, Refusal>;
}

impl<T> Trying<T> for io::Result<T> {
    fn trying(self, attempt: impl FnOnce() -> String) -> Result<T, Refusal> {
        self.map_err(|source| Refusal::Io { attempt: attempt(), source })
    }
}
