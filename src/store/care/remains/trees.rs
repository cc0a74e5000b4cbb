//! The tables to read, found by the last commit, the one before, or a page that looks like the
//! table of tables.

use redb::TableHandle as _;

use crate::store::engine::pages::{MASTER, Pages, Shape, Table, Visited};
use crate::store::engine::table::{FRAMES, RECORDS};

/// The tables in which rows are searched.
pub(super) struct Trees {
    pub(super) tables: Vec<Table>,
    pub(super) seen: Visited,
    /// Whether these are the tables of the last commit; if not, newer rows may be elsewhere.
    pub(super) is_last: bool,
}

impl Trees {
    pub(super) fn find(pages: &Pages) -> Self {
        for (commit, is_first) in pages.commits().into_iter().zip([true, false]) {
            let mut seen = Visited::default();
            let tables = pages.tables(commit, &mut seen);
            if has_all(&tables) {
                return Self { tables, seen, is_last: is_first && pages.is_sure() };
            }
        }
        let masters = pages.masters().into_iter().filter(|tables| has_all(tables));
        // Of those with the least damage, the one with the newest document.
        let best = masters.min_by_key(|tables| {
            let (bad, last) = judge(pages, tables);
            (bad, std::cmp::Reverse(last))
        });
        Self { tables: best.unwrap_or_default(), seen: Visited::default(), is_last: false }
    }

    /// Whether some rows of a table may be lost.
    pub(super) fn is_hurt(&self, name: &str) -> bool {
        let is_of = |table: &str| table == name || table == MASTER;
        self.tables.is_empty() || self.seen.bad.iter().any(|bad| is_of(&bad.table))
    }
}

/// The number of damaged pages, and the last row of all documents.
fn judge(pages: &Pages, tables: &[Table]) -> (usize, Vec<u8>) {
    let mut seen = Visited::default();
    let mut last = Vec::new();
    for table in tables {
        let is_frames = table.name == FRAMES.name();
        pages.walk(table, &mut seen, &mut |row| {
            if is_frames && row.is_checked && *row.key > *last {
                last = row.key.to_vec();
            }
        });
    }
    (seen.bad.len(), last)
}

pub(super) fn has_all(tables: &[Table]) -> bool {
    let has = |name: &str| tables.iter().any(|table| table.name == name);
    has(RECORDS.name()) && has(FRAMES.name())
}

/// The shape of keys of one length, and values of any.
pub(super) fn keyed(bytes: usize) -> Shape {
    Shape { key: Some(bytes), value: None }
}
