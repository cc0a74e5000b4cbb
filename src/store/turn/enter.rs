//! Turns: one process has the file at a time, and lets the others have it too.
//!
//! The file is opened when there is work and let go when it is idle or another process waits. A
//! waiting process holds a shared lock on the lock file beside the store. The holder tries to lock
//! that file exclusively, and lets go if it cannot. All locks end with their process.

mod known;
mod leave;
mod opened;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

use crate::codec::Frames;
use crate::error::{Error, Result};
use crate::store::engine::disk::{Disk, StorePath};
use crate::store::engine::fault::without_panics;
use crate::store::engine::full::lacks_room;
use crate::store::engine::sealing::Sealing;
use crate::store::options::{Hold, Options};
use crate::store::turn::keeper::Keeper;
use crate::store::turn::lock::LockFile;
use crate::store::turn::open::{Open, Settle, Use};
use crate::store::turn::pause::YIELD;
use crate::store::turn::wait::{Announce, until_free};
use crate::sync::{lock, read, try_read, try_write, write};

// Short beside the 6 to 7 syncs that closing and opening take.
const POLL: Duration = Duration::from_millis(1);
// Lets a turn do enough work to be worth those syncs.
const TURN_MIN: Duration = Duration::from_millis(20);
// How long a call waits at least for other threads of this process: about as long as opening takes.
const THREADS: Duration = Duration::from_millis(20);
// Polls, at `POLL` intervals, before a half-written signature counts as unknown.
const SIGNING: u32 = 5;

/// How long a call waits for its turn.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum Patience {
    /// As long as the options say.
    Usual,
    /// Until then, without regard to other waiting threads of this process.
    Until(Instant),
}

pub(in crate::store) struct Turn {
    place: StorePath,
    lock_file: LockFile,
    options: Options,
    keeper: Arc<Keeper>,
    frames: Arc<Frames>,
    settle: Settle,
    open: RwLock<Option<Open>>,
    /// Whether this handle has had the file before.
    is_known: AtomicBool,
    /// Identity of the store, once known.
    identity: Mutex<Option<u64>>,
    /// The sealing when this handle last had the file. Others may have changed it.
    sealing: Mutex<Sealing>,
    /// The file must be opened anew before it is used again.
    broken: AtomicBool,
    /// Some of the file may not be on disk though the kernel takes it for written.
    unwritten: AtomicBool,
    /// The next reader opens the file in memory at once: the disk was too full for an earlier one.
    has_no_room: AtomicBool,
    start: Instant,
    /// Calls that use the file.
    in_flight: AtomicUsize,
    /// When the last call ended, in microseconds from `start`.
    used_micros: AtomicU64,
    /// When a wait last failed, so that threads queued behind it do not wait as long again.
    gave_up: Mutex<Option<(Instant, Error)>>,
    /// When the file was let go for another process, in microseconds from `start`.
    yielded_micros: AtomicU64,
}

impl Turn {
    pub(in crate::store) fn new(
        place: StorePath,
        options: &Options,
        (keeper, settle): (Arc<Keeper>, Settle),
        frames: Arc<Frames>,
    ) -> Self {
        Self {
            keeper,
            settle,
            frames,
            lock_file: LockFile::of(&place),
            place,
            options: options.clone(),
            open: RwLock::new(None),
            is_known: AtomicBool::new(false),
            identity: Mutex::new(None),
            sealing: Mutex::default(),
            broken: AtomicBool::new(false),
            unwritten: AtomicBool::new(false),
            has_no_room: AtomicBool::new(false),
            start: Instant::now(),
            in_flight: AtomicUsize::new(0),
            used_micros: AtomicU64::new(0),
            gave_up: Mutex::new(None),
            yielded_micros: AtomicU64::new(0),
        }
    }

    pub(in crate::store) fn path(&self) -> &Path {
        &self.place.path
    }

    pub(in crate::store) fn place(&self) -> &StorePath {
        &self.place
    }

