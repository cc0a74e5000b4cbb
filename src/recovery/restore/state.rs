//! Variables and agent state in a file of their own, for the process that continues the work.

use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::files::Obstacle;
use super::refusal::{Refusal, Trying as _};
use super::write::{file_time, keep_file};
use crate::checkpoint::{Document, Id, Spacing, TextStyle, Timestamp};
use crate::layouts::Carried;
use crate::store::opening;
use crate::transfer::whole::WholeFile;

/// The state file and its planned content.
#[derive(Debug, Clone)]
pub(super) struct StateFile {
    path: PathBuf,
    text: String,
    there: Before,
}

/// What is at the path of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// A file with the planned content.
    Same,
    /// A file with other content, or a link that leads nowhere.
    Other,
}

impl StateFile {
    /// Refuses to replace other content, unless it `overwrites`. Always refuses anything but a
    /// regular file.
    pub(super) fn new(
        path: &Path,
        id: &Id,
        carried: &Carried,
        overwrites: bool,
    ) -> Result<Self, Refusal> {
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
        let there = Before::of(path, &text).trying(|| format!("read {}", path.display()))?;
        if there == Before::Other && !overwrites {
            return Err(Refusal::StateExists { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), text, there })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether an existing file must be kept.
    pub(super) fn replaces(&self) -> bool {
        self.there == Before::Other
    }

    /// Whether the path is unchanged since the plan.
    pub(super) fn is_as_planned(&self) -> bool {
        check_kind(&self.path).is_ok()
            && Before::of(&self.path, &self.text).is_ok_and(|there| there == self.there)
    }

    /// Writes the file atomically, and returns where the previous one is kept.
    pub(super) fn write(&self, now: Timestamp) -> Result<Option<PathBuf>, Refusal> {
        if self.there == Before::Same {
            return Ok(None);
        }
        let path = &self.path;
        check_kind(path)?;
        let make = || format!("make {}", WholeFile::draft_of(path).display());
        let write = || format!("write {}", path.display());
        // A file created meanwhile is not replaced.
        let mut file = WholeFile::new(path, self.replaces()).trying(make)?;
        file.write_all(self.text.as_bytes()).trying(write)?;
        let kept = if self.replaces() { Some(self.keep(now)?) } else { None };
        file.finish().trying(write).map(|()| kept)
    }

    /// Keeps the existing file beside it, under an unused name.
    fn keep(&self, now: Timestamp) -> Result<PathBuf, Refusal> {
        let time = file_time(now);
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
                    let keep = || format!("keep {}", self.path.display());
                    return other.trying(keep).map(|()| kept);
                }
            }
        }
    }

    /// How the file differs from the planned content.
    pub(super) fn unlike(&self) -> Option<Obstacle> {
        let reason = match found(&self.path) {
            Ok(found) if found == self.text.as_bytes() => return None,
            Ok(_) => "has other content".to_owned(),
            Err(error) => format!("cannot be read: {error}"),
        };
        Some(Obstacle { path: self.path.display().to_string(), reason })
    }
}

impl Before {
    /// Compares the path with the planned content.
    fn of(path: &Path, text: &str) -> io::Result<Self> {
        match found(path) {
            Ok(found) if found == text.as_bytes() => Ok(Self::Same),
            Ok(_) => Ok(Self::Other),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(if path.is_symlink() { Self::Other } else { Self::Nothing })
            }
            Err(error) => Err(error),
        }
    }
}

/// Refuses a pipe, a device or a directory: it cannot be kept, and a pipe without a reader hangs.
fn check_kind(path: &Path) -> Result<(), Refusal> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            let kind = opening::kind(found.file_type());
            Err(Refusal::StateNoFile { path: path.to_owned(), kind })
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
