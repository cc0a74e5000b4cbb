//! Why a name does not lead to one checkpoint.

use crate::checkpoint::{Series, Status};
use crate::error::Error;

use super::candidate::Candidate;
use super::target::Target;

/// Why a name did not lead to one checkpoint that can be read.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::recovery::Unresolved;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?, &"state")?;
/// match store.meant("43") {
///     Ok(meant) => show(format!("{}", meant.target)),
///     Err(Unresolved::Nothing { newest, .. }) => show(format!("newest: {}", newest[0])),
///     Err(error) => show(format!("{error}")),
/// }
/// # assert!(matches!(store.meant("43"), Err(Unresolved::Nothing { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unresolved {
    /// Nothing has this name, so that work can start.
    #[error("no checkpoint matches {wanted:?}")]
    Nothing {
        /// The name.
        wanted: String,
        /// Series that have it in their description, or as their type: to be proposed to a person.
        about: Vec<Series>,
        /// Other series with names like it.
        nearby: Vec<Series>,
        /// The series that were saved to last.
        newest: Vec<Series>,
    },
    /// Nothing has this name, but a repair lost some names: each of these series may be the one.
    #[error("no checkpoint matches {wanted:?}, but a repair lost some names: {}", listed(series))]
    LostNames {
        /// The name.
        wanted: String,
        /// Series that have it in their description, or as their type: to be proposed to a person.
        about: Vec<Series>,
        /// Those whose names were lost.
        series: Vec<Series>,
    },
    /// Several targets that have not ended have this name.
    #[error("{wanted:?} may be {}", listed(choices))]
    Several {
        /// The name.
        wanted: String,
        /// All that have it, also those that have ended.
        choices: Vec<Target>,
    },
    /// A person is to select one, by [`Strategy::Select`](super::Strategy::Select).
    #[error("{series} has {} checkpoints to select from", candidates.len())]
    Unselected {
        /// The series.
        series: Series,
        /// Its newest checkpoints, the newest first.
        candidates: Vec<Candidate>,
        /// Damage that leaves so little of a checkpoint that it cannot be named.
        damage: Vec<String>,
    },
    /// None of the checkpoints that were considered can be read.
    #[error("none of the newest {count} checkpoints of {series} can be read")]
    AllDamaged {
        /// The series.
        series: Series,
        /// How many were considered.
        count: usize,
        /// Damage that leaves so little of a checkpoint that it cannot be named.
        damage: Vec<String>,
    },
    /// The work is over, and the checkpoint that says so cannot be read.
    #[error("{series} is {status}: there is nothing to go on from")]
    Ended {
        /// The series.
        series: Series,
        /// How it ended.
        status: Status,
    },
    /// The store cannot be read, or the world was made for other work.
    #[error(transparent)]
    Failed(#[from] Error),
}

fn listed(names: &[impl ToString]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
