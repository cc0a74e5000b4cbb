//! The directory of an export or a restore. Each file is there as a whole or not at all: it is
//! drafted beside its place, synced together with many others, and renamed.
//!
//! Must never follow a link out of the directory, or replace a file without being told to.

mod compare;
mod draft;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::checkpoint::SourceForm;
use crate::store::opening::{self, Folder};

use super::place::ancestors;
use super::private;
use super::system::FileSystem;
pub(crate) use draft::Draft;
pub use draft::is_draft;

/// Why no file can be below a path.
pub(crate) const THROUGH_FILE: &str = "goes through a file";

// Beyond this many, directories are reached by their paths: a process may open few files.
const HELD_MAX: usize = 64;
// The widest mode of directories, and of files whose mode was imported: others may not write.
const MODE_MAX: u32 = 0o755;

/// A directory to write files below.
pub(crate) struct Directory {
    root: PathBuf,
    pub(crate) overwrites: bool,
    modes: Modes,
    /// Directories below the root that are there and are no links.
    known: Mutex<BTreeMap<String, KnownDirectory>>,
    /// Some of the directories that files are written to, held open.
    held: Mutex<BTreeMap<String, Arc<Folder>>>,
    /// Directories from which drafts of killed processes were removed.
    swept: Mutex<HashSet<String>>,
    /// The start of the names of drafts.
    prefix: String,
    made: AtomicU64,
    /// The file system of the root, if it can be synced as a whole.
    system: OnceLock<Option<FileSystem>>,
}

/// The modes of written files. A file without a recorded mode is private to its owner.
///
/// ```
/// use waypost::transfer::export::{ExportOptions, Modes};
///
/// assert_eq!(ExportOptions::default().modes, Modes::Limited);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Modes {
    /// As recorded, but at most 0755 less the umask: imported lines may state any mode.
    #[default]
    Limited,
    /// As recorded.
    Recorded,
}

/// An existing directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownDirectory {
    /// Whether this export has made it, so that no file of another program is in it.
    is_new: bool,
    /// Whether it is in the file system of the root, so that one sync is enough for both.
    is_synced: bool,
}

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) text: Vec<u8>,
    pub(crate) form: SourceForm,
}

/// What is at the path of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occupant {
    Nothing,
    Same,
    Other,
    /// A link or a file in place of a directory, or the reverse.
    Obstacle(&'static str),
}

impl Directory {
    pub(crate) fn new(root: &Path, overwrites: bool, modes: Modes) -> Self {
        Self {
            root: root.to_owned(),
            overwrites,
            modes,
            known: Mutex::default(),
            held: Mutex::default(),
            swept: Mutex::default(),
            prefix: draft::prefix(),
            made: AtomicU64::new(0),
            system: OnceLock::new(),
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// `Same` if there is such a directory, reached by no link.
    ///
    /// Asks the system each time, since a directory may have become a link.
    pub(crate) fn directory(&self, path: &str) -> io::Result<Occupant> {
        for path in ancestors(path) {
            // The user may name the directory of the export by a link.
            let look = if path.is_empty() { fs::metadata } else { fs::symlink_metadata };
            match look(&self.path(path)) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Occupant::Nothing),
                Err(error) => return Err(error),
                Ok(found) if found.is_symlink() => {
                    return Ok(Occupant::Obstacle("goes through a link"));
                }
                Ok(found) if !found.is_dir() => return Ok(Occupant::Obstacle(THROUGH_FILE)),
                Ok(found) => self.learn(path, &found, false),
            }
        }
        Ok(Occupant::Same)
    }

    /// Makes a directory, one part after the other.
    pub(crate) fn make_directory(&self, path: &str) -> io::Result<KnownDirectory> {
        if self.directory(path)? == Occupant::Nothing {
            let mut directories = private::directories(MODE_MAX);
            directories.recursive(true).create(&self.root)?;
            directories.recursive(false);
            for path in ancestors(path).filter(|path| !path.is_empty()) {
                match directories.create(self.path(path)) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error),
                    Ok(()) => self.learn(path, &fs::symlink_metadata(self.path(path))?, true),
                }
            }
        }
        self.check(path)?;
        let known = self.known(path).ok_or_else(replaced)?;
        if !known.is_new {
            self.sweep(path);
        }
        Ok(known)
    }

    /// A directory that is held open, so that each file in it needs no look at the path; `None` if
    /// it is not.
    pub(crate) fn held(&self, path: &str) -> Option<Arc<Folder>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// Holds a directory open that was made or checked, if not too many are.
    fn hold(&self, path: &str) -> Option<Arc<Folder>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = held.get(path) {
            return Some(Arc::clone(folder));
        }
        if held.len() >= HELD_MAX {
            return None;
        }
        let folder = Arc::new(Folder::open(&self.root, path).ok()?);
        held.insert(path.to_owned(), Arc::clone(&folder));
        Some(folder)
    }

    /// Makes sure that a path still leads to a directory that is held open.
    pub(crate) fn check_held(&self, path: &str, folder: &Folder) -> io::Result<()> {
        if folder.is_at(&self.root, path) { Ok(()) } else { Err(replaced()) }
    }

    /// Forgets a directory that was held open and has been removed.
    fn let_go(&self, path: &str) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    /// Makes sure that a path is a directory and goes through no link.
    ///
    /// To be called right before a file is put there: a change between the two is not noticed.
    pub(crate) fn check(&self, path: &str) -> io::Result<()> {
        if self.directory(path)? == Occupant::Same { Ok(()) } else { Err(replaced()) }
    }

    fn known(&self, path: &str) -> Option<KnownDirectory> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied()
    }

    fn learn(&self, path: &str, found: &Metadata, is_new: bool) {
        let system = self.system.get_or_init(|| FileSystem::of(&self.root));
        let is_synced = system.as_ref().is_some_and(|system| system.has(found));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get_mut(path) {
            Some(known) => {
                known.is_synced = is_synced;
                // Another thread may have found it before the one that made it said so.
                known.is_new |= is_new;
            }
            None => drop(known.insert(path.to_owned(), KnownDirectory { is_new, is_synced })),
        }
    }

    /// Makes sure that names in these directories last, and those of the directories themselves.
    pub(crate) fn sync_names<'p>(
        &self,
        directories: impl Iterator<Item = &'p str>,
    ) -> io::Result<()> {
        let directories: BTreeSet<&str> = directories.flat_map(ancestors).collect();
        if directories.is_empty() || self.sync_system() || !cfg!(unix) {
            return Ok(());
        }
        let sync = |path: &str| opening::directory(&self.path(path))?.sync_all();
        directories.into_iter().try_for_each(sync)
    }

    /// Syncs the whole file system; `false` where that is not supported.
    fn sync_system(&self) -> bool {
        let system = self.system.get().and_then(Option::as_ref);
        system.is_some_and(|system| system.sync().is_ok())
    }
}

fn replaced() -> io::Error {
    io::Error::new(ErrorKind::NotADirectory, "its directory was replaced meanwhile")
}
