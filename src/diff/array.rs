//! How the elements of an array changed.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use super::align::align;
use super::edit::{Comparison, Edit, Step};
use super::pair::{by_likeness, by_name, identity, is_changed_inside};
use super::tree::Node;

// As long as the index of a long array, and the slash before it.
pub(super) const INDEX_BYTES: usize = 8;

/// Two places, one in either array.
type Pair = (usize, usize);

/// The changes of an array.
pub(super) fn compare<'d>(
    comparison: &mut Comparison,
    old: Node<'d, '_>,
    new: Node<'d, '_>,
) -> Edit<'d> {
    let (old_elements, new_elements) = (old.elements(), new.elements());
    let steps = Walk::new(comparison, &old_elements, &new_elements).steps();
    let is_single = old_elements.len() == 1 && new_elements.len() == 1;
    // If nothing of the old array is left, the new one replaces it.
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

    /// From certain to likely: each step leaves less to the next.
    fn steps(mut self) -> Vec<Step<'d>> {
        let hashes = |nodes: &[Node<'d, 't>]| nodes.iter().map(Node::hash).collect::<Vec<_>>();
        let kept = align(&hashes(self.old), &hashes(self.new));
        self.find_moves(&kept, |node| Some(node.hash()), Comparison::is_same);
        let named = self.between(&kept, |_, old, new| by_name(old, new));
        self.find_moves(&named, identity, |_, _, _| true);
        let pairs = self
            .between(&named, |comparison, old, new| by_likeness(old, new, &mut comparison.effort));
        let (mut i, mut j) = (0, 0);
        for pair in pairs {
            self.unpaired(i..pair.0, j..pair.1);
            self.pair(pair);
            (i, j) = (pair.0 + 1, pair.1 + 1);
        }
        self.unpaired(i..self.old.len(), j..self.new.len());
        self.steps
    }

    /// Finds what left its place and is at another: the first of equals goes to the first place.
    fn find_moves(
        &mut self,
        pairs: &[Pair],
        key: impl Fn(Node<'d, 't>) -> Option<u64>,
        is_it: impl Fn(&mut Comparison, Node<'d, 't>, Node<'d, 't>) -> bool,
    ) {
        let mut is_old_left: Vec<bool> = self.is_moved.iter().map(|it| !it).collect();
        let mut is_new_left: Vec<bool> = self.moved_from.iter().map(Option::is_none).collect();
        for (i, j) in pairs {
            (is_old_left[*i], is_new_left[*j]) = (false, false);
        }
        let mut gone: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (i, node) in self.old.iter().enumerate().filter(|(i, _)| is_old_left[*i]) {
            if let Some(key) = key(*node) {
                gone.entry(key).or_default().push_back(i);
            }
        }
        if gone.is_empty() {
            return;
        }
        for (j, node) in self.new.iter().enumerate().filter(|(j, _)| is_new_left[*j]) {
            let places = key(*node).and_then(|key| gone.get_mut(&key));
            let Some(i) = places.and_then(VecDeque::pop_front) else { continue };
            if is_it(self.comparison, self.old[i], *node) {
                self.moved_from[j] = Some(i);
                self.is_moved[i] = true;
            }
        }
    }

    /// Adds the pairs that are found between pairs, of what was not moved.
    fn between(
        &mut self,
        pairs: &[Pair],
        find: impl Fn(&mut Comparison, &[Node<'d, 't>], &[Node<'d, 't>]) -> Vec<Pair>,
    ) -> Vec<Pair> {
        let mut all = Vec::with_capacity(pairs.len());
        let (mut i, mut j) = (0, 0);
        for pair in pairs.iter().copied().chain([(self.old.len(), self.new.len())]) {
            let left: Vec<usize> = (i..pair.0).filter(|i| !self.is_moved[*i]).collect();
            let comes: Vec<usize> = (j..pair.1).filter(|j| self.moved_from[*j].is_none()).collect();
            if !left.is_empty() && !comes.is_empty() {
                let old: Vec<_> = left.iter().map(|at| self.old[*at]).collect();
                let new: Vec<_> = comes.iter().map(|at| self.new[*at]).collect();
                let found = find(self.comparison, &old, &new);
                all.extend(found.into_iter().map(|(i, j)| (left[i], comes[j])));
            }
            all.push(pair);
            (i, j) = (pair.0 + 1, pair.1 + 1);
        }
        // The end is no pair.
        all.pop();
        all
    }

    fn pair(&mut self, (i, j): Pair) {
        let (old, new) = (self.old[i], self.new[j]);
        let edit = if is_changed_inside(old, new) || old.hash() == new.hash() {
            self.comparison.compare_within(INDEX_BYTES, old, new)
        } else {
            self.comparison.count();
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
            self.comparison.count();
        }
        for j in new {
            let step = self.newcomer(j);
            self.steps.push(step);
            self.comparison.count();
        }
    }

    fn newcomer(&mut self, j: usize) -> Step<'d> {
        let value = self.new[j].document;
        match self.moved_from[j] {
            Some(from) => {
                let (old, new) = (self.old[from], self.new[j]);
                let edit = self.comparison.compare_within(INDEX_BYTES, old, new);
                Step::MovedHere { from, value, edit }
            }
            None => Step::Added(value),
        }
    }
}
