//! The newest checkpoints that came from a file.

use std::sync::atomic::Ordering;

use crate::checkpoint::Entry;
use crate::error::{Error, Result};
use crate::key::{Order, RecordKey, Span, source_row, sourced_key};
use crate::store::Store;
use crate::store::engine::fault::In;
use crate::store::engine::table::{SOURCES, open_if_made};
use crate::store::transaction::snapshot::Snapshot;
use crate::store::transaction::sources::{hash_of, is_of_file};

impl Store {
    /// Returns the newest checkpoint that came from the file at `path`, or from a line of it.
    ///
    /// Reads one row and one entry, however many checkpoints there are, if
    /// [`has_file_index`](Self::has_file_index). Else it looks through all entries.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the entry or the row that leads to it is damaged.
    pub fn newest_of_file(&self, path: &str, line: Option<u64>) -> Result<Option<Entry>> {
        Ok(self.newest_of_file_each(path, line, 1)?.pop())
    }

    /// Returns the newest checkpoints that came from the file at `path`, or from a line of it, at
    /// most `count`, the newest first. Costs as [`Store::newest_of_file`], for each.
    ///
    /// # Errors
    /// As [`Store::newest_of_file`].
    pub fn newest_of_file_each(
        &self,
        path: &str,
        line: Option<u64>,
        count: usize,
    ) -> Result<Vec<Entry>> {
        self.read(|snapshot| snapshot.newest_of_file(path, line, count))
    }

    /// Tells whether the store has rows that lead from files to checkpoints. A store has none
    /// before the first file is imported; a store of an earlier format may have files all the
    /// same.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn has_file_index(&self) -> Result<bool> {
        self.shared.read(|open| Ok(open.has_sources.load(Ordering::Relaxed)))
    }

    /// Makes the rows that lead from files to checkpoints, unless the store has them. Saving a
    /// checkpoint that came from a file does the same.
    ///
    /// Time grows with the number of checkpoints, once for a store. Builds that know only earlier
    /// formats cannot open the store from then on.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn index_files(&self) -> Result<()> {
        if self.has_file_index()? {
            return Ok(());
        }
        self.shared.write(|writer| writer.sources().map(drop))
    }
}

impl Snapshot<'_> {
    fn newest_of_file(&self, path: &str, line: Option<u64>, count: usize) -> Result<Vec<Entry>> {
        let is_of_file = |entry: &Entry| is_of_file(entry, path, line);
        let table = open_if_made(self.transaction(), SOURCES, self.path)?;
        let Some(table) = table else {
            let span = Span { order: Order::Newest, ..Span::ALL };
            let found = self.entries(span)?.filter(|it| it.as_ref().map_or(true, is_of_file));
            return found.take(count).collect();
        };
        let hash = hash_of(path, line);
        let rows = source_row(hash, RecordKey::MIN)..=source_row(hash, RecordKey::MAX);
        let mut found = Vec::new();
        for row in table.range(rows).within(self.path)?.rev() {
            if found.len() == count {
                break;
            }
            let key = sourced_key(row.within(self.path)?.0.value());
            let lost =
                || Error::corrupt(format!("file {path:?}"), "its row leads to no checkpoint");
            let entry = self.entry(key)?.ok_or_else(lost)?;
            // Two paths may have the same hash.
            if is_of_file(&entry) {
                found.push(entry);
            }
        }
        Ok(found)
    }
}
