//! Which checkpoints `log` and `find` look at: those of a target, as far as filters let through.

use anyhow::Result;
use waypost::{Cursor, Entry, Error, Issue, LoopId, Order, Query, Series, Store};

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
        if let Some(name) = named(store, target)? {
            let Query { series, issue, loop_id, .. } = name;
            return Ok(Self { query: Query { series, issue, loop_id, ..query }, up_to: None });
        }
        let entry = match store.resolve(target) {
            // What is too short for an id may have been meant for an issue that is not there.
            Err(Error::Invalid { .. }) => {
                return Err(Error::NotFound { wanted: target.to_owned() }.into());
            }
            other => other?,
        };
        Ok(Self {
            query: Query { series: Some(entry.series.clone()), ..query },
            up_to: Some(entry),
        })
    }

    /// The newest of them, and whether there are more.
    pub(crate) fn newest(&self, store: &Store, limit: usize) -> Result<(Vec<Entry>, bool)> {
        let mut entries = self.entries(store, Order::Newest).take(limit.saturating_add(1));
        let mut entries = entries.by_ref().collect::<Result<Vec<_>, _>>()?;
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        Ok((entries, has_more))
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
                let place = |entry: &Entry| (entry.created_at, entry.sequence);
                let last = place(up_to);
                let counts = move |entry: &waypost::Result<Entry>| match entry {
                    Ok(entry) => place(entry) <= last,
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

/// A query for the series, issue or loop of a name, if there is any with it.
fn named(store: &Store, name: &str) -> Result<Option<Query>> {
    let queries = [
        Query { series: Series::new(name).ok(), ..Query::default() },
        // As it is written where issues are, `#42` is one, too.
        Query { issue: Issue::new(name).ok(), ..Query::default() },
        Query { loop_id: LoopId::new(name).ok(), ..Query::default() },
    ];
    for query in queries.into_iter().filter(|query| *query != Query::default()) {
        let first = Query { limit: Some(1), ..query.clone() };
        if !store.list(&first)?.entries.is_empty() {
            return Ok(Some(query));
        }
    }
    Ok(None)
}
