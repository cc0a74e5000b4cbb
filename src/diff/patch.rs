//! Differences as operations of RFC 6902, each on what the ones before it have left.
//!
//! What changes inside an element comes before the element moves, so that all but the last step of
//! a path is as in the old document. Then elements are removed from the back, and added and moved
//! from the front, with a tree of counts (Fenwick) that tells where each is by then.

mod occupancy;

use std::collections::HashMap;

use self::occupancy::Occupancy;
use super::edit::{Edit, Field, Step};
use super::pointer::{self, Pointer};
use crate::checkpoint::{Document, TextStyle};
use crate::error::Result;

/// One operation of RFC 6902.
///
/// See [`Diff`](crate::Diff) for an example.
#[derive(Debug, Clone, PartialEq)]
pub enum PatchOperation<'d> {
    /// Adds a field, or inserts an element before the one at `path`.
    Add {
        /// Where to.
        path: Pointer,
        /// What.
        value: &'d Document,
    },
    /// Removes a field or an element.
    Remove {
        /// Which.
        path: Pointer,
    },
    /// Puts a value in the place of another.
    Replace {
        /// Where.
        path: Pointer,
        /// What.
        value: &'d Document,
    },
    /// Takes an element out and inserts it at `path` of what is left.
    Move {
        /// Which.
        from: Pointer,
        /// Where to.
        path: Pointer,
    },
}

impl PatchOperation<'_> {
    /// Returns the operation as an object, as RFC 6902 writes it; copies the value.
    #[must_use]
    pub fn to_document(&self) -> Document {
        let text = |text: &str| Document::Text(text.to_owned());
        let pointer = |pointer: &Pointer| text(pointer.as_str());
        let fields = match self {
            Self::Add { path, value } => {
                vec![("op", text("add")), ("path", pointer(path)), ("value", (*value).clone())]
            }
            Self::Remove { path } => vec![("op", text("remove")), ("path", pointer(path))],
            Self::Replace { path, value } => {
                vec![("op", text("replace")), ("path", pointer(path)), ("value", (*value).clone())]
            }
            Self::Move { from, path } => {
                vec![("op", text("move")), ("from", pointer(from)), ("path", pointer(path))]
            }
        };
        let owned = |(key, value): (&str, Document)| (key.to_owned(), value);
        Document::Object(fields.into_iter().map(owned).collect())
    }

    /// Returns the operation as one line of JSON, without a copy of the value as a tree.
    ///
    /// # Errors
    /// If the value cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        let value = match self {
            Self::Add { value, .. } | Self::Replace { value, .. } => value,
            Self::Remove { .. } | Self::Move { .. } => {
                return self.to_document().to_json(TextStyle::default());
            }
        };
        let mut text = self.without_value().to_document().to_json(TextStyle::default())?;
        text.truncate(text.len() - "null}".len());
        text.push_str(&value.to_json(TextStyle::default())?);
        text.push('}');
        Ok(text)
    }

    /// The same with null as its value, which comes last.
    fn without_value(&self) -> Self {
        const NULL: &Document = &Document::Null;
        match self.clone() {
            Self::Add { path, .. } => Self::Add { path, value: NULL },
            Self::Replace { path, .. } => Self::Replace { path, value: NULL },
            other => other,
        }
    }
}

/// The operations of an edit. What changes inside a value comes before the value moves, so all but
/// the last step of a path is as in the old document.
pub(super) fn operations<'d>(edit: &Edit<'d>) -> Vec<PatchOperation<'d>> {
    let mut patch = Patch { path: Pointer::default(), operations: Vec::new() };
    patch.edit(edit);
    patch.operations
}

/// What was written, and where the next is to be.
struct Patch<'d> {
    path: Pointer,
    operations: Vec<PatchOperation<'d>>,
}

impl<'d> Patch<'d> {
    fn edit(&mut self, edit: &Edit<'d>) {
        match edit {
            Edit::Replaced { new, .. } => {
                self.operations
                    .push(PatchOperation::Replace { path: self.path.clone(), value: new });
            }
            Edit::Object(fields) => {
                for (key, field) in fields {
                    self.within(pointer::Step::Key(key), |patch| patch.field(field));
                }
            }
            Edit::Array(steps) => {
                let moved = self.inside(steps);
                let mut elements = Occupancy::new(steps.iter().map(Step::in_old));
                self.removals(steps, &mut elements);
                self.arrivals(steps, &moved, &mut elements);
            }
        }
    }

    fn field(&mut self, field: &Field<'d>) {
        let path = || self.path.clone();
        match field {
            Field::Removed(_) => self.operations.push(PatchOperation::Remove { path: path() }),
            Field::Added(value) => {
                self.operations.push(PatchOperation::Add { path: path(), value });
            }
            Field::Changed(edit) => self.edit(edit),
        }
    }

    /// Writes what changed inside elements, and returns which step each place was left by.
    fn inside(&mut self, steps: &[Step<'d>]) -> HashMap<usize, usize> {
        let mut moved = HashMap::new();
        let mut index = 0;
        for (number, step) in steps.iter().enumerate() {
            match step {
                Step::Changed(edit) => {
                    self.within(pointer::Step::Index(index), |patch| patch.edit(edit));
                }
                Step::MovedHere { from, edit: Some(edit), .. } => {
                    self.within(pointer::Step::Index(*from), |patch| patch.edit(edit));
                }
                Step::MovedAway => {
                    moved.insert(index, number);
                }
                Step::Kept(_) | Step::Removed(_) | Step::Added(_) | Step::MovedHere { .. } => {}
            }
            index += step.in_old();
        }
        moved
    }

    fn removals(&mut self, steps: &[Step<'d>], elements: &mut Occupancy) {
        for (number, step) in steps.iter().enumerate().rev() {
            if matches!(step, Step::Removed(_)) {
                elements.remove(number);
                let path = self.path.index(elements.before(number));
                self.operations.push(PatchOperation::Remove { path });
            }
        }
    }

    fn arrivals(
        &mut self,
        steps: &[Step<'d>],
        moved: &HashMap<usize, usize>,
        elements: &mut Occupancy,
    ) {
        for (number, step) in steps.iter().enumerate() {
            match step {
                Step::Added(value) => {
                    let path = self.path.index(elements.before(number));
                    self.operations.push(PatchOperation::Add { path, value });
                    elements.add(number);
                }
                Step::MovedHere { from, .. } => {
                    let left = moved[from];
                    elements.remove(left);
                    let (from, to) = (elements.before(left), elements.before(number));
                    elements.add(number);
                    // Others that moved may have brought it to its place.
                    if from != to {
                        let (from, path) = (self.path.index(from), self.path.index(to));
                        self.operations.push(PatchOperation::Move { from, path });
                    }
                }
                Step::Kept(_) | Step::Changed(_) | Step::Removed(_) | Step::MovedAway => {}
            }
        }
    }

    fn within(&mut self, step: pointer::Step<'_>, work: impl FnOnce(&mut Self)) {
        let length = self.path.push(step);
        work(self);
        self.path.truncate(length);
    }
}
