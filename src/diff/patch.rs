//! Differences as operations of RFC 6902, each on what the ones before it have left.

mod occupancy;

use std::collections::HashMap;

use self::occupancy::Occupancy;
use super::edit::{Edit, Field, Step};
use super::pointer::Pointer;
use crate::checkpoint::Document;

/// One operation of RFC 6902.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation<'d> {
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

impl Operation<'_> {
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
}

/// The operations of an edit. What changes inside a value comes before the value moves, so all but
/// the last step of a path is as in the old document.
pub(super) fn operations<'d>(edit: &Edit<'d>) -> Vec<Operation<'d>> {
    let mut operations = Vec::new();
    of_edit(edit, Pointer::default(), &mut operations);
    operations
}

fn of_edit<'d>(edit: &Edit<'d>, path: Pointer, operations: &mut Vec<Operation<'d>>) {
    match edit {
        Edit::Replaced { new, .. } => operations.push(Operation::Replace { path, value: new }),
        Edit::Object(fields) => {
            for (key, field) in fields {
                let path = path.key(key);
                match field {
                    Field::Removed(_) => operations.push(Operation::Remove { path }),
                    Field::Added(value) => operations.push(Operation::Add { path, value }),
                    Field::Changed(edit) => of_edit(edit, path, operations),
                }
            }
        }
        Edit::Array(steps) => of_steps(steps, &path, operations),
    }
}

fn of_steps<'d>(steps: &[Step<'d>], path: &Pointer, operations: &mut Vec<Operation<'d>>) {
    let mut index = 0;
    let mut moved = HashMap::new();
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Changed(edit) => of_edit(edit, path.index(index), operations),
            Step::MovedAway => {
                moved.insert(index, number);
            }
            Step::Kept(_) | Step::Removed(_) | Step::Added(_) | Step::MovedHere { .. } => {}
        }
        index += step.in_old();
    }
    let mut elements = Occupancy::new(steps.iter().map(Step::in_old));
    for (number, step) in steps.iter().enumerate().rev() {
        if matches!(step, Step::Removed(_)) {
            elements.remove(number);
            operations.push(Operation::Remove { path: path.index(elements.before(number)) });
        }
    }
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Added(value) => {
                let path = path.index(elements.before(number));
                operations.push(Operation::Add { path, value });
                elements.add(number);
            }
            Step::MovedHere { from, .. } => {
                let old_number = moved[from];
                elements.remove(old_number);
                let (from, to) = (elements.before(old_number), elements.before(number));
                elements.add(number);
                // Others that moved may have brought it to its place.
                if from != to {
                    let (from, path) = (path.index(from), path.index(to));
                    operations.push(Operation::Move { from, path });
                }
            }
            Step::Kept(_) | Step::Changed(_) | Step::Removed(_) | Step::MovedAway => {}
        }
    }
}
