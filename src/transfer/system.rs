//! Calls that differ between operating systems: syncs, links, modes, identities of files.

use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::Path;

/// Identifies a file: its device and inode number, or a hash of its name.
pub type Identity = (u64, u64);

/// The file system of a directory, which can be synced as a whole.
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

    /// True if a file is on it. A directory below may be another file system.
    #[must_use]
    pub fn has(&self, file: &Metadata) -> bool {
        identity(file).is_some_and(|(device, _)| device == self.device)
    }

    /// Syncs the file system. Ten thousand syncs of single files take seconds; this takes only as
    /// long as writing their bytes.
    ///
    /// # Errors
    /// Those of the system.
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

/// True if there may be a process of this number.
#[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix can tell"))]
pub(crate) fn is_alive(process: u32) -> bool {
    #[cfg(unix)]
    if let Some(process) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) {
        let tried = rustix::process::test_kill_process(process);
        return tried != Err(rustix::io::Errno::SRCH);
    }
    true
}

// Only Unix has them.
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

/// Stands for the identity of a file on systems without inode numbers. Ignores case.
#[must_use]
pub fn identity_of_name(path: &Path) -> Identity {
    let mut hasher = DefaultHasher::new();
    path.to_string_lossy().to_lowercase().hash(&mut hasher);
    (u64::MAX, hasher.finish())
}

/// The permissions of a file. `None` without Unix modes.
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
