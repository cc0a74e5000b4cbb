//! The directory of an export or a restore. Each file is there as a whole or not at all: it is
//! drafted beside its place, synced together with many others, and renamed.
//!
//! Must never follow a link out of the directory, or replace a file without being told to.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::checkpoint::{SourceForm, Timestamp};
use crate::store::opening;

use super::gzip;
use super::place::{ancestors, split};
use super::private::{self, MODE};
use super::system::{self, FileSystem, Identity};

/// Why no file can be below a path.
pub(crate) const THROUGH_FILE: &str = "goes through a file";

// The prefix of the names of drafts.
const DRAFT: &str = ".waypost-";
// The widest mode of directories, and of files whose mode was imported: others may not write.
const MODE_MAX: u32 = 0o755;
// Long enough that comparing costs less than reading.
const COMPARED_BYTES: usize = 64 << 10;

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

/// The number of the process that made a draft, by the draft's name.
fn process_of(name: &str) -> Option<&str> {
    let numbers = name.strip_prefix(DRAFT)?.strip_suffix(".tmp")?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let (process, number) = numbers.split_once('-')?;
    (is_number(process) && is_number(number)).then_some(process)
}

/// A directory to write files below.
pub(crate) struct Directory {
    root: PathBuf,
    pub(crate) overwrites: bool,
    modes: Modes,
    /// Directories below the root that are there and are no links.
    known: Mutex<BTreeMap<String, Known>>,
    /// Directories from which drafts of killed processes were removed.
    swept: Mutex<HashSet<String>>,
    /// The start of the names of drafts.
    prefix: String,
    made: AtomicU64,
    /// The file system of the root, if it can be synced as a whole.
    system: OnceLock<Option<FileSystem>>,
}

/// The modes of written files. A file without a recorded mode is private to its owner.
///
/// ```
/// use waypost::transfer::export::{ExportOptions, Modes};
///
/// assert_eq!(ExportOptions::default().modes, Modes::Limited);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Modes {
    /// As recorded, but at most 0755 less the umask: imported lines may state any mode.
    #[default]
    Limited,
    /// As recorded.
    Recorded,
}

/// An existing directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// Whether this export has made it, so that no file of another program is in it.
    is_new: bool,
    /// Whether it is in the file system of the root, so that one sync is enough for both.
    is_synced: bool,
}

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) text: Vec<u8>,
    pub(crate) form: SourceForm,
}

/// What is at the path of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Same,
    Other,
    /// A link or a file in place of a directory, or the reverse.
    Obstacle(&'static str),
}

/// A file that is written, but not in its place yet. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Its path; empty once it was renamed into place.
    pub(crate) temporary: PathBuf,
    pub(crate) bytes: u64,
    /// Set if files may be replaced, so that a file of this export is not.
    pub(crate) identity: Option<Identity>,
    /// Whether a sync of the root's file system includes it.
    is_synced: bool,
}

impl Draft {
    fn new(temporary: PathBuf, is_synced: bool) -> Self {
        Self { temporary, bytes: 0, identity: None, is_synced }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            // If it stays, the next export removes it.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

impl Directory {
    pub(crate) fn new(root: &Path, overwrites: bool, modes: Modes) -> Self {
        Self {
            root: root.to_owned(),
            overwrites,
            modes,
            known: Mutex::default(),
            swept: Mutex::default(),
            // Without the name of the file, which may have the length limit of a name.
            prefix: format!("{DRAFT}{}", process::id()),
            made: AtomicU64::new(0),
            system: OnceLock::new(),
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Compares what is in the place of a file with its content.
    pub(crate) fn look(&self, path: &str, content: &Content) -> io::Result<Found> {
        self.look_for(path, content.form.is_gzip, content.text.as_slice())
    }

    /// Compares what is in the place of a file with a draft of it.
    pub(crate) fn look_for_draft(
        &self,
        path: &str,
        draft: &Draft,
        is_gzip: bool,
    ) -> io::Result<Found> {
        let draft = opening::read(&draft.temporary)?;
        if is_gzip {
            return self.look_for(path, true, gzip::reader(draft));
        }
        self.look_for(path, false, draft)
    }

    /// Compares what is in the place of a link with its target; a file that holds the target counts
    /// as the same.
    pub(crate) fn look_for_link(&self, path: &str, name: &Content) -> io::Result<Found> {
        match fs::read_link(self.path(path)) {
            Ok(target) if target.as_os_str().as_encoded_bytes() == name.text => Ok(Found::Same),
            Ok(_) => Ok(Found::Other),
            Err(_) => self.look(path, name),
        }
    }

    fn look_for(&self, path: &str, is_gzip: bool, text: impl Read) -> io::Result<Found> {
        let (parent, _) = split(path);
        if self.known(parent).is_some_and(|known| known.is_new) {
            return Ok(Found::Nothing);
        }
        match self.directory(parent)? {
            Found::Same => {}
            other => return Ok(other),
        }
        let path = self.path(path);
        let found = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            other => other?,
        };
        if found.is_dir() {
            return Ok(Found::Obstacle("is a directory"));
        }
        if !found.is_file() {
            return Ok(Found::Other);
        }
        match opening::read(&path) {
            // A file that cannot be read counts as different.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(Found::Other),
            file if is_gzip => Ok(compared(&mut gzip::reader(file?), text)),
            file => Ok(compared(&mut file?, text)),
        }
    }

    /// `Same` if there is such a directory, reached by no link.
    ///
    /// Asks the system each time, since a directory may have become a link.
    pub(crate) fn directory(&self, path: &str) -> io::Result<Found> {
        for path in ancestors(path) {
            // The user may name the directory of the export by a link.
            let look = if path.is_empty() { fs::metadata } else { fs::symlink_metadata };
            match look(&self.path(path)) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
                Err(error) => return Err(error),
                Ok(found) if found.is_symlink() => {
                    return Ok(Found::Obstacle("goes through a link"));
                }
                Ok(found) if !found.is_dir() => return Ok(Found::Obstacle(THROUGH_FILE)),
                Ok(found) => self.learn(path, &found, false),
            }
        }
        Ok(Found::Same)
    }

    /// Makes a directory, one part after the other.
    pub(crate) fn make_directory(&self, path: &str) -> io::Result<Known> {
        if self.directory(path)? == Found::Nothing {
            let mut directories = private::directories(MODE_MAX);
            directories.recursive(true).create(&self.root)?;
            directories.recursive(false);
            for path in ancestors(path).filter(|path| !path.is_empty()) {
                match directories.create(self.path(path)) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error),
                    Ok(()) => self.learn(path, &fs::symlink_metadata(self.path(path))?, true),
                }
            }
        }
        self.check(path)?;
        let known = self.known(path).ok_or_else(replaced)?;
        if !known.is_new {
            self.sweep(path);
        }
        Ok(known)
    }

