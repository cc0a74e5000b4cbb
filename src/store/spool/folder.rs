//! The folder of the spool: every file operation there is on it, and nothing else.
//!
//! A file has its name only once all of it is on disk. Links and whatever else does not belong
//! here are never followed, read or removed.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

use super::super::file;
use crate::checkpoint::Id;

const SAVED: &str = ".save";
const UNFINISHED: &str = ".new";
const ASIDE: &str = "aside";

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Whether this process has seen to it that the folder itself is on disk.
    is_lasting: AtomicBool,
}

/// What lies in the folder.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The names of what was saved, in the order of their times.
    pub(super) saved: Vec<Id>,
    /// What somebody is writing, or was when it was killed.
    unfinished: Vec<PathBuf>,
    /// What does not belong here.
    pub(super) strange: u64,
}

/// Changes whenever anything in the folder does, unless that is within a moment.
pub(super) type Stamp = u128;

impl Listing {
    /// Removes what was being written when its writer was killed. Nobody was told that it is saved.
    pub(super) fn sweep(&self) {
        for path in &self.unfinished {
            let left = File::open(path).and_then(|file| Ok(file.try_lock().map(|()| file)?));
            if left.is_ok() {
                let _ = fs::remove_file(path);
            }
        }
    }
}

impl Folder {
    pub(super) fn of(store: &Path) -> Self {
        Self { path: file::beside(store, ".spool"), is_lasting: AtomicBool::new(false) }
    }

    /// `None` if there is no folder.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        let modified = fs::metadata(&self.path).and_then(|found| found.modified()).ok()?;
        modified.duration_since(UNIX_EPOCH).ok().map(|since| since.as_nanos())
    }

    /// What is there. A folder that cannot be read has nothing for us.
    pub(super) fn list(&self) -> Listing {
        let mut listing = Listing::default();
        for found in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = found.file_name();
            let name = name.to_str().unwrap_or_default();
            // Of the thing itself: a link is no file.
            let is_file = found.file_type().is_ok_and(|kind| kind.is_file());
            let id = |suffix| {
                let id = Id::new(name.strip_suffix(suffix).filter(|_| is_file)?).ok()?;
                id.parts().is_some().then_some(id)
            };
            if let Some(id) = id(SAVED) {
                listing.saved.push(id);
            } else if id(UNFINISHED).is_some() {
                listing.unfinished.push(found.path());
            } else if name != ASIDE {
                listing.strange += 1;
            }
        }
        listing.saved.sort_unstable();
        listing
    }

    /// How many files were set aside.
    pub(super) fn count_aside(&self) -> u64 {
        fs::read_dir(self.path.join(ASIDE)).map_or(0, |found| found.count() as u64)
    }

    /// Writes a file, which is on disk under its name when this returns.
    ///
    /// After an error it may be there or not.
    pub(super) fn put(&self, name: &Id, bytes: &[u8]) -> io::Result<()> {
        let is_swept = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotFound)
        };
        match self.try_put(name, bytes) {
            // Somebody took it for left behind before it was locked, or removed the folder.
            Err(error) if is_swept(&error) => self.try_put(name, bytes),
            other => other,
        }
    }

    fn try_put(&self, name: &Id, bytes: &[u8]) -> io::Result<()> {
        self.make()?;
        let unfinished = self.path.join(format!("{name}{UNFINISHED}"));
        let saved = self.saved(name);
        let mut file = file::private().write(true).create_new(true).open(&unfinished)?;
        let mut write = || {
            // Says that somebody is at it.
            file.try_lock()?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&unfinished, &saved)?;
            self.sync()
        };
        let written = write();
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
            let _ = fs::remove_file(&saved);
        }
        written
    }

    /// The bytes of a file, if they are no more than `bytes_max`.
    pub(super) fn read(&self, name: &Id, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
        let file = self.open(name)?;
        if file.metadata()?.len() > bytes_max {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// The length of a file, and so many of its first bytes as there are.
    pub(super) fn head(&self, name: &Id, bytes: usize) -> io::Result<(u64, Vec<u8>)> {
        let file = self.open(name)?;
        let length = file.metadata()?.len();
        let mut head = Vec::new();
        file.take(bytes as u64).read_to_end(&mut head)?;
        Ok((length, head))
    }

    /// Removes a file; [`Folder::sync`] makes that last.
    pub(super) fn remove(&self, name: &Id) {
        let _ = fs::remove_file(self.saved(name));
    }

    /// Makes it last what was removed and renamed.
    pub(super) fn sync(&self) -> io::Result<()> {
        #[cfg(unix)]
        File::open(&self.path)?.sync_all()?;
        Ok(())
    }

    /// Moves a file where nobody looks for saves, and returns where that is.
    pub(super) fn set_aside(&self, name: &Id) -> io::Result<PathBuf> {
        let aside = self.path.join(ASIDE);
        make_folder(&aside)?;
        let mut to = aside.join(format!("{name}{SAVED}"));
        for number in 1_u64.. {
            // A rename would replace what is there.
            if fs::symlink_metadata(&to).is_err() {
                break;
            }
            to = aside.join(format!("{name}-{number}{SAVED}"));
        }
        fs::rename(self.saved(name), &to)?;
        Ok(to)
    }

    fn saved(&self, name: &Id) -> PathBuf {
        self.path.join(format!("{name}{SAVED}"))
    }

    fn open(&self, name: &Id) -> io::Result<File> {
        let path = self.saved(name);
        if !fs::symlink_metadata(&path)?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        File::open(path)
    }

    fn make(&self) -> io::Result<()> {
        let is_new = make_folder(&self.path)?;
        // Whoever made it may not have come so far.
        if is_new || !self.is_lasting.load(Ordering::Relaxed) {
            file::sync_parent(&self.path)?;
            self.is_lasting.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Whether it was not there before.
fn make_folder(path: &Path) -> io::Result<bool> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}
