//! Variables and agent state in a file of their own, for whoever goes on.

use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use waypost::layouts::Carried;
use waypost::transfer::whole::WholeFile;
use waypost::{Document, Id, Spacing, TextStyle, Timestamp, opening};

use super::apply::{file_time, keep_file};
use super::plan::Obstacle;
use crate::exit::Refusal;

/// The file, and what is to be in it.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    text: String,
    there: Before,
}

/// What is in the place of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// What is to be in it.
    Same,
    /// A file with other content, or a link that leads nowhere.
    Other,
}

impl StateFile {
    /// Refuses to replace other content, unless it `overwrites`. What is no regular file is always
    /// refused.
    pub(super) fn new(path: &Path, id: &Id, carried: &Carried, overwrites: bool) -> Result<Self> {
        if path == Path::new("-") {
            return Err(Refusal::Usage("--state must name a file".to_owned()).into());
        }
        let or_null = |it: &Option<Document>| it.clone().unwrap_or_default();
        let fields = [
            ("id", Document::Text(id.to_string())),
            ("variables", or_null(&carried.variables)),
            ("agent_state", or_null(&carried.agent_state)),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        let style = TextStyle {
            spacing: Spacing::Indent(2),
            has_final_newline: true,
            ..TextStyle::default()
        };
        let text = Document::Object(fields.into()).to_json(style)?;
        check_kind(path)?;
        let there = match found(path) {
            Ok(found) if found == text.as_bytes() => Before::Same,
            Ok(_) => Before::Other,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if path.is_symlink() {
                    Before::Other
                } else {
                    Before::Nothing
                }
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        if there == Before::Other && !overwrites {
            return Err(Refusal::StateExists { path: path.to_owned() }.into());
        }
        Ok(Self { path: path.to_owned(), text, there })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is something to be kept.
    pub(super) fn replaces(&self) -> bool {
        self.there == Before::Other
    }

    /// Writes the file as a whole or not at all, and says where the one before it is.
    pub(super) fn write(&self) -> Result<Option<PathBuf>> {
        if self.there == Before::Same {
            return Ok(None);
        }
        check_kind(&self.path)?;
        let path = &self.path;
        let cannot_make = || format!("cannot make {}", WholeFile::draft_of(path).display());
        let cannot_write = || format!("cannot write {}", path.display());
        let mut file = WholeFile::new(path, true).with_context(cannot_make)?;
        file.write_all(self.text.as_bytes()).with_context(cannot_write)?;
        let kept = if self.replaces() { Some(self.keep()?) } else { None };
        file.finish().with_context(cannot_write)?;
        Ok(kept)
    }

    /// Keeps what is there beside it, under a name that nothing has.
    fn keep(&self) -> Result<PathBuf> {
        let time = file_time(Timestamp::now());
        let mut number = 0;
        loop {
            let mut name = self.path.as_os_str().to_owned();
            name.push(format!(".replaced-{time}"));
            if number > 0 {
                name.push(format!("-{number}"));
            }
            let kept = PathBuf::from(name);
            match keep_file(&self.path, &kept) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                other => {
                    let context = || format!("cannot keep {}", self.path.display());
                    return other.with_context(context).map(|()| kept);
                }
            }
        }
    }

    /// How the file differs from what it should be.
    pub(super) fn unlike(&self) -> Option<Obstacle> {
        let reason = match found(&self.path) {
            Ok(found) if found == self.text.as_bytes() => return None,
            Ok(_) => "has other content".to_owned(),
            Err(error) => format!("cannot be read: {error}"),
        };
        Some(Obstacle { path: self.path.display().to_string(), reason })
    }
}

/// Refuses a pipe, a device or a directory: it cannot be kept, and a pipe without a reader hangs.
fn check_kind(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            let kind = opening::kind(found.file_type());
            Err(Refusal::StateNoFile { path: path.to_owned(), kind }.into())
        }
        // The read that follows reports every other error.
        _ => Ok(()),
    }
}

/// What is in the file.
fn found(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    opening::read_named(path)?.read_to_end(&mut text)?;
    Ok(text)
}
