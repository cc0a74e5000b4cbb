//! Exports checkpoints: as the files of their systems below a directory, or as lines of JSON.
//!
//! [`Store::export`] writes files. A checkpoint that came from a file becomes that file again, byte
//! for byte. Any other, or one that is exported in another layout, becomes a file as its system
//! writes it. What the layout requires and a checkpoint lacks is reported, and the rest goes on. If
//! several checkpoints are contents of one file, the newest is written. Files go through drafts
//! beside their places and are synced, so that each is there as a whole or not at all, and nothing
//! is ever written outside of the directory or through a link.
//!
//! ```
//! use waypost::transfer::export::ExportOptions;
//! use waypost::{NewEntry, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let (path, project) = (dir.path().join("store.redb"), dir.path().join("project"));
//! let store = Store::open(path)?;
//! store.save(NewEntry::default(), &"state")?;
//! let report = store.export(&project, &ExportOptions::default())?;
//! assert_eq!((report.exported, report.refused), (1, 0));
//! # Ok(())
//! # }
//! ```
//!
//! [`Store::export_lines`] writes lines of JSON to any [`Write`], oldest first. They hold
//! everything that the store knows of a checkpoint, with the contents of captured files, so an
//! import of them makes the same checkpoints in another store.
//!
//! ```
//! use waypost::transfer::export::Selection;
//! use waypost::{NewEntry, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let store = Store::open(dir.path().join("store.redb"))?;
//! store.save(NewEntry::default(), &"state")?;
//! let mut lines = Vec::new();
//! let report = store.export_lines(&Selection::default(), &mut lines)?;
//! assert_eq!(report.bytes, lines.len() as u64);
//! assert!(lines.ends_with(b"\"document\":\"state\"}\n"));
//! # Ok(())
//! # }
//! ```

mod captured;
mod claims;
mod decide;
mod event;
mod failure;
mod files;
mod index;
mod line_file;
mod lines;
mod placer;
mod prepare;
mod render;
mod report;
mod selection;
#[cfg(test)]
mod tests;
mod vacate;

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use crate::checkpoint::Layout;
use crate::layouts::crunch::Location;
use crate::layouts::{Form, Writing};
use crate::store::Store;

use event::unwatched;
use failure::Trying as _;

use super::own::Own;
use super::whole::WholeFile;

pub use super::directory::Modes;
pub use super::place::Packing;
pub use event::ExportEvent;
pub use failure::{Conflict, ExportError, NotExported};
pub use report::{Exported, ExportedLines, MovedFile};
pub use selection::{LineOptions, Selection};

/// Options of an export to a directory. By default every file returns to its original path.
///
/// ```
/// use waypost::transfer::export::{ExportOptions, Packing};
/// use waypost::Layout;
///
/// let crunch = ExportOptions { layout: Some(Layout::Crunch), ..ExportOptions::default() };
/// assert!(!crunch.overwrite);
/// assert_eq!(crunch.packing, Packing::AsBefore);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExportOptions {
    /// Which checkpoints. If they are named one by one, indexes of directories stay as they are.
    pub selection: Selection,
    /// The layout of all files; `None` leaves each in its own.
    pub layout: Option<Layout>,
    /// How files are written in that layout: by which version of its schema, and in which form.
    pub writing: Writing,
    /// Which files are compressed.
    pub packing: Packing,
    /// Replaces files that are there with other content. They are refused otherwise.
    pub overwrite: bool,
    /// Which modes files get.
    pub modes: Modes,
    /// Where the project has the files of claude-crunch.
    pub location: Location,
}

impl ExportOptions {
    /// Checks that the options do not exclude each other; an export does so first.
    ///
    /// ```
    /// use waypost::layouts::{Form, Writing};
    /// use waypost::transfer::export::{Conflict, ExportOptions};
    /// use waypost::Layout;
    ///
    /// let writing = Writing { form: Form::Reader, ..Writing::default() };
    /// let layout = Some(Layout::Crunch);
    /// let options = ExportOptions { layout, writing, ..ExportOptions::default() };
    /// assert_eq!(options.check(), Err(Conflict::Form));
    /// ```
    ///
    /// # Errors
    /// The first [`Conflict`].
    pub fn check(&self) -> Result<(), Conflict> {
        let Writing { schema, form } = self.writing;
        if schema.is_some_and(|schema| Some(schema.layout()) != self.layout) {
            return Err(Conflict::Schema);
        }
        match form {
            Form::Reader if self.layout != Some(Layout::Aiwg) => Err(Conflict::Form),
            Form::Reader if schema.is_some() => Err(Conflict::FormWithSchema),
            Form::Reader if self.packing == Packing::Plain => Err(Conflict::FormWithPlain),
            Form::Reader | Form::Documented => Ok(()),
        }
    }
}

