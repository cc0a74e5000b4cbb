//! Queries: filters, the rows that answer them, and pages of entries.
//!
//! Holds a snapshot only while it reads one page. Only `documents` reads documents.

mod cursor;
mod documents;
mod entries;
mod merge;
mod name;
mod restorable;
mod short;
mod sources;

use crate::checkpoint::{Checkpoint, Entry, Issue, LoopId, Series, Status, Timestamp, Trigger};
use crate::codec::NameKind;
use crate::error::{Error, Result};
pub use crate::key::Order;
pub use crate::store::{Arrivals, Position};
use crate::store::{Restorable, Snapshot, Store};
pub use cursor::Cursor;
pub use documents::{Documents, Unread};
use entries::Entries;
use merge::Rows;

// Makes opening a snapshot comparatively cheap, without holding up others.
const PAGE: usize = 256;

/// Which checkpoints are asked for; all filters must hold.
///
/// ```
/// use waypost::{Query, Trigger};
///
/// # fn main() -> waypost::Result<()> {
/// let query = Query::issue("42")?.trigger(Trigger::Manual).limit(20);
/// let query = Query { tag: Some("keep".to_owned()), ..query };
/// # assert_eq!(query.limit, Some(20));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Works on this issue.
    pub issue: Option<Issue>,
    /// Written by this loop.
    pub loop_id: Option<LoopId>,
    /// Of this series.
    pub series: Option<Series>,
    /// Saved for one of these reasons; for any if empty.
    pub triggers: Vec<Trigger>,
    /// Has this status.
    pub status: Option<Status>,
    /// In this phase.
    pub phase: Option<String>,
    /// Has this tag.
    pub tag: Option<String>,
    /// Saved at this time or later, by [`Entry::created_at`].
    pub since: Option<Timestamp>,
    /// Saved before this time, by [`Entry::created_at`].
    pub until: Option<Timestamp>,
    /// Of this iteration or a later one.
    pub iteration_min: Option<u64>,
    /// Of this iteration or an earlier one.
    pub iteration_max: Option<u64>,
    /// Newest first by default; [`Entry::order`] says which of two is the newer.
    pub order: Order,
    /// At most this many.
    pub limit: Option<usize>,
    /// Continue after this place.
    pub after: Option<Cursor>,
}

/// Some entries, and where to continue.
///
/// ```
/// use waypost::{NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// for number in 0..3 {
///     store.save(NewEntry::issue("42")?, &number)?;
/// }
/// let first = store.list(&Query::issue("42")?.limit(2))?;
/// let rest = store.list(&Query { after: first.next, ..Query::issue("42")? })?;
/// assert_eq!((first.entries.len(), rest.entries.len()), (2, 1));
/// assert_eq!(rest.next, None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// In the requested order.
    pub entries: Vec<Entry>,
    /// Where the next page starts; `None` if this is the last one.
    pub next: Option<Cursor>,
}

impl Query {
    /// For the checkpoints of work on an issue.
    ///
    /// # Errors
    /// As [`Issue::new`].
    pub fn issue(name: impl Into<String>) -> Result<Self> {
        Ok(Self { issue: Some(Issue::new(name)?), ..Self::default() })
    }

    /// For the checkpoints of a loop.
    ///
    /// # Errors
    /// As [`LoopId::new`].
    pub fn loop_id(name: impl Into<String>) -> Result<Self> {
        Ok(Self { loop_id: Some(LoopId::new(name)?), ..Self::default() })
    }

    /// For the checkpoints of a series.
    ///
    /// # Errors
    /// As [`Series::new`].
    pub fn series(name: impl Into<String>) -> Result<Self> {
        Ok(Self { series: Some(Series::new(name)?), ..Self::default() })
    }

    /// Also for those saved for this reason. Without any call, for those saved for any.
    #[must_use]
    pub fn trigger(mut self, trigger: Trigger) -> Self {
        self.triggers.push(trigger);
        self
    }

    /// At most this many.
    #[must_use]
    pub fn limit(self, count: usize) -> Self {
        Self { limit: Some(count), ..self }
    }

    /// Whether an entry matches the query.
    #[must_use]
    pub fn admits(&self, entry: &Entry) -> bool {
        self.has_names(entry) && self.has_rest(entry)
    }

    /// Whether it matches the part of an entry that an index row shows.
    fn has_names(&self, entry: &Entry) -> bool {
        self.series.as_ref().is_none_or(|series| *series == entry.series)
            && self.phase.as_ref().is_none_or(|phase| entry.phase.as_ref() == Some(phase))
            && self.tag.as_ref().is_none_or(|tag| entry.tags.contains(tag))
            && self.has_cause(entry.status, &entry.trigger)
    }

    /// Whether the query admits this cause: a status with a trigger.
    fn has_cause(&self, status: Status, trigger: &Trigger) -> bool {
        self.status.is_none_or(|wanted| wanted == status)
            && (self.triggers.is_empty() || self.triggers.contains(trigger))
    }

    /// Whether an entry matches the filters that no index answers.
    fn has_rest(&self, entry: &Entry) -> bool {
        let at_least = |min| entry.iteration.is_some_and(|it| it >= min);
        let at_most = |max| entry.iteration.is_some_and(|it| it <= max);
        // A series can bear the name of an issue or a loop that some of its checkpoints lack.
        self.issue.as_ref().is_none_or(|issue| entry.issue.as_ref() == Some(issue))
            && self.loop_id.as_ref().is_none_or(|name| entry.loop_id.as_ref() == Some(name))
            && self.since.is_none_or(|since| entry.created_at >= since)
            && self.until.is_none_or(|until| entry.created_at < until)
            && self.iteration_min.is_none_or(at_least)
            && self.iteration_max.is_none_or(at_most)
    }
}

