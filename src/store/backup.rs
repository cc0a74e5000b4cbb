//! Backups: a copy of the file while others work, checked page by page before it has its name.
//!
//! The file is copied as it changes, and then, while nobody can change it, what has changed is
//! copied once more: others wait for as long as it takes to read the file out of memory. Must never
//! leave half a copy under the name that was asked for.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use redb::{
    Builder, Database, DatabaseError, Durability, ReadOnlyDatabase, ReadableDatabase,
    ReadableTableMetadata, StorageBackend as _,
};
use serde::Serialize;

use super::Store;
use super::disk::{Disk as _, DiskFile as _, Place, RealDisk, opening};
use super::file::{self, Refusal};
use super::held::when_free;
use super::kind;
use super::lock::LockFile;
use super::lossy;
use super::open::Open;
use super::overlay::Overlay;
use super::room::lacks_room;
use super::spool::Spooled;
use super::table::{FRAMES, IDENTITY_KEY, In, META, RECORDS, engine_error, without_panics};
use super::unfinished::{self, Making};
use super::watch::{Stage, Step, Watch, unwatched};
use crate::codec::check;
use crate::error::{At, Error, Result};

// Large enough to be read at once, small enough to be copied again for the sake of a few pages.
const CHUNK_BYTES: usize = 256 << 10;
const CACHE_BYTES: usize = 32 << 20;
// A killed holder leaves a file that needs repair. After this many in a row, or on a full disk, the
// backup repairs it in memory.
const TRIES: usize = 4;
// Far longer than a copy has no lock before it gets its name.
const LEFT_AFTER: Duration = Duration::from_mins(1);

/// How a backup is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backup {
    /// Replaces a store that is there under the name, or an empty file. False by default: then it
    /// is an error. Anything else is never replaced, nor is a store that somebody has.
    pub overwrite: bool,
}

/// What [`Store::backup`] made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Copied {
    /// Where the copy is.
    #[serde(serialize_with = "lossy::path")]
    pub path: PathBuf,
    /// Whether it was made: false if the one who watched ended it, and nothing is there then.
    pub is_whole: bool,
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// Length of the copy.
    pub bytes: u64,
    /// Number of checkpoints that are not in the copy: they wait in the spool of a store that is
    /// encrypted, and its key was not given, so that they could not be taken in.
    pub left_out: u64,
    /// How long others could not use the store.
    #[serde(skip)]
    pub held: Duration,
}

impl Store {
    /// Copies the store to `path` while others go on working with it.
    ///
    /// The copy is of one moment after the call began, and has everything that was saved before it,
    /// what can be restored and the log included. Every page of it has passed its checksum, and it
    /// was closed cleanly. It has an identity of its own, so that it can be used beside the
    /// original. Others wait for as long as it takes to read the file once out of memory; see
    /// [`Copied::held`]. Needs room for another file of the same size.
    ///
    /// # Errors
    /// [`Error::Io`] if there is something under the name, or it cannot be written;
    /// [`Error::Invalid`] if the name is one that the store itself has use for;
    /// [`Error::Corrupt`] if the store is damaged; [`Error::Locked`].
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<Copied> {
        self.backup_with(path, Backup::default(), &mut unwatched)
    }

