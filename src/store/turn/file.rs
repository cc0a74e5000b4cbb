//! The file itself: created so that no crash leaves half of it, and opened only if readable.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use redb::{
    Builder, Database, DatabaseError, Durability, ReadOnlyDatabase, ReadTransaction,
    ReadableDatabase, TableError,
};

use crate::codec::KeyId;
use crate::error::{At, Damage, Error, Result};
use crate::store::engine::disk::{Disk, DiskFile, FileId, FoundFile, Lock, StorePath, opening};
use crate::store::engine::fault::{In, engine_error, without_panics};
use crate::store::engine::full::is_full;
use crate::store::engine::image::Image;
use crate::store::engine::location;
use crate::store::engine::overlay::Overlay;
use crate::store::engine::pages::Pages;
use crate::store::engine::table::{FORMAT, FORMAT_KEY, FORMAT_OLDEST, META, begin, create_all};
use crate::store::engine::unfinished::{self, Making};
use crate::store::options::Options;
use crate::store::turn::kind;
use crate::store::turn::lock::LockFile;

// Enough to keep a disk busy, with little memory.
const WRITTEN_AT_ONCE: usize = 256 << 10;
// No file system has holes between smaller parts of a page.
const BLOCK_BYTES: usize = 4096;

/// Why the file was not opened.
pub(in crate::store) enum Refusal {
    /// Another process, or another handle of this one, has it.
    Held,
    /// Another process is making it.
    Creating,
    /// The disk was full, but room was freed since: another try may succeed.
    Freed,
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Opens the store, making it first if there is none and `options` allow.
///
/// The first opening checks the format before anything can change. Also returns the identity of the
/// file.
pub(in crate::store) fn open(
    place: &StorePath,
    lock_file: &LockFile,
    options: &Options,
    is_first: bool,
) -> Result<(Database, Option<FileId>), Refusal> {
    let (path, disk) = (place.path.as_path(), place.disk.as_ref());
    match disk.look(path) {
        Ok(found) => check_file(disk, found, path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound && options.create => {
            let directory = location::parent(path);
            disk.look(directory).at(directory)?;
            create(place, lock_file, options.keyring().first())?;
        }
        Err(error) => return Err(io_error(path, error).into()),
    }
    let file = disk.open(path).at(path)?;
    // Locked only for a moment: many waiting processes would otherwise keep each other out.
    if !disk.is_free(path).at(path)? {
        return Err(Refusal::Held);
    }
    if is_first {
        if disk.is_real() {
            let file = opening::read(path).at(path)?;
            match file.try_lock_shared() {
                Ok(()) => check_engine(Box::new(file), path)?,
                Err(TryLockError::WouldBlock) => return Err(Refusal::Held),
                Err(TryLockError::Error(error)) => return Err(io_error(path, error).into()),
            }
        }
        probe(disk, path)?;
    }
    let database =
        disk.open_engine(path, &builder(options)).map_err(|error| refusal(error, path))?;
    check_place(disk, file.as_ref(), path)?;
    check_format(&database.begin_read().within(path)?, path)?;
    Ok((database, file.id().at(path)?))
}

/// Opens the store in memory: writes never reach the disk.
pub(in crate::store) fn open_in_memory(
    place: &StorePath,
    options: &Options,
) -> Result<(Database, Option<FileId>, Overlay), Refusal> {
    let (path, disk) = (place.path.as_path(), place.disk.as_ref());
    check_file(disk, disk.look(path).at(path)?, path)?;
    let overlay = Overlay::new(disk.open(path).at(path)?).at(path)?.ok_or(Refusal::Held)?;
    check_place(disk, overlay.file(), path)?;
    let id = overlay.file().id().at(path)?;
    let database = builder(options).create_with_backend(overlay.clone());
    let database = database.map_err(|error| refusal(error, path))?;
    check_format(&database.begin_read().within(path)?, path)?;
    Ok((database, id, overlay))
}

/// Opens a view of the store, whatever process has it; `None` if a commit overtakes it meanwhile.
pub(in crate::store) fn open_view(
    place: &StorePath,
    options: &Options,
    is_first: bool,
) -> Result<Option<(Database, Option<FileId>, Overlay)>> {
    let (path, disk) = (place.path.as_path(), place.disk.as_ref());
    check_file(disk, disk.look(path).at(path)?, path)?;
    let Some(overlay) = Overlay::view(disk.open(path).at(path)?).at(path)? else {
        return Ok(None);
    };
    let opened = without_panics(path, || {
        if is_first {
            check_engine(disk.open(path).at(path)?, path)?;
        }
        let id = overlay.file().id().at(path)?;
        let database = builder(options).create_with_backend(overlay.clone());
        let database = match database.map_err(|error| refusal(error, path)) {
            Err(Refusal::Failed(error)) => return Err(error),
            Err(Refusal::Held | Refusal::Creating | Refusal::Freed) => return Ok(None),
            Ok(database) => database,
        };
        check_format(&database.begin_read().within(path)?, path)?;
        Ok(Some((database, id)))
    });
    match opened {
        Err(_) if !overlay.is_current().unwrap_or(false) => Ok(None),
        opened => Ok(opened?.map(|(database, id)| (database, id, overlay))),
    }
}

/// Refuses a file whose damage would make the engine end the process when it closes the file.
fn check_engine(file: Box<dyn DiskFile>, path: &Path) -> Result<()> {
    let pages = Pages::open(file).at(path)?;
    // If it repairs a file, the engine checks all pages itself. A faulty header it refuses.
    if pages.needs_repair() || !pages.header_faults().is_empty() {
        return Ok(());
    }
    let Some(bad) = pages.engine_fault() else { return Ok(()) };
    let at = bad.at.map_or("beyond its end".to_owned(), |at| format!("at byte {at}"));
    let reason = format!("page {at}, of the {}: {}", bad.table, bad.reason);
    Err(Error::corrupt_store(Damage::Engine, path, reason))
}

/// Opens the store read-only; `None` if it has to be repaired first.
pub(in crate::store) fn open_read_only(
    disk: &dyn Disk,
    path: &Path,
) -> Result<Option<(ReadOnlyDatabase, u32)>, Refusal> {
    check_file(disk, disk.look(path).at(path)?, path)?;
    let file = disk.open(path).at(path)?;
    if !disk.is_free(path).at(path)? {
        return Err(Refusal::Held);
    }
    let opened = probe(disk, path)?;
    check_place(disk, file.as_ref(), path)?;
    Ok(opened)
}

/// Locks a file against all other processes while the result lives.
pub(in crate::store) fn lock_alone(place: &StorePath) -> Result<Box<dyn DiskFile>, Refusal> {
    let (path, disk) = (place.path.as_path(), place.disk.as_ref());
    let file = disk.open(path).at(path)?;
    if !file.try_lock(Lock::Exclusive).at(path)? {
        return Err(Refusal::Held);
    }
    check_place(disk, file.as_ref(), path)?;
    Ok(file)
}

/// Refuses a locked file that is no longer at its path: the previous lock holder may have replaced
/// it, and no process would find what is saved into this one.
pub(in crate::store) fn check_place(
    disk: &dyn Disk,
    file: &dyn DiskFile,
    path: &Path,
) -> Result<(), Refusal> {
    if location::is_at(disk, file.id().at(path)?, path).at(path)? {
        Ok(())
    } else {
        Err(Refusal::Held)
    }
}

/// Refuses a file that cannot be a store, or has several names.
pub(in crate::store) fn check_file(disk: &dyn Disk, found: FoundFile, path: &Path) -> Result<()> {
    match found {
        FoundFile { is_other: Some(kind), .. } => {
            Err(not_a_store(path, &format!("it is {kind}, not a regular file")))
        }
        FoundFile { bytes: 0, .. } => Err(not_a_store(path, "the file is empty")),
        FoundFile { names: 0 | 1, .. } => Ok(()),
        FoundFile { names, id, .. } => {
            Err(Error::Linked { path: path.to_owned(), names, others: others(disk, id, path) })
        }
    }
}

/// As [`check_file`], for the file that is at the path now.
pub(in crate::store) fn check_there(place: &StorePath) -> Result<()> {
    let (path, disk) = (place.path.as_path(), place.disk.as_ref());
    check_file(disk, disk.look(path).at(path)?, path)
}

/// The other names of a file in the same directory.
fn others(disk: &dyn Disk, id: Option<FileId>, path: &Path) -> Vec<PathBuf> {
    let directory = location::parent(path);
    let names = disk.list(directory).unwrap_or_default().into_iter();
    let is_it = |other: &PathBuf| {
        other != path && id.is_some() && disk.look(other).is_ok_and(|found| found.id == id)
    };
    let mut others: Vec<PathBuf> = names.map(|name| directory.join(name)).filter(is_it).collect();
    others.sort_unstable();
    others
}

/// Makes an empty store under another name and moves it into place.
///
/// A file that is killed while the engine sets it up cannot be opened again.
fn create(place: &StorePath, lock_file: &LockFile, key: Option<KeyId>) -> Result<(), Refusal> {
    let (path, disk) = (place.path.as_path(), place.disk.as_ref());
    let Some(_others_wait) = lock_file.exclude()? else {
        return Err(Refusal::Creating);
    };
    if disk.look(path).is_ok() {
        return Ok(());
    }
    // No other process makes the store now, so leftovers can go.
    unfinished::sweep(disk, path, Making::Store, Duration::ZERO);
    let new_path = unfinished::name(path, Making::Store);
    let made = create_empty(disk, &new_path, key).and_then(|()| {
        // The process that opens it syncs the directory, and so its name.
        Ok(disk.rename_new(&new_path, path).at(path)?)
    });
    if made.is_err() {
        let _ = disk.remove(&new_path);
    }
    made
}

fn create_empty(disk: &dyn Disk, path: &Path, key: Option<KeyId>) -> Result<(), Refusal> {
    let image = Image::default();
    let mut database = image.engine().map_err(|error| refusal(error, path))?;
    initialize(&database, path, key)?;
    while database.compact().within(path)? {}
    drop(database);
    let file = disk.create(path).at(path)?;
    file.write_at(&image.into_bytes(), 0).at(path)?;
    Ok(file.sync().at(path)?)
}

/// Rewrites the whole file as it is read now, and syncs it.
///
/// After a failed sync the kernel takes unwritten pages for written, and no later sync writes them.
/// No other process may have the file, and nothing may have been written since. Another file at the
/// path is left alone.
pub(in crate::store) fn write_anew(
    disk: &dyn Disk,
    path: &Path,
    wanted: Option<FileId>,
) -> io::Result<()> {
    let file = disk.open_to_write(path)?;
    if file.id()? != wanted {
        return Ok(());
    }
    let mut part = vec![0; WRITTEN_AT_ONCE];
    let (mut at, end) = (0, file.length()?);
    while at < end {
        let length = usize::try_from(end - at).map_or(part.len(), |left| left.min(part.len()));
        file.read_at(&mut part[..length], at)?;
        match file.write_at(&part[..length], at) {
            Err(error) if is_full(&error) => {
                write_around_holes(file.as_ref(), &part[..length], at)?;
            }
            written => written?,
        }
        at += length as u64;
    }
    file.sync()
}

/// Writes bytes on a full disk. Bytes with allocated blocks need no room. Zeros without room were
/// never written.
fn write_around_holes(file: &dyn DiskFile, bytes: &[u8], at: u64) -> io::Result<()> {
    for (block, at) in bytes.chunks(BLOCK_BYTES).zip((at..).step_by(BLOCK_BYTES)) {
        match file.write_at(block, at) {
            Err(error) if is_full(&error) && block.iter().all(|byte| *byte == 0) => {}
            written => written?,
        }
    }
    Ok(())
}

fn initialize(database: &Database, path: &Path, key: Option<KeyId>) -> Result<()> {
    let transaction = begin(database, Durability::Immediate).within(path)?;
    create_all(&transaction, key).within(path)?;
    transaction.commit().within(path)
}

/// Opens the file and checks its format without changing a byte, if it was closed cleanly.
fn probe(disk: &dyn Disk, path: &Path) -> Result<Option<(ReadOnlyDatabase, u32)>, Refusal> {
    match disk.read_engine(path, &Builder::new()) {
        Ok(Some(database)) => {
            let format = check_format(&database.begin_read().within(path)?, path)?;
            Ok(Some((database, format)))
        }
        Ok(None) => Ok(None),
        Err(error) => Err(refusal(error, path)),
    }
}

/// The format that the file is written in.
pub(in crate::store) fn check_format(transaction: &ReadTransaction, path: &Path) -> Result<u32> {
    let meta = match transaction.open_table(META) {
        Ok(table) => table,
        Err(TableError::Storage(error)) => return Err(error).within(path),
        Err(_) => return Err(kind::refused(path, "it is a database of another program")),
    };
    let found = meta.get(FORMAT_KEY).within(path)?.map(|format| format.value());
    let found = found.ok_or_else(|| kind::refused(path, "it does not name its format"))?;
    let found = u32::try_from(found).unwrap_or(u32::MAX);
    if found > FORMAT {
        return Err(Error::TooNew { path: path.to_owned(), found, supported: FORMAT });
    }
    if found < FORMAT_OLDEST {
        return Err(Error::TooOld { path: path.to_owned(), found, oldest: FORMAT_OLDEST });
    }
    Ok(found)
}

fn builder(options: &Options) -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(options.cache_bytes);
    if let Some(on_repair) = options.on_repair.clone() {
        builder.set_repair_callback(move |session| on_repair(session.progress()));
    }
    builder
}

pub(in crate::store) fn refusal(error: DatabaseError, path: &Path) -> Refusal {
    match error {
        DatabaseError::DatabaseAlreadyOpen => Refusal::Held,
        DatabaseError::UpgradeRequired(_) => {
            kind::refused(path, "its engine's file format is too old").into()
        }
        DatabaseError::Storage(redb::StorageError::Io(error))
            if error.kind() == io::ErrorKind::InvalidData =>
        {
            kind::refused(path, "it is a file of another kind").into()
        }
        other => engine_error(other.into(), path).into(),
    }
}

fn not_a_store(path: &Path, reason: &str) -> Error {
    Error::NotAStore { path: path.to_owned(), reason: reason.to_owned() }
}

fn io_error(path: &Path, source: io::Error) -> Error {
    Error::Io { path: path.to_owned(), source }
}
