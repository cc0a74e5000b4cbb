//! The folder of the spool: all file operations on it, and nothing else.
//!
//! A file has its name only once all of it is on disk. Links and whatever else does not belong
//! here are never followed, read or removed. If the folder itself is a link, a file or a FIFO, the
//! spool is not used: what a link leads to may be for others to read.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::checkpoint::{Id, Timestamp};
use crate::error::{At as _, Result};
use crate::store::engine::disk::opening::DIRECTORY;
use crate::store::engine::disk::{Disk, DiskFile, FileId, StorePath};
use crate::store::engine::location;
use crate::sync::lock;

const SAVED: &str = ".save";
const UNFINISHED: &str = ".new";
const ASIDE: &str = "aside";

#[derive(Debug)]
pub(in crate::store) struct Folder {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    /// The folder whose name this process knows to be on disk. Kept open, so that no other folder
    /// can have its identity.
    lasting: Mutex<Option<Box<dyn DiskFile>>>,
}

/// What lies in the folder.
#[derive(Debug, Default)]
pub(in crate::store) struct Listing {
    /// The names of spooled files, in the order in which they were saved.
    pub(in crate::store) saved: Vec<Id>,
    /// Files that a process is writing, or was when it was killed.
    unfinished: Vec<PathBuf>,
    /// Names that do not belong here.
    pub(in crate::store) strange: u64,
    /// All names.
    pub(in crate::store) names: Vec<OsString>,
}

/// What is left of a file that could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Left {
    Nothing,
    /// Nothing, and a retry may succeed: another process took it for a leftover before it was
    /// locked, or removed the folder.
    Swept,
    /// The file may exist under its name, now or after a power loss.
    Perhaps,
}

/// Changes with every change in the folder, except within one tick of its clock.
pub(in crate::store) type Stamp = u128;

impl Folder {
    pub(in crate::store) fn of(store: &StorePath) -> Self {
        let path = location::beside(&store.path, ".spool");
        Self { path, disk: store.disk.clone(), lasting: Mutex::new(None) }
    }

    /// `None` if there is no folder.
    pub(in crate::store) fn stamp(&self) -> Option<Stamp> {
        self.disk.stamp(&self.path)
    }

    /// Whether a path is the folder, or in it.
    pub(in crate::store) fn has(&self, path: &Path) -> bool {
        path.starts_with(&self.path)
    }

