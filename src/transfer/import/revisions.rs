//! The newest revision of each file in the store, current or deleted.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::revision::Text;
use crate::checkpoint::{Entry, Id};
use crate::error::Result;
use crate::query::Query;
use crate::store::{Restorable, Store};

/// The newest revisions. Deleted ones are read from the store when first needed.
#[derive(Default)]
pub(super) struct Revisions {
    is_indexed: OnceLock<()>,
    /// The newest of each file, for a dry run of a store without an index of files.
    scanned: OnceLock<HashMap<File, Entry>>,
    deleted: OnceLock<Deleted>,
}

/// A path, and a line of a file in which each line is a checkpoint.
type File = (String, Option<u64>);

#[derive(Default)]
struct Deleted {
    ids: HashSet<Id>,
    newest: HashMap<File, Restorable>,
}

impl Revisions {
    /// The newest checkpoint that came from the file of a text.
    pub(super) fn newest(
        &self,
        store: &Store,
        text: &Text<'_>,
        is_dry: bool,
    ) -> Result<Option<Entry>> {
        if self.is_indexed.get().is_none() {
            if !is_dry {
                store.index_files()?;
            } else if !store.has_file_index()? {
                return Ok(self.scanned(store)?.get(&text.file()).cloned());
            }
            let _ = self.is_indexed.set(());
        }
        store.newest_of_file(text.place, text.line)
    }

    /// The newest checkpoint of the file that was deleted and can be restored.
    pub(super) fn newest_deleted(
        &self,
        store: &Store,
        text: &Text<'_>,
    ) -> Result<Option<&Restorable>> {
        Ok(self.deleted(store)?.newest.get(&text.file()))
    }

    /// True if a deleted checkpoint that can be restored has this id.
    pub(super) fn is_deleted(&self, store: &Store, id: &Id) -> Result<bool> {
        Ok(self.deleted(store)?.ids.contains(id))
    }

    fn scanned(&self, store: &Store) -> Result<&HashMap<File, Entry>> {
        if let Some(scanned) = self.scanned.get() {
            return Ok(scanned);
        }
        let mut scanned = HashMap::new();
        for entry in store.entries(Query::default()) {
            let entry = entry?;
            if let Some(file) = file_of(&entry) {
                scanned.entry(file).or_insert(entry);
            }
        }
        Ok(self.scanned.get_or_init(|| scanned))
    }

    fn deleted(&self, store: &Store) -> Result<&Deleted> {
        if let Some(deleted) = self.deleted.get() {
            return Ok(deleted);
        }
        let mut deleted = Deleted::default();
        // Damage to one deleted checkpoint must not keep other files from being imported.
        for it in store.deleted_each(&Query::default())?.into_iter().filter_map(Result::ok) {
            deleted.ids.insert(it.entry.id.clone());
            let Some(file) = file_of(&it.entry) else { continue };
            let newest = deleted.newest.get(&file);
            if newest.is_none_or(|newest| newest.entry.order() < it.entry.order()) {
                deleted.newest.insert(file, it);
            }
        }
        Ok(self.deleted.get_or_init(|| deleted))
    }
}

fn file_of(entry: &Entry) -> Option<File> {
    Some((entry.source_path.clone()?, entry.source?.line))
}
