//! The target of `--jsonl`: standard output, a pipe or a device, or a file.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, IsTerminal as _};
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::output::Shown;

/// Where lines go.
pub(super) enum Target {
    Standard,
    /// A pipe or a device.
    Opened(Shown<BufWriter<File>>),
    /// A regular file, existing or new.
    File,
}

impl Target {
    pub(super) fn new(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Standard);
        }
        // Lines are written into a pipe or a device: replacing it by a file would remove it.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let opened = OpenOptions::new().write(true).open(path);
            let opened = opened.with_context(|| format!("cannot write {}", path.display()))?;
            let is_terminal = opened.is_terminal();
            return Ok(Self::Opened(Shown::if_terminal(BufWriter::new(opened), is_terminal)));
        }
        Ok(Self::File)
    }
}
