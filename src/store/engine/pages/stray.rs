//! Leaves found by their shape, without a page that leads to them.
//!
//! They may have been free for a long time, so their content may be stale. Reads at most a few
//! times the length of the file, whatever the pages say.

use super::node::{BRANCH, Branch, LEAF, Leaf};
use super::{ORDER_MAX, PAGE_BYTES, PAGE_STEP, Page, Pages, Root, Row, Shape, Table, Visited};

// Bytes to read for pages that claim to be long; after that they are ignored.
const READ_TIMES: u64 = 16;
// Each takes a walk through the whole file; there are a few, of the last commits.
const MASTERS_MAX: usize = 32;

/// The rows of a leaf, and which of the requested shapes it has.
pub(in crate::store) struct Stray<'a> {
    pub(in crate::store) shape: usize,
    pub(in crate::store) rows: Vec<Row<'a>>,
}

impl Pages {
    /// Calls `visit` with every leaf of one of these shapes, except pages that were visited and
    /// passed their sums. A page may match more than one shape.
    pub(in crate::store) fn strays(
        &self,
        seen: &Visited,
        shapes: &[Shape],
        visit: &mut dyn FnMut(Stray<'_>),
    ) {
        let mut left = self.file_bytes.saturating_mul(READ_TIMES);
        for at in (PAGE_BYTES..self.file_bytes).step_by(PAGE_STEP) {
            if seen.whole.contains(&at) {
                continue;
            }
            let Some(start) = self.bytes_at(at, PAGE_BYTES) else { continue };
            if start[0] != LEAF {
                continue;
            }
            for (number, shape) in shapes.iter().enumerate() {
                let used = Leaf::new(&start, *shape).used();
                let Some(bytes) = used.and_then(|used| page_bytes(at, used)) else { continue };
                if bytes > left {
                    continue;
                }
                left -= bytes;
                let Some(page) = self.bytes_at(at, bytes) else { continue };
                visit(Stray { shape: number, rows: rows(&Leaf::new(&page, *shape), at) });
            }
        }
    }

    /// The tables named by leaves that no commit may lead to, a list for each leaf. Only tables
    /// with an intact root page count.
    pub(in crate::store) fn masters(&self) -> Vec<Vec<Table>> {
        let mut masters = Vec::new();
        let shape = Shape { key: None, value: None };
        self.strays(&Visited::default(), &[shape], &mut |leaf| {
            let tables = leaf.rows.iter().map(|row| Table::parse(row.key, row.value));
            let Some(tables) = tables.collect::<Option<Vec<Table>>>() else { return };
            if masters.len() < MASTERS_MAX && tables.iter().all(|table| self.has_root(table)) {
                masters.push(tables);
            }
        });
        masters
    }

    fn has_root(&self, table: &Table) -> bool {
        let Some(Root { page, sum }) = table.root else { return true };
        let Some(Page { bytes, .. }) = self.page(page) else { return false };
        let found = match bytes[0] {
            LEAF => Leaf::new(&bytes, table.shape).sum(),
            BRANCH => Branch::new(&bytes, table.shape).sum(),
            _ => None,
        };
        found == Some(sum)
    }

    /// Bytes from an offset on; zeros beyond the end of the file and where it cannot be read.
    fn bytes_at(&self, at: u64, length: u64) -> Option<Vec<u8>> {
        let there = self.file_bytes.checked_sub(at)?.min(length);
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.file.read(at, &mut bytes[..usize::try_from(there).ok()?]);
        Some(bytes)
    }
}

/// The length of a page with this many used bytes, if one can be at that offset.
fn page_bytes(at: u64, used: usize) -> Option<u64> {
    let bytes = u64::try_from(used).ok()?.max(PAGE_BYTES).checked_next_power_of_two()?;
    let is_place = bytes <= PAGE_BYTES << ORDER_MAX && (at - PAGE_BYTES).is_multiple_of(bytes);
    is_place.then_some(bytes)
}

fn rows<'a>(leaf: &Leaf<'a>, at: u64) -> Vec<Row<'a>> {
    let row = |number| {
        let (key, value, offset) = leaf.row(number)?;
        Some(Row { key, value, at: at + offset as u64, is_checked: false })
    };
    (0..leaf.count()).filter_map(row).collect()
}
