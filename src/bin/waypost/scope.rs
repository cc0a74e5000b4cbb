//! Which checkpoints a command looks at: those of a target, as far as filters let through.

use anyhow::Result;
use waypost::{Cursor, Entry, Order, Query, Store};

use crate::name;

/// Checkpoints that are looked at, in either order.
#[derive(Debug)]
pub(crate) struct Scope {
    query: Query,
    /// The newest that counts, if that is not the newest there is.
    up_to: Option<Entry>,
}

impl Scope {
    /// What a query asks for of a target: a series, an issue, a loop, or the series of a checkpoint
    /// up to it.
    pub(crate) fn new(store: &Store, target: Option<&str>, query: Query) -> Result<Self> {
        let Some(target) = target else { return Ok(Self { query, up_to: None }) };
        if let Some(Query { series, issue, loop_id, .. }) = name::line(store, target)? {
            return Ok(Self { query: Query { series, issue, loop_id, ..query }, up_to: None });
        }
        let entry = name::one(store, target)?;
        Ok(Self {
            query: Query { series: Some(entry.series.clone()), ..query },
            up_to: Some(entry),
        })
    }

    /// What is asked for, whatever is the newest that counts.
    pub(crate) fn into_query(self) -> Query {
        self.query
    }

    /// What is asked for.
    pub(crate) fn query(&self) -> &Query {
        &self.query
    }

    /// The newest of them, and whether there are more.
    pub(crate) fn newest(&self, store: &Store, limit: usize) -> Result<(Vec<Entry>, bool)> {
        let mut entries = self.entries(store, Order::Newest).take(limit.saturating_add(1));
        let mut entries = entries.by_ref().collect::<Result<Vec<_>, _>>()?;
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        Ok((entries, has_more))
    }

    /// How many there are, if that is known without looking.
    pub(crate) fn count(&self, store: &Store) -> Result<Option<u64>> {
        let is_all = self.up_to.is_none() && self.query == Query::default();
        Ok(if is_all { Some(store.count()?) } else { None })
    }

    /// All of them, read page by page.
    pub(crate) fn entries<'a>(
        &'a self,
        store: &'a Store,
        order: Order,
    ) -> Box<dyn Iterator<Item = waypost::Result<Entry>> + 'a> {
        let query = Query { order, ..self.query.clone() };
        let Some(up_to) = &self.up_to else { return Box::new(store.entries(query)) };
        match order {
            Order::Newest => {
                let first = query.admits(up_to).then(|| Ok(up_to.clone()));
                let after = Some(Cursor::from(up_to));
                Box::new(first.into_iter().chain(store.entries(Query { after, ..query })))
            }
            Order::Oldest => {
                let last = up_to.order();
                let counts = move |entry: &waypost::Result<Entry>| match entry {
                    Ok(entry) => entry.order() <= last,
                    Err(_) => true,
                };
                Box::new(store.entries(query).take_while(counts))
            }
        }
    }
}

/// The one before an entry in its series.
pub(crate) fn before(store: &Store, entry: &Entry) -> Result<Option<Entry>> {
    let query = Query {
        series: Some(entry.series.clone()),
        after: Some(Cursor::from(entry)),
        limit: Some(1),
        ..Query::default()
    };
    Ok(store.list(&query)?.entries.pop())
}
