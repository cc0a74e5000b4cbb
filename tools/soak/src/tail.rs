//! The notes of a worker, read while it writes them.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::note::Note;

/// A file of notes, and how far it has been read.
#[derive(Debug)]
pub(crate) struct Tail {
    file: File,
    /// The start of a line whose end has not been written yet.
    rest: Vec<u8>,
}

impl Tail {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| path.display().to_string())?;
        Ok(Self { file, rest: Vec::new() })
    }

    /// Returns what was noted since the last call. A line that a kill cut off is never returned.
    pub(crate) fn read(&mut self) -> Result<Vec<Note>> {
        self.file.read_to_end(&mut self.rest)?;
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Vec::new());
        };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        std::str::from_utf8(&whole)?.lines().map(str::parse).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_note_is_read_once_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notes");
        let mut notes = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        let mut tail = Tail::open(&path).unwrap();
        assert!(tail.read().unwrap().is_empty());
        notes.write_all(b"tagged 1\nuntag").unwrap();
        assert_eq!(tail.read().unwrap(), [Note::Tagged { number: 1 }]);
        notes.write_all(b"ging 1\ntagged 2\n").unwrap();
        let rest = [Note::Untagging { number: 1 }, Note::Tagged { number: 2 }];
        assert_eq!(tail.read().unwrap(), rest);
        assert!(tail.read().unwrap().is_empty());
    }
}
