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
use crate::store::engine::pages::{Pages, Row, Seen, Shape, Table};
use crate::store::engine::table::{
    ARTIFACTS, BLOBS, DELETED, FRAMES, META, NAMES, OPERATIONS, RECORDS, SETTINGS, TAKEN,
};
use crate::store::options::Limits;

/// Where in the file a value is.
#[derive(Debug, Clone, Copy)]
pub(in crate::store::care) struct Place {
    pub(in crate::store::care) at: u64,
    pub(in crate::store::care) bytes: usize,
}

/// What there is of a store. Takes some hundred bytes of memory for each checkpoint.
pub(in crate::store::care) struct Rows {
    pub(in crate::store::care) pages: Pages,
    /// Whether the tables that every store has are there.
    pub(in crate::store::care) is_store: bool,
    /// What was found where no table leads.
    pub(in crate::store::care) strays: Strays,
    pub(in crate::store::care) meta: HashMap<String, u64>,
    pub(in crate::store::care) names: HashMap<NameId, (NameKind, Arc<str>)>,
    pub(in crate::store::care) records: BTreeMap<RecordBytes, Place>,
    pub(in crate::store::care) frames: BTreeMap<FrameBytes, Place>,
    /// Above all sequences in pages of these that pass their sums.
    next_checked: u64,
    /// Rows whose keys others have, too.
    pub(in crate::store::care) spares: Spares,
    pub(in crate::store::care) deleted: BTreeMap<DeletedBytes, Place>,
    pub(in crate::store::care) artifacts: BTreeMap<FrameBytes, Place>,
    pub(in crate::store::care) blobs: BTreeMap<BlobBytes, Place>,
    pub(in crate::store::care) operations: BTreeMap<u64, Place>,
    pub(in crate::store::care) settings: Option<Place>,
    /// The names of files of the spool that were taken in.
    pub(in crate::store::care) taken: BTreeSet<String>,
}

/// What was found, beside the rows that were added to those of the tables.
#[derive(Default)]
pub(in crate::store::care) struct Strays {
    /// Chunks that are as good as the sum of what they are a part of.
    pub(in crate::store::care) frames: BTreeMap<FrameBytes, Vec<Place>>,
    pub(in crate::store::care) blobs: BTreeMap<BlobBytes, Vec<Place>>,
    /// The sequences of entries that were found so.
    pub(in crate::store::care) entries: BTreeSet<u64>,
    /// The sequences of documents that may have been checkpoints, and have no entry.
    pub(in crate::store::care) lone: BTreeSet<u64>,
    /// What is not known for sure, and why.
    pub(in crate::store::care) unsure: Vec<(String, &'static str)>,
    /// What the tables may have lost, and nothing can be found of.
    pub(in crate::store::care) lost: Vec<(&'static str, &'static str)>,
}

/// Rows by their keys, and those whose keys were taken.
type Taken<const N: usize> = (BTreeMap<[u8; N], Place>, Vec<([u8; N], Place)>);

/// Rows whose keys others have, too, by table.
#[derive(Default)]
pub(in crate::store::care) struct Spares {
    pub(in crate::store::care) records: Vec<(RecordBytes, Place)>,
    pub(in crate::store::care) frames: Vec<(FrameBytes, Place)>,
    pub(in crate::store::care) deleted: Vec<(DeletedBytes, Place)>,
    pub(in crate::store::care) artifacts: Vec<(FrameBytes, Place)>,
    pub(in crate::store::care) blobs: Vec<(BlobBytes, Place)>,
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
            taken: BTreeSet::new(),
        };
        for table in &trees.tables {
            rows.take(table, &mut trees.seen);
        }
        rows
    }

    /// The bytes of a value.
    pub(in crate::store::care) fn value(&self, place: Place) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; place.bytes];
        self.pages.read(place.at, &mut bytes)?;
        Ok(bytes)
    }

    /// Values one after the other.
    pub(in crate::store::care) fn values<'a>(
        &self,
        places: impl Iterator<Item = &'a Place>,
    ) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for place in places {
            // A document and what is around it; rows that overlap could be without end.
            if bytes.len() + place.bytes > 2 * Limits::DOCUMENT_BYTES_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
            bytes.extend_from_slice(&self.value(*place)?);
        }
        Ok(bytes)
    }

    /// The first sequence that no checkpoint in the tables ever had, as far as that can be told.
    ///
    /// A key on a page that fails its sum may be any number, and what a journal has before that
    /// would be passed over.
    pub(in crate::store::care) fn next_sequence(&self) -> u64 {
        self.next_checked.max(self.meta.get("sequence").copied().unwrap_or(1))
    }

    fn take(&mut self, table: &Table, seen: &mut Seen) {
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
                self.walk(table, width(None), seen, &mut |row| found = Some(Place::of(&row)));
                self.settings = found;
            }
            name if name == TAKEN.name() => {
                let shape = Shape { key: None, value: Some(0) };
                let mut taken = BTreeSet::new();
                self.walk(table, shape, seen, &mut |row| {
                    let name = std::str::from_utf8(row.key).ok().filter(|_| row.is_checked);
                    taken.extend(name.map(str::to_owned));
                });
                self.taken = taken;
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
            // Rows that lead to others are made anew.
            _ => {}
        }
    }

    fn take_frames(&mut self, table: &Table, seen: &mut Seen) {
        let mut next = 1;
        let (frames, spares) = self.placed_with(table, seen, &mut |row: &Row<'_>, key| {
            if row.is_checked {
                next = next.max(frame_sequence(key).saturating_add(1));
            }
        });
        (self.frames, self.spares.frames, self.next_checked) = (frames, spares, next);
    }

    fn placed<const N: usize>(&self, table: &Table, seen: &mut Seen) -> Taken<N> {
        self.placed_with(table, seen, &mut |_, _| ())
    }

    /// The rows of a table, and those that have the key of another one: damage to a key may have
    /// made it that.
    fn placed_with<const N: usize>(
        &self,
        table: &Table,
        seen: &mut Seen,
        hear: &mut dyn FnMut(&Row<'_>, [u8; N]),
    ) -> Taken<N> {
        let (mut rows, mut spares) = (BTreeMap::new(), Vec::new());
        let shape = Shape { key: Some(N), value: None };
        self.walk(table, shape, seen, &mut |row| {
            let Ok(key) = row.key.try_into() else { return };
            hear(&row, key);
            match rows.entry(key) {
                Entry::Vacant(place) => _ = place.insert(Place::of(&row)),
                Entry::Occupied(_) => spares.push((key, Place::of(&row))),
            }
        });
        (rows, spares)
    }

    fn take_names(&mut self, table: &Table, seen: &mut Seen) {
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

    fn walk(&self, table: &Table, shape: Shape, seen: &mut Seen, visit: &mut dyn FnMut(Row<'_>)) {
        self.pages.walk(&table.shaped(shape), seen, visit);
    }
}

impl Place {
    pub(in crate::store::care) fn of(row: &Row<'_>) -> Self {
        Self { at: row.at, bytes: row.value.len() }
    }
}
