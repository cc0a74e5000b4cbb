//! A directory for measurements, on the disk that is measured.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use crate::transfer::private;

/// A directory that is removed when this is dropped.
///
/// ```
/// use waypost::doctor::Scratch;
///
/// # fn main() -> std::io::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// let scratch = Scratch::new(dir.path(), "example")?;
/// let path = scratch.path().to_owned();
/// drop(scratch);
/// assert!(!path.exists());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes a directory in `parent`, named after what it is for and this process.
    ///
    /// # Errors
    /// If the system refuses; the error names no path.
    pub fn new(parent: &Path, purpose: &str) -> io::Result<Self> {
        let path = Self::path_in(parent, purpose);
        private::directory(&path)?;
        Ok(Self(path))
    }

    /// Returns the path that [`Scratch::new`] makes.
    #[must_use]
    pub fn path_in(parent: &Path, purpose: &str) -> PathBuf {
        parent.join(format!(".waypost-{purpose}-{}", process::id()))
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // An error has no caller to reach; the name says what the directory is.
        let _ = fs::remove_dir_all(&self.0);
    }
}
