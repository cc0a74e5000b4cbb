//! The place of a backup: which names it must not have, and which files it may replace.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::Backup;
use crate::error::{At as _, Error, Result};
use crate::store::care::apart;
use crate::store::engine::disk::opening::SYMBOLIC_LINK;
use crate::store::engine::disk::{DiskFile, StorePath};
use crate::store::turn::file::{self, Refusal};
use crate::store::turn::kind;
use crate::store::turn::lock::LockFile;

/// Refuses names that a copy must not have.
pub(super) fn check_target(to: &StorePath, store: &Path, backup: Backup) -> Result<()> {
    let (path, disk) = (to.path.as_path(), to.disk.as_ref());
    apart::check_apart(path, store)?;
    match disk.look(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).at(path),
        // Any other link was followed when the path was resolved.
        Ok(found) if found.is_other == Some(SYMBOLIC_LINK) => {
            let reason = "it is a symbolic link that leads nowhere, and is not replaced";
            return Err(Error::invalid("path", reason));
        }
        Ok(_) if !backup.overwrite => {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists)).at(path);
        }
        Ok(_) => check_replaced(to)?,
    }
    if !disk.is_free(path).at(path)? {
        return Err(LockFile::of(to).locked(Duration::ZERO));
    }
    Ok(())
}

/// Refuses to replace a file that is not a store.
pub(super) fn check_replaced(to: &StorePath) -> Result<()> {
    let found = to.disk.look(&to.path).at(&to.path)?;
    // Replacing an empty file loses nothing.
    if (found.is_other.is_none() && found.bytes == 0) || kind::is_store(to) {
        return Ok(());
    }
    Err(Error::invalid("path", "the file there is not a store, so it is not replaced"))
}

/// Locks the file that is about to be replaced, if there is one.
pub(super) fn lock_any(to: &StorePath) -> Result<Option<Box<dyn DiskFile>>, Refusal> {
    if to.disk.is_file(&to.path) { file::lock_alone(to).map(Some) } else { Ok(None) }
}
