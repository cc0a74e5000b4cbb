//! Documents too large to hash every value at once: compared part by part, in bounded memory.
//!
//! A part that is small enough is compared in full. A larger one is walked without hashes: fields
//! by key, elements by place. The result is as correct, but may be longer.

use std::collections::HashMap;

use super::array::INDEX_BYTES;
use super::edit::{
    Comparison, Edit, Field, ListingCost, REPEATED_BYTES_EACH, REPEATED_BYTES_FREE, Step,
};
use super::same::Looks;
use super::tree::{DEPTH_MAX, Tree, counting};
use crate::checkpoint::Document;

/// Limits on a comparison.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Values of both sides that are hashed at once.
    pub(super) values: usize,
    /// Changes that are listed one by one, if not all values can be hashed at once. The bytes that
    /// their paths may repeat grow with this number.
    pub(super) changes: usize,
}

/// Measured at the first bound, patch included: 500 MB beside the documents.
pub(super) const BOUNDS: Bounds = Bounds { values: 1 << 22, changes: 1 << 20 };

/// A comparison within bounds.
#[derive(Debug)]
pub(super) struct Bounded {
    pub(super) looks: Looks,
    /// Whether a part was compared by place or replaced as a whole because of its size.
    pub(super) is_coarse: bool,
    cost: ListingCost,
    bounds: Bounds,
    #[cfg(test)]
    pub(super) hashed_max: usize,
}

