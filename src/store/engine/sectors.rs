//! Reads a file around bad sectors: only what is stored on one is lost.
//!
//! Must never write, or read a failed sector again: a failing disk retries for seconds.
//!
//! A failed read is repeated by blocks of 4,096 bytes and then by sectors of 512. What still fails
//! is zeros, so a repair treats a bad sector like a page with a wrong checksum, the first sector of
//! the file included. The engine answers every call with an error after one failed read, until the
//! file is opened anew. So `verify` first reads every byte through here. If a page in use is
//! unreadable, it reads the store the way a repair does. If only free pages are, it continues as
//! usual and reports them as `upkeep`.
//!
//! A failed write has the same error code as a failed read (`EIO`). To tell them apart, `failed`
//! reads the file up to the first unreadable byte. If there is one, the error is `Corrupt` and
//! names it; otherwise it stays `Io`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{fmt, io};

use serde::{Serialize, Serializer};

use crate::error::{Damage, Error};
use crate::store::engine::disk::{Disk, DiskFile, RealDisk};
use crate::sync::lock;

/// The least that a disk reads.
const SECTOR: usize = 512;
const SECTOR_BYTES: u64 = SECTOR as u64;
// What file systems read at once.
const BLOCK: usize = 4096;
// Enough to keep a disk busy, and little memory.
const PART_BYTES: u64 = 1 << 20;

/// Error codes for a sector that cannot be read.
#[cfg(not(windows))]
const READ_ERRORS: [i32; 1] = [5]; // EIO
#[cfg(windows)]
const READ_ERRORS: [i32; 2] = [23, 1117]; // ERROR_CRC, ERROR_IO_DEVICE

/// Bytes of a file that the disk cannot read.
///
/// See [`Verification`](crate::care::Verification) for an example.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unreadable {
    /// The store, or its journal.
    pub path: PathBuf,
    /// Where in the file they begin.
    pub at: u64,
    /// How many they are.
    pub bytes: u64,
    /// The message of the system.
    pub reason: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, at, bytes, .. } = self;
        write!(f, "bytes {at} to {} of {}", at + bytes - 1, path.display())
    }
}

/// As a text.
impl Serialize for Unreadable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self}: {}", self.reason))
    }
}

/// Whether an error means that the disk cannot read, rather than a missing permission.
pub(in crate::store) fn is_bad_sector(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| READ_ERRORS.contains(&code))
}

/// The error for a failed call on a file of a store: damage if the disk cannot read some of it.
///
/// A failed write has the same code, but damages nothing. So this reads the file up to the first
/// byte that cannot be read.
pub(in crate::store) fn failed(path: &Path, source: io::Error) -> Error {
    if is_bad_sector(&source) {
        failed_before(path, source)
    } else {
        Error::Io { path: path.to_owned(), source }
    }
}

/// As [`failed`], after a call whose own error is no longer known.
pub(in crate::store) fn failed_before(path: &Path, source: io::Error) -> Error {
    let first = Sectors::open(&RealDisk, path).ok().and_then(|file| file.first_unreadable());
    match first {
        Some(Unreadable { at, bytes, reason, .. }) => {
            let reason = format!("the disk cannot read bytes {at} to {}: {reason}", at + bytes - 1);
            Error::corrupt_store(Damage::Disk, path, reason)
        }
        None => Error::Io { path: path.to_owned(), source },
    }
}

/// A file that is read around bad sectors.
#[derive(Debug)]
pub(in crate::store) struct Sectors {
    file: Box<dyn DiskFile>,
    bytes: u64,
    failed: Mutex<Failed>,
}

#[derive(Debug, Default)]
struct Failed {
    /// By their numbers.
    sectors: BTreeSet<u64>,
    /// The message of the system for the first.
    reason: String,
}

impl Sectors {
    pub(in crate::store) fn new(file: Box<dyn DiskFile>) -> io::Result<Self> {
        let bytes = file.length()?;
        Ok(Self { file, bytes, failed: Mutex::default() })
    }

    pub(in crate::store) fn open(disk: &dyn Disk, path: &Path) -> io::Result<Self> {
        Self::new(disk.open(path)?)
    }

    /// The length of the file when it was opened.
    pub(in crate::store) fn length(&self) -> u64 {
        self.bytes
    }

