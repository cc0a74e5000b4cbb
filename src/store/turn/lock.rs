//! The lock file beside a store: who waits for the store, who has it, who is making it.
//!
//! It holds no checkpoints and stays where it is: a lock on a file that was removed keeps nobody
//! out. All locks end with their process. Its content never decides whether a store opens: any file
//! can be locked, and content that no store wrote is ignored.

mod text;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use crate::checkpoint::Timestamp;
use crate::error::{At, Result};
use crate::store::engine::disk::{DiskFile, Lock, Place};
use crate::store::engine::file;
use crate::store::engine::sealing::Sealing;
use text::TEXT_BYTES_MAX;
pub(in crate::store) use text::{Content, Known, SIGNED, Text};

#[derive(Debug)]
pub(in crate::store) struct LockFile {
    path: PathBuf,
    store: Place,
}

/// A lock on the lock file. Ends when dropped.
#[derive(Debug)]
pub(in crate::store) struct Locked(
    #[expect(dead_code, reason = "it is there to be dropped")] Box<dyn DiskFile>,
);

impl LockFile {
    pub(in crate::store) fn of(place: &Place) -> Self {
        Self { path: file::beside(&place.path, ".lock"), store: place.clone() }
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

    /// Writes down who has the store, and which store that is, if it is known by now.
    ///
    /// Content that no store wrote is left alone. On a full disk the old text may stay, unless it
    /// would make spooling processes use another key.
    pub(in crate::store) fn sign(&self, name: &str, known: Option<Known>) -> Result<()> {
        let file = self.open()?;
        let length = file.length().at(&self.path)?;
        if read(file.as_ref()).at(&self.path)? == Content::Foreign {
            return Ok(());
        }
        let text = Text::new(name, known).to_bytes();
        // In place: a file that is truncated first may be zeros after a power cut, and other
        // processes would read an empty one meanwhile.
        let written = file.write_at(&text, 0).and_then(|()| {
            if length > text.len() as u64 { file.set_length(text.len() as u64) } else { Ok(()) }
        });
        match written {
            Err(_) if read(file.as_ref()).is_ok() && !self.misleads(known) => Ok(()),
            written => written.at(&self.path),
        }
    }

    /// Syncs the text and the name of the file.
    pub(in crate::store) fn sync(&self) -> Result<()> {
        self.open()?.sync().at(&self.path)?;
        let directory = file::parent(&self.path);
        self.store.disk.sync_directory(directory).at(directory)
    }

    /// The holder of the store, as it described itself.
    pub(in crate::store) fn holder(&self) -> String {
        match self.content() {
            Content::Whole(Text { holder, .. }) if !holder.is_empty() => holder,
            _ => "another process".to_owned(),
        }
    }

    /// The store that was last opened here, unless another file has taken its place.
    pub(in crate::store) fn known(&self) -> Option<Known> {
        let Content::Whole(Text { known, .. }) = self.content() else { return None };
        let known = known?;
        // A text of an older build, or of a system without inodes, names no file and is believed.
        let is_at = |file| file::is_at(self.store.disk.as_ref(), Some(file), &self.store.path);
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
    fn misleads(&self, known: Option<Known>) -> bool {
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
