//! The rows of a damaged store, table by table: where each value is.
//!
//! Nothing here is trusted yet: each row is checked by its own sum later. Values without a sum of
//! their own count only in a page that passed its sum.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use redb::TableHandle as _;

use super::trees::{Trees, has_all};
use crate::codec::NameKind;
use crate::key::{BlobBytes, DeletedBytes, FrameBytes, NameId, RecordBytes, frame_sequence};
use crate::store::engine::names;
use crate::store::engine::pages::{Pages, Row, Shape, Table, Visited};
use crate::store::engine::table::{
    ARTIFACTS, BLOBS, DELETED, FRAMES, META, NAMES, OPERATIONS, RECORDS, SETTINGS, TAKEN,
};
use crate::store::log::spool::taken;
use crate::store::options::Limits;

/// The bytes of a value in the file.
#[derive(Debug, Clone, Copy)]
pub(in crate::store::care) struct ValueSpan {
    pub(in crate::store::care) at: u64,
    pub(in crate::store::care) bytes: usize,
}

/// All rows of a store. Takes some hundred bytes of memory for each checkpoint.
pub(in crate::store::care) struct Rows {
    pub(in crate::store::care) pages: Pages,
    /// Whether the tables that every store has exist.
    pub(in crate::store::care) is_store: bool,
    /// Rows found in pages that no table leads to.
    pub(in crate::store::care) strays: Strays,
    pub(in crate::store::care) meta: HashMap<String, u64>,
    pub(in crate::store::care) names: HashMap<NameId, (NameKind, Arc<str>)>,
    pub(in crate::store::care) records: BTreeMap<RecordBytes, ValueSpan>,
    pub(in crate::store::care) frames: BTreeMap<FrameBytes, ValueSpan>,
    /// One above the largest sequence in pages of `frames` that passed their sums.
    next_checked: u64,
    /// Rows with duplicate keys.
    pub(in crate::store::care) spares: Spares,
    pub(in crate::store::care) deleted: BTreeMap<DeletedBytes, ValueSpan>,
    pub(in crate::store::care) artifacts: BTreeMap<FrameBytes, ValueSpan>,
    pub(in crate::store::care) blobs: BTreeMap<BlobBytes, ValueSpan>,
    pub(in crate::store::care) operations: BTreeMap<u64, ValueSpan>,
    pub(in crate::store::care) settings: Option<ValueSpan>,
    /// The names of files of the spool that were taken in.
    pub(in crate::store::care) taken: taken::Taken,
}

/// What was found, beside the rows that were added to those of the tables.
#[derive(Default)]
pub(in crate::store::care) struct Strays {
    /// Chunks that are as good as the sum of what they are a part of.
    pub(in crate::store::care) frames: BTreeMap<FrameBytes, Vec<ValueSpan>>,
    pub(in crate::store::care) blobs: BTreeMap<BlobBytes, Vec<ValueSpan>>,
    /// The sequences of entries that were found so.
    pub(in crate::store::care) entries: BTreeSet<u64>,
    /// The sequences of documents that may have been checkpoints, and have no entry.
    pub(in crate::store::care) lone: BTreeSet<u64>,
    /// What is not known for sure, and why.
    pub(in crate::store::care) unsure: Vec<(String, &'static str)>,
    /// What the tables may have lost, and nothing can be found of.
    pub(in crate::store::care) lost: Vec<(&'static str, &'static str)>,
}

/// Rows by their keys, and rows whose keys were already there.
type Taken<const N: usize> = (BTreeMap<[u8; N], ValueSpan>, Vec<([u8; N], ValueSpan)>);

/// Rows with duplicate keys, by table.
#[derive(Default)]
pub(in crate::store::care) struct Spares {
    pub(in crate::store::care) records: Vec<(RecordBytes, ValueSpan)>,
    pub(in crate::store::care) frames: Vec<(FrameBytes, ValueSpan)>,
    pub(in crate::store::care) deleted: Vec<(DeletedBytes, ValueSpan)>,
    pub(in crate::store::care) artifacts: Vec<(FrameBytes, ValueSpan)>,
    pub(in crate::store::care) blobs: Vec<(BlobBytes, ValueSpan)>,
}

impl Rows {
    /// Reads the rows of these tables.
    pub(super) fn read(pages: Pages, trees: &mut Trees) -> Self {
        let mut rows = Self {
            pages,
            is_store: has_all(&trees.tables),
            strays: Strays::default(),
            meta: HashMap::new(),
            names: HashMap::new(),
            records: BTreeMap::new(),
            frames: BTreeMap::new(),
            next_checked: 1,
            spares: Spares::default(),
            deleted: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            blobs: BTreeMap::new(),
            operations: BTreeMap::new(),
            settings: None,
            taken: taken::Taken::default(),
        };
        for table in &trees.tables {
            rows.take(table, &mut trees.seen);
        }
        rows
    }

