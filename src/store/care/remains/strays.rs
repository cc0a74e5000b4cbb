//! Rows in pages that no table leads to, because the pages above are damaged.
//!
//! Such a page may have been free for a long time. So a row counts only where the tables may have
//! lost it, and only if its own sum proves it. The report says that it may have been deleted or
//! changed since.

use std::collections::{BTreeMap, HashSet};

use redb::TableHandle as _;

use super::rows::{Rows, Spares, ValueSpan};
use super::trees::{Trees, keyed};
use crate::checkpoint::Timestamp;
use crate::codec::{NameKind, check, decode_artifact, decode_deleted, decode_entry, decode_note};
use crate::key::{
    BlobBytes, DeletedBytes, FrameBytes, NameId, RecordBytes, RecordKey, deleted_at, frame_rows,
    frame_sequence,
};
use crate::store::engine::names::{self, Pair};
use crate::store::engine::pages::{Row, Shape, Stray};
use crate::store::engine::table::{
    ARTIFACTS, BLOBS, DELETED, FRAMES, NAMES, OPERATIONS, RECORDS, SETTINGS,
};
use crate::store::keep::operation::Operation;

// A document is stored anew a few times in its life.
const VERSIONS_MAX: usize = 8;

const RECORD: usize = 0;
const FRAME: usize = 1;
const DELETION: usize = 2;
const BLOB: usize = 3;
const NAME: usize = 4;

/// Rows that pass their own sums, or are parts of something that does.
#[derive(Default)]
struct StrayRows {
    records: BTreeMap<RecordBytes, (Timestamp, ValueSpan)>,
    deleted: BTreeMap<DeletedBytes, ValueSpan>,
    frames: BTreeMap<FrameBytes, Vec<(u64, ValueSpan)>>,
    artifacts: BTreeMap<FrameBytes, ValueSpan>,
    operations: BTreeMap<u64, ValueSpan>,
    blobs: BTreeMap<BlobBytes, Vec<(u64, ValueSpan)>>,
    /// `None` if two are found.
    names: BTreeMap<NameId, Option<Pair>>,
}

/// Adds rows that the tables may have lost.
pub(super) fn look(rows: &mut Rows, trees: &Trees) {
    let names = [RECORDS.name(), FRAMES.name(), DELETED.name(), ARTIFACTS.name(), BLOBS.name()];
    let others = [NAMES.name(), OPERATIONS.name(), SETTINGS.name()];
    let is_hurt = names.iter().chain(&others).any(|name| trees.is_hurt(name));
    if trees.is_last && !is_hurt && !lacks_frames(rows) {
        return;
    }
    let shape = Shape { key: None, value: None };
    let shapes = [keyed(14), keyed(8), keyed(22), keyed(34), shape];
    let mut found = StrayRows::default();
    rows.pages.strays(&trees.seen, &shapes, &mut |leaf| found.add(&leaf));
    found.add_spares(rows);
    if !trees.is_last && rows.is_store {
        let reason = "the last state of the store cannot be told from those before: what was \
                      changed or deleted last may be as it was before";
        rows.strays.unsure.push(("table tables".to_owned(), reason));
    }
    Merge { next: rows.next_sequence(), rows, trees }.all(found);
}

/// Whether an entry has no document.
fn lacks_frames(rows: &Rows) -> bool {
    let lacks = |sequence| rows.frames.range(frame_rows(sequence)).next().is_none();
    rows.records.keys().any(|key| lacks(RecordKey::from_bytes(*key).sequence))
}

impl StrayRows {
    fn add(&mut self, leaf: &Stray<'_>) {
        for row in &leaf.rows {
            match leaf.shape {
                RECORD => self.add_record(row),
                FRAME => self.add_frame(row),
                DELETION => self.add_deleted(row),
                BLOB => self.add_blob(row),
                NAME => self.add_name(row),
                _ => {}
            }
        }
    }

    fn add_spares(&mut self, rows: &Rows) {
        let Spares { records, frames, deleted, artifacts, blobs } = &rows.spares;
        let mut each = |key: &[u8], place: ValueSpan, add: &mut dyn FnMut(&mut Self, &Row<'_>)| {
            if let Ok(value) = rows.value(place) {
                add(self, &Row { key, value: &value, at: place.at, is_checked: false });
            }
        };
        for (key, place) in records {
            each(key, *place, &mut Self::add_record);
        }
        for (key, place) in frames.iter().chain(artifacts) {
            each(key, *place, &mut Self::add_frame);
        }
        for (key, place) in deleted {
            each(key, *place, &mut Self::add_deleted);
        }
        for (key, place) in blobs {
            each(key, *place, &mut Self::add_blob);
        }
    }

