//! The file of a store, for checks of all of it: a view that no other process notices, or a
//! read-only hold.
//!
//! While a hold lasts nobody writes, the holder included. It lets other processes have the store
//! now and then. A view is tried first if the caller wants one. A commit may overtake it: then the
//! part of the check that was under way runs again, and its outcome does not count. After
//! `VIEWS_MAX` tries of a part, it waits for a hold as a read waits for a turn (`ask/reading.rs`).
//!
//! Must never write to the file: what a crash left is repaired in memory.

mod viewed;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use redb::{Builder, Database, ReadOnlyDatabase, ReadTransaction, ReadableDatabase as _};

use crate::codec::{Frames, Keyring};
use crate::error::{At, Error, Result};
use crate::store::chain::bases::Bases;
use crate::store::engine::disk::{Disk, StorePath};
use crate::store::engine::fault::{In, in_view, without_panics};
use crate::store::engine::location;
use crate::store::engine::names::Names;
use crate::store::engine::overlay::Overlay;
use crate::store::engine::pages::Pages;
use crate::store::engine::table::{IDENTITY_KEY, META};
use crate::store::turn::file::{self, Refusal};
use crate::store::turn::lock::LockFile;
use crate::store::turn::pause::YIELD;
use crate::store::turn::view::OVERTAKEN;
use crate::store::turn::wait::when_free;
use viewed::{Tries, Viewed};

// As long as any turn, at least.
const TURN_MIN: Duration = Duration::from_millis(20);
// As much as other handles use, and half of it again for documents.
const CACHE_BYTES: usize = 32 << 20;

/// A store that is checked, and what is known about it.
pub(in crate::store) struct Held<'a> {
    pub(in crate::store) place: &'a StorePath,
    pub(in crate::store) path: &'a Path,
    pub(in crate::store) names: Names,
    pub(in crate::store) bases: Bases,
    pub(in crate::store) frames: Frames,
    wait: Duration,
    /// Whether to try views first.
    is_viewing: bool,
    tries: Tries,
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
    /// Not locked: another process may have it.
    Viewed(Viewed),
}

impl Source {
    pub(in crate::store) fn begin(&self, path: &Path) -> Result<ReadTransaction> {
        match self {
            Self::Closed(database) => database.begin_read().within(path),
            Self::Repaired(database) => database.begin_read().within(path),
            Self::Viewed(viewed) => viewed.database().begin_read().within(path),
        }
    }

    /// Runs `work`, which reads this.
    pub(in crate::store) fn reading<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.is_view() { in_view(work) } else { work() }
    }

    fn is_view(&self) -> bool {
        matches!(self, Self::Viewed(_))
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
            is_viewing: false,
            tries: Tries::default(),
            source: None,
            since: Instant::now(),
            identity: None,
        }
    }

    /// As [`Held::new`], but tries views before it locks anything.
    pub(in crate::store) fn viewing(place: &'a StorePath, wait: Duration, keys: Keyring) -> Self {
        let mut held = Self::new(place, wait, keys);
        held.is_viewing = true;
        held
    }

    /// The file, in a view or once this process has its turn.
    pub(in crate::store) fn source(&mut self) -> Result<&Source> {
        if self.source.is_none() {
            self.source = Some(self.open()?);
            // Another process may have given names new numbers.
            self.names.clear();
            // It may also have stored the same documents anew, and those are to be read.
            self.bases = Bases::new(CACHE_BYTES / 2);
            self.since = Instant::now();
        }
        Ok(self.source.as_ref().expect("it was opened above"))
    }

    fn open(&mut self) -> Result<Source> {
        loop {
            let source = match self.view() {
                Some(view) => Source::Viewed(view),
                None => match self.hold() {
                    Err(Error::Locked { .. }) if self.is_viewing && !self.is_late() => {
                        self.tries.restart();
                        continue;
                    }
                    Err(Error::Locked { path, holder, waited }) => {
                        let waited = waited.max(self.tries.elapsed());
                        return Err(Error::Locked { path, holder, waited });
                    }
                    held => held?,
                },
            };
            let path = self.path;
            let identity = source.reading(|| without_panics(path, || identity_of(&source, path)));
            if !self.is_current(&source) {
                self.tries.overtaken();
                continue;
            }
            let identity = identity?;
            if self.identity.is_some_and(|before| Some(before) != identity) {
                return Err(Error::corrupt("meta", "another store took its place meanwhile"));
            }
            self.identity = identity;
            return Ok(source);
        }
    }

    fn view(&mut self) -> Option<Viewed> {
        if !self.is_viewing {
            return None;
        }
        let viewed = in_view(|| self.tries.view(self.place, CACHE_BYTES));
        // A hold shows what is wrong.
        self.is_viewing = viewed.is_ok();
        viewed.ok().flatten()
    }

    fn hold(&self) -> Result<Source> {
        let left = self.wait.saturating_sub(self.tries.elapsed());
        let wait = if self.is_viewing { left.min(OVERTAKEN) } else { self.wait };
        let (place, path) = (self.place, self.path);
        without_panics(path, || when_free(place, wait, || open(place)))
    }

    /// Whether so little of the wait is left that views are not tried again.
    fn is_late(&self) -> bool {
        self.tries.elapsed() + OVERTAKEN >= self.wait
    }

    fn is_current(&self, source: &Source) -> bool {
        match source {
            Source::Viewed(view) => view.is_current(self.place),
            Source::Closed(_) | Source::Repaired(_) => true,
        }
    }

    /// Runs `work`, which checks one part of the store, until no commit overtakes it.
    ///
    /// `work` must return all that it finds: what it found before a commit overtook it may be no
    /// damage.
    pub(in crate::store) fn settled<T>(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        loop {
            let outcome =
                if self.source()?.is_view() { in_view(|| work(self)) } else { work(self) };
            if self.source.as_ref().is_none_or(|source| self.is_current(source)) {
                self.tries.end();
                return outcome;
            }
            self.let_go();
            self.tries.overtaken();
        }
    }

    /// How many views of the part under way commits have overtaken.
    pub(in crate::store) fn overtaken(&self) -> u32 {
        self.tries.count()
    }

    /// Whether the file is open as a view.
    pub(in crate::store) fn is_view(&self) -> bool {
        self.source.as_ref().is_some_and(Source::is_view)
    }

    /// From now on holds the file, since a view is not enough.
    pub(in crate::store) fn stop_viewing(&mut self) {
        self.let_go();
        self.is_viewing = false;
    }

    /// The file, if it is open.
    pub(in crate::store) fn opened(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    /// Lets another process have its turn, if one waits. Views are tried again after that.
    pub(in crate::store) fn give_way(&mut self) {
        let is_held = self.source.as_ref().is_some_and(|source| !source.is_view());
        if is_held && self.since.elapsed() >= TURN_MIN && is_awaited(self.place) {
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
