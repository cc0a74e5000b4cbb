//! What opening files takes on Unix.

use std::fs::{FileType, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

// `custom_flags` replaces all flags, so each call sets them together.
fn flags(flags: OFlags) -> i32 {
    i32::try_from(flags.bits()).unwrap_or_default()
}

pub(super) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(flags(OFlags::NONBLOCK))
}

pub(super) fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(flags(OFlags::NONBLOCK | OFlags::NOFOLLOW))
}

pub(super) fn directory(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(flags(OFlags::DIRECTORY))
}

pub(super) fn with_mode(options: &mut OpenOptions, mode: u32) -> &mut OpenOptions {
    options.mode(mode)
}

pub(super) fn names(found: &Metadata) -> u64 {
    found.nlink()
}

pub(super) fn special(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_fifo() => "a FIFO",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn renamed(from: &Path, to: &Path, flags: rustix::fs::RenameFlags) -> Option<io::Result<()>> {
    use rustix::fs::{CWD, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, flags) {
        // This kernel or file system does not support it.
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => None,
        renamed => Some(renamed.map_err(io::Error::from)),
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn rename_new(from: &Path, to: &Path) -> Option<io::Result<()>> {
    renamed(from, to, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(super) fn exchange(one: &Path, other: &Path) -> Option<io::Result<()>> {
    renamed(one, other, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn rename_new(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(super) fn exchange(_: &Path, _: &Path) -> Option<io::Result<()>> {
    None
}
