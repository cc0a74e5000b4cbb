//! What to import: trees of files, and inputs with lines of JSON.

use std::fmt;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::failure::{Ended, Ending, ImportError, Unfinished};
use super::file::Importer;
use super::input::{Lines, from_first, from_start, has_lines, lines_of};
use super::revisions::Revisions;
use super::tally::Tally;
use super::tree::{Trees, Wants};
use super::unsettled::Unsettled;
use super::walk::Root;
use super::{ImportEvent, ImportOptions, Imported, Watch, lines};
use crate::error::Error;
use crate::layouts::crunch::Location;
use crate::store::Store;
use crate::transfer::home::Home;

/// What to import.
///
/// ```
/// use std::ops::ControlFlow;
/// use waypost::Store;
/// use waypost::transfer::import::{ImportOptions, Sources};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let project = dir.path();
/// let store = Store::open(project.join("store.redb"))?;
/// let mut sources = Sources::new(store.path(), Default::default());
/// sources.add(project)?;
/// let lines = r#"{"issue": "42", "document": {"score": 71}}"#;
/// sources.add_lines("standard input", Box::new(lines.as_bytes()));
/// let how = ImportOptions::default();
/// let report = store.import_with(sources, &how, &mut |_| ControlFlow::Continue(()))?;
/// assert_eq!(report.imported, 1);
/// # Ok(())
/// # }
/// ```
pub struct Sources {
    home: Home,
    location: Location,
    /// As the caller named them.
    names: Vec<String>,
    /// None is below another one.
    roots: Vec<Root>,
    lines: Vec<(String, Lines)>,
    /// The report of lines that were refused and dropped.
    dropped: Imported,
    /// Broken files of the last pass, if the trees are followed.
    pub(super) unsettled: Option<Unsettled>,
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Sources {
    /// No sources yet, for a store at `store`, which need not exist. In its project, the files of
    /// claude-crunch are at `location`.
    #[must_use]
    pub fn new(store: &Path, location: Location) -> Self {
        Self {
            home: Home::of(store),
            location,
            names: Vec::new(),
            roots: Vec::new(),
            lines: Vec::new(),
            dropped: Imported::default(),
            unsettled: None,
        }
    }

    /// Adds a directory, which is searched for checkpoint files, or a file. A file is read as lines
    /// of JSON if its name or its first line says so.
    ///
    /// # Errors
    /// If it cannot be read, or its path is not UTF-8.
    pub fn add(&mut self, path: &Path) -> io::Result<()> {
        let name = path.display().to_string();
        if !fs::metadata(path)?.is_dir() && has_lines(path)? {
            self.add_lines(&name, lines_of(path)?);
            return Ok(());
        }
        let path = fs::canonicalize(path)?;
        if path.to_str().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, "its name is not UTF-8"));
        }
        self.names.push(name);
        self.add_root(path);
        Ok(())
    }

    /// Adds lines of JSON; `name` stands for them in reports and errors.
    pub fn add_lines(&mut self, name: &str, lines: Lines) {
        self.names.push(name.to_owned());
        self.lines.push((name.to_owned(), lines));
    }

    /// Keeps no root below another one: its files would be counted twice.
    fn add_root(&mut self, path: PathBuf) {
        if self.roots.iter().any(|root| path.starts_with(root.path())) {
            return;
        }
        self.roots.retain(|root| !root.path().starts_with(&path));
        self.roots.push(Root::new(path, &self.home, &self.location));
        self.roots.sort_by(|a, b| a.path().cmp(b.path()));
    }

    /// The sources as the caller named them, separated by commas.
    #[must_use]
    pub fn names(&self) -> String {
        self.names.join(", ")
    }

    /// True if there are inputs with lines.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// True if a tree has any file that may be a checkpoint. Stops at the first one.
    #[must_use]
    pub fn has_files(&self) -> bool {
        self.roots.iter().any(Root::has_files)
    }

    /// Drops inputs that have only blank lines. Reads the start of each.
    ///
    /// # Errors
    /// [`ImportError::Unreadable`].
    pub fn drop_blank_lines(&mut self) -> Result<(), ImportError> {
        for (input, source) in std::mem::take(&mut self.lines) {
            match from_start(source) {
                Ok(source) => self.lines.extend(source.map(|source| (input, source))),
                Err(source) => return Err(ImportError::Unreadable { input, source }),
            }
        }
        Ok(())
    }

    /// Drops the lines before the first that a store may take, and reports them to `watch`. If no
    /// line is left, there is no need to make a store for them. The report of the import counts the
    /// lines that were dropped.
    ///
    /// # Errors
    /// [`ImportError::Unreadable`].
    pub fn drop_refused_lines(
        &mut self,
        watch: &mut dyn FnMut(ImportEvent<'_>) -> ControlFlow<()>,
    ) -> Result<(), ImportError> {
        let mut tally = Tally::new(watch);
        let mut all = std::mem::take(&mut self.lines).into_iter();
        for (input, source) in all.by_ref() {
            let (source, refused) = match from_first(source, &input, &mut tally) {
                Ok(first) => first,
                Err(source) => return Err(ImportError::Unreadable { input, source }),
            };
            tally.report.lines += refused;
            tally.report.refused += refused;
            if let Some(source) = source {
                self.lines.push((input, source));
                break;
            }
        }
        self.lines.extend(all);
        self.dropped = tally.report;
        Ok(())
    }

    /// Tells what an import into an empty store would do, without a store. Passes over lines.
    ///
    /// # Errors
    /// [`Unfinished`], with the report up to there.
    pub fn preview(
        &self,
        options: &ImportOptions,
        watch: &mut dyn FnMut(ImportEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Imported, Unfinished> {
        let options = ImportOptions { dry_run: true, ..options.clone() };
        let mut tally = self.tally(watch);
        let ended = self.run(None, &options, &mut tally, &mut |_| true);
        tally.finish(ended)
    }

    pub(super) fn import(
        mut self,
        store: &Store,
        options: &ImportOptions,
        watch: Watch<'_>,
    ) -> Result<Imported, Unfinished> {
        let mut tally = self.tally(watch);
        let ended = self.import_all(store, options, &mut tally);
        let ended = self.log(store, options, &tally, ended);
        tally.finish(ended)
    }

    /// Adds an operation to the log of the store, unless the store failed.
    pub(super) fn log(
        &self,
        store: &Store,
        options: &ImportOptions,
        tally: &Tally<'_>,
        ended: Ended,
    ) -> Ended {
        let imported = tally.report.imported + tally.kept_refused;
        let has_failed = match &ended {
            Ok(()) | Err(Ending::Stopped | Ending::Failed(ImportError::Unreadable { .. })) => false,
            Err(Ending::Failed(_)) => true,
        };
        if imported > 0 && !options.dry_run && !has_failed {
            store.log_import(&self.names(), imported)?;
        }
        ended
    }

    fn tally<'a>(&self, watch: Watch<'a>) -> Tally<'a> {
        let mut tally = Tally::new(watch);
        tally.report = self.dropped.clone();
        tally
    }

    fn import_all(
        &mut self,
        store: &Store,
        options: &ImportOptions,
        tally: &mut Tally<'_>,
    ) -> Ended {
        if options.dry_run && self.has_lines() {
            return Err(Error::invalid("dry run", "lines can only be imported").into());
        }
        for (name, source) in std::mem::take(&mut self.lines) {
            lines::run(store, source, &name, tally)?;
        }
        self.run(Some(store), options, tally, &mut |_| true)
    }

    /// Imports the trees.
    pub(super) fn run(
        &self,
        store: Option<&Store>,
        options: &ImportOptions,
        tally: &mut Tally<'_>,
        wants: Wants<'_>,
    ) -> Ended {
        let importer = Importer {
            store,
            home: self.home.path(),
            is_dry: options.dry_run,
            keeps_unreadable: options.keep_unreadable,
            location: &self.location,
            revisions: &Revisions::default(),
            takes_undated: false,
            unsettled: self.unsettled.as_ref(),
        };
        let trees = Trees { importer, roots: &self.roots };
        if options.count_first {
            trees.count(tally)?;
        }
        trees.run(tally, wants)
    }
}
