//! Opens, makes and renames files. The store and the command do so only here.
//!
//! The directory of a store may be hostile, a cloned repository for example, so a link or a FIFO
//! may be at any name that the store uses. Must never follow a symbolic link at the end of a path,
//! truncate a file, or block on a FIFO. Only a path that the user names for reading may be a link.
//!
//! The rules:
//!
//! - Files are for their owner alone: 0600, and 0700 for directories of our own, less where the
//!   umask says so. Content that came from a file gets back the mode it had, but none wider than
//!   0755 less the umask, unless `export --recorded-modes` asks for it. Its directories follow the
//!   umask: they are the user's. Only manual pages are for all to read.
//! - Files are opened without following a symbolic link (`O_NOFOLLOW`) and without waiting for a
//!   FIFO (`O_NONBLOCK`), and must be regular files. A file that is written in place must have one
//!   name. New files are created exclusively (`O_EXCL`). Links in the path that the user names are
//!   resolved first, and are fine.
//! - A store with several names is refused before anything of it is read. The paths of the journal,
//!   the lock file and the spool are derived from the name, so two names would have two of each.
//!   After a kill, a process that opens the file under the other name would commit over what the
//!   first journal holds. Looking for the journals of all names does not help, since a name may be
//!   in any directory of the file system. `repair` reads such a store, and makes one with a single
//!   name.

#[cfg(feature = "transfer")]
mod folder;
#[cfg_attr(unix, path = "opening/unix.rs")]
#[cfg_attr(not(unix), path = "opening/other.rs")]
mod system;
#[cfg(unix)]
#[cfg(test)]
mod tests;

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;

#[cfg(feature = "transfer")]
pub(crate) use folder::Folder;

/// Opens a regular file to read it.
///
/// # Errors
/// Those of the system; [`ErrorKind::InvalidInput`] if it is not a regular file.
pub fn read(path: &Path) -> io::Result<File> {
    Ok(read_found(path)?.0)
}

/// As [`read`]; also says what the file is like.
///
/// # Errors
/// As [`read`].
pub fn read_found(path: &Path) -> io::Result<(File, Metadata)> {
    regular(OpenOptions::new().read(true), path)
}

/// As [`read`], to write to it as well. The file must have no other name (hard link): under that it
/// may be an unrelated file of the user.
///
/// # Errors
/// As [`read`].
pub fn read_and_write(path: &Path) -> io::Result<File> {
    let (file, found) = regular(OpenOptions::new().read(true).write(true), path)?;
    match names(&found) {
        0 | 1 => Ok(file),
        names => Err(refused(&format!("it has {names} names (hard links): refusing to write"))),
    }
}

/// Opens a regular file that the user named, to read it. A symbolic link is followed.
///
/// # Errors
/// As [`read`].
pub fn read_named(path: &Path) -> io::Result<File> {
    let file = system::without_waiting(OpenOptions::new().read(true)).open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Makes a file that only its owner may read, to read and write it.
///
/// # Errors
/// Those of the system; [`ErrorKind::AlreadyExists`] if the name is taken.
pub fn make(path: &Path) -> io::Result<File> {
    make_with_mode(path, 0o600)
}

/// As [`make`], with this mode less the umask.
///
/// # Errors
/// As [`make`].
pub fn make_with_mode(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    system::with_mode(&mut options, mode).open(path)
}

/// As [`read_and_write`]; makes the file if there is none.
///
/// # Errors
/// As [`read`].
pub fn read_and_write_or_make(path: &Path) -> io::Result<File> {
    loop {
        match read_and_write(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => return opened,
        }
        match make(path) {
            // Another process was quicker.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
}

/// Opens a directory, to sync it or to recognize it later.
///
/// # Errors
/// Those of the system.
pub fn directory(path: &Path) -> io::Result<File> {
    system::directory(OpenOptions::new().read(true)).open(path)
}

/// Renames a file if the new name is free.
///
/// # Errors
/// Those of the system; [`ErrorKind::AlreadyExists`] if the name is taken.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(renamed) = system::rename_new(from, to) {
        return renamed;
    }
    match fs::symlink_metadata(to) {
        Err(error) if error.kind() == ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
    }
}

/// Exchanges the names of two files in one step; false where the file system cannot do that.
///
/// # Errors
/// Those of the system.
pub fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    system::exchange(one, other).map_or(Ok(false), |exchanged| exchanged.map(|()| true))
}

