//! Parts of documents: listed in the order of a query, unpacked in the order of arrival.
//!
//! Most frames are deltas to the one that their series saved before, and that is among the recent
//! documents of the store then. So a document costs about one step, also when the newest come
//! first. Memory is bounded by the part and by the recent documents
//! ([`Options::cache_bytes`](crate::Options::cache_bytes)).

use super::{Document, Listed, Unread};
use crate::checkpoint::{Checkpoint, Entry};
use crate::error::{Error, Result};
use crate::query::cursor::Cursor;
use crate::query::merge::Rows;
use crate::query::{Query, matches};
use crate::store::{Snapshot, not_found};

// Of all documents of a part but the last.
const PART_BYTES: u64 = 1 << 20;

/// Whether an error is about one checkpoint, so that others can be read.
fn is_of_one(error: &Error) -> bool {
    match error {
        Error::Corrupt { .. } | Error::Limit { .. } | Error::Key { .. } => !error.is_of_engine(),
        _ => false,
    }
}

/// The next entries of a query, and where it continues; `None` at the end.
pub(super) fn found(
    snapshot: &Snapshot<'_>,
    query: &Query,
    size: usize,
) -> Result<(Vec<Listed>, Option<Cursor>)> {
    let mut rows = Rows::new(snapshot, query)?;
    let (mut entries, mut bytes) = (Vec::new(), 0_u64);
    while let Some((key, entry)) = rows.next_keyed(snapshot)? {
        match entry.and_then(|entry| Ok((matches(query, &entry)?, entry))) {
            Ok((false, _)) => continue,
            Ok((true, entry)) => {
                bytes = bytes.saturating_add(entry.raw_bytes());
                entries.push(Ok(entry));
            }
            Err(error) => entries.push(Err(Unread { entry: None, error })),
        }
        if entries.len() >= size || bytes >= PART_BYTES {
            return Ok((entries, Some(Cursor(key))));
        }
    }
    Ok((entries, None))
}

/// The next entries of a list, up to a failure.
pub(super) fn take_part(
    listed: &mut dyn Iterator<Item = Result<Entry>>,
    size: usize,
    failure: &mut Option<Error>,
) -> Vec<Entry> {
    let (mut entries, mut bytes) = (Vec::new(), 0_u64);
    while entries.len() < size && bytes < PART_BYTES && failure.is_none() {
        match listed.next() {
            Some(Ok(entry)) => {
                bytes = bytes.saturating_add(entry.raw_bytes());
                entries.push(entry);
            }
            Some(Err(error)) => *failure = Some(error),
            None => break,
        }
    }
    entries
}

/// An entry as the snapshot has it: it may have been tagged or deleted since it was listed.
pub(super) fn again(snapshot: &Snapshot<'_>, listed: &Entry) -> Result<Listed> {
    let unread = |error| Unread { entry: Some(Box::new(listed.clone())), error };
    match snapshot.find(&listed.id) {
        Ok(Some(entry)) => Ok(Ok(entry)),
        Ok(None) => Ok(Err(unread(not_found(&listed.id)))),
        Err(error) if is_of_one(&error) => Ok(Err(unread(error))),
        Err(error) => Err(error),
    }
}

/// Adds the documents, unpacked in the order in which they were saved.
pub(super) fn load(snapshot: &Snapshot<'_>, entries: Vec<Listed>) -> Result<Vec<Document>> {
    let sequence = |entry: &Listed| entry.as_ref().map_or(0, |it| it.sequence);
    let mut entries: Vec<_> = entries.into_iter().enumerate().collect();
    entries.sort_by_key(|(_, entry)| sequence(entry));
    let mut part = Vec::with_capacity(entries.len());
    for (at, entry) in entries {
        let document = match entry.map(|entry| (snapshot.raw(&entry), entry)) {
            Ok((Ok(raw), entry)) => Ok(Checkpoint { entry, raw }),
            Ok((Err(error), entry)) if is_of_one(&error) => {
                Err(Unread { entry: Some(Box::new(entry)), error })
            }
            Ok((Err(error), _)) => return Err(error),
            Err(unread) => Err(unread),
        };
        part.push((at, document));
    }
    part.sort_unstable_by_key(|(at, _)| *at);
    Ok(part.into_iter().map(|(_, document)| document).collect())
}
