//! Which checkpoints are exported, and in which order.

use crate::checkpoint::{Entry, Id};
use crate::error::Result;
use crate::key::Order;
use crate::query::Query;
use crate::store::Store;

/// Which checkpoints are exported. By default all of them.
///
/// ```
/// use waypost::transfer::export::Selection;
/// use waypost::{Issue, Query};
///
/// # fn main() -> waypost::Result<()> {
/// let issue = Some(Issue::new("42")?);
/// let of_issue = Selection::Matching(Query { issue, ..Query::default() });
/// assert_ne!(of_issue, Selection::default());
/// # Ok(())
/// # }
/// ```
#[expect(clippy::large_enum_variant, reason = "an export has one of them")]
#[derive(Debug, Clone, PartialEq)]
pub enum Selection {
    /// Those that match a query. An export has its own order and ignores that of the query.
    Matching(Query),
    /// These.
    Named(Vec<Id>),
}

impl Default for Selection {
    fn default() -> Self {
        Self::Matching(Query::default())
    }
}

/// The checkpoints of a selection.
#[expect(clippy::large_enum_variant, reason = "an export has one of them")]
pub(super) enum Selected {
    Matching(Query),
    Named(Vec<Entry>),
}

impl Selected {
    pub(super) fn new(store: &Store, selection: &Selection, order: Order) -> Result<Self> {
        let ids = match selection {
            Selection::Matching(query) => {
                return Ok(Self::Matching(Query { order, ..query.clone() }));
            }
            Selection::Named(ids) => ids,
        };
        let mut entries = ids.iter().map(|id| store.entry(id)).collect::<Result<Vec<_>>>()?;
        entries.sort_by_key(Entry::order);
        entries.dedup_by_key(|entry| entry.sequence);
        if order == Order::Newest {
            entries.reverse();
        }
        Ok(Self::Named(entries))
    }

    /// How many there are, if that is known without reading all entries.
    pub(super) fn total(&self, store: &Store) -> Result<Option<u64>> {
        match self {
            Self::Named(entries) => Ok(Some(entries.len() as u64)),
            Self::Matching(query) => {
                let is_all = *query == Query { order: query.order, ..Query::default() };
                if is_all { store.count().map(Some) } else { Ok(None) }
            }
        }
    }

    pub(super) fn entries<'a>(
        &'a self,
        store: &'a Store,
    ) -> Box<dyn Iterator<Item = Result<Entry>> + 'a> {
        match self {
            Self::Named(entries) => Box::new(entries.iter().cloned().map(Ok)),
            Self::Matching(query) => Box::new(store.entries(query.clone())),
        }
    }
}
