//! Steps that change or remove what was saved.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use super::super::model::{Saved, ring};
use super::{Attempt, Workload, attempted};
use crate::checkpoint::{Entry, Id, NewEntry, Series, Status, Timestamp, Trigger};
use crate::retention::{Policy, Rule, plan};

impl Workload {
    pub(super) fn delete(&mut self, now: bool) -> Attempt {
        let count = 1 + self.chance.below(3);
        let ids = self.choose(count);
        if now {
            let states = vec![self.model.without(&ids)];
            let outcome = self.store.delete_now(&ids).map(drop);
            return attempted("delete_now", states, outcome);
        }
        let states = vec![self.model.deleted(&ids)];
        let outcome = self.store.delete(&ids).map(drop);
        attempted("delete", states, outcome)
    }

    pub(super) fn undelete(&mut self) -> Attempt {
        let ids: Vec<Id> = self.model.deleted.keys().take(2).cloned().collect();
        let states = vec![self.model.restored(&ids)];
        let outcome = self.store.undelete(&ids).map(drop);
        attempted("undelete", states, outcome)
    }

    pub(super) fn tag(&mut self) -> Attempt {
        let Some(id) = self.choose(1).pop() else { return self.look() };
        let tag = format!("tag {}", self.chance.below(3));
        let tags = std::slice::from_ref(&tag);
        if self.model.present[&id].entry.tags.contains(&tag) {
            let states = vec![self.model.changed(&id, |entry| _ = entry.tags.remove(&tag))];
            let outcome = self.store.untag(&id, tags).map(drop);
            return attempted("untag", states, outcome);
        }
        let states = vec![self.model.changed(&id, |entry| _ = entry.tags.insert(tag.clone()))];
        let outcome = self.store.tag(&id, tags).map(drop);
        attempted("tag", states, outcome)
    }

    pub(super) fn mark(&mut self) -> Attempt {
        let Some(id) = self.choose(1).pop() else { return self.look() };
        let status = [Status::Completed, Status::Failed][self.chance.below(2)];
        let now = Timestamp::from_micros(self.clock.load(Ordering::Relaxed));
        let mark = |entry: &mut Entry| {
            if entry.status != status {
                (entry.status, entry.updated_at) = (status, Some(now));
            }
        };
        let after = self.model.changed(&id, mark);
        let outcome = self.store.mark(&[id], status).map(drop);
        attempted("mark", vec![after], outcome)
    }

    pub(super) fn fork(&mut self) -> Attempt {
        let Some(parent) = self.choose(1).pop() else { return self.look() };
        let id = self.own_id();
        let series = Series::new(format!("fork {}", self.chance.below(2))).expect("a name");
        let now = Timestamp::from_micros(self.clock.load(Ordering::Relaxed));
        let original = Saved::clone(&self.model.present[&parent]);
        let entry = Entry {
            id: id.clone(),
            series: series.clone(),
            parent: Some(parent.clone()),
            trigger: Trigger::Unknown,
            status: Status::InProgress,
            tags: BTreeSet::new(),
            created_at: now,
            updated_at: None,
            ..original.entry.clone()
        };
        let states = vec![self.model.with(Saved { entry, ..original })];
        let about = NewEntry { id: Some(id), series: Some(series), ..NewEntry::default() };
        let outcome = self.store.fork(&parent, about).map(drop);
        attempted("fork", states, outcome)
    }

    /// By a plan for the whole store.
    pub(super) fn prune(&mut self) -> Attempt {
        let triggers = vec![Trigger::Iteration];
        let rule = Rule { triggers, keep_last: Some(2), ..Rule::default() };
        let policy = Policy { rules: vec![rule], ..Policy::default() };
        let now = Timestamp::from_micros(self.clock.load(Ordering::Relaxed));
        let entries = match self.store.inventory(None) {
            Ok(entries) => entries,
            Err(error) => return attempted("prune", Vec::new(), Err(error)),
        };
        let plan = plan(&entries, &policy, now);
        let ids: Vec<Id> = plan.removed().map(|it| it.entry.id.clone()).collect();
        if self.chance.happens(50) {
            let states = vec![self.model.deleted(&ids)];
            let outcome = self.store.apply(&plan).map(drop);
            return attempted("prune", states, outcome);
        }
        let states = vec![self.model.without(&ids)];
        let outcome = self.store.apply_now(&plan).map(drop);
        attempted("prune_now", states, outcome)
    }

    /// Some checkpoints that pruning on save has nothing to do with.
    pub(super) fn choose(&mut self, count: usize) -> Vec<Id> {
        let present = self.model.present.iter();
        let mut ids: Vec<Id> = present
            .filter(|(_, it)| it.entry.trigger != ring())
            .map(|(id, _)| id.clone())
            .collect();
        let mut chosen = Vec::new();
        while chosen.len() < count && !ids.is_empty() {
            chosen.push(ids.swap_remove(self.chance.below(ids.len())));
        }
        chosen
    }
}
