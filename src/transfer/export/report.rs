//! The reports of an export: what was written, and how much was left out.
//!
//! As JSON they are what `waypost export --json` prints; `src/docs/JSON.md` promises their members.

use std::collections::BTreeMap;

use serde::Serialize;

use super::failure::NotExported;
use crate::checkpoint::{Id, Layout};

/// The report of an export to a directory.
///
/// ```
/// use waypost::transfer::export::ExportOptions;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::default(), &"state")?;
/// let project = dir.path().join("project");
/// assert_eq!(store.export(&project, &ExportOptions::default())?.exported, 1);
/// let again = store.export(&project, &ExportOptions::default())?;
/// assert_eq!((again.exported, again.unchanged), (0, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Exported {
    /// Checkpoints that were written.
    pub exported: u64,
    /// The same, by the layout of their files.
    pub layouts: BTreeMap<Layout, u64>,
    /// Checkpoints whose files were there already, with the same content.
    pub unchanged: u64,
    /// Checkpoints that are not written since a newer one is the same file.
    pub older: u64,
    /// Checkpoints under a second name, since a newer one has the usual name.
    pub renamed: u64,
    /// Files that were not written, other than for damage.
    pub refused: u64,
    /// Those of them that are there with other content.
    pub differing: u64,
    /// Checkpoints that are damaged.
    pub damaged: u64,
    /// Length of all files that were written.
    pub bytes: u64,
    /// How many files got a field of their schema's version, by its JSON pointer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub added: BTreeMap<String, u64>,
    /// Notes about words that a layout does not have, with the number of files.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, u64>,
    /// Files that were removed from where they were before their status changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedFile>,
    /// Whether the caller stopped it; the same export once more goes on.
    #[serde(skip)]
    pub is_stopped: bool,
}

/// A file that went to another place with the status of its checkpoint.
///
/// See [`Exported`] for an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MovedFile {
    /// The checkpoint.
    pub id: Id,
    /// Where it was, from the directory of the export.
    pub from: String,
    /// Where it is.
    pub to: String,
}

/// The report of an export of lines.
///
/// See [`export`](crate::transfer::export) for an example.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExportedLines {
    /// Checkpoints that were written.
    pub exported: u64,
    /// Those of them that lack a captured file, since it is damaged.
    pub incomplete: u64,
    /// Checkpoints that are damaged.
    pub damaged: u64,
    /// Checkpoints that are larger than the limits of this store allow to read.
    pub refused: u64,
    /// Length of all lines.
    pub bytes: u64,
    /// Whether the caller stopped it.
    #[serde(skip)]
    pub is_stopped: bool,
}

impl Exported {
    /// Returns the number of checkpoints found, exported or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.exported + self.unchanged + self.older + self.refused + self.damaged
    }

    /// Counts the checkpoints of a file that was written; an index has none.
    pub(super) fn count(&mut self, layout: Layout, checkpoints: u64) {
        if checkpoints > 0 {
            self.exported += checkpoints;
            *self.layouts.entry(layout).or_default() += checkpoints;
        }
    }

    /// Counts what was left out: a file without checkpoints counts as one.
    pub(super) fn leave_out(&mut self, why: &NotExported, checkpoints: u64) {
        let count = checkpoints.max(1);
        match why {
            NotExported::Damaged(_) => self.damaged += count,
            NotExported::Differs { .. } => {
                self.differing += count;
                self.refused += count;
            }
            NotExported::Path { .. }
            | NotExported::Obstructed { .. }
            | NotExported::Taken { .. }
            | NotExported::Changed { .. }
            | NotExported::Invalid { .. }
            | NotExported::Unspellable(_)
            | NotExported::Limit(_) => self.refused += count,
        }
    }

    /// Adds what a thread has placed.
    pub(super) fn add_placed(&mut self, placed: Self) {
        for (layout, count) in placed.layouts {
            self.count(layout, count);
        }
        self.refused += placed.refused;
        self.differing += placed.differing;
        self.bytes += placed.bytes;
    }
}

impl ExportedLines {
    /// Returns the number of checkpoints found, exported or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.exported + self.damaged + self.refused
    }

    /// Adds the counts of a part.
    pub(super) fn add(&mut self, part: &Self) {
        self.exported += part.exported;
        self.incomplete += part.incomplete;
        self.damaged += part.damaged;
        self.refused += part.refused;
        self.bytes += part.bytes;
    }
}
