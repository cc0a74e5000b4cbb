//! What an earlier process left in a journal, when the store is opened.
//!
//! Must never take a torn write for whole, nor change a byte.

use std::path::Path;

use super::item::{HEAD_BYTES, HEADER_BYTES, MAGIC, identified, items, read_bytes};
use super::mark::{self, Mark};
use crate::codec::Placed;
use crate::error::{Damage, Error, Result};
use crate::store::engine::disk::Disk;
use crate::store::engine::sectors::Unreadable;

/// The file in the place of the journal.
#[derive(Debug)]
pub(super) enum Foreign {
    /// The journal of the store with this identity.
    Journal(u64),
    Strange,
}

/// The content of a journal when a store is opened.
#[derive(Debug, Default)]
pub(in crate::store) struct Left {
    /// Saves that the tables may lack after a crash.
    pub(in crate::store) placed: Vec<Placed>,
    /// Where its content ends, including the mark; later bytes mean nothing.
    pub(in crate::store) end: u64,
    /// Where the next item would begin, and the seed of its sum.
    pub(super) items_end: (u64, u64),
    /// Length and sum of the first item, or zeros.
    pub(super) first: [u8; HEAD_BYTES],
    pub(super) foreign: Option<Foreign>,
}

/// Reads the saves of a store from its journal, from `sequence` on. Changes nothing.
///
/// Damage before its end is an error, and so is a file longer than `bytes_max`.
pub(in crate::store) fn look(
    disk: &dyn Disk,
    (path, bytes_max): (&Path, u64),
    identity: u64,
    sequence: u64,
) -> Result<Left> {
    let Some((bytes, unreadable)) = read_bytes(disk, (path, bytes_max))? else {
        return Ok(Left { items_end: (HEADER_BYTES as u64, identity), ..Left::default() });
    };
    let damaged = |at| unreadable.first().map_or_else(|| damaged(path, at), unread);
    let named = identified(&bytes).map(|(named, _)| named);
    let rest = bytes.get(HEADER_BYTES..).unwrap_or_default();
    // A right sum rules out a torn write, so this content must not be skipped.
    let (mut placed, (length, chain)) =
        items(rest, identity).map_err(|at| damaged(HEADER_BYTES + at))?;
    // The first sum is seeded with the identity, even if the header is lost.
    let is_own = named == Some(identity) || !placed.is_empty();
    let end = if is_own { HEADER_BYTES + length } else { 0 };
    // Bytes written after a sync prove that everything before them was intact.
    if mark::current(&bytes, end, (identity, sequence)).any(|mark| mark.synced > end as u64) {
        return Err(damaged(end));
    }
    // Nothing was written after the mark that follows the last item.
    let is_over = is_own && Mark::at(&bytes, end, identity).is_some();
    if !is_over && !unreadable.is_empty() {
        return Err(damaged(end));
    }
    let foreign = match named.filter(|_| !is_own) {
        Some(other) => Some(Foreign::Journal(other)),
        None if !is_own && !is_begun(&bytes) => Some(Foreign::Strange),
        // Its own; or truncated before the first sync, so nothing in it was acknowledged.
        None => None,
    };
    placed.retain(|placed: &Placed| placed.entry.sequence >= sequence);
    let items_end = ((HEADER_BYTES + length) as u64, chain);
    let first = rest.first_chunk().copied().unwrap_or_default();
    let end = mark::behind(&bytes, end, identity) as u64;
    Ok(Left { placed, end, items_end, first, foreign })
}

/// Whether bytes start as a journal does. A power loss may drop any part of that start.
pub(super) fn is_begun(bytes: &[u8]) -> bool {
    bytes.iter().zip(MAGIC).all(|(byte, magic)| *byte == 0 || byte == magic)
}

fn damaged(path: &Path, at: usize) -> Error {
    let place = format!("byte {at} of {}", path.display());
    let reason = "the journal is damaged before its end, and saves are in it that the store lacks; \
                  it stays as it is, and `waypost repair` saves all that can be read";
    Error::corrupt(place, reason)
}

/// It may hold saves that the store lacks.
fn unread(bytes: &Unreadable) -> Error {
    let reason = format!(
        "the disk cannot read them: {}; the journal is unchanged, and `waypost repair` saves what \
         can be read",
        bytes.reason
    );
    Error::damaged(Damage::Disk, bytes.to_string(), reason)
}
