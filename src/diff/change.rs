//! Differences one by one, as a person asks about them: where it was, where it is.

use super::edit::{Edit, Field, Step};
use super::pointer::Pointer;
use crate::checkpoint::Document;

/// One difference between two documents.
///
/// Places called `from` are in the old document, others in the new one: an element behind one that
/// was inserted has another index there.
#[derive(Debug, Clone, PartialEq)]
pub enum Change<'d> {
    /// A value that was not there.
    Added {
        /// Where it is.
        at: Pointer,
        /// What it is.
        value: &'d Document,
    },
    /// A value that is not there any more.
    Removed {
        /// Where it was.
        from: Pointer,
        /// What it was.
        value: &'d Document,
    },
    /// A value in place of another.
    Replaced {
        /// Where it is.
        at: Pointer,
        /// What was there.
        old: &'d Document,
        /// What it is.
        new: &'d Document,
    },
    /// An element at another place of its array.
    Moved {
        /// Where it was.
        from: Pointer,
        /// Where it is.
        at: Pointer,
        /// What it is.
        value: &'d Document,
    },
}

/// The same place in both documents.
struct Place {
    from: Pointer,
    at: Pointer,
}

/// Lists the changes of an edit, in the order of the documents.
pub(super) fn list<'d>(edit: &Edit<'d>) -> Vec<Change<'d>> {
    let mut changes = Vec::new();
    of_edit(edit, Place { from: Pointer::default(), at: Pointer::default() }, &mut changes);
    changes
}

fn of_edit<'d>(edit: &Edit<'d>, place: Place, changes: &mut Vec<Change<'d>>) {
    match edit {
        Edit::Replaced { old, new } => changes.push(Change::Replaced { at: place.at, old, new }),
        Edit::Object(fields) => {
            for (key, field) in fields {
                of_field(field, place.key(key), changes);
            }
        }
        Edit::Array(steps) => of_steps(steps, &place, changes),
    }
}

fn of_field<'d>(field: &Field<'d>, place: Place, changes: &mut Vec<Change<'d>>) {
    match field {
        Field::Removed(value) => changes.push(Change::Removed { from: place.from, value }),
        Field::Added(value) => changes.push(Change::Added { at: place.at, value }),
        Field::Changed(edit) => of_edit(edit, place, changes),
    }
}

fn of_steps<'d>(steps: &[Step<'d>], place: &Place, changes: &mut Vec<Change<'d>>) {
    // Where both arrays are.
    let (mut i, mut j) = (0, 0);
    for step in steps {
        let from = |index| place.from.index(index);
        let at = || place.at.index(j);
        match step {
            Step::Kept(_) | Step::MovedAway => {}
            Step::Changed(edit) => of_edit(edit, Place { from: from(i), at: at() }, changes),
            Step::Removed(value) => changes.push(Change::Removed { from: from(i), value }),
            Step::Added(value) => changes.push(Change::Added { at: at(), value }),
            Step::MovedHere { from: index, value } => {
                changes.push(Change::Moved { from: from(*index), at: at(), value });
            }
        }
        (i, j) = (i + step.in_old(), j + step.in_new());
    }
}

impl Place {
    fn key(&self, key: &str) -> Self {
        Self { from: self.from.key(key), at: self.at.key(key) }
    }
}

impl Step<'_> {
    /// How many elements of the old array it is about.
    pub(super) fn in_old(&self) -> usize {
        match self {
            Self::Kept(count) => *count,
            Self::Changed(_) | Self::Removed(_) | Self::MovedAway => 1,
            Self::Added(_) | Self::MovedHere { .. } => 0,
        }
    }

    fn in_new(&self) -> usize {
        match self {
            Self::Kept(count) => *count,
            Self::Changed(_) | Self::Added(_) | Self::MovedHere { .. } => 1,
            Self::Removed(_) | Self::MovedAway => 0,
        }
    }
}