    /// Fills `bytes` from `at` on, with zeros where the disk cannot read; true if it could read
    /// all.
    pub(in crate::store) fn read(&self, at: u64, bytes: &mut [u8]) -> bool {
        if self.try_read(at, bytes).is_ok() {
            return true;
        }
        let mut is_whole = true;
        for (at, block) in parts(at, bytes, BLOCK) {
            if self.try_read(at, block).is_ok() {
                continue;
            }
            for (at, sector) in parts(at, block, SECTOR) {
                let Err(reason) = self.try_read(at, sector) else { continue };
                sector.fill(0);
                is_whole = false;
                if reason.as_ref().is_some_and(|it| it.kind() == io::ErrorKind::UnexpectedEof) {
                    // The holder truncated the file: that is no fault of the disk.
                    continue;
                }
                let mut failed = lock(&self.failed);
                failed.sectors.insert(at / SECTOR_BYTES);
                if let Some(reason) = reason.filter(|_| failed.reason.is_empty()) {
                    failed.reason = reason.to_string();
                }
            }
        }
        is_whole
    }

    /// Reads all of the file.
    pub(in crate::store) fn read_all(&self) {
        let _ = self.sweep(|_, _| Ok::<(), ()>(()));
    }

    /// Copies all of the file, with zeros where the disk cannot read.
    pub(in crate::store) fn copy(&self, target: &dyn DiskFile) -> io::Result<()> {
        let mut at = 0;
        self.sweep(|part, _| {
            target.write_at(part, at)?;
            at += part.len() as u64;
            Ok(())
        })
    }

    /// Byte ranges that the disk could not read so far; the file is at `path`.
    pub(in crate::store) fn unreadable(&self, path: &Path) -> Vec<Unreadable> {
        let failed = lock(&self.failed);
        let mut found: Vec<Unreadable> = Vec::new();
        for at in failed.sectors.iter().map(|sector| sector * SECTOR_BYTES) {
            let bytes = SECTOR_BYTES.min(self.bytes.saturating_sub(at));
            match found.last_mut() {
                Some(last) if last.at + last.bytes == at => last.bytes += bytes,
                _ => {
                    let (path, reason) = (path.to_owned(), failed.reason.clone());
                    found.push(Unreadable { path, at, bytes, reason });
                }
            }
        }
        found
    }

    /// The first bytes that the disk cannot read.
    fn first_unreadable(&self) -> Option<Unreadable> {
        let _ = self.sweep(|_, is_whole| is_whole.then_some(()).ok_or(()));
        self.unreadable(Path::new("")).into_iter().next()
    }

    /// Calls `visit` with each part, and whether the disk can read all of it, until `visit` fails.
    fn sweep<E>(&self, mut visit: impl FnMut(&[u8], bool) -> Result<(), E>) -> Result<(), E> {
        let mut part = vec![0; usize::try_from(PART_BYTES.min(self.bytes)).unwrap_or_default()];
        let mut at = 0;
        while at < self.bytes {
            let left = usize::try_from(self.bytes - at).map_or(part.len(), |it| it.min(part.len()));
            let bytes = &mut part[..left];
            let is_whole = self.read(at, bytes);
            visit(bytes, is_whole)?;
            at += bytes.len() as u64;
        }
        Ok(())
    }

    /// Reads, unless one of the sectors is known to fail.
    fn try_read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Option<io::Error>> {
        let Some(last) = (at + bytes.len() as u64).checked_sub(1) else { return Ok(()) };
        let sectors = at / SECTOR_BYTES..=last / SECTOR_BYTES;
        if lock(&self.failed).sectors.range(sectors).next().is_some() {
            return Err(None);
        }
        self.file.read_at(bytes, at).map_err(Some)
    }
}