    /// As [`Store::backup`], and `watch` hears how far it is and may end it; see [`Step`].
    ///
    /// # Errors
    /// As [`Store::backup`].
    pub fn backup_with(
        &self,
        path: impl AsRef<Path>,
        backup: Backup,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Copied> {
        let path = file::resolve(path.as_ref());
        check_target(&path, self.path(), backup)?;
        unfinished::sweep(&RealDisk, &path, Making::Backup, LEFT_AFTER);
        let new_path = unfinished::name(&path, Making::Backup);
        let copied = self.make_copy(&new_path, watch).and_then(|copied| match copied {
            Some(copied) => self.put_in_place(&new_path, &path, backup).map(|()| Some(copied)),
            None => Ok(None),
        });
        let _ = fs::remove_file(&new_path);
        // The temporary name of the copy would mean nothing to the caller.
        let copied = copied.map_err(|error| match error {
            Error::Io { path: at, source } if at == new_path => {
                Error::Io { path: path.clone(), source }
            }
            other => other,
        });
        let nothing = Copied {
            path: path.clone(),
            is_whole: false,
            checkpoints: 0,
            bytes: 0,
            left_out: 0,
            held: Duration::ZERO,
        };
        Ok(copied?.map_or(nothing, |copied| Copied { path, is_whole: true, ..copied }))
    }

    /// Makes a copy that is complete and on disk; `None` if it was ended.
    fn make_copy(&self, new_path: &Path, watch: Watch<'_>) -> Result<Option<Copied>> {
        let (from, to) = (self.path(), new_path);
        let source = opening::read(from).at(from)?;
        let target = locked(opening::make(to), to)?;
        let mut copy = Copy { source, target, from, to, sums: Vec::new() };
        if copy.once(watch)?.is_break() {
            return Ok(None);
        }
        let on_disk = self.while_closed(|database| {
            let arrived = Instant::now();
            copy.follow()?;
            copy.again()?;
            Ok((Counts::of(database, from)?, arrived.elapsed()))
        });
        let (left_out, (counts, held)) = match on_disk {
            Ok(Some(copied)) => copied,
            Ok(None) => self.copy_from_memory(&mut copy)?,
            Err(error) if lacks_room(&error) && !is_at(&error, to) => {
                self.copy_from_memory(&mut copy)?
            }
            Err(error) => return Err(error),
        };
        if watch(Step::named(Stage::Pages, 0)).is_break() {
            return Ok(None);
        }
        let target = copy.target;
        without_panics(new_path, || finish(target, new_path, &counts))?;
        let bytes = fs::metadata(new_path).at(new_path)?.len();
        let path = new_path.to_owned();
        let checkpoints = counts.records;
        Ok(Some(Copied { path, is_whole: true, checkpoints, bytes, left_out, held }))
    }

    fn put_in_place(&self, new_path: &Path, path: &Path, backup: Backup) -> Result<()> {
        // While it waits, nobody takes it for left behind.
        let _own = locked(opening::read(new_path), new_path)?;
        let there = if backup.overwrite {
            // Whoever has what is there would go on saving into a file without a name.
            when_free(path, self.shared.options.wait, || lock_any(path))?
        } else {
            None
        };
        match there {
            // Copying takes long, and another file may have come meanwhile.
            Some(_others_wait) => {
                check_replaced(path)?;
                fs::rename(new_path, path).at(path)?;
            }
            None => opening::rename_new(new_path, path).at(path)?,
        }
        file::sync_parent(path).at(path)
    }

    /// Runs `work` while the file is closed cleanly, has everything, and nobody can open it. Says
    /// how many spooled saves it lacks for want of a key. `None` if the file cannot be closed
    /// cleanly: the disk is full, or other processes are killed with it time and again.
    fn while_closed<T>(
        &self,
        mut work: impl FnMut(&ReadOnlyDatabase) -> Result<T>,
    ) -> Result<Option<(u64, T)>> {
        let (shared, path) = (&self.shared, self.path());
        for _ in 0..TRIES {
            // Takes in what a crash left, and what was spooled.
            let left_out = shared.glance(|open| {
                if open.is_in_memory() {
                    return Ok(None);
                }
                shared.take_in(open)?;
                shared.settle_for_good(open)?;
                Ok(Some(self.left_out(open)))
            })?;
            let Some(left_out) = left_out else { return Ok(None) };
            let done = shared.closed(|| {
                let database = when_free(path, shared.options.wait, || file::open_read_only(path))?;
                let journal = file::beside(path, ".journal");
                database.filter(|_| !journal.exists()).map(|(it, _)| work(&it)).transpose()
            })?;
            if let Some(done) = done {
                return Ok(Some((left_out, done)));
            }
        }
        Ok(None)
    }

    /// Copies the file as if the journal and the spool were taken in and it were closed cleanly.
    fn copy_from_memory(&self, copy: &mut Copy<'_>) -> Result<(u64, (Counts, Duration))> {
        let mut arrived = Instant::now();
        let (left_out, counts) = self.shared.closed_in_memory(
            |open| {
                arrived = Instant::now();
                Ok((self.left_out(open), Counts::of(&open.database, self.path())?))
            },
            |overlay| copy.again_from(overlay),
        )?;
        Ok((left_out, (counts, arrived.elapsed())))
    }

    /// Number of spooled saves that cannot be taken in for want of a key.
    fn left_out(&self, open: &Open) -> u64 {
        if open.has_key() { 0 } else { Spooled::of(self.shared.turn.place()).checkpoints }
    }
}

/// Refuses to replace what is no store.
fn check_replaced(path: &Path) -> Result<()> {
    let found = fs::metadata(path).at(path)?;
    // Nothing is lost with an empty file.
    if (found.is_file() && found.len() == 0) || kind::is_store(path) {
        return Ok(());
    }
    Err(Error::invalid("path", "what is there is no store, and is not replaced"))
}

/// Refuses names that a copy must not have.
fn check_target(path: &Path, store: &Path, backup: Backup) -> Result<()> {
    file::check_apart(path, store)?;
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.is_symlink() {
                let reason = "it is a symbolic link that leads nowhere, and is not replaced";
                return Err(Error::invalid("path", reason));
            }
            return Ok(());
        }
        Err(error) => return Err(error).at(path),
        Ok(_) if !backup.overwrite => {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists)).at(path);
        }
        Ok(_) => check_replaced(path)?,
    }
    if !RealDisk.is_free(path).at(path)? {
        let holder = LockFile::of(&Place::real(path.to_owned())).holder();
        return Err(Error::Locked { path: path.to_owned(), holder, waited: Duration::ZERO });
    }
    Ok(())
}

