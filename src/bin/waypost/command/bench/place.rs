//! Where what is measured is put, on the disk that was asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context as _, Result};

/// A directory that is gone when this is dropped.
#[derive(Debug)]
pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn new(parent: &Path) -> Result<Self> {
        let path = parent.join(format!(".waypost-bench-{}", process::id()));
        fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // There is nobody left to tell; the name says what it is.
        let _ = fs::remove_dir_all(&self.0);
    }
}
