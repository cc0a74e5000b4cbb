//! Frames: complete chunks, a checkpoint for each, and bases that know their dependents.

use redb::ReadableTable as _;

use super::tables::{Tables, each_after};
use super::tally::{Harm, Verification};
use crate::codec::decode_dependents;
use crate::error::Result;
use crate::key::{RecordKey, deleted_at, dependents_row, frame_row, frame_rows, frame_sequence};
use crate::store::chain::unpack::CHUNK_BYTES_MIN;
use crate::store::engine::fault::In;
use crate::store::engine::table::{META, SEQUENCE_KEY};

/// The checkpoints of a store at one moment, deleted ones that can be restored included.
pub(super) struct Owners {
    /// In the order of sequences.
    keys: Vec<RecordKey>,
    /// Checkpoints saved later are not among them.
    end: u64,
}

impl Owners {
    /// Reads the keys of all checkpoints: 16 bytes of memory for each.
    pub(super) fn read(tables: &Tables<'_>, found: &mut Verification) -> Self {
        let mut keys = Vec::new();
        each_after(&tables.records, ("records", tables.path), None, found, |key, _| {
            keys.push(RecordKey::from_bytes(key));
            true
        });
        if let Some(deleted) = &tables.deleted {
            each_after(deleted, ("deleted", tables.path), None, found, |row, _| {
                keys.push(deleted_at(row).1);
                true
            });
        }
        keys.sort_unstable_by_key(|key| key.sequence);
        if let Some(pair) = keys.windows(2).find(|pair| pair[0].sequence == pair[1].sequence) {
            found.find(Harm::Reading, pair[1].to_string(), "its sequence number occurs twice");
        }
        Self { keys, end: next_sequence(tables).unwrap_or(u64::MAX) }
    }

    fn key(&self, sequence: u64) -> Option<RecordKey> {
        let at = self.keys.binary_search_by_key(&sequence, |key| key.sequence).ok()?;
        Some(self.keys[at])
    }

    /// Whether a row with this sequence must belong to one of them.
    pub(super) fn misses(&self, sequence: u64) -> bool {
        sequence < self.end && self.key(sequence).is_none()
    }
}

/// The sequence of the next checkpoint, as far as the tables say it.
pub(super) fn next_sequence(tables: &Tables<'_>) -> Result<u64> {
    let last = tables.frames.last().within(tables.path)?;
    let last = last.map_or(1, |(row, _)| frame_sequence(row.value()) + 1);
    let Some(meta) = tables.open(META)? else { return Ok(last) };
    let noted = meta.get(SEQUENCE_KEY).within(tables.path)?.map(|value| value.value());
    Ok(last.max(noted.unwrap_or(1)))
}

/// Checks the frame of a sequence.
pub(super) fn check_frame(
    tables: &Tables<'_>,
    sequence: u64,
    owners: &Owners,
    found: &mut Verification,
) {
    if owners.misses(sequence) {
        found.find(Harm::Reading, place(sequence), "the entry of its checkpoint is lost");
    }
    let checked = check_chunks(tables, sequence, found)
        .and_then(|()| check_base(tables, sequence, found))
        .and_then(|()| check_dependents(tables, sequence, owners, found));
    if let Err(error) = checked {
        found.find_error(Harm::Reading, None, &error);
    }
}

fn check_chunks(tables: &Tables<'_>, sequence: u64, found: &mut Verification) -> Result<()> {
    let mut expected = 0;
    let mut is_over = false;
    for row in tables.frames.range(frame_rows(sequence)).within(tables.path)? {
        let (row, chunk) = row.within(tables.path)?;
        found.rows += 1;
        if is_over || row.value() != frame_row(sequence, expected) {
            found.find(
                Harm::Reading,
                place(sequence),
                "a chunk is missing, or there is one too many",
            );
            break;
        }
        is_over = chunk.value().len() < CHUNK_BYTES_MIN;
        expected += 1;
    }
    if expected == 0 {
        found.find(Harm::Upkeep, place(sequence), "it has dependents, but is missing");
    }
    Ok(())
}

/// The base of a frame has a row that leads to it.
fn check_base(tables: &Tables<'_>, sequence: u64, found: &mut Verification) -> Result<()> {
    // Damage to the frame itself shows elsewhere.
    let Some(base) = tables.unpacker().base(sequence)? else { return Ok(()) };
    let row = tables.frames.get(dependents_row(base)).within(tables.path)?;
    let dependents = row.and_then(|row| decode_dependents(base, row.value())).unwrap_or_default();
    if !dependents.iter().any(|key| key.sequence == sequence) {
        let reason = format!("its base, frame {base}, does not list it as a dependent");
        found.find(Harm::Listing, place(sequence), reason);
    }
    Ok(())
}

/// Every sequence in a row of dependents must be a dependent.
fn check_dependents(
    tables: &Tables<'_>,
    sequence: u64,
    owners: &Owners,
    found: &mut Verification,
) -> Result<()> {
    let Some(row) = tables.frames.get(dependents_row(sequence)).within(tables.path)? else {
        return Ok(());
    };
    found.rows += 1;
    let Some(dependents) = decode_dependents(sequence, row.value()) else {
        let reason = "the row of its dependents is damaged: it cannot be removed";
        found.find(Harm::Listing, place(sequence), reason);
        return Ok(());
    };
    for key in dependents {
        let is_one = tables.unpacker().base(key.sequence)? == Some(sequence);
        let owner = owners.key(key.sequence);
        if !is_one || owner.is_some_and(|owner| owner != key) {
            let reason = format!("frame {} is listed as a dependent and is not one", key.sequence);
            found.find(Harm::Upkeep, place(sequence), reason);
        }
    }
    Ok(())
}

fn place(sequence: u64) -> String {
    format!("frame {sequence}")
}
