//! Exchanges the names of the old store and the new one.
//!
//! Must never leave the path of the store without a file.

#[cfg(all(test, unix))]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use crate::checkpoint::Timestamp;
use crate::error::{At as _, Result};
use crate::store::engine::disk::{Disk, Lock, StorePath};
use crate::store::engine::location;
use crate::store::engine::sectors::Sectors;

// Names tried before a repair gives up, if a directory cannot be listed or is full of them.
const NAMES_MAX: u32 = 1000;

/// Puts a new store in the place of an old one, which stays under another name.
///
/// The path always leads to one of the two, and neither ever has two names: a store with two names
/// is refused, and a kill here must leave one that opens.
pub(super) fn exchange(new_path: &Path, old: &StorePath, now: Timestamp) -> Result<PathBuf> {
    let (path, disk) = (old.path.as_path(), old.disk.as_ref());
    let aside = free_name(disk, path, now);
    let (journal, journal_aside) =
        (location::beside(path, ".journal"), location::beside(&aside, ".journal"));
    if disk.is_file(&journal) {
        copy(disk, &journal, &journal_aside).at(&journal_aside)?;
    }
    // Locked until the old journal is removed: a process that opened the new store now would take
    // that journal for its own. It has been copied by then.
    let new = disk.open(new_path).at(new_path)?;
    if !new.try_lock(Lock::Exclusive).at(new_path)? {
        return Err(io::Error::from(io::ErrorKind::WouldBlock)).at(new_path);
    }
    let sync = || disk.sync_directory(location::parent(path)).at(path);
    change_names(disk, new_path, path, &aside)?;
    sync()?;
    match disk.remove(&journal) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).at(&journal),
        _ => {}
    }
    sync()?;
    Ok(aside)
}

/// A free name for the old store, whose journal's name is free too. A link in their place counts as
/// taken. If another process takes them now, making the file fails: nothing is replaced.
fn free_name(disk: &dyn Disk, path: &Path, now: Timestamp) -> PathBuf {
    let time: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let is_free = |aside: &Path| {
        let names = [aside.to_owned(), location::beside(aside, ".journal")];
        let is_absent = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        names.iter().all(|name| disk.look(name).is_err_and(is_absent))
    };
    let first = location::beside(path, &format!(".damaged-{time}"));
    let mut others =
        (1..NAMES_MAX).map(|number| location::beside(path, &format!(".damaged-{time}-{number}")));
    if is_free(&first) { first } else { others.find(|it| is_free(it)).unwrap_or(first) }
}

/// Gives the name of the old store to the new one, and `aside` to the old one.
fn change_names(disk: &dyn Disk, new_path: &Path, path: &Path, aside: &Path) -> Result<()> {
    let sync = || disk.sync_directory(location::parent(path));
    // Not the other way round: the next repair removes unfinished files, and the old store must
    // never have such a name.
    disk.rename_new(new_path, aside).at(aside)?;
    // A power cut must not leave the old store without a name.
    let exchanged = sync().and_then(|()| disk.exchange(aside, path));
    if matches!(exchanged, Ok(true)) {
        return Ok(());
    }
    disk.rename(aside, new_path).at(new_path)?;
    exchanged.at(path)?;
    copy(disk, path, aside).at(aside)?;
    sync().at(path)?;
    disk.rename(new_path, path).at(path)
}

/// Copies a file to a free name and syncs the copy, with zeros where the disk cannot read.
fn copy(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    let target = disk.create(to)?;
    let copied = Sectors::open(disk, from).and_then(|from| from.copy(target.as_ref()));
    copied.and_then(|()| target.sync()).inspect_err(|_| drop(disk.remove(to)))
}
