//! Names that a person uses for a deleted checkpoint.

use std::collections::BTreeSet;

use super::Query;
use crate::checkpoint::Id;
use crate::error::{Error, Result};
use crate::store::Store;

impl Store {
    /// Returns the ids of the deleted checkpoints that are meant by names: ids, or starts of ids.
    ///
    /// Looks at all that can be restored, once; damaged ones do not count.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Ambiguous`] if several ids start so.
    ///
    /// ```
    /// # fn main() -> waypost::Result<()> {
    /// # use waypost::{NewEntry, Store};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::open(dir.path().join("store.redb"))?;
    /// let saved = store.save(NewEntry::default(), &1)?;
    /// store.delete(&[saved.id.clone()])?;
    /// let ids = store.resolve_deleted(&[&saved.id.as_str()[..13]])?;
    /// assert_eq!(store.undelete(&ids)?[0].id, saved.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn resolve_deleted(&self, names: &[impl AsRef<str>]) -> Result<Vec<Id>> {
        let deleted = self.deleted_each(&Query::default())?;
        let ids: BTreeSet<Id> = deleted.into_iter().flatten().map(|it| it.entry.id).collect();
        names.iter().map(|name| resolve(&ids, name.as_ref())).collect()
    }
}

fn resolve(ids: &BTreeSet<Id>, name: &str) -> Result<Id> {
    if let Some(id) = ids.iter().find(|id| id.as_str() == name) {
        return Ok(id.clone());
    }
    let mut starting = ids.iter().filter(|id| id.as_str().starts_with(name));
    match (starting.next(), starting.next()) {
        (None, _) => Err(Error::NotFound { wanted: name.to_owned().into() }),
        (Some(id), None) => Ok(id.clone()),
        (Some(first), Some(second)) => Err(Error::Ambiguous {
            prefix: name.to_owned(),
            first: first.to_string(),
            second: second.to_string(),
        }),
    }
}
