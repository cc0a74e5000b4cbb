//! The folder of the spool: every file operation there is on it, and nothing else.
//!
//! A file has its name only once all of it is on disk. Links and whatever else does not belong
//! here are never followed, read or removed.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::disk::{Disk, DiskFile, Place};
use super::super::file;
use crate::checkpoint::Id;

const SAVED: &str = ".save";
const UNFINISHED: &str = ".new";
const ASIDE: &str = "aside";

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    disk: Arc<dyn Disk>,
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
    /// The names of all of it.
    pub(super) names: Vec<OsString>,
}

/// Changes whenever anything in the folder does, unless that is within a moment.
pub(super) type Stamp = u128;

impl Folder {
    pub(super) fn of(store: &Place) -> Self {
        let path = file::beside(&store.path, ".spool");
        Self { path, disk: store.disk.clone(), is_lasting: AtomicBool::new(false) }
    }

    /// `None` if there is no folder.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        self.disk.stamp(&self.path)
    }

    /// What is there; nothing if there is no folder, or none for us.
    pub(super) fn list(&self) -> io::Result<Listing> {
        use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        let names = match self.disk.list(&self.path) {
            Err(error) if matches!(error.kind(), NotFound | NotADirectory | PermissionDenied) => {
                return Ok(Listing::default());
            }
            names => names?,
        };
        let mut listing = Listing::default();
        for name in &names {
            let path = self.path.join(name);
            let name = name.to_str().unwrap_or_default();
            let id = |suffix| {
                let id = Id::new(name.strip_suffix(suffix)?).ok()?;
                (id.parts().is_some() && self.disk.is_file(&path)).then_some(id)
            };
            if let Some(id) = id(SAVED) {
                listing.saved.push(id);
            } else if id(UNFINISHED).is_some() {
                listing.unfinished.push(path);
            } else if name != ASIDE {
                listing.strange += 1;
            }
        }
        listing.saved.sort_unstable();
        listing.names = names;
        Ok(listing)
    }

    /// Removes what was being written when its writer was killed. Nobody was told that it is saved.
    pub(super) fn sweep(&self, listing: &Listing) {
        for path in listing.unfinished.iter().filter(|path| !self.disk.is_held(path)) {
            let _ = self.disk.remove(path);
        }
    }

    /// How many files were set aside.
    pub(super) fn count_aside(&self) -> u64 {
        self.aside().len() as u64
    }

    /// What was set aside, by name.
    pub(super) fn aside(&self) -> Vec<PathBuf> {
        let aside = self.path.join(ASIDE);
        let mut names = self.disk.list(&aside).unwrap_or_default();
        names.sort_unstable();
        names.into_iter().map(|name| aside.join(name)).collect()
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
        // As long as it is held, somebody is at it.
        let file = self.disk.create_held(&unfinished);
        let written = file.and_then(|file| {
            file.write_at(bytes, 0)?;
            file.sync()?;
            self.disk.rename(&unfinished, &saved)?;
            self.sync()
        });
        if written.is_err() {
            let _ = self.disk.remove(&unfinished);
            let _ = self.disk.remove(&saved);
        }
        written
    }

    /// The bytes of a file, if they are no more than `bytes_max`.
    pub(super) fn read(&self, name: &Id, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
        let file = self.open(name)?;
        let length = file.length()?;
        if length > bytes_max {
            return Ok(None);
        }
        Ok(Some(first(file.as_ref(), length)?))
    }

    /// The length of a file, and so many of its first bytes as there are.
    pub(super) fn head(&self, name: &Id, bytes: usize) -> io::Result<(u64, Vec<u8>)> {
        let file = self.open(name)?;
        let length = file.length()?;
        Ok((length, first(file.as_ref(), length.min(bytes as u64))?))
    }

    /// Removes a file; [`Folder::sync`] makes that last.
    pub(super) fn remove(&self, name: &Id) {
        let _ = self.disk.remove(&self.saved(name));
    }

    /// Makes it last what was removed and renamed.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.disk.sync_directory(&self.path)
    }

    /// Moves a file where nobody looks for saves, and returns where that is.
    pub(super) fn set_aside(&self, name: &Id) -> io::Result<PathBuf> {
        let aside = self.path.join(ASIDE);
        self.disk.create_directory(&aside)?;
        let there = self.disk.list(&aside)?;
        let mut to = format!("{name}{SAVED}");
        for number in 1_u64.. {
            // A rename would replace what is there.
            if !there.iter().any(|it| it.as_os_str() == to.as_str()) {
                break;
            }
            to = format!("{name}-{number}{SAVED}");
        }
        let to = aside.join(to);
        self.disk.rename(&self.saved(name), &to)?;
        Ok(to)
    }

    /// Whether a listing has a file of this name, whatever else can be told of it.
    pub(super) fn is_in(listing: &Listing, name: &str) -> bool {
        let name = format!("{name}{SAVED}");
        listing.names.iter().any(|it| it.as_os_str() == name.as_str())
    }

    /// Where a file of this name is.
    pub(super) fn saved(&self, name: &Id) -> PathBuf {
        self.path.join(format!("{name}{SAVED}"))
    }

    fn open(&self, name: &Id) -> io::Result<Box<dyn DiskFile>> {
        let path = self.saved(name);
        if !self.disk.is_file(&path) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.disk.open(&path)
    }

    fn make(&self) -> io::Result<()> {
        self.disk.create_directory(&self.path)?;
        // Whoever made it may not have come so far.
        if !self.is_lasting.load(Ordering::Relaxed) {
            self.disk.sync_directory(file::parent(&self.path))?;
            self.is_lasting.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// So many of the first bytes of a file, which has them.
fn first(file: &dyn DiskFile, length: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; length];
    file.read_at(&mut bytes, 0)?;
    Ok(bytes)
}
