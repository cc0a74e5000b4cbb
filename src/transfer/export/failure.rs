//! Why an export failed, and why single checkpoints and files were left out, by type.

use std::io;
use std::path::PathBuf;

use crate::checkpoint::Id;
use crate::error::Error;
use crate::layouts::Problem;
use crate::transfer::own::IS_OWN;

/// Why an export failed as a whole. Files written before stay.
///
/// ```
/// use waypost::Store;
/// use waypost::transfer::export::{ExportError, ExportOptions};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// # std::fs::write(dir.path().join("file"), "").unwrap();
/// let failed = store.export(&dir.path().join("file"), &ExportOptions::default());
/// assert!(matches!(failed, Err(ExportError::NotADirectory { kind: "a file", .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// Something that is no directory is where files should go. Nothing was written.
    #[error("{} is {kind}, and the target of an export is a directory", path.display())]
    NotADirectory {
        /// The path that was named.
        path: PathBuf,
        /// What is there, such as `a file`.
        kind: &'static str,
    },

    /// Options that exclude each other. Nothing was written.
    #[error(transparent)]
    Conflict(#[from] Conflict),

    /// The file for lines exists and must not be overwritten. Nothing was written.
    #[error("{} is there already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },

    /// The file for lines belongs to the store. Nothing was written.
    #[error("{} {IS_OWN}", path.display())]
    Own {
        /// The file.
        path: PathBuf,
    },

    /// The operating system refused; the source says why.
    #[error("cannot {attempt}")]
    Io {
        /// What was tried, with the path.
        attempt: String,
        /// The refusal.
        source: io::Error,
    },

    /// A checkpoint could not be exported for a reason that affects others, too.
    #[error("cannot export {id}")]
    Checkpoint {
        /// The checkpoint.
        id: Id,
        /// The reason.
        source: Box<ExportError>,
    },

    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Options of an export that exclude each other.
///
/// See [`ExportOptions::check`](crate::transfer::export::ExportOptions::check) for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// [`Writing::schema`](crate::layouts::Writing::schema) is of another layout than all files.
    #[error("the schema does not belong to the chosen layout")]
    Schema,
    /// [`Form::Reader`](crate::layouts::Form::Reader) is known of AIWG only.
    #[error("only aiwg reads another form of file than its schema describes")]
    Form,
    /// The files that AIWG's code reads have no version.
    #[error("the form that aiwg reads has no schema")]
    FormWithSchema,
    /// AIWG's code reads compressed files only.
    #[error("the form that aiwg reads is compressed")]
    FormWithPlain,
}

/// Why a checkpoint, or a file made of several, was not exported.
///
/// See [`Store::export_with`](crate::Store::export_with) for an example.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotExported {
    /// The path is invalid or forbidden for a checkpoint file.
    #[error("path {path:?} {reason}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file with other content is there; [`ExportOptions::overwrite`](super::ExportOptions)
    /// replaces it.
    #[error("{path} is there with other content")]
    Differs {
        /// The path, from the directory of the export.
        path: String,
    },
    /// An obstacle that is never replaced, such as a directory.
    #[error("{path} {reason}")]
    Obstructed {
        /// The path, from the directory of the export.
        path: String,
        /// What is in the way.
        reason: &'static str,
    },
    /// A newer checkpoint of another series has the path.
    #[error("a newer checkpoint of another series has {path}")]
    Taken {
        /// The path, from the directory of the export.
        path: String,
    },
    /// The status of the checkpoint moves its file, and the file is not as it was imported.
    #[error("{path} has changed since it was imported, and stays; import it, or remove it")]
    Changed {
        /// Where the file is.
        path: String,
    },
    /// The checkpoint lacks what the layout requires.
    #[error("{}", listed(problems))]
    Invalid {
        /// What it lacks, by field.
        problems: Vec<Problem>,
    },
    /// The document cannot be spelled in the format of the file.
    #[error(transparent)]
    Unspellable(Error),
    /// The checkpoint, or a file captured with it, is damaged.
    #[error(transparent)]
    Damaged(Error),
    /// The checkpoint is larger than the limits of this store allow to read.
    #[error(transparent)]
    Limit(Error),
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Says what was tried when an I/O error came.
pub(super) trait Trying<T> {
    fn trying(self, attempt: impl FnOnce() -> String) -> Result<T, ExportError>;
}

impl<T> Trying<T> for io::Result<T> {
    fn trying(self, attempt: impl FnOnce() -> String) -> Result<T, ExportError> {
        self.map_err(|source| ExportError::Io { attempt: attempt(), source })
    }
}

impl ExportError {
    /// Whether another process held the store for longer than the wait limit.
    pub(super) fn is_locked(&self) -> bool {
        match self {
            Self::Store(Error::Locked { .. }) => true,
            Self::Checkpoint { source, .. } => source.is_locked(),
            _ => false,
        }
    }
}
