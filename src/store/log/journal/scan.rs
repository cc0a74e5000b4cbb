//! Reads a journal past its damaged parts, to repair or verify a store.
//!
//! Must never count unchecked bytes as checked, nor a torn write as damage.

use std::path::Path;

use super::item::{HEAD_BYTES, HEADER_BYTES, first, head, identified, read_bytes};
use super::mark::{Mark, current};
use crate::codec::{Placed, check};
use crate::error::Result;
use crate::store::engine::disk::Disk;
use crate::store::engine::sectors::Unreadable;

// Bounds the bytes read in search of the next item, as a multiple of the length. Crafted bytes
// could otherwise make the search quadratic.
const SEARCHES: usize = 64;

/// The items of a journal that the tables may lack.
#[derive(Debug, Default)]
pub(in crate::store) struct Scanned {
    pub(in crate::store) items: Vec<ScannedItem>,
    pub(in crate::store) gaps: Vec<Gap>,
    /// The ranges that the disk cannot read.
    pub(in crate::store) unreadable: Vec<Unreadable>,
    /// The last sequence that it mentions.
    pub(in crate::store) last_sequence: u64,
}

/// An item of a journal. It may never have been acknowledged.
#[derive(Debug)]
pub(in crate::store) struct ScannedItem {
    /// The byte at which it begins.
    pub(in crate::store) at: usize,
    pub(in crate::store) placed: Placed,
    /// Whether it passed its sum. After damage there may be no seed for that. Then its entry has
    /// passed a sum of its own, its frame has yet to, and its names have passed none.
    pub(in crate::store) is_checked: bool,
}

/// The start of one or more damaged items.
#[derive(Debug)]
pub(in crate::store) struct Gap {
    /// The byte at which it begins.
    pub(in crate::store) at: usize,
    /// Whether it was on disk once. If not, a power loss may have left it so.
    pub(in crate::store) is_damage: bool,
    /// Whether the item itself is unreadable, rather than only its sum damaged.
    pub(in crate::store) is_lost: bool,
}

/// Reads a journal past its damage; `None` if there is none, or it is of another store.
///
/// If the identity of the store is lost, the one in the journal counts.
pub(in crate::store) fn scan(
    disk: &dyn Disk,
    (path, bytes_max): (&Path, u64),
    identity: Option<u64>,
    next_sequence: u64,
) -> Result<Option<Scanned>> {
    let Some((bytes, unreadable)) = read_bytes(disk, (path, bytes_max))? else { return Ok(None) };
    let named = identified(&bytes).map(|(named, _)| named);
    let Some(identity) = identity.or(named) else { return Ok(None) };
    let (mut synced, mut last_sequence) = (0, 0);
    for mark in current(&bytes, 0, (identity, next_sequence)) {
        synced = synced.max(usize::try_from(mark.synced).unwrap_or(usize::MAX));
        last_sequence = last_sequence.max(mark.last);
    }
    let starts = bytes.get(HEADER_BYTES..).and_then(|rest| first(rest, identity)).is_some();
    if named != Some(identity) && !starts && synced == 0 && unreadable.is_empty() {
        return Ok(None);
    }
    let left = bytes.len().saturating_mul(SEARCHES);
    let unread = unreadable.iter().map(|it| it.at + it.bytes).max().unwrap_or(0);
    let unread = usize::try_from(unread).unwrap_or(usize::MAX);
    let mut scan = Scan { bytes: &bytes, identity, next_sequence, synced, unread, left };
    let mut scanned = scan.run();
    scanned.unreadable = unreadable;
    let last = scanned.items.iter().map(|found| found.placed.entry.sequence).max();
    scanned.last_sequence = last_sequence.max(last.unwrap_or(0));
    Ok(Some(scanned))
}

struct Scan<'a> {
    bytes: &'a [u8],
    identity: u64,
    next_sequence: u64,
    /// Everything before this byte was on disk.
    synced: usize,
    /// The disk can read everything after this byte.
    unread: usize,
    /// How many more bytes may be read in search of an item.
    left: usize,
}

