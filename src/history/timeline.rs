//! Checkpoints of a time line, each with its score and what changed.
//!
//! Reads every document once: the one before a checkpoint is usually the next row.

use std::collections::{HashMap, HashSet};

use super::content::{ReadDocument, Tally};
use super::row::{Captured, Origin, Reading, Row, Since};
use super::summary::Summary;
use crate::checkpoint::{ArtifactStatus, Entry, Id};
use crate::diff::diff;
use crate::error::{Error, Result};
use crate::layouts;
use crate::store::Store;

/// Rows for entries, the newest first: what each says, and what changed since the one before.
///
/// Reads a document for each row, and one more for each series.
///
/// ```
/// # fn main() -> waypost::Result<()> {
/// # use waypost::history::Timeline;
/// # use waypost::{NewEntry, Query, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// # for number in 0..3 { store.save(NewEntry::default(), &number)?; }
/// let entries = store.list(&Query::default())?.entries;
/// let mut timeline = Timeline::new(&store, entries);
/// let newest = timeline.next().unwrap()?;
/// assert!(newest.has_before);
/// assert_eq!(timeline.by_ref().count(), 2);
/// assert_eq!((timeline.tally().total, timeline.tally().damaged), (3, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Timeline<'a> {
    store: &'a Store,
    left: std::vec::IntoIter<Entry>,
    shown: HashSet<Id>,
    /// Documents that were read as the one before, and have rows of their own.
    ready: HashMap<Id, ReadDocument>,
    tally: Tally,
}

impl Iterator for Timeline<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        let entry = self.left.next()?;
        Some(self.row(entry))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for Timeline<'_> {}

impl<'a> Timeline<'a> {
    /// Starts at the first of these entries, which is the newest.
    #[must_use]
    pub fn new(store: &'a Store, entries: Vec<Entry>) -> Self {
        let shown = entries.iter().map(|entry| entry.id.clone()).collect();
        let left = entries.into_iter();
        Self { store, left, shown, ready: HashMap::new(), tally: Tally::default() }
    }

    /// Returns how many documents were asked for so far, and how many are damaged.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    fn row(&mut self, entry: Entry) -> Result<Row> {
        let content = self.content(&entry.id)?;
        self.tally.add(&content);
        let before = self.store.before(&entry)?.map(|before| before.id);
        let origin = self.origin(&entry, before.as_ref())?;
        let has_before = before.is_some();
        let document = match content {
            ReadDocument::Read(document) => document,
            ReadDocument::Damaged(reason) => {
                return Ok(Row { entry, origin, has_before, reading: Reading::Damaged(reason) });
            }
            ReadDocument::Gone => {
                return Ok(Row { entry, origin, has_before, reading: Reading::Gone });
            }
        };
        let before = before.or_else(|| match &origin {
            Some(Origin::Fork(id)) => Some(id.clone()),
            _ => None,
        });
        let since = match before {
            None => Since::First,
            Some(before) => {
                let content = self.content(&before)?;
                let summary = match &content {
                    ReadDocument::Read(old) => Some(Summary::of(&diff(old, &document))),
                    ReadDocument::Damaged(_) | ReadDocument::Gone => None,
                };
                if self.shown.contains(&before) {
                    self.ready.insert(before.clone(), content);
                }
                match summary {
                    Some(summary) => Since::Before(before, summary),
                    None => Since::Unreadable(before),
                }
            }
        };
        let score = layouts::standing(&entry, &document).score;
        // A fork has the files of its origin, which changed there and not here.
        let files = if origin.is_none() { self.files(&entry)? } else { Captured::default() };
        Ok(Row { entry, origin, has_before, reading: Reading::Read { score, since, files } })
    }

    /// Counts by the status that was noted when the files were captured.
    fn files(&self, entry: &Entry) -> Result<Captured> {
        if entry.artifact_count == 0 {
            return Ok(Captured::default());
        }
        let artifacts = match self.store.artifacts(&entry.id) {
            // A command that needs the files reports the damage.
            Err(Error::NotFound { .. } | Error::Corrupt { .. }) => Vec::new(),
            other => other?,
        };
        let count = |status| artifacts.iter().filter(|it| it.status == status).count();
        Ok(Captured {
            created: count(ArtifactStatus::Created),
            modified: count(ArtifactStatus::Modified),
            deleted: count(ArtifactStatus::Deleted),
        })
    }

    fn content(&mut self, id: &Id) -> Result<ReadDocument> {
        match self.ready.remove(id) {
            Some(content) => Ok(content),
            None => ReadDocument::of(self.store, id),
        }
    }

    fn origin(&self, entry: &Entry, before: Option<&Id>) -> Result<Option<Origin>> {
        let Some(parent) = entry.parent.clone().filter(|parent| before != Some(parent)) else {
            return Ok(None);
        };
        match self.store.entry(&parent) {
            Ok(found) if found.series == entry.series => Ok(Some(Origin::Back(parent))),
            Ok(_) => Ok(Some(Origin::Fork(parent))),
            // A damaged origin counts as gone; its own row reports the damage.
            Err(Error::NotFound { .. } | Error::Corrupt { .. }) => Ok(Some(Origin::Gone(parent))),
            Err(error) => Err(error),
        }
    }
}
