//! Captures files: reads them, and compares them with earlier captures.
//!
//! Must never follow a link, nor keep a file that changed while it was read.

mod earlier;
mod failure;
mod suspect;

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::directory::is_draft;
use super::home::{Home, Outside, join};
use super::own::{IS_OWN, Own, resolve};
use super::place::{RESERVED, refusal};
use super::steady::{self, Unread};
use crate::error::Error;
use crate::store::Limits;

pub use failure::CaptureError;
pub use suspect::Suspects;

/// Files that were read and are not saved yet, by their paths in the store.
///
/// ```
/// use std::path::PathBuf;
/// use waypost::transfer::capture::Capture;
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("store.redb");
/// # let notes = dir.path().join("notes.md");
/// # std::fs::write(&notes, "# Notes")?;
/// let store = Store::open(&path)?;
/// let capture = Capture::read(&path, &[notes], &mut |_| {})?;
/// let about = NewEntry::default();
/// let files = capture.artifacts(&store, &about, &mut |_| {})?;
/// let draft = store.draft(about, &"state")?.with_artifacts(files)?;
/// let saved = store.save_draft(draft)?;
/// assert_eq!(store.artifact(&saved.id, "notes.md")?, b"# Notes");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Capture {
    files: BTreeMap<String, File>,
    /// Directories that were read to their end.
    directories: Vec<String>,
    /// Missing paths, as stored and as given.
    missing: Vec<(String, PathBuf)>,
    bytes: usize,
}

/// What a capture met on its way, for progress and notes.
///
/// ```
/// # fn show(_line: String) {}
/// use waypost::transfer::capture::{Capture, CaptureEvent};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("store.redb");
/// # let notes = dir.path().join("notes.md");
/// # std::fs::write(&notes, "# Notes")?;
/// let capture = Capture::read(&path, &[notes], &mut |event| match event {
///     CaptureEvent::Read(count) => show(format!("{count} files")),
///     CaptureEvent::PassedOver { path, what } => show(format!("{}: {what}", path.display())),
///     _ => {}
/// })?;
/// assert_eq!(capture.paths().collect::<Vec<_>>(), ["notes.md"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum CaptureEvent<'a> {
    /// This many files were read so far.
    Read(u64),
    /// Something below a directory was left out.
    PassedOver {
        /// Its path.
        path: &'a Path,
        /// What it is.
        what: &'static str,
    },
    /// An earlier checkpoint is damaged, so the files are not compared with it.
    NotCompared(&'a Error),
}

#[derive(Debug)]
struct File {
    content: Vec<u8>,
    mode: Option<u32>,
}

/// The directory that the store is for, the files of the store, and the receiver of events.
struct Walk<'a> {
    home: Home,
    own: Own,
    tell: &'a mut dyn FnMut(CaptureEvent<'_>),
}

impl Capture {
    /// Reads all files of these paths, for the store at `store`, which need not exist.
    ///
    /// Reads a directory with all that is below it, except `.git`, `.waypost`, links, special
    /// files, the store itself and what an export left behind. Stored paths start from the
    /// directory that the store is for: the one above `.waypost`, else the one it is in.
    ///
    /// # Errors
    /// [`CaptureError`]: nothing is captured unless everything is. A missing path counts as
    /// deleted, and fails only later if it was never captured.
    pub fn read(
        store: &Path,
        paths: &[PathBuf],
        tell: &mut dyn FnMut(CaptureEvent<'_>),
    ) -> Result<Self, CaptureError> {
        let mut capture = Self::default();
        if paths.is_empty() {
            return Ok(capture);
        }
        let mut walk = Walk::new(store, tell)?;
        for path in paths {
            // A slash at the end would follow a link.
            let path: &PathBuf = &path.components().collect();
            let kept = walk.kept(path)?;
            if walk.own.has(path) {
                return Err(CaptureError::refused(path, IS_OWN));
            }
            match fs::symlink_metadata(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    capture.missing.push((kept, path.clone()));
                }
                Err(error) => return Err(CaptureError::unreadable(path, error)),
                Ok(found) if found.is_dir() => {
                    capture.add_directory(path, &kept, &mut walk)?;
                    capture.directories.push(kept);
                }
                Ok(found) if found.is_file() => capture.add_file(path, kept, &mut walk)?,
                Ok(found) => return Err(CaptureError::refused(path, kind(&found))),
            }
        }
        Ok(capture)
    }

    /// Returns the paths of the files, as the store keeps them.
    pub fn paths(&self) -> impl Iterator<Item = &str> + Clone {
        self.files.keys().map(String::as_str)
    }

