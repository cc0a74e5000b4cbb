//! A disk in memory: it records every operation, and each can be made to fail.
//!
//! It shows what the processes of one boot see. `power.rs` derives from the record what a power
//! loss leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redb::{Builder, Database, DatabaseError, ReadOnlyDatabase, StorageBackend};

use super::image::Image;
use super::power::apply;
use crate::store::engine::disk::opening::DIRECTORY;
use crate::store::engine::disk::{Disk, DiskFile, FileId, FoundFile, Lock, write_zeros};
use crate::sync::lock;

const JOURNAL_BYTES: u64 = 16 << 10;
const SECTOR_BYTES: u64 = 512;
/// What a disk answers that cannot read a sector: `EIO`, or on Windows `ERROR_CRC`.
const BAD_SECTOR: i32 = if cfg!(windows) { 23 } else { 5 };

/// An operation on a disk. Files have numbers, since names come and go.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Write {
        file: usize,
        at: u64,
        bytes: Arc<[u8]>,
    },
    Resize {
        file: usize,
        length: u64,
    },
    /// A hole: this part reads as zeros from now on, and takes no space.
    Free {
        file: usize,
        part: Range<u64>,
    },
    Sync {
        file: usize,
    },
    /// A sync that fails once and drops all unsynced changes.
    FailedSync {
        file: usize,
    },
    /// Names that now mean a file or nothing, all at once.
    Name(Vec<(PathBuf, Option<usize>)>),
    SyncDirectory(PathBuf),
}

/// Operations that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Call {
    Read,
    Write,
    Resize,
    Sync,
    Create,
    Rename,
    Remove,
    SyncDirectory,
}

impl Call {
    pub(super) const ALL: [Self; 8] = [
        Self::Read,
        Self::Write,
        Self::Resize,
        Self::Sync,
        Self::Create,
        Self::Rename,
        Self::Remove,
        Self::SyncDirectory,
    ];
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Once, without effect.
    Error,
    /// Once, because its file is gone.
    Gone,
    /// This call and the next of its kind, without effect.
    Twice,
    /// Once, after half of the bytes.
    Short,
    /// From then on, for every call that needs space, until some is freed.
    NoSpace,
}

/// A failing call: the kind, and its number from zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    pub(super) call: Call,
    pub(super) number: usize,
    pub(super) manner: Manner,
}

/// Which names mean which file, and what is in the files.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    pub(super) names: BTreeMap<PathBuf, usize>,
    pub(super) images: Vec<Image>,
    /// The time at which they were so.
    ticks: u64,
}

impl Files {
    pub(super) fn rename(&mut self, names: &[(PathBuf, Option<usize>)]) {
        for (name, file) in names {
            match file {
                Some(file) => self.names.insert(name.clone(), *file),
                None => self.names.remove(name),
            };
        }
    }

    /// Applies a recorded change, as every process sees it.
    pub(super) fn replay(&mut self, change: &Change) {
        if let Change::Name(names) = change {
            let known = names.iter().filter_map(|(_, file)| *file).max();
            let known = known.map_or(0, |file| file + 1).max(self.images.len());
            self.images.resize(known, Image::default());
        }
        apply(self, change);
    }

    /// Number of written pages of files with a name.
    pub(super) fn pages(&self) -> usize {
        self.names.values().map(|file| self.images[*file].pages()).sum()
    }

    /// The whole content of a file.
    pub(super) fn content(&self, path: &Path) -> Option<Vec<u8>> {
        let image = &self.images[*self.names.get(path)?];
        let mut content = vec![0; usize::try_from(image.length()).ok()?];
        image.read(0, &mut content).then_some(content)
    }

    /// The last boot that a log was started in.
    fn boot(&self) -> u64 {
        let boot = |name: &PathBuf| {
            let name = name.file_name()?.to_str()?.strip_suffix(".log")?;
            u64::from_str_radix(name.split('.').nth(1)?, 16).ok()
        };
        self.names.keys().filter_map(boot).max().unwrap_or(0)
    }

