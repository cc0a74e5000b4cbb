//! The lock file beside a store: which processes wait for the store, have it, or are making it.
//!
//! It holds no checkpoints and is never removed: a lock on a removed file excludes no process. All
//! locks end with their process. Its content never decides whether a store opens: any file can be
//! locked, and content that no store wrote is ignored. Beyond its end it keeps disk
//! space: the reserve of a store that was closed.

mod text;

use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};
use std::{fs, io};

use crate::checkpoint::Timestamp;
use crate::error::{At, Error, Result};
use crate::store::engine::disk::{DiskFile, Lock, StorePath};
use crate::store::engine::location;
use crate::store::engine::sealing::Sealing;
pub(in crate::store) use text::{Content, HeldStore, SIGNED, Text};
use text::{TEXT_BYTES, TEXT_BYTES_MAX};

// A delete copies some forty pages of a small store. The larger the store, the more pages it is
// spread over.
const RESERVE_BYTES_MIN: u64 = 384 << 10;
// Kept for removals for good: a removal that can be restored frees no space, and may use up the
// rest of the reserve.
const RESERVE_BYTES_LAST: u64 = 128 << 10;
const RESERVE_BYTES_MORE: u64 = 4 << 20;
const RESERVE_PART: u64 = 16;

#[derive(Debug)]
pub(in crate::store) struct LockFile {
    path: PathBuf,
    store: StorePath,
}

/// A lock on the lock file. Ends when dropped.
#[derive(Debug)]
pub(in crate::store) struct Locked(
    #[expect(dead_code, reason = "it is there to be dropped")] Box<dyn DiskFile>,
);

impl LockFile {
    pub(in crate::store) fn of(place: &StorePath) -> Self {
        Self { path: location::beside(&place.path, ".lock"), store: place.clone() }
    }

    /// Lets the holder know that this process waits, until the returned lock is dropped.
    ///
    /// `None` if the lock is taken for a moment; the next try will do.
    pub(in crate::store) fn announce(&self) -> Result<Option<Locked>> {
        self.lock(Lock::Shared)
    }

    /// Whether another process waits.
    pub(in crate::store) fn is_awaited(&self) -> bool {
        let try_lock = |file: Box<dyn DiskFile>| file.try_lock(Lock::Exclusive);
        matches!(self.store.disk.open_lock(&self.path).and_then(try_lock), Ok(false))
    }

    /// Keeps others from making the store, until the returned lock is dropped; `None` if another
    /// process is at it.
    pub(in crate::store) fn exclude(&self) -> Result<Option<Locked>> {
        self.lock(Lock::Exclusive)
    }

    /// Writes down the holder, and the identity of the store, if known.
    ///
    /// Content that no store wrote is left alone. On a full disk the old text may stay, unless it
    /// would make spooling processes use another key.
    pub(in crate::store) fn sign(&self, name: &str, known: Option<HeldStore>) -> Result<()> {
        let file = self.open()?;
        let length = file.length().at(&self.path)?;
        if read(file.as_ref()).at(&self.path)? == Content::Foreign {
            return Ok(());
        }
        let mut text = Text::new(name, known).to_bytes();
        if length <= TEXT_BYTES && file.is_reserved() {
            // Blank lines over the rest of a longer text: truncating would end the reserve.
            let length = usize::try_from(length).unwrap_or_default().max(text.len());
            text.resize(length, b'\n');
        }
        // In place: a file that is truncated first may be zeros after a power cut, and other
        // processes would read an empty one meanwhile.
        let written = file.write_at(&text, 0).and_then(|()| {
            if length > text.len() as u64 { file.set_length(text.len() as u64) } else { Ok(()) }
        });
        let _ = file.reserve(self.reserve_bytes());
        match written {
            Err(_) if read(file.as_ref()).is_ok() && !self.misleads(known) => Ok(()),
            written => written.at(&self.path),
        }
    }

    /// Gives the reserve back to the file system, so that a call that removes something finds room
    /// on a full disk; false if there is none. Only a removal for good gets all of it. The next
    /// process that finds plenty of room makes the reserve anew.
    pub(in crate::store) fn release(&self, is_final: bool) -> bool {
        let kept = if is_final { 0 } else { RESERVE_BYTES_LAST };
        self.open().and_then(|file| file.cut_reserve(kept).at(&self.path)).unwrap_or(false)
    }

    fn reserve_bytes(&self) -> u64 {
        let store = self.store.disk.look(&self.store.path).map_or(0, |found| found.bytes);
        RESERVE_BYTES_MIN + (store / RESERVE_PART).min(RESERVE_BYTES_MORE)
    }

    /// Syncs the text and the name of the file.
    pub(in crate::store) fn sync(&self) -> Result<()> {
        self.open()?.sync().at(&self.path)?;
        let directory = location::parent(&self.path);
        self.store.disk.sync_directory(directory).at(directory)
    }

    /// The holder of the store, as it described itself.
    pub(in crate::store) fn holder(&self) -> String {
        match self.content() {
            Content::Whole(Text { holder, .. }) if !holder.is_empty() => holder,
            _ => "another process".to_owned(),
        }
    }

    /// The error of a call that waited in vain.
    pub(in crate::store) fn locked(&self, waited: Duration) -> Error {
        Error::Locked { path: self.store.path.clone(), holder: self.holder(), waited }
    }

    /// The store that was last opened here, unless another file has taken its place.
    pub(in crate::store) fn known(&self) -> Option<HeldStore> {
        let Content::Whole(Text { known, .. }) = self.content() else { return None };
        let known = known?;
        // A text of an older build, or of a system without inodes, names no file and is believed.
        let is_at = |file| location::is_at(self.store.disk.as_ref(), Some(file), &self.store.path);
        known.file.is_none_or(|file| is_at(file).unwrap_or(false)).then_some(known)
    }

    /// The content of the file; a missing or unreadable file counts as empty.
    pub(in crate::store) fn content(&self) -> Content {
        let disk = self.store.disk.as_ref();
        let content = || read(disk.open(&self.path)?.as_ref());
        content().unwrap_or_else(|_| Content::Whole(Text::default()))
    }

    /// When the text was last written.
    pub(in crate::store) fn signed_at(&self) -> Option<Timestamp> {
        let modified = fs::metadata(&self.path).and_then(|it| it.modified()).ok()?;
        let micros = modified.duration_since(UNIX_EPOCH).ok()?.as_micros();
        Some(Timestamp::from_micros(i64::try_from(micros).ok()?))
    }

    /// Whether the text would tell spooling processes something other than `known`.
    fn misleads(&self, known: Option<HeldStore>) -> bool {
        let stated = self.known().filter(|it| it.sealing != Sealing::Unknown);
        stated.is_some_and(|stated| Some(stated) != known)
    }

    fn lock(&self, kind: Lock) -> Result<Option<Locked>> {
        let file = self.open()?;
        let is_taken = file.try_lock(kind).at(&self.path)?;
        Ok(is_taken.then_some(Locked(file)))
    }

    fn open(&self) -> Result<Box<dyn DiskFile>> {
        self.store.disk.open_lock(&self.path).at(&self.path)
    }
}

fn read(file: &dyn DiskFile) -> io::Result<Content> {
    let most = TEXT_BYTES_MAX + 1;
    let length = usize::try_from(file.length()?).map_or(most, |length| length.min(most));
    let mut bytes = vec![0; length];
    file.read_at(&mut bytes, 0)?;
    Ok(Content::parse(&bytes))
}