    /// Removes the drafts of killed processes from a directory, once.
    fn sweep(&self, path: &str) {
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

    /// Makes sure that a path is a directory and goes through no link.
    ///
    /// To be called right before a file is put there: a change between the two is not noticed.
    pub(crate) fn check(&self, path: &str) -> io::Result<()> {
        if self.directory(path)? == Found::Same { Ok(()) } else { Err(replaced()) }
    }

    fn known(&self, path: &str) -> Option<Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied()
    }

    fn learn(&self, path: &str, found: &Metadata, is_new: bool) {
        let system = self.system.get_or_init(|| FileSystem::of(&self.root));
        let is_synced = system.as_ref().is_some_and(|system| system.has(found));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get_mut(path) {
            Some(known) => known.is_synced = is_synced,
            None => drop(known.insert(path.to_owned(), Known { is_new, is_synced })),
        }
    }

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
        let mut out = BufWriter::with_capacity(COMPARED_BYTES, &file);
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
            Ok(()) => Ok(Draft::new(temporary, true)),
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

    /// Makes sure that names in these directories last, and those of the directories themselves.
    pub(crate) fn sync_names<'p>(
        &self,
        directories: impl Iterator<Item = &'p str>,
    ) -> io::Result<()> {
        let directories: BTreeSet<&str> = directories.flat_map(ancestors).collect();
        if directories.is_empty() || self.sync_system() || !cfg!(unix) {
            return Ok(());
        }
        let sync = |path: &str| opening::directory(&self.path(path))?.sync_all();
        directories.into_iter().try_for_each(sync)
    }

    /// Syncs the whole file system; `false` where that is not supported.
    fn sync_system(&self) -> bool {
        let system = self.system.get().and_then(Option::as_ref);
        system.is_some_and(|system| system.sync().is_ok())
    }

    fn begin(&self, path: &str, form: &SourceForm) -> io::Result<(File, Draft)> {
        let (parent, _) = split(path);
        let mode = match self.modes {
            Modes::Limited => form.mode.unwrap_or(MODE) & MODE_MAX,
            Modes::Recorded => MODE,
        };
        let is_synced = self.make_directory(parent)?.is_synced;
        loop {
            let temporary = self.path(&self.temporary_name(parent));
            match opening::make_with_mode(&temporary, mode) {
                // Left behind by a killed process with the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                file => return Ok((file?, Draft::new(temporary, is_synced))),
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

fn replaced() -> io::Error {
    io::Error::new(ErrorKind::NotADirectory, "its directory was replaced meanwhile")
}

/// Compares two readers. Input that cannot be decompressed counts as different.
fn compared(there: &mut impl Read, mut text: impl Read) -> Found {
    let (mut one, mut other) = (vec![0; COMPARED_BYTES], vec![0; COMPARED_BYTES]);
    loop {
        match (fill(there, &mut one), fill(&mut text, &mut other)) {
            (Ok(0), Ok(0)) => return Found::Same,
            (Ok(length), Ok(wanted)) if one[..length] == other[..wanted] => {}
            _ => return Found::Other,
        }
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
