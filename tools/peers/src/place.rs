//! Where the stores lie, and how much they take there.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

// What `stat` counts blocks in, whatever the file system's own are.
const BLOCK_BYTES: u64 = 512;

/// Where stores go unless told otherwise: beside this program, which is on a real disk, while the
/// directory of temporary files is often in memory and syncs there cost nothing.
pub(crate) fn default_directory() -> Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(program.parent().context("a program lies in a directory")?.to_owned())
}

/// A directory that is gone when this is dropped.
pub(crate) fn scratch(directory: &Path) -> Result<TempDir> {
    fs::create_dir_all(directory)?;
    Ok(tempfile::Builder::new().prefix("peers-").tempdir_in(directory)?)
}

/// How much disk some files take.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// The sum of their lengths.
    pub(crate) apparent_bytes: u64,
    /// The sum of the blocks they have.
    pub(crate) allocated_bytes: u64,
}

/// What all files below a directory take. Directories themselves are not counted.
pub(crate) fn usage(directory: &Path) -> Result<Usage> {
    let mut usage = Usage::default();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let about = entry.metadata()?;
            if about.is_dir() {
                left.push(entry.path());
            } else {
                usage.apparent_bytes += about.len();
                usage.allocated_bytes += about.blocks() * BLOCK_BYTES;
            }
        }
    }
    Ok(usage)
}
