//! Why an import ended early, by type, with the report up to there.

use std::error;
use std::fmt;
use std::io;

use super::report::Imported;
use crate::error::Error;

/// An import that failed. What it imported until then stays.
///
/// ```
/// use std::path::Path;
/// use waypost::transfer::import::{ImportError, ImportOptions};
/// use waypost::{Error, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let store = Store::open(dir.path().join("store.redb"))?;
/// let failed = store.import(Path::new("no such file"), &ImportOptions::default()).unwrap_err();
/// assert_eq!(failed.report.imported, 0);
/// assert!(matches!(failed.why, ImportError::Store(Error::Io { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Unfinished {
    /// What was done until then.
    pub report: Box<Imported>,
    /// The reason, which is also what this displays as.
    pub why: ImportError,
}

/// Why an import failed.
///
/// ```
/// use waypost::transfer::import::ImportError;
///
/// let source = std::io::Error::other("pipe broke");
/// let why = ImportError::Unreadable { input: "week.jsonl".to_owned(), source };
/// assert_eq!(why.to_string(), "cannot read week.jsonl");
/// assert!(!why.is_locked());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The store failed, or a path cannot be read.
    #[error(transparent)]
    Store(#[from] Error),
    /// The store failed while it took lines.
    #[error("cannot import {input}")]
    Lines {
        /// The name of the input.
        input: String,
        /// What the store said.
        source: Error,
    },
    /// Lines cannot be read.
    #[error("cannot read {input}")]
    Unreadable {
        /// The name of the input.
        input: String,
        /// What the system said.
        source: io::Error,
    },
}

impl ImportError {
    /// True if another process kept the store for longer than this one would wait.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        match self {
            Self::Store(error) | Self::Lines { source: error, .. } => {
                matches!(error, Error::Locked { .. })
            }
            Self::Unreadable { .. } => false,
        }
    }
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl error::Error for Unfinished {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.why.source()
    }
}

/// Why the parts of an import end early.
#[derive(Debug)]
pub(super) enum Ending {
    /// The caller stopped it.
    Stopped,
    Failed(ImportError),
}

/// What a part of an import returns.
pub(super) type Ended<T = ()> = Result<T, Ending>;

impl From<Error> for Ending {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}
