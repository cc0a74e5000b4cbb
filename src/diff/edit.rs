//! How a value changed: the tree of differences that both views are made of.

use std::collections::{HashMap, HashSet};

use super::array;
use super::pair::Effort;
use super::same::Looks;
use super::tree::{DEPTH_MAX, Node};
use crate::checkpoint::Document;

/// How a value changed.
#[derive(Debug, Clone)]
pub(super) enum Edit<'d> {
    Replaced { old: &'d Document, new: &'d Document },
    Object(Vec<(&'d str, Field<'d>)>),
    Array(Vec<Step<'d>>),
}

/// The change of a field.
#[derive(Debug, Clone)]
pub(super) enum Field<'d> {
    Removed(&'d Document),
    Added(&'d Document),
    Changed(Edit<'d>),
}

/// What became of elements, in an order in which those of the old array come as they did there, and
/// those of the new one as they do here.
#[derive(Debug, Clone)]
pub(super) enum Step<'d> {
    /// So many are as they were.
    Kept(usize),
    Changed(Edit<'d>),
    Removed(&'d Document),
    Added(&'d Document),
    /// One that is elsewhere now.
    MovedAway,
    /// One that was at this place of the old array, and how it changed if it did.
    MovedHere {
        from: usize,
        value: &'d Document,
        edit: Option<Edit<'d>>,
    },
}

/// What a comparison has found, and how much more it may cost.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) looks: Looks,
    pub(super) effort: Effort,
    cost: ListingCost,
}

/// The cost of listing the changes found.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ListingCost {
    pub(super) changes: usize,
    /// Bytes of paths that several changes repeat.
    pub(super) repeated_bytes: usize,
}

// A key of a megabyte above a million changes would make a patch of a terabyte. So paths may repeat
// a harmless number of bytes, and beyond that a number for each value they lead into.
pub(super) const REPEATED_BYTES_FREE: usize = 1 << 16;
pub(super) const REPEATED_BYTES_EACH: usize = 128;

impl ListingCost {
    /// Counts a step of `step_bytes` bytes that the path of each change since `before` repeats.
    pub(super) fn repeat(&mut self, step_bytes: usize, before: Self) {
        let repetitions = (self.changes - before.changes).saturating_sub(1);
        let bytes = repetitions.saturating_mul(step_bytes);
        self.repeated_bytes = self.repeated_bytes.saturating_add(bytes);
    }
}

impl Comparison {
    pub(super) fn is_same(&mut self, old: Node<'_, '_>, new: Node<'_, '_>) -> bool {
        old.hash() == new.hash() && self.looks.same(old.document, new.document, old.depth)
    }

    /// How a value changed, if it did. Recursion is bounded by the depth that is looked at.
    pub(super) fn compare<'d>(&mut self, old: Node<'d, '_>, new: Node<'d, '_>) -> Option<Edit<'d>> {
        if self.is_same(old, new) {
            return None;
        }
        let is_looked_into = old.depth < DEPTH_MAX;
        let before = self.cost;
        let edit = match (old.document, new.document) {
            (Document::Object(_), Document::Object(_)) if is_looked_into => {
                Edit::Object(self.fields(old, new))
            }
            (Document::Array(_), Document::Array(_)) if is_looked_into => {
                array::compare(self, old, new)
            }
            (old, new) => Edit::Replaced { old, new },
        };
        Some(self.bounded(before, edit, old, new))
    }

    /// The change of a value below a step of this many bytes.
    pub(super) fn compare_within<'d>(
        &mut self,
        step_bytes: usize,
        old: Node<'d, '_>,
        new: Node<'d, '_>,
    ) -> Option<Edit<'d>> {
        let before = self.cost;
        let edit = self.compare(old, new)?;
        self.cost.repeat(step_bytes, before);
        Some(self.bounded(before, edit, old, new))
    }

    /// The cost of listing the changes found.
    pub(super) fn cost(&self) -> ListingCost {
        self.cost
    }

    /// Counts a separately listed change.
    pub(super) fn count(&mut self) {
        self.cost.changes += 1;
    }

    /// The edit, or the whole value if listing the changes inside costs too much.
    fn bounded<'d>(
        &mut self,
        before: ListingCost,
        edit: Edit<'d>,
        old: Node<'d, '_>,
        new: Node<'d, '_>,
    ) -> Edit<'d> {
        let most = REPEATED_BYTES_FREE + REPEATED_BYTES_EACH * (old.values() + new.values());
        let is_short = self.cost.repeated_bytes - before.repeated_bytes <= most;
        if is_short && !matches!(edit, Edit::Replaced { .. }) {
            return edit;
        }
        self.cost = ListingCost { changes: before.changes + 1, ..before };
        Edit::Replaced { old: old.document, new: new.document }
    }

    /// In the order of the new object, with what was removed before that.
    fn fields<'d>(&mut self, old: Node<'d, '_>, new: Node<'d, '_>) -> Vec<(&'d str, Field<'d>)> {
        let (old, new) = (old.fields(), new.fields());
        let is_in_new: HashSet<&str> = new.iter().map(|(key, _)| *key).collect();
        let mut changes: Vec<(&str, Field<'d>)> = Vec::new();
        for (key, node) in old.iter().filter(|(key, _)| !is_in_new.contains(key)) {
            self.count();
            changes.push((key, Field::Removed(node.document)));
        }
        let old: HashMap<&str, Node<'d, '_>> = old.into_iter().collect();
        for (key, node) in new {
            let change = if let Some(old) = old.get(key) {
                self.compare_within(key.len(), *old, node).map(Field::Changed)
            } else {
                self.count();
                Some(Field::Added(node.document))
            };
            changes.extend(change.map(|change| (key, change)));
        }
        changes
    }
}
