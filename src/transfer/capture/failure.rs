//! Why files are not captured.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Why files are not captured.
///
/// ```
/// use std::path::{Path, PathBuf};
/// use waypost::transfer::capture::{Capture, CaptureError};
///
/// let outside = [PathBuf::from("/proc/version")];
/// let refused = Capture::read(Path::new("store.redb"), &outside, &mut |_| {});
/// assert!(matches!(refused, Err(CaptureError::Refused { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The path cannot be captured at all, such as a link.
    #[error("cannot capture {}: {reason}", path.display())]
    Refused {
        /// The path, as it was given or found.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The file is longer than the limit for one file.
    #[error("cannot read {}", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// [`Error::Limit`].
        source: Error,
    },
    /// The operating system refused to read it.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The refusal.
        source: io::Error,
    },
    /// The store is named by a relative path, and the current directory is unknown.
    #[error("cannot tell which directory the store is for")]
    NoHome,
    /// The store cannot be read, or all files together are beyond a limit.
    #[error(transparent)]
    Store(#[from] Error),
}

impl CaptureError {
    pub(super) fn refused(path: &Path, reason: &str) -> Self {
        Self::Refused { path: path.to_owned(), reason: reason.to_owned() }
    }

    pub(super) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }
}