/// Number of names (hard links) of a file; 1 where the system does not know.
#[must_use]
pub fn names(found: &Metadata) -> u64 {
    system::names(found)
}

/// [`kind`] of a directory.
pub(in crate::store) const DIRECTORY: &str = "a directory";
/// What [`kind`] says of a symbolic link.
pub(in crate::store) const SYMBOLIC_LINK: &str = "a symbolic link";

/// The kind of a file that is not a regular one, in words.
#[must_use]
pub fn kind(kind: FileType) -> &'static str {
    if kind.is_symlink() {
        SYMBOLIC_LINK
    } else if kind.is_dir() {
        DIRECTORY
    } else {
        system::special(kind)
    }
}

fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<(File, Metadata)> {
    let opened = system::without_following(system::without_waiting(options)).open(path);
    match opened {
        Ok(file) => {
            let found = file.metadata()?;
            check(&found)?;
            Ok((file, found))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(error),
        // Systems differ in how they refuse a link, a directory or a socket.
        Err(error) => {
            let found = fs::symlink_metadata(path);
            found.map_or(Ok(()), |found| check(&found))?;
            Err(error)
        }
    }
}

fn check(found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    Err(refused(&format!("it is {}, not a regular file", kind(found.file_type()))))
}

fn refused(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, reason)
}

/// Allocates blocks for a part of a file without writing to them; false if the file system cannot.
#[cfg(target_os = "linux")]
pub(super) fn allocate(file: &File, from: u64, bytes: u64) -> io::Result<bool> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::empty(), from, bytes) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn allocate(_: &File, _: u64, _: u64) -> io::Result<bool> {
    Ok(false)
}

// A file system with less free space than this many reserves needs it for saves.
#[cfg(target_os = "linux")]
const PLENTY: u64 = 64;
// More than the blocks of any short file, less than any reserve.
#[cfg(target_os = "linux")]
const BLOCKS_BYTES: u64 = 128 << 10;

/// Keeps disk space beyond the end of a short file, up to this length at least.
#[cfg(target_os = "linux")]
pub(super) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate, fstatvfs};
    use rustix::io::Errno;
    if allocated(&file.metadata()?) >= bytes {
        return Ok(());
    }
    let system = fstatvfs(file)?;
    if system.f_bavail.saturating_mul(system.f_frsize) < PLENTY * bytes {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// Gives back the disk space that a short file keeps beyond this length; false if there is none.
#[cfg(target_os = "linux")]
pub(super) fn cut_reserve(file: &File, bytes: u64) -> io::Result<bool> {
    use rustix::fs::{FallocateFlags, fallocate};
    let (found, least) = (file.metadata()?, bytes + BLOCKS_BYTES);
    if allocated(&found) <= found.len() + least {
        return Ok(false);
    }
    // Setting the same length drops all blocks beyond it.
    file.set_len(found.len())?;
    file.sync_data()?;
    let _ = bytes > 0 && fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes).is_ok();
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn cut_reserve(_: &File, _: u64) -> io::Result<bool> {
    Ok(false)
}

/// Whether a short file has disk space beyond its end.
#[cfg(target_os = "linux")]
pub(super) fn is_reserved(file: &File) -> bool {
    file.metadata().is_ok_and(|found| allocated(&found) > found.len() + BLOCKS_BYTES)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_reserved(_: &File) -> bool {
    false
}

/// Punches holes; false if that freed no disk space.
#[cfg(target_os = "linux")]
pub(super) fn free(file: &File, parts: &[Range<u64>]) -> io::Result<bool> {
    use rustix::fs::{FallocateFlags, fallocate};
    let before = allocated(&file.metadata()?);
    let free = |part: &Range<u64>| {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(file, flags, part.start, part.end - part.start)
    };
    // A hole in the middle of an extent may itself need a block, which another hole may free.
    let failed: Vec<_> = parts.iter().rev().filter(|part| free(part).is_err()).collect();
    for part in failed {
        let _ = free(part);
    }
    Ok(allocated(&file.metadata()?) < before)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn free(_: &File, _: &[Range<u64>]) -> io::Result<bool> {
    Ok(false)
}

#[cfg(target_os = "linux")]
fn allocated(found: &Metadata) -> u64 {
    // In units of 512 bytes, whatever the block size is.
    std::os::unix::fs::MetadataExt::blocks(found) * 512
}
