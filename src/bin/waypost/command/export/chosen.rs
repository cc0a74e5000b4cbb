//! Which checkpoints are exported: those of a query, or those that were named.

use anyhow::Result;
use waypost::{Entry, Order, Query, Store};

use crate::name;

/// Which checkpoints are exported, and in which order.
pub(super) struct Chosen {
    /// What was asked for, unless checkpoints were named.
    pub(super) query: Query,
    named: Vec<Entry>,
}

impl Chosen {
    /// The checkpoints with these names; those of the query if there are none.
    pub(super) fn new(store: &Store, names: &[String], query: Query) -> Result<Self> {
        let mut entries: Vec<Entry> =
            names.iter().map(|name| name::one(store, name)).collect::<Result<_>>()?;
        entries.sort_by_key(Entry::order);
        entries.dedup_by_key(|entry| entry.sequence);
        Ok(Self { query, named: entries })
    }

    /// The same, from the other end.
    pub(super) fn in_order(&self, order: Order) -> Self {
        Self { query: Query { order, ..self.query.clone() }, named: self.named.clone() }
    }

    /// How many there are, if that is known without a look at all of them.
    pub(super) fn total(&self, store: &Store) -> Result<Option<u64>> {
        if !self.named.is_empty() {
            return Ok(Some(self.named.len() as u64));
        }
        let is_all = self.query == Query { order: self.query.order, ..Query::default() };
        Ok(if is_all { Some(store.count()?) } else { None })
    }

    pub(super) fn entries<'a>(
        &'a self,
        store: &'a Store,
    ) -> Box<dyn Iterator<Item = waypost::Result<Entry>> + 'a> {
        let named = self.named.iter().cloned().map(Ok);
        match self.query.order {
            _ if self.named.is_empty() => Box::new(store.entries(self.query.clone())),
            Order::Oldest => Box::new(named),
            Order::Newest => Box::new(named.rev()),
        }
    }
}