    /// Returns files that are captured more often by mistake than on purpose.
    #[must_use]
    pub fn suspects(&self) -> Suspects<'_> {
        Suspects::among(self.paths())
    }

    /// Adds all files below a directory, in the order of their names.
    fn add_directory(
        &mut self,
        path: &Path,
        kept: &str,
        walk: &mut Walk<'_>,
    ) -> Result<(), CaptureError> {
        let unreadable = |error| CaptureError::unreadable(path, error);
        let entries = fs::read_dir(path).map_err(unreadable)?;
        let mut entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(unreadable)?;
        entries.sort_unstable_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let Some(name) = name.to_str() else {
                return Err(CaptureError::refused(&path, NOT_UTF8));
            };
            if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
                continue;
            }
            if is_draft(name) {
                walk.pass_over(&path, "left behind by a restore or an export");
                continue;
            }
            if walk.own.has(&path) {
                walk.pass_over(&path, "the store");
                continue;
            }
            let kept = join(kept, name);
            let found = fs::symlink_metadata(&path);
            let found = found.map_err(|error| CaptureError::unreadable(&path, error))?;
            if found.is_dir() {
                self.add_directory(&path, &kept, walk)?;
            } else if found.is_file() {
                self.add_file(&path, kept, walk)?;
            } else {
                walk.pass_over(&path, kind(&found));
            }
        }
        Ok(())
    }

    fn add_file(
        &mut self,
        path: &Path,
        kept: String,
        walk: &mut Walk<'_>,
    ) -> Result<(), CaptureError> {
        if let Some(reason) = refusal(&kept) {
            return Err(CaptureError::refused(path, reason));
        }
        if self.files.contains_key(&kept) {
            return Ok(());
        }
        let limit = Limits::default().artifacts;
        if self.files.len() >= limit {
            return Err(beyond("number of captured files", limit).into());
        }
        let file = read(path)?;
        self.bytes += file.content.len();
        let limit = Limits::default().artifacts_bytes();
        if self.bytes > limit {
            return Err(beyond("length in bytes of all captured files", limit).into());
        }
        self.files.insert(kept, file);
        (walk.tell)(CaptureEvent::Read(self.files.len() as u64));
        Ok(())
    }
}

const NOT_UTF8: &str = "its name is not UTF-8";

impl<'a> Walk<'a> {
    fn new(store: &Path, tell: &'a mut dyn FnMut(CaptureEvent<'_>)) -> Result<Self, CaptureError> {
        let home = Home::of(store);
        if home.path().is_none() {
            return Err(CaptureError::NoHome);
        }
        let own = Own::new(store).map_err(|error| CaptureError::unreadable(store, error))?;
        Ok(Self { home, own, tell })
    }

    /// The path of a file in the store.
    fn kept(&self, path: &Path) -> Result<String, CaptureError> {
        let whole = resolve(path).map_err(|error| CaptureError::unreadable(path, error))?;
        let kept = self.home.below(&whole).map_err(|outside| match outside {
            Outside::Elsewhere => {
                let home = self.home.path().unwrap_or(Path::new(".")).display();
                CaptureError::refused(path, &format!("it is not below {home}"))
            }
            Outside::NotUtf8 => CaptureError::refused(path, NOT_UTF8),
        })?;
        match refusal(&kept) {
            // The directory that the store is for may be captured as a whole.
            Some(reason) if !kept.is_empty() => Err(CaptureError::refused(path, reason)),
            _ => Ok(kept),
        }
    }

    fn pass_over(&mut self, path: &Path, what: &'static str) {
        (self.tell)(CaptureEvent::PassedOver { path, what });
    }
}

/// Reads a file as it is at one moment.
fn read(path: &Path) -> Result<File, CaptureError> {
    // Others have no meaning for a file that is written back.
    const PERMISSIONS: u32 = 0o777;
    let limit = Limits::default().artifact_bytes;
    match steady::read(path, limit as u64) {
        Ok(read) => Ok(File { content: read.bytes, mode: read.mode.map(|it| it & PERMISSIONS) }),
        Err(Unread::Changed | Unread::NoFile) => {
            Err(CaptureError::refused(path, "it changes while it is read"))
        }
        Err(Unread::TooLong { .. }) => Err(CaptureError::TooLong {
            path: path.to_owned(),
            source: beyond("length in bytes", limit),
        }),
        Err(Unread::Io(error)) => Err(CaptureError::unreadable(path, error)),
    }
}

fn beyond(what: &str, limit: usize) -> Error {
    Error::Limit { what: what.to_owned(), limit: limit as u64 }
}

fn kind(found: &Metadata) -> &'static str {
    if found.is_symlink() { "a link" } else { "neither a file nor a directory" }
}
