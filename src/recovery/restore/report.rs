//! The report of a restore: what each step found and did.
//!
//! As JSON it is what `waypost restore --json` prints; `src/docs/JSON.md` promises its members.

use std::fmt;
use std::path::PathBuf;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::Restore;
use super::named::Compared;
use crate::checkpoint::{Document, Entry, Hash, Id, TextStyle};
use crate::error::Result;
use crate::store::lossy;

/// The report of a restore, or of a dry run.
///
/// ```
/// use waypost::artifact::ArtifactStatus;
/// use waypost::recovery::restore::{FileOutcome, Restore, StepName, StepOutcome};
/// use waypost::{NewArtifact, NewEntry, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// # let (path, content) = ("notes.md".to_owned(), Some(b"notes".to_vec()));
/// # let notes = NewArtifact { path, content, mode: None, status: ArtifactStatus::Created };
/// # let draft = store.draft(NewEntry::default(), &"state")?.with_artifacts(vec![notes])?;
/// let saved = store.save_draft(draft)?; // With the file notes.md.
/// let how = Restore { into: dir.path().to_owned(), dry_run: true, ..Restore::default() };
/// let restored = store.restore(&saved, &how)?;
/// assert_eq!(restored.files[0].outcome, FileOutcome::WouldCreate);
/// let first = &restored.steps[0];
/// assert_eq!((first.name, first.outcome), (StepName::Validate, StepOutcome::Ok));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Restored {
    /// The checkpoint.
    pub id: Id,
    /// The directory, as it was named.
    #[serde(serialize_with = "lossy::path")]
    pub into: PathBuf,
    /// Whether nothing was to be changed.
    pub dry_run: bool,
    /// All six steps, in their order.
    pub steps: Vec<RestoreStep>,
    /// The result for each file, in the order of their paths. After a failure, those that were
    /// written or removed.
    pub files: Vec<RestoredFile>,
    /// Files that only later checkpoints captured, and that are still there.
    pub left: Vec<String>,
    /// Files that the document names but that were not captured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Compared>,
    /// The variables that the document carries. As JSON numbers are spelled as they were, and
    /// those that JSON does not have, such as NaN, are null.
    #[serde(serialize_with = "exact")]
    pub variables: Option<Document>,
    /// The agent state that the document carries; as JSON like the variables.
    #[serde(serialize_with = "exact")]
    pub agent_state: Option<Document>,
    /// The file that variables and agent state were written to.
    #[serde(serialize_with = "lossy::option")]
    pub state_file: Option<PathBuf>,
    /// The path where the previous state file is kept.
    #[serde(serialize_with = "lossy::option")]
    pub state_kept_as: Option<PathBuf>,
    /// See [`Entry::phase`].
    pub phase: Option<String>,
    /// See [`Entry::step`].
    pub step: Option<String>,
    /// See [`Entry::iteration`].
    pub iteration: Option<u64>,
    /// See [`Entry::resume_from`].
    pub resume_from: Option<String>,
    /// See [`Entry::can_resume`].
    pub can_resume: Option<bool>,
    /// See [`Entry::warnings`].
    pub warnings: Vec<String>,
    /// What the search for later files could not read, or left out.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// One step of a restore.
///
/// See [`Restored`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RestoreStep {
    /// Which one.
    #[serde(rename = "step")]
    pub name: StepName,
    /// How it ended.
    pub outcome: StepOutcome,
    /// What was found or done, for a person.
    pub message: String,
    /// More of that, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
}

/// The steps of a restore, by the names that AIWG gives them.
///
/// See [`Restored`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum StepName {
    /// Reads everything, before anything is written.
    #[serde(rename = "validate_checkpoint_integrity")]
    Validate,
    /// Writes files.
    #[serde(rename = "restore_artifacts")]
    Artifacts,
    /// Reports the variables.
    #[serde(rename = "restore_variables")]
    Variables,
    /// Reports the agent state, and writes both to the state file.
    #[serde(rename = "restore_agent_state")]
    AgentState,
    /// Reads back what was written.
    #[serde(rename = "verify_state")]
    Verify,
    /// Says where work goes on, or why it cannot.
    #[serde(rename = "resume_or_fail")]
    Resume,
}

/// How a step ended.
///
/// See [`Restored`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// All is well.
    Ok,
    /// It was done, with a warning.
    Warning,
    /// It failed; no later step was taken.
    Failed,
    /// It was not taken: an earlier step failed, or nothing was to be written.
    Skipped,
}

