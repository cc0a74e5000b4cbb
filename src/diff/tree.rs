//! A document with a hash for each of its values, made in one pass.
//!
//! Equal values have equal hashes; whether equal hashes mean equal values is for `same.rs` to say.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::number::Exact;
use crate::checkpoint::Document;

/// As deep as any document in a store. What lies deeper in one that a program made is not looked
/// into.
pub(super) const DEPTH_MAX: usize = 512;

// Up to here comparing each pair of keys is cheaper than a set.
const FIELDS_FEW: usize = 16;

/// The hashes of a document and of everything in it, each before what it contains.
#[derive(Debug)]
pub(super) struct Tree(Vec<Summary>);

#[derive(Debug)]
struct Summary {
    hash: u64,
    /// Itself and all that it contains.
    values: usize,
}

impl Tree {
    /// Hashes a value at depth `depth`.
    pub(super) fn at(document: &Document, depth: usize) -> Self {
        let mut tree = Self(Vec::new());
        tree.add(document, depth);
        tree
    }

    pub(super) fn root<'d, 't>(&'t self, document: &'d Document, depth: usize) -> Node<'d, 't> {
        Node { document, depth, at: 0, tree: self }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn add(&mut self, document: &Document, depth: usize) -> u64 {
        let at = self.0.len();
        self.0.push(Summary { hash: 0, values: 1 });
        let hash = match document {
            Document::Array(_) | Document::Object(_) if depth == DEPTH_MAX => hash_of(0, &()),
            Document::Array(items) => {
                let mut hasher = DefaultHasher::new();
                hasher.write_u8(1);
                for item in items {
                    hasher.write_u64(self.add(item, depth + 1));
                }
                hasher.finish()
            }
            Document::Object(fields) => {
                let hashes: Vec<u64> =
                    fields.iter().map(|(_, value)| self.add(value, depth + 1)).collect();
                // A sum, since the order of keys is no difference.
                let field = |at: usize| hash_of(2, &(&fields[at].0, hashes[at]));
                let sum = counting(fields).into_iter().map(field).fold(0, u64::wrapping_add);
                hash_of(3, &sum)
            }
            Document::Text(text) => hash_of(4, text),
            Document::Bytes(bytes) => hash_of(5, bytes),
            Document::Null => hash_of(6, &()),
            Document::Bool(value) => hash_of(7, value),
            Document::Int(_) | Document::Uint(_) | Document::Float(_) | Document::Number(_) => {
                hash_of(8, &Exact::of(document))
            }
        };
        self.0[at] = Summary { hash, values: self.0.len() - at };
        hash
    }
}

/// A value in a document that was hashed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'d, 't> {
    pub(super) document: &'d Document,
    /// How many arrays and objects it is in.
    pub(super) depth: usize,
    at: usize,
    tree: &'t Tree,
}

impl<'d, 't> Node<'d, 't> {
    pub(super) fn hash(&self) -> u64 {
        self.tree.0[self.at].hash
    }

    /// Number of values, with everything inside.
    pub(super) fn values(&self) -> usize {
        self.tree.0[self.at].values
    }

    /// The elements of an array.
    pub(super) fn elements(&self) -> Vec<Self> {
        match self.document {
            Document::Array(items) if self.depth < DEPTH_MAX => self.inner(items).collect(),
            _ => Vec::new(),
        }
    }

    /// The fields of an object that count, in order.
    pub(super) fn fields(&self) -> Vec<(&'d str, Self)> {
        let Document::Object(fields) = self.document else { return Vec::new() };
        if self.depth == DEPTH_MAX {
            return Vec::new();
        }
        let values: Vec<Self> = self.inner(fields.iter().map(|(_, value)| value)).collect();
        counting(fields).into_iter().map(|at| (fields[at].0.as_str(), values[at])).collect()
    }

    fn inner(
        self,
        values: impl IntoIterator<Item = &'d Document>,
    ) -> impl Iterator<Item = Node<'d, 't>> {
        let mut at = self.at + 1;
        values.into_iter().map(move |document| {
            let node = Self { document, depth: self.depth + 1, at, tree: self.tree };
            at += self.tree.0[at].values;
            node
        })
    }
}

/// The fields that count, by their places: of a key that stands twice the last.
pub(super) fn counting(fields: &[(String, Document)]) -> Vec<usize> {
    if fields.len() <= FIELDS_FEW {
        let is_last = |at: &usize| fields[at + 1..].iter().all(|(key, _)| *key != fields[*at].0);
        return (0..fields.len()).filter(is_last).collect();
    }
    let mut seen = HashSet::with_capacity(fields.len());
    let mut places: Vec<usize> =
        (0..fields.len()).rev().filter(|at| seen.insert(fields[*at].0.as_str())).collect();
    places.reverse();
    places
}

/// A hash of a value and of the kind it is of.
pub(super) fn hash_of(kind: u8, value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u8(kind);
    value.hash(&mut hasher);
    hasher.finish()
}
