//! Where a store lies: its one path, the names of the files beside it, and the file at a path.
//!
//! Must never make or change a file.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::store::engine::disk::{Disk, FileId, RealDisk};

/// The one name of a store from which every process derives its journal and lock file, despite
/// links and changes of directory.
pub(in crate::store) fn resolve(path: &Path) -> PathBuf {
    if let Ok(found) = fs::canonicalize(path) {
        return found;
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolve(parent).join(name),
        _ => path,
    }
}

pub(in crate::store) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether the path leads to this file.
pub(in crate::store) fn is_at(
    disk: &dyn Disk,
    file: Option<FileId>,
    path: &Path,
) -> io::Result<bool> {
    match disk.look(path) {
        Ok(found) => Ok(found.id == file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes a rename durable: the name is on disk only with its directory.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    RealDisk.sync_directory(parent(path))
}

/// The directory that a file is in.
pub(in crate::store) fn parent(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}
