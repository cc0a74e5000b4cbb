//! What was deleted and can be restored: its file does not bring it back.

use std::collections::HashMap;
use std::sync::OnceLock;

use waypost::{Error, Id, Query, Restorable, Result, Store};

use super::file::{Compared, Text};

/// Deleted checkpoints by their ids, read when the first of them may matter.
#[derive(Default)]
pub(super) struct Deleted {
    found: OnceLock<HashMap<Id, Restorable>>,
}

impl Deleted {
    /// Whether `id` was that of this text, of another one or of nothing that was deleted.
    pub(super) fn compare(&self, store: &Store, id: &Id, text: &Text<'_>) -> Result<Compared> {
        let Some(deleted) = self.found(store)?.get(id) else { return Ok(Compared::Free) };
        if !text.is_at(&deleted.entry) {
            return Ok(Compared::Other);
        }
        match store.get_deleted(deleted) {
            Ok(checkpoint) => text.compare(&checkpoint),
            // Gone for good meanwhile, or not to be had back.
            Err(Error::Corrupt { .. }) => Ok(Compared::Other),
            Err(error) => Err(error),
        }
    }

    fn found(&self, store: &Store) -> Result<&HashMap<Id, Restorable>> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        // What is damaged is no reason not to take in what others have of it.
        let deleted = store.deleted_each(&Query::default())?.into_iter().filter_map(Result::ok);
        let found = deleted.map(|it| (it.entry.id.clone(), it)).collect();
        Ok(self.found.get_or_init(|| found))
    }
}
