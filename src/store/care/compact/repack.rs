//! Rewrites tables whose pages have much room.
//!
//! Rows of an index grow at many places, so pages split in halves, and rows that are removed leave
//! gaps. Moving pages does not change that. But rows that are added in their order fill each page
//! before the next begins.

use std::ops::ControlFlow;
use std::path::Path;

use redb::{
    Durability, Key, ReadableDatabase as _, ReadableTable as _, ReadableTableMetadata as _,
    TableDefinition, Value,
};

use crate::error::Result;
use crate::store::engine::fault::In;
use crate::store::engine::table::{
    ARTIFACTS, BLOBS, CHILDREN, FRAMES, HOLDERS, IDS, INDEX, NAMES, OPERATIONS, RECORDS, SOURCES,
    begin, open_if_made,
};
use crate::store::turn::open::Open;
use crate::store::watch::{Stage, Step, Watch};

const PAGE_BYTES: usize = 4096;
const PAGE_HEAD_BYTES: usize = 4;
// Where a row ends, if not all are of one length.
const END_BYTES: usize = 4;
// A table is rewritten if that saves this part of its pages.
const WORTH_PART: u64 = 32;

/// Rewrites each table for which it is worth the work, unless the watcher ends it.
pub(super) fn all(open: &Open, path: &Path, watch: Watch<'_>) -> Result<ControlFlow<()>> {
    let tables: &[fn(&Open, &Path) -> Result<()>] = &[
        |open, path| repack(open, RECORDS, path),
        |open, path| repack(open, FRAMES, path),
        |open, path| repack(open, INDEX, path),
        |open, path| repack(open, NAMES, path),
        |open, path| repack(open, IDS, path),
        |open, path| repack(open, SOURCES, path),
        |open, path| repack(open, CHILDREN, path),
        |open, path| repack(open, OPERATIONS, path),
        |open, path| repack(open, ARTIFACTS, path),
        |open, path| repack(open, HOLDERS, path),
        |open, path| repack(open, BLOBS, path),
    ];
    for (done, repack) in tables.iter().enumerate() {
        if watch(Step::of(Stage::Repack, done, tables.len())).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        repack(open, path)?;
    }
    Ok(ControlFlow::Continue(()))
}

fn repack<K: Key, V: Value>(
    open: &Open,
    definition: TableDefinition<'static, K, V>,
    path: &Path,
) -> Result<()> {
    if !is_worth(open, definition, path)? {
        return Ok(());
    }
    let full = TableDefinition::<K, V>::new("full");
    let transaction = begin(&open.database, Durability::Immediate).within(path)?;
    {
        let table = transaction.open_table(definition).within(path)?;
        let mut full = transaction.open_table(full).within(path)?;
        for row in table.iter().within(path)? {
            let (key, value) = row.within(path)?;
            full.insert(key.value(), value.value()).within(path)?;
        }
    }
    transaction.delete_table(definition).within(path)?;
    transaction.rename_table(full, definition).within(path)?;
    transaction.commit().within(path)
}

/// Whether the table would have fewer pages if its rows were added in their order.
fn is_worth<K: Key, V: Value>(
    open: &Open,
    definition: TableDefinition<'static, K, V>,
    path: &Path,
) -> Result<bool> {
    let transaction = open.database.begin_read().within(path)?;
    let Some(table) = open_if_made(&transaction, definition, path)? else { return Ok(false) };
    let pages = table.stats().within(path)?.leaf_pages();
    if pages < 2 {
        return Ok(false);
    }
    let mut filled = Filled::default();
    for row in table.iter().within(path)? {
        let (key, value) = row.within(path)?;
        let (key, value) = (key.value(), value.value());
        let ends = [K::fixed_width(), V::fixed_width()].iter().filter(|it| it.is_none()).count();
        let row = K::as_bytes(&key).as_ref().len() + V::as_bytes(&value).as_ref().len();
        filled.add(row + ends * END_BYTES);
    }
    Ok(filled.pages + (pages / WORTH_PART).max(1) <= pages)
}

/// Pages that are filled one after the other, as the engine does.
#[derive(Default)]
struct Filled {
    pages: u64,
    /// What the last one still takes.
    room: usize,
}

impl Filled {
    fn add(&mut self, bytes: usize) {
        if bytes > self.room {
            self.pages += 1;
            // A row that is longer than a page has a larger one for itself.
            self.room = (PAGE_BYTES - PAGE_HEAD_BYTES).max(bytes);
        }
        self.room -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_as_they_fill() {
        let pages = |rows: &[usize]| {
            let mut filled = Filled::default();
            for bytes in rows {
                filled.add(*bytes);
            }
            filled.pages
        };
        assert_eq!(pages(&[]), 0);
        assert_eq!(pages(&[4092]), 1);
        assert_eq!(pages(&[1364, 1364, 1364, 1]), 2, "three chunks fill a page");
        assert_eq!(pages(&[5000, 1]), 2);
        assert_eq!(pages(&[22; 187]), 2);
    }
}
