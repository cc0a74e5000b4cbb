//! The differences between two documents, by JSON pointer.
//!
//! ```
//! use waypost::{Document, diff};
//!
//! # fn main() -> waypost::Result<()> {
//! let old = Document::from_json(br#"{"score": 71, "queue": ["b", "c"]}"#)?;
//! let new = Document::from_json(br#"{"score": 74, "queue": ["a", "b", "c"]}"#)?;
//! let diff = diff(&old, &new);
//! assert_eq!(diff.changes().len(), 2);
//! let operations = diff.to_patch();
//! assert_eq!(
//!     operations[1].to_document().to_json(Default::default())?,
//!     r#"{"op":"add","path":"/queue/0","value":"a"}"#
//! );
//! # Ok(())
//! # }
//! ```
//!
//! Every value is hashed once. Arrays are then aligned by these hashes: what stays, what was moved,
//! and of the rest what became what. All of it takes time in proportion to the documents, but for a
//! logarithm; where more would be needed for the shortest answer, a longer one is given, which is
//! as right. Nothing is taken for equal because its hash is. Documents of millions of values are
//! compared in parts, so that memory is bounded.
//!
//! # How arrays are aligned
//!
//! The shortest script by Myers' rule is looked for, up to 256 steps. Beyond, elements that occur
//! once on either side are anchors (as many as are in order), then groups of 8 and of 48 elements,
//! with the rule between them. What is left over and equal has moved. What is left between two that
//! stayed is paired by name (`id`, `uuid`, `key`, `name`, `path`), and so is what has moved and
//! changed; then by how many parts are equal, then in order. Pairs are compared inside. Each step
//! has a bound of work in proportion to the arrays. Where paths would take far more than what they
//! lead to, the value is replaced as a whole.
//!
//! # Bounded memory
//!
//! Two documents with more than 4,194,304 values together are compared in parts: objects by key,
//! arrays by place after their common start and end are removed. A part within the bound is
//! compared in full. A part with more than 1,048,576 changes, or with more keys than a quarter of
//! the bound, is replaced as a whole. `Diff::is_coarse` says so.

mod align;
mod array;
mod change;
mod edit;
mod hunk;
mod large;
mod lines;
mod number;
mod pair;
mod patch;
mod pointer;
mod same;
#[cfg(test)]
mod tests;
mod tree;

use self::edit::Edit;
use self::large::{BOUNDS, Bounded, Bounds};
use self::same::Looks;
use crate::checkpoint::Document;

pub use change::Change;
pub use hunk::{Hunk, hunks};
pub use lines::{Line, lines};
pub use number::compare_numbers;
pub use patch::PatchOperation;
pub use pointer::Pointer;

/// What differs between two documents.
///
/// ```
/// use waypost::{Document, diff};
///
/// # fn main() -> waypost::Result<()> {
/// let old = Document::from_json(br#"{"score": 64}"#)?;
/// let new = Document::from_json(br#"{"score": 71}"#)?;
/// let diff = diff(&old, &new);
/// let patch = diff.to_patch()[0].to_json()?;
/// assert_eq!(patch, r#"{"op":"replace","path":"/score","value":71}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Diff<'d> {
    edit: Option<Edit<'d>>,
    looks: Looks,
    is_coarse: bool,
}

/// Compares two documents.
///
/// Values are compared as JSON: numbers by their exact value and not their spelling, objects
/// without the order of their keys, of a key that stands twice the last. A NaN equals another.
///
/// Takes time in proportion to the length of both, and at most some 500 MB of memory beside them:
/// if they have more than four million values together, arrays that are too large are compared by
/// place, and a part with more than a million changes is replaced as a whole. See
/// [`Diff::is_coarse`].
#[must_use]
pub fn diff<'d>(old: &'d Document, new: &'d Document) -> Diff<'d> {
    diff_within(old, new, BOUNDS)
}

fn diff_within<'d>(old: &'d Document, new: &'d Document, bounds: Bounds) -> Diff<'d> {
    let mut comparison = Bounded::new(bounds);
    let edit = comparison.compare(old, new);
    Diff { edit, looks: comparison.looks, is_coarse: comparison.is_coarse }
}

impl<'d> Diff<'d> {
    /// Tells whether both documents say the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edit.is_none()
    }

    /// Tells whether parts were too large to look for the shortest result. The result is still
    /// correct.
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        self.is_coarse
    }

    /// Tells whether the keys of an object that says the same stand in another order.
    #[must_use]
    pub fn is_reordered(&self) -> bool {
        self.looks.is_reordered
    }

    /// Tells whether a number that is the same is spelled otherwise, such as 1.0 for 1.
    #[must_use]
    pub fn is_respelled(&self) -> bool {
        self.looks.is_respelled
    }

    /// Returns the differences one by one, in the order of the documents.
    #[must_use]
    pub fn changes(&self) -> Vec<Change<'d>> {
        self.edit.as_ref().map(change::list).unwrap_or_default()
    }

    /// Returns a patch in the sense of RFC 6902: operations that make, one after the other, the new
    /// document of the old one. Of a key that stands twice a reader must know the last only.
    #[must_use]
    pub fn to_patch(&self) -> Vec<PatchOperation<'d>> {
        self.edit.as_ref().map(patch::operations).unwrap_or_default()
    }
}
