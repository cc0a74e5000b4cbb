//! Backups: a copy of the file while others work, checked page by page before it has its name.
//!
//! The file is copied while it changes. Then the store is held, and the changed parts are copied
//! again: changes wait as long as reading the file from memory takes. Must never leave half a copy
//! under the requested name.

mod copy;
mod memory;
mod target;

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use redb::{
    Builder, Database, DatabaseError, Durability, ReadTransaction, ReadableDatabase as _,
    ReadableTableMetadata as _,
};
use serde::Serialize;

use crate::error::{At, Error, Result};
use crate::store::Store;
use crate::store::engine::disk::{DiskFile, Lock, StorePath};
use crate::store::engine::fault::{In, engine_error, without_panics};
use crate::store::engine::full::lacks_room;
use crate::store::engine::table::{FRAMES, IDENTITY_KEY, META, RECORDS};
use crate::store::engine::unfinished::{self, Making};
use crate::store::engine::{location, lossy};
use crate::store::log::spool::Spooled;
use crate::store::turn::held::{self, Source};
use crate::store::turn::open::Open;
use crate::store::turn::taken::taken;
use crate::store::turn::wait::when_free;
use crate::store::watch::{Stage, Step, Watch, unwatched};
use copy::Copy;
use target::{check_replaced, check_target, lock_any};

const CACHE_BYTES: usize = 32 << 20;
// Ten seconds: a child process that another thread starts keeps a duplicate of a lock far shorter.
const OPEN_TRIES: usize = 10_000;
const OPEN_PAUSE: Duration = Duration::from_millis(1);
// How often a killed holder may leave a file to repair before the backup repairs it in memory.
const TRIES: usize = 4;
// Far longer than a copy is unlocked before it gets its name.
const LEFT_AFTER: Duration = Duration::from_mins(1);

/// How a backup is made.
///
/// ```
/// use std::ops::ControlFlow;
/// use waypost::Store;
/// use waypost::care::Backup;
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let copy = dir.path().join("copy.redb");
/// store.backup(&copy)?;
/// store.backup_with(&copy, Backup { overwrite: true }, &mut |_| ControlFlow::Continue(()))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backup {
    /// Replaces a store that is there under the name, or an empty file. False by default: then it
    /// is an error. Never replaces any other file, or a store that another process has.
    pub overwrite: bool,
}

/// What [`Store::backup`] made.
///
/// ```
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?, &"state")?;
/// let copied = store.backup(dir.path().join("copy.redb"))?;
/// assert_eq!((copied.checkpoints, copied.left_out), (1, 0));
/// assert_eq!(Store::open(&copied.path)?.count()?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Copied {
    /// The path of the copy, as the caller gave it.
    #[serde(serialize_with = "lossy::path")]
    pub path: PathBuf,
    /// Whether it was made: false if the watcher ended it, and nothing is there then.
    pub is_whole: bool,
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// Length of the copy.
    pub bytes: u64,
    /// Number of checkpoints that are missing from the copy: they wait in the spool of an encrypted
    /// store, and could not be taken in without its key.
    pub left_out: u64,
    /// How long others could not change the store.
    #[serde(skip)]
    pub held: Duration,
}

impl Store {
    /// Copies the store to `path` while other processes use it.
    ///
    /// The copy shows one moment after the call began. It has everything that was saved before that
    /// moment, deleted checkpoints that can be restored, and the log. Every page of it has passed
    /// its checksum, and it was closed cleanly. It has an identity of its own, so that it can be
    /// used beside the original. Changes wait about as long as reading the file once from memory
    /// takes; see [`Copied::held`]. Needs room for another file of the same size.
    ///
    /// # Errors
    /// [`Error::Io`] if there is something under the name, or it cannot be written;
    /// [`Error::Invalid`] if the name belongs to a file of the store itself;
    /// [`Error::Corrupt`] if the store is damaged; [`Error::Locked`].
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<Copied> {
        self.backup_with(path, Backup::default(), &mut unwatched)
    }

