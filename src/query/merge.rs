//! Merges the rows of several names: all checkpoints that have one name of each set.
//!
//! Each set is read in the order of time. The one that is behind seeks to where the others are, so
//! the work is bounded by the smallest set.
//!
//! Every row also has the cause, which is status and trigger in one. There are few causes, so a
//! question about a name and a cause is one range, and one about a name alone is a merge of a few.
//! The rows of an issue and a loop are left out where the series says the same. The primary key of
//! an entry is its order time and sequence, so listing needs no index. Ids that the store makes
//! carry their time, which leads to the record without a row.

use super::Query;
use super::sources::{sources, span};
use crate::checkpoint::Entry;
use crate::error::{Error, Result};
use crate::key::{NameId, Order, RecordKey, Span};
use crate::store::{Index, Snapshot};

// Rows on the same page are cheaper to step over than to seek.
const STEPS_BEFORE_LEAP: usize = 8;
const CAUSES_LOOKED_FOR: usize = 16;

const LOST: &str = "the index knows it, but it is not there";

/// The key of a checkpoint, and its entry unless that is damaged.
pub(super) type Keyed = (RecordKey, Result<Entry>);
type Keys<'a> = Box<dyn Iterator<Item = Result<RecordKey>> + 'a>;

/// The rows that answer a query, in its order.
pub(super) enum Rows<'a> {
    /// Every entry, since no name is asked for.
    All(Box<dyn Iterator<Item = Result<Keyed>> + 'a>),
    Named(Intersection<'a>),
}

impl<'a> Rows<'a> {
    pub(super) fn new(snapshot: &'a Snapshot<'_>, query: &Query) -> Result<Self> {
        let (sources, span) = (sources(snapshot, query)?, span(snapshot, query));
        if sources.names.is_empty() {
            let entries = snapshot.keyed_entries(span)?;
            return Ok(Self::All(Box::new(entries)));
        }
        let mut unions = Vec::with_capacity(sources.names.len());
        for names in &sources.names {
            unions.push(Union::new(snapshot.index(), names, sources.causes.as_deref(), span)?);
        }
        Ok(Self::Named(Intersection { unions }))
    }

    pub(super) fn next_entry(&mut self, snapshot: &Snapshot<'_>) -> Result<Option<Entry>> {
        self.next_keyed(snapshot)?.map(|(_, entry)| entry).transpose()
    }

    /// The next row, and what is damaged about it alone.
    pub(super) fn next_keyed(&mut self, snapshot: &Snapshot<'_>) -> Result<Option<Keyed>> {
        match self {
            Self::All(entries) => entries.next().transpose(),
            Self::Named(rows) => {
                let Some(key) = rows.next()? else {
                    return Ok(None);
                };
                let lost = || Error::corrupt(key.to_string(), LOST);
                let entry = match snapshot.entry(key) {
                    Err(error) if error.is_of_engine() => return Err(error),
                    entry => entry.and_then(|entry| entry.ok_or_else(lost)),
                };
                Ok(Some((key, entry)))
            }
        }
    }
}

/// Keys in the intersection of all unions.
pub(super) struct Intersection<'a> {
    unions: Vec<Union<'a>>,
}

impl Intersection<'_> {
    fn next(&mut self) -> Result<Option<RecordKey>> {
        let Some(mut candidate) = self.unions[0].peek() else {
            return Ok(None);
        };
        // Number of unions in a row that agree on the candidate.
        let mut agreed = 0;
        for index in (0..self.unions.len()).cycle() {
            let Some(found) = self.unions[index].leap(candidate)? else {
                return Ok(None);
            };
            agreed = if found == candidate { agreed + 1 } else { 1 };
            candidate = found;
            if agreed == self.unions.len() {
                break;
            }
        }
        for union in &mut self.unions {
            union.pass(candidate)?;
        }
        Ok(Some(candidate))
    }
}

/// Keys that have one of several names, and one of several causes.
struct Union<'a> {
    index: Index<'a>,
    lists: Vec<List<'a>>,
    span: Span,
}

struct List<'a> {
    name_and_cause: (NameId, NameId),
    keys: Keys<'a>,
    head: Option<RecordKey>,
}

impl<'a> Union<'a> {
    fn new(
        index: Index<'a>,
        names: &[NameId],
        causes: Option<&[NameId]>,
        span: Span,
    ) -> Result<Self> {
        let mut lists = Vec::new();
        for name in names {
            // Seeking a few causes is cheaper than finding out which exist.
            let looked_for = match causes {
                Some(wanted) if wanted.len() <= CAUSES_LOOKED_FOR => wanted.to_vec(),
                Some(wanted) => {
                    let mut present = index.causes(*name)?;
                    present.retain(|cause| wanted.contains(cause));
                    present
                }
                None => index.causes(*name)?,
            };
            for cause in looked_for {
                let name_and_cause = (*name, cause);
                let mut keys: Keys<'a> = Box::new(index.keys(name_and_cause, span)?);
                let head = keys.next().transpose()?;
                lists.push(List { name_and_cause, keys, head });
            }
        }
        Ok(Self { index, lists, span })
    }

    /// The first remaining key.
    fn peek(&self) -> Option<RecordKey> {
        let heads = self.lists.iter().filter_map(|list| list.head);
        match self.span.order {
            Order::Newest => heads.max(),
            Order::Oldest => heads.min(),
        }
    }

    /// Drops keys before `target`, and returns the first remaining one.
    fn leap(&mut self, target: RecordKey) -> Result<Option<RecordKey>> {
        for list in &mut self.lists {
            list.leap(target, &self.index, self.span)?;
        }
        Ok(self.peek())
    }

    /// Leaves `key` behind.
    fn pass(&mut self, key: RecordKey) -> Result<()> {
        for list in &mut self.lists {
            if list.head == Some(key) {
                list.head = list.keys.next().transpose()?;
            }
        }
        Ok(())
    }
}

impl<'a> List<'a> {
    /// Goes on to the first key that is not before `target`.
    fn leap(&mut self, target: RecordKey, index: &Index<'a>, span: Span) -> Result<()> {
        let is_before = |key: RecordKey| match span.order {
            Order::Newest => key > target,
            Order::Oldest => key < target,
        };
        for _ in 0..STEPS_BEFORE_LEAP {
            match self.head {
                Some(key) if is_before(key) => self.head = self.keys.next().transpose()?,
                _ => return Ok(()),
            }
        }
        let rest = match span.order {
            Order::Newest => Span { to: target.next().unwrap_or(span.to), ..span },
            Order::Oldest => Span { from: target, ..span },
        };
        self.keys = Box::new(index.keys(self.name_and_cause, rest)?);
        self.head = self.keys.next().transpose()?;
        Ok(())
    }
}
