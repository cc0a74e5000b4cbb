//! The rows of a damaged store, table by table: where each value is.
//!
//! Nothing here is believed: a row is as good as the sum that it passes later. Where a value has no
//! sum of its own, only what lies in a page that passed its sum is taken.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use redb::TableHandle as _;

use super::strays::{self, Strays};
use super::trees::{Trees, has_all};
use crate::codec::NameKind;
use crate::key::{BlobBytes, DeletedBytes, FrameBytes, NameId, RecordBytes, frame_sequence};
use crate::store::names;
use crate::store::pages::{Pages, Row, Seen, Shape, Table};
use crate::store::table::{
    ARTIFACTS, BLOBS, DELETED, FRAMES, META, NAMES, OPERATIONS, RECORDS, SETTINGS, TAKEN,
};

/// Where in the file a value is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) at: u64,
    pub(super) bytes: usize,
}

/// What there is of a store. Takes some hundred bytes of memory for each checkpoint.
pub(super) struct Rows {
    pub(super) pages: Pages,
    /// Whether the tables that every store has are there.
    pub(super) is_store: bool,
    /// What was found where no table leads.
    pub(super) strays: Strays,
    pub(super) meta: HashMap<String, u64>,
    pub(super) names: HashMap<NameId, (NameKind, Arc<str>)>,
    pub(super) records: BTreeMap<RecordBytes, Place>,
    pub(super) frames: BTreeMap<FrameBytes, Place>,
    pub(super) deleted: BTreeMap<DeletedBytes, Place>,
    pub(super) artifacts: BTreeMap<FrameBytes, Place>,
    pub(super) blobs: BTreeMap<BlobBytes, Place>,
    pub(super) operations: BTreeMap<u64, Place>,
    pub(super) settings: Option<Place>,
    /// The names of files of the spool that were taken in.
    pub(super) taken: BTreeSet<String>,
}

impl Rows {
    /// Reads all pages that lead to rows.
    pub(super) fn read(pages: Pages) -> Self {
        let mut trees = Trees::find(&pages);
        let mut rows = Self {
            pages,
            is_store: has_all(&trees.tables),
            strays: Strays::default(),
            meta: HashMap::new(),
            names: HashMap::new(),
            records: BTreeMap::new(),
            frames: BTreeMap::new(),
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
        strays::look(&mut rows, &trees);
        rows
    }

    /// The bytes of a value.
    pub(super) fn value(&self, place: Place) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; place.bytes];
        self.pages.read(place.at, &mut bytes)?;
        Ok(bytes)
    }

    /// Values one after the other.
    pub(super) fn values<'a>(
        &self,
        places: impl Iterator<Item = &'a Place>,
    ) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for place in places {
            bytes.extend_from_slice(&self.value(*place)?);
        }
        Ok(bytes)
    }

    /// The first sequence that no checkpoint in the tables ever had, as far as that can be told.
    pub(super) fn next_sequence(&self) -> u64 {
        let last = self.frames.last_key_value().map_or(1, |(row, _)| frame_sequence(*row) + 1);
        last.max(self.meta.get("sequence").copied().unwrap_or(1))
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
                let operations = self.placed(table, seen);
                let number = |(key, place)| (u64::from_le_bytes(key), place);
                self.operations = operations.into_iter().map(number).collect();
            }
            name if name == RECORDS.name() => self.records = self.placed(table, seen),
            name if name == FRAMES.name() => self.frames = self.placed(table, seen),
            name if name == DELETED.name() => self.deleted = self.placed(table, seen),
            name if name == ARTIFACTS.name() => self.artifacts = self.placed(table, seen),
            name if name == BLOBS.name() => self.blobs = self.placed(table, seen),
            // Rows that lead to others are made anew.
            _ => {}
        }
    }

    fn placed<const N: usize>(&self, table: &Table, seen: &mut Seen) -> BTreeMap<[u8; N], Place> {
        let mut rows = BTreeMap::new();
        let shape = Shape { key: Some(N), value: None };
        self.walk(table, shape, seen, &mut |row| {
            if let Ok(key) = row.key.try_into() {
                rows.entry(key).or_insert_with(|| Place::of(&row));
            }
        });
        rows
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
    pub(super) fn of(row: &Row<'_>) -> Self {
        Self { at: row.at, bytes: row.value.len() }
    }
}
