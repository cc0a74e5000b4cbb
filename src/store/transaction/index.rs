//! The index: which checkpoints have which name, in their order.

use std::path::Path;
use std::sync::Arc;

use redb::ReadableTable;

use crate::error::{Error, Result};
use crate::key::{
    IndexBytes, NameId, Order, RecordKey, Span, index_row, indexed_cause, indexed_key,
};
use crate::store::engine::fault::{In, OUT_OF_ORDER};
use crate::store::turn::tables::ReadTables;

/// Which checkpoints have which name, cause by cause.
pub(crate) struct Index<'a> {
    pub(super) tables: Arc<ReadTables>,
    pub(super) path: &'a Path,
}

impl<'a> Index<'a> {
    /// The causes of the checkpoints that have the name.
    ///
    /// Looks up one row for each of them, however many checkpoints there are.
    pub(crate) fn causes(&self, name: NameId) -> Result<Vec<NameId>> {
        causes(&self.tables.index, name, self.path)
    }

    /// Keys within a span of checkpoints that have the name and the cause.
    pub(crate) fn keys(
        &self,
        (name, cause): (NameId, NameId),
        span: Span,
    ) -> Result<impl Iterator<Item = Result<RecordKey>> + use<'a>> {
        let rows = index_row(name, cause, span.from)..index_row(name, cause, span.to);
        let rows = self.tables.index.range(rows).within(self.path)?;
        let path = self.path;
        let rows = Directed { rows, order: span.order };
        Ok(rows.map(move |row| Ok(indexed_key(row.within(path)?.0.value()))))
    }
}

/// The causes of the checkpoints with a name, in a read or a write transaction.
pub(in crate::store) fn causes(
    index: &impl ReadableTable<IndexBytes, ()>,
    name: NameId,
    path: &Path,
) -> Result<Vec<NameId>> {
    let mut causes = Vec::new();
    let mut next = Some(0);
    while let Some(cause) = next {
        let from = index_row(name, cause, RecordKey::MIN);
        let to = index_row(name, NameId::MAX, RecordKey::MAX);
        let Some(row) = index.range(from..=to).within(path)?.next() else {
            break;
        };
        let found = indexed_cause(row.within(path)?.0.value());
        // A damaged page may have any order, and this would never end.
        if found < cause {
            return Err(Error::corrupt("table index", OUT_OF_ORDER));
        }
        causes.push(found);
        next = found.checked_add(1);
    }
    Ok(causes)
}

/// A range, read from the requested end.
pub(super) struct Directed<I> {
    pub(super) rows: I,
    pub(super) order: Order,
}

impl<I: DoubleEndedIterator> Iterator for Directed<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        match self.order {
            Order::Newest => self.rows.next_back(),
            Order::Oldest => self.rows.next(),
        }
    }
}