    /// Two disks with the same files under the same names have the same value.
    pub(super) fn hash(&self) -> u64 {
        let mut hash = 0_u64;
        for (name, file) in &self.names {
            let name = crate::codec::check(0, name.as_os_str().as_encoded_bytes());
            hash = hash.rotate_left(9) ^ name ^ self.images[*file].hash();
        }
        hash
    }
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a thing that may happen to a disk")]
struct DiskState {
    files: Files,
    changes: Vec<Change>,
    calls: BTreeMap<Call, usize>,
    fault: Option<Fault>,
    /// The number of changes when a call failed.
    failed_at: Option<usize>,
    is_full: bool,
    /// Sectors that cannot be read, by their files and numbers.
    bad: BTreeSet<(usize, u64)>,
    has_reserves: bool,
    /// The page limit of all files together; pages never written need no room.
    pages_max: Option<usize>,
    /// How long a journal gets before it starts over.
    journal_bytes: Option<u64>,
    /// How often another program replaced the directories.
    remade: usize,
    /// Whether another program moves the spool away at the next sync of its folder.
    loses_spool: bool,
    /// Whether two files can exchange their names in one step.
    exchanges: bool,
    /// Whether another process has the store.
    is_held: bool,
    /// How many locks were asked for since one was to be refused, and its number.
    locks: usize,
    refused_lock: Option<usize>,
    is_dead: bool,
    /// Files that are locked while they are open.
    held: BTreeSet<usize>,
    ticks: u64,
    boot: u64,
    /// Changes by others, once a file is opened.
    later: Option<(PathBuf, Vec<Change>)>,
}

/// A simulated disk; clones share the same disk.
#[derive(Debug, Clone, Default)]
pub(super) struct SimulatedDisk {
    state: Arc<Mutex<DiskState>>,
}

impl SimulatedDisk {
    /// A disk with these files, all durable.
    pub(super) fn with(files: Files) -> Self {
        let disk = Self::default();
        let boot = files.boot();
        *lock(&disk.state) = DiskState { files, boot, ..DiskState::default() };
        disk
    }

    pub(super) fn fail(&self, fault: Fault) {
        lock(&self.state).fault = Some(fault);
    }

    /// Refuses the lock with this number, from zero, as if a process that is being started had a
    /// duplicate of an earlier one.
    pub(super) fn refuse_lock(&self, number: usize) {
        let mut state = lock(&self.state);
        (state.locks, state.refused_lock) = (0, Some(number));
    }

    /// Whether the lock that is to be refused was asked for.
    pub(super) fn has_refused_lock(&self) -> bool {
        let state = lock(&self.state);
        state.refused_lock.is_some_and(|number| state.locks > number)
    }

    /// From now on the disk fails all calls.
    pub(super) fn die(&self) {
        lock(&self.state).is_dead = true;
    }

    /// The number of changes when a call failed, if one has.
    pub(super) fn failed_at(&self) -> Option<usize> {
        lock(&self.state).failed_at
    }

    pub(super) fn is_full(&self) -> bool {
        lock(&self.state).is_full
    }

    pub(super) fn free_space(&self) {
        lock(&self.state).is_full = false;
    }

    /// A disk with earlier files of this boot, at a time before any stamp of `later`: changes that
    /// other processes make when this file is opened.
    pub(super) fn before(&self, files: Files, (path, later): (&Path, Vec<Change>)) -> Self {
        let (boot, ticks) = (lock(&self.state).boot, files.ticks);
        let disk = Self::with(files);
        let mut state = lock(&disk.state);
        (state.boot, state.ticks, state.later) = (boot, ticks, Some((path.to_owned(), later)));
        drop(state);
        disk
    }

    /// All files as seen now: what a killed process leaves.
    pub(super) fn files(&self) -> Files {
        let state = lock(&self.state);
        Files { ticks: state.ticks, ..state.files.clone() }
    }

    /// Lets journals start over as late as on a real disk.
    pub(super) fn with_long_journals(self) -> Self {
        lock(&self.state).journal_bytes = Some(u64::MAX);
        self
    }

    /// Lets files reserve space beyond their end.
    pub(super) fn with_reserves(self) -> Self {
        lock(&self.state).has_reserves = true;
        self
    }

    /// Other programs free the space that they took.
    pub(super) fn empty(&self) {
        lock(&self.state).pages_max = None;
    }

    /// Other programs take all free space.
    pub(super) fn fill(&self) {
        let mut state = lock(&self.state);
        state.pages_max = Some(state.files.pages());
    }

    /// As [`Self::fill`], but this number of pages stays free.
    pub(super) fn leave(&self, free: usize) {
        let mut state = lock(&self.state);
        state.pages_max = Some(state.files.pages() + free);
    }

    /// Another program removes the directories, and creates new ones.
    pub(super) fn remake_directories(&self) {
        lock(&self.state).remade += 1;
    }