    fn add_blob(&mut self, row: &Row<'_>) {
        if let Ok(key) = row.key.try_into() {
            add_version(self.blobs.entry(key).or_default(), row);
        }
    }

    /// Of several versions, the one that was changed last, as far as is known.
    fn add_record(&mut self, row: &Row<'_>) {
        let Ok(key) = row.key.try_into() else { return };
        let Some(changed) = changed_at(key, row.value) else { return };
        let new = (changed, ValueSpan::of(row));
        let known = self.records.entry(key).or_insert(new);
        if changed > known.0 {
            *known = new;
        }
    }

    /// Three tables have keys of this length; a chunk of a document proves nothing by itself.
    fn add_frame(&mut self, row: &Row<'_>) {
        let Ok(key) = row.key.try_into() else { return };
        let number = u64::from_le_bytes(key);
        if decode_artifact(key, row.value).is_some() {
            self.artifacts.entry(key).or_insert_with(|| ValueSpan::of(row));
        } else if decode_note::<Operation>(number, row.value).is_ok() {
            self.operations.entry(number).or_insert_with(|| ValueSpan::of(row));
        } else {
            add_version(self.frames.entry(key).or_default(), row);
        }
    }

    fn add_deleted(&mut self, row: &Row<'_>) {
        let Ok(key) = row.key.try_into() else { return };
        let Some(found) = decode_deleted(&key, row.value) else { return };
        if changed_at(deleted_at(key).1.to_bytes(), found.record).is_some() {
            self.deleted.entry(key).or_insert_with(|| ValueSpan::of(row));
        }
    }

    /// Only the row of a number has a sum.
    fn add_name(&mut self, row: &Row<'_>) {
        if row.key.first() != Some(&0) {
            return;
        }
        let Some((id, pair)) = names::of_row(row.key, row.value) else { return };
        let known = self.names.entry(id).or_insert_with(|| Some(pair.clone()));
        if known.as_ref() != Some(&pair) {
            *known = None;
        }
    }
}

/// When an entry was changed; `None` if the bytes are no entry, or not of this key.
fn changed_at(key: RecordBytes, record: &[u8]) -> Option<Timestamp> {
    // The names themselves do not matter here, but each kind must have one.
    let lookup = |kind, _| match kind {
        NameKind::Cause => Some("unknown unknown".into()),
        _ => Some("any".into()),
    };
    let entry = decode_entry(RecordKey::from_bytes(key), record, &lookup);
    entry.ok().map(|entry| entry.updated_at.unwrap_or(entry.created_at))
}

fn add_version(versions: &mut Vec<(u64, ValueSpan)>, row: &Row<'_>) {
    let sum = check(0, row.value);
    if versions.len() < VERSIONS_MAX && versions.iter().all(|(known, _)| *known != sum) {
        versions.push((sum, ValueSpan::of(row)));
    }
}

struct Merge<'a> {
    rows: &'a mut Rows,
    trees: &'a Trees,
    /// The first sequence that the tables do not know.
    next: u64,
}

