//! A read-only hold, for checks of a whole store: while it lasts nobody writes, the holder
//! included. Lets other processes have the store now and then.
//!
//! Must never write to the file: what a crash left is repaired in memory.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use redb::{Builder, Database, ReadOnlyDatabase, ReadTransaction, ReadableDatabase as _};

use crate::codec::{Frames, Keyring};
use crate::error::{At, Error, Result};
use crate::store::chain::bases::Bases;
use crate::store::engine::disk::{Disk, StorePath};
use crate::store::engine::fault::{In, without_panics};
use crate::store::engine::location;
use crate::store::engine::names::Names;
use crate::store::engine::overlay::Overlay;
use crate::store::engine::pages::Pages;
use crate::store::engine::table::{IDENTITY_KEY, META};
use crate::store::turn::file::{self, Refusal};
use crate::store::turn::lock::LockFile;
use crate::store::turn::pause::YIELD;
use crate::store::turn::wait::when_free;

// As long as any turn, at least.
const TURN_MIN: Duration = Duration::from_millis(20);
// As much as other handles use, and half of it again for documents.
const CACHE_BYTES: usize = 32 << 20;

/// A store on hold, and what is known about it.
pub(in crate::store) struct Held<'a> {
    pub(in crate::store) place: &'a StorePath,
    pub(in crate::store) path: &'a Path,
    pub(in crate::store) names: Names,
    pub(in crate::store) bases: Bases,
    pub(in crate::store) frames: Frames,
    wait: Duration,
    source: Option<Source>,
    since: Instant,
    identity: Option<u64>,
}

/// The file as the engine reads it.
pub(in crate::store) enum Source {
    /// It was closed properly.
    Closed(ReadOnlyDatabase),
    /// A crash left it; it is repaired in memory.
    Repaired(Database),
}

impl Source {
    pub(in crate::store) fn begin(&self, path: &Path) -> Result<ReadTransaction> {
        match self {
            Self::Closed(database) => database.begin_read().within(path),
            Self::Repaired(database) => database.begin_read().within(path),
        }
    }
}

impl<'a> Held<'a> {
    /// Does not lock anything yet; waits for other processes as long as `wait` says.
    pub(in crate::store) fn new(place: &'a StorePath, wait: Duration, keys: Keyring) -> Self {
        Self {
            place,
            path: &place.path,
            names: Names::default(),
            bases: Bases::new(CACHE_BYTES / 2),
            frames: Frames::new(keys),
            wait,
            source: None,
            since: Instant::now(),
            identity: None,
        }
    }

    /// The file, once this process has its turn.
    pub(in crate::store) fn source(&mut self) -> Result<&Source> {
        if self.source.is_none() {
            let (place, path, wait) = (self.place, self.path, self.wait);
            let source = without_panics(path, || when_free(place, wait, || open(place)))?;
            let identity = without_panics(path, || identity_of(&source, path))?;
            if self.identity.is_some_and(|before| Some(before) != identity) {
                return Err(Error::corrupt("meta", "another store took its place meanwhile"));
            }
            self.identity = identity;
            // Another process may have given names new numbers.
            self.names.clear();
            self.since = Instant::now();
            self.source = Some(source);
        }
        Ok(self.source.as_ref().expect("it was opened above"))
    }

    /// The file, if this process has it.
    pub(in crate::store) fn opened(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    /// Lets another process have its turn, if one waits.
    pub(in crate::store) fn give_way(&mut self) {
        if self.source.is_some() && self.since.elapsed() >= TURN_MIN && is_awaited(self.place) {
            self.let_go();
            thread::sleep(YIELD);
        }
    }

    pub(in crate::store) fn let_go(&mut self) {
        let source = self.source.take();
        // Closing what is damaged may panic.
        let _ = without_panics(self.path, || {
            drop(source);
            Ok(())
        });
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// Opens a cleanly closed store read-only; `None` if a crash left it.
pub(in crate::store) fn open_closed(place: &StorePath) -> Result<Option<Source>, Refusal> {
    let source = open(place)?;
    // Read while the source is locked. Only the real disk can tell by the source itself.
    let pages = place.disk.open(&place.path).and_then(Pages::open).at(&place.path)?;
    Ok(Some(source).filter(|_| !pages.is_unclosed()))
}

fn open(place: &StorePath) -> Result<Source, Refusal> {
    let (path, disk) = (place.path.as_path(), place.disk.as_ref());
    file::check_file(disk, disk.look(path).at(path)?, path)?;
    let file = disk.open(path).at(path)?;
    if !disk.is_free(path).at(path)? {
        return Err(Refusal::Held);
    }
    let source = open_locked(disk, path)?;
    file::check_place(disk, file.as_ref(), path)?;
    Ok(source)
}

fn open_locked(disk: &dyn Disk, path: &Path) -> Result<Source, Refusal> {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    match disk.read_engine(path, &builder) {
        Ok(Some(database)) => {
            file::check_format(&database.begin_read().within(path)?, path)?;
            Ok(Source::Closed(database))
        }
        Ok(None) => {
            let Some(overlay) = Overlay::new(disk.open(path).at(path)?).at(path)? else {
                return Err(Refusal::Held);
            };
            let database = builder.create_with_backend(overlay);
            let database = database.map_err(|error| file::refusal(error, path))?;
            file::check_format(&database.begin_read().within(path)?, path)?;
            Ok(Source::Repaired(database))
        }
        Err(error) => Err(file::refusal(error, path)),
    }
}

fn identity_of(source: &Source, path: &Path) -> Result<Option<u64>> {
    let meta = source.begin(path)?.open_table(META).within(path)?;
    Ok(meta.get(IDENTITY_KEY).within(path)?.map(|value| value.value()))
}

/// Whether another process waits. Creates no file to find out.
fn is_awaited(place: &StorePath) -> bool {
    let lock_file = location::beside(&place.path, ".lock");
    place.disk.is_file(&lock_file) && LockFile::of(place).is_awaited()
}
