//! Which checkpoints are meant: those of a target that a query admits.

use crate::checkpoint::{Entry, Id, Issue, LATEST};
use crate::error::{Error, Result};
use crate::key::Order;
use crate::query::{Cursor, Query};
use crate::store::Store;

/// The checkpoints of a target that a query admits; [`Store::scope`] makes one.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// # use waypost::{Issue, NewEntry, Order, Query, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let about = NewEntry { issue: Some(Issue::new("42")?), ..NewEntry::default() };
/// for number in 0..3 {
///     store.save(about.clone(), &number)?;
/// }
/// // The series of the second newest, up to it.
/// let scope = store.scope(Some("42@1"), Query::default())?;
/// assert_eq!(scope.entries(&store, Order::Newest).count(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Scope {
    query: Query,
    /// The newest checkpoint of the scope, if that is not the newest of the query.
    up_to: Option<Entry>,
}

impl Store {
    /// Resolves a target and a query to the checkpoints that both admit.
    ///
    /// A target is a series, an issue or a loop; or a checkpoint, for its series up to it. Without
    /// one, the query alone decides.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Ambiguous`], as [`Store::resolve`].
    pub fn scope(&self, target: Option<&str>, query: Query) -> Result<Scope> {
        let Some(target) = target else { return Ok(Scope { query, up_to: None }) };
        if let Some(Query { series, issue, loop_id, .. }) = self.several(target)? {
            return Ok(Scope { query: Query { issue, loop_id, series, ..query }, up_to: None });
        }
        let entry = self.resolve(target)?;
        let query = Query { series: Some(entry.series.clone()), ..query };
        Ok(Scope { query, up_to: Some(entry) })
    }

    /// Returns the query for all checkpoints of a series, an issue or a loop, as [`Store::line`];
    /// `None` if `name` means one checkpoint, by its id or as `latest`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn several(&self, name: &str) -> Result<Option<Query>> {
        let is_id = || match Id::new(name).and_then(|id| self.entry(&id)) {
            Ok(_) | Err(Error::Corrupt { .. }) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        };
        if name == LATEST || is_id()? { Ok(None) } else { self.line(name) }
    }

    /// Returns names that may have been meant by one that was not found: issues that differ in
    /// case, and series with similar names.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn similar(&self, name: &str) -> Result<Vec<String>> {
        let wanted = name.rsplit_once('@').map_or(name, |(wanted, _)| wanted);
        let is_same = |issue: &Issue| {
            let wanted = wanted.trim_start_matches('#');
            issue.as_str() != wanted && issue.as_str().eq_ignore_ascii_case(wanted)
        };
        let issues = self.issues()?.into_iter().filter(is_same).map(|issue| issue.to_string());
        let series = self.nearby(wanted)?.into_iter().map(|series| series.to_string());
        Ok(issues.chain(series).collect())
    }

    /// Returns how many checkpoints of its series are newer than `entry`.
    ///
    /// Counts up to the first damaged one: damage must not prevent a return to a whole checkpoint.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn newer(&self, entry: &Entry) -> Result<u64> {
        let query = Query { series: Some(entry.series.clone()), ..Query::default() };
        let mut count = 0;
        for other in self.entries(query) {
            match other {
                Ok(other) if other.id == entry.id => break,
                Ok(_) => count += 1,
                Err(Error::Corrupt { .. }) => return Ok(count + 1),
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    /// Returns the checkpoint before `entry` in its series, `None` if it is the first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn before(&self, entry: &Entry) -> Result<Option<Entry>> {
        let query = Query {
            series: Some(entry.series.clone()),
            after: Some(Cursor::from(entry)),
            limit: Some(1),
            ..Query::default()
        };
        Ok(self.list(&query)?.entries.pop())
    }
}

impl Scope {
    /// Returns the query, without the upper end that a checkpoint as target sets.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// As [`Scope::query`], by value.
    #[must_use]
    pub fn into_query(self) -> Query {
        self.query
    }

    /// Returns at most `limit` of the newest checkpoints, and whether there are more.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn newest(&self, store: &Store, limit: usize) -> Result<(Vec<Entry>, bool)> {
        let entries = self.entries(store, Order::Newest).take(limit.saturating_add(1));
        let mut entries = entries.collect::<Result<Vec<_>>>()?;
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        Ok((entries, has_more))
    }

    /// Returns how many checkpoints there are, if the store knows that without a search.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count(&self, store: &Store) -> Result<Option<u64>> {
        let is_all = self.up_to.is_none() && self.query == Query::default();
        Ok(if is_all { Some(store.count()?) } else { None })
    }

    /// Goes through all of them, reading a page at a time.
    #[must_use]
    pub fn entries<'a>(
        &'a self,
        store: &'a Store,
        order: Order,
    ) -> Box<dyn Iterator<Item = Result<Entry>> + Send + 'a> {
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
                let counts = move |entry: &Result<Entry>| match entry {
                    Ok(entry) => entry.order() <= last,
                    Err(_) => true,
                };
                Box::new(store.entries(query).take_while(counts))
            }
        }
    }
}
