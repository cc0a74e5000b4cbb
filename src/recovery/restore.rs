//! Restores the files and the state of a checkpoint, in steps that are reported.
//!
//! Decides first and acts second. [`Store::plan_restore`] reads everything that would be written,
//! so that damage shows before a file is touched, and changes nothing. [`Store::apply_restore`]
//! carries out that very plan, or refuses if it no longer fits. [`Store::restore`] does both.
//!
//! Files are written below a directory, each as a whole or not at all, and never outside of it or
//! through a link. What they replace is kept below `.waypost/replaced` there.
//!
//! ```
//! use std::fs;
//! use waypost::recovery::restore::Restore;
//! use waypost::artifact::ArtifactStatus;
//! use waypost::{NewArtifact, NewEntry, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let project = dir.path().to_owned();
//! let store = Store::open(project.join("store.redb"))?;
//! let content = Some(b"first".to_vec());
//! let (path, status) = ("notes".to_owned(), ArtifactStatus::Created);
//! let notes = NewArtifact { path, content, mode: None, status };
//! let draft = store.draft(NewEntry::default(), &"state")?.with_artifacts(vec![notes])?;
//! let entry = store.save_draft(draft)?;
//!
//! fs::write(project.join("notes"), "second")?;
//! let how = Restore { into: project.clone(), ..Restore::default() };
//! let restored = store.restore(&entry, &how)?;
//! assert_eq!(fs::read(project.join("notes"))?, b"first");
//! let kept = restored.files[0].kept_as.as_ref().expect("it was replaced");
//! assert_eq!(fs::read(project.join(kept))?, b"second");
//! # Ok(())
//! # }
//! ```
//!
//! # Limits
//!
//! It writes all files beside their places and syncs them first; until then it can be ended, and
//! nothing has changed. Then it moves away the files to remove, and renames the new files into
//! place. An old file first gets a second name where it is kept, so its name always leads to the
//! old or the new file.
//!
//! Directories are checked part by part, no link is entered, and the check is repeated right before
//! each file is written, kept or put in its place. But files are named by their paths: a directory
//! that is exchanged for a link in the microseconds between check and rename is not noticed. A plan
//! is refused if a file to be replaced or removed, or the state file, changed since it was planned.
//! A change between this check and the file's turn is not noticed, but the changed file is kept. So
//! a restore does not protect against a hostile process that writes into the same directory at the
//! same time.
//!
//! The store does not note whether a checkpoint came from imported lines, whose paths are not
//! trusted. So `restore` decides by the path alone: files of a home directory that grant access or
//! run at login need `force`. Files of a project, such as `.github`, are written, since users
//! capture them.

mod apply;
mod files;
mod later;
mod look;
mod named;
mod plan;
mod refusal;
mod report;
mod state;
mod tell;
mod write;

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::checkpoint::Entry;
use crate::store::{Step, Store, unwatched};

pub use files::{FileAction, FileBefore, Obstacle, PlannedFile};
pub use named::{Compared, Likeness};
pub use plan::RestorePlan;
pub use refusal::{NotRestored, Refusal};
pub use report::{FileOutcome, RestoreStep, Restored, RestoredFile, StepName, StepOutcome};

/// How a checkpoint is restored.
///
/// See [`restore`](crate::recovery::restore) for an example.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restore {
    /// The directory to write files below; made if it is not there. Must be named.
    pub into: PathBuf,
    /// Moves files away that only later checkpoints of the series captured. They are kept like
    /// files that are replaced. False by default: then they stay, and the report names them.
    pub exact: bool,
    /// Reports what would change, and changes nothing.
    pub dry_run: bool,
    /// Restores a checkpoint that cannot be resumed from, replaces a state file with other content,
    /// and writes files that grant access or run at login, such as `.bashrc` or those in `.ssh`.
    pub force: bool,
    /// The file to write variables and agent state to, as JSON.
    pub state: Option<PathBuf>,
}

impl Store {
    /// Restores the files and the state of a checkpoint; see [`restore`](self).
    ///
    /// Reads all of its files twice: before the first one is written, and afterwards from disk.
    ///
    /// # Errors
    /// [`NotRestored`], with the reason and the report up to there. Before the first file was
    /// written, nothing was changed; afterwards the report tells where replaced files are kept.
    pub fn restore(&self, entry: &Entry, how: &Restore) -> Result<Restored, NotRestored> {
        self.restore_with(entry, how, &mut unwatched)
    }

    /// As [`Store::restore`]; `watch` gets the progress and may end it, see
    /// [`Store::apply_restore`].
    ///
    /// # Errors
    /// As [`Store::restore`], and [`Refusal::Stopped`] if `watch` ended it.
    pub fn restore_with(
        &self,
        entry: &Entry,
        how: &Restore,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Restored, NotRestored> {
        let plan = self.plan_restore(entry, how, watch)?;
        self.apply_restore(&plan, watch)
    }

    /// Decides what a restore does to each file, and changes nothing.
    ///
    /// Reads and checks the document and every captured file, and the files that are there.
    ///
    /// # Errors
    /// [`NotRestored`] if part of the checkpoint is damaged or a path cannot be written, and
    /// [`Refusal::Stopped`] if `watch` ended it.
    pub fn plan_restore(
        &self,
        entry: &Entry,
        how: &Restore,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<RestorePlan, NotRestored> {
        plan::plan(self, entry, how, watch)
    }

    /// Carries out a plan, and reads back what it wrote. Of a plan with [`Restore::dry_run`] it
    /// only returns the report.
    ///
    /// `watch` can end it until all files are written beside their places. Then no file has
    /// changed. After that it runs to its end, which is quick.
    ///
    /// # Errors
    /// [`NotRestored`] with [`Refusal::Changed`] or [`Refusal::Outdated`] if the plan no longer
    /// fits, with [`Refusal::Stopped`] if `watch` ended it, with [`Refusal::Unverified`] if files
    /// are not as they were captured after they were written, or with an error of the disk or the
    /// store.
    pub fn apply_restore(
        &self,
        plan: &RestorePlan,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Restored, NotRestored> {
        apply::apply(self, plan, watch)
    }
}
