//! Differences one by one, as a person asks about them: where it was, where it is.

use super::edit::{Edit, Field, Step};
use super::pointer::{self, Pointer};
use crate::checkpoint::Document;

/// One difference between two documents.
///
/// Places called `from` are in the old document, others in the new one: an element behind one that
/// was inserted has another index there.
///
/// ```
/// use waypost::diff::Change;
/// use waypost::{Document, diff};
///
/// # fn main() -> waypost::Result<()> {
/// let old = Document::from_json(br#"{"score": 64}"#)?;
/// let new = Document::from_json(br#"{"score": 64, "done": true}"#)?;
/// for change in diff(&old, &new).changes() {
///     let Change::Added { at, value } = change else { panic!("a key was added") };
///     assert_eq!((at.as_str(), value), ("/done", &Document::Bool(true)));
/// }
/// # Ok(())
/// # }
/// ```
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
        /// What it is. What else changed in it is told by other changes.
        value: &'d Document,
    },
}

/// Lists the changes of an edit, in the order of the documents.
pub(super) fn list<'d>(edit: &Edit<'d>) -> Vec<Change<'d>> {
    let mut list = List { from: Pointer::default(), at: Pointer::default(), changes: Vec::new() };
    list.edit(edit);
    list.changes
}

/// The list so far, and the current place in both documents.
struct List<'d> {
    from: Pointer,
    at: Pointer,
    changes: Vec<Change<'d>>,
}

impl<'d> List<'d> {
    fn edit(&mut self, edit: &Edit<'d>) {
        match edit {
            Edit::Replaced { old, new } => {
                self.changes.push(Change::Replaced { at: self.at.clone(), old, new });
            }
            Edit::Object(fields) => {
                for (key, field) in fields {
                    self.within(pointer::Step::Key(key), pointer::Step::Key(key), |list| {
                        list.field(field);
                    });
                }
            }
            Edit::Array(steps) => self.steps(steps),
        }
    }

    fn field(&mut self, field: &Field<'d>) {
        match field {
            Field::Removed(value) => {
                self.changes.push(Change::Removed { from: self.from.clone(), value });
            }
            Field::Added(value) => self.changes.push(Change::Added { at: self.at.clone(), value }),
            Field::Changed(edit) => self.edit(edit),
        }
    }

    fn steps(&mut self, steps: &[Step<'d>]) {
        // Where both arrays are.
        let (mut i, mut j) = (0, 0);
        for step in steps {
            match step {
                Step::Kept(_) | Step::MovedAway => {}
                Step::Changed(edit) => self.element(i, j, edit),
                Step::Removed(value) => {
                    self.changes.push(Change::Removed { from: self.from.index(i), value });
                }
                Step::Added(value) => {
                    self.changes.push(Change::Added { at: self.at.index(j), value });
                }
                Step::MovedHere { from: place, value, edit } => {
                    let (from, at) = (self.from.index(*place), self.at.index(j));
                    self.changes.push(Change::Moved { from, at, value });
                    if let Some(edit) = edit {
                        self.element(*place, j, edit);
                    }
                }
            }
            (i, j) = (i + step.in_old(), j + step.in_new());
        }
    }

    fn element(&mut self, i: usize, j: usize, edit: &Edit<'d>) {
        self.within(pointer::Step::Index(i), pointer::Step::Index(j), |list| list.edit(edit));
    }

    fn within(
        &mut self,
        from: pointer::Step<'_>,
        at: pointer::Step<'_>,
        work: impl FnOnce(&mut Self),
    ) {
        let lengths = (self.from.push(from), self.at.push(at));
        work(self);
        self.from.truncate(lengths.0);
        self.at.truncate(lengths.1);
    }
}

impl Step<'_> {
    /// How many elements of the old array it covers.
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
