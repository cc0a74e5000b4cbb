//! Counts the checkpoint files of a tree that are not imported yet.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use serde::Serialize;

use super::file::{Importer, Judged};
use super::report::ImportRemark;
use super::revisions::Revisions;
use super::walk::{Discovered, Item, Root};
use crate::checkpoint::Layout;
use crate::error::Result;
use crate::layouts::Kind;
use crate::layouts::crunch::Location;
use crate::store::Store;
use crate::transfer::home::Home;

// A survey of a larger tree is cut.
const FILES_MAX: u64 = 10_000;

// More names than that help nobody; `import` lists more.
const REFUSALS_MAX: usize = 100;

/// What was imported before.
///
/// ```
/// use std::collections::HashSet;
/// use waypost::transfer::import::Earlier;
///
/// let none = HashSet::new();
/// let earlier = Earlier::Files(&none);
/// assert!(matches!(earlier, Earlier::Files(files) if files.is_empty()));
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Earlier<'a> {
    /// What this store has.
    In(&'a Store),
    /// Files at these paths, from the directory that the store is for, and files that an export
    /// wrote of native checkpoints with these ids.
    Files(&'a HashSet<String>),
}

/// Checkpoint files of a tree that are not in the store.
///
/// ```
/// use std::collections::HashSet;
/// use waypost::Layout;
/// use waypost::transfer::import::{Earlier, Survey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let project = dir.path().canonicalize()?;
/// # let file = project.join(".pipeline/checkpoint-PROJ-42.json");
/// # std::fs::create_dir(file.parent().unwrap())?;
/// # let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
/// # let fixture = root.join("tests/fixtures/layouts/pipeline/checkpoint-PROJ-42.json");
/// # std::fs::copy(fixture, file)?;
/// let store = project.join(".waypost/store.redb");
/// let none = HashSet::new();
/// let earlier = Earlier::Files(&none);
/// let survey = Survey::of(&project, &store, &Default::default(), earlier, &mut || true)?;
/// assert_eq!(survey.count(), 1);
/// assert_eq!(survey.layouts[&Layout::Pipeline].place, ".pipeline");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Survey {
    /// By layout.
    pub layouts: BTreeMap<Layout, Lot>,
    /// Files and lines that look like checkpoints and cannot be read.
    pub unreadable: u64,
    /// The first of them, at most 100.
    pub refusals: Vec<ImportRemark>,
    /// True if the survey ended early: there may be more.
    pub is_cut: bool,
    #[serde(skip)]
    files: u64,
}

/// Checkpoint files of one layout; see [`Survey`].
///
/// ```
/// use waypost::transfer::import::Lot;
///
/// assert_eq!(Lot::default().count, 0);
/// ```
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Lot {
    /// Number of checkpoints.
    pub count: u64,
    /// The directory that has all of them, from the one that the store is for.
    pub place: String,
}

impl Survey {
    /// Surveys a directory, which must be absolute and without links, for the store at `store`,
    /// which need not exist. The project has the files of claude-crunch at `location`.
    ///
    /// Ends after 10,000 files, or once `goes_on` returns false, which it asks before each
    /// directory and after each file.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn of(
        directory: &Path,
        store: &Path,
        location: &Location,
        earlier: Earlier<'_>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Self> {
        let importer = Importer {
            store: match earlier {
                Earlier::In(store) => Some(store),
                Earlier::Files(_) => None,
            },
            home: None,
            is_dry: true,
            keeps_unreadable: false,
            location,
            revisions: &Revisions::default(),
            takes_undated: false,
            unsettled: None,
        };
        let mut this = Self::default();
        let mut failure = None;
        let goes_on = std::cell::RefCell::new(goes_on);
        let mut hand_out = |found: Discovered| {
            let added = match found {
                Discovered::File(item) => this.add(&importer, &item, earlier),
                Discovered::Problem { place, reason } => {
                    this.refuse(&place, reason);
                    Ok(())
                }
                Discovered::Skipped { .. } | Discovered::Note { .. } => Ok(()),
            };
            failure = added.err();
            failure.is_none() && this.files < FILES_MAX && goes_on.borrow_mut()()
        };
        let root = Root::new(directory.to_owned(), &Home::of(store), location);
        let is_whole = root.walk(&mut || goes_on.borrow_mut()(), &mut hand_out);
        this.is_cut = !is_whole;
        failure.map_or(Ok(this), Err)
    }

    /// Number of checkpoints.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.layouts.values().map(|lot| lot.count).sum()
    }

    fn add(&mut self, importer: &Importer<'_>, item: &Item, earlier: Earlier<'_>) -> Result<()> {
        self.files += 1;
        if matches!(earlier, Earlier::Files(places) if places.contains(&item.place)) {
            return Ok(());
        }
        if matches!(item.kind, Kind::Lines) {
            return importer.judge_lines(item, &mut |judge| self.count_in(judge(), &item.place));
        }
        let judged = importer.judge(item, true);
        if is_export_of(&judged, earlier) {
            return Ok(());
        }
        self.count_in(judged, &item.place)
    }

    fn refuse(&mut self, place: &str, reason: String) {
        self.unreadable += 1;
        if self.refusals.len() < REFUSALS_MAX {
            self.refusals.push(ImportRemark { path: place.to_owned(), reason });
        }
    }

    fn count_in(&mut self, judged: Judged, place: &str) -> Result<()> {
        match judged {
            Judged::Would { about, .. } => {
                let directory = place.rsplit_once('/').map_or("", |(directory, _)| directory);
                self.layouts.entry(about.layout).or_default().add(directory);
            }
            Judged::Refuse { reason, .. } | Judged::Unread(reason) => self.refuse(place, reason),
            Judged::Fail(error) => return Err(error),
            // A dry run that judges each file alone ends in none of the first three.
            Judged::Save { .. }
            | Judged::Alone
            | Judged::Undated
            | Judged::Known
            | Judged::Deleted
            | Judged::Explain { .. }
            | Judged::Skip(_)
            | Judged::Ignore => {}
        }
        Ok(())
    }
}

/// Whether a file is one that an export wrote of a checkpoint that is known.
fn is_export_of(judged: &Judged, earlier: Earlier<'_>) -> bool {
    match (judged, earlier) {
        (Judged::Would { about, .. }, Earlier::Files(ids)) if about.layout == Layout::Native => {
            about.id.as_ref().is_some_and(|id| ids.contains(id.as_str()))
        }
        _ => false,
    }
}

impl Lot {
    fn add(&mut self, directory: &str) {
        if self.count == 0 {
            directory.clone_into(&mut self.place);
        }
        self.count += 1;
        while !is_within(directory, &self.place) {
            let end = self.place.rfind('/').unwrap_or_default();
            self.place.truncate(end);
        }
    }
}

fn is_within(path: &str, directory: &str) -> bool {
    let below = path.strip_prefix(directory);
    directory.is_empty() || below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_lot_is_the_directory_above_all_its_files() {
        let place = |directories: &[&str]| {
            let mut lot = Lot::default();
            for directory in directories {
                lot.add(directory);
            }
            (lot.count, lot.place)
        };
        assert_eq!(place(&["a/b/c"]), (1, "a/b/c".to_owned()));
        assert_eq!(place(&["a/b/c", "a/b/d", "a/b"]), (3, "a/b".to_owned()));
        assert_eq!(place(&["a/b", "a/bc"]), (2, "a".to_owned()));
        assert_eq!(place(&["a", "b", "a"]), (3, String::new()));
    }
}
