//! A foreign file in the place of the journal is moved away, never removed.

#[cfg(all(test, unix))]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use super::left::{Foreign, Left};
use super::{OF_ANOTHER, STRANGE};
use crate::error::{At, Result};
use crate::store::engine::disk::Disk;
use crate::store::engine::location;

/// Moves away a file that is not the journal of this store; returns where to, and what it is.
pub(in crate::store) fn clear_place(
    disk: &dyn Disk,
    path: &Path,
    left: &Left,
) -> Result<Option<(PathBuf, &'static str)>> {
    Ok(match left.foreign {
        Some(Foreign::Journal(other)) => {
            Some((set_aside(disk, path, &format!("{other:016x}"))?, OF_ANOTHER))
        }
        Some(Foreign::Strange) => Some((set_aside(disk, path, "strange")?, STRANGE)),
        None => None,
    })
}

/// Moves a file away under a free name, for its owner.
pub(super) fn set_aside(disk: &dyn Disk, path: &Path, suffix: &str) -> Result<PathBuf> {
    let directory = location::parent(path);
    let mut aside = location::beside(path, &format!(".{suffix}"));
    for number in 1_u64.. {
        match disk.rename_new(path, &aside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                aside = location::beside(path, &format!(".{suffix}-{number}"));
            }
            renamed => {
                renamed.at(path)?;
                break;
            }
        }
    }
    disk.sync_directory(directory).at(directory)?;
    Ok(aside)
}
