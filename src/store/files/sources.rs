//! Which checkpoints came from which file, so that the newest revision of a file is found by one
//! row.
//!
//! Stores of earlier formats have no such rows. They are made for all checkpoints at once, in the
//! transaction that first needs one, which also sets the format.
//!
//! The rows lead from a path, and from a line where each line is a checkpoint, to its revisions in
//! their order. The newest takes one row, however long the history is. A dry run of an import reads
//! all entries once instead of making the rows.

use std::sync::atomic::Ordering;

use redb::{ReadableTable as _, Table};

use crate::checkpoint::Entry;
use crate::codec::check;
use crate::error::{Error, Result};
use crate::key::{Order, RecordKey, SourceBytes, Span, source_row, sourced_key};
use crate::store::Store;
use crate::store::ask::read::Snapshot;
use crate::store::engine::fault::In;
use crate::store::engine::table::{FORMAT_KEY, META, SOURCES, SOURCES_FORMAT, open_if_made};
use crate::store::save::write::Writer;

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
        let table = open_if_made(&self.transaction, SOURCES, self.path)?;
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
            // Two files may have one hash.
            if is_of_file(&entry) {
                found.push(entry);
            }
        }
        Ok(found)
    }
}

impl<'a> Writer<'a> {
    /// Adds the row that leads from its file to an entry.
    pub(in crate::store) fn list_source(&mut self, entry: &Entry) -> Result<()> {
        if let Some(row) = row_of(entry) {
            let path = self.path;
            self.sources()?.insert(row, ()).within(path)?;
        }
        Ok(())
    }

    /// Removes the row that leads from its file to an entry.
    pub(in crate::store) fn unlist_source(&mut self, entry: &Entry) -> Result<()> {
        if let Some(row) = row_of(entry).filter(|_| self.has_sources) {
            let path = self.path;
            self.sources()?.remove(row).within(path)?;
        }
        Ok(())
    }

    fn sources(&mut self) -> Result<&mut Table<'a, SourceBytes, ()>> {
        if self.sources.is_none() {
            let mut table = self.transaction.open_table(SOURCES).within(self.path)?;
            if !self.has_sources {
                for row in self.source_rows()? {
                    table.insert(row, ()).within(self.path)?;
                }
                let mut meta = self.transaction.open_table(META).within(self.path)?;
                meta.insert(FORMAT_KEY, u64::from(SOURCES_FORMAT)).within(self.path)?;
                self.has_sources = true;
                // The format allows dates that lag.
                self.lag_max = self.lag_max.or(Some(0));
            }
            self.sources = Some(table);
        }
        Ok(self.sources.as_mut().expect("it was opened above"))
    }

    /// The rows of all checkpoints that came from files.
    fn source_rows(&self) -> Result<Vec<SourceBytes>> {
        let mut rows = Vec::new();
        for row in self.records.iter().within(self.path)? {
            let (key, record) = row.within(self.path)?;
            match self.lookup().decode(RecordKey::from_bytes(key.value()), record.value()) {
                Ok(entry) => rows.extend(row_of(&entry)),
                Err(error) if error.is_of_engine() => return Err(error),
                // Damage to one checkpoint is no concern of the others.
                Err(_) => {}
            }
        }
        Ok(rows)
    }
}

/// The row that leads from its file to an entry, if it came from one.
pub(in crate::store) fn row_of(entry: &Entry) -> Option<SourceBytes> {
    let (path, source) = entry.source_path.as_deref().zip(entry.source)?;
    Some(source_row(hash_of(path, source.line), RecordKey::of(entry)))
}

fn hash_of(path: &str, line: Option<u64>) -> u64 {
    check(line.unwrap_or(0), path.as_bytes())
}

fn is_of_file(entry: &Entry, path: &str, line: Option<u64>) -> bool {
    entry.source_path.as_deref() == Some(path) && entry.source.is_some_and(|it| it.line == line)
}