/// A file that is being copied.
struct Copy<'a> {
    source: File,
    target: File,
    from: &'a Path,
    to: &'a Path,
    /// Of each chunk as it was copied.
    sums: Vec<u64>,
}

impl Copy<'_> {
    /// Copies everything, though it may change meanwhile.
    fn once(&mut self, watch: Watch<'_>) -> Result<ControlFlow<()>> {
        let total = self.source.metadata().at(self.from)?.len();
        let mut chunk = vec![0; CHUNK_BYTES];
        self.target.set_len(0).at(self.to)?;
        for start in (0..total).step_by(CHUNK_BYTES) {
            let step = Step { stage: Stage::Copy, done: start, total: Some(total) };
            if watch(step).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let length = length_at(start, total);
            // The file may have become shorter since.
            let read = self.source.read_at(&mut chunk[..length], start);
            match read {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                other => other.at(self.from)?,
            }
            self.target.write_all(&chunk[..length]).at(self.to)?;
            self.sums.push(check(0, &chunk[..length]));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Copies what changed; copies everything if another file is at the path now.
    fn follow(&mut self) -> Result<()> {
        let id = self.source.id().at(self.from)?;
        if !file::is_at(&RealDisk, id, self.from).at(self.from)? {
            self.source = opening::read(self.from).at(self.from)?;
            self.sums.clear();
        }
        Ok(())
    }

    /// Copies what differs from what was copied before.
    fn again(&mut self) -> Result<()> {
        let total = self.source.metadata().at(self.from)?.len();
        let source = self.source.try_clone().at(self.from)?;
        self.changed(total, |at, bytes| source.read_at(bytes, at))
    }

    /// As [`Copy::again`], but from a file that is repaired and closed in memory.
    fn again_from(&mut self, overlay: &Overlay) -> Result<()> {
        let total = overlay.len().at(self.from)?;
        self.changed(total, |at, bytes| overlay.read(at, bytes))
    }

    fn changed(
        &mut self,
        total: u64,
        read: impl Fn(u64, &mut [u8]) -> io::Result<()>,
    ) -> Result<()> {
        let mut chunk = vec![0; CHUNK_BYTES];
        for (start, number) in (0..total).step_by(CHUNK_BYTES).zip(0..) {
            let length = length_at(start, total);
            read(start, &mut chunk[..length]).at(self.from)?;
            if self.sums.get(number) != Some(&check(0, &chunk[..length])) {
                self.target.seek(SeekFrom::Start(start)).at(self.to)?;
                self.target.write_all(&chunk[..length]).at(self.to)?;
            }
        }
        self.target.set_len(total).at(self.to)
    }
}

/// Whether an error is about this path.
fn is_at(error: &Error, path: &Path) -> bool {
    matches!(error, Error::Io { path: at, .. } if at == path)
}

fn length_at(start: u64, total: u64) -> usize {
    usize::try_from(total - start).unwrap_or(usize::MAX).min(CHUNK_BYTES)
}

/// What a copy must have.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    records: u64,
    frames: u64,
}

