//! Drafts: files written beside their place, to be renamed into it.
//!
//! A draft has the number of its process in its name, so that a later export can tell whether it
//! was left behind.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::{Content, Directory, MODE_MAX, Modes};
use crate::checkpoint::{SourceForm, Timestamp};
use crate::store::opening::{self, Folder};
use crate::transfer::gzip;
use crate::transfer::place::split;
use crate::transfer::private::MODE;
use crate::transfer::system::{self, Identity};

// The prefix of the names of drafts.
const DRAFT: &str = ".waypost-";
// Long enough that a write costs less than making what is written.
const WRITTEN_BYTES: usize = 64 << 10;
/// Returns whether a file has the name of a draft, as a killed process leaves it behind.
///
/// ```
/// use waypost::transfer::directory::is_draft;
///
/// assert!(is_draft(".waypost-4711-3.tmp") && !is_draft("notes.tmp"));
/// ```
#[must_use]
pub fn is_draft(name: &str) -> bool {
    process_of(name).is_some()
}

/// The start of the names of this process's drafts.
///
/// Without the name of the file, which may have the length limit of a name.
pub(super) fn prefix() -> String {
    format!("{DRAFT}{}", process::id())
}

/// The number of the process that made a draft, by the draft's name.
fn process_of(name: &str) -> Option<&str> {
    let numbers = name.strip_prefix(DRAFT)?.strip_suffix(".tmp")?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let (process, number) = numbers.split_once('-')?;
    (is_number(process) && is_number(number)).then_some(process)
}

/// A file that is written, but not in its place yet. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Its path; empty once it was renamed into place.
    pub(crate) temporary: PathBuf,
    pub(crate) bytes: u64,
    /// Set if files may be replaced, so that a file of this export is not.
    pub(crate) identity: Option<Identity>,
    /// Its directory, if that is held open.
    pub(crate) folder: Option<Arc<Folder>>,
    /// Whether a sync of the root's file system includes it.
    is_synced: bool,
}

impl Draft {
    fn new(temporary: PathBuf, folder: Option<Arc<Folder>>, is_synced: bool) -> Self {
        Self { temporary, bytes: 0, identity: None, folder, is_synced }
    }

    /// Its name in its directory.
    pub(crate) fn name(&self) -> &str {
        self.temporary.file_name().and_then(OsStr::to_str).unwrap_or_default()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            // If it stays, the next export removes it.
            let _ = match &self.folder {
                Some(folder) => folder.remove(self.name()),
                None => fs::remove_file(&self.temporary),
            };
        }
    }
}

impl Directory {
    /// Writes the draft of a file.
    pub(crate) fn draft(&self, path: &str, content: &Content) -> io::Result<Draft> {
        let compressed = content.form.is_gzip.then(|| gzip::compress(&content.text));
        let bytes = compressed.as_ref().unwrap_or(&content.text);
        let (mut file, draft) = self.begin(path, &content.form)?;
        file.write_all(bytes)?;
        self.end(&file, draft, &content.form, bytes.len() as u64)
    }

    /// Writes the draft of a file that is not in memory as a whole.
    pub(crate) fn draft_parts<E: From<io::Error>>(
        &self,
        path: &str,
        form: &SourceForm,
        write: impl FnOnce(&mut dyn io::Write) -> Result<(), E>,
    ) -> Result<Draft, E> {
        let (file, draft) = self.begin(path, form)?;
        let mut out = BufWriter::with_capacity(WRITTEN_BYTES, &file);
        if form.is_gzip {
            let mut gzip = gzip::writer(&mut out);
            write(&mut gzip)?;
            gzip.finish()?;
        } else {
            write(&mut out)?;
        }
        out.flush()?;
        drop(out);
        let bytes = file.metadata()?.len();
        Ok(self.end(&file, draft, form, bytes)?)
    }

    /// Makes the draft of a link, or of a file that holds the target where links cannot be made.
    pub(crate) fn draft_link(&self, path: &str, name: &Content) -> io::Result<Draft> {
        let (parent, _) = split(path);
        self.make_directory(parent)?;
        let temporary = self.path(&self.temporary_name(parent));
        match system::link(&name.text, &temporary) {
            // A link has no content to sync.
            Ok(()) => Ok(Draft::new(temporary, None, true)),
            Err(_) => self.draft(path, name),
        }
    }

    /// Syncs drafts, so that they can be renamed into place.
    pub(crate) fn sync_drafts<'d>(
        &self,
        drafts: impl Iterator<Item = &'d Draft>,
    ) -> io::Result<()> {
        let mut drafts = drafts.peekable();
        if drafts.peek().is_none() || self.sync_system() {
            return Ok(());
        }
        drafts.try_for_each(|draft| match opening::read(&draft.temporary) {
            // A link, which has no content to sync.
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
            file => file?.sync_all(),
        })
    }

    /// Removes the drafts of killed processes from a directory, once.
    pub(super) fn sweep(&self, path: &str) {
        let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.contains(path) {
            return;
        }
        swept.insert(path.to_owned());
        drop(swept);
        // Errors do not matter: a draft that stays does no harm.
        for entry in fs::read_dir(self.path(path)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let process = name.to_str().and_then(process_of).and_then(|it| it.parse().ok());
            if process.is_some_and(|process| process != process::id() && !system::is_alive(process))
            {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn begin(&self, path: &str, form: &SourceForm) -> io::Result<(File, Draft)> {
        let (parent, _) = split(path);
        let mode = match self.modes {
            Modes::Limited => form.mode.unwrap_or(MODE) & MODE_MAX,
            Modes::Recorded => MODE,
        };
        let known = self.known(parent).zip(self.held(parent));
        let (is_synced, mut folder) = match known {
            Some((known, folder)) => (known.is_synced, Some(folder)),
            None => (self.make_directory(parent)?.is_synced, self.hold(parent)),
        };
        loop {
            let path = self.temporary_name(parent);
            let temporary = self.path(&path);
            let opened = match &folder {
                Some(folder) => folder.make(split(&path).1, mode),
                None => opening::make_with_mode(&temporary, mode),
            };
            match opened {
                // Left behind by a killed process with the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                // Another program removed the directory that is held open.
                Err(error) if error.kind() == ErrorKind::NotFound && folder.is_some() => {
                    self.let_go(parent);
                    self.make_directory(parent)?;
                    folder = None;
                }
                file => return Ok((file?, Draft::new(temporary, folder, is_synced))),
            }
        }
    }

    /// A path in a directory that no file of the export has; may have been left by another process.
    pub(crate) fn temporary_name(&self, parent: &str) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}.tmp", self.prefix);
        if parent.is_empty() { name } else { format!("{parent}/{name}") }
    }

    fn end(
        &self,
        file: &File,
        mut draft: Draft,
        form: &SourceForm,
        bytes: u64,
    ) -> io::Result<Draft> {
        let mode = form.mode.unwrap_or(MODE) & 0o777;
        if self.modes == Modes::Recorded && mode != MODE {
            system::set_mode(file, mode)?;
        }
        if let Some(time) = form.modified_at.and_then(Timestamp::to_system) {
            file.set_modified(time)?;
        }
        if self.overwrites {
            draft.identity = system::identity(&file.metadata()?);
        }
        if !draft.is_synced {
            file.sync_all()?;
        }
        draft.bytes = bytes;
        Ok(draft)
    }
}
