//! Where what is measured is put, on the disk that was asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context as _, Result};

use waypost::transfer::private;

/// A directory that is gone when this is dropped.
#[derive(Debug)]
pub(in crate::command) struct Place(PathBuf);

impl Place {
    /// In `parent`, named after the command that measures.
    pub(in crate::command) fn new(parent: &Path, command: &str) -> Result<Self> {
        let path = parent.join(format!(".waypost-{command}-{}", process::id()));
        private::directory(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    pub(in crate::command) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // There is nobody left to tell; the name says what it is.
        let _ = fs::remove_dir_all(&self.0);
    }
}
