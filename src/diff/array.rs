//! What became of the elements of an array.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use super::align::align;
use super::edit::{Comparison, Edit, Step};
use super::pair::{is_changed_inside, pairs};
use super::tree::Node;

/// How an array changed that did.
pub(super) fn compare<'d>(
    comparison: &mut Comparison,
    old: Node<'d, '_>,
    new: Node<'d, '_>,
) -> Edit<'d> {
    let (old_elements, new_elements) = (old.elements(), new.elements());
    let steps = Walk::new(comparison, &old_elements, &new_elements).steps();
    let is_single = old_elements.len() == 1 && new_elements.len() == 1;
    // Where nothing of the old array is left, the new one says it all.
    if !is_single && steps.iter().all(is_nothing_left) {
        return Edit::Replaced { old: old.document, new: new.document };
    }
    Edit::Array(steps)
}

fn is_nothing_left(step: &Step<'_>) -> bool {
    match step {
        Step::Removed(_) | Step::Added(_) | Step::Changed(Edit::Replaced { .. }) => true,
        Step::Kept(_)
        | Step::Changed(Edit::Object(_) | Edit::Array(_))
        | Step::MovedAway
        | Step::MovedHere { .. } => false,
    }
}

/// A walk along both arrays.
struct Walk<'c, 'd, 't> {
    comparison: &'c mut Comparison,
    old: &'c [Node<'d, 't>],
    new: &'c [Node<'d, 't>],
    /// Where those of the new array were that were moved, and whether those of the old one are.
    moved_from: Vec<Option<usize>>,
    is_moved: Vec<bool>,
    steps: Vec<Step<'d>>,
}

impl<'c, 'd, 't> Walk<'c, 'd, 't> {
    fn new(
        comparison: &'c mut Comparison,
        old: &'c [Node<'d, 't>],
        new: &'c [Node<'d, 't>],
    ) -> Self {
        let (moved_from, is_moved) = (vec![None; new.len()], vec![false; old.len()]);
        Self { comparison, old, new, moved_from, is_moved, steps: Vec::new() }
    }

    fn steps(mut self) -> Vec<Step<'d>> {
        let hashes = |nodes: &[Node<'d, 't>]| nodes.iter().map(Node::hash).collect::<Vec<_>>();
        let kept = align(&hashes(self.old), &hashes(self.new));
        self.find_moves(&kept);
        let (mut i, mut j) = (0, 0);
        for pair in kept {
            self.gap(i..pair.0, j..pair.1);
            self.pair(pair);
            (i, j) = (pair.0 + 1, pair.1 + 1);
        }
        self.gap(i..self.old.len(), j..self.new.len());
        self.steps
    }

    /// Finds what left its place and is at another: the first of equals goes to the first place.
    fn find_moves(&mut self, kept: &[(usize, usize)]) {
        let (mut is_old_kept, mut is_new_kept) =
            (vec![false; self.old.len()], vec![false; self.new.len()]);
        for (i, j) in kept {
            (is_old_kept[*i], is_new_kept[*j]) = (true, true);
        }
        let mut gone: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (i, node) in self.old.iter().enumerate().filter(|(i, _)| !is_old_kept[*i]) {
            gone.entry(node.hash()).or_default().push_back(i);
        }
        for (j, node) in self.new.iter().enumerate().filter(|(j, _)| !is_new_kept[*j]) {
            let Some(i) = gone.get_mut(&node.hash()).and_then(VecDeque::pop_front) else {
                continue;
            };
            if self.comparison.is_same(self.old[i], *node) {
                self.moved_from[j] = Some(i);
                self.is_moved[i] = true;
            }
        }
    }

    /// What is between two elements that were kept.
    fn gap(&mut self, old: Range<usize>, new: Range<usize>) {
        let stays = |i: &usize| !self.is_moved[*i];
        let left: Vec<usize> = old.clone().filter(stays).collect();
        let comes: Vec<usize> = new.clone().filter(|j| self.moved_from[*j].is_none()).collect();
        let nodes = |places: &[usize], all: &[Node<'d, 't>]| {
            places.iter().map(|at| all[*at]).collect::<Vec<_>>()
        };
        let paired =
            pairs(&nodes(&left, self.old), &nodes(&comes, self.new), &mut self.comparison.effort);
        let (mut i, mut j) = (old.start, new.start);
        for (left_at, comes_at) in paired {
            let pair = (left[left_at], comes[comes_at]);
            self.unpaired(i..pair.0, j..pair.1);
            self.pair(pair);
            (i, j) = (pair.0 + 1, pair.1 + 1);
        }
        self.unpaired(i..old.end, j..new.end);
    }

    fn pair(&mut self, (i, j): (usize, usize)) {
        let (old, new) = (self.old[i], self.new[j]);
        let edit = if self.comparison.is_same(old, new) {
            None
        } else if is_changed_inside(old, new) {
            self.comparison.compare(old, new)
        } else {
            Some(Edit::Replaced { old: old.document, new: new.document })
        };
        match (edit, self.steps.last_mut()) {
            (Some(edit), _) => self.steps.push(Step::Changed(edit)),
            (None, Some(Step::Kept(count))) => *count += 1,
            (None, _) => self.steps.push(Step::Kept(1)),
        }
    }

    fn unpaired(&mut self, old: Range<usize>, new: Range<usize>) {
        for i in old {
            let removed = Step::Removed(self.old[i].document);
            self.steps.push(if self.is_moved[i] { Step::MovedAway } else { removed });
        }
        for j in new {
            let value = self.new[j].document;
            let here = |from| Step::MovedHere { from, value };
            self.steps.push(self.moved_from[j].map_or(Step::Added(value), here));
        }
    }
}
