//! The parts of the file that its last commit does not use: pages of earlier commits, which the
//! engine reuses.
//!
//! The engine takes free pages in an order of its own, and some of them have no blocks on disk yet.
//! On a full disk a write to such a page fails, though other free pages have blocks. So this finds
//! the parts whose blocks can be given back.

use std::ops::Range;

use super::{Commit, ENGINE_MASTER, MASTER, PAGE_BYTES, PAGE_STEP, Pages, Shape, Table, Visited};

// The kind of a table with one value for each key. Tables of the other kind have a tree for each
// key.
const SINGLE: u8 = 3;

impl Pages {
    /// `None` if damage makes it uncertain which pages the last commit uses.
    pub(in crate::store) fn unused(&self) -> Option<Vec<Range<u64>>> {
        if !self.header.is_durable() || !self.header_faults().is_empty() {
            return None;
        }
        let (mut seen, mut tables) = (Visited::default(), Vec::new());
        let shape = Shape { key: None, value: None };
        for (name, root) in [MASTER, ENGINE_MASTER].into_iter().zip(self.header.roots(Commit::Last))
        {
            let master = Table { name: name.to_owned(), root, shape };
            self.walk(&master, &mut seen, &mut |row| {
                let is_single = row.value.first() == Some(&SINGLE);
                tables.push(is_single.then(|| Table::parse(row.key, row.value)).flatten());
            });
        }
        for table in tables {
            self.walk(&table?, &mut seen, &mut |_| ());
        }
        seen.bad.is_empty().then(|| gaps(&seen, self.file_bytes))
    }
}

/// The parts between the visited pages.
fn gaps(seen: &Visited, file_bytes: u64) -> Vec<Range<u64>> {
    let mut gaps: Vec<Range<u64>> = Vec::new();
    for at in (PAGE_BYTES..file_bytes).step_by(PAGE_STEP) {
        let end = at + PAGE_STEP as u64;
        match gaps.last_mut() {
            _ if seen.whole.contains(&at) => {}
            Some(gap) if gap.end == at => gap.end = end,
            _ => gaps.push(at..end),
        }
    }
    gaps
}
