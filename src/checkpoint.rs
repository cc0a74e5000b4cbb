//! The model: what a checkpoint is, in the words of the whole code base.
//!
//! Knows nothing of bytes, files or clocks.

mod artifact;
mod document;
mod id;
mod layout;
mod name;
mod new_entry;
mod source;
mod status;
mod timestamp;
mod trigger;

use std::sync::Arc;

use std::collections::BTreeSet;

use serde::Serialize;

#[cfg(feature = "transfer")]
pub(crate) use artifact::part_refusal;
pub(crate) use artifact::path_refusal;
pub use artifact::{Artifact, ArtifactStatus, Hash, NewArtifact};
pub use document::Document;
pub(crate) use document::{EXACT, NUMBER, Tree};
pub use id::Id;
pub(crate) use id::LATEST;
pub use layout::Layout;
pub use name::{Issue, LoopId, Series};
pub use new_entry::NewEntry;
pub use source::{Format, SourceForm, Spacing, TextStyle};
pub use status::Status;
pub use timestamp::Timestamp;
pub use trigger::{CustomTrigger, Trigger};

/// One saved state: its [`Entry`] and its document.
///
/// The document stays in stored form until it is asked for, as a type, a tree or JSON text.
///
/// ```
/// use waypost::{NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?, &["plan", "code"])?;
/// let newest = store.latest(&Query::issue("42")?)?.expect("one was saved");
/// assert_eq!(newest.state::<Vec<String>>()?, ["plan", "code"]);
/// assert_eq!(newest.entry.series.as_str(), "issue:42");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// What is known about the checkpoint without its document.
    pub entry: Entry,
    pub(crate) raw: Arc<Vec<u8>>,
}

/// What is indexed and listed about a checkpoint: everything but its document.
///
/// ```
/// use waypost::{NewEntry, Query, Store, Trigger};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?.trigger(Trigger::Manual).iteration(7), &"state")?;
/// for entry in store.list(&Query::issue("42")?)?.entries {
///     assert_eq!((entry.iteration, entry.trigger), (Some(7), Trigger::Manual));
///     assert_eq!(entry.series.as_str(), "issue:42");
/// }
/// # assert_eq!(store.count()?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// Unique in the store.
    pub id: Id,
    /// The line of checkpoints it belongs to, which can be resumed.
    pub series: Series,
    /// The issue it works on.
    pub issue: Option<Issue>,
    /// The loop that wrote it.
    pub loop_id: Option<LoopId>,
    /// The workflow that wrote it.
    pub workflow_id: Option<String>,
    /// The kind of workflow, such as `ralph_loop`.
    pub workflow_type: Option<String>,
    /// The session that wrote it.
    pub session_id: Option<String>,
    /// The agent that wrote it.
    pub agent: Option<String>,
    /// Why it was saved.
    pub trigger: Trigger,
    /// The phase of the work.
    pub phase: Option<String>,
    /// The step within the phase.
    pub step: Option<String>,
    /// The iteration of the loop; zero is legal.
    pub iteration: Option<u64>,
    /// Where the work stands.
    pub status: Status,
    /// When it was saved, by the clock or the caller. Not unique, and may go backwards.
    pub created_at: Timestamp,
    /// Its place in the order of checkpoints, if that differs from `created_at`: the store dated
    /// it, and an earlier checkpoint has a later date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordered_at: Option<Timestamp>,
    /// When the work last changed, if the source says so.
    pub updated_at: Option<Timestamp>,
    /// The checkpoint it continues or was forked from.
    pub parent: Option<Id>,
    /// Tagged checkpoints are never pruned.
    pub tags: BTreeSet<String>,
    /// Whether the work can continue from here, if the source says so.
    pub can_resume: Option<bool>,
    /// Where to go on.
    pub resume_from: Option<String>,
    /// Warnings for a person before resuming.
    pub warnings: Vec<String>,
    /// Overrides the age limit of the policy for this checkpoint.
    pub retention_days: Option<u32>,
    /// The file layout it came from.
    pub layout: Layout,
    /// The file it came from, relative to the imported root.
    pub source_path: Option<String>,
    /// What else is needed to write that file again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceForm>,
    /// Breaks ties between equal times: the order of arrival. Zero in the entry that a spooled save
    /// returns, since the store has not taken it in yet.
    pub sequence: u64,
    /// Length of the document in stored form, before compression.
    pub document_bytes: u64,
    /// Length of the document on disk. May shrink when a spooled save is taken in.
    pub stored_bytes: u64,
    /// Number of files that were captured with it.
    #[serde(skip_serializing_if = "is_zero")]
    pub artifact_count: u64,
}

impl Entry {
    /// The place in the order of checkpoints: of two, the one with the larger place is the newer.
    ///
    /// Every listing, `latest`, `NAME@N`, resuming and retention follow it. A checkpoint with a
    /// stated time is ordered at that time. One that the store dated is ordered after everything
    /// saved before it, whatever the clock showed.
    #[must_use]
    pub fn order(&self) -> (Timestamp, u64) {
        (self.ordered_at.unwrap_or(self.created_at), self.sequence)
    }

    /// Whether its file could not be read as a document. Its bytes are kept, and its document is
    /// null.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        self.source.is_some_and(|source| source.format == Format::Unreadable)
    }

    /// Length before compression: the document, and the text behind it if that is kept.
    pub(crate) fn raw_bytes(&self) -> u64 {
        let text_bytes = self.source.map_or(0, |source| source.text_bytes);
        self.document_bytes.saturating_add(text_bytes)
    }
}

// serde hands out a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
