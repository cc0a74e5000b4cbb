//! Whether two values are the same: for certain, whatever their hashes say.

use std::collections::HashMap;

use super::number::Exact;
use super::tree::{DEPTH_MAX, counting};
use crate::checkpoint::Document;

/// What differs between values that are the same.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Looks {
    /// Keys stand in another order.
    pub(super) is_reordered: bool,
    /// A number is spelled otherwise.
    pub(super) is_respelled: bool,
}

impl Looks {
    /// Compares values that lie `depth` deep, and notes how else they differ.
    pub(super) fn same(&mut self, old: &Document, new: &Document, depth: usize) -> bool {
        match (old, new) {
            (Document::Null, Document::Null) => true,
            (Document::Bool(old), Document::Bool(new)) => old == new,
            (Document::Text(old), Document::Text(new)) => old == new,
            (Document::Bytes(old), Document::Bytes(new)) => old == new,
            (Document::Uint(old), Document::Uint(new)) => old == new,
            (Document::Array(_) | Document::Object(_), _) if depth == DEPTH_MAX => false,
            (Document::Array(old), Document::Array(new)) => {
                old.len() == new.len()
                    && old.iter().zip(new).all(|(old, new)| self.same(old, new, depth + 1))
            }
            (Document::Object(old), Document::Object(new)) => self.same_fields(old, new, depth + 1),
            (old, new) => self.same_number(old, new),
        }
    }

    fn same_fields(
        &mut self,
        old: &[(String, Document)],
        new: &[(String, Document)],
        depth: usize,
    ) -> bool {
        let (old_places, new_places) = (counting(old), counting(new));
        if old_places.len() != new_places.len() {
            return false;
        }
        let in_order = old_places.iter().zip(&new_places).all(|(i, j)| old[*i].0 == new[*j].0);
        if in_order {
            let mut pairs = old_places.iter().zip(&new_places);
            return pairs.all(|(i, j)| self.same(&old[*i].1, &new[*j].1, depth));
        }
        self.is_reordered = true;
        let values: HashMap<&str, &Document> =
            new_places.iter().map(|at| (new[*at].0.as_str(), &new[*at].1)).collect();
        old_places.iter().all(|at| {
            let (key, old) = &old[*at];
            values.get(key.as_str()).is_some_and(|new| self.same(old, new, depth))
        })
    }

    fn same_number(&mut self, old: &Document, new: &Document) -> bool {
        let (Some(old_value), Some(new_value)) = (Exact::of(old), Exact::of(new)) else {
            return false;
        };
        let is_same = old_value == new_value;
        // A NaN is never equal, and has one spelling.
        self.is_respelled |= is_same && old != new && old_value != Exact::NotANumber;
        is_same
    }
}
