//! Facts noted about checkpoints after they were saved: how the work ended, and the trigger.

use std::collections::BTreeSet;

use crate::checkpoint::{Entry, Id, Series, Status, Timestamp, Trigger};
use crate::codec::NameKind;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::keep::operation::{Action, Operation};
use crate::store::transaction::lookup::not_found;
use crate::store::transaction::writer::Writer;

impl Store {
    /// Gives checkpoints another status: all of them, or none if one does not exist.
    ///
    /// [`Entry::updated_at`] becomes the time of the change, from which a policy counts their age.
    ///
    /// # Errors
    /// [`Error::NotFound`] names the one that does not exist.
    pub fn mark(&self, ids: &[Id], status: Status) -> Result<Vec<Entry>> {
        let ids: BTreeSet<&Id> = ids.iter().collect();
        self.mark_found(status, |writer| {
            let found = |id| writer.find(id)?.ok_or_else(|| not_found(id));
            ids.into_iter().map(found).collect()
        })
    }

    /// Gives the checkpoints of a series another status, and returns those that it changed.
    ///
    /// What has ended stays as it ended: by `completed` and `failed` only what is in progress,
    /// paused or unknown is changed, by any other status all. Time grows with the number of
    /// checkpoints of the series.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the series has no checkpoints.
    pub fn mark_series(&self, series: &Series, status: Status) -> Result<Vec<Entry>> {
        self.mark_found(status, |writer| {
            let nothing = || Error::NotFound { wanted: series.to_string().into() };
            let name = writer.name(NameKind::Series, series.as_str())?.ok_or_else(nothing)?;
            let mut entries = writer.of_series(name)?;
            if entries.is_empty() {
                return Err(nothing());
            }
            let is_end = matches!(status, Status::Completed | Status::Failed);
            entries.retain(|entry| !is_end || !has_ended(entry.status));
            Ok(entries)
        })
    }

    /// Sets the trigger of a checkpoint that was saved without knowing it.
    ///
    /// # Errors
    /// [`Error::NotFound`] if it does not exist.
    pub fn set_trigger(&self, id: &Id, trigger: Trigger) -> Result<Entry> {
        self.shared.write(|writer| {
            let entry = writer.find(id)?.ok_or_else(|| not_found(id))?;
            let new = Entry { trigger, ..entry.clone() };
            if new != entry {
                writer.replace(&entry, &new)?;
            }
            Ok(new)
        })
    }

    fn mark_found(
        &self,
        status: Status,
        find: impl FnOnce(&mut Writer<'_>) -> Result<Vec<Entry>>,
    ) -> Result<Vec<Entry>> {
        let now = (self.shared.options.clock)();
        self.shared.write(|writer| {
            let mut entries = find(writer)?;
            entries.retain(|entry| entry.status != status);
            for entry in &mut entries {
                writer.mark(entry, status, now)?;
            }
            if !entries.is_empty() {
                writer.log(Operation::new(action(status), now).on(&entries))?;
            }
            Ok(entries)
        })
    }
}

impl Writer<'_> {
    fn mark(&mut self, entry: &mut Entry, status: Status, now: Timestamp) -> Result<()> {
        let new = Entry { status, updated_at: Some(now), ..entry.clone() };
        self.replace(entry, &new)?;
        *entry = new;
        Ok(())
    }
}

fn has_ended(status: Status) -> bool {
    match status {
        Status::Completed | Status::Failed | Status::Archived => true,
        Status::InProgress | Status::Paused | Status::Unknown => false,
    }
}

fn action(status: Status) -> Action {
    match status {
        Status::Completed => Action::Complete,
        Status::Failed => Action::Fail,
        Status::Archived => Action::Archive,
        Status::InProgress | Status::Paused | Status::Unknown => Action::Mark,
    }
}
