//! Writes the salvaged checkpoints into a new store; every row is made anew.

use crate::codec::{Placed, encode_deleted};
use crate::error::Result;
use crate::key::{RecordKey, SEQUENCE_MAX, deleted_row};
use crate::store::Store;
use crate::store::care::remains::notes::Notes;
use crate::store::care::remains::rows::Rows;
use crate::store::care::remains::salvage::Saved;
use crate::store::engine::fault::In;
use crate::store::engine::table::{
    IDENTITY_KEY, META, OPERATIONS, RING_KEY, SEQUENCE_KEY, SETTINGS, TAKEN,
};
use crate::store::files::artifact::Captured;
use crate::store::transaction::writer::Writer;
use crate::store::turn::settings::KEY;

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
            for name in &rows.taken.0 {
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