    /// As [`Store::backup`]; `watch` gets the progress and may end the call; see [`Step`].
    ///
    /// # Errors
    /// As [`Store::backup`].
    pub fn backup_with(
        &self,
        path: impl AsRef<Path>,
        backup: Backup,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Copied> {
        let path = location::resolve(path.as_ref());
        let to = StorePath { path, disk: self.shared.turn.place().disk.clone() };
        self.backup_at(&to, backup, watch)
    }

    /// As [`Store::backup_with`], to a place on the disk of the store.
    pub(in crate::store) fn backup_at(
        &self,
        to: &StorePath,
        backup: Backup,
        watch: Watch<'_>,
    ) -> Result<Copied> {
        let path = to.path.as_path();
        check_target(to, self.path(), backup)?;
        unfinished::sweep(to.disk.as_ref(), path, Making::Backup, LEFT_AFTER);
        let place =
            StorePath { path: unfinished::name(path, Making::Backup), disk: to.disk.clone() };
        let new = NewCopy { place, asked: path };
        let copied = self.make_copy(&new, watch).and_then(|copied| match copied {
            Some(copied) => self.put_in_place(&new, to, backup).map(|()| Some(copied)),
            None => Ok(None),
        });
        let _ = to.disk.remove(&new.place.path);
        let nothing = Copied {
            path: path.to_owned(),
            is_whole: false,
            checkpoints: 0,
            bytes: 0,
            left_out: 0,
            held: Duration::ZERO,
        };
        Ok(copied?.unwrap_or(nothing))
    }

    /// Makes a copy that is complete and on disk; `None` if the watcher ended it.
    fn make_copy(&self, new: &NewCopy<'_>, watch: Watch<'_>) -> Result<Option<Copied>> {
        let mut copy = Copy::start(self.shared.turn.place(), new)?;
        if copy.once(watch)?.is_break() {
            return Ok(None);
        }
        let on_disk = self.while_closed(|source| {
            let arrived = Instant::now();
            copy.follow()?;
            let written = copy.again()?;
            let transaction = source.begin(self.path())?;
            let counts = Counts::of(&transaction, self.path())?;
            Ok(Closed { written, counts, held: arrived.elapsed() })
        });
        let (left_out, Closed { written, counts, held }) = match on_disk {
            Ok(Some(copied)) => copied,
            Ok(None) => self.copy_from_memory(&mut copy)?,
            // The disk of the store is full.
            Err(error) if lacks_room(&error) => self.copy_from_memory(&mut copy)?,
            Err(error) => return Err(error),
        };
        written.at(new.asked)?;
        if watch(Step::named(Stage::Pages, 0)).is_break() {
            return Ok(None);
        }
        // The engine takes a lock of its own.
        drop(copy);
        without_panics(new.asked, || finish(new, &counts))?;
        let bytes = new.place.disk.look(&new.place.path).at(new.asked)?.bytes;
        let path = new.asked.to_owned();
        let checkpoints = counts.records;
        Ok(Some(Copied { path, is_whole: true, checkpoints, bytes, left_out, held }))
    }

    fn put_in_place(&self, new: &NewCopy<'_>, to: &StorePath, backup: Backup) -> Result<()> {
        let (path, disk) = (to.path.as_path(), to.disk.as_ref());
        // The lock on the copy keeps other processes from removing it as a leftover.
        let _own = locked(disk.open(&new.place.path), new.asked)?;
        let there = if backup.overwrite {
            // A process that has the replaced file would go on saving into a file without a name.
            when_free(to, self.shared.options.wait, || lock_any(to))?
        } else {
            None
        };
        match there {
            // Copying takes long, and another file may have been created meanwhile.
            Some(_others_wait) => {
                check_replaced(to)?;
                disk.rename(&new.place.path, path).at(path)?;
            }
            None => disk.rename_new(&new.place.path, path).at(path)?,
        }
        disk.sync_directory(location::parent(path)).at(path)
    }

    /// Runs `work` while the file is closed cleanly, complete, and locked against every process.
    /// Also returns the number of spooled saves that it lacks for want of a key. `None` if the file
    /// cannot be closed cleanly: the disk is full, or other processes are killed with it time and
    /// again.
    fn while_closed<T>(
        &self,
        mut work: impl FnMut(&Source) -> Result<T>,
    ) -> Result<Option<(u64, T)>> {
        let (shared, place) = (&self.shared, self.shared.turn.place());
        let journal = location::beside(&place.path, ".journal");
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
                let source = when_free(place, shared.options.wait, || held::open_closed(place))?;
                let source = source.filter(|_| !place.disk.is_file(&journal));
                source.map(|source| work(&source)).transpose()
            })?;
            if let Some(done) = done {
                return Ok(Some((left_out, done)));
            }
        }
        Ok(None)
    }

    /// Copies the file as if the journal and the spool were taken in and it were closed cleanly.
    fn copy_from_memory(&self, copy: &mut Copy<'_>) -> Result<(u64, Closed)> {
        let mut arrived = Instant::now();
        let mut written = Ok(());
        let (left_out, counts) = self.shared.closed_in_memory(
            |open| {
                arrived = Instant::now();
                let transaction = open.database.begin_read().within(self.path())?;
                Ok((self.left_out(open), Counts::of(&transaction, self.path())?))
            },
            |overlay| {
                written = copy.again_from(overlay)?;
                Ok(())
            },
        )?;
        Ok((left_out, Closed { written, counts, held: arrived.elapsed() }))
    }

    /// Number of spooled saves that cannot be taken in for want of a key.
    fn left_out(&self, open: &Open) -> u64 {
        if open.has_key() { 0 } else { Spooled::of(self.shared.turn.place(), taken).checkpoints }
    }
}