impl Counts {
    fn of(database: &impl ReadableDatabase, path: &Path) -> Result<Self> {
        let transaction = database.begin_read().within(path)?;
        let records = transaction.open_table(RECORDS).within(path)?.len().within(path)?;
        let frames = transaction.open_table(FRAMES).within(path)?.len().within(path)?;
        Ok(Self { records, frames })
    }
}

/// A file to copy to, which no other backup writes at the same time.
fn locked(opened: io::Result<File>, path: &Path) -> Result<File> {
    let file = opened.at(path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let holder = "another backup".to_owned();
            Err(Error::Locked { path: path.to_owned(), holder, waited: Duration::ZERO })
        }
        Err(TryLockError::Error(error)) => Err(error).at(path),
    }
}

/// Keeps all others from the file that is about to be replaced, if there is one.
fn lock_any(path: &Path) -> Result<Option<File>, Refusal> {
    if !RealDisk.is_file(path) {
        return Ok(None);
    }
    let file = opening::read(path).at(path)?;
    file::lock_at(&file, path)?;
    Ok(Some(file))
}

/// Checks a copy, gives it an identity of its own, and puts it on disk.
fn finish(target: File, path: &Path, counts: &Counts) -> Result<()> {
    let damaged = |reason: String| Error::corrupt("the store", reason);
    // A failing disk below the copy says nothing about the store.
    let refused = |what: &str, error: DatabaseError| match engine_error(error.into(), path) {
        error @ Error::Io { .. } => error,
        error => damaged(format!("{what}: {error}")),
    };
    let opened = Builder::new().set_cache_size(CACHE_BYTES).create_file(target);
    let mut database = opened.map_err(|error| refused("its copy is refused", error))?;
    match database.check_integrity() {
        Ok(true) => {}
        Ok(false) => return Err(damaged("a page fails its checksum".to_owned())),
        Err(error) => return Err(refused("a page fails its checksum", error)),
    }
    if Counts::of(&database, path)? != *counts {
        return Err(damaged("its copy has another number of rows".to_owned()));
    }
    identify(&database, path)?;
    drop(database);
    opening::read(path).and_then(|file| file.sync_all()).at(path)
}

fn identify(database: &Database, path: &Path) -> Result<()> {
    let mut transaction = database.begin_write().within(path)?;
    transaction.set_durability(Durability::Immediate).within(path)?;
    {
        let mut meta = transaction.open_table(META).within(path)?;
        meta.insert(IDENTITY_KEY, uuid::Uuid::new_v4().as_u64_pair().0).within(path)?;
    }
    transaction.commit().within(path)
}
