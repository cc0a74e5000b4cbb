//! The mark after the last item: how much of a journal was on disk when that item was written.
//!
//! A torn end and damage look alike, since any part of an unsynced write may be on disk. Bytes
//! written after a sync prove that everything before them was whole.

use crate::codec::check;
use crate::store::engine::disk::ZEROS;

const MARK_BYTES: usize = 28;

/// What the writer knew when it wrote its last item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// Everything before this byte was on disk.
    pub(super) synced: u64,
    /// The last sequence before the mark.
    pub(super) last: u64,
}

impl Mark {
    /// Adds the mark that stands at byte `at` of the journal of a store.
    pub(super) fn encode(self, at: u64, identity: u64, out: &mut Vec<u8>) {
        // A reader of items sees a length of zero: the end.
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.synced.to_le_bytes());
        out.extend_from_slice(&self.last.to_le_bytes());
        out.extend_from_slice(&self.sum(at, identity).to_le_bytes());
    }

    /// The mark at byte `at`, if there is one.
    pub(super) fn at(bytes: &[u8], at: usize, identity: u64) -> Option<Self> {
        Self::read(bytes.get(at..)?, at as u64, identity)
    }

    /// The mark at the front of `bytes`, which begin at byte `at`.
    pub(super) fn read(bytes: &[u8], at: u64, identity: u64) -> Option<Self> {
        let rest = bytes.strip_prefix(&[0; 4])?;
        let (synced, rest) = rest.split_first_chunk()?;
        let (last, rest) = rest.split_first_chunk()?;
        let (synced, last) = (u64::from_le_bytes(*synced), u64::from_le_bytes(*last));
        let mark = Self { synced, last };
        // Checked before the sum, since most bytes are zeros.
        let is_possible = last > 0 && synced <= at;
        let sum = u64::from_le_bytes(*rest.first_chunk()?);
        (is_possible && mark.sum(at, identity) == sum).then_some(mark)
    }

    fn sum(self, at: u64, identity: u64) -> u64 {
        let numbers = [at, self.synced, self.last];
        check(identity, &numbers.map(u64::to_le_bytes).concat())
    }
}

/// Where the mark at byte `at` ends, if there is one; else `at`.
pub(super) fn behind(bytes: &[u8], at: usize, identity: u64) -> usize {
    Mark::at(bytes, at, identity).map_or(at, |_| at + MARK_BYTES)
}

/// The marks of a journal from byte `from` on that name a sequence which the tables may lack.
///
/// Others are of an earlier round, whose items are all in the tables.
pub(super) fn current(
    bytes: &[u8],
    from: usize,
    (identity, next_sequence): (u64, u64),
) -> impl Iterator<Item = Mark> {
    let written = &bytes[..bytes.len() - unused(bytes)];
    let places = from..written.len();
    let marks = places.filter_map(move |at| Mark::at(bytes, at, identity));
    marks.filter(move |mark| mark.last >= next_sequence)
}

/// Length of the zeros at the end, in whole parts.
fn unused(bytes: &[u8]) -> usize {
    let parts = bytes.rchunks(ZEROS.len().min(4096));
    parts.take_while(|part| **part == ZEROS[..part.len()]).map(<[u8]>::len).sum()
}
