//! Unfinished files: a store, a backup or a repair before it gets its name.
//!
//! Each has a random name, so no trap can be there, and a file with such a name is ours. Must never
//! remove anything else.
//!
//! The name ends in `.unfinished`; the file gets its own name by a rename that replaces nothing.
//! The next process that makes the same file removes what a killed one left under such a name, if
//! it is a regular file that no process has locked.
//!
//! A process that opens a store in which nothing was ever saved syncs its directory, whichever
//! process made it, so that the name is on disk before the first checkpoint.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::store::engine::disk::Disk;
use crate::store::engine::location::{beside, parent};

/// The suffix of such a name; no file that is meant to stay has it.
pub(in crate::store) const ENDING: &str = ".unfinished";
// A UUID without hyphens.
const UNIQUE_CHARS: usize = 32;
// Suffixes of a store that is made under such a name.
const BESIDE: [&str; 3] = ["", ".journal", ".lock"];

/// The kind of file under construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Making {
    Store,
    Backup,
    Repair,
}

impl Making {
    const ALL: [Self; 3] = [Self::Store, Self::Backup, Self::Repair];

    fn start(self) -> &'static str {
        match self {
            Self::Store => ".new-",
            Self::Backup => ".backup-",
            Self::Repair => ".repair-",
        }
    }
}

/// A new name for a file that will be renamed to `path`.
pub(in crate::store) fn name(path: &Path, making: Making) -> PathBuf {
    let unique = uuid::Uuid::new_v4().simple();
    beside(path, &format!("{}{unique}{ENDING}", making.start()))
}

/// Removes an unfinished file, and the files that a store has beside it.
pub(in crate::store) fn remove(disk: &dyn Disk, unfinished: &Path) {
    for suffix in BESIDE {
        let _ = disk.remove(&beside(unfinished, suffix));
    }
}

/// Removes the unfinished files for `path` that killed processes left.
///
/// A running process has its file locked, except for moments shorter than `age_min`.
pub(in crate::store) fn sweep(disk: &dyn Disk, path: &Path, making: Making, age_min: Duration) {
    let directory = parent(path);
    for name in disk.list(directory).unwrap_or_default() {
        let left = directory.join(&name);
        let is_left = || rest(&name, path).is_some_and(|rest| is_of(rest, making));
        let is_old = || disk.age(&left).is_some_and(|age| age >= age_min);
        if is_left() && disk.is_file(&left) && is_old() && !disk.is_held(&left) {
            let _ = disk.remove(&left);
        }
    }
}

/// Whether a file has the name of an unfinished file for `path`, which [`sweep`] may remove.
pub(in crate::store) fn is_swept(name: &Path, path: &Path) -> bool {
    let is_beside = parent(name) == parent(path);
    let rest = name.file_name().and_then(|name| rest(name, path));
    is_beside && rest.is_some_and(|rest| Making::ALL.iter().any(|making| is_of(rest, *making)))
}

/// The rest of a name after the file name of `path`.
fn rest<'a>(name: &'a OsStr, path: &Path) -> Option<&'a str> {
    let start = path.file_name()?.as_encoded_bytes();
    std::str::from_utf8(name.as_encoded_bytes().strip_prefix(start)?).ok()
}

fn is_of(rest: &str, making: Making) -> bool {
    let inner = |rest| behind(rest, Making::Store) == Some("");
    behind(rest, making).is_some_and(|rest| BESIDE.contains(&rest) || inner(rest))
}

/// The rest of a name after that of an unfinished file.
fn behind(rest: &str, making: Making) -> Option<&str> {
    let (unique, rest) = rest.strip_prefix(making.start())?.split_at_checked(UNIQUE_CHARS)?;
    uuid::Uuid::try_parse(unique).ok()?;
    rest.strip_prefix(ENDING)
}
