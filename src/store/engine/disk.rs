//! What a store asks of the file system.
//!
//! Everything that makes, writes, renames or removes a file of a store goes through here, so that
//! tests can put a disk below it that fails or loses its power. Must never decide anything: the
//! caller decides when to sync, and what a failure means.

mod clock;
pub mod opening;
mod real;
pub mod whole;

use std::ffi::OsString;
use std::fs::Metadata;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use std::{fmt, io};

use redb::{Builder, Database, DatabaseError, ReadOnlyDatabase};

pub(in crate::store) use real::RealDisk;

/// Zeros to write, or to compare with.
pub(in crate::store) static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Where a store is: its name, links resolved, and the disk that has it.
#[derive(Debug, Clone)]
pub(in crate::store) struct StorePath {
    pub(in crate::store) path: PathBuf,
    pub(in crate::store) disk: Arc<dyn Disk>,
}

impl StorePath {
    /// A place in the file system of this machine.
    pub(in crate::store) fn real(path: PathBuf) -> Self {
        Self { path, disk: Arc::new(RealDisk) }
    }
}

/// The file at a path.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct FoundFile {
    /// Its kind, in words, if it is not a regular file.
    pub(in crate::store) is_other: Option<&'static str>,
    pub(in crate::store) bytes: u64,
    /// Number of names (hard links).
    pub(in crate::store) names: u64,
    pub(in crate::store) id: Option<FileId>,
}

/// Identifies a file, whatever its name. No other file has the same while this one exists or is
/// open. Where the system reports creation times, no later file has it either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct FileId {
    pub(in crate::store) device: u64,
    pub(in crate::store) inode: u64,
    /// When it was made, in nanoseconds; zero where the system does not tell.
    pub(in crate::store) born: u64,
}

impl FileId {
    /// `None` if the system does not report it.
    #[cfg_attr(unix, expect(clippy::unnecessary_wraps, reason = "this one tells"))]
    fn of(found: &Metadata) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let born = found.created().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
            let born = born.and_then(|it| u64::try_from(it.as_nanos()).ok()).unwrap_or(0);
            Some(Self { device: found.dev(), inode: found.ino(), born })
        }
        #[cfg(not(unix))]
        {
            let _ = found;
            None
        }
    }
}

/// A file system, as far as a store needs one.
pub(in crate::store) trait Disk: fmt::Debug + Send + Sync {
    /// Describes the file at a path; follows no link.
    fn look(&self, path: &Path) -> io::Result<FoundFile>;

    /// Opens an existing regular file to read or sync it; no link is followed.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// As [`Disk::open`], to write to it, too.
    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Opens a directory, to recognize it later.
    fn open_directory(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Makes a file that only its owner may read; an error if the name is taken.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Renames a file. Durable once its directory is synced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// As [`Disk::rename`]; an error if the new name is taken.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Exchanges the names of two files in one step; false where the file system cannot do that.
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool>;

    fn remove(&self, path: &Path) -> io::Result<()>;

    /// How long ago a file was last changed, if the system knows.
    fn age(&self, path: &Path) -> Option<Duration>;

    /// Makes a file that must not exist, and locks it while it is open.
    fn create_held(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Whether a process holds a file made by [`Disk::create_held`].
    fn is_held(&self, path: &Path) -> bool;

    /// Whether there is a regular file, and no link to one.
    fn is_file(&self, path: &Path) -> bool;

    /// Makes a directory that only its owner may enter, unless it is there.
    fn create_directory(&self, directory: &Path) -> io::Result<()>;

    /// How long a journal with room for this many bytes may get before it starts over.
    fn journal_bytes(&self, most: u64) -> u64 {
        most
    }

    /// Microseconds of a clock that all processes of this boot share and that is never set.
    fn ticks(&self) -> u64;

    /// Identifies the boot whose processes share [`Disk::ticks`]; zero where the system does not
    /// tell.
    fn boot(&self) -> u64;

    /// The names in a directory, in no order.
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>>;

    /// Changes whenever a name in a directory does, unless that is within a moment; `None` if there
    /// is no such directory.
    fn stamp(&self, directory: &Path) -> Option<u128>;

    /// Makes creations, renames and removals in a directory durable.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;

    /// Opens a file to lock and write it, or makes one that only its owner may read. Follows no
    /// link, and never truncates.
    fn open_lock(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Whether the files are real, so that [`Pages`](super::pages::Pages) can read them.
    fn is_real(&self) -> bool;

    /// Whether no process has the engine's file.
    fn is_free(&self, path: &Path) -> io::Result<bool>;

    fn open_engine(&self, path: &Path, builder: &Builder) -> Result<Database, DatabaseError>;

    /// Opens the engine's file read-only; `None` if the engine cannot do that.
    fn read_engine(
        &self,
        path: &Path,
        builder: &Builder,
    ) -> Result<Option<ReadOnlyDatabase>, DatabaseError>;
}

/// A lock on a file: one process has an exclusive one, or many have shared ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Lock {
    Shared,
    Exclusive,
}

/// A file of a [`Disk`].
pub(in crate::store) trait DiskFile: fmt::Debug + Send + Sync {
    fn length(&self) -> io::Result<u64>;

    /// Identifies the file; `None` if the system cannot.
    fn id(&self) -> io::Result<Option<FileId>>;

    /// Fills `bytes` from the file.
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()>;

    /// Writes all of `bytes`; beyond the end, too.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Truncates the file to this length, or extends it with zeros.
    fn set_length(&self, length: u64) -> io::Result<()>;

    /// Allocates blocks for a part beyond the end of the file, which reads as zeros.
    fn allocate(&self, from: u64, to: u64) -> io::Result<()>;

    /// Reserves disk space beyond the end of the file, so that it has at least this many bytes.
    /// Does nothing if the file system cannot do that, or has little space left.
    fn reserve(&self, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    /// Gives back the disk space reserved beyond this length; false if there is none.
    fn cut_reserve(&self, _bytes: u64) -> io::Result<bool> {
        Ok(false)
    }

    /// Whether disk space is reserved beyond the end of the file.
    fn is_reserved(&self) -> bool {
        false
    }

    /// Punches holes: gives the disk space of these parts back, which then read as zeros. False if
    /// that freed nothing.
    fn free(&self, _parts: &[Range<u64>]) -> io::Result<bool> {
        Ok(false)
    }

    /// Takes a lock that lasts as long as the file is open; false if another process has a
    /// conflicting one.
    fn try_lock(&self, kind: Lock) -> io::Result<bool>;

    /// Makes content and length durable.
    fn sync(&self) -> io::Result<()>;
}

/// Writes zeros to a part of a file.
pub(in crate::store) fn write_zeros(file: &dyn DiskFile, from: u64, to: u64) -> io::Result<()> {
    let mut at = from;
    while at < to {
        let left = usize::try_from(to - at).unwrap_or(usize::MAX);
        let zeros = &ZEROS[..left.min(ZEROS.len())];
        file.write_at(zeros, at)?;
        at += zeros.len() as u64;
    }
    Ok(())
}
