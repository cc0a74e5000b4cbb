//! The old store and the new one change names.
//!
//! Must never leave a moment in which neither has the name of the store.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::checkpoint::Timestamp;
use crate::error::{At as _, Result};
use crate::store::disk::{Disk as _, RealDisk, opening};
use crate::store::file;
use crate::store::sectors::Sectors;

/// Puts a new store in the place of an old one, which stays under another name.
///
/// The old one has its name until the new one has it, and at no time has either two: a store with
/// two names is refused, and whoever is killed here leaves one that opens.
pub(super) fn exchange(new_path: &Path, path: &Path, now: Timestamp) -> Result<PathBuf> {
    let time: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let aside = file::beside(path, &format!(".damaged-{time}"));
    let (journal, journal_aside) =
        (file::beside(path, ".journal"), file::beside(&aside, ".journal"));
    if RealDisk.is_file(&journal) {
        copy(&journal, &journal_aside).at(&journal_aside)?;
    }
    // Nobody may open the new one, and make a journal of its own, before that of the old one is
    // gone: it has another name by now, and what is damaged in it would be refused again.
    let new = opening::read(new_path).at(new_path)?;
    new.try_lock().map_err(io::Error::from).at(new_path)?;
    change_names(new_path, path, &aside)?;
    file::sync_parent(path).at(path)?;
    match fs::remove_file(&journal) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).at(&journal),
        _ => {}
    }
    file::sync_parent(path).at(path)?;
    Ok(aside)
}

/// Gives the name of the old store to the new one, and `aside` to the old one.
fn change_names(new_path: &Path, path: &Path, aside: &Path) -> Result<()> {
    // Not the other way round: what is left unfinished is removed by the next repair, and the old
    // store must never be that.
    opening::rename_new(new_path, aside).at(aside)?;
    // Should the power be lost, the old one must not be without a name.
    let exchanged = file::sync_parent(path).and_then(|()| opening::exchange(aside, path));
    if matches!(exchanged, Ok(true)) {
        return Ok(());
    }
    fs::rename(aside, new_path).at(new_path)?;
    exchanged.at(path)?;
    copy(path, aside).at(aside)?;
    file::sync_parent(path).at(path)?;
    fs::rename(new_path, path).at(path)
}

/// Copies a file to a name that nothing has, and makes the copy last. What the disk cannot read is
/// zeros in it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut target = opening::make(to)?;
    let copied = Sectors::open(&RealDisk, from).and_then(|from| from.copy(&mut target));
    copied.and_then(|()| target.sync_all()).inspect_err(|_| drop(fs::remove_file(to)))
}
