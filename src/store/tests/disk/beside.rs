//! The disk of a process that only reads, while another process writes to it.
//!
//! The other process is a list of recorded changes of the disk. A burst of them may happen before
//! any call that the reader makes to the disk, so in the middle of a read; a write may happen in
//! two halves, with calls of the reader in between. A call that would change the disk or lock a
//! file is refused and noted.

use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redb::{Builder, Database, DatabaseError, ReadOnlyDatabase};

use super::chance::Chance;
use super::simulated::{Change, Files, SimulatedDisk};
use crate::store::engine::disk::{Disk, DiskFile, FileId, FoundFile, Lock};
use crate::sync::lock;

/// Of writes that end a burst, this percentage happens in two halves.
const HALVES_PERCENT: usize = 40;

/// How fast the other process works beside the reader.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// At most this many calls of the reader from one burst of changes to the next.
    pub(super) calls: usize,
    /// At most this many changes in a burst.
    pub(super) changes: usize,
}

/// The disk as the reader sees it; clones share it.
#[derive(Debug, Clone)]
pub(super) struct ReaderDisk {
    disk: SimulatedDisk,
    other: Arc<Mutex<Other>>,
}

/// The process that writes.
#[derive(Debug)]
struct Other {
    changes: Arc<[Change]>,
    /// How many changes have happened.
    done: usize,
    /// The second half of the next change, if the first has happened.
    half: Option<Change>,
    /// `None` if nothing changes while the reader works.
    pace: Option<Pace>,
    /// Calls until the next burst.
    wait: usize,
    chance: Chance,
    refused: Vec<&'static str>,
}

impl ReaderDisk {
    /// A disk with these files, which the other process does not change.
    pub(super) fn still(files: Files) -> Self {
        Self::new(files, (Vec::new().into(), 0), Chance::new(&[]))
    }

    /// A disk with these files, which are the state after this number of changes.
    pub(super) fn new(
        files: Files,
        (changes, done): (Arc<[Change]>, usize),
        chance: Chance,
    ) -> Self {
        let (half, pace, wait, refused) = (None, None, 0, Vec::new());
        let other = Other { changes, done, half, pace, wait, chance, refused };
        Self { disk: SimulatedDisk::with(files), other: Arc::new(Mutex::new(other)) }
    }

    pub(super) fn set_pace(&self, pace: Option<Pace>) {
        let mut other = lock(&self.other);
        other.wait = pace.map_or(0, |it| other.chance.below(it.calls));
        other.pace = pace;
    }

    /// How many changes have happened.
    pub(super) fn done(&self) -> usize {
        lock(&self.other).done
    }

    pub(super) fn is_over(&self) -> bool {
        let other = lock(&self.other);
        other.done == other.changes.len()
    }

    /// Lets this many changes happen.
    pub(super) fn go_on(&self, changes: usize) {
        let mut other = lock(&self.other);
        (0..changes).for_each(|_| other.step(&self.disk));
    }

    /// Returns the calls that were refused since it was last called.
    pub(super) fn take_refused(&self) -> Vec<&'static str> {
        std::mem::take(&mut lock(&self.other).refused)
    }

    /// Comes before each reading call: lets a burst of changes happen if one is due.
    fn tick(&self) {
        let mut other = lock(&self.other);
        let Some(pace) = other.pace else { return };
        if let Some(left) = other.wait.checked_sub(1) {
            other.wait = left;
            return;
        }
        other.wait = other.chance.below(pace.calls);
        let changes = 1 + other.chance.below(pace.changes);
        (1..changes).for_each(|_| other.step(&self.disk));
        other.step_half(&self.disk);
    }

    fn refuse<T>(&self, call: &'static str) -> io::Result<T> {
        lock(&self.other).refused.push(call);
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn file(&self, file: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(ReaderFile { disk: self.clone(), file })
    }
}

impl Other {
    /// Lets the next change happen, or the rest of it.
    fn step(&mut self, disk: &SimulatedDisk) {
        let next = self.half.take().or_else(|| self.changes.get(self.done).cloned());
        let Some(next) = next else { return };
        disk.replay(&next);
        self.done += 1;
    }