/// A copy that is being made.
struct NewCopy<'a> {
    /// Its place until it is complete.
    place: StorePath,
    /// The requested path, which errors name: the caller does not know the other one.
    asked: &'a Path,
}

/// The result of copying while the store was closed.
struct Closed {
    /// Whether the copy could be written. The store itself could be read.
    written: io::Result<()>,
    counts: Counts,
    /// How long others could not change the store.
    held: Duration,
}

/// What a copy must have.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    records: u64,
    frames: u64,
}

impl Counts {
    fn of(transaction: &ReadTransaction, path: &Path) -> Result<Self> {
        let records = transaction.open_table(RECORDS).within(path)?.len().within(path)?;
        let frames = transaction.open_table(FRAMES).within(path)?.len().within(path)?;
        Ok(Self { records, frames })
    }
}

/// A file that no other backup writes at the same time. As with [`open_copy`], its lock may seem to
/// be taken for a moment.
fn locked(opened: io::Result<Box<dyn DiskFile>>, path: &Path) -> Result<Box<dyn DiskFile>> {
    let file = opened.at(path)?;
    for _ in 0..OPEN_TRIES {
        if file.try_lock(Lock::Exclusive).at(path)? {
            return Ok(file);
        }
        thread::sleep(OPEN_PAUSE);
    }
    let holder = "another backup".to_owned();
    Err(Error::Locked { path: path.to_owned(), holder, waited: Duration::ZERO })
}

/// Opens a copy, whose name no other process knows. A process that another thread starts right now
/// duplicates of all locks until it runs its program, so the copy may seem to be open for a moment.
fn open_copy(new: &StorePath) -> std::result::Result<Database, DatabaseError> {
    let open = || new.disk.open_engine(&new.path, Builder::new().set_cache_size(CACHE_BYTES));
    for _ in 0..OPEN_TRIES {
        match open() {
            Err(DatabaseError::DatabaseAlreadyOpen) => thread::sleep(OPEN_PAUSE),
            opened => return opened,
        }
    }
    open()
}

/// Checks a copy, gives it an identity of its own, and puts it on disk.
fn finish(new: &NewCopy<'_>, counts: &Counts) -> Result<()> {
    let (path, place) = (new.asked, &new.place);
    let damaged = |reason: String| Error::corrupt("the store", reason);
    // A failing disk below the copy does not mean that the store is damaged.
    let refused = |what: &str, error: DatabaseError| match engine_error(error.into(), path) {
        error @ Error::Io { .. } => error,
        error => damaged(format!("{what}: {error}")),
    };
    let mut database =
        open_copy(place).map_err(|error| refused("the copy cannot be opened", error))?;
    match database.check_integrity() {
        Ok(true) => {}
        Ok(false) => return Err(damaged("a page fails its checksum".to_owned())),
        Err(error) => return Err(refused("a page fails its checksum", error)),
    }
    if Counts::of(&database.begin_read().within(path)?, path)? != *counts {
        return Err(damaged("the copy has a different number of rows".to_owned()));
    }
    identify(&database, path)?;
    drop(database);
    place.disk.open(&place.path).and_then(|file| file.sync()).at(path)
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
