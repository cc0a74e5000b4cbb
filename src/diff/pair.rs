//! Pairs removed elements with added ones that they became: a guess, with bounded work.
//!
//! Any answer gives a right difference; a good one gives a short one.

use super::align::align;
use super::tree::{Node, Tree, hash_of};
use crate::checkpoint::Document;

/// Names that identify an element, whatever else of it changes: the first one it has counts.
const IDENTITIES: [&str; 5] = ["id", "uuid", "key", "name", "path"];
/// Two elements with a third in common more likely are one that changed.
const LIKENESS_MIN: u32 = 33;
/// How much of an element is compared to judge similarity.
const PARTS_MAX: usize = 64;
/// What an equal part of a hundred weighs by two elements that are only of a kind.
const LIKENESS_WEIGHT: u32 = 64;

/// How many more parts of elements may be compared to see which are alike.
#[derive(Debug)]
pub(super) struct Effort(usize);

impl Default for Effort {
    fn default() -> Self {
        // Some 50 ms.
        Self(1 << 23)
    }
}

/// Pairs of elements that are known by the same name, in order.
pub(super) fn by_name(old: &[Node<'_, '_>], new: &[Node<'_, '_>]) -> Vec<(usize, usize)> {
    // An element without a name is identified by its value, and no other has that.
    let name = |node: &Node<'_, '_>| identity(*node).unwrap_or_else(|| node.hash());
    let names = |nodes: &[Node<'_, '_>]| nodes.iter().map(name).collect::<Vec<_>>();
    align(&names(old), &names(new))
}

/// Pairs of elements that are like each other, in order, and of what is between them.
pub(super) fn by_likeness(
    old: &[Node<'_, '_>],
    new: &[Node<'_, '_>],
    effort: &mut Effort,
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    for pair in alike(old, new, effort) {
        // What is left of two in a row is one in place of the other.
        pairs.extend((i..pair.0).zip(j..pair.1));
        pairs.push(pair);
        (i, j) = (pair.0 + 1, pair.1 + 1);
    }
    pairs.extend((i..old.len()).zip(j..new.len()));
    pairs
}

/// Whether an element that replaced another is the same one with other content.
pub(super) fn is_changed_inside(old: Node<'_, '_>, new: Node<'_, '_>) -> bool {
    match (old.document, new.document) {
        (Document::Object(fields), Document::Object(_)) => match (identity(old), identity(new)) {
            (Some(one), Some(other)) if one != other => {
                likeness(&Parts::of(old), &Parts::of(new)) >= LIKENESS_MIN
            }
            _ => fields.iter().take(PARTS_MAX).any(|(key, _)| new.document.get(key).is_some()),
        },
        (Document::Array(_), Document::Array(_)) => true,
        _ => false,
    }
}

/// The name of an element, if it has one.
pub(super) fn identity(node: Node<'_, '_>) -> Option<u64> {
    let named = |key: &&str| {
        let value = node.document.get(key)?;
        // A list as a name is no name.
        let is_name = matches!(value, Document::Text(_) | Document::Int(_) | Document::Uint(_));
        is_name.then(|| hash_of(9, &(key, Tree::at(value, 0).root(value, 0).hash())))
    };
    IDENTITIES.iter().find_map(named)
}

/// The pairs that are most alike together, as far as the effort allows.
fn alike(old: &[Node<'_, '_>], new: &[Node<'_, '_>], effort: &mut Effort) -> Vec<(usize, usize)> {
    let cost = old.len().saturating_mul(new.len()).saturating_mul(8);
    if cost == 0 || (old.len() == 1 && new.len() == 1) {
        return Vec::new();
    }
    let Some(left) = effort.0.checked_sub(cost) else { return Vec::new() };
    effort.0 = left;
    let (old, new): (Vec<_>, Vec<_>) = (
        old.iter().map(|it| Parts::of(*it)).collect(),
        new.iter().map(|it| Parts::of(*it)).collect(),
    );
    heaviest(&old, &new)
}

/// The pairs in order that weigh the most together.
fn heaviest(old: &[Parts], new: &[Parts]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let weights: Vec<u32> =
        old.iter().flat_map(|one| new.iter().map(|other| weight(one, other))).collect();
    let weight_of = |i: usize, j: usize| weights[i * new.len() + j];
    // The most that can be had from a pair of places on.
    let mut best = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let apart = best[(i + 1) * width + j].max(best[i * width + j + 1]);
            let together = best[(i + 1) * width + j + 1] + weight_of(i, j);
            best[i * width + j] = apart.max(together);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() && j < new.len() {
        let here = best[i * width + j];
        if weight_of(i, j) > 0 && here == best[(i + 1) * width + j + 1] + weight_of(i, j) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// The gain of treating two elements as one.
fn weight(old: &Parts, new: &Parts) -> u32 {
    match likeness(old, new) {
        likeness if likeness >= LIKENESS_MIN => likeness * LIKENESS_WEIGHT,
        _ => u32::from(old.kind == new.kind),
    }
}

/// How many of the parts of two elements are equal, in percent.
fn likeness(old: &Parts, new: &Parts) -> u32 {
    let (old, new) = (&old.hashes, &new.hashes);
    let (mut i, mut j, mut equal) = (0, 0, 0);
    while let (Some(one), Some(other)) = (old.get(i), new.get(j)) {
        equal += u32::from(one == other);
        (i, j) = (i + usize::from(one <= other), j + usize::from(other <= one));
    }
    let parts = u32::try_from(old.len().max(new.len())).unwrap_or(u32::MAX);
    (equal * 100).checked_div(parts).unwrap_or_default()
}

/// The parts of an element.
struct Parts {
    kind: Kind,
    /// In order of their value.
    hashes: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Array,
    Text,
    Number,
    Other,
}

impl Parts {
    fn of(node: Node<'_, '_>) -> Self {
        let (kind, mut hashes): (Kind, Vec<u64>) = match node.document {
            Document::Object(_) => {
                let fields = node.fields().into_iter().take(PARTS_MAX);
                let field = |(key, value): (&str, Node<'_, '_>)| hash_of(10, &(key, value.hash()));
                (Kind::Object, fields.map(field).collect())
            }
            Document::Array(_) => {
                let elements = node.elements();
                (Kind::Array, elements.iter().take(PARTS_MAX).map(Node::hash).collect())
            }
            Document::Text(text) => {
                let words = text.split_whitespace().take(PARTS_MAX);
                (Kind::Text, words.map(|word| hash_of(11, word)).collect())
            }
            Document::Int(_) | Document::Uint(_) | Document::Float(_) | Document::Number(_) => {
                (Kind::Number, Vec::new())
            }
            Document::Null | Document::Bool(_) | Document::Bytes(_) => (Kind::Other, Vec::new()),
        };
        hashes.sort_unstable();
        Self { kind, hashes }
    }
}
