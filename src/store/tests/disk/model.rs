//! The required content of a store: everything saved and not removed, byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::keys;
use crate::checkpoint::{Entry, Id, Series, Timestamp, Trigger};
use crate::codec::KeyId;
use crate::store::Draft;

/// How many checkpoints saved for [`ring`] stay in each series.
pub(super) const RING_KEPT: usize = 3;

/// The trigger of saves that are pruned on save.
pub(super) fn ring() -> Trigger {
    Trigger::Heartbeat
}

/// A checkpoint as a reader must get it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Saved {
    pub(super) entry: Entry,
    pub(super) raw: Arc<Vec<u8>>,
    /// Captured files, by path.
    pub(super) files: BTreeMap<String, Option<Vec<u8>>>,
}

impl Saved {
    pub(super) fn of(draft: &Draft) -> Self {
        let file = |it: &crate::store::files::artifact::Captured| {
            (it.artifact.path.clone(), it.content.clone())
        };
        let files = draft.artifacts.iter().map(file).collect();
        Self { entry: plain(draft.entry.clone()), raw: draft.raw.clone(), files }
    }
}

/// The agent of checkpoints whose time was stated.
pub(super) const STATED: &str = "stated";

/// An entry without what depends on how and when it was stored.
///
/// If others were saved while it waited, its date may be later than that of its draft, which its id
/// shows.
pub(super) fn plain(entry: Entry) -> Entry {
    let drafted = entry.id.parts().and_then(|(millis, _)| i64::try_from(millis * 1000).ok());
    let created_at = drafted.map_or(entry.created_at, Timestamp::from_micros);
    Entry { sequence: 0, stored_bytes: 0, created_at, ordered_at: None, ..entry }
}

/// The whole content of a store.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Model {
    pub(super) present: BTreeMap<Id, Arc<Saved>>,
    /// Deleted checkpoints that can be restored.
    pub(super) deleted: BTreeMap<Id, Arc<Saved>>,
    /// Whether its settings prune on save.
    pub(super) is_pruned_on_save: bool,
    /// The key that seals it, if any.
    pub(super) key: Option<KeyId>,
    /// Whether some of it may still use another key or none.
    pub(super) is_mixed: bool,
}

impl Model {
    pub(super) fn with(&self, saved: Saved) -> Self {
        let mut next = self.clone();
        next.present.insert(saved.entry.id.clone(), Arc::new(saved));
        next
    }

    pub(super) fn changed(&self, id: &Id, change: impl FnOnce(&mut Entry)) -> Self {
        let mut saved = Saved::clone(&self.present[id]);
        change(&mut saved.entry);
        self.with(saved)
    }

    pub(super) fn without(&self, ids: &[Id]) -> Self {
        let mut next = self.clone();
        next.present.retain(|id, _| !ids.contains(id));
        next
    }

    pub(super) fn deleted(&self, ids: &[Id]) -> Self {
        let mut next = self.without(ids);
        next.deleted.extend(ids.iter().map(|id| (id.clone(), self.present[id].clone())));
        next
    }

    pub(super) fn restored(&self, ids: &[Id]) -> Self {
        let mut next = self.clone();
        for id in ids {
            let saved = next.deleted.remove(id).expect("only what was deleted is restored");
            next.present.insert(id.clone(), saved);
        }
        next
    }

    pub(super) fn purged(&self) -> Self {
        Self { deleted: BTreeMap::new(), ..self.clone() }
    }

    /// The keys needed to read and to save.
    pub(super) fn keys(&self) -> Vec<KeyId> {
        if self.is_mixed { keys::all_for(self.key) } else { self.key.into_iter().collect() }
    }

    /// Whether this is the content found, once settled.
    pub(super) fn allows(&self, found: &Self) -> bool {
        let wanted = self.settled();
        // Checkpoints under another key may be gone by now.
        Self { is_mixed: wanted.is_mixed && found.is_mixed, ..wanted } == *found
    }

    /// The same without checkpoints that pruning on save may remove, now or later.
    pub(super) fn settled(&self) -> Self {
        let mut newest: BTreeMap<&Series, BTreeSet<_>> = BTreeMap::new();
        for saved in self.present.values().filter(|it| it.entry.trigger == ring()) {
            // They arrive in the order of their numbers, whatever the clock shows.
            let key = (saved.entry.iteration, saved.entry.id.clone());
            newest.entry(&saved.entry.series).or_default().insert(key);
        }
        let old = newest.values().flat_map(|keys| keys.iter().rev().skip(RING_KEPT));
        let old: Vec<Id> = old.map(|(_, id)| id.clone()).collect();
        self.without(&old)
    }

    /// The first thing that differs, in words.
    pub(super) fn difference(&self, found: &Self) -> String {
        let pairs = [(&self.present, &found.present), (&self.deleted, &found.deleted)];
        for ((wanted, found), what) in pairs.into_iter().zip(["present", "deleted"]) {
            for (id, saved) in wanted {
                match found.get(id) {
                    None => return format!("{what} {id} is missing: {:?}", saved.entry),
                    Some(it) if it != saved => {
                        return format!("{what} {id} is {it:?}, not {saved:?}");
                    }
                    Some(_) => {}
                }
            }
            if let Some(id) = found.keys().find(|id| !wanted.contains_key(id)) {
                return format!("{what} {id} is there");
            }
        }
        let rest = |it: &Self| (it.is_pruned_on_save, it.key, it.is_mixed);
        format!("settings and keys are {:?}, not {:?}", rest(found), rest(self))
    }
}