    /// As [`Other::step`], but by chance only half of a write.
    fn step_half(&mut self, disk: &SimulatedDisk) {
        let whole = match self.changes.get(self.done) {
            Some(Change::Write { file, at, bytes }) if self.half.is_none() && bytes.len() > 1 => {
                (*file, *at, bytes.clone())
            }
            _ => return self.step(disk),
        };
        if !self.chance.happens(HALVES_PERCENT) {
            return self.step(disk);
        }
        let (file, at, bytes) = whole;
        let (front, back) = bytes.split_at(1 + self.chance.below(bytes.len() - 1));
        let front_bytes = front.len() as u64;
        let one = Change::Write { file, at, bytes: front.into() };
        let two = Change::Write { file, at: at + front_bytes, bytes: back.into() };
        // A system may copy the bytes of a write in any order.
        let (one, two) = if self.chance.happens(50) { (one, two) } else { (two, one) };
        disk.replay(&one);
        self.half = Some(two);
    }
}

impl Disk for ReaderDisk {
    fn look(&self, path: &Path) -> io::Result<FoundFile> {
        self.tick();
        self.disk.look(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.tick();
        self.disk.open(path).map(|file| self.file(file))
    }

    fn open_to_write(&self, _: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.refuse("open_to_write")
    }

    fn open_directory(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.open(path)
    }

    fn create(&self, _: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.refuse("create")
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        self.refuse("rename")
    }

    fn rename_new(&self, _: &Path, _: &Path) -> io::Result<()> {
        self.refuse("rename_new")
    }

    fn exchange(&self, _: &Path, _: &Path) -> io::Result<bool> {
        self.refuse("exchange")
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        self.refuse("remove")
    }

    fn age(&self, path: &Path) -> Option<Duration> {
        self.disk.age(path)
    }

    fn create_held(&self, _: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.refuse("create_held")
    }

    fn is_held(&self, path: &Path) -> bool {
        self.disk.is_held(path)
    }

    fn ticks(&self) -> u64 {
        self.disk.ticks()
    }

    /// What is replayed has stamps of another clock.
    fn boot(&self) -> u64 {
        0
    }

    fn is_file(&self, path: &Path) -> bool {
        self.tick();
        self.disk.is_file(path)
    }

    fn create_directory(&self, _: &Path) -> io::Result<()> {
        self.refuse("create_directory")
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.tick();
        self.disk.list(directory)
    }

    fn stamp(&self, directory: &Path) -> Option<u128> {
        self.tick();
        self.disk.stamp(directory)
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        self.refuse("sync_directory")
    }

    fn open_lock(&self, _: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.refuse("open_lock")
    }

    fn is_real(&self) -> bool {
        false
    }

    fn is_free(&self, _: &Path) -> io::Result<bool> {
        self.refuse("is_free")
    }

    fn open_engine(&self, _: &Path, _: &Builder) -> Result<Database, DatabaseError> {
        Ok(self.refuse("open_engine")?)
    }

    fn read_engine(
        &self,
        _: &Path,
        _: &Builder,
    ) -> Result<Option<ReadOnlyDatabase>, DatabaseError> {
        Ok(self.refuse("read_engine")?)
    }
}

#[derive(Debug)]
struct ReaderFile {
    disk: ReaderDisk,
    file: Box<dyn DiskFile>,
}

impl DiskFile for ReaderFile {
    fn length(&self) -> io::Result<u64> {
        self.disk.tick();
        self.file.length()
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        self.disk.tick();
        self.file.id()
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.disk.tick();
        self.file.read_at(bytes, at)
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
        self.disk.refuse("write_at")
    }

    fn set_length(&self, _: u64) -> io::Result<()> {
        self.disk.refuse("set_length")
    }

    fn allocate(&self, _: u64, _: u64) -> io::Result<()> {
        self.disk.refuse("allocate")
    }

    fn reserve(&self, _: u64) -> io::Result<()> {
        self.disk.refuse("reserve")
    }

    fn free(&self, _: &[Range<u64>]) -> io::Result<bool> {
        self.disk.refuse("free")
    }

    fn try_lock(&self, _: Lock) -> io::Result<bool> {
        self.disk.refuse("try_lock")
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.refuse("sync")
    }
}