    /// Another program removes a file, if there is one.
    pub(super) fn lose(&self, path: &Path) {
        if self.find(path).is_ok() {
            lock(&self.state).name(vec![(path.to_owned(), None)]);
        }
    }

    /// Another program writes a file.
    pub(super) fn scribble(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let file = self.open_lock(path)?;
        file.set_length(0)?;
        file.write_at(content, 0)
    }

    /// At the next sync of the spool, another program moves it away and creates a new one.
    pub(super) fn lose_spool_on_sync(&self) {
        lock(&self.state).loses_spool = true;
    }

    /// Whether there is a spool file.
    pub(super) fn has_spooled(&self) -> bool {
        lock(&self.state)
            .files
            .names
            .keys()
            .any(|name| name.extension().is_some_and(|it| it == "save" || it == "log"))
    }

    /// From now on these bytes of a file, and the rest of their sectors, cannot be read.
    pub(super) fn spoil(&self, path: &Path, bytes: Range<u64>) {
        let mut state = lock(&self.state);
        let file = state.files.names[path];
        let sectors = bytes.start / SECTOR_BYTES..bytes.end.div_ceil(SECTOR_BYTES);
        state.bad.extend(sectors.map(|sector| (file, sector)));
    }

    /// From now on two files can exchange their names in one step.
    pub(super) fn allow_exchange(&self) {
        lock(&self.state).exchanges = true;
    }

    /// From now on another process has the store.
    pub(super) fn hold(&self) {
        lock(&self.state).is_held = true;
    }

    /// Number of changes so far.
    pub(super) fn changed(&self) -> usize {
        lock(&self.state).changes.len()
    }

    pub(super) fn changes(&self) -> Vec<Change> {
        lock(&self.state).changes.clone()
    }

    /// The whole content of a file, as seen now.
    pub(super) fn content(&self, path: &Path) -> Vec<u8> {
        lock(&self.state).files.content(path).unwrap_or_default()
    }

    /// Another process makes a recorded change.
    pub(super) fn replay(&self, change: &Change) {
        let mut state = lock(&self.state);
        state.files.replay(change);
        state.changes.push(change.clone());
    }

    /// Number of calls of a kind so far.
    pub(super) fn calls(&self, call: Call) -> usize {
        lock(&self.state).calls.get(&call).copied().unwrap_or(0)
    }

    fn file(&self, file: usize) -> SimulatedFile {
        SimulatedFile { disk: self.clone(), file, is_held: false }
    }

    fn find(&self, path: &Path) -> io::Result<SimulatedFile> {
        if is_directory(path) {
            // Only its identity is read.
            return Ok(self.file(usize::MAX - lock(&self.state).remade));
        }
        let found = lock(&self.state).files.names.get(path).copied();
        found.map(|file| self.file(file)).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn make(&self, path: &Path) -> io::Result<SimulatedFile> {
        let mut state = lock(&self.state);
        state.begin(Call::Create)?;
        if state.files.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = state.files.images.len();
        state.files.images.push(Image::default());
        state.name(vec![(path.to_owned(), Some(file))]);
        Ok(self.file(file))
    }
}

impl DiskState {
    /// Counts a call, and makes it fail if it is due.
    fn begin(&mut self, call: Call) -> io::Result<()> {
        let takes_space = matches!(call, Call::Resize | Call::Create);
        self.failure(call, takes_space).map_or(Ok(()), |manner| Err(error(manner)))
    }

    fn failure(&mut self, call: Call, takes_space: bool) -> Option<Manner> {
        if self.is_dead {
            return Some(Manner::Error);
        }
        let number = self.calls.entry(call).or_default();
        let is_due = self.fault.is_some_and(|fault| {
            let again = usize::from(fault.manner == Manner::Twice);
            fault.call == call && (fault.number..=fault.number + again).contains(number)
        });
        *number += 1;
        if let Some(fault) = self.fault.filter(|_| is_due) {
            self.failed_at.get_or_insert(self.changes.len());
            self.is_full = fault.manner == Manner::NoSpace;
            return Some(fault.manner);
        }
        (self.is_full && takes_space).then_some(Manner::NoSpace)
    }

    fn is_bad(&self, file: usize, at: u64, bytes: u64) -> bool {
        let sectors = (file, at / SECTOR_BYTES)..(file, (at + bytes).div_ceil(SECTOR_BYTES));
        self.bad.range(sectors).next().is_some()
    }

    /// Whether the disk has no room for this number of further pages.
    fn lacks(&self, pages: usize) -> bool {
        let is_beyond = |pages_max| self.files.pages() + pages > pages_max;
        pages > 0 && self.pages_max.is_some_and(is_beyond)
    }

