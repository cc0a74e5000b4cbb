//! What systems do in different ways: syncs, links, modes, and which file is which.

use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::Path;

/// What tells a file from all others: its device and number, or what stands for them.
pub type Identity = (u64, u64);

/// The file system of a directory, all of which can be synced at once.
#[derive(Debug)]
pub struct FileSystem {
    #[cfg(target_os = "linux")]
    directory: File,
    #[cfg(target_os = "linux")]
    device: u64,
}

#[cfg(target_os = "linux")]
impl FileSystem {
    #[must_use]
    pub fn of(directory: &Path) -> Option<Self> {
        let directory = File::open(directory).ok()?;
        let (device, _) = identity(&directory.metadata().ok()?)?;
        Some(Self { directory, device })
    }

    /// Whether a file is in it; a directory below may be another file system.
    #[must_use]
    pub fn has(&self, file: &Metadata) -> bool {
        identity(file).is_some_and(|(device, _)| device == self.device)
    }

    /// A sync of each of ten thousand files takes some seconds; this takes as long as their bytes.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.directory)?)
    }
}

#[cfg(not(target_os = "linux"))]
impl FileSystem {
    #[must_use]
    pub fn of(_directory: &Path) -> Option<Self> {
        None
    }

    #[must_use]
    pub fn has(&self, _file: &Metadata) -> bool {
        false
    }

    pub fn sync(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether there is a process of this number; where that cannot be told, there may be.
#[cfg_attr(not(unix), expect(unused_variables, reason = "nobody can be asked"))]
pub(crate) fn is_alive(process: u32) -> bool {
    #[cfg(unix)]
    if let Some(process) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) {
        let tried = rustix::process::test_kill_process(process);
        return tried != Err(rustix::io::Errno::SRCH);
    }
    true
}

// Other systems have none to tell.
#[allow(clippy::unnecessary_wraps)]
#[must_use]
#[cfg(unix)]
pub fn identity(file: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    Some((file.dev(), file.ino()))
}

#[must_use]
#[cfg(not(unix))]
pub fn identity(_file: &Metadata) -> Option<Identity> {
    None
}

/// Stands for the identity of a file where a system does not tell, and case does not count.
#[must_use]
pub fn identity_of_name(path: &Path) -> Identity {
    let mut hasher = DefaultHasher::new();
    path.to_string_lossy().to_lowercase().hash(&mut hasher);
    (u64::MAX, hasher.finish())
}

/// The permissions of a file; other systems have none to tell.
#[allow(clippy::unnecessary_wraps)]
#[must_use]
#[cfg(unix)]
pub fn mode(file: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(file.permissions().mode() & 0o777)
}

#[must_use]
#[cfg(not(unix))]
pub fn mode(_file: &Metadata) -> Option<u32> {
    None
}

#[cfg(unix)]
pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
pub(crate) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub fn link(target: &[u8], at: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), at)
}

#[cfg(not(unix))]
pub fn link(_target: &[u8], _at: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
