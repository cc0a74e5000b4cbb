//! The lock file beside a store: who waits for the store, who has it, who is making it.
//!
//! It holds no checkpoints and stays where it is: a lock on a file that was removed keeps nobody
//! out. All locks end with their process.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::file;
use crate::checkpoint::Timestamp;
use crate::error::{At, Result};

const HOLDER_CHARS_MAX: usize = 200;
// Of a label that is far too long.
const TEXT_BYTES_MAX: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct LockFile {
    path: PathBuf,
}

impl LockFile {
    pub(super) fn of(store: &Path) -> Self {
        Self { path: file::beside(store, ".lock") }
    }

    /// Lets the holder know that this process waits, until the returned file is dropped.
    ///
    /// `None` if the lock is taken for a moment; the next try will do.
    pub(super) fn announce(&self) -> Result<Option<File>> {
        let file = self.open()?;
        self.taken(file.try_lock_shared()).map(|is_taken| is_taken.then_some(file))
    }

    /// Whether another process waits.
    pub(super) fn is_awaited(&self) -> bool {
        self.open().is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Keeps others from making the store, until the returned file is dropped; `None` if another
    /// process is at it.
    pub(super) fn exclude(&self) -> Result<Option<File>> {
        let file = self.open()?;
        self.taken(file.try_lock()).map(|is_taken| is_taken.then_some(file))
    }

    /// Writes down who has the store, and which store that is, if it is known by now.
    pub(super) fn sign(&self, name: &str, identity: Option<u64>) -> Result<()> {
        let mut file = self.open()?;
        let identity = identity.map_or(String::new(), |it| format!("\n{it:016x}\n"));
        let text = name.replace('\n', " ") + &identity;
        file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).at(&self.path)
    }

    /// Who has the store, as it described itself.
    pub(super) fn holder(&self) -> String {
        let text = self.read();
        match text.lines().next() {
            Some(name) if !name.is_empty() => name.chars().take(HOLDER_CHARS_MAX).collect(),
            _ => "another process".to_owned(),
        }
    }

    /// The identity of the store that was last opened here.
    pub(super) fn identity(&self) -> Option<u64> {
        let text = self.read();
        // Whoever signs may not have come to the end of the line.
        let digits = text.strip_suffix('\n')?.lines().nth(1).filter(|digits| digits.len() == 16)?;
        u64::from_str_radix(digits, 16).ok()
    }

    /// When it was last written down who has the store.
    pub(super) fn signed_at(&self) -> Option<Timestamp> {
        let modified = fs::metadata(&self.path).and_then(|found| found.modified()).ok()?;
        let micros = modified.duration_since(UNIX_EPOCH).ok()?.as_micros();
        Some(Timestamp::from_micros(i64::try_from(micros).ok()?))
    }

    fn read(&self) -> String {
        let mut text = String::new();
        let file = File::open(&self.path);
        let read = file.and_then(|file| file.take(TEXT_BYTES_MAX).read_to_string(&mut text));
        if read.is_ok() { text } else { String::new() }
    }

    fn open(&self) -> Result<File> {
        let mut options = file::private();
        options.read(true).write(true).create(true).truncate(false).open(&self.path).at(&self.path)
    }

    fn taken(&self, outcome: Result<(), TryLockError>) -> Result<bool> {
        match outcome {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error).at(&self.path),
        }
    }
}
