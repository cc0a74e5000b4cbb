//! Documents one after the other: read in parts, each from one snapshot.
//!
//! Holds no snapshot between two parts, because a reader may be slow: a kept snapshot would keep
//! the file from other processes, and a view is overtaken by their commits. So what is saved
//! meanwhile may be met, as by [`Store::entries`]; but an entry and its document always belong
//! together.

mod part;
#[cfg(test)]
mod tests;

use std::error;
use std::fmt;
use std::ops::ControlFlow;
use std::vec;

use super::Query;
use crate::checkpoint::{Checkpoint, Entry};
use crate::error::{Error, Result};
use crate::ordered::in_order_by;
use crate::store::Store;
use part::{again, found, load, take_part};

// The first part is small, for callers that stop early. Later ones are larger, up to a number of
// bytes: a part costs a snapshot, and beside a busy saver a new view.
const FIRST_ENTRIES: usize = 8;
const PART_ENTRIES: usize = 1024;

/// The checkpoints of a query with their documents: an iterator that reads ahead a little.
///
/// Made by [`Store::documents`]. After an error that names a checkpoint it goes on with the next
/// one; after any other error it ends.
///
/// ```
/// use waypost::query::Order;
/// use waypost::{NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// for score in [71, 80, 64] {
///     store.save(NewEntry::issue("42")?, &serde_json::json!({"score": score}))?;
/// }
/// let oldest_first = Query { order: Order::Oldest, ..Query::issue("42")? };
///
/// // As values of a type.
/// for checkpoint in store.documents(oldest_first.clone()) {
///     assert!(checkpoint?.state::<serde_json::Value>()?["score"].is_u64());
/// }
///
/// // As lines of JSON, through one buffer.
/// let (mut documents, mut lines) = (store.documents(oldest_first), Vec::new());
/// while let Some(entry) = documents.next_json(&mut lines) {
///     assert_eq!(entry.map_err(|unread| unread.error)?.series.as_str(), "issue:42");
///     lines.push(b'\n');
/// }
/// assert_eq!(lines, b"{\"score\":71}\n{\"score\":80}\n{\"score\":64}\n");
/// # Ok(())
/// # }
/// ```
pub struct Documents<'a> {
    store: &'a Store,
    source: Source<'a>,
    /// How many may still be handed out.
    left: usize,
    /// How many the next part may have.
    size: usize,
    part: vec::IntoIter<Document>,
    /// What ended a list before its end.
    failure: Option<Error>,
    is_last: bool,
}

type Document = Result<Checkpoint, Unread>;
type Listed = Result<Entry, Unread>;

enum Source<'a> {
    /// From the place where it continues.
    Query(Box<Query>),
    Listed(Box<dyn Iterator<Item = Result<Entry>> + Send + 'a>),
}

/// Why a checkpoint was not handed out.
///
/// ```
/// use waypost::query::Unread;
/// use waypost::{Error, Id, NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// # store.save(NewEntry::default(), &1)?;
/// let mut damaged: Vec<Id> = Vec::new();
/// let mut documents = store.documents(Query::default());
/// while let Some(checkpoint) = documents.read_next() {
///     match checkpoint {
///         Ok(_) => {}
///         Err(Unread { entry: Some(entry), error: Error::Corrupt { .. } }) => {
///             damaged.push(entry.id);
///         }
///         Err(unread) => return Err(unread.error),
///     }
/// }
/// assert!(damaged.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Unread {
    /// The checkpoint; `None` if its entry is damaged, too, or if the store cannot be read.
    pub entry: Option<Box<Entry>>,
    /// [`Error::Corrupt`], [`Error::Limit`] or [`Error::Key`] for one checkpoint; others are about
    /// the store.
    pub error: Error,
}

impl Store {
    /// Iterates over the checkpoints of a query with their documents, in the order of the query.
    ///
    /// Costs little more than to decompress and check each document, however many deltas it is
    /// away from a whole one. Reads a part at a time, each from one snapshot; the store is free for
    /// others between two parts, however slowly they are consumed. What is saved or deleted
    /// meanwhile may be met or missed.
    #[must_use]
    pub fn documents(&self, query: Query) -> Documents<'_> {
        let left = query.limit.unwrap_or(usize::MAX);
        Documents::new(self, Source::Query(Box::new(query)), left)
    }

    /// As [`Store::documents`], of checkpoints that were listed; [`Error::NotFound`] for those that
    /// were deleted since.
    pub(crate) fn documents_of<'a>(
        &'a self,
        listed: impl Iterator<Item = Result<Entry>> + Send + 'a,
    ) -> Documents<'a> {
        Documents::new(self, Source::Listed(Box::new(listed)), usize::MAX)
    }
}

impl<'a> Documents<'a> {
    fn new(store: &'a Store, source: Source<'a>, left: usize) -> Self {
        let part = Vec::new().into_iter();
        Self { store, source, left, size: FIRST_ENTRIES, part, failure: None, is_last: left == 0 }
    }

