//! The lock file beside a store: who waits for the store, who has it, who is making it.
//!
//! It holds no checkpoints and stays where it is: a lock on a file that was removed keeps nobody
//! out. All locks end with their process.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::disk::{FileId, Place, opening};
use super::file;
use super::sealing::Sealing;
use crate::checkpoint::Timestamp;
use crate::codec::KeyId;
use crate::error::{At, Result};

/// What the name of whoever has a store starts with.
pub(super) const SIGNED: &str = "process ";
const HOLDER_CHARS_MAX: usize = 200;
// What stands in place of a key if nothing is sealed.
const PLAIN: &str = "plain";
// Of a label that is far too long.
const TEXT_BYTES_MAX: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct LockFile {
    /// `None` if nobody else can have the store.
    path: Option<PathBuf>,
    store: Place,
}

/// Which store it is that somebody has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) identity: u64,
    /// The file that it is in; `None` where the system does not tell.
    pub(super) file: Option<FileId>,
    pub(super) sealing: Sealing,
}

/// A lock on the lock file, or on nothing if nobody else can have the store. Ends when dropped.
#[derive(Debug)]
pub(super) struct Locked(#[expect(dead_code, reason = "it is there to be dropped")] Option<File>);

impl LockFile {
    pub(super) fn of(place: &Place) -> Self {
        let path = || file::beside(&place.path, ".lock");
        Self { path: place.disk.is_shared().then(path), store: place.clone() }
    }

    /// Lets the holder know that this process waits, until the returned lock is dropped.
    ///
    /// `None` if the lock is taken for a moment; the next try will do.
    pub(super) fn announce(&self) -> Result<Option<Locked>> {
        self.lock(File::try_lock_shared)
    }

    /// Whether another process waits.
    pub(super) fn is_awaited(&self) -> bool {
        let is_locked = |file: File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        self.path.as_deref().is_some_and(|path| open(path).is_ok_and(is_locked))
    }

    /// Keeps others from making the store, until the returned lock is dropped; `None` if another
    /// process is at it.
    pub(super) fn exclude(&self) -> Result<Option<Locked>> {
        self.lock(File::try_lock)
    }

    /// Writes down who has the store, and which store that is, if it is known by now.
    pub(super) fn sign(&self, name: &str, known: Option<Known>) -> Result<()> {
        let Some(path) = self.path.as_deref() else { return Ok(()) };
        let mut file = open(path)?;
        check(&file, path)?;
        let text = name.replace('\n', " ") + &known.map_or(String::new(), |it| it.to_string());
        file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).at(path)
    }

    /// Makes it last what was written down.
    pub(super) fn sync(&self) -> Result<()> {
        let Some(path) = self.path.as_deref() else { return Ok(()) };
        open(path)?.sync_all().at(path)
    }

    /// Who has the store, as it described itself.
    pub(super) fn holder(&self) -> String {
        let text = self.read();
        match text.lines().next() {
            Some(name) if !name.is_empty() => name.chars().take(HOLDER_CHARS_MAX).collect(),
            _ => "another process".to_owned(),
        }
    }

    /// The store that was last opened here, unless another file has taken its place.
    pub(super) fn known(&self) -> Option<Known> {
        let known = Known::parse(&self.read())?;
        // Who wrote before files were named, or on a system that does not tell, is believed.
        let is_at = |file| file::is_at(self.store.disk.as_ref(), Some(file), &self.store.path);
        known.file.is_none_or(|file| is_at(file).unwrap_or(false)).then_some(known)
    }

    /// Whether nobody else can have the store.
    pub(super) fn is_none(&self) -> bool {
        self.path.is_none()
    }

    /// When it was last written down who has the store.
    pub(super) fn signed_at(&self) -> Option<Timestamp> {
        let modified = fs::metadata(self.path.as_deref()?).and_then(|it| it.modified()).ok()?;
        let micros = modified.duration_since(UNIX_EPOCH).ok()?.as_micros();
        Some(Timestamp::from_micros(i64::try_from(micros).ok()?))
    }

    fn read(&self) -> String {
        let mut text = String::new();
        let mut read =
            |path: &Path| opening::read(path)?.take(TEXT_BYTES_MAX).read_to_string(&mut text);
        let read = self.path.as_deref().map(&mut read);
        if matches!(read, Some(Ok(_))) { text } else { String::new() }
    }

    fn lock(&self, take: fn(&File) -> Result<(), TryLockError>) -> Result<Option<Locked>> {
        let Some(path) = self.path.as_deref() else { return Ok(Some(Locked(None))) };
        let file = open(path)?;
        match take(&file) {
            Ok(()) => Ok(Some(Locked(Some(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).at(path),
        }
    }
}

/// Refuses to write over what nobody wrote who had a store.
fn check(mut file: &File, path: &Path) -> Result<()> {
    let mut start = Vec::new();
    file.take(SIGNED.len() as u64).read_to_end(&mut start).at(path)?;
    // Whoever signed may not have come to the end of it, and a loss of power may leave zeros; who
    // lets go signs with no name.
    let is_signed = start.iter().zip(SIGNED.bytes()).all(|(byte, sign)| [0, sign].contains(byte));
    if is_signed || start.starts_with(b"\n") {
        return file.rewind().at(path);
    }
    let reason = "it is no lock file of a store; move it away, or name another store";
    Err(io::Error::other(reason)).at(path)
}

impl Known {
    /// What stands behind the name of whoever signed, if all of it does.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // Whoever signs may not have come to the end of the line.
        let mut lines = text.strip_suffix('\n')?.lines().skip(1);
        let identity = number(lines.next()?)?;
        let mut line = lines.next();
        let file = line.and_then(file_id);
        if file.is_some() {
            line = lines.next();
        }
        let sealing = match line {
            Some(PLAIN) => Sealing::Plain,
            Some(digits) => Sealing::With(KeyId::from_number(number(digits)?)),
            None => Sealing::Unknown,
        };
        Some(Self { identity, file, sealing })
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:016x}", self.identity)?;
        // Before what it is sealed with: who reads half of this does not know that, and waits.
        if let Some(FileId { device, inode, born }) = self.file {
            writeln!(f, "{device:016x}{inode:016x}{born:016x}")?;
        }
        match self.sealing {
            Sealing::With(id) => writeln!(f, "{id}"),
            Sealing::Plain => writeln!(f, "{PLAIN}"),
            Sealing::Unknown => Ok(()),
        }
    }
}

fn number(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 16)
}

fn file_id(digits: &str) -> Option<FileId> {
    let (device, rest) = digits.split_at_checked(16)?;
    let (inode, born) = rest.split_at_checked(16)?;
    Some(FileId { device: number(device)?, inode: number(inode)?, born: number(born)? })
}

fn open(path: &Path) -> Result<File> {
    opening::read_and_write_or_make(path).at(path)
}
