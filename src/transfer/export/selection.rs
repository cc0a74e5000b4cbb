//! Which checkpoints are exported, and in which order.

use std::num::NonZero;
use std::thread::available_parallelism;

use crate::checkpoint::{Entry, Id};
use crate::error::Result;
use crate::key::Order;
use crate::query::{Documents, Query};
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

/// Options of an export to lines. By default of all checkpoints, on all processors.
///
/// ```
/// use std::num::NonZero;
/// use waypost::transfer::export::LineOptions;
///
/// let alone = LineOptions { threads: NonZero::new(1), ..LineOptions::default() };
/// assert_ne!(alone, LineOptions::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LineOptions {
    /// Which checkpoints.
    pub selection: Selection,
    /// How many threads make lines beside one that reads; as many as there are processors if
    /// `None`. With one, the caller does all of the work. The lines are the same with any number.
    pub threads: Option<NonZero<usize>>,
}

impl LineOptions {
    /// How many threads make lines, unless the caller does.
    pub(super) fn workers(&self) -> usize {
        match self.threads.map(NonZero::get) {
            Some(1) => 0,
            Some(threads) => threads,
            None => available_parallelism().map_or(1, NonZero::get),
        }
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

    /// The checkpoints with their documents.
    pub(super) fn documents<'a>(&'a self, store: &'a Store) -> Documents<'a> {
        match self {
            Self::Named(entries) => store.documents_of(entries.iter().cloned().map(Ok)),
            Self::Matching(query) => store.documents(query.clone()),
        }
    }
}
