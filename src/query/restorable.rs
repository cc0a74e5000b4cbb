//! What a person calls a deleted checkpoint.

use super::Query;
use crate::checkpoint::Id;
use crate::error::{Error, Result};
use crate::store::Store;

impl Store {
    /// Returns the id of the deleted checkpoint that `text` names: its id, or the start of it.
    ///
    /// Looks at all that can be restored; damaged ones do not count.
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
    /// let id = store.resolve_deleted(&saved.id.as_str()[..13])?;
    /// assert_eq!(store.undelete(&[id])?[0].id, saved.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn resolve_deleted(&self, text: &str) -> Result<Id> {
        let deleted = self.deleted_each(&Query::default())?;
        let mut ids: Vec<Id> = deleted.into_iter().flatten().map(|it| it.entry.id).collect();
        if let Some(at) = ids.iter().position(|id| id.as_str() == text) {
            return Ok(ids.swap_remove(at));
        }
        ids.retain(|id| id.as_str().starts_with(text));
        ids.sort();
        ids.dedup();
        match &ids[..] {
            [] => Err(Error::NotFound { wanted: text.to_owned().into() }),
            [id] => Ok(id.clone()),
            [first, second, ..] => Err(Error::Ambiguous {
                prefix: text.to_owned(),
                first: first.to_string(),
                second: second.to_string(),
            }),
        }
    }
}
