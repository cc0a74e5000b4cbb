//! A row of a time line: what one checkpoint says, and its line of JSON.

use serde::{Serialize, Serializer};
use serde_json::Number;

use super::summary::Summary;
use crate::checkpoint::{Entry, Id};

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
    /// Where it comes from, if not from the checkpoint before in its series.
    pub origin: Option<Origin>,
    /// Whether its series has an earlier checkpoint.
    pub has_before: bool,
    /// What its document says.
    pub reading: Reading,
}

/// Where a checkpoint comes from, if not from the checkpoint before in its series.
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
    /// A checkpoint that was deleted or is damaged.
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

/// Counts of the captured files that changed since the checkpoint before.
///
/// See [`Row`] for an example.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Captured {
    /// Files that were new.
    pub created: usize,
    /// Files with other content than before.
    pub modified: usize,
    /// Files that were deleted.
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

/// A row as `--json` prints it.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    score: Option<Number>,
    /// The checkpoint that the document is compared with.
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

/// A score in its shortest form: 40 and not 40.0.
fn number(score: f64) -> Option<Number> {
    // Whole numbers up to there are exact.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    if score.fract() == 0.0 && score.abs() <= WHOLE_MAX {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        return Some(Number::from(score as i64));
    }
    Number::from_f64(score)
}
