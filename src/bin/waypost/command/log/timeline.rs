//! Checkpoints of a time line, each with its score and what changed.
//!
//! Every document is read once: from the newest on, the one before is the next of its series.

use std::collections::{BTreeSet, HashMap, HashSet};

use anyhow::Result;
use serde::Serialize;
use serde_json::Number;
use waypost::{ArtifactStatus, Entry, Error, Id, Store, layouts};

use super::graph::From;
use super::summary::Summary;
use crate::content::{Content, Tally};
use crate::output;
use crate::scope::before;

/// A checkpoint, and what its document says.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) entry: Entry,
    /// Where it comes from, if that is not the one before.
    pub(crate) origin: Option<Origin>,
    /// Whether there is one before in its series.
    pub(crate) has_before: bool,
    pub(crate) state: State,
}

/// What a checkpoint goes on from, beside the one before in its series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// One of another series.
    Fork(Id),
    /// An earlier one of its own.
    Back(Id),
    /// One that is not there any more.
    Gone(Id),
}

/// What became of the document of a row.
#[derive(Debug)]
pub(crate) enum State {
    Read { score: Option<f64>, since: Since, files: Files },
    Damaged(String),
    Gone,
}

/// How many of the files that were captured with a checkpoint had changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Files {
    created: usize,
    modified: usize,
    deleted: usize,
}

/// What a document is compared with.
#[derive(Debug)]
pub(crate) enum Since {
    /// Nothing: it is the first of its series.
    First,
    /// This one, with what changed since.
    Before(Id, Summary),
    /// This one, which cannot be read.
    Unreadable(Id),
}

/// A row for a program.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    score: Option<Number>,
    /// What it is compared with.
    before: Option<&'a Id>,
    changes: Option<usize>,
    changed: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Files>,
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gone: bool,
}

impl Files {
    /// Such as `2 files modified, 1 deleted`, if anything became of any.
    pub(crate) fn words(self) -> Option<String> {
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
    fn ids(&self) -> impl Iterator<Item = &Id> {
        let origin = self.origin.as_ref().map(|origin| match origin {
            Origin::Fork(id) | Origin::Back(id) | Origin::Gone(id) => id,
        });
        let before = match &self.state {
            State::Read { since: Since::Before(id, _) | Since::Unreadable(id), .. } => Some(id),
            State::Read { .. } | State::Damaged(_) | State::Gone => None,
        };
        [Some(&self.entry.id), origin, before].into_iter().flatten()
    }

    pub(crate) fn line(&self) -> Line<'_> {
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
        match &self.state {
            State::Damaged(reason) => Line { damaged: Some(reason), ..line },
            State::Gone => Line { gone: true, ..line },
            State::Read { score, since, files } => {
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

/// Every id that rows tell of.
pub(super) fn ids(rows: &[Row]) -> Vec<&Id> {
    let ids: BTreeSet<&Id> = rows.iter().flat_map(Row::ids).collect();
    ids.into_iter().collect()
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

/// What each row goes on from in the graph, by number: the next of its series that is shown, else
/// what it was forked from.
pub(crate) fn links(rows: &[Row]) -> Vec<From> {
    let mut by_series = HashMap::new();
    let mut by_id = HashMap::new();
    let mut links = Vec::with_capacity(rows.len());
    // From the oldest on, so that only older ones are known.
    for (at, Row { entry, origin, has_before, .. }) in rows.iter().enumerate().rev() {
        let next = by_series.insert(&entry.series, at);
        let parent = || entry.parent.as_ref().and_then(|id| by_id.get(id).copied());
        let is_hidden = *has_before || matches!(origin, Some(Origin::Fork(_)));
        links.push(match next.or_else(parent) {
            Some(row) => From::Row(row),
            None if is_hidden => From::Hidden,
            None => From::Nothing,
        });
        by_id.insert(&entry.id, at);
    }
    links.reverse();
    links
}

/// Reads the documents of rows.
pub(crate) struct Reader<'a> {
    store: &'a Store,
    shown: HashSet<Id>,
    /// Documents that were read as the one before, and are shown themselves.
    ready: HashMap<Id, Content>,
    pub(crate) tally: Tally,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(store: &'a Store, shown: &[Entry]) -> Self {
        let shown = shown.iter().map(|entry| entry.id.clone()).collect();
        Self { store, shown, ready: HashMap::new(), tally: Tally::default() }
    }

    /// The next row, which is older than all before it.
    pub(crate) fn row(&mut self, entry: Entry) -> Result<Row> {
        let content = self.content(&entry.id)?;
        self.tally.add(&content);
        let before = before(self.store, &entry)?.map(|before| before.id);
        let origin = self.origin(&entry, before.as_ref())?;
        let has_before = before.is_some();
        let document = match content {
            Content::Read(document) => document,
            Content::Damaged(reason) => {
                return Ok(Row { entry, origin, has_before, state: State::Damaged(reason) });
            }
            Content::Gone => return Ok(Row { entry, origin, has_before, state: State::Gone }),
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
                    Content::Read(old) => Some(Summary::of(&waypost::diff(old, &document))),
                    Content::Damaged(_) | Content::Gone => None,
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
        // A copy has the files of what it was made of, and what had become of them there.
        let files = if origin.is_none() { self.files(&entry)? } else { Files::default() };
        Ok(Row { entry, origin, has_before, state: State::Read { score, since, files } })
    }

    /// Only looks at what was noted of files when they were captured.
    fn files(&self, entry: &Entry) -> Result<Files> {
        let artifacts = match output::artifacts(self.store, entry) {
            // What is damaged is told by who needs the files.
            Err(Error::NotFound { .. } | Error::Corrupt { .. }) => Vec::new(),
            other => other?,
        };
        let count = |status| artifacts.iter().filter(|it| it.status == status).count();
        Ok(Files {
            created: count(ArtifactStatus::Created),
            modified: count(ArtifactStatus::Modified),
            deleted: count(ArtifactStatus::Deleted),
        })
    }

    fn content(&mut self, id: &Id) -> Result<Content> {
        match self.ready.remove(id) {
            Some(content) => Ok(content),
            None => Content::of(self.store, id),
        }
    }

    fn origin(&self, entry: &Entry, before: Option<&Id>) -> Result<Option<Origin>> {
        let Some(parent) = entry.parent.clone().filter(|parent| before != Some(parent)) else {
            return Ok(None);
        };
        match self.store.entry(&parent) {
            Ok(found) if found.series == entry.series => Ok(Some(Origin::Back(parent))),
            Ok(_) => Ok(Some(Origin::Fork(parent))),
            // What is damaged cannot be told from what is gone, and its own line tells.
            Err(Error::NotFound { .. } | Error::Corrupt { .. }) => Ok(Some(Origin::Gone(parent))),
            Err(error) => Err(error.into()),
        }
    }
}