impl Merge<'_> {
    fn all(mut self, found: StrayRows) {
        let StrayRows { records, deleted, frames, artifacts, operations, blobs, names } = found;
        self.entries(records, deleted);
        let places =
            |versions: Vec<(u64, ValueSpan)>| versions.into_iter().map(|it| it.1).collect();
        let frames: BTreeMap<_, Vec<ValueSpan>> =
            frames.into_iter().map(|(key, versions)| (key, places(versions))).collect();
        self.lone(&frames);
        let Self { rows, trees, .. } = self;
        rows.strays.frames = frames;
        rows.strays.blobs = blobs.into_iter().map(|(key, it)| (key, places(it))).collect();
        if trees.is_hurt(ARTIFACTS.name()) || !trees.is_last {
            for (key, place) in artifacts {
                if !is_proven(rows, rows.artifacts.get(&key), |it| {
                    decode_artifact(key, it).is_some()
                }) {
                    rows.artifacts.insert(key, place);
                }
            }
        }
        if trees.is_hurt(OPERATIONS.name()) || !trees.is_last {
            for (number, place) in operations {
                rows.operations.entry(number).or_insert(place);
            }
        }
        if trees.is_hurt(OPERATIONS.name()) {
            rows.strays.lost.push(("operations", "some of the log may be lost"));
        }
        if trees.is_hurt(SETTINGS.name()) && rows.settings.is_none() {
            rows.strays.lost.push(("settings", "any settings are lost"));
        }
        if trees.is_hurt(NAMES.name()) || !trees.is_last {
            for (id, pair) in names.into_iter().filter_map(|(id, pair)| Some((id, pair?))) {
                rows.names.entry(id).or_insert_with(|| {
                    let place = format!("name {id}, {:?}", pair.1);
                    rows.strays.unsure.push((place, FOUND));
                    pair
                });
            }
        }
    }

    fn entries(
        &mut self,
        records: BTreeMap<RecordBytes, (Timestamp, ValueSpan)>,
        deleted: BTreeMap<DeletedBytes, ValueSpan>,
    ) {
        let sequence_of = |key: &RecordBytes| RecordKey::from_bytes(*key).sequence;
        let rows = &*self.rows;
        let proven = rows.records.iter().filter(|(key, place)| {
            is_proven(rows, Some(place), |it| changed_at(**key, it).is_some())
        });
        let is_listed: HashSet<u64> = proven.map(|(key, _)| sequence_of(key)).collect();
        let is_deleted: HashSet<u64> =
            rows.deleted.keys().map(|row| deleted_at(*row).1.sequence).collect();
        let may_be = |table: &str, sequence: u64| {
            let is_newer = !self.trees.is_last && sequence >= self.next;
            // A checkpoint without a document was removed.
            let has_document = self.trees.is_hurt(FRAMES.name())
                || rows.frames.range(frame_rows(sequence)).next().is_some();
            is_newer || (self.trees.is_hurt(table) && has_document)
        };
        let records: Vec<_> = records
            .into_iter()
            .map(|(key, (_, place))| (key, place, sequence_of(&key)))
            .filter(|(.., sequence)| {
                let is_known = is_listed.contains(sequence) || is_deleted.contains(sequence);
                !is_known && may_be(RECORDS.name(), *sequence)
            })
            .collect();
        let deleted: Vec<_> = deleted
            .into_iter()
            .map(|(key, place)| (key, place, deleted_at(key).1.sequence))
            .filter(|(.., sequence)| {
                let is_known = is_listed.contains(sequence) || is_deleted.contains(sequence);
                !is_known && may_be(DELETED.name(), *sequence)
            })
            .collect();
        for (key, place, sequence) in records {
            self.rows.records.insert(key, place);
            self.rows.strays.entries.insert(sequence);
        }
        for (key, place, sequence) in deleted {
            self.rows.deleted.insert(key, place);
            self.rows.strays.entries.insert(sequence);
        }
    }

    /// Documents that may be checkpoints, though no entry is known.
    fn lone(&mut self, frames: &BTreeMap<FrameBytes, Vec<ValueSpan>>) {
        let trees = self.trees;
        let is_hurt = trees.is_hurt(RECORDS.name()) && trees.is_hurt(FRAMES.name());
        let rows = &*self.rows;
        let owned = rows.records.keys().map(|key| RecordKey::from_bytes(*key).sequence);
        let deleted = rows.deleted.keys().map(|row| deleted_at(*row).1.sequence);
        let stored = rows.frames.keys().map(|row| frame_sequence(*row));
        let known: HashSet<u64> = owned.chain(deleted).chain(stored).collect();
        let sequences = frames.keys().map(|row| frame_sequence(*row));
        let lone = sequences
            .filter(|it| !known.contains(it) && (is_hurt || (!trees.is_last && *it >= self.next)));
        let lone = lone.collect();
        self.rows.strays.lone = lone;
    }
}

/// Why something found outside of the tables is unsure.
pub(super) const FOUND: &str = "it was found in a page that no table leads to: may have been \
                                deleted before, or changed since";

fn is_proven(rows: &Rows, place: Option<&ValueSpan>, is_right: impl Fn(&[u8]) -> bool) -> bool {
    place.and_then(|place| rows.value(*place).ok()).is_some_and(|value| is_right(&value))
}