    pub(in crate::store) fn disk(&self) -> &dyn Disk {
        self.place.disk.as_ref()
    }

    /// Runs `work` with the file, waiting for the turn if need be.
    pub(in crate::store) fn with<T>(&self, work: impl FnOnce(&Open) -> Result<T>) -> Result<T> {
        self.within(Patience::Usual, work)
    }

    /// As [`Turn::with`], but waits as long as `patience` says.
    pub(in crate::store) fn within<T>(
        &self,
        patience: Patience,
        work: impl FnOnce(&Open) -> Result<T>,
    ) -> Result<T> {
        self.run((patience, Use::Write), work)
    }

    /// As [`Turn::within`], for a call that only reads.
    pub(in crate::store) fn read_within<T>(
        &self,
        patience: Patience,
        work: impl FnOnce(&Open) -> Result<T>,
    ) -> Result<T> {
        self.run((patience, Use::Read), work)
    }

    /// Makes the next reading call open the file in memory: this one found the disk full.
    pub(in crate::store) fn expect_no_room(&self) {
        self.has_no_room.store(true, Ordering::Release);
    }

    fn run<T>(
        &self,
        (patience, usage): (Patience, Use),
        work: impl FnOnce(&Open) -> Result<T>,
    ) -> Result<T> {
        let open = self.enter(patience, usage)?;
        let open = open.as_ref().expect("enter returns an open file");
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let result = without_panics(self.path(), || work(open));
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.after(&result);
        result
    }

    /// Runs `work` with the file while no other thread uses it.
    pub(in crate::store) fn alone<T>(
        &self,
        work: impl FnOnce(&mut Open) -> Result<T>,
    ) -> Result<T> {
        let asked = (Patience::Usual, Use::Write);
        let mut open = self.make_ready(write(&self.open), asked, Instant::now())?;
        let open = open.as_mut().expect("make_ready returns an open file");
        let result = without_panics(self.path(), || work(open));
        open.tables.forget();
        self.after(&result);
        result
    }

    /// Runs `work` with the file if this process has it.
    pub(in crate::store) fn if_open(&self, work: impl FnOnce(&Open) -> Result<()>) -> Result<()> {
        let open = read(&self.open);
        let Some(open) = open.as_ref() else {
            return Ok(());
        };
        let result = without_panics(self.path(), || work(open));
        self.note_broken(&result);
        result
    }

    fn after<T>(&self, result: &Result<T>) {
        self.note_broken(result);
        self.used_micros.store(self.now_micros(), Ordering::Relaxed);
    }

    /// Marks the file to be opened anew if a call failed because of it.
    pub(in crate::store) fn note_broken<T>(&self, result: &Result<T>) {
        // After a failed write the engine refuses work, and its memory may not match the file.
        if result.as_ref().is_err_and(Error::is_of_engine) {
            self.broken.store(true, Ordering::Release);
        }
    }

    /// Keeps the file from being let go as idle; false if this process does not have it.
    pub(in crate::store) fn note_use(&self) -> bool {
        let is_open = try_read(&self.open).is_some_and(|it| self.is_ready(it.as_ref(), Use::Write));
        if is_open {
            self.used_micros.store(self.now_micros(), Ordering::Relaxed);
        }
        is_open
    }

    fn now_micros(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn enter(&self, patience: Patience, usage: Use) -> Result<RwLockReadGuard<'_, Option<Open>>> {
        let arrived = Instant::now();
        let Patience::Until(until) = patience else {
            let open = read(&self.open);
            if self.is_ready(open.as_ref(), usage) {
                return Ok(open);
            }
            drop(open);
            let open = self.make_ready(write(&self.open), (patience, usage), arrived)?;
            return Ok(RwLockWriteGuard::downgrade(open));
        };
        loop {
            let is_ready = |open: Option<&Open>| self.is_ready(open, usage);
            if let Some(open) = try_read(&self.open).filter(|open| is_ready(open.as_ref())) {
                return Ok(open);
            }
            if let Some(open) = try_write(&self.open) {
                let open = self.make_ready(open, (patience, usage), arrived)?;
                return Ok(RwLockWriteGuard::downgrade(open));
            }
            // Another thread opens or closes the file, or uses it alone. That is over soon, or
            // other processes wait for it, too.
            if Instant::now() >= until.max(arrived + THREADS) {
                return Err(self.locked(arrived));
            }
            thread::sleep(POLL);
        }
    }

