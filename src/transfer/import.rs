//! Imports checkpoints: from files of other systems, and from lines of JSON.
//!
//! Trees are searched for files of agentize, claude-crunch, `.claude/checkpoints`, `.pipeline` and
//! AIWG, which are recognised by their content. A checkpoint keeps enough to write its file again,
//! byte for byte. Importing twice changes nothing. A file that cannot be imported is reported, and
//! the others are imported.
//!
//! ```
//! use std::path::Path;
//! use waypost::Store;
//! use waypost::transfer::import::ImportOptions;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let project = dir.path();
//! # let file = project.join(".pipeline/checkpoint-PROJ-42.json");
//! # std::fs::create_dir(file.parent().unwrap())?;
//! # let root = Path::new(env!("CARGO_MANIFEST_DIR"));
//! # let fixture = root.join("tests/fixtures/layouts/pipeline/checkpoint-PROJ-42.json");
//! # std::fs::copy(fixture, file)?;
//! let store = Store::open(project.join("store.redb"))?;
//! let report = store.import(project, &ImportOptions::default())?;
//! assert_eq!((report.imported, report.refused), (1, 0));
//! # Ok(())
//! # }
//! ```

mod event;
mod failure;
mod file;
mod follow;
mod input;
mod line;
mod lines;
mod report;
mod revision;
mod revisions;
mod sources;
mod stamps;
mod survey;
mod tally;
#[cfg(test)]
mod tests;
pub(super) mod text;
mod tree;
mod unsettled;
pub(super) mod walk;

use std::ops::ControlFlow;
use std::path::Path;

use event::Watch;

use crate::error::At as _;
use crate::layouts::crunch::Location;
use crate::store::Store;

pub use event::ImportEvent;
pub use failure::{ImportError, Unfinished};
pub use follow::Follow;
pub use input::{Lines, unpacked};
pub use report::{ImportRemark, Imported, WouldImport};
pub use sources::Sources;
pub use survey::{Earlier, Lot, Survey};

/// How to import.
///
/// ```
/// use waypost::transfer::import::ImportOptions;
///
/// let careful = ImportOptions { dry_run: true, ..ImportOptions::default() };
/// assert!(!careful.keep_unreadable);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Reports what would be imported, and changes nothing.
    pub dry_run: bool,
    /// Accepts files that cannot be read as documents: their bytes are saved, so that an export
    /// writes them again. Without it those in the place of a system are saved, too, so that their
    /// earlier contents are not resumed, but all are refused.
    pub keep_unreadable: bool,
    /// Where the project has the files of claude-crunch. Only [`Store::import`] uses it;
    /// [`Sources`] have their own.
    pub location: Location,
    /// Counts the files first, so that [`ImportEvent::Progress`] has a total.
    /// Costs a second walk through the directories.
    pub count_first: bool,
}

impl Store {
    /// Imports a directory or a file; see [`import`](self).
    ///
    /// Reads all files that may be checkpoints. Time grows with their length.
    ///
    /// # Errors
    /// [`Unfinished`] if the path cannot be read or the store fails.
    pub fn import(&self, path: &Path, options: &ImportOptions) -> Result<Imported, Unfinished> {
        let mut sources = Sources::new(self.path(), options.location.clone());
        sources
            .add(path)
            .at(path)
            .map_err(|error| Unfinished { report: Box::default(), why: error.into() })?;
        self.import_with(sources, options, &mut |_| ControlFlow::Continue(()))
    }

    /// Imports all sources, lines first, and passes each event to `watch`.
    ///
    /// If `watch` stops the import, the report has [`Imported::is_stopped`]. What was imported
    /// stays, and the same import once more goes on from there.
    ///
    /// # Errors
    /// [`Unfinished`] if lines cannot be read or the store fails.
    pub fn import_with(
        &self,
        sources: Sources,
        options: &ImportOptions,
        watch: &mut dyn FnMut(ImportEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Imported, Unfinished> {
        sources.import(self, options, watch)
    }
}
