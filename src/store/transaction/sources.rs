//! Which checkpoints came from which file, so that the newest revision of a file is found by one
//! row.
//!
//! Stores of earlier formats have no such rows. They are made for all checkpoints at once, in the
//! transaction that first needs one, which also sets the format.
//!
//! The rows lead from a path, and from a line where each line is a checkpoint, to its revisions in
//! their order. The newest takes one row, however long the history is. A dry run of an import reads
//! all entries once instead of making the rows.

use redb::{ReadableTable as _, Table};

use crate::checkpoint::Entry;
use crate::codec::check;
use crate::error::Result;
use crate::key::{RecordKey, SourceBytes, source_row};
use crate::store::engine::fault::In;
use crate::store::engine::table::{FORMAT_KEY, META, SOURCES, SOURCES_FORMAT};
use crate::store::transaction::writer::Writer;

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

    pub(in crate::store) fn sources(&mut self) -> Result<&mut Table<'a, SourceBytes, ()>> {
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
                // Damage to one checkpoint must not fail the others.
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

pub(in crate::store) fn hash_of(path: &str, line: Option<u64>) -> u64 {
    check(line.unwrap_or(0), path.as_bytes())
}

pub(in crate::store) fn is_of_file(entry: &Entry, path: &str, line: Option<u64>) -> bool {
    entry.source_path.as_deref() == Some(path) && entry.source.is_some_and(|it| it.line == line)
}
