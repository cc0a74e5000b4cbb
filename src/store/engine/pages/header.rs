//! The start of the file: where regions are, and the two last commits.

use super::{Commit, PAGE_BYTES, Root};
use crate::codec::check_wide;

/// Its length.
pub(in crate::store::engine) const BYTES: usize = 320;

const MAGIC: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";
const FLAGS: usize = 9;
const PAGE_SIZE: usize = 12;
const REGION_HEADER_PAGES: usize = 16;
const REGION_PAGES: usize = 20;
const FULL_REGIONS: usize = 24;
const TRAILING_PAGES: usize = 28;
const SLOTS: [usize; 2] = [64, 192];
const SLOT_BYTES: usize = 128;
const SLOT_SUM: usize = 112;

const IS_SECOND: u8 = 1;
const IS_UNCLOSED: u8 = 2;
const IS_TWO_PHASE: u8 = 4;

// The values that the engine writes into every file: a page has 20 bits for its place in a region.
// Other values are used as the file says.
const REGION_PAGES_MAX: u32 = 1 << 20;

pub(super) struct Header {
    has_magic: bool,
    has_geometry: bool,
    flags: u8,
    /// How long the file should be.
    file_bytes: u64,
    slots: [Slot; 2],
}

struct Slot {
    is_checked: bool,
    roots: [Option<Root>; 2],
    transaction: u64,
}

impl Header {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let number = |at| u32::from_le_bytes(array(bytes, at));
        let (header_pages, pages) = (number(REGION_HEADER_PAGES), number(REGION_PAGES));
        let has_geometry = u64::from(number(PAGE_SIZE)) == PAGE_BYTES
            && header_pages == 0
            && pages == REGION_PAGES_MAX;
        let full = u64::from(number(FULL_REGIONS)) * u64::from(REGION_PAGES_MAX);
        let pages = full + u64::from(number(TRAILING_PAGES));
        Self {
            has_magic: bytes.starts_with(MAGIC),
            has_geometry,
            flags: bytes[FLAGS],
            file_bytes: PAGE_BYTES + pages * PAGE_BYTES,
            slots: SLOTS.map(|at| Slot::parse(&bytes[at..at + SLOT_BYTES])),
        }
    }

    pub(super) fn is_unclosed(&self) -> bool {
        self.flags & IS_UNCLOSED != 0
    }

    pub(super) fn needs_repair(&self) -> bool {
        self.is_unclosed() && self.flags & IS_TWO_PHASE == 0
    }

    /// Whether the last commit was on disk before the header named it: it was made in two phases,
    /// and its sum is right.
    pub(super) fn is_durable(&self) -> bool {
        let is_two_phase = self.flags & IS_TWO_PHASE != 0;
        let is_of_engine = self.has_magic && self.has_geometry;
        is_of_engine && is_two_phase && self.slot(Commit::Last).is_checked
    }

    /// The fault of the header, for a file of this length.
    pub(super) fn faults(&self, file_bytes: u64) -> Vec<&'static str> {
        let last = self.slot(Commit::Last);
        let is_closed = !self.is_unclosed();
        let faults = [
            (!self.has_magic, "it does not start like a store"),
            (!self.has_geometry, "its pages are said to be of another size"),
            (is_closed && self.file_bytes > file_bytes, "the end of the file is missing"),
            (is_closed && self.file_bytes < file_bytes, "the file is longer than it says"),
            (!last.is_checked, "the checksum of the last commit differs"),
            (self.leads_back(), "it leads to a commit before the last one"),
        ];
        faults.into_iter().filter(|(is_fault, _)| *is_fault).map(|(_, reason)| reason).collect()
    }

    /// Whether the file was closed, but its mark names the commit before the last.
    pub(super) fn leads_back(&self) -> bool {
        let [last, before] = [Commit::Last, Commit::Before].map(|commit| self.slot(commit));
        !self.is_unclosed() && before.is_checked && before.transaction > last.transaction
    }

    /// Whether the last commit is known: a crash may leave one half written.
    pub(super) fn is_sure(&self) -> bool {
        let is_whole = self.slots.iter().all(|slot| slot.is_checked);
        is_whole || (self.is_unclosed() && self.slot(Commit::Last).is_checked)
    }

    /// The trees of a commit: the tables of the store, and those of the engine.
    pub(super) fn roots(&self, commit: Commit) -> [Option<Root>; 2] {
        self.slot(commit).roots
    }

    /// Where in the file a page is.
    pub(super) fn offset(number: u64, order: u8) -> u64 {
        let index = number & (0x000f_ffff >> order);
        let region = (number >> 20) & 0x000f_ffff;
        let pages = region * u64::from(REGION_PAGES_MAX) + (index << order);
        PAGE_BYTES + pages * PAGE_BYTES
    }

    fn slot(&self, commit: Commit) -> &Slot {
        let first = usize::from(self.flags & IS_SECOND != 0);
        let [marked, other] = [&self.slots[first], &self.slots[1 - first]];
        // As the engine chooses: the newer intact one, unless the mark was certain.
        let is_other = self.flags & IS_TWO_PHASE == 0
            && other.is_checked
            && (!marked.is_checked || other.transaction > marked.transaction);
        match commit {
            Commit::Last => [marked, other][usize::from(is_other)],
            Commit::Before => [other, marked][usize::from(is_other)],
        }
    }
}

/// Whether the last commit was on disk before the header named it.
pub(in crate::store::engine) fn is_durable(bytes: &[u8; BYTES]) -> bool {
    Header::parse(bytes).is_durable()
}

/// The bytes of a header that describe the last commit: its slot, which slot that is, and in how
/// many phases it was made.
///
/// They change with every durable commit, and with nothing else.
pub(in crate::store::engine) fn commit_bytes(bytes: &[u8; BYTES]) -> (u8, &[u8]) {
    let start = SLOTS[usize::from(bytes[FLAGS] & IS_SECOND != 0)];
    (bytes[FLAGS] & (IS_SECOND | IS_TWO_PHASE), &bytes[start..start + SLOT_BYTES])
}

impl Slot {
    fn parse(bytes: &[u8]) -> Self {
        let root = |flag: usize, at| {
            let root = Root::parse(&bytes[at..]);
            if bytes[flag] == 0 { None } else { root }
        };
        Self {
            is_checked: check_wide(&bytes[..SLOT_SUM])
                == u128::from_le_bytes(array(bytes, SLOT_SUM)),
            roots: [root(1, 8), root(2, 40)],
            transaction: u64::from_le_bytes(array(bytes, 104)),
        }
    }
}

/// Bytes at a place that is within the header.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}
