//! Checkpoints of a series, read and checked, with the reasons why they cannot be resumed.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

use crate::checkpoint::{Checkpoint, Entry, Id, Series, Status, Trigger};
use crate::error::{Error, Result};
use crate::layouts::claude::is_set_aside;
use crate::layouts::{Code, NamedFile, Problem, Standing, problems, standing};
use crate::store::Store;

/// A checkpoint that might be resumed.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::{NewEntry, Series, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?, &"state")?;
/// store.save(NewEntry { can_resume: Some(false), ..NewEntry::issue("42")? }, &"broken")?;
/// let (candidates, _damage) = store.candidates(&Series::new("issue:42")?, 10)?;
/// for candidate in &candidates {
///     show(format!("{}: {} hurdles", candidate.entry.id, candidate.hurdles.len()));
/// }
/// assert_eq!((candidates[0].hurdles.len(), candidates[1].hurdles.len()), (1, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Its entry.
    #[serde(flatten)]
    pub entry: Entry,
    /// The state of the work by its document; empty if that cannot be read.
    pub standing: Standing,
    /// What stands in the way.
    pub hurdles: Vec<Hurdle>,
    /// The rules of its system that it breaks.
    #[serde(skip)]
    pub(super) problems: Vec<Problem>,
    /// Whether its file is, or belongs, where its system does not look for work.
    #[serde(skip)]
    pub(super) is_set_aside: bool,
}

// More would fill the screen; `waypost check` lists all.
const TOLD_MAX: usize = 8;

/// A reason why a checkpoint cannot be resumed. Displayed as a sentence without its subject.
///
/// ```
/// use waypost::recovery::Hurdle;
/// use waypost::{NewEntry, Status, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::issue("42")?.status(Status::Completed), &"done")?;
/// let (_offer, hurdles) = store.offer(saved)?;
/// assert_eq!(hurdles, [Hurdle::Ended { status: Status::Completed }]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "hurdle", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Hurdle {
    /// It cannot be read.
    Damaged {
        /// Which check failed.
        reason: String,
    },
    /// It says so itself.
    CannotResume {
        /// What it says about it.
        warnings: Vec<String>,
    },
    /// It breaks rules of its system: a required field is missing, a value is refused, or its file
    /// could not be read.
    Invalid {
        /// What is wrong, by field.
        problems: Vec<Problem>,
    },
    /// Its system would not go on from it.
    Refused {
        /// What is wrong, by field.
        problems: Vec<Problem>,
    },
    /// It could be resumed, but the work had gone wrong by then.
    Unsafe,
    /// It is an earlier content of a file whose present content cannot be resumed, cannot be read,
    /// or belongs to no known system.
    Overwritten {
        /// The checkpoint with the present content.
        by: Id,
    },
    /// The work is over.
    Ended {
        /// How it ended.
        status: Status,
    },
}

impl fmt::Display for Hurdle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { reason } => write!(f, "cannot be read: {reason}"),
            Self::CannotResume { warnings } if warnings.is_empty() => {
                f.write_str("says that it cannot be resumed")
            }
            Self::CannotResume { warnings } => {
                write!(f, "says that it cannot be resumed: {}", warnings.join("; "))
            }
            Self::Invalid { problems } => write!(f, "is invalid: {}", told(problems)),
            Self::Refused { problems } => {
                write!(f, "is not a state that its system resumes from: {}", told(problems))
            }
            Self::Unsafe => f.write_str("is not safe to go on from"),
            Self::Overwritten { by } => write!(f, "was overwritten in its file by {by}"),
            Self::Ended { status } => write!(f, "is {status}"),
        }
    }
}

impl Hurdle {
    pub(super) fn is_overwritten_by(&self, id: Option<&Id>) -> bool {
        matches!(self, Self::Overwritten { by } if Some(by) == id)
    }
}

fn told(problems: &[Problem]) -> String {
    let first: Vec<String> = problems.iter().take(TOLD_MAX).map(Problem::to_string).collect();
    let more = problems.len() - first.len();
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", first.join("; "))
}

impl Candidate {
    /// Whether it breaks rules of its system, though its work is not over.
    pub(super) fn is_invalid(&self) -> bool {
        let is_invalid = |hurdle: &Hurdle| matches!(hurdle, Hurdle::Invalid { .. });
        self.hurdles.iter().any(is_invalid) && !self.has_ended()
    }

    /// Whether it can be read.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        !self.hurdles.iter().any(|hurdle| matches!(hurdle, Hurdle::Damaged { .. }))
    }

    /// Whether its work is over.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.hurdles.iter().any(|hurdle| matches!(hurdle, Hurdle::Ended { .. }))
    }

    /// Whether older checkpoints belong to a run that is over.
    pub(super) fn ends_run(&self) -> bool {
        self.has_ended() && !self.is_set_aside
    }

    /// Whether it was saved at a clean boundary of the work.
    pub(super) fn is_boundary(&self) -> bool {
        matches!(
            self.entry.trigger,
            Trigger::PhaseBoundary | Trigger::PhaseTransition | Trigger::PreRiskyOp
        )
    }
}

/// A candidate, with its checkpoint if that can be read.
pub(super) type Read = (Candidate, Option<Checkpoint>);

