//! The one public error: a variant for every case in which a caller would act differently.
//!
//! Must never carry content of a document: messages end up in logs.
//!
//! The decoder words serde's errors itself, and the types of this crate leave it to their caller to
//! say what was found. A test sends broken, damaged and refused input with a secret through it. The
//! messages of a caller's own `Deserialize` are out of our control.

mod subject;

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use subject::{Subject, Wanted};

/// What went wrong, and with which checkpoint, path or place.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::{Error, Id, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// match store.get(&Id::new("absent")?) {
///     Ok(checkpoint) => show(format!("saved at {}", checkpoint.entry.created_at)),
///     Err(Error::NotFound { .. }) => show(format!("nothing there yet")),
///     Err(error) => return Err(error),
/// }
/// # assert!(matches!(store.get(&Id::new("absent")?), Err(Error::NotFound { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such checkpoint, or it has no such captured file.
    #[error("{wanted}")]
    NotFound {
        /// The requested name.
        wanted: Wanted,
    },

    /// A name or the start of an id matches more than one checkpoint; a longer one would help.
    #[error("{prefix:?} may be {first} or {second}")]
    Ambiguous {
        /// The requested name.
        prefix: String,
        /// One that it matches.
        first: String,
        /// Another that it matches.
        second: String,
    },

    /// The id is taken by a checkpoint with other content. Nothing was changed.
    #[error("checkpoint {id} exists with other content")]
    Exists {
        /// The id that both would have.
        id: String,
    },

    /// A plan that no longer fits the store: something was saved, tagged or deleted since.
    #[error("the plan no longer fits the store: checkpoint {id} {reason}; {removed} were removed")]
    Outdated {
        /// The first checkpoint that was to be removed and is not to be any more.
        id: String,
        /// Why not.
        reason: &'static str,
        /// How many were removed before that was noticed.
        removed: u64,
    },

    /// A value cannot be stored, or cannot be read as the type that was asked for.
    #[error("invalid {what}: {reason}")]
    Invalid {
        /// What it is.
        what: Subject,
        /// What is wrong with it.
        reason: String,
    },

    /// The input or a request goes beyond a limit of [`Limits`](crate::options::Limits).
    #[error("{what} is beyond the limit of {limit}")]
    Limit {
        /// What is too large, in words.
        what: String,
        /// The limit in force.
        limit: u64,
    },

    /// Written by a newer release; upgrade to read it. Nothing was changed.
    #[error("{} has format {found}, newer than {supported}, the newest this build reads",
        path.display())]
    TooNew {
        /// The store.
        path: PathBuf,
        /// The format it is written in.
        found: u32,
        /// The newest format this build reads.
        supported: u32,
    },

    /// Written by a release so old that this one cannot read it. Nothing was changed.
    #[error("{} has format {found}, older than {oldest}, the oldest this build reads",
        path.display())]
    TooOld {
        /// The store.
        path: PathBuf,
        /// The format it is written in.
        found: u32,
        /// The oldest format this build reads.
        oldest: u32,
    },

    /// The file is something else. Nothing was changed.
    #[error("{} is not a waypost store: {reason}", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },

    /// The file has several names (hard links). A save may stay in the journal beside one name for
    /// a while, and a process that opens the file under another name would not see it. Nothing was
    /// changed.
    ///
    /// To mend this, replace each name that is needed by a copy of the file, while no process uses
    /// the store.
    #[error("{} has {names} names ({}); a save under one name would be missing under the \
        others", path.display(), listed(others))]
    Linked {
        /// The store.
        path: PathBuf,
        /// Number of its names.
        names: u64,
        /// The other names that are in the same directory.
        others: Vec<PathBuf>,
    },

    /// Stored bytes are damaged. What cannot be proved right is not returned.
    #[error("damaged data in {place}: {reason}")]
    Corrupt {
        /// The checkpoint id, or the table and key.
        place: String,
        /// Which check failed.
        reason: String,
        /// How much of the store it hurts.
        damage: Damage,
    },

    /// Something is encrypted with a key that was not given. It is not damaged.
    #[error("{what} is encrypted with key {id}, and {reason}")]
    Key {
        /// The checkpoint, the file or the store.
        what: String,
        /// The id of the key: its [`KeyId`](crate::care::KeyId).
        id: String,
        /// Why it is not at hand.
        reason: &'static str,
    },

    /// Another process kept the store for longer than the wait allows.
    #[error("{} is held by {holder}; gave up after {:.1} s", path.display(), waited.as_secs_f64())]
    Locked {
        /// The store.
        path: PathBuf,
        /// The holder, as it described itself.
        holder: String,
        /// How long this call waited.
        waited: Duration,
    },

    /// The operating system refused; the source says why.
    #[error("cannot access {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The refusal.
        source: io::Error,
    },
}

