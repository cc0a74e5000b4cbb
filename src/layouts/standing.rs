//! Where the work of a checkpoint stands, in words that all layouts share.
//!
//! Must never guess: what a document does not say is absent.

mod graph;
mod shared;
mod spelled;
pub(super) mod told;
pub(super) mod unmet;

use serde::Serialize;

use super::pipeline::{Assignment, ExceededRetry};
use super::{Problem, agentize, aiwg, claude, crunch, native, pipeline};
use crate::checkpoint::{Document, Entry, Issue, Layout};

pub use graph::{Batch, Graph, GraphNode};
pub use shared::{Knowledge, Messages};

/// What a document says about the work: progress, failures, and what it was based on.
///
/// See [`standing()`](standing()) for an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Standing {
    /// The description of the work, as its author wrote it.
    pub description: Option<String>,
    /// The version of the document's schema, as it is written.
    pub version: Option<String>,
    /// Why the work cannot go on from this document: its version is too new, or a field is missing
    /// that its system needs to resume.
    pub refusals: Vec<Problem>,
    /// The progress of the work.
    pub progress: Option<Progress>,
    /// Tasks that are done; `None` if the document has no such list.
    pub tasks_done: Option<Vec<String>>,
    /// Tasks that remain.
    pub tasks_remaining: Option<Vec<String>>,
    /// What was done last, in words.
    pub last_action: Option<String>,
    /// What the last review said, in full.
    pub last_feedback: Option<String>,
    /// The last score of the work; comparable only within a series.
    #[serde(serialize_with = "spelled::number")]
    pub score: Option<f64>,
    /// Number of failures, as its system counts them: in total, or consecutive.
    pub failures: Option<u64>,
    /// Number of present failures, such as failing tests or consecutive failed tries.
    pub failing: Option<u64>,
    /// The error that the document ends with, in its own words.
    pub error: Option<String>,
    /// Whether tests passed, where the system asks for that.
    pub tests_passing: Option<bool>,
    /// Prerequisites of going on that are not met, by name; empty if it only says that some are
    /// not, `None` if it does not say so.
    pub unmet_prerequisites: Option<Vec<String>>,
    /// Retry counters of a pipeline that are beyond their limits.
    pub retries_exceeded: Vec<ExceededRetry>,
    /// What the state of its pipeline says about a story, where a store has that state: a document
    /// alone does not tell.
    pub assignment: Option<Assignment>,
    /// The first action of its system after a resume, in a sentence.
    pub next: Option<String>,
    /// What the work was based on when it was saved.
    pub snapshot: Snapshot,
    /// The tasks as a graph, where its system has one.
    pub graph: Option<Graph>,
    /// Messages between agents that are under way; `None` if the document does not say.
    pub messages: Option<Messages>,
    /// What was taken from and put into a knowledge base; `None` if the document does not say.
    pub knowledge: Option<Knowledge>,
}

/// The progress of work in parts.
///
/// See [`standing()`](standing()) for an example.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Progress {
    /// What is counted: `phase`, `task`, `step`, `iteration`, `batch`, `stage`, `story`.
    pub unit: &'static str,
    /// How many are done.
    pub done: u64,
    /// How many there are, if that is known.
    pub total: Option<u64>,
    /// The name of the next part, such as `Phase 3 (implement)`.
    pub next: Option<String>,
}

/// Branch, issue and files at the time of the checkpoint, as its document records them.
///
/// ```
/// use waypost::layouts::standing;
/// use waypost::{Document, Layout, NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let document = Document::from_json(br#"{"issue_number": 42, "issue_snapshot":
///     {"branch": "fix-tests"}, "files_modified": [{"path": "a.txt", "status": "modified"}]}"#)?;
/// let about = NewEntry { layout: Layout::Crunch, ..NewEntry::default() };
/// let snapshot = standing(&store.save(about, &document)?, &document).snapshot;
/// assert_eq!(snapshot.branch.as_deref(), Some("fix-tests"));
/// assert_eq!(snapshot.files[0].path, "a.txt");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The issue that was worked on.
    pub issue: Option<Issue>,
    /// The branch that was worked on.
    pub branch: Option<String>,
    /// The text of the issue.
    pub body: Option<String>,
    /// The labels of the issue; `None` if the document has no such list.
    pub labels: Option<Vec<String>>,
    /// The directory that was worked in.
    pub worktree: Option<String>,
    /// The plan that was followed.
    pub plan_file: Option<String>,
    /// When the plan had been changed last, in seconds since 1970.
    #[serde(serialize_with = "spelled::time")]
    pub plan_modified_at: Option<i64>,
    /// Files that the work made or changed.
    pub files: Vec<NamedFile>,
    /// The pull request, by number or address.
    pub pull_request: Option<String>,
}

/// A file that a document names.
///
/// See [`Snapshot`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NamedFile {
    /// As it is written; not to be trusted as a path.
    pub path: String,
    /// The hash of its content, as it is written.
    pub hash: Option<String>,
    /// What happened to it: `created`, `modified`, `deleted`, `unchanged`, or another word.
    pub status: Option<String>,
}

/// Returns where the work of a checkpoint stands.
///
/// It reads the document by the layout of the entry, and handles every kind of file of that layout.
/// A field of a wrong type is ignored. Of long lists the first 10,000 elements are kept. Grows with
/// the size of the document.
///
/// ```
/// use waypost::{Document, Layout, NewEntry, Store};
/// use waypost::layouts::standing;
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let json = br#"{"storyId": "PROJ-42", "stage": 2, "lastAction": "wrote the parser",
///     "tasksCompleted": ["PROJ-101"], "tasksRemaining": ["PROJ-102", "PROJ-103"]}"#;
/// let document = Document::from_json(json)?;
/// let about = NewEntry { layout: Layout::Pipeline, ..NewEntry::default() };
/// let entry = store.save(about, &document)?;
/// let standing = standing(&entry, &document);
/// let progress = standing.progress.expect("tasks");
/// assert_eq!((progress.done, progress.total), (1, Some(3)));
/// assert_eq!(progress.next.as_deref(), Some("PROJ-102"));
/// assert_eq!(standing.next.as_deref(), Some("Continue from remaining tasks only."));
/// assert!(standing.refusals.is_empty());
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn standing(entry: &Entry, document: &Document) -> Standing {
    match entry.layout {
        Layout::Native => native::standing(entry, document),
        Layout::Agentize => agentize::standing(entry, document),
        Layout::Crunch => crunch::standing(entry, document),
        Layout::Claude => claude::standing(entry, document),
        Layout::Pipeline => pipeline::standing(entry, document),
        Layout::Aiwg => aiwg::standing(entry, document),
    }
}