/// Reads a checkpoint; `None` if it was deleted since it was listed.
pub(super) fn read(store: &Store, entry: Entry) -> Result<Option<Read>> {
    let found = store.get(&entry.id);
    let found = found.and_then(|checkpoint| Ok((checkpoint.document()?, checkpoint)));
    let (document, checkpoint) = match found {
        Ok((document, checkpoint)) => (document, checkpoint),
        Err(error @ (Error::Corrupt { .. } | Error::Invalid { .. } | Error::Limit { .. })) => {
            // The entry alone shows that the work has ended.
            let ended = entry.status.is_over().then_some(Hurdle::Ended { status: entry.status });
            let damaged = Hurdle::Damaged { reason: error.to_string() };
            let hurdles = [damaged].into_iter().chain(ended).collect();
            let standing = Standing::default();
            let problems = Vec::new();
            let is_set_aside = false;
            let candidate = Candidate { entry, standing, hurdles, problems, is_set_aside };
            return Ok(Some((candidate, None)));
        }
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut standing = standing(&entry, &document);
    add_captured(store, &entry, &mut standing)?;
    let problems = problems(&checkpoint, &document)?;
    let mut hurdles = with_invalid(hurdles(&entry, &standing), &problems);
    if entry.is_unreadable() {
        // The problem already says what this hurdle would repeat.
        hurdles.retain(|it| !matches!(it, Hurdle::CannotResume { .. }));
    }
    let is_set_aside = is_set_aside(&entry, &document);
    if is_set_aside && !entry.status.is_over() {
        hurdles.push(Hurdle::Ended { status: entry.status });
    }
    let candidate = Candidate { entry, standing, hurdles, problems, is_set_aside };
    Ok(Some((candidate, Some(checkpoint))))
}

/// Reads a checkpoint for comparison with many, and keeps only what the comparison needs.
///
/// A document may name thousands of files and tasks.
pub(super) fn judged(store: &Store, entry: Entry) -> Result<Option<Candidate>> {
    let Some((mut candidate, _)) = read(store, entry)? else { return Ok(None) };
    let Standing { score, failures, failing, tests_passing, error, .. } = candidate.standing;
    // Keeps only that there is an error, not its text.
    let error = error.map(|_| String::new());
    candidate.problems.clear();
    candidate.standing =
        Standing { score, failures, failing, error, tests_passing, ..Standing::default() };
    Ok(Some(candidate))
}

/// Adds captured files to those that the work was based on.
fn add_captured(store: &Store, entry: &Entry, standing: &mut Standing) -> Result<()> {
    if entry.artifact_count == 0 {
        return Ok(());
    }
    let captured = match store.artifacts(&entry.id) {
        Ok(captured) => captured,
        // The document can be read; `restore` reports the damaged files.
        Err(Error::Corrupt { .. } | Error::NotFound { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    // The hash of a captured file is certain, so that of the document is ignored.
    let paths: HashSet<&str> = captured.iter().map(|it| it.path.as_str()).collect();
    standing.snapshot.files.retain(|file| !paths.contains(file.path.as_str()));
    standing.snapshot.files.extend(captured.iter().map(|artifact| NamedFile {
        path: artifact.path.clone(),
        hash: artifact.sha256.map(|hash| hash.to_string()),
        status: Some(artifact.status.as_str().to_owned()),
    }));
    Ok(())
}

/// Returns why a readable checkpoint cannot be resumed.
#[must_use]
pub fn hurdles(entry: &Entry, standing: &Standing) -> Vec<Hurdle> {
    let mut hurdles = Vec::new();
    if entry.can_resume == Some(false) {
        hurdles.push(Hurdle::CannotResume { warnings: entry.warnings.clone() });
    }
    if !standing.refusals.is_empty() {
        hurdles.push(Hurdle::Refused { problems: standing.refusals.clone() });
    }
    if entry.status.is_over() {
        hurdles.push(Hurdle::Ended { status: entry.status });
    }
    hurdles
}

/// Puts problems that make a document invalid first, and reports each field once.
fn with_invalid(mut hurdles: Vec<Hurdle>, problems: &[Problem]) -> Vec<Hurdle> {
    let is_newer = |field: &str| {
        hurdles.iter().any(|hurdle| match hurdle {
            Hurdle::Refused { problems } => {
                problems.iter().any(|it| it.code == Code::Version && it.field == field)
            }
            _ => false,
        })
    };
    // A newer version and an exceeded retry limit do not make a document invalid.
    let is_invalid = |it: &&Problem| match it.code {
        Code::RetryLimit => false,
        Code::Version => it.is_error() && !is_newer(&it.field),
        _ => it.is_error(),
    };
    let invalid: Vec<Problem> = problems.iter().filter(is_invalid).cloned().collect();
    if invalid.is_empty() {
        return hurdles;
    }
    hurdles.retain_mut(|hurdle| {
        let Hurdle::Refused { problems } = hurdle else { return true };
        problems.retain(|it| !invalid.iter().any(|other| is_inside(&it.field, &other.field)));
        !problems.is_empty()
    });
    hurdles.insert(0, Hurdle::Invalid { problems: invalid });
    hurdles
}

fn is_inside(field: &str, outer: &str) -> bool {
    field.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// At most `limit` entries of a series, newest first; and damage that leaves no entry.
pub(super) fn entries(
    store: &Store,
    series: &Series,
    depth: usize,
) -> Result<(Vec<Entry>, Vec<String>)> {
    let mut entries = Vec::new();
    let mut damage = Vec::new();
    for entry in store.newest_of(series, depth)? {
        match entry {
            Ok(entry) => entries.push(entry),
            Err(error) => damage.push(error.to_string()),
        }
    }
    Ok((entries, damage))
}