    /// The bytes of a value.
    pub(in crate::store::care) fn value(&self, place: ValueSpan) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; place.bytes];
        self.pages.read(place.at, &mut bytes)?;
        Ok(bytes)
    }

    /// Several values concatenated.
    pub(in crate::store::care) fn values<'a>(
        &self,
        places: impl Iterator<Item = &'a ValueSpan>,
    ) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for place in places {
            // Limit: a document and what surrounds it. Overlapping rows could be endless.
            if bytes.len() + place.bytes > 2 * Limits::DOCUMENT_BYTES_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
            bytes.extend_from_slice(&self.value(*place)?);
        }
        Ok(bytes)
    }

    /// The first sequence that no checkpoint in the tables is known to have had.
    ///
    /// A key on a page that fails its sum may be any number. If it counted, saves of the journal
    /// with lower sequences would be skipped.
    pub(in crate::store::care) fn next_sequence(&self) -> u64 {
        self.next_checked.max(self.meta.get("sequence").copied().unwrap_or(1))
    }

    fn take(&mut self, table: &Table, seen: &mut Visited) {
        let name = table.name.clone();
        let width = |key| Shape { key, value: None };
        match name.as_str() {
            name if name == META.name() => {
                let shape = Shape { key: None, value: Some(8) };
                let mut meta = Vec::new();
                self.walk(table, shape, seen, &mut |row| {
                    let fact = std::str::from_utf8(row.key).ok().zip(row.value.try_into().ok());
                    let fact = fact.filter(|_| row.is_checked);
                    meta.extend(fact.map(|(key, it)| (key.to_owned(), u64::from_le_bytes(it))));
                });
                self.meta.extend(meta);
            }
            name if name == NAMES.name() => self.take_names(table, seen),
            name if name == SETTINGS.name() => {
                let mut found = None;
                self.walk(table, width(None), seen, &mut |row| found = Some(ValueSpan::of(&row)));
                self.settings = found;
            }
            name if name == TAKEN.name() => {
                let shape = Shape { key: None, value: Some(0) };
                let mut rows = BTreeSet::new();
                self.walk(table, shape, seen, &mut |row| {
                    let name = std::str::from_utf8(row.key).ok().filter(|_| row.is_checked);
                    rows.extend(name.map(str::to_owned));
                });
                self.taken = taken::Taken(rows);
            }
            name if name == OPERATIONS.name() => {
                let (operations, _) = self.placed(table, seen);
                let number = |(key, place)| (u64::from_le_bytes(key), place);
                self.operations = operations.into_iter().map(number).collect();
            }
            name if name == RECORDS.name() => {
                (self.records, self.spares.records) = self.placed(table, seen);
            }
            name if name == FRAMES.name() => self.take_frames(table, seen),
            name if name == DELETED.name() => {
                (self.deleted, self.spares.deleted) = self.placed(table, seen);
            }
            name if name == ARTIFACTS.name() => {
                (self.artifacts, self.spares.artifacts) = self.placed(table, seen);
            }
            name if name == BLOBS.name() => {
                (self.blobs, self.spares.blobs) = self.placed(table, seen);
            }
            // Rows that only lead to others are not read but made anew.
            _ => {}
        }
    }

    fn take_frames(&mut self, table: &Table, seen: &mut Visited) {
        let mut next = 1;
        let (frames, spares) = self.placed_with(table, seen, &mut |row: &Row<'_>, key| {
            if row.is_checked {
                next = next.max(frame_sequence(key).saturating_add(1));
            }
        });
        (self.frames, self.spares.frames, self.next_checked) = (frames, spares, next);
    }

    fn placed<const N: usize>(&self, table: &Table, seen: &mut Visited) -> Taken<N> {
        self.placed_with(table, seen, &mut |_, _| ())
    }

    /// The rows of a table, and rows whose key another row has already: damage may have changed one
    /// key into another.
    fn placed_with<const N: usize>(
        &self,
        table: &Table,
        seen: &mut Visited,
        hear: &mut dyn FnMut(&Row<'_>, [u8; N]),
    ) -> Taken<N> {
        let (mut rows, mut spares) = (BTreeMap::new(), Vec::new());
        let shape = Shape { key: Some(N), value: None };
        self.walk(table, shape, seen, &mut |row| {
            let Ok(key) = row.key.try_into() else { return };
            hear(&row, key);
            match rows.entry(key) {
                Entry::Vacant(place) => _ = place.insert(ValueSpan::of(&row)),
                Entry::Occupied(_) => spares.push((key, ValueSpan::of(&row))),
            }
        });
        (rows, spares)
    }

    fn take_names(&mut self, table: &Table, seen: &mut Visited) {
        let mut names = HashMap::new();
        let mut reversed = Vec::new();
        let shape = Shape { key: None, value: None };
        self.walk(table, shape, seen, &mut |row| match names::of_row(row.key, row.value) {
            Some((id, name)) if row.key.first() == Some(&0) => {
                names.insert(id, name);
            }
            Some(name) if row.is_checked => reversed.push(name),
            _ => {}
        });
        for (id, name) in reversed {
            names.entry(id).or_insert(name);
        }
        self.names = names;
    }

    fn walk(
        &self,
        table: &Table,
        shape: Shape,
        seen: &mut Visited,
        visit: &mut dyn FnMut(Row<'_>),
    ) {
        self.pages.walk(&table.shaped(shape), seen, visit);
    }
}

impl ValueSpan {
    pub(in crate::store::care) fn of(row: &Row<'_>) -> Self {
        Self { at: row.at, bytes: row.value.len() }
    }
}