/// How much of a store damage hurts.
///
/// ```
/// use waypost::Error;
/// use waypost::error::Damage;
///
/// fn needs_repair(error: &Error) -> bool {
///     !matches!(error, Error::Corrupt { damage: Damage::Part, .. })
/// }
/// let (place, reason) = ("checkpoint run-7".to_owned(), "its sum differs".to_owned());
/// assert!(!needs_repair(&Error::Corrupt { place, reason, damage: Damage::Part }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// One checkpoint, file or row; all others can be read.
    Part,
    /// The engine's own pages. The call that met it says nothing about any checkpoint.
    Engine,
    /// The disk cannot read some bytes of a file. It may be failing.
    Disk,
    /// All of it: nothing can be saved.
    Everything,
}

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn invalid(what: impl Into<Subject>, reason: impl Display) -> Self {
        Self::Invalid { what: what.into(), reason: reason.to_string() }
    }

    pub(crate) fn corrupt(place: impl Into<String>, reason: impl Display) -> Self {
        Self::damaged(Damage::Part, place, reason)
    }

    /// As [`Error::corrupt`], for the store as a whole.
    pub(crate) fn corrupt_store(damage: Damage, path: &Path, reason: impl Display) -> Self {
        Self::damaged(damage, path.display().to_string(), reason)
    }

    /// Damage to stored bytes.
    pub(crate) fn damaged(damage: Damage, place: impl Into<String>, reason: impl Display) -> Self {
        Self::Corrupt { place: place.into(), reason: reason.to_string(), damage }
    }

    /// Returns the id of the process that keeps the store, if known.
    ///
    /// Only [`Error::Locked`] has one.
    #[must_use]
    pub fn holding_process(&self) -> Option<u32> {
        match self {
            Self::Locked { holder, .. } => process_of(holder),
            _ => None,
        }
    }

    /// Whether the error comes from the engine or the disk and not from one checkpoint, so that it
    /// says nothing about a checkpoint.
    pub(crate) fn is_of_engine(&self) -> bool {
        match self {
            Self::Io { .. } => true,
            Self::Corrupt { damage, .. } => *damage != Damage::Part,
            _ => false,
        }
    }

    /// A copy for every saver of a shared transaction; `io::Error` itself cannot be cloned.
    pub(crate) fn share(&self) -> Self {
        match self {
            Self::NotFound { wanted } => Self::NotFound { wanted: wanted.clone() },
            Self::Ambiguous { prefix, first, second } => Self::Ambiguous {
                prefix: prefix.clone(),
                first: first.clone(),
                second: second.clone(),
            },
            Self::Exists { id } => Self::Exists { id: id.clone() },
            Self::Outdated { id, reason, removed } => {
                Self::Outdated { id: id.clone(), reason, removed: *removed }
            }
            Self::Invalid { what, reason } => Self::invalid(what.clone(), reason),
            Self::Limit { what, limit } => Self::Limit { what: what.clone(), limit: *limit },
            Self::TooNew { path, found, supported } => {
                Self::TooNew { path: path.clone(), found: *found, supported: *supported }
            }
            Self::TooOld { path, found, oldest } => {
                Self::TooOld { path: path.clone(), found: *found, oldest: *oldest }
            }
            Self::NotAStore { path, reason } => {
                Self::NotAStore { path: path.clone(), reason: reason.clone() }
            }
            Self::Linked { path, names, others } => {
                Self::Linked { path: path.clone(), names: *names, others: others.clone() }
            }
            Self::Corrupt { place, reason, damage } => Self::damaged(*damage, place, reason),
            Self::Key { what, id, reason } => {
                Self::Key { what: what.clone(), id: id.clone(), reason }
            }
            Self::Locked { path, holder, waited } => {
                Self::Locked { path: path.clone(), holder: holder.clone(), waited: *waited }
            }
            Self::Io { path, source } => {
                // Keeps the error code, which tells a bad sector from a full disk.
                let copy = || io::Error::new(source.kind(), source.to_string());
                let source = source.raw_os_error().map_or_else(copy, io::Error::from_raw_os_error);
                Self::Io { path: path.clone(), source }
            }
        }
    }
}

/// The process of a holder, as the lock file names it: `process 7 (a label)`.
pub(crate) fn process_of(holder: &str) -> Option<u32> {
    holder.strip_prefix("process ")?.split(' ').next()?.parse().ok()
}

/// `None` for damage to one part, and for no other error.
pub(crate) fn unless_damaged<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Corrupt { damage: Damage::Part, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn listed(others: &[PathBuf]) -> String {
    let mut names: Vec<String> = others.iter().map(|path| path.display().to_string()).collect();
    names.insert(0, "hard links".to_owned());
    names.join(", ")
}

/// Names the path that an I/O error is about.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { path: path.to_owned(), source })
    }
}