    /// As [`Iterator::next`], with the entry of a checkpoint whose document cannot be read.
    pub fn read_next(&mut self) -> Option<Result<Checkpoint, Unread>> {
        if let Some(document) = self.part.next() {
            return Some(document);
        }
        self.part = self.next_part()?.into_iter();
        self.part.next()
    }

    /// Appends the next document to `out` as compact JSON text, and returns its entry. After an
    /// error `out` is as it was.
    ///
    /// As [`Documents::read_next`], for many documents through one buffer.
    pub fn next_json(&mut self, out: &mut Vec<u8>) -> Option<Result<Entry, Unread>> {
        Some(self.read_next()?.and_then(|checkpoint| append(checkpoint, out)))
    }

    /// Calls `each` with the entry and the JSON text of every document, in order, until it breaks.
    ///
    /// This many threads make texts, a part at a time, beside one that reads. With one, the caller
    /// does all of the work, and so it does if threads cannot be started. `each` runs in the thread
    /// of the caller, and sees the same with any number of threads.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use waypost::{NewEntry, Query, Store};
    ///
    /// # fn main() -> waypost::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::open(dir.path().join("store.redb"))?;
    /// # store.save(NewEntry::default(), &"state")?;
    /// let mut texts = Vec::new();
    /// store.documents(Query::default()).for_each_json(2, |document| {
    ///     if let Ok((_, text)) = document {
    ///         texts.extend_from_slice(text);
    ///     }
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(texts, b"\"state\"");
    /// # Ok(())
    /// # }
    /// ```
    pub fn for_each_json(
        mut self,
        threads: usize,
        mut each: impl FnMut(Result<(&Entry, &[u8]), Unread>) -> ControlFlow<()>,
    ) {
        let produce = |hand_out: &mut dyn FnMut(Vec<Document>) -> bool| {
            while self.next_part().is_some_and(&mut *hand_out) {}
            Ok(())
        };
        let hand_out = |Texts { bytes, ends }| {
            let mut start = 0;
            for document in ends {
                let flow = match document {
                    Ok((entry, end)) => {
                        let text = &bytes[std::mem::replace(&mut start, end)..end];
                        each(Ok((&entry, text)))
                    }
                    Err(unread) => each(Err(unread)),
                };
                if flow.is_break() {
                    return Err(());
                }
            }
            Ok(())
        };
        let workers = if threads > 1 { threads } else { 0 };
        // An error only says that `each` has enough.
        let _ = in_order_by(workers, produce, Texts::of, hand_out);
    }

    /// The next checkpoints, all read from one snapshot; `None` at the end.
    pub(crate) fn next_part(&mut self) -> Option<Vec<Document>> {
        let rest: Vec<Document> = self.part.by_ref().collect();
        if !rest.is_empty() {
            return Some(rest);
        }
        let mut part = Vec::new();
        // The last part may be empty, and so may one that a failure follows.
        while part.is_empty() && !self.is_last {
            let size = self.size.min(self.left);
            self.size = (self.size * 2).min(PART_ENTRIES);
            part = self.read(size).unwrap_or_else(|error| {
                self.is_last = true;
                vec![Err(Unread { entry: None, error })]
            });
            self.left -= part.len().min(self.left);
            self.is_last |= self.left == 0;
        }
        Some(part).filter(|part| !part.is_empty())
    }

    fn read(&mut self, size: usize) -> Result<Vec<Document>> {
        match &mut self.source {
            Source::Query(query) => {
                let (part, after) = self.store.read(|snapshot| {
                    let (entries, after) = found(snapshot, query, size)?;
                    Ok((load(snapshot, entries)?, after))
                })?;
                self.is_last = after.is_none();
                query.after = after;
                Ok(part)
            }
            Source::Listed(listed) => {
                let entries = match self.failure.take() {
                    Some(failure) => return Err(failure),
                    None => take_part(listed, size, &mut self.failure),
                };
                self.is_last = entries.is_empty() && self.failure.is_none();
                self.store.read(|snapshot| {
                    let again = entries.iter().map(|entry| again(snapshot, entry));
                    load(snapshot, again.collect::<Result<_>>()?)
                })
            }
        }
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Checkpoint>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.read_next()?.map_err(|unread| unread.error))
    }
}

impl fmt::Debug for Documents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Documents").field("left", &self.left).finish_non_exhaustive()
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl error::Error for Unread {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.error.source()
    }
}

/// The texts of a part, one behind the other, and where each ends.
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<Result<(Entry, usize), Unread>>,
}

impl Texts {
    fn of(part: Vec<Document>) -> Self {
        let mut bytes = Vec::new();
        let mut written = |checkpoint| {
            let entry = append(checkpoint, &mut bytes)?;
            Ok((entry, bytes.len()))
        };
        let ends = part.into_iter().map(|document| document.and_then(&mut written)).collect();
        Self { bytes, ends }
    }
}

fn append(checkpoint: Checkpoint, out: &mut Vec<u8>) -> Result<Entry, Unread> {
    match checkpoint.append_json(out) {
        Ok(()) => Ok(checkpoint.entry),
        Err(error) => Err(Unread { entry: Some(Box::new(checkpoint.entry)), error }),
    }
}
