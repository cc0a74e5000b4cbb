//! What passed its sums in an earlier walk, so that another one, after a commit, reads little more
//! than the pages that have changed.
//!
//! The engine changes no page in place: where the same page is named with the same sum, it has the
//! same content.

use std::collections::{HashMap, HashSet};

use super::Root;

/// Pages that passed their sums, together with everything below them.
#[derive(Default)]
pub(in crate::store) struct Known {
    /// Branches, and the number of pages that they lead to, themselves included.
    branches: HashMap<Root, u64>,
    /// Leaves: the page, and half of its sum.
    leaves: HashSet<(u64, u64)>,
}

impl Known {
    pub(super) fn add(&mut self, root: Root, pages: u64) {
        if pages == 1 {
            self.leaves.insert(leaf(root));
        } else {
            self.branches.insert(root, pages);
        }
    }

    /// The number of pages that this one leads to, if they are known.
    pub(super) fn get(&self, root: Root) -> Option<u64> {
        let is_leaf = self.leaves.contains(&leaf(root));
        if is_leaf { Some(1) } else { self.branches.get(&root).copied() }
    }
}

fn leaf(Root { page, sum }: Root) -> (u64, u64) {
    (page, u64::try_from(sum >> 64).unwrap_or_default())
}
