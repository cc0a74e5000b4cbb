//! Writes the salvaged checkpoints into a new store; every row is made anew.

use super::rows::Rows;
use super::salvage::Saved;
use crate::codec::{Placed, decode_note, encode_deleted};
use crate::error::Result;
use crate::key::{RecordKey, SEQUENCE_MAX, deleted_row};
use crate::store::Store;
use crate::store::engine::fault::In;
use crate::store::engine::table::{
    IDENTITY_KEY, META, OPERATIONS, RING_KEY, SEQUENCE_KEY, SETTINGS, TAKEN,
};
use crate::store::files::artifact::Captured;
use crate::store::keep::operation::Operation;
use crate::store::transaction::writer::Writer;
use crate::store::turn::settings::{KEY, Settings};

/// Adds checkpoints, all in one transaction.
pub(super) fn add(store: &Store, saved: Vec<Saved>) -> Result<()> {
    store.shared.write(|writer| saved.into_iter().try_for_each(|saved| add_one(writer, saved)))
}

fn add_one(writer: &mut Writer<'_>, saved: Saved) -> Result<()> {
    let Saved { entry, frame, deleted, artifacts, .. } = saved;
    let (sequence, key) = (entry.sequence, RecordKey::of(&entry));
    match deleted {
        None => writer.insert(&Placed { entry, frame })?,
        Some((at, operation)) => {
            writer.insert_frame(&frame, sequence)?;
            writer.add_dependent(&frame, key)?;
            let record = writer.record(&entry)?;
            writer.note_put_away(std::slice::from_ref(&entry))?;
            let row = deleted_row(at, key);
            let value = encode_deleted(&row, operation, &record);
            let path = writer.path;
            writer.deleted()?.insert(row, value.as_slice()).within(path)?;
        }
    }
    let captured: Vec<Captured> = artifacts.into_iter().map(Captured::new).collect();
    writer.insert_artifacts(sequence, &captured)
}

/// What is known about a store beside its checkpoints.
pub(super) struct Notes {
    pub(super) operations: Vec<(u64, Vec<u8>)>,
    settings: Option<Vec<u8>>,
    /// What cannot be read.
    pub(super) lost: Vec<String>,
}

impl Notes {
    pub(super) fn read(rows: &Rows) -> Self {
        let mut notes = Self { operations: Vec::new(), settings: None, lost: Vec::new() };
        for (number, place) in &rows.operations {
            let value = rows.value(*place).unwrap_or_default();
            match decode_note::<Operation>(*number, &value) {
                Ok(_) => notes.operations.push((*number, value)),
                Err(_) => notes.lost.push(format!("operation {number}")),
            }
        }
        if let Some(value) = rows.settings.map(|place| rows.value(place).unwrap_or_default()) {
            match decode_note::<Settings>(0, &value) {
                Ok(_) => notes.settings = Some(value),
                Err(_) => notes.lost.push("settings".to_owned()),
            }
        }
        notes
    }
}

/// Adds settings, the log and the facts about the store. A store that replaces the old one also
/// gets its identity: then both can take in what others spool meanwhile.
pub(super) fn add_notes(
    store: &Store,
    rows: &Rows,
    notes: &Notes,
    is_in_place: bool,
) -> Result<()> {
    let path = store.path();
    store.shared.write(|writer| {
        let transaction = writer.transaction;
        if !notes.operations.is_empty() {
            let mut log = transaction.open_table(OPERATIONS).within(path)?;
            for (number, value) in &notes.operations {
                log.insert(number, value.as_slice()).within(path)?;
            }
        }
        if let Some(value) = &notes.settings {
            let mut settings = transaction.open_table(SETTINGS).within(path)?;
            settings.insert(KEY, value.as_slice()).within(path)?;
        }
        let mut meta = transaction.open_table(META).within(path)?;
        if let Some(identity) = rows.meta.get(IDENTITY_KEY).filter(|_| is_in_place) {
            meta.insert(IDENTITY_KEY, identity).within(path)?;
            let mut taken = transaction.open_table(TAKEN).within(path)?;
            for name in &rows.taken {
                taken.insert(name.as_str(), ()).within(path)?;
            }
        }
        if let Some(ring) = rows.meta.get(RING_KEY) {
            meta.insert(RING_KEY, ring).within(path)?;
        }
        Ok(())
    })
}

/// Notes the next sequence, so that the old journal is known to have nothing newer.
pub(super) fn add_sequence(store: &Store, next_sequence: u64) -> Result<()> {
    let path = store.path();
    store.shared.write(|writer| {
        let mut meta = writer.transaction.open_table(META).within(path)?;
        meta.insert(SEQUENCE_KEY, next_sequence.min(SEQUENCE_MAX)).within(path)?;
        Ok(())
    })
}
