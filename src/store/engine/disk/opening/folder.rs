//! A directory that is held open. What is done in it stays in it, whatever becomes of its path.
//!
//! Must never follow a link below the directory that the user named.

#[cfg(unix)]
pub(crate) use held::Folder;
#[cfg(not(unix))]
pub(crate) use none::Folder;

#[cfg(unix)]
mod held {
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, Mode, OFlags, RawMode, openat, renameat, statat, unlinkat};
    use rustix::io::Errno;

    /// See the module.
    #[derive(Debug)]
    pub(crate) struct Folder(OwnedFd);

    // Asks for no permission to list the directory, where the system knows that.
    #[cfg(target_os = "linux")]
    const HELD: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    #[cfg(not(target_os = "linux"))]
    const HELD: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    impl Folder {
        /// Opens the directory at `path` below `root`, with `/` between its parts. `root` may be a
        /// link.
        ///
        /// # Errors
        /// Those of the system, also if a part is a link.
        pub(crate) fn open(root: &Path, path: &str) -> io::Result<Self> {
            // An empty path is the current directory.
            let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
            let mut folder = openat(rustix::fs::CWD, root, HELD, Mode::empty())?;
            for part in path.split('/').filter(|part| !part.is_empty()) {
                folder = openat(&folder, part, HELD | OFlags::NOFOLLOW, Mode::empty())?;
            }
            Ok(Self(folder))
        }

        /// Makes a file with this mode less the umask, as
        /// [`make_with_mode`](crate::store::opening::make_with_mode).
        ///
        /// # Errors
        /// Those of the system; `AlreadyExists` if the name is taken.
        pub(crate) fn make(&self, name: &str, mode: u32) -> io::Result<File> {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(mode as RawMode);
            Ok(openat(&self.0, name, flags, mode)?.into())
        }

        /// Whether a name is taken. A link is not followed.
        ///
        /// # Errors
        /// Those of the system.
        pub(crate) fn has(&self, name: &str) -> io::Result<bool> {
            match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Ok(true),
                Err(Errno::NOENT) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }

        /// Renames a file if the new name is free; `None` where that is not supported.
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        pub(crate) fn rename_new(&self, from: &str, to: &str) -> Option<io::Result<()>> {
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(&self.0, from, &self.0, to, flags) {
                Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => None,
                renamed => Some(renamed.map_err(io::Error::from)),
            }
        }

        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        pub(crate) fn rename_new(&self, _: &str, _: &str) -> Option<io::Result<()>> {
            None
        }

        /// Renames a file, in place of the one that has the new name.
        ///
        /// # Errors
        /// Those of the system.
        pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            Ok(renameat(&self.0, from, &self.0, to)?)
        }

        /// Removes a file.
        ///
        /// # Errors
        /// Those of the system.
        pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
            Ok(unlinkat(&self.0, name, AtFlags::empty())?)
        }

        /// Whether a path still leads to this directory, through no link below `root`.
        pub(crate) fn is_at(&self, root: &Path, path: &str) -> bool {
            let identity = |folder: &Self| {
                rustix::fs::fstat(&folder.0).ok().map(|found| (found.st_dev, found.st_ino))
            };
            Self::open(root, path).is_ok_and(|there| identity(&there) == identity(self))
        }
    }
}

#[cfg(not(unix))]
mod none {
    use std::fs::File;
    use std::io::{self, ErrorKind};
    use std::path::Path;

    /// There is none: directories cannot be held open.
    #[derive(Debug)]
    pub(crate) enum Folder {}

    impl Folder {
        pub(crate) fn open(_: &Path, _: &str) -> io::Result<Self> {
            Err(ErrorKind::Unsupported.into())
        }

        pub(crate) fn make(&self, _: &str, _: u32) -> io::Result<File> {
            match *self {}
        }

        pub(crate) fn has(&self, _: &str) -> io::Result<bool> {
            match *self {}
        }

        pub(crate) fn rename_new(&self, _: &str, _: &str) -> Option<io::Result<()>> {
            match *self {}
        }

        pub(crate) fn rename(&self, _: &str, _: &str) -> io::Result<()> {
            match *self {}
        }

        pub(crate) fn remove(&self, _: &str) -> io::Result<()> {
            match *self {}
        }

        pub(crate) fn is_at(&self, _: &Path, _: &str) -> bool {
            match *self {}
        }
    }
}
