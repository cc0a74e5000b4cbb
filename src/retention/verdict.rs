//! A plan's verdict on a checkpoint, in words.

use std::fmt;

use super::age::Age;
use super::policy::Per;

/// A plan's verdict on a checkpoint. Its text is the reason.
///
/// ```
/// use waypost::retention::{Kept, Verdict};
/// use waypost::{NewEntry, Policy, Store, Timestamp, plan};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?.tag("keep"), &"state")?;
/// let entries = store.inventory(None)?;
/// let plan = plan(&entries, &Policy::preset("last-5")?, Timestamp::now());
/// let planned = plan.iter().next().expect("the only one");
/// assert_eq!(planned.verdict, Verdict::Keep(Kept::Tagged));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It stays.
    Keep(Kept),
    /// It goes.
    Remove(Removed),
}

/// Why a checkpoint is kept.
///
/// See [`Verdict`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kept {
    /// It has a tag.
    Tagged,
    /// It is the newest of its series.
    Newest,
    /// It is the newest of its series that can be resumed.
    NewestResumable,
    /// It is the parent of a checkpoint of another series that is kept.
    ForkPoint,
    /// No rule matches it.
    NoRule,
    /// It would go, but is not among those that are meant.
    NotMeant,
    /// Its rule keeps everything.
    All,
    /// It is one of the newest of its group.
    Last {
        /// How many of them the rule keeps.
        count: u32,
        /// The group within which they are counted.
        per: Per,
    },
    /// It is young enough.
    Within(Age),
}

/// Why a checkpoint is removed.
///
/// See [`Verdict`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Removed {
    /// It is older than its rule allows.
    TooOld(Age),
    /// There are enough newer ones in its group.
    Beyond {
        /// How many of them the rule keeps.
        count: u32,
        /// The group within which they are counted.
        per: Per,
        /// Younger ones would be kept.
        within: Option<Age>,
    },
    /// The work of its series is done, and the policy keeps nothing, or only the newest, then.
    Done,
    /// Its issue exceeds this many bytes.
    IssueTooLarge(u64),
    /// All checkpoints together exceed this many bytes.
    StoreTooLarge(u64),
}

impl Verdict {
    /// Whether the checkpoint goes.
    #[must_use]
    pub fn removes(&self) -> bool {
        matches!(self, Self::Remove(_))
    }

    /// Whether the checkpoint goes for its age, and so would stay if the clock were behind.
    pub(crate) fn is_by_age(&self) -> bool {
        matches!(self, Self::Remove(Removed::TooOld(_) | Removed::Beyond { within: Some(_), .. }))
    }

    /// Whether no rule removes the checkpoint one day.
    pub(super) fn is_for_ever(&self) -> bool {
        !matches!(self, Self::Remove(_) | Self::Keep(Kept::Last { .. } | Kept::Within(_)))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep(kept) => kept.fmt(f),
            Self::Remove(removed) => removed.fmt(f),
        }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tagged => f.write_str("has a tag"),
            Self::Newest => f.write_str("newest of its series"),
            Self::NewestResumable => f.write_str("newest of its series that can be resumed"),
            Self::ForkPoint => f.write_str("another series was forked from it"),
            Self::NoRule => f.write_str("no rule is about it"),
            Self::NotMeant => f.write_str("not among those asked for"),
            Self::All => f.write_str("its rule keeps all"),
            Self::Last { count, per } => write!(f, "of the last {count}{}", Within(*per)),
            Self::Within(age) => write!(f, "not older than {age}"),
        }
    }
}

impl fmt::Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooOld(age) | Self::Beyond { count: 0, within: Some(age), .. } => {
                write!(f, "older than {age}")
            }
            Self::Beyond { count: 0, within: None, .. } => f.write_str("its rule keeps none"),
            Self::Beyond { count, per, within: None } => {
                write!(f, "beyond the last {count}{}", Within(*per))
            }
            Self::Beyond { count, per, within: Some(age) } => {
                write!(f, "beyond the last {count}{} and older than {age}", Within(*per))
            }
            Self::Done => f.write_str("its series is done"),
            Self::IssueTooLarge(bytes) => write!(f, "its issue takes more than {}", Size(*bytes)),
            Self::StoreTooLarge(bytes) => write!(f, "the store takes more than {}", Size(*bytes)),
        }
    }
}

struct Within(Per);

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Per::Series => Ok(()),
            Per::Phase => f.write_str(" of its phase"),
        }
    }
}

/// A limit as it is set: in megabytes, where it is a whole number of them.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes > 0 && bytes.is_multiple_of(1 << 20) => {
                write!(f, "{} MiB", bytes >> 20)
            }
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}
