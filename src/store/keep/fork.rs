//! Forks: a checkpoint saved again, to go on from in another series or in its own.
//!
//! Never changes the original, and never takes over its file: a copy came from no file.
//!
//! A fork stores the very bytes of the original document, under what the caller says and otherwise
//! what was said about the original. It came from no file, so an export never writes it in place of
//! one. It names neither loop nor workflow unless told: a query for the newest of a loop must not
//! return what another series continues from. A rollback is a fork into the same series. Like every
//! save that the store dates, it becomes the newest.

use crate::checkpoint::{Artifact, Checkpoint, Entry, Id, Layout, NewArtifact, NewEntry, Series};
use crate::error::{Error, Result};
use crate::key::RecordKey;
use crate::store::Store;
use crate::store::engine::fault::In;
use crate::store::engine::table::{CHILDREN, open_if_made};
use crate::store::transaction::snapshot::Snapshot;

impl Store {
    /// Returns the checkpoints of other series that were forked from one of these.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if one of them is damaged, or that the store cannot be read.
    pub fn forks(&self, entries: &[Entry]) -> Result<Vec<Entry>> {
        self.read(|snapshot| snapshot.forks(entries))
    }

    /// Saves the document of a checkpoint again under `about`, to go on from there, and returns the
    /// entry of the copy once it is durable. The copy has the checkpoint as its parent.
    ///
    /// It goes into the series that `about` names, by itself or by its loop, workflow or issue. If
    /// it names none, the copy goes into the series of the checkpoint: a rollback, after which all
    /// that was there still is. Either way it is the newest of its series from then on, even if
    /// others are dated ahead, unless `about` dates it.
    ///
    /// What `about` does not say is as with the checkpoint: issue, kind of workflow, agent, phase,
    /// step, iteration, whether and where to go on, warnings and layout; of a rollback its loop and
    /// workflow, too. Id, tags, session, retention and the file that it came from are not taken
    /// over, and its work goes on unless `about` says otherwise. Files that were captured with the
    /// checkpoint are captured with the copy, too.
    ///
    /// ```
    /// use waypost::{NewEntry, Series, Store};
    ///
    /// # fn main() -> waypost::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::open(dir.path().join("store.redb"))?;
    /// let first = store.save(NewEntry::default(), &1)?;
    /// store.save(NewEntry::default(), &2)?;
    /// let series = Some(Series::new("retry")?);
    /// let fork = store.fork(&first.id, NewEntry { series, ..NewEntry::default() })?;
    /// assert_eq!(fork.parent, Some(first.id.clone()));
    /// // A rollback: the first is the newest of its series again.
    /// store.fork(&first.id, NewEntry::default())?;
    /// assert_eq!(store.get(&store.resolve("default@0")?.id)?.state::<i32>()?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// As long as a copy in another series is there, no policy removes what it was forked from.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no such checkpoint, [`Error::Corrupt`] if it is damaged,
    /// [`Error::Invalid`] if it is a file that could not be read, and as [`Store::save`].
    pub fn fork(&self, id: &Id, about: NewEntry) -> Result<Entry> {
        // Document and files from one snapshot: a moment later the id may belong to another
        // checkpoint.
        let (checkpoint, artifacts) = self.get_with_artifacts(id, |checkpoint, files| {
            refuse_unreadable(&checkpoint)?;
            let copy = |file: Result<(Artifact, Option<Vec<u8>>)>| {
                let (Artifact { path, mode, status, .. }, content) = file?;
                Ok(NewArtifact { path, content, mode, status })
            };
            Ok((checkpoint, files.map(copy).collect::<Result<Vec<_>>>()?))
        })?;
        // The stored bytes of the document, unchanged.
        let raw = checkpoint.stored_form().to_vec();
        let mut draft = self.draft_raw(completed(about, &checkpoint.entry), raw)?;
        if !artifacts.is_empty() {
            // Contents that the store has are not stored again.
            draft = draft.with_artifacts(artifacts)?;
        }
        self.save_draft(draft)
    }
}

impl Snapshot<'_> {
    /// The checkpoints of other series that were forked from one of these.
    pub(in crate::store) fn forks(&self, entries: &[Entry]) -> Result<Vec<Entry>> {
        let Some(table) = open_if_made(self.transaction(), CHILDREN, self.path)? else {
            return Ok(Vec::new());
        };
        let mut forks = Vec::new();
        for entry in entries {
            let id = entry.id.as_str();
            let rows = (id, RecordKey::MIN.to_bytes())..=(id, RecordKey::MAX.to_bytes());
            for row in table.range(rows).within(self.path)? {
                let key = RecordKey::from_bytes(row.within(self.path)?.0.value().1);
                forks.extend(self.entry(key)?.filter(|child| child.series != entry.series));
            }
        }
        Ok(forks)
    }
}

/// Refuses a checkpoint whose file could not be read: it has no document to continue from.
fn refuse_unreadable(checkpoint: &Checkpoint) -> Result<()> {
    let entry = &checkpoint.entry;
    if !entry.is_unreadable() {
        return Ok(());
    }
    let reason = format_args!("{} has no document: its file could not be read", entry.id);
    Err(Error::invalid("checkpoint", reason))
}

/// Fills what `about` leaves out from the entry.
fn completed(about: NewEntry, entry: &Entry) -> NewEntry {
    let entry = entry.clone();
    let is_rollback = about.series.is_none()
        && about.loop_id.is_none()
        && about.workflow_id.is_none()
        && about.issue.is_none();
    // A query by loop or workflow would take a copy elsewhere for the last checkpoint of that.
    let (series, loop_id, workflow_id) = if is_rollback {
        (entry.series, entry.loop_id, entry.workflow_id)
    } else {
        (Series::of(&about), about.loop_id, about.workflow_id)
    };
    let warnings = if about.warnings.is_empty() { entry.warnings } else { about.warnings };
    let layout = if about.layout == Layout::Native { entry.layout } else { about.layout };
    NewEntry {
        series: Some(series),
        loop_id,
        workflow_id,
        issue: about.issue.or(entry.issue),
        workflow_type: about.workflow_type.or(entry.workflow_type),
        agent: about.agent.or(entry.agent),
        phase: about.phase.or(entry.phase),
        step: about.step.or(entry.step),
        iteration: about.iteration.or(entry.iteration),
        parent: Some(entry.id),
        can_resume: about.can_resume.or(entry.can_resume),
        resume_from: about.resume_from.or(entry.resume_from),
        warnings,
        layout,
        ..about
    }
}