    /// The kind of what lies in the place of the folder and is no directory.
    pub(in crate::store) fn obstacle(&self) -> Option<&'static str> {
        self.obstacle_at(&self.path)
    }

    /// An error if something else lies in the place of the folder.
    pub(in crate::store) fn check(&self) -> Result<()> {
        let Some(kind) = self.obstacle() else { return Ok(()) };
        let reason = format!("it is {kind}, and no directory, so no save can be spooled");
        Err(io::Error::new(io::ErrorKind::InvalidInput, reason)).at(&self.path)
    }

    fn obstacle_at(&self, folder: &Path) -> Option<&'static str> {
        match self.disk.look(folder).ok()?.is_other {
            Some(DIRECTORY) => None,
            Some(kind) => Some(kind),
            None => Some("a regular file"),
        }
    }

    /// The names in the folder; none if there is no folder, or something else in its place. An
    /// error if this user may not look at its files.
    pub(in crate::store) fn list(&self) -> Result<Listing> {
        use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        if self.obstacle().is_some() {
            return Ok(Listing::default());
        }
        let names = match self.disk.list(&self.path) {
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {
                return Ok(Listing::default());
            }
            names => names.at(&self.path)?,
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
                let found = self.disk.look(&path);
                let is_hidden = |error: &io::Error| error.kind() == PermissionDenied;
                if name.ends_with(SAVED) && found.as_ref().is_err_and(is_hidden) {
                    found.at(&path)?;
                }
                listing.strange += 1;
            }
        }
        listing.saved.sort_unstable();
        listing.names = names;
        Ok(listing)
    }

    /// A name for a file that is saved `now`; it sorts after all names in the folder.
    ///
    /// Files are taken in by name, and the clock may be set back between two saves.
    pub(in crate::store) fn next_name(&self, now: Timestamp) -> Id {
        let names = self.disk.list(&self.path).unwrap_or_default();
        let saved = names.iter().filter_map(|name| name.to_str()?.strip_suffix(SAVED));
        let millis = |name: &str| Some(Id::new(name).ok()?.parts()?.0);
        let next = saved.filter_map(millis).max().map_or(0, |last| last.saturating_add(1));
        Id::generate_at(Id::millis_at(now).max(next))
    }

    /// Removes files whose writer was killed. None of their saves was acknowledged.
    pub(in crate::store) fn sweep(&self, listing: &Listing) {
        for path in listing.unfinished.iter().filter(|path| !self.disk.is_held(path)) {
            let _ = self.disk.remove(path);
        }
    }

    /// How many files were set aside.
    pub(in crate::store) fn count_aside(&self) -> u64 {
        self.aside().len() as u64
    }

    /// What was set aside, by name.
    pub(in crate::store) fn aside(&self) -> Vec<PathBuf> {
        let aside = self.path.join(ASIDE);
        if self.obstacle().is_some() || self.obstacle_at(&aside).is_some() {
            return Vec::new();
        }
        let mut names = self.disk.list(&aside).unwrap_or_default();
        names.sort_unstable();
        names.into_iter().map(|name| aside.join(name)).collect()
    }

    /// Writes a file; it is on disk under its name when this returns.
    pub(in crate::store) fn put(&self, name: &Id, bytes: &[u8]) -> Result<(), Left> {
        let unfinished = self.path.join(format!("{name}{UNFINISHED}"));
        let saved = self.saved(name);
        let written = self.write(&unfinished, bytes).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::NotFound => Left::Swept,
            _ => Left::Nothing,
        });
        // While it is locked, no process takes it for a leftover.
        let put = written.and_then(|(_held, folder)| {
            self.disk.rename(&unfinished, &saved).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => Left::Swept,
                _ => Left::Perhaps,
            })?;
            self.sync().and_then(|()| self.make_lasting()).map_err(|_| Left::Perhaps)?;
            // The file may be gone if it was taken in. Its folder may not.
            let is_there = location::is_at(self.disk.as_ref(), folder, &self.path);
            is_there.ok().filter(|is_there| *is_there).map(drop).ok_or(Left::Perhaps)
        });
        if put.is_err() {
            let _ = self.disk.remove(&unfinished);
            let _ = self.disk.remove(&saved);
        }
        put
    }

    /// The file, and its folder.
    fn write(
        &self,
        unfinished: &Path,
        bytes: &[u8],
    ) -> io::Result<(Box<dyn DiskFile>, Option<FileId>)> {
        self.make(&self.path)?;
        let folder = self.disk.look(&self.path)?.id;
        let file = self.disk.create_held(unfinished)?;
        file.write_at(bytes, 0)?;
        file.sync()?;
        Ok((file, folder))
    }

    /// The bytes of a file, if they are no more than `bytes_max`.
    pub(in crate::store) fn read(&self, name: &Id, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
        let file = self.open(name)?;
        let length = file.length()?;
        if length > bytes_max {
            return Ok(None);
        }
        Ok(Some(first(file.as_ref(), length)?))
    }

    /// The length of a file, and its first bytes, at most this many.
    pub(in crate::store) fn head(&self, name: &Id, bytes: usize) -> io::Result<(u64, Vec<u8>)> {
        let file = self.open(name)?;
        let length = file.length()?;
        Ok((length, first(file.as_ref(), length.min(bytes as u64))?))
    }

    /// Removes a file; [`Folder::sync`] makes that durable.
    pub(in crate::store) fn remove(&self, name: &Id) {
        let _ = self.disk.remove(&self.saved(name));
    }

    /// Makes removals and renames durable.
    pub(in crate::store) fn sync(&self) -> io::Result<()> {
        self.disk.sync_directory(&self.path)
    }

    /// Moves a file out of the way, and returns its new path.
    pub(in crate::store) fn set_aside(&self, name: &Id) -> Result<PathBuf> {
        let aside = self.path.join(ASIDE);
        self.make(&aside).at(&aside)?;
        let mut to = aside.join(format!("{name}{SAVED}"));
        for number in 1_u64.. {
            match self.disk.rename_new(&self.saved(name), &to) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    to = aside.join(format!("{name}-{number}{SAVED}"));
                }
                renamed => {
                    renamed.at(&to)?;
                    break;
                }
            }
        }
        Ok(to)
    }

    /// Whether a listing has a file of this name, whatever its kind.
    pub(in crate::store) fn is_in(listing: &Listing, name: &str) -> bool {
        let name = format!("{name}{SAVED}");
        listing.names.iter().any(|it| it.as_os_str() == name.as_str())
    }

    /// Where a file of this name is.
    pub(in crate::store) fn saved(&self, name: &Id) -> PathBuf {
        self.path.join(format!("{name}{SAVED}"))
    }

    fn open(&self, name: &Id) -> io::Result<Box<dyn DiskFile>> {
        let path = self.saved(name);
        if !self.disk.is_file(&path) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.disk.open(&path)
    }

    fn make(&self, folder: &Path) -> io::Result<()> {
        self.disk.create_directory(folder)?;
        let Some(kind) = self.obstacle_at(folder) else { return Ok(()) };
        let reason = format!("it is {kind}, and no directory");
        Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
    }

    /// Makes the name of the folder durable, unless that was done since the folder was made.
    ///
    /// Once there is a file in it, nobody removes the folder and makes another.
    fn make_lasting(&self) -> io::Result<()> {
        let mut lasting = lock(&self.lasting);
        let is_at = |folder: &dyn DiskFile| {
            folder.id().and_then(|id| location::is_at(self.disk.as_ref(), id, &self.path))
        };
        if !lasting.as_deref().is_some_and(|folder| matches!(is_at(folder), Ok(true))) {
            let folder = self.disk.open_directory(&self.path).ok();
            self.disk.sync_directory(location::parent(&self.path))?;
            *lasting = folder;
        }
        Ok(())
    }
}

/// The first bytes of a file, which has at least this many.
fn first(file: &dyn DiskFile, length: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; length];
    file.read_at(&mut bytes, 0)?;
    Ok(bytes)
}
