//! What became of a value: the tree of differences that both views are made of.

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

/// What became of a field.
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
    /// One that was at this place of the old array.
    MovedHere {
        from: usize,
        value: &'d Document,
    },
}

/// What a comparison has learnt, and how much more it may cost.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) looks: Looks,
    pub(super) effort: Effort,
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
        Some(match (old.document, new.document) {
            (Document::Object(_), Document::Object(_)) if is_looked_into => {
                Edit::Object(self.fields(old, new))
            }
            (Document::Array(_), Document::Array(_)) if is_looked_into => {
                array::compare(self, old, new)
            }
            (old, new) => Edit::Replaced { old, new },
        })
    }

    /// In the order of the new object, with what was removed before that.
    fn fields<'d>(&mut self, old: Node<'d, '_>, new: Node<'d, '_>) -> Vec<(&'d str, Field<'d>)> {
        let (old, new) = (old.fields(), new.fields());
        let is_in_new: HashSet<&str> = new.iter().map(|(key, _)| *key).collect();
        let removed = old.iter().filter(|(key, _)| !is_in_new.contains(key));
        let mut changes: Vec<(&str, Field<'d>)> =
            removed.map(|(key, node)| (*key, Field::Removed(node.document))).collect();
        let old: HashMap<&str, Node<'d, '_>> = old.into_iter().collect();
        for (key, node) in new {
            let change = match old.get(key) {
                Some(old) => self.compare(*old, node).map(Field::Changed),
                None => Some(Field::Added(node.document)),
            };
            changes.extend(change.map(|change| (key, change)));
        }
        changes
    }
}
