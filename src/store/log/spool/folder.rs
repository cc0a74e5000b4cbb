//! The folder of the spool: all operations on its files but the appends of `own`, and nothing else.
//!
//! Links and whatever else does not belong here are never followed, read or removed. If the folder
//! itself is a link, a file or a FIFO, the spool is not used: others may be able to read what a
//! link leads to.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::checkpoint::{Id, Timestamp};
use crate::error::{At as _, Result};
use crate::store::engine::disk::opening::DIRECTORY;
use crate::store::engine::disk::{Disk, DiskFile, StorePath};
use crate::store::engine::location;
use crate::sync::lock;

use super::BYTES_MAX;
use super::taken::{LogName, log_of};

// One group of saves, as earlier builds wrote it.
const SAVED: &str = ".save";
const LOG: &str = ".log";
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
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct Listing {
    /// The names of files with one group of saves each, in the order in which they were saved.
    pub(in crate::store) saved: Vec<Id>,
    /// The logs, in the order in which they were started.
    pub(in crate::store) logs: Vec<LogName>,
    /// Files that a process is writing, or was when it was killed.
    unfinished: Vec<PathBuf>,
    /// Names that do not belong here.
    pub(in crate::store) strange: u64,
    /// All names.
    pub(in crate::store) names: Vec<OsString>,
}

impl Listing {
    /// Whether there is nothing to take in.
    pub(in crate::store) fn is_empty(&self) -> bool {
        self.saved.is_empty() && self.logs.is_empty()
    }
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

    /// The names in the folder; none if there is no folder, or no directory of our own.
    pub(in crate::store) fn list(&self) -> Result<Listing> {
        use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        if self.obstacle().is_some() {
            return Ok(Listing::default());
        }
        let names = match self.disk.list(&self.path) {
            Err(error) if matches!(error.kind(), NotFound | NotADirectory | PermissionDenied) => {
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
            let log = || LogName::parse(name.strip_suffix(LOG)?);
            if let Some(id) = id(SAVED) {
                listing.saved.push(id);
            } else if let Some(log) = log().filter(|_| self.disk.is_file(&path)) {
                listing.logs.push(log);
            } else if id(UNFINISHED).is_some() {
                listing.unfinished.push(path);
            } else if name != ASIDE {
                listing.strange += 1;
            }
        }
        listing.saved.sort_unstable();
        listing.logs.sort_unstable();
        listing.names = names;
        Ok(listing)
    }

    /// A name for a log that is started `now`; it sorts after all names in the folder.
    ///
    /// Logs of different boots are taken in by name, and the clock may be set back between them.
    pub(super) fn next_name(&self, now: Timestamp) -> LogName {
        let names = self.disk.list(&self.path).unwrap_or_default();
        let millis = |name: &OsString| {
            let name = name.to_str()?;
            let id = name.strip_suffix(SAVED).or_else(|| name.split_once('.').map(|it| it.0));
            Some(Id::new(id?).ok()?.parts()?.0)
        };
        let next = names.iter().filter_map(millis).max();
        let next = next.map_or(0, |last| last.saturating_add(1));
        let id = Id::generate_at(Id::millis_at(now).max(next));
        LogName::new(&id, self.disk.boot(), self.disk.ticks())
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

    /// Removes a log; [`Folder::sync`] makes that durable.
    pub(in crate::store) fn remove_log(&self, name: &LogName) {
        let _ = self.disk.remove(&self.log(name));
    }

    /// Whether a process may still write to a log.
    pub(in crate::store) fn is_held(&self, name: &LogName) -> bool {
        self.disk.is_held(&self.log(name))
    }

    /// Makes removals and renames durable.
    pub(in crate::store) fn sync(&self) -> io::Result<()> {
        self.disk.sync_directory(&self.path)
    }

    /// Moves a file out of the way, and returns its new path.
    pub(in crate::store) fn set_aside(&self, name: &Id) -> Result<PathBuf> {
        self.move_aside(&self.saved(name), (name.as_str(), SAVED))
    }

    /// As [`Folder::set_aside`], for a log.
    pub(in crate::store) fn set_log_aside(&self, name: &LogName) -> Result<PathBuf> {
        self.move_aside(&self.log(name), (name.as_str(), LOG))
    }

    /// Copies a damaged log out of the way, which is on disk when this returns: where it is now,
    /// unless there is such a copy already.
    pub(in crate::store) fn copy_aside(&self, name: &LogName) -> Result<Option<PathBuf>> {
        let (log, aside) = (self.log(name), self.path.join(ASIDE));
        self.make(&aside).at(&aside)?;
        let read = |path: &Path| {
            let file = self.disk.open(path)?;
            first(file.as_ref(), file.length()?.min(BYTES_MAX))
        };
        let bytes = read(&log).at(&log)?;
        let copies = self.aside();
        let is_of_it = |path: &&PathBuf| {
            let found = path.file_name().and_then(|found| found.to_str());
            found.is_some_and(|found| found.starts_with(name.as_str()))
        };
        let mut copies = copies.iter().filter(is_of_it);
        if copies.any(|path| read(path).is_ok_and(|copy| copy == bytes)) {
            return Ok(None);
        }
        let unfinished = aside.join(format!("{name}{UNFINISHED}"));
        let copy = || {
            let _ = self.disk.remove(&unfinished);
            let file = self.disk.create(&unfinished)?;
            file.write_at(&bytes, 0)?;
            file.sync()
        };
        copy().at(&unfinished)?;
        let to = self.move_aside(&unfinished, (name.as_str(), LOG))?;
        self.disk.sync_directory(&aside).and_then(|()| self.sync()).at(&aside)?;
        Ok(Some(to))
    }

    fn move_aside(&self, from: &Path, (name, suffix): (&str, &str)) -> Result<PathBuf> {
        let aside = self.path.join(ASIDE);
        self.make(&aside).at(&aside)?;
        let mut to = aside.join(format!("{name}{suffix}"));
        for number in 1_u64.. {
            match self.disk.rename_new(from, &to) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    to = aside.join(format!("{name}-{number}{suffix}"));
                }
                renamed => {
                    renamed.at(&to)?;
                    break;
                }
            }
        }
        Ok(to)
    }

    /// Whether a listing has the file that a row of `taken` names, whatever its kind.
    pub(in crate::store) fn is_in(listing: &Listing, row: &str) -> bool {
        let name = match log_of(row) {
            Some(log) => format!("{log}{LOG}"),
            None => format!("{row}{SAVED}"),
        };
        listing.names.iter().any(|it| it.as_os_str() == name.as_str())
    }

    /// Where a file of this name is.
    pub(in crate::store) fn saved(&self, name: &Id) -> PathBuf {
        self.path.join(format!("{name}{SAVED}"))
    }

    /// Where a log of this name is.
    pub(in crate::store) fn log(&self, name: &LogName) -> PathBuf {
        self.path.join(format!("{name}{LOG}"))
    }

    /// Makes the folder, unless it is there.
    pub(super) fn make_there(&self) -> io::Result<()> {
        self.make(&self.path)
    }

    pub(in crate::store) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
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
    pub(super) fn make_lasting(&self) -> io::Result<()> {
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
