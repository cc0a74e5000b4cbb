//! Checkpoints of a series, read and checked, and what stands in the way of going on from them.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

use crate::checkpoint::{Checkpoint, Entry, Series, Status, Trigger};
use crate::error::{Error, Result};
use crate::layouts::{NamedFile, Problem, Standing, standing};
use crate::store::Store;

/// A checkpoint that work might go on from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// What is known about it without its document.
    #[serde(flatten)]
    pub entry: Entry,
    /// What its document says about how good the work is; nothing, if that cannot be read.
    pub standing: Standing,
    /// What stands in the way.
    pub hurdles: Vec<Hurdle>,
}

/// Why work cannot go on from a checkpoint. Printed as a sentence without its subject.
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
    /// Its system would not take it: it is from the future, or something is missing.
    Refused {
        /// What is wrong, by field.
        problems: Vec<Problem>,
    },
    /// Nothing forbids it, but things have gone wrong before it.
    Unsafe,
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
            Self::Refused { problems } => {
                let problems: Vec<String> = problems.iter().map(Problem::to_string).collect();
                write!(f, "is nothing that its system resumes from: {}", problems.join("; "))
            }
            Self::Unsafe => f.write_str("is not safe to go on from"),
            Self::Ended { status } => write!(f, "is {status}"),
        }
    }
}

impl Candidate {
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

    /// Whether it was saved where work can be taken up cleanly.
    pub(super) fn is_boundary(&self) -> bool {
        matches!(
            self.entry.trigger,
            Trigger::PhaseBoundary | Trigger::PhaseTransition | Trigger::PreRiskyOp
        )
    }
}

/// A checkpoint with what it says, and itself if it can be read.
pub(super) type Read = (Candidate, Option<Checkpoint>);

/// Reads a checkpoint; `None` if it was deleted since it was listed.
pub(super) fn read(store: &Store, entry: Entry) -> Result<Option<Read>> {
    let found = store.get(&entry.id);
    let found = found.and_then(|checkpoint| Ok((checkpoint.document()?, checkpoint)));
    let (document, checkpoint) = match found {
        Ok((document, checkpoint)) => (document, checkpoint),
        Err(error @ (Error::Corrupt { .. } | Error::Invalid { .. } | Error::Limit { .. })) => {
            // How the work ended is known without its document.
            let ended = entry.status.is_over().then_some(Hurdle::Ended { status: entry.status });
            let damaged = Hurdle::Damaged { reason: error.to_string() };
            let hurdles = [damaged].into_iter().chain(ended).collect();
            let standing = Standing::default();
            return Ok(Some((Candidate { entry, standing, hurdles }, None)));
        }
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut standing = standing(&entry, &document);
    add_captured(store, &entry, &mut standing)?;
    let hurdles = hurdles(&entry, &standing);
    Ok(Some((Candidate { entry, standing, hurdles }, Some(checkpoint))))
}

/// Reads a checkpoint to be judged among many, and keeps of its document what that takes.
///
/// A document may name thousands of files and tasks.
pub(super) fn judged(store: &Store, entry: Entry) -> Result<Option<Candidate>> {
    let Some((mut candidate, _)) = read(store, entry)? else { return Ok(None) };
    let Standing { score, failures, failing, tests_passing, error, .. } = candidate.standing;
    // That there is one, and not what it says.
    let error = error.map(|_| String::new());
    candidate.standing =
        Standing { score, failures, failing, error, tests_passing, ..Standing::default() };
    Ok(Some(candidate))
}

/// Files that were captured are what the work was based on, too.
fn add_captured(store: &Store, entry: &Entry, standing: &mut Standing) -> Result<()> {
    if entry.artifact_count == 0 {
        return Ok(());
    }
    let captured = match store.artifacts(&entry.id) {
        Ok(captured) => captured,
        // The document is whole; `restore` tells what is wrong with the files.
        Err(Error::Corrupt { .. } | Error::NotFound { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    // What was captured is known to be right, whatever the document says about it.
    let paths: HashSet<&str> = captured.iter().map(|it| it.path.as_str()).collect();
    standing.snapshot.files.retain(|file| !paths.contains(file.path.as_str()));
    standing.snapshot.files.extend(captured.iter().map(|artifact| NamedFile {
        path: artifact.path.clone(),
        hash: artifact.sha256.map(|hash| hash.to_string()),
        status: Some(artifact.status.as_str().to_owned()),
    }));
    Ok(())
}

/// Returns what stands in the way of going on from a checkpoint that can be read.
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

/// Entries of a series, the newest first, at most so many; and damage that leaves no entry.
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