impl Store {
    /// Lists what was deleted and can be restored, the last deleted first.
    ///
    /// Applies the filters and limit of the query, but not its order and place. Reads all that can
    /// be restored.
    ///
    /// # Errors
    /// If the store cannot be read, or any of it is damaged: [`Store::deleted_each`] returns the
    /// others.
    pub fn deleted(&self, query: &Query) -> Result<Vec<Restorable>> {
        let mut found = self.deleted_each(query)?.into_iter().collect::<Result<Vec<_>>>()?;
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    /// As [`Store::deleted`], one result each: a damaged one hides no other.
    ///
    /// A damaged checkpoint appears as an error that names it, even if the query might not match
    /// it. The limit does not count it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn deleted_each(&self, query: &Query) -> Result<Vec<Result<Restorable>>> {
        self.read(|snapshot| {
            let mut found = snapshot.restorable_each()?;
            found.reverse();
            found.retain(|it| it.as_ref().map_or(true, |it| query.admits(&it.entry)));
            Ok(found)
        })
    }

    /// Lists entries: as many as the limit of the query says, or 256.
    ///
    /// Reads index rows and the entries returned, and no documents. Costs the same however many
    /// checkpoints there are, unless two filters by name (issue, loop, series, phase, tag) each fit
    /// many and few have both, or an iteration range passes over many.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list(&self, query: &Query) -> Result<Page> {
        self.read(|snapshot| page(snapshot, query, query.limit.unwrap_or(PAGE)))
    }

    /// Iterates over all entries of a query, reading a page at a time.
    ///
    /// The store is free for others between two pages, however slowly they are consumed.
    pub fn entries(&self, query: Query) -> impl Iterator<Item = Result<Entry>> + Send {
        Entries::new(self, query)
    }

    /// Lists the series that have checkpoints, by name.
    ///
    /// Reads a row or two of each, and no entries.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn series(&self) -> Result<Vec<Series>> {
        self.read(|snapshot| {
            let index = snapshot.index();
            let mut found = Vec::new();
            for (name, id) in snapshot.names(NameKind::Series)? {
                // A name stays for a while after its last checkpoint is gone.
                if !index.causes(id)?.is_empty() {
                    found.push(Series::new(name)?);
                }
            }
            Ok(found)
        })
    }

    /// Whether a series has checkpoints, readable or not.
    pub(crate) fn has_series(&self, series: &Series) -> Result<bool> {
        self.read(|snapshot| match snapshot.name(NameKind::Series, series.as_str())? {
            Some(id) => Ok(!snapshot.index().causes(id)?.is_empty()),
            None => Ok(false),
        })
    }

    /// The newest entries of a series, one result each: a damaged one hides no other.
    pub(crate) fn newest_of(&self, series: &Series, limit: usize) -> Result<Vec<Result<Entry>>> {
        let query = Query { series: Some(series.clone()), ..Query::default() };
        self.read(|snapshot| {
            let mut rows = Rows::new(snapshot, &query)?;
            let mut found = Vec::new();
            // Bounded even if the same damage is met again and again.
            while found.len() < limit {
                match rows.next_entry(snapshot).transpose() {
                    Some(entry) => found.push(entry),
                    None => break,
                }
            }
            Ok(found)
        })
    }

    /// Returns the newest checkpoint that a query asks for, or `None` if there is none.
    ///
    /// Reads a few index rows and one record, however large the store is.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn latest(&self, query: &Query) -> Result<Option<Checkpoint>> {
        let query = Query { order: Order::Newest, ..query.clone() };
        self.read(|snapshot| match nth(snapshot, &query, 0)? {
            Some(entry) => snapshot.load(entry).map(Some),
            None => Ok(None),
        })
    }
}

/// The entry after the first `count` of a query.
fn nth(snapshot: &Snapshot<'_>, query: &Query, count: usize) -> Result<Option<Entry>> {
    let mut rows = Rows::new(snapshot, query)?;
    let mut left = count;
    while let Some(entry) = rows.next_entry(snapshot)? {
        if !matches(query, &entry)? {
            continue;
        }
        if left == 0 {
            return Ok(Some(entry));
        }
        left -= 1;
    }
    Ok(None)
}

fn page(snapshot: &Snapshot<'_>, query: &Query, limit: usize) -> Result<Page> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut rows = Rows::new(snapshot, query)?;
    while let Some(entry) = rows.next_entry(snapshot)? {
        if !matches(query, &entry)? {
            continue;
        }
        if entries.len() == limit {
            // One more than asked for, so that a cursor is given only if it leads somewhere.
            let next = entries.last().map(Cursor::from);
            return Ok(Page { entries, next });
        }
        entries.push(entry);
    }
    Ok(Page { entries, next: None })
}

/// Whether an entry found by the index matches; an error if the index was wrong.
fn matches(query: &Query, entry: &Entry) -> Result<bool> {
    if !query.has_names(entry) {
        let place = format!("checkpoint {}", entry.id);
        return Err(Error::corrupt(place, "the index gives it a name it does not have"));
    }
    Ok(query.has_rest(entry))
}