    fn write(&mut self, file: usize, at: u64, bytes: &[u8]) {
        self.files.images[file].write(at, bytes);
        self.changes.push(Change::Write { file, at, bytes: bytes.into() });
    }

    fn name(&mut self, names: Vec<(PathBuf, Option<usize>)>) {
        self.files.rename(&names);
        self.changes.push(Change::Name(names));
    }
}

fn is_directory(path: &Path) -> bool {
    path.extension().is_none_or(|it| it == "spool")
}

fn error(manner: Manner) -> io::Error {
    match manner {
        Manner::Error | Manner::Twice | Manner::Short => {
            io::Error::other("the simulated disk fails")
        }
        Manner::Gone => io::ErrorKind::NotFound.into(),
        Manner::NoSpace => io::ErrorKind::StorageFull.into(),
    }
}

impl Disk for SimulatedDisk {
    fn look(&self, path: &Path) -> io::Result<FoundFile> {
        let file = self.find(path)?;
        if is_directory(path) {
            let is_other = Some(DIRECTORY);
            return Ok(FoundFile { is_other, bytes: 0, names: 1, id: file.id()? });
        }
        let names = lock(&self.state).files.names.values().filter(|it| **it == file.file).count();
        let names = names as u64;
        Ok(FoundFile { is_other: None, bytes: file.length()?, names, id: file.id()? })
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let later = lock(&self.state).later.take_if(|(opened, _)| opened == path);
        later.into_iter().flat_map(|(_, changes)| changes).for_each(|it| self.replay(&it));
        Ok(Box::new(self.find(path)?))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.open(path)
    }

    fn open_directory(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.open(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(self.make(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let file = self.find(from)?.file;
        let mut state = lock(&self.state);
        state.begin(Call::Rename)?;
        state.name(vec![(from.to_owned(), None), (to.to_owned(), Some(file))]);
        Ok(())
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        if lock(&self.state).files.names.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.rename(from, to)
    }

    /// Every file survived the last boot.
    fn age(&self, _: &Path) -> Option<Duration> {
        Some(Duration::MAX)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool> {
        let (first, second) = (self.find(one)?.file, self.find(other)?.file);
        let mut state = lock(&self.state);
        if !state.exchanges {
            return Ok(false);
        }
        state.begin(Call::Rename)?;
        state.name(vec![(one.to_owned(), Some(second)), (other.to_owned(), Some(first))]);
        Ok(true)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.find(path)?;
        let mut state = lock(&self.state);
        state.begin(Call::Remove)?;
        state.name(vec![(path.to_owned(), None)]);
        Ok(())
    }

    fn create_held(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut file = self.make(path)?;
        lock(&self.state).held.insert(file.file);
        file.is_held = true;
        Ok(Box::new(file))
    }

    fn is_held(&self, path: &Path) -> bool {
        self.find(path).is_ok_and(|file| lock(&self.state).held.contains(&file.file))
    }

    fn ticks(&self) -> u64 {
        let mut state = lock(&self.state);
        state.ticks += 1;
        state.ticks
    }

    fn boot(&self) -> u64 {
        lock(&self.state).boot + 1
    }

    fn is_file(&self, path: &Path) -> bool {
        self.find(path).is_ok()
    }

    fn stamp(&self, directory: &Path) -> Option<u128> {
        let state = lock(&self.state);
        let is_within = |(name, _): &(PathBuf, Option<usize>)| name.parent() == Some(directory);
        let is_changed = |change: &&Change| match change {
            Change::Name(names) => names.iter().any(is_within),
            _ => false,
        };
        Some(state.changes.iter().filter(is_changed).count() as u128)
    }

    /// Directories always exist, and a sync of one changes nothing.
    fn create_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        let state = lock(&self.state);
        let within = state.files.names.keys().filter(|name| name.parent() == Some(directory));
        Ok(within.filter_map(|name| Some(name.file_name()?.to_owned())).collect())
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        let mut state = lock(&self.state);
        // Names survive a failed write: file systems journal them.
        state.begin(Call::SyncDirectory)?;
        state.changes.push(Change::SyncDirectory(directory.to_owned()));
        if state.loses_spool && directory.extension().is_some_and(|it| it == "spool") {
            state.loses_spool = false;
            let within = state.files.names.keys().filter(|it| it.parent() == Some(directory));
            let lost = within.map(|name| (name.clone(), None)).collect();
            state.name(lost);
        }
        Ok(())
    }

    fn open_lock(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.open(path).or_else(|_| self.create(path))
    }

    fn is_real(&self) -> bool {
        false
    }

    /// Small, so that short workloads start a journal over now and then.
    fn journal_bytes(&self, most: u64) -> u64 {
        most.min(lock(&self.state).journal_bytes.unwrap_or(JOURNAL_BYTES))
    }

    fn is_free(&self, _: &Path) -> io::Result<bool> {
        Ok(!lock(&self.state).is_held)
    }

    fn open_engine(&self, path: &Path, builder: &Builder) -> Result<Database, DatabaseError> {
        builder.create_with_backend(self.find(path)?)
    }

    /// The engine can do this with real files only.
    fn read_engine(
        &self,
        _: &Path,
        _: &Builder,
    ) -> Result<Option<ReadOnlyDatabase>, DatabaseError> {
        Ok(None)
    }
}

#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    file: usize,
    /// Whether the file is locked while this is open.
    is_held: bool,
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        if self.is_held {
            lock(&self.disk.state).held.remove(&self.file);
        }
    }
}

impl DiskFile for SimulatedFile {
    fn length(&self) -> io::Result<u64> {
        Ok(lock(&self.disk.state).files.images[self.file].length())
    }

