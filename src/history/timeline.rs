//! Checkpoints of a time line, each with its score and what changed.
//!
//! Reads every document once: the one before a checkpoint is usually the next row.

use std::collections::{HashMap, HashSet};

use serde::{Serialize, Serializer};
use serde_json::Number;

use super::content::{ReadDocument, Tally};
use super::summary::Summary;
use crate::checkpoint::{ArtifactStatus, Entry, Id};
use crate::diff::diff;
use crate::error::{Error, Result};
use crate::layouts;
use crate::store::Store;

/// A checkpoint of a time line, with what changed in it.
///
/// Serializes to the line that `waypost log --json` prints, without its version.
///
/// ```
/// use waypost::history::{Captured, Reading, Since, Timeline};
/// use waypost::{NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?, &serde_json::json!({"score": 71}))?;
/// let entries = store.list(&Query::default())?.entries;
/// let row = Timeline::new(&store, entries).next().expect("there is one")?;
/// assert!(row.origin.is_none() && !row.has_before);
/// let Reading::Read { score, since, files } = row.reading else { panic!("it is whole") };
/// assert_eq!((score, since, files), (Some(71.0), Since::First, Captured::default()));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The checkpoint.
    pub entry: Entry,
    /// Where it comes from, if that is not the one before in its series.
    pub origin: Option<Origin>,
    /// Whether there is one before in its series.
    pub has_before: bool,
    /// What its document says.
    pub reading: Reading,
}

/// Where a checkpoint comes from, other than the one before in its series.
///
/// ```
/// use waypost::history::{Origin, Timeline};
/// use waypost::{NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::issue("42")?, &"state")?;
/// store.fork(&saved.id, NewEntry::series("retry")?)?;
/// let entries = store.list(&Query::series("retry")?)?.entries;
/// let row = Timeline::new(&store, entries).next().expect("there is one")?;
/// assert_eq!(row.origin, Some(Origin::Fork(saved.id)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A checkpoint of another series.
    Fork(Id),
    /// An earlier one of its own series.
    Back(Id),
    /// One that was deleted or is damaged.
    Gone(Id),
}

/// What the document of a row says.
///
/// See [`Row`] for an example.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// It was read.
    Read {
        /// The score that it states.
        score: Option<f64>,
        /// What changed, and since when.
        since: Since,
        /// The captured files that changed.
        files: Captured,
    },
    /// It is damaged; the text names the damage.
    Damaged(String),
    /// It was deleted after it was listed.
    Gone,
}

/// How many of the files that were captured with a checkpoint had changed.
///
/// See [`Row`] for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Captured {
    /// Files that were new.
    pub created: usize,
    /// Files with other content than before.
    pub modified: usize,
    /// Files that were gone.
    pub deleted: usize,
}

/// What a document is compared with.
///
/// See [`Row`] for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// Nothing: it is the first of its series.
    First,
    /// This checkpoint, with what changed since.
    Before(Id, Summary),
    /// This checkpoint, whose document cannot be read.
    Unreadable(Id),
}

/// What a row goes on from in the graph of a time line.
///
/// ```
/// use waypost::history::{Link, Timeline, links};
/// use waypost::{NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// for number in 0..2 {
///     store.save(NewEntry::issue("42")?, &number)?;
/// }
/// let entries = store.list(&Query::default())?.entries;
/// let rows: Vec<_> = Timeline::new(&store, entries).collect::<Result<_, _>>()?;
/// assert_eq!(links(&rows), [Link::Row(1), Link::Nothing]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Nothing: the first of its series.
    Nothing,
    /// The row of this number, which is a later one.
    Row(usize),
    /// A checkpoint that is not among the rows.
    Hidden,
}

/// A row as programs get it.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    score: Option<Number>,
    /// What it is compared with.
    before: Option<&'a Id>,
    changes: Option<usize>,
    changed: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Captured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gone: bool,
}

impl Captured {
    /// Returns the counts in words, such as `2 files modified, 1 deleted`; `None` if no file
    /// changed.
    #[must_use]
    pub fn words(self) -> Option<String> {
        let counts =
            [(self.created, "created"), (self.modified, "modified"), (self.deleted, "deleted")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let words = counts.enumerate().map(|(at, (count, word))| match (at, count) {
            (0, 1) => format!("1 file {word}"),
            (0, count) => format!("{count} files {word}"),
            (_, count) => format!("{count} {word}"),
        });
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

impl Row {
    /// Returns what changed since the checkpoint before, if both could be read.
    #[must_use]
    pub fn summary(&self) -> Option<&Summary> {
        match &self.reading {
            Reading::Read { since: Since::Before(_, summary), .. } => Some(summary),
            Reading::Read { .. } | Reading::Damaged(_) | Reading::Gone => None,
        }
    }

    /// Returns every id that the row mentions.
    pub fn ids(&self) -> impl Iterator<Item = &Id> {
        let origin = self.origin.as_ref().map(|origin| match origin {
            Origin::Fork(id) | Origin::Back(id) | Origin::Gone(id) => id,
        });
        let before = match &self.reading {
            Reading::Read { since: Since::Before(id, _) | Since::Unreadable(id), .. } => Some(id),
            Reading::Read { .. } | Reading::Damaged(_) | Reading::Gone => None,
        };
        [Some(&self.entry.id), origin, before].into_iter().flatten()
    }

    fn line(&self) -> Line<'_> {
        let line = Line {
            entry: &self.entry,
            score: None,
            before: None,
            changes: None,
            changed: &[],
            files: None,
            damaged: None,
            gone: false,
        };
        match &self.reading {
            Reading::Damaged(reason) => Line { damaged: Some(reason), ..line },
            Reading::Gone => Line { gone: true, ..line },
            Reading::Read { score, since, files } => {
                let is_known = self.entry.artifact_count > 0 && self.origin.is_none();
                let files = is_known.then_some(*files);
                let line = Line { score: score.and_then(number), files, ..line };
                match since {
                    Since::First => line,
                    Since::Unreadable(before) => Line { before: Some(before), ..line },
                    Since::Before(before, Summary { changes, pointers, .. }) => {
                        let (before, changes) = (Some(before), Some(*changes));
                        Line { before, changes, changed: pointers, ..line }
                    }
                }
            }
        }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.line().serialize(serializer)
    }
}

/// A score as it would be written: 40 and not 40.0.
fn number(score: f64) -> Option<Number> {
    // Whole numbers up to there are exact.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    if score.fract() == 0.0 && score.abs() <= WHOLE_MAX {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        return Some(Number::from(score as i64));
    }
    Number::from_f64(score)
}

/// Returns what each row goes on from: the next row of its series, else the one it was forked from.
///
/// Rows are in the order of a [`Timeline`], the newest first.
#[must_use]
pub fn links(rows: &[Row]) -> Vec<Link> {
    let mut by_series = HashMap::new();
    let mut by_id = HashMap::new();
    let mut links = Vec::with_capacity(rows.len());
    // From the oldest on, so that only older ones are known.
    for (at, Row { entry, origin, has_before, .. }) in rows.iter().enumerate().rev() {
        let next = by_series.insert(&entry.series, at);
        let parent = || entry.parent.as_ref().and_then(|id| by_id.get(id).copied());
        let is_hidden = *has_before || matches!(origin, Some(Origin::Fork(_)));
        links.push(match next.or_else(parent) {
            Some(row) => Link::Row(row),
            None if is_hidden => Link::Hidden,
            None => Link::Nothing,
        });
        by_id.insert(&entry.id, at);
    }
    links.reverse();
    links
}

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
