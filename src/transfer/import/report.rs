//! The report of an import.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::checkpoint::{Layout, NewEntry, Series, Status};

// The first entries show what is wrong. A list that grows with the tree would take its memory.
const LISTED_MAX: usize = 1000;

/// What an import did. Serializes to what `waypost import --json` prints, except `version`.
///
/// ```
/// use std::path::Path;
/// use waypost::Store;
/// use waypost::transfer::import::ImportOptions;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let project = dir.path();
/// # let store = Store::open(project.join("store.redb"))?;
/// let report = store.import(project, &ImportOptions::default())?;
/// assert_eq!(report.total(), 0);
/// let json = serde_json::to_value(&report)?;
/// assert_eq!(json["imported"], 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Imported {
    /// Checkpoints that were not in the store. Of a dry run, those it found.
    pub imported: u64,
    /// Checkpoints that were in the store.
    pub known: u64,
    /// Checkpoints that were in the store and were deleted since. They stay deleted.
    pub deleted: u64,
    /// Number of those that were imported from files, by layout. `other` is a file of no known
    /// system.
    pub layouts: BTreeMap<&'static str, u64>,
    /// Lines of JSON that were read.
    pub lines: u64,
    /// Files and lines that cannot be imported.
    pub refused: u64,
    /// Of the lines that were imported or known, those that lack captured files.
    #[serde(skip_serializing_if = "is_zero")]
    pub incomplete: u64,
    /// Files that cannot be read as a document and whose bytes the store has. They are among
    /// [`refused`](Self::refused), unless
    /// [`keep_unreadable`](super::ImportOptions::keep_unreadable) accepts them.
    pub kept: u64,
    /// Files that are no checkpoints although they lie beside some: leftovers, locks, links.
    pub skipped: u64,
    /// Files that could have been checkpoints by their name, and are none.
    pub ignored: u64,
    /// Of those that were imported, documents that break rules of their system so that they are
    /// invalid.
    pub invalid: u64,
    /// How often each rule is broken in them, by layout and code, such as `pipeline/required`.
    pub rules: BTreeMap<String, u64>,
    /// True if one of the lists below has only the first 1000.
    pub has_more: bool,
    /// Files and lines that cannot be imported.
    pub refusals: Vec<ImportRemark>,
    /// Files that were skipped.
    pub skips: Vec<ImportRemark>,
    /// Files that are invalid or kept unread, false statements of files, and lines that lack
    /// captured files.
    pub notes: Vec<ImportRemark>,
    /// Of a dry run, the checkpoints it found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub would: Vec<WouldImport>,
    /// True if the caller stopped it. What was imported until then stays.
    #[serde(skip)]
    pub is_stopped: bool,
}

/// A checkpoint that a dry run found.
///
/// ```
/// use std::path::Path;
/// use waypost::Store;
/// use waypost::transfer::import::{ImportOptions, Imported};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let project = dir.path();
/// # let store = Store::open(project.join("store.redb"))?;
/// let dry = ImportOptions { dry_run: true, ..ImportOptions::default() };
/// let found = store.import(project, &dry)?.would;
/// assert!(found.iter().all(|it| it.series.starts_with("issue:")));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WouldImport {
    /// The file.
    pub path: Option<String>,
    /// The system that wrote it.
    pub layout: Layout,
    /// The series it belongs to.
    pub series: String,
    /// Why it was saved.
    pub trigger: String,
    /// How far its work was.
    pub status: Status,
    /// The iteration it states.
    pub iteration: Option<u64>,
}

/// A remark of a report about a file.
///
/// ```
/// use waypost::transfer::import::{ImportRemark, Imported};
///
/// fn first_refusal(report: &Imported) -> Option<String> {
///     let ImportRemark { path, reason, .. } = report.refusals.first()?;
///     Some(format!("{path}: {reason}"))
/// }
/// assert_eq!(first_refusal(&Imported::default()), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ImportRemark {
    /// The file, from the directory that the store is for, or the name of an input with lines.
    pub path: String,
    /// A fragment such as `not a file`; of a line, `line 3:` and a fragment.
    pub reason: String,
}

impl Imported {
    /// True if there was nothing to import.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.imported + self.known + self.deleted + self.refused + self.lines == 0
    }

    /// Number of files and lines that are checkpoints, or cannot be read.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.imported + self.known + self.refused
    }

    pub(super) fn count(&mut self, layout: Layout) {
        self.imported += 1;
        // A file of no known system in a place of checkpoints.
        let name = if layout == Layout::Native { "other" } else { layout.as_str() };
        *self.layouts.entry(name).or_default() += 1;
    }

    pub(super) fn add_would(&mut self, about: &NewEntry) {
        self.count(about.layout);
        if self.would.len() == LISTED_MAX {
            self.has_more = true;
            return;
        }
        self.would.push(WouldImport {
            path: about.source_path.clone(),
            layout: about.layout,
            series: Series::of(about).to_string(),
            trigger: about.trigger.to_string(),
            status: about.status,
            iteration: about.iteration,
        });
    }

    pub(super) fn add_refusal(&mut self, path: &str, reason: &str) {
        self.refused += 1;
        self.list_refusal(path, reason);
    }

    pub(super) fn list_refusal(&mut self, path: &str, reason: &str) {
        self.has_more |= !add(&mut self.refusals, path, reason);
    }

    pub(super) fn add_skip(&mut self, path: &str, reason: &str) {
        self.skipped += 1;
        self.has_more |= !add(&mut self.skips, path, reason);
    }

    pub(super) fn add_note(&mut self, path: &str, reason: &str) {
        self.has_more |= !add(&mut self.notes, path, reason);
    }
}

// As serde calls it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// False if the list is full.
fn add(list: &mut Vec<ImportRemark>, path: &str, reason: &str) -> bool {
    let has_room = list.len() < LISTED_MAX;
    if has_room {
        list.push(ImportRemark { path: path.to_owned(), reason: reason.to_owned() });
    }
    has_room
}