    fn id(&self) -> io::Result<Option<FileId>> {
        Ok(Some(FileId { device: 0, inode: self.file as u64, born: 0 }))
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        let mut state = lock(&self.disk.state);
        state.begin(Call::Read)?;
        if state.is_bad(self.file, at, bytes.len() as u64) {
            return Err(io::Error::from_raw_os_error(BAD_SECTOR));
        }
        let is_there = state.files.images[self.file].read(at, bytes);
        if is_there { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let mut state = lock(&self.disk.state);
        let pages = state.files.images[self.file].missing(at, bytes.len());
        let failure = state.failure(Call::Write, pages > 0);
        match failure.or_else(|| state.lacks(pages).then_some(Manner::NoSpace)) {
            None => {
                state.write(self.file, at, bytes);
                Ok(())
            }
            Some(manner) => {
                if manner == Manner::Short && bytes.len() > 1 {
                    state.write(self.file, at, &bytes[..bytes.len() / 2]);
                }
                Err(error(manner))
            }
        }
    }

    fn allocate(&self, from: u64, to: u64) -> io::Result<()> {
        write_zeros(self, from, to)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn reserve(&self, bytes: u64) -> io::Result<()> {
        let mut state = lock(&self.disk.state);
        if state.has_reserves && state.pages_max.is_none() {
            state.files.images[self.file].reserve(bytes);
        }
        Ok(())
    }

    fn cut_reserve(&self, bytes: u64) -> io::Result<bool> {
        let image = &mut lock(&self.disk.state).files.images[self.file];
        let before = image.pages();
        if image.is_reserved() {
            image.reserve(bytes);
        }
        Ok(image.pages() < before)
    }

    fn is_reserved(&self) -> bool {
        lock(&self.disk.state).files.images[self.file].is_reserved()
    }

    fn free(&self, parts: &[Range<u64>]) -> io::Result<bool> {
        let mut state = lock(&self.disk.state);
        let before = state.files.pages();
        for part in parts {
            state.files.images[self.file].free(part);
            state.changes.push(Change::Free { file: self.file, part: part.clone() });
        }
        Ok(state.files.pages() < before)
    }

    /// There is only one process, unless another has the store.
    fn try_lock(&self, _: Lock) -> io::Result<bool> {
        let mut state = lock(&self.disk.state);
        let is_refused = state.refused_lock == Some(state.locks);
        state.locks += 1;
        Ok(!state.is_held && !is_refused)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = lock(&self.disk.state);
        let outcome = state.begin(Call::Sync);
        let file = self.file;
        let is_synced = outcome.is_ok();
        state.changes.push(if is_synced {
            Change::Sync { file }
        } else {
            Change::FailedSync { file }
        });
        outcome
    }
}

impl StorageBackend for SimulatedFile {
    fn len(&self) -> io::Result<u64> {
        DiskFile::length(self)
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.read_at(bytes, at)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let mut state = lock(&self.disk.state);
        if length > state.files.images[self.file].length() {
            state.begin(Call::Resize)?;
        }
        state.files.images[self.file].set_length(length);
        state.changes.push(Change::Resize { file: self.file, length });
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_at(bytes, at)
    }
}
