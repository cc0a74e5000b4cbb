//! Starts over: archives a series, so that no checkpoint of it is resumed.

use crate::checkpoint::{Id, Series, Status};
use crate::error::{Error, Result};
use crate::store::Store;

// Newest checkpoints of a damaged series that are archived one by one.
const MARKED_MAX: usize = 100_000;

/// The result of starting over.
///
/// ```
/// use waypost::{NewEntry, Series, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?, &"state")?;
/// let archived = store.start_fresh(&Series::new("issue:42")?)?;
/// assert_eq!((archived.archived, archived.damaged), (1, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Archived {
    /// Checkpoints that were archived.
    pub archived: usize,
    /// Checkpoints that are damaged, and stay as they are.
    pub damaged: usize,
}

impl Store {
    /// Archives a series, so that the next [`Store::resume`] finds that its work is over and the
    /// work starts over. [`Store::mark_series`] opens it again.
    ///
    /// A damaged checkpoint cannot be archived; it is skipped.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn start_fresh(&self, series: &Series) -> Result<Archived> {
        match self.mark_series(series, Status::Archived) {
            Ok(changed) => Ok(Archived { archived: changed.len(), damaged: 0 }),
            Err(Error::Corrupt { .. }) => {
                let (candidates, damage) = self.candidates(series, MARKED_MAX)?;
                let ids: Vec<Id> = candidates.into_iter().map(|it| it.entry.id).collect();
                let archived = self.mark(&ids, Status::Archived)?.len();
                Ok(Archived { archived, damaged: damage.len() })
            }
            Err(error) => Err(error),
        }
    }
}