impl Bounded {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            looks: Looks::default(),
            is_coarse: false,
            cost: ListingCost::default(),
            bounds,
            #[cfg(test)]
            hashed_max: 0,
        }
    }

    /// How a document changed, if it did.
    pub(super) fn compare<'d>(&mut self, old: &'d Document, new: &'d Document) -> Option<Edit<'d>> {
        if self.has_room_for(old, new) {
            return self.compare_in_full(old, new, 0);
        }
        self.compare_part(old, new, 0)
    }

    /// How a part of a large document changed, if it did.
    fn compare_part<'d>(
        &mut self,
        old: &'d Document,
        new: &'d Document,
        depth: usize,
    ) -> Option<Edit<'d>> {
        if self.is_same(old, new, depth) {
            return None;
        }
        let before = self.cost;
        let edit = match (old, new) {
            _ if depth == DEPTH_MAX => None,
            (Document::Object(old_fields), Document::Object(new_fields)) => {
                if self.has_room_for(old, new) {
                    self.compare_in_full(old, new, depth)
                } else {
                    self.fields(old_fields, new_fields, depth + 1)
                }
            }
            (Document::Array(old_items), Document::Array(new_items)) => {
                if self.has_room_for(old, new) {
                    self.compare_in_full(old, new, depth)
                } else {
                    self.is_coarse = true;
                    self.elements(old_items, new_items, depth + 1)
                }
            }
            _ => {
                self.cost.changes += 1;
                return Some(Edit::Replaced { old, new });
            }
        };
        Some(self.bounded(before, edit, old, new))
    }

    /// How a part changed; the step that leads to it takes `step_bytes`.
    fn compare_within<'d>(
        &mut self,
        step_bytes: usize,
        old: &'d Document,
        new: &'d Document,
        depth: usize,
    ) -> Option<Edit<'d>> {
        let before = self.cost;
        let edit = self.compare_part(old, new, depth)?;
        self.cost.repeat(step_bytes, before);
        Some(self.bounded(before, Some(edit), old, new))
    }

    /// The edit, or a replacement of the whole part if there is no edit or listing it exceeds the
    /// limits.
    fn bounded<'d>(
        &mut self,
        before: ListingCost,
        edit: Option<Edit<'d>>,
        old: &'d Document,
        new: &'d Document,
    ) -> Edit<'d> {
        if let Some(edit) = edit.filter(|_| self.check().is_some()) {
            return edit;
        }
        self.is_coarse = true;
        self.cost = ListingCost { changes: before.changes + 1, ..before };
        Edit::Replaced { old, new }
    }

    fn compare_in_full<'d>(
        &mut self,
        old: &'d Document,
        new: &'d Document,
        depth: usize,
    ) -> Option<Edit<'d>> {
        let (old_tree, new_tree) = (Tree::at(old, depth), Tree::at(new, depth));
        #[cfg(test)]
        {
            self.hashed_max = self.hashed_max.max(old_tree.len() + new_tree.len());
        }
        let mut comparison = Comparison::default();
        comparison.looks = self.looks;
        let edit = comparison.compare(old_tree.root(old, depth), new_tree.root(new, depth));
        self.looks = comparison.looks;
        let cost = comparison.cost();
        self.cost.changes += cost.changes;
        self.cost.repeated_bytes += cost.repeated_bytes;
        edit
    }

    /// Compares by key; `None` if that exceeds the limits.
    fn fields<'d>(
        &mut self,
        old: &'d [(String, Document)],
        new: &'d [(String, Document)],
        depth: usize,
    ) -> Option<Edit<'d>> {
        // A key in the table takes about as much memory as the hashes of four values.
        if old.len() + new.len() > self.bounds.values / 4 {
            return None;
        }
        let old_places = counting(old);
        let mut left: HashMap<&str, &'d Document> =
            old_places.iter().map(|at| (old[*at].0.as_str(), &old[*at].1)).collect();
        let mut found: Vec<(&'d str, Field<'d>)> = Vec::new();
        for (key, value) in counting(new).into_iter().map(|at| &new[at]) {
            let change = if let Some(old) = left.remove(key.as_str()) {
                self.compare_within(key.len(), old, value, depth).map(Field::Changed)
            } else {
                self.cost.changes += 1;
                Some(Field::Added(value))
            };
            found.extend(change.map(|change| (key.as_str(), change)));
            self.check()?;
        }
        self.cost.changes += left.len();
        self.check()?;
        let old = old_places.into_iter().map(|at| &old[at]);
        let removed = old.filter(|(key, _)| left.contains_key(key.as_str()));
        let removed = removed.map(|(key, value)| (key.as_str(), Field::Removed(value)));
        Some(Edit::Object(removed.chain(found).collect()))
    }

    /// Compares by place, after removing the common start and end; `None` if that exceeds the
    /// limits.
    fn elements<'d>(
        &mut self,
        old: &'d [Document],
        new: &'d [Document],
        depth: usize,
    ) -> Option<Edit<'d>> {
        let mut pairs = old.iter().zip(new);
        let start = pairs.by_ref().take_while(|(old, new)| self.is_same(old, new, depth)).count();
        let (old, new) = (&old[start..], &new[start..]);
        let pairs = old.iter().rev().zip(new.iter().rev());
        let end = pairs.take_while(|(old, new)| self.is_same(old, new, depth)).count();
        let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
        let mut steps = Vec::new();
        keep(&mut steps, start);
        if old.len() == new.len() {
            for (old, new) in old.iter().zip(new) {
                match self.compare_within(INDEX_BYTES, old, new, depth) {
                    Some(edit) => steps.push(Step::Changed(edit)),
                    None => keep(&mut steps, 1),
                }
                self.check()?;
            }
        } else {
            self.cost.changes += old.len() + new.len();
            self.check()?;
            steps.extend(old.iter().map(Step::Removed));
            steps.extend(new.iter().map(Step::Added));
        }
        keep(&mut steps, end);
        Some(Edit::Array(steps))
    }

    fn is_same(&mut self, old: &Document, new: &Document, depth: usize) -> bool {
        let mut looks = self.looks;
        let is_same = looks.same(old, new, depth);
        if is_same {
            self.looks = looks;
        }
        is_same
    }

    /// `None` once there are too many changes to list them one by one, or their paths are too long.
    fn check(&self) -> Option<()> {
        let ListingCost { changes, repeated_bytes } = self.cost;
        let bytes_max = REPEATED_BYTES_FREE + REPEATED_BYTES_EACH * self.bounds.changes;
        (changes <= self.bounds.changes && repeated_bytes <= bytes_max).then_some(())
    }

    /// Whether all values of both can be hashed at once.
    fn has_room_for(&self, old: &Document, new: &Document) -> bool {
        let mut room = self.bounds.values;
        [old, new].into_iter().all(|document| takes(document, 0, &mut room))
    }
}

/// Whether there is room for all values of a document.
fn takes(document: &Document, depth: usize, room: &mut usize) -> bool {
    let Some(left) = room.checked_sub(1) else { return false };
    *room = left;
    match document {
        Document::Array(items) if depth < DEPTH_MAX => {
            items.iter().all(|item| takes(item, depth + 1, room))
        }
        Document::Object(fields) if depth < DEPTH_MAX => {
            fields.iter().all(|(_, value)| takes(value, depth + 1, room))
        }
        _ => true,
    }
}

fn keep(steps: &mut Vec<Step<'_>>, count: usize) {
    match steps.last_mut() {
        _ if count == 0 => {}
        Some(Step::Kept(before)) => *before += count,
        _ => steps.push(Step::Kept(count)),
    }
}
