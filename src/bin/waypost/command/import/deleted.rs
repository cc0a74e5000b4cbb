//! What was deleted and can be restored: its file does not bring it back.

use std::collections::HashMap;
use std::sync::OnceLock;

use waypost::{Entry, Id, Query, Result, Source, Store};

use super::file::Compared;
use super::walk::Item;

/// Deleted checkpoints by their ids, read when the first of them may matter.
#[derive(Default)]
pub(super) struct Deleted {
    entries: OnceLock<HashMap<Id, Entry>>,
}

impl Deleted {
    /// Whether `id` was that of this file, of another content or of nothing that was deleted.
    pub(super) fn compare(
        &self,
        store: &Store,
        id: &Id,
        item: &Item,
        source: &Source,
    ) -> Result<Compared> {
        let Some(entry) = self.entries(store)?.get(id) else { return Ok(Compared::Free) };
        let is_place = entry.source_path.as_deref() == Some(item.place.as_str());
        // Its text is not at hand; its form and its lengths are, and when the file was written.
        let is_same = is_place
            && entry.source.as_ref() == Some(source.form())
            && entry.document_bytes == source.document_bytes();
        Ok(if is_same { Compared::Same(entry.trigger.clone()) } else { Compared::Other })
    }

    fn entries(&self, store: &Store) -> Result<&HashMap<Id, Entry>> {
        if let Some(entries) = self.entries.get() {
            return Ok(entries);
        }
        let deleted = store.deleted(&Query::default())?.into_iter();
        let entries = deleted.map(|it| (it.entry.id.clone(), it.entry)).collect();
        Ok(self.entries.get_or_init(|| entries))
    }
}