/// The result for a file, or that of a dry run.
///
/// See [`Restored`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RestoredFile {
    /// The path, from the directory of the restore.
    pub path: String,
    /// What became of it.
    #[serde(rename = "action")]
    pub outcome: FileOutcome,
    /// The hash of its content in the checkpoint; `None` if the checkpoint does not have it.
    pub sha256: Option<Hash>,
    /// The permissions it was captured with.
    pub mode: Option<u32>,
    /// The permissions of the file that was there.
    pub mode_before: Option<u32>,
    /// Length of its content in the checkpoint.
    pub bytes: u64,
    /// Length of the file that was there.
    pub bytes_before: Option<u64>,
    /// The path where the previous file is kept, from the directory of the restore.
    pub kept_as: Option<String>,
}

/// The action on a file, or that of a dry run.
///
/// See [`Restored`] for an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOutcome {
    /// It was created.
    Created,
    /// It replaced a file.
    Replaced,
    /// It was moved away.
    Removed,
    /// It was up to date.
    Unchanged,
    /// It would be created.
    WouldCreate,
    /// It would replace a file.
    WouldReplace,
    /// It would be moved away.
    WouldRemove,
}

impl Restored {
    /// The report before the first step.
    pub(super) fn new(entry: &Entry, how: &Restore) -> Self {
        Self {
            id: entry.id.clone(),
            into: how.into.clone(),
            dry_run: how.dry_run,
            steps: Vec::new(),
            files: Vec::new(),
            left: Vec::new(),
            compared: Vec::new(),
            variables: None,
            agent_state: None,
            state_file: None,
            state_kept_as: None,
            phase: entry.phase.clone(),
            step: entry.step.clone(),
            iteration: entry.iteration,
            resume_from: entry.resume_from.clone(),
            can_resume: entry.can_resume,
            warnings: entry.warnings.clone(),
            notes: Vec::new(),
        }
    }

    /// Returns how many files that the document names are known to differ from it.
    ///
    /// They were not captured, so a restore leaves them as they are.
    #[must_use]
    pub fn differing(&self) -> u64 {
        self.compared.iter().filter(|it| it.differs()).count() as u64
    }

    /// Adds the steps that were not reached.
    pub(super) fn with_skipped(mut self) -> Self {
        let mut given = std::mem::take(&mut self.steps);
        for name in StepName::ALL {
            let at = given.iter().position(|it| it.name == name);
            self.steps.push(match at {
                Some(at) => given.remove(at),
                None => RestoreStep {
                    name,
                    outcome: StepOutcome::Skipped,
                    message: "not come to".to_owned(),
                    details: Vec::new(),
                },
            });
        }
        self
    }
}

impl StepName {
    /// Every step, in their order.
    pub const ALL: [Self; 6] = [
        Self::Validate,
        Self::Artifacts,
        Self::Variables,
        Self::AgentState,
        Self::Verify,
        Self::Resume,
    ];

    /// The name in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Validate => "validate_checkpoint_integrity",
            Self::Artifacts => "restore_artifacts",
            Self::Variables => "restore_variables",
            Self::AgentState => "restore_agent_state",
            Self::Verify => "verify_state",
            Self::Resume => "resume_or_fail",
        }
    }
}

impl StepOutcome {
    /// The name in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl fmt::Display for FileOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Created => "created",
            Self::Replaced => "replaced",
            Self::Removed => "removed",
            Self::Unchanged => "unchanged",
            Self::WouldCreate => "would create",
            Self::WouldReplace => "would replace",
            Self::WouldRemove => "would remove",
        })
    }
}

/// Spells numbers as in the document, unlike the usual serialization.
#[expect(clippy::ref_option, reason = "so it is called for a field")]
fn exact<S: Serializer>(value: &Option<Document>, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(value) = value else { return serializer.serialize_none() };
    let raw = |value: &Document| {
        let text = value.to_json(TextStyle::default()).map_err(S::Error::custom)?;
        RawValue::from_string(text).map_err(S::Error::custom)
    };
    // Only NaN or infinity can fail here.
    raw(value).or_else(|_| raw(&finite(value)))?.serialize(serializer)
}

/// A document with null for each number that JSON does not have.
fn finite(document: &Document) -> Document {
    match document {
        Document::Float(value) if !value.is_finite() => Document::Null,
        Document::Array(items) => Document::Array(items.iter().map(finite).collect()),
        Document::Object(fields) => {
            let finite = |(name, value): &(String, Document)| (name.clone(), finite(value));
            Document::Object(fields.iter().map(finite).collect())
        }
        other => other.clone(),
    }
}