impl<'a> Scan<'a> {
    fn run(&mut self) -> Scanned {
        let mut scanned = Scanned::default();
        // The offset of the next item, and the seed of its sum.
        let (mut at, mut chain) = (HEADER_BYTES, self.identity);
        loop {
            while let Some((sum, payload, _)) = first(self.rest(at), chain) {
                match Placed::decode(payload) {
                    Some(placed) => self.take((at, placed), true, &mut scanned),
                    None => scanned.gaps.push(Gap { at, is_damage: true, is_lost: true }),
                }
                (at, chain) = (at + HEAD_BYTES + payload.len(), sum);
            }
            if at >= self.synced && Mark::at(self.bytes, at, self.identity).is_some() {
                return scanned;
            }
            // The item may lie in the unreadable bytes.
            let is_damage = at < self.synced.max(self.unread);
            if let Some((next, sum, placed)) = self.vouched(at, chain) {
                scanned.gaps.push(Gap { at, is_damage, is_lost: false });
                self.take((at, placed), true, &mut scanned);
                (at, chain) = (next, sum);
                continue;
            }
            let next = self.follow(at).or_else(|| self.search(at));
            if is_damage || next.is_some() {
                scanned.gaps.push(Gap { at, is_damage, is_lost: true });
            }
            let Some((next, seed)) = next else { return scanned };
            (at, chain) = (next, seed);
            if first(self.rest(at), chain).is_none()
                && let Some((sum, payload)) = item(self.rest(at))
            {
                if let Some(placed) = Placed::decode(payload) {
                    self.take((at, placed), false, &mut scanned);
                }
                (at, chain) = (at + HEAD_BYTES + payload.len(), sum);
            }
        }
    }

    fn take(&self, (at, placed): (usize, Placed), is_checked: bool, scanned: &mut Scanned) {
        if placed.entry.sequence >= self.next_sequence {
            scanned.items.push(ScannedItem { at, placed, is_checked });
        }
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// The item at `at`, if the next item is seeded with the sum that this one should have: then
    /// only its stored sum is damaged. Also that sum, and the offset of the next item.
    fn vouched(&mut self, at: usize, chain: u64) -> Option<(usize, u64, Placed)> {
        let (_, payload) = item(self.rest(at))?;
        self.left = self.left.checked_sub(payload.len())?;
        let (next, sum) = (at + HEAD_BYTES + payload.len(), check(chain, payload));
        first(self.rest(next), sum)?;
        Some((next, sum, Placed::decode(payload)?))
    }

    /// The next readable item, found by the lengths of the damaged ones, and the seed of its sum,
    /// unless that is damaged.
    fn follow(&mut self, mut at: usize) -> Option<(usize, u64)> {
        while let Some((sum, payload)) = item(self.rest(at)) {
            at += HEAD_BYTES + payload.len();
            let (_, next) = item(self.rest(at))?;
            self.left = self.left.checked_sub(next.len())?;
            if self.is_wanted(next) {
                return Some((at, sum));
            }
        }
        None
    }

    /// As [`Scan::follow`], for a next item at any offset.
    fn search(&mut self, from: usize) -> Option<(usize, u64)> {
        // Length of the damaged item, if it begins where it should.
        let seed = self.rest(from).get(4..).and_then(|rest| rest.first_chunk());
        let seed = seed.map_or(0, |sum| u64::from_le_bytes(*sum));
        for at in from + 1..self.bytes.len() {
            let Some((_, payload)) = item(self.rest(at)) else { continue };
            // Another item follows, or the end.
            let behind = self.rest(at + HEAD_BYTES + payload.len());
            if !behind.starts_with(&[0; 4]) && item(behind).is_none() {
                continue;
            }
            self.left = self.left.checked_sub(payload.len())?;
            if self.is_wanted(payload) {
                return Some((at, seed));
            }
        }
        None
    }

    /// Whether these bytes are an item that the tables may lack.
    fn is_wanted(&self, payload: &[u8]) -> bool {
        Placed::decode(payload).is_some_and(|it| it.entry.sequence >= self.next_sequence)
    }
}

/// Sum and payload of the first item, as stored.
fn item(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (length, sum) = head(bytes)?;
    Some((sum, bytes[HEAD_BYTES..].get(..length)?))
}
