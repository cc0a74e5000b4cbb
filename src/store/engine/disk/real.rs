//! The file system of this machine, as a store asks it.
//!
//! Must never decide anything: the caller decides when to sync, and what a failure means.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use redb::{Builder, Database, DatabaseError, ReadOnlyDatabase};

use super::{Disk, DiskFile, FileId, FoundFile, Lock, clock, opening};

/// The file system of this machine.
#[derive(Debug)]
pub(in crate::store) struct RealDisk;

impl Disk for RealDisk {
    fn look(&self, path: &Path) -> io::Result<FoundFile> {
        let found = fs::symlink_metadata(path)?;
        Ok(FoundFile {
            is_other: (!found.is_file()).then(|| opening::kind(found.file_type())),
            bytes: found.len(),
            names: opening::names(&found),
            id: FileId::of(&found),
        })
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(opening::read(path)?))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(opening::read_and_write(path)?))
    }

    fn open_directory(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(opening::directory(path)?))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(opening::make(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        opening::rename_new(from, to)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool> {
        opening::exchange(one, other)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn age(&self, path: &Path) -> Option<Duration> {
        fs::symlink_metadata(path).ok()?.modified().ok()?.elapsed().ok()
    }

    fn create_held(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = opening::make(path)?;
        file.try_lock()?;
        Ok(Box::new(file))
    }

    fn is_held(&self, path: &Path) -> bool {
        !opening::read(path).is_ok_and(|file| file.try_lock().is_ok())
    }

    fn is_file(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
    }

    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            outcome => outcome,
        }
    }

    fn ticks(&self) -> u64 {
        clock::ticks()
    }

    fn boot(&self) -> u64 {
        clock::boot()
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(directory)?.map(|found| Ok(found?.file_name())).collect()
    }

    fn stamp(&self, directory: &Path) -> Option<u128> {
        let modified = fs::symlink_metadata(directory).and_then(|found| found.modified()).ok()?;
        // A clock may show a time before 1970.
        Some(match modified.duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_nanos(),
            Err(before) => u128::MAX - before.duration().as_nanos(),
        })
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        // On other systems a directory is no file, and renames need no sync.
        #[cfg(unix)]
        opening::directory(directory)?.sync_all()?;
        #[cfg(not(unix))]
        let _ = directory;
        Ok(())
    }

    fn open_lock(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(opening::read_and_write_or_make(path)?))
    }

    fn is_real(&self) -> bool {
        true
    }

    fn is_free(&self, path: &Path) -> io::Result<bool> {
        DiskFile::try_lock(&opening::read(path)?, Lock::Exclusive)
    }

    fn open_engine(&self, path: &Path, builder: &Builder) -> Result<Database, DatabaseError> {
        let file = opening::read_and_write(path)?;
        if file.metadata()?.len() == 0 {
            // The engine would turn an empty file into a store.
            return Err(io::Error::from(io::ErrorKind::InvalidData).into());
        }
        builder.create_file(file)
    }

    fn read_engine(
        &self,
        path: &Path,
        builder: &Builder,
    ) -> Result<Option<ReadOnlyDatabase>, DatabaseError> {
        match builder.open_read_only(path) {
            Ok(database) => Ok(Some(database)),
            Err(DatabaseError::RepairAborted) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl DiskFile for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(FileId::of(&self.metadata()?))
    }

    #[cfg(unix)]
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, bytes, at)
    }

    #[cfg(not(unix))]
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        let mut file = self;
        io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
        io::Read::read_exact(&mut file, bytes)
    }

    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, at)
    }

    #[cfg(not(unix))]
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let mut file = self;
        io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
        io::Write::write_all(&mut file, bytes)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn allocate(&self, from: u64, to: u64) -> io::Result<()> {
        let is_done = opening::allocate(self, from, to.saturating_sub(from))?;
        if is_done { Ok(()) } else { super::write_zeros(self, from, to) }
    }

    fn reserve(&self, bytes: u64) -> io::Result<()> {
        opening::reserve(self, bytes)
    }

    fn cut_reserve(&self, bytes: u64) -> io::Result<bool> {
        opening::cut_reserve(self, bytes)
    }

    fn is_reserved(&self) -> bool {
        opening::is_reserved(self)
    }

    fn free(&self, parts: &[Range<u64>]) -> io::Result<bool> {
        opening::free(self, parts)
    }

    fn try_lock(&self, kind: Lock) -> io::Result<bool> {
        let taken = match kind {
            Lock::Shared => self.try_lock_shared(),
            Lock::Exclusive => self.try_lock(),
        };
        match taken {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}
