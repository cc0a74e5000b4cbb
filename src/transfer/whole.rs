//! A file that is there as a whole or not at all: written beside its place, synced, renamed.
//!
//! Must never leave part of a file under its name, nor a draft behind unless it is killed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::store::opening;

use super::private;

/// A file on its way to its place. A draft that is dropped is removed.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    replaces: bool,
    draft: PathBuf,
    file: BufWriter<File>,
}

impl WholeFile {
    /// Where a file is written before it has its name.
    pub fn draft_of(path: &Path) -> PathBuf {
        let mut name = OsString::from(path);
        name.push(format!(".{}.tmp", process::id()));
        PathBuf::from(name)
    }

    /// Makes the draft of a file that only its owner may read. The file may replace another one
    /// only if it `replaces`.
    pub fn new(path: &Path, replaces: bool) -> io::Result<Self> {
        let draft = Self::draft_of(path);
        let file = BufWriter::new(opening::make(&draft)?);
        Ok(Self { path: path.to_owned(), replaces, draft, file })
    }

    /// Puts the file in its place, on disk.
    pub fn finish(mut self) -> io::Result<()> {
        let rename = if self.replaces { fs::rename } else { opening::rename_new };
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        rename(&self.draft, &self.path)?;
        private::sync_parent(&self.path)
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
        // Gone already if it was put in its place.
        let _ = fs::remove_file(&self.draft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<OsString> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let mut file = WholeFile::new(&path, false).unwrap();
        file.write_all(b"first").unwrap();
        assert!(!path.exists());
        drop(file);
        assert!(names(dir.path()).is_empty(), "a draft that is dropped leaves nothing");
        let mut file = WholeFile::new(&path, false).unwrap();
        file.write_all(b"first").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(names(dir.path()), ["a"]);
    }

    #[test]
    fn a_file_that_came_meanwhile_is_replaced_only_if_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let write = |replaces| {
            let mut file = WholeFile::new(&path, replaces).unwrap();
            file.write_all(b"new").unwrap();
            fs::write(&path, "theirs").unwrap();
            file.finish()
        };
        assert_eq!(write(false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        write(true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(dir.path()), ["a"]);
    }
}