    /// Whether a read uses the file and no view: this process has it open, or never lets it go.
    pub(in crate::store) fn is_at_hand(&self) -> bool {
        let is_ready = |open: &Option<Open>| self.is_ready(open.as_ref(), Use::Read);
        self.options.hold == Hold::Forever || try_read(&self.open).is_some_and(|it| is_ready(&it))
    }

    fn is_ready(&self, open: Option<&Open>, usage: Use) -> bool {
        let suits = |open: &Open| usage == Use::Read || !open.is_in_memory();
        open.is_some_and(suits) && !self.broken.load(Ordering::Acquire)
    }

    /// Opens the file if it is closed, if it is no longer reliable, or if it is open in memory and
    /// this call writes.
    fn make_ready<'a>(
        &self,
        mut open: RwLockWriteGuard<'a, Option<Open>>,
        (patience, usage): (Patience, Use),
        arrived: Instant,
    ) -> Result<RwLockWriteGuard<'a, Option<Open>>> {
        self.write_anew(open.as_ref())?;
        let is_useless = usage == Use::Write && open.as_ref().is_some_and(Open::is_in_memory);
        if is_useless || self.broken.load(Ordering::Acquire) {
            self.close_broken(&mut open);
        }
        if open.is_some() {
            return Ok(open);
        }
        let acquire = || without_panics(self.path(), || self.acquire(patience, usage));
        if let Patience::Until(_) = patience {
            *open = Some(acquire()?);
            return Ok(open);
        }
        let mut gave_up = lock(&self.gave_up);
        if let Some((at, error)) = gave_up.as_ref()
            && *at > arrived
            && !(usage == Use::Read && lacks_room(error))
        {
            return Err(error.share());
        }
        let acquired = acquire();
        *gave_up = acquired.as_ref().err().map(|error| (Instant::now(), error.share()));
        *open = Some(acquired?);
        Ok(open)
    }

    /// Closes the file without the work of a clean end.
    fn close_broken(&self, open: &mut Option<Open>) {
        self.broken.store(false, Ordering::Release);
        // Closing a damaged file may panic too; the error was already reported.
        let damaged = open.take();
        self.keeper.note_closed();
        let _ = without_panics(self.path(), || {
            drop(damaged);
            Ok(())
        });
    }

    fn acquire(&self, patience: Patience, usage: Use) -> Result<Open> {
        let arrived = Instant::now();
        self.give_way();
        let is_over = |_| {
            let keeps_waiting = self.options.keeps_waiting.as_ref().is_none_or(|ask| ask());
            let is_late = match patience {
                Patience::Usual => arrived.elapsed() >= self.options.wait,
                Patience::Until(until) => Instant::now() >= until,
            };
            is_late || !keeps_waiting
        };
        let attempt = || self.open_for(usage);
        let open = until_free(&self.lock_file, Announce::Required, attempt, is_over)?;
        open.ok_or_else(|| self.locked(arrived))
    }

    /// The error for a call that waited in vain since `arrived`.
    pub(in crate::store) fn locked(&self, arrived: Instant) -> Error {
        self.lock_file.locked(arrived.elapsed())
    }

    /// After releasing the file for another process, gives that process time to notice.
    fn give_way(&self) {
        let yielded = self.yielded_micros.swap(0, Ordering::Relaxed);
        if yielded > 0 {
            let since = Duration::from_micros(self.now_micros().saturating_sub(yielded));
            thread::sleep(YIELD.saturating_sub(since));
        }
    }
}