impl Store {
    /// Writes the files of checkpoints below a directory, which is made if it is not there.
    ///
    /// Checkpoints that cannot be written are counted in the report and do not end the export. To
    /// learn which they are and why, use [`Store::export_with`].
    ///
    /// # Errors
    /// [`ExportError`]; files that were written before stay.
    pub fn export(
        &self,
        directory: &Path,
        options: &ExportOptions,
    ) -> Result<Exported, ExportError> {
        self.export_with(directory, options, &mut unwatched)
    }

    /// As [`Store::export`]. `watch` gets the progress and what is left out, and may stop it. Then
    /// every file written so far is complete, [`Exported::is_stopped`] is set, and running the same
    /// export again continues it.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use waypost::transfer::export::{ExportEvent, ExportOptions};
    /// use waypost::{Layout, NewEntry, Store};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("store.redb"))?;
    /// let entry = store.save(NewEntry::default(), &"no state of aiwg")?;
    /// let mut left_out = Vec::new();
    /// let options = ExportOptions { layout: Some(Layout::Aiwg), ..ExportOptions::default() };
    /// let report = store.export_with(&dir.path().join("project"), &options, &mut |event| {
    ///     if let ExportEvent::NotExported { name, why } = event {
    ///         left_out.push(format!("{name}: {why}"));
    ///     }
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(report.refused, 1);
    /// assert!(left_out[0].starts_with(entry.id.as_str()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Store::export`].
    pub fn export_with(
        &self,
        directory: &Path,
        options: &ExportOptions,
        watch: &mut dyn FnMut(ExportEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Exported, ExportError> {
        files::run(self, directory, options, watch)
    }

    /// Writes checkpoints as lines of JSON, oldest first. `src/docs/JSON.md` promises their
    /// members.
    ///
    /// # Errors
    /// [`ExportError::Io`] from `out`, or [`ExportError::Store`]. Damaged checkpoints are left out
    /// and counted.
    pub fn export_lines(
        &self,
        selection: &Selection,
        out: &mut impl Write,
    ) -> Result<ExportedLines, ExportError> {
        let options = LineOptions { selection: selection.clone(), ..LineOptions::default() };
        self.export_lines_with(&options, out, &mut unwatched)
    }

    /// As [`Store::export_lines`]. `watch` gets the progress and what is left out, and may stop it
    /// between two lines; [`ExportedLines::is_stopped`] is set then.
    ///
    /// # Errors
    /// As [`Store::export_lines`].
    pub fn export_lines_with(
        &self,
        options: &LineOptions,
        out: &mut impl Write,
        watch: &mut dyn FnMut(ExportEvent<'_>) -> ControlFlow<()>,
    ) -> Result<ExportedLines, ExportError> {
        lines::run(self, options, out, watch)
    }

    /// As [`Store::export_lines_with`], to a file that is written and synced completely or not at
    /// all. If it is stopped or finds no checkpoint, an existing file stays and no new one is made.
    ///
    /// # Errors
    /// As [`Store::export_lines`], [`ExportError::Own`] for a file of the store, and
    /// [`ExportError::Exists`] if the file exists and `overwrite` is not set.
    pub fn export_lines_to(
        &self,
        path: &Path,
        overwrite: bool,
        options: &LineOptions,
        watch: &mut dyn FnMut(ExportEvent<'_>) -> ControlFlow<()>,
    ) -> Result<ExportedLines, ExportError> {
        let own = Own::new(self.path()).trying(|| "tell where the store is".to_owned())?;
        if own.has(path) {
            return Err(ExportError::Own { path: path.to_owned() });
        }
        // A dangling link counts as existing.
        if fs::symlink_metadata(path).is_ok() && !overwrite {
            return Err(ExportError::Exists { path: path.to_owned() });
        }
        let file = WholeFile::new(path, overwrite);
        let make = || format!("make {}", WholeFile::draft_of(path).display());
        let mut file = file.trying(make)?;
        let report = self.export_lines_with(options, &mut file, watch)?;
        // Otherwise the draft is removed when it is dropped.
        if !report.is_stopped && report.total() > 0 {
            file.finish().trying(|| format!("write {}", path.display()))?;
        }
        Ok(report)
    }
}
