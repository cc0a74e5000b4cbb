//! Where an export goes: standard output, or a file that is there as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::transfer::whole::WholeFile;

use crate::exit::Refusal;
use crate::output::Shown;

/// Where an export goes.
pub(super) enum Target<'a> {
    Stream(&'a mut dyn Write),
    /// A pipe or a device.
    Opened(Shown<BufWriter<File>>),
    File {
        path: PathBuf,
        file: WholeFile,
    },
}

impl<'a> Target<'a> {
    pub(super) fn new(path: &Path, overwrites: bool, out: &'a mut dyn Write) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stream(out));
        }
        // A pipe or a device is written to: a file in its place would be the end of it.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let opened = OpenOptions::new().write(true).open(path);
            let opened = opened.with_context(|| format!("cannot write {}", path.display()))?;
            let is_terminal = opened.is_terminal();
            let out = Shown::if_terminal(BufWriter::new(opened), is_terminal);
            return Ok(Self::Opened(out));
        }
        // A dangling link counts as existing.
        if fs::symlink_metadata(path).is_ok() && !overwrites {
            return Err(Refusal::Exists { path: path.to_owned() }.into());
        }
        let cannot_make = || format!("cannot make {}", WholeFile::draft_of(path).display());
        let file = WholeFile::new(path, overwrites).with_context(cannot_make)?;
        Ok(Self::File { path: path.to_owned(), file })
    }

    /// Whether it is a file, which nobody has to read while it is written.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// Puts the file in its place, on disk. Returns whether there is no file, but a stream.
    pub(super) fn finish(self) -> Result<bool> {
        match self {
            Self::Stream(out) => {
                out.flush()?;
                Ok(true)
            }
            Self::Opened(mut out) => {
                out.flush()?;
                Ok(false)
            }
            Self::File { path, file } => {
                let cannot_write = || format!("cannot write {}", path.display());
                file.finish().with_context(cannot_write).map(|()| false)
            }
        }
    }
}

impl Write for Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(out) => out.write(bytes),
            Self::Opened(out) => out.write(bytes),
            Self::File { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(out) => out.flush(),
            Self::Opened(out) => out.flush(),
            Self::File { file, .. } => file.flush(),
        }
    }
}
