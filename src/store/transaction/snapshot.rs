//! A snapshot: one read transaction, and what it finds in the tables.

use std::path::Path;
use std::sync::Arc;

use redb::{ReadOnlyTable, ReadTransaction, ReadableTable, ReadableTableMetadata as _};

use crate::checkpoint::{Checkpoint, Entry, Id};
use crate::codec::NameKind;
use crate::error::Result;
use crate::key::{FrameBytes, NameId, RecordKey, Span};
use crate::store::chain::unpack::Unpacker;
use crate::store::engine::fault::In;
use crate::store::engine::names;
use crate::store::transaction::index::{Directed, Index};
use crate::store::transaction::lookup::{Lookup, id_times, lost};
use crate::store::turn::open::Open;
use crate::store::turn::tables::ReadTables;
use crate::sync::read;

/// A consistent view of the store, for as long as it lives.
pub(crate) struct Snapshot<'a> {
    pub(in crate::store) open: &'a Open,
    pub(in crate::store) path: &'a Path,
    tables: Arc<ReadTables>,
}

impl<'a> Snapshot<'a> {
    pub(in crate::store) fn take(open: &'a Open, path: &'a Path) -> Result<Self> {
        Ok(Self { open, path, tables: open.tables(path)? })
    }

    /// The transaction, for tables that few reads need.
    pub(in crate::store) fn transaction(&self) -> &ReadTransaction {
        &self.tables.transaction
    }

    /// The number of a name, or `None` if no checkpoint ever had it.
    pub(crate) fn name(&self, kind: NameKind, name: &str) -> Result<Option<NameId>> {
        self.open.names.find(&self.tables.names, &(kind, Arc::from(name)), self.path)
    }

    /// All names of a kind, with their numbers.
    pub(crate) fn names(&self, kind: NameKind) -> Result<Vec<(String, NameId)>> {
        names::of_kind(&self.tables.names, kind, self.path)
    }

    /// The longest lag of a date behind the order, in microseconds.
    pub(crate) fn lag_max(&self) -> u64 {
        read(&self.open.lag_max).unwrap_or(0)
    }

    /// How many entries there are.
    pub(in crate::store) fn count(&self) -> Result<u64> {
        self.tables.records.len().within(self.path)
    }

    /// The entry at `key`, or `None` if there is none.
    pub(crate) fn entry(&self, key: RecordKey) -> Result<Option<Entry>> {
        let row = self.tables.records.get(key.to_bytes()).within(self.path)?;
        row.map(|row| self.decode(key, row.value())).transpose()
    }

    /// The entries of a span.
    pub(crate) fn entries(&self, span: Span) -> Result<impl Iterator<Item = Result<Entry>>> {
        Ok(self.keyed_entries(span)?.map(|row| row.and_then(|(_, entry)| entry)))
    }

    /// The entries of a span with their keys; a damaged one hides no other.
    pub(crate) fn keyed_entries(
        &self,
        span: Span,
    ) -> Result<impl Iterator<Item = Result<(RecordKey, Result<Entry>)>>> {
        let Span { from, to, order } = span;
        let rows = self.tables.records.range(from.to_bytes()..to.to_bytes()).within(self.path)?;
        let mut rows = Directed { rows, order };
        Ok(std::iter::from_fn(move || {
            let row = rows.next()?.within(self.path);
            Some(row.map(|(key, value)| {
                let key = RecordKey::from_bytes(key.value());
                (key, self.decode(key, value.value()))
            }))
        }))
    }

    /// All record keys, from the oldest to the newest.
    pub(in crate::store) fn keys(
        &self,
    ) -> Result<impl DoubleEndedIterator<Item = Result<RecordKey>>> {
        let rows = self.tables.records.iter().within(self.path)?;
        Ok(rows.map(|row| Ok(RecordKey::from_bytes(row.within(self.path)?.0.value()))))
    }

    /// The keys of checkpoints that have names.
    pub(crate) fn index(&self) -> Index<'a> {
        Index { tables: self.tables.clone(), path: self.path }
    }

    /// The entry of a checkpoint, or `None` if there is none.
    pub(crate) fn find(&self, id: &Id) -> Result<Option<Entry>> {
        self.lookup().find(&self.tables.ids, &self.tables.records, id)
    }

    /// Ids that start with `prefix`, at most `limit`.
    pub(crate) fn starting_with(&self, prefix: &str, limit: usize) -> Result<Vec<Entry>> {
        let mut found = Vec::new();
        for row in self.tables.ids.range(prefix..).within(self.path)?.take(limit) {
            let (id, key) = row.within(self.path)?;
            if !id.value().starts_with(prefix) {
                break;
            }
            let key = RecordKey::from_bytes(key.value());
            found.push(self.entry(key)?.ok_or_else(|| lost(id.value()))?);
        }
        let Some((from, to)) = id_times(prefix) else {
            return Ok(found);
        };
        for entry in self.entries(Span::of_times(from, to))? {
            let entry = entry?;
            if found.len() >= limit {
                break;
            }
            if entry.id.as_str().starts_with(prefix) && !found.contains(&entry) {
                found.push(entry);
            }
        }
        Ok(found)
    }

    /// The checkpoint with this entry.
    pub(crate) fn load(&self, entry: Entry) -> Result<Checkpoint> {
        let raw = self.raw(&entry)?;
        Ok(Checkpoint { entry, raw })
    }

    /// The document of the checkpoint with this entry, and the text behind it.
    pub(crate) fn raw(&self, entry: &Entry) -> Result<Arc<Vec<u8>>> {
        self.unpacker(self.frames()).raw(entry)
    }

    pub(in crate::store) fn frames(&self) -> &ReadOnlyTable<FrameBytes, &'static [u8]> {
        &self.tables.frames
    }

    fn lookup(&self) -> Lookup<'_, ReadOnlyTable<&'static [u8], &'static [u8]>> {
        Lookup { known: &self.open.names, path: self.path, names: &self.tables.names }
    }

    pub(in crate::store) fn unpacker<'b, T>(&'b self, table: &'b T) -> Unpacker<'b, T> {
        let Open { bases, frames, document_bytes_max, .. } = self.open;
        Unpacker { bases, frames, path: self.path, table, limit: *document_bytes_max }
    }

    pub(in crate::store) fn decode(&self, key: RecordKey, bytes: &[u8]) -> Result<Entry> {
        self.lookup().decode(key, bytes)
    }
}
