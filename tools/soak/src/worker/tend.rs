//! What is done to checkpoints once they are there: tags, deletes, prunes, compactions.

use anyhow::Result;
use waypost::{Store, Timestamp, plan};

use super::Worker;
use crate::kind::{policy, tag};
use crate::note::{Note, Work};

/// How many of its ring a worker protects.
pub(crate) const TAGGED_MAX: usize = 4;

impl Worker {
    /// Protects the newest of the ring, and no longer the one that was for longest.
    pub(super) fn tag(&mut self) -> Result<()> {
        let Some((number, id)) = self.last.clone() else { return Ok(()) };
        if self.tagged.iter().any(|(tagged, _)| *tagged == number) {
            return Ok(());
        }
        let tags = [tag(self.orders.worker)];
        if self.call(Work::Tag, |store| store.tag(&id, &tags))?.is_some() {
            self.note(&Note::Tagged { number })?;
            self.tagged.push_back((number, id));
        }
        while self.tagged.len() > TAGGED_MAX {
            let Some((number, id)) = self.tagged.front().cloned() else { break };
            self.note(&Note::Untagging { number })?;
            if self.call(Work::Untag, |store| store.untag(&id, &tags))?.is_none() {
                break;
            }
            self.tagged.pop_front();
        }
        Ok(())
    }

    /// Deletes one of those that it keeps: for good, for some time, or for a moment.
    pub(super) fn delete(&mut self) -> Result<()> {
        let Some((number, id)) = self.random.choose(&self.kept).cloned() else { return Ok(()) };
        let is_final = self.random.one_in(2);
        let ids = [id];
        self.note(&Note::Deleting { number })?;
        let deleted = self.call(Work::Delete, |store| {
            if is_final { store.delete_now(&ids) } else { store.delete(&ids) }
        })?;
        if deleted.is_none() {
            return Ok(());
        }
        let is_restored = !is_final
            && self.random.one_in(2)
            && self.call(Work::Undelete, |store| store.undelete(&ids))?.is_some();
        if is_restored {
            return self.note(&Note::Restored { number });
        }
        self.kept.retain(|(kept, _)| *kept != number);
        self.note(&Note::Deleted { number })
    }

    /// Prunes the whole store by the policy, and takes that back now and then.
    pub(super) fn prune(&mut self) -> Result<()> {
        let (is_final, is_undone) = (self.random.one_in(2), self.random.one_in(8));
        let deleted = self.call(Work::Prune, |store| {
            let entries = store.inventory(None)?;
            let plan = plan(&entries, &policy(), Timestamp::now());
            if is_final { store.apply_now(&plan) } else { store.apply(&plan) }
        })?;
        let operation = deleted.filter(|it| it.is_restorable).and_then(|it| it.operation);
        if let Some(operation) = operation.filter(|_| is_undone) {
            self.call(Work::Undelete, |store| store.undelete_operation(operation))?;
        }
        Ok(())
    }

    pub(super) fn compact(&mut self) -> Result<()> {
        self.call(Work::Compact, Store::compact).map(drop)
    }
}
