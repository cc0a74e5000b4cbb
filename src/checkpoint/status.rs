//! Where the work of a checkpoint stands.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Where the work stands. A source's own spelling stays in the document.
///
/// ```
/// use waypost::{NewEntry, Query, Status, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?.status(Status::Completed), &"done")?;
/// let query = Query { status: Some(Status::Completed), ..Query::default() };
/// assert_eq!(store.list(&query)?.entries.len(), 1);
/// assert!(Status::Completed.is_over());
/// # Ok(())
/// # }
/// ```
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The work is under way.
    #[default]
    InProgress,
    /// The work is done.
    Completed,
    /// The work ended without success.
    Failed,
    /// The work waits.
    Paused,
    /// Kept for the record.
    Archived,
    /// The source does not say.
    Unknown,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 6] = [
        Self::InProgress,
        Self::Completed,
        Self::Failed,
        Self::Paused,
        Self::Archived,
        Self::Unknown,
    ];

    /// Whether the work is over for good: failed work can be tried again, this cannot.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Archived)
    }

    /// The name in commands and files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Paused => "paused",
            Self::Archived => "archived",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Status {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            Error::invalid("status", format_args!("{text:?} is none of {known}"))
        })
    }
}
