//! A file that appears as a whole or not at all: written beside its place, synced, renamed.
//!
//! Must never leave part of a file under its name, nor a draft behind unless it is killed.

#[cfg(feature = "transfer")]
#[cfg(test)]
mod tests;

#[cfg(feature = "transfer")]
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
#[cfg(feature = "transfer")]
use std::process;

use super::opening;
use crate::store::sync_parent;

/// A file under construction. A draft that is dropped is removed.
///
/// ```
/// use std::io::Write as _;
/// use waypost::transfer::whole::WholeFile;
///
/// # fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("notes");
/// let mut file = WholeFile::new(&path, false)?;
/// file.write_all(b"all of it")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(path.metadata()?.len(), 9);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    replaces: bool,
    draft: PathBuf,
    file: BufWriter<File>,
}

#[cfg(feature = "transfer")]
impl WholeFile {
    /// Returns the path where a file is usually written before it has its name.
    #[must_use]
    pub fn draft_of(path: &Path) -> PathBuf {
        numbered(path, 0)
    }

    /// Makes the draft of a file that only its owner may read. `replaces` lets the file take the
    /// place of another one.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name is taken and the file does
    /// not replace.
    pub fn new(path: &Path, replaces: bool) -> io::Result<Self> {
        Self::with_mode(path, replaces, 0o600)
    }

    /// As [`WholeFile::new`], with this mode less the umask.
    ///
    /// # Errors
    /// As [`WholeFile::new`].
    pub fn with_mode(path: &Path, replaces: bool, mode: u32) -> io::Result<Self> {
        if !replaces && fs::symlink_metadata(path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mut number = 0;
        loop {
            match Self::drafted(path, numbered(path, number), replaces, mode) {
                // A draft of a killed process with the same number, as in a container where all
                // processes have the same.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                drafted => return drafted,
            }
        }
    }

    /// Gives the file these permissions, regardless of the umask.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_permissions(&self, permissions: fs::Permissions) -> io::Result<()> {
        self.file.get_ref().set_permissions(permissions)
    }
}

/// Numbers drafts: one process may write several files to one place.
#[cfg(feature = "transfer")]
fn numbered(path: &Path, number: u32) -> PathBuf {
    let process = process::id();
    let mut name = OsString::from(path);
    name.push(match number {
        0 => format!(".{process}.tmp"),
        number => format!(".{process}-{number}.tmp"),
    });
    PathBuf::from(name)
}

impl WholeFile {
    /// Makes a file under this temporary name.
    pub(crate) fn drafted(
        path: &Path,
        draft: PathBuf,
        replaces: bool,
        mode: u32,
    ) -> io::Result<Self> {
        let file = BufWriter::new(opening::make_with_mode(&draft, mode)?);
        Ok(Self { path: path.to_owned(), replaces, draft, file })
    }

    /// Puts the file in its place, on disk.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if the name was taken meanwhile and
    /// the file does not replace.
    pub fn finish(mut self) -> io::Result<()> {
        let rename = if self.replaces { fs::rename } else { opening::rename_new };
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        rename(&self.draft, &self.path)?;
        sync_parent(&self.path)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        // There is none any more if it was put in its place.
        let _ = fs::remove_file(&self.draft);
    }
}