/// Bytes from an offset on, split at the multiples of `length`.
fn parts(at: u64, bytes: &mut [u8], length: usize) -> impl Iterator<Item = (u64, &mut [u8])> {
    let into = usize::try_from(at % length as u64).unwrap_or_default();
    let (first, rest) = bytes.split_at_mut((length - into).min(bytes.len()));
    let parts = std::iter::once(first).chain(rest.chunks_mut(length));
    parts.scan(at, |at, part| {
        let start = *at;
        *at += part.len() as u64;
        Some((start, part))
    })
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::store::engine::disk::{FileId, Lock};

    /// A file whose bytes are the low bits of their offsets, and a range that cannot be read.
    #[derive(Debug)]
    struct Failing {
        length: u64,
        bad: Range<u64>,
        failures: Arc<AtomicUsize>,
    }

    impl DiskFile for Failing {
        fn length(&self) -> io::Result<u64> {
            Ok(self.length)
        }

        fn id(&self) -> io::Result<Option<FileId>> {
            Ok(None)
        }

        fn try_lock(&self, _: Lock) -> io::Result<bool> {
            unreachable!("nothing is locked")
        }

        fn allocate(&self, _: u64, _: u64) -> io::Result<()> {
            unreachable!("nothing is written")
        }

        fn set_length(&self, _: u64) -> io::Result<()> {
            unreachable!("nothing is written")
        }

        fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
            let end = at + bytes.len() as u64;
            assert!(end <= self.length);
            if at < self.bad.end && self.bad.start < end {
                self.failures.fetch_add(1, Ordering::Relaxed);
                return Err(io::Error::from_raw_os_error(READ_ERRORS[0]));
            }
            bytes.iter_mut().zip(at..).for_each(|(byte, at)| *byte = at.to_le_bytes()[0]);
            Ok(())
        }

        fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
            unreachable!("nothing is written")
        }

        fn sync(&self) -> io::Result<()> {
            unreachable!("nothing is written")
        }
    }

    /// Such a file, and how often it failed.
    fn failing(length: u64, bad: Range<u64>) -> (Sectors, Arc<AtomicUsize>) {
        let failures = Arc::new(AtomicUsize::new(0));
        let file = Failing { length, bad, failures: failures.clone() };
        (Sectors::new(Box::new(file)).unwrap(), failures)
    }

    #[test]
    fn everything_but_the_bad_sectors_is_read() {
        // A range that starts and ends within sectors, and one at the end of the file.
        for (length, bad, found) in [
            (3 << 20, 5000..5001, (4608, 512)),
            (3 << 20, 5000..9000, (4608, 4608)),
            (10_000, 9_900..10_000, (9_728, 272)),
            (100, 0..1, (0, 100)),
        ] {
            let (file, failures) = failing(length, bad.clone());
            file.read_all();
            let before = failures.load(Ordering::Relaxed);
            let unreadable = file.unreadable(Path::new("s.redb"));
            assert_eq!(unreadable.len(), 1, "{bad:?}: {unreadable:?}");
            assert_eq!((unreadable[0].at, unreadable[0].bytes), found, "{bad:?}");
            assert!(unreadable[0].reason.contains("os error"), "{unreadable:?}");
            let first = file.first_unreadable().unwrap();
            assert_eq!((first.at, first.bytes), found, "{bad:?}");
            let mut bytes = vec![1; usize::try_from(length).unwrap() - 3];
            assert!(!file.read(3, &mut bytes));
            assert_eq!(failures.load(Ordering::Relaxed), before, "{bad:?} is read again");
            for (byte, at) in bytes.iter().zip(3_u64..) {
                let is_bad = (found.0..found.0 + found.1).contains(&at);
                assert_eq!(*byte, if is_bad { 0 } else { at.to_le_bytes()[0] }, "{bad:?}: {at}");
            }
        }
        let (whole, _) = failing(5000, 6000..6001);
        whole.read_all();
        assert!(whole.unreadable(Path::new("s.redb")).is_empty());
    }

    /// Another process has the store, and truncated it.
    #[test]
    fn a_truncated_file_has_no_bad_sector() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.redb");
        std::fs::write(&path, [7; 10_000]).unwrap();
        let file = Sectors::open(&RealDisk, &path).unwrap();
        std::fs::write(&path, [7; 5_120]).unwrap();
        file.read_all();
        assert_eq!(file.unreadable(&path), []);
        let mut bytes = [1; 10_000];
        assert!(!file.read(0, &mut bytes), "some of it is not there");
        assert!(bytes[..5_120] == [7; 5_120] && bytes[5_120..] == [0; 4_880]);
    }

    #[test]
    fn only_errors_of_the_disk_count_as_bad_sectors() {
        assert!(is_bad_sector(&io::Error::from_raw_os_error(READ_ERRORS[0])));
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::StorageFull] {
            assert!(!is_bad_sector(&kind.into()));
        }
        assert!(!is_bad_sector(&io::Error::other("disk")));
    }

    /// A failed write has the same error code, and was reported as damage to the store.
    #[test]
    fn an_error_is_damage_only_if_some_of_the_file_cannot_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.redb");
        std::fs::write(&path, [7; 100]).unwrap();
        let error = failed(&path, io::Error::from_raw_os_error(READ_ERRORS[0]));
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
    }
}
