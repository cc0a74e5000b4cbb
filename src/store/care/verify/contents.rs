//! Captured contents: checks their hash and the number of their holders.

use std::collections::HashMap;

use super::frames::Owners;
use super::tables::{Tables, each_after};
use super::tally::{Harm, Verification};
use crate::checkpoint::Hash;
use crate::codec::{Flaw, FoundFrame, Holders, KeyId, decode_artifact, decode_holders};
use crate::error::{Error, Result};
use crate::key::{blob_hash, blob_row, blob_rows, frame_sequence};
use crate::store::engine::fault::In;
use crate::store::files::blobs::{stored, unpack};

/// The checkpoints of each content by the rows of captured files, compared with `holders`.
pub(super) fn check_holders(tables: &Tables<'_>, owners: &Owners, found: &mut Verification) {
    let mut contents = count_holders(tables, owners, found);
    for hash in contents.keys() {
        if let Err(error) = check_there(tables, hash) {
            found.find_error(Harm::Reading, None, &error);
        }
    }
    if let Some(holders) = &tables.holders {
        each_after(
            holders,
            ("holders", tables.path),
            None,
            &mut Verification::default(),
            |row, value| {
                found.rows += 1;
                let hash = Hash::from_bytes(row);
                let place = format!("table holders, row {hash}");
                match (decode_holders(&row, value), contents.remove(&hash)) {
                    (Some(noted), Some(counted)) if noted == counted => {}
                    (None, _) => found.find(Harm::Upkeep, place, "checksum differs"),
                    (Some(_), Some(_)) => found.find(Harm::Upkeep, place, "it counts wrong"),
                    (Some(_), None) => {
                        found.find(Harm::Upkeep, place, "no checkpoint has the content");
                    }
                }
                true
            },
        );
    }
    for hash in contents.keys() {
        found.find(Harm::Upkeep, format!("table holders, row {hash}"), "it is missing");
    }
}

fn count_holders(
    tables: &Tables<'_>,
    owners: &Owners,
    found: &mut Verification,
) -> HashMap<Hash, Holders> {
    let mut contents: HashMap<Hash, Holders> = HashMap::new();
    let Some(artifacts) = &tables.artifacts else { return contents };
    // Each content counts once for a checkpoint, under any number of paths.
    let mut had: (u64, Vec<Hash>) = (0, Vec::new());
    let mut lost = Verification::default();
    each_after(artifacts, ("artifacts", tables.path), None, &mut lost, |row, value| {
        found.rows += 1;
        let sequence = frame_sequence(row);
        if had.0 != sequence {
            had = (sequence, Vec::new());
            if owners.misses(sequence) {
                let place = format!("table artifacts, rows of {sequence}");
                found.find(Harm::Upkeep, place, "there is no such checkpoint");
            }
        }
        // Damage to it is reported with its checkpoint.
        let hash = decode_artifact(row, value).and_then(|artifact| artifact.sha256);
        if let Some(hash) = hash.filter(|hash| !had.1.contains(hash)) {
            had.1.push(hash);
            let holders = contents.entry(hash).or_default();
            *holders = holders.with(sequence);
        }
        true
    });
    found.add(lost);
    contents
}

fn check_there(tables: &Tables<'_>, hash: &Hash) -> Result<()> {
    let first = match &tables.blobs {
        Some(blobs) => blobs.get(blob_row(hash, 0)).within(tables.path)?.is_some(),
        None => false,
    };
    let lost = || Error::corrupt(format!("captured content {hash}"), "it is missing");
    if first { Ok(()) } else { Err(lost()) }
}

/// Checks one whole content.
pub(super) fn check_content(tables: &Tables<'_>, hash: &Hash, found: &mut Verification) {
    match read(tables, hash) {
        Ok((bytes, key)) => {
            found.compare(tables.sealing, key);
            match bytes {
                Some(bytes) => {
                    found.contents += 1;
                    found.content_bytes += bytes;
                }
                None => found.sealed += 1,
            }
            let noted = tables.holders.as_ref().map(|table| table.get(hash.as_bytes()));
            if matches!(noted, None | Some(Ok(None))) {
                let place = format!("captured content {hash}");
                found.find(Harm::Upkeep, place, "the list of its holders is missing");
            }
        }
        Err(error) => found.find_error(Harm::Reading, None, &error),
    }
}

/// The length of a content and its key, if it has one. The length is `None` if the content is
/// intact as stored, and its key was not given.
fn read(tables: &Tables<'_>, hash: &Hash) -> Result<(Option<u64>, Option<KeyId>)> {
    let damaged = |reason: &str| Error::corrupt(format!("captured content {hash}"), reason);
    let Some(blobs) = &tables.blobs else { return Err(damaged("it is missing")) };
    for (row, expected) in blobs.range(blob_rows(hash)).within(tables.path)?.zip(0..u16::MAX) {
        if row.within(tables.path)?.0.value() != blob_row(hash, expected) {
            return Err(damaged("a chunk is missing"));
        }
    }
    let bytes = stored(blobs, hash, tables.path)?.ok_or_else(|| damaged("it is missing"))?;
    let FoundFrame { raw_bytes: length, key, .. } = FoundFrame::parse(&bytes).map_err(damaged)?;
    let content = unpack(tables.unpacking, &bytes, (hash, length));
    let content = match content {
        Ok(content) => content,
        Err(Flaw::NoKey(_)) => return Ok((None, key)),
        Err(Flaw::Damaged(reason)) => return Err(damaged(reason)),
    };
    if Hash::of(&content) != *hash {
        return Err(damaged("its hash differs"));
    }
    Ok((Some(content.len() as u64), key))
}

/// The contents after one, in the order of their hashes.
pub(super) fn next_stored(
    tables: &Tables<'_>,
    after: Option<&Hash>,
    count: usize,
    found: &mut Verification,
) -> Vec<Hash> {
    let mut hashes: Vec<Hash> = Vec::new();
    let Some(blobs) = &tables.blobs else { return hashes };
    let after = after.map(|hash| blob_row(hash, u16::MAX));
    each_after(blobs, ("blobs", tables.path), after, found, |row, _| {
        let hash = blob_hash(row);
        if hashes.last() != Some(&hash) {
            hashes.push(hash);
        }
        hashes.len() <= count
    });
    hashes.truncate(count);
    hashes
}
