//! Where an export goes: standard output, or a file that is there as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::opening;

use crate::exit::Refusal;
use crate::output::Shown;
use waypost::transfer::private;

/// Where an export goes.
pub(in crate::command) enum Target<'a> {
    Stream(&'a mut dyn Write),
    /// A pipe or a device.
    Opened(Shown<BufWriter<File>>),
    File {
        path: PathBuf,
        overwrites: bool,
        draft: PathBuf,
        file: BufWriter<File>,
    },
}

impl<'a> Target<'a> {
    pub(in crate::command) fn new(
        path: &Path,
        overwrites: bool,
        out: &'a mut dyn Write,
    ) -> Result<Self> {
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
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let draft = PathBuf::from(name);
        let file = opening::make(&draft);
        let file = file.with_context(|| format!("cannot make {}", draft.display()))?;
        Ok(Self::File { path: path.to_owned(), overwrites, draft, file: BufWriter::new(file) })
    }

    /// Whether it is a file, which nobody has to read while it is written.
    pub(in crate::command) fn is_file(&self) -> bool {
        matches!(self, Self::File { .. })
    }

    /// Puts the file in its place, on disk; whether there is none, but a stream.
    pub(in crate::command) fn finish(mut self) -> Result<bool> {
        match &mut self {
            Self::Stream(out) => {
                out.flush()?;
                Ok(true)
            }
            Self::Opened(out) => {
                out.flush()?;
                Ok(false)
            }
            Self::File { path, overwrites, draft, file } => {
                let rename = if *overwrites { fs::rename } else { opening::rename_new };
                file.flush()
                    .and_then(|()| file.get_ref().sync_all())
                    .and_then(|()| rename(draft.as_path(), path.as_path()))
                    .and_then(|()| private::sync_parent(path))
                    .with_context(|| format!("cannot write {}", path.display()))?;
                Ok(false)
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

impl Drop for Target<'_> {
    fn drop(&mut self) {
        if let Self::File { draft, .. } = self {
            // Gone already if it was put in its place.
            let _ = fs::remove_file(draft);
        }
    }
}
