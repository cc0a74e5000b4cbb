//! Turns: one process has the file at a time, and lets the others have it too.
//!
//! The file is opened when there is work and let go when it is idle or another process waits. A
//! waiting process holds a shared lock on the lock file beside the store. The holder tries to lock
//! that file exclusively, and lets go if it cannot. All locks end with their process.

mod opened;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

use crate::codec::Frames;
use crate::error::{At, Error, Result};
use crate::store::engine::disk::{Disk, Place};
use crate::store::engine::fault::without_panics;
use crate::store::engine::full::lacks_room;
use crate::store::engine::location;
use crate::store::engine::sealing::Sealing;
use crate::store::options::{Hold, Options};
use crate::store::turn::file::{self, Refusal};
use crate::store::turn::keeper::Keeper;
use crate::store::turn::lock::{Known, LockFile, SIGNED};
use crate::store::turn::open::Open;
use crate::store::turn::pause::{YIELD, pause};
use crate::sync::{lock, read, try_read, try_write, write};

// Short beside the 6 to 7 syncs that closing and opening take.
const POLL: Duration = Duration::from_millis(1);
// Lets a turn do enough work to be worth those syncs.
const TURN_MIN: Duration = Duration::from_millis(20);
// How often it is looked, at `POLL`, what somebody writes who is at it.
const SIGNING: u32 = 5;

/// What a call does with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Use {
    /// Only reads, so on a full disk a file in memory is enough.
    Read,
    Write,
}

/// For how long a call waits for its turn.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum Patience {
    /// As long as the options say.
    Usual,
    /// Until then, whatever other threads of this process wait for.
    Until(Instant),
}

pub(in crate::store) struct Turn {
    place: Place,
    lock_file: LockFile,
    options: Options,
    keeper: Arc<Keeper>,
    frames: Arc<Frames>,
    open: RwLock<Option<Open>>,
    /// Whether this handle has had the file before.
    is_known: AtomicBool,
    /// Of the store, once that is known.
    identity: Mutex<Option<u64>>,
    /// What it was sealed with when this handle last had it. Others may have changed that.
    sealing: Mutex<Sealing>,
    /// The file must be opened anew before it is used again.
    broken: AtomicBool,
    /// Some of the file may not be on disk though the system takes it for written.
    unwritten: AtomicBool,
    /// The next reader opens the file in memory at once: the disk was too full for an earlier one.
    has_no_room: AtomicBool,
    start: Instant,
    /// Calls that use the file.
    in_flight: AtomicUsize,
    /// When the last call ended, in microseconds from `start`.
    used_micros: AtomicU64,
    /// When a wait last ended in vain, so that threads queued behind it do not wait as long again.
    gave_up: Mutex<Option<(Instant, Error)>>,
    /// When the file was let go for another process, in microseconds from `start`.
    yielded_micros: AtomicU64,
}

impl Turn {
    pub(in crate::store) fn new(
        place: Place,
        options: &Options,
        keeper: Arc<Keeper>,
        frames: Arc<Frames>,
    ) -> Self {
        Self {
            keeper,
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

    pub(in crate::store) fn place(&self) -> &Place {
        &self.place
    }

    pub(in crate::store) fn disk(&self) -> &dyn Disk {
        self.place.disk.as_ref()
    }

    /// The identity of the store, if it is known which one this is.
    pub(in crate::store) fn identity(&self) -> Option<u64> {
        *lock(&self.identity)
    }

    /// Whether it can be known which store this is though another process has it: by what that one
    /// wrote down.
    pub(in crate::store) fn learn_identity(&self) -> bool {
        let mut identity = lock(&self.identity);
        *identity = identity.or_else(|| self.lock_file.known().map(|known| known.identity));
        identity.is_some()
    }

    /// What the store is sealed with though another process has it, by what that one wrote down.
    pub(in crate::store) fn learn_sealing(&self) -> Sealing {
        for _ in 0..SIGNING {
            let known = self.lock_file.known();
            let known = known.filter(|known| Some(known.identity) == self.identity());
            match known.map_or(Sealing::Unknown, |known| known.sealing) {
                Sealing::Unknown => thread::sleep(POLL),
                sealing => return sealing,
            }
        }
        Sealing::Unknown
    }

    /// Writes down that it cannot be told what the store is sealed with, and makes that last: what
    /// was so before must not come back with a loss of power.
    pub(in crate::store) fn take_back_sealing(&self, open: &Open) -> Result<()> {
        self.note_sealing(open, Sealing::Unknown)?;
        self.lock_file.sync()
    }

    /// Writes down what the store is sealed with.
    pub(in crate::store) fn note_sealing(&self, open: &Open, sealing: Sealing) -> Result<()> {
        *lock(&self.sealing) = sealing;
        let known = Known { identity: open.identity, file: open.file, sealing };
        self.lock_file.sign(&self.name(), Some(known))
    }

    /// Frees the reserve for a call that removes something; false if there is none.
    pub(in crate::store) fn release_reserve(&self) -> bool {
        self.lock_file.release()
    }

    /// Runs `work` with the file, waiting for the turn if need be.
    pub(in crate::store) fn with<T>(&self, work: impl FnOnce(&Open) -> Result<T>) -> Result<T> {
        self.within(Patience::Usual, work)
    }

    /// As [`Turn::with`], but waits for so long.
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

    /// Lets the file go once no call uses it, after `last` has been done with it.
    pub(in crate::store) fn release(&self, last: impl FnOnce(&Open)) {
        let closed = self.close(&mut write(&self.open), last);
        if closed.is_err() {
            self.keeper.note_open();
        }
        self.keeper.note_failure(closed);
    }

    /// As [`Turn::release`], and runs `work` before this process can open the file again.
    pub(in crate::store) fn closed<T>(
        &self,
        last: impl FnOnce(&Open),
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let mut open = write(&self.open);
        self.close(&mut open, last).inspect_err(|_| self.keeper.note_open())?;
        work()
    }

    /// What closing itself meets with is told later; an error says that the file is not closed.
    fn close(&self, open: &mut Option<Open>, last: impl FnOnce(&Open)) -> Result<()> {
        self.write_anew(open.as_ref())?;
        if let Some(open) = open.take() {
            // What a broken file lacks is in the journal, which stays for whoever opens it next.
            let is_broken = self.broken.swap(false, Ordering::AcqRel);
            let result = without_panics(self.path(), || {
                if !is_broken {
                    last(&open);
                }
                // Nobody is to be told that this process has the file when it has not; and once it
                // is closed, another one signs.
                let (identity, file) = (open.identity, open.file);
                let known = Known { identity, file, sealing: *lock(&self.sealing) };
                // A file in memory was never signed, and another process may have changed the key.
                if !open.is_in_memory() && !self.is_replaced(&open) {
                    let _ = self.lock_file.sign("", Some(known));
                }
                drop(open);
                Ok(())
            });
            self.keeper.note_failure(result);
            if self.yielded_micros.load(Ordering::Relaxed) > 0 {
                // Only now can others see that the file is free.
                self.yielded_micros.store(self.now_micros(), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Whether the file is to be let go now: it is idle, another process waits, or somebody has
    /// moved it or put another in its place.
    pub(in crate::store) fn is_over(&self) -> bool {
        let (since, is_replaced) = match self.open.try_read() {
            Ok(open) => match open.as_ref() {
                Some(open) => (open.since, self.is_replaced(open)),
                None => return false,
            },
            // A call is opening or compacting the file.
            Err(_) => return false,
        };
        let Hold::Idle(idle) = self.options.hold else { return is_replaced };
        if is_replaced {
            return true;
        }
        let used = Duration::from_micros(self.used_micros.load(Ordering::Relaxed));
        let is_used = self.in_flight.load(Ordering::Relaxed) > 0;
        if !is_used && self.start.elapsed().saturating_sub(used) >= idle {
            return true;
        }
        if since.elapsed() < TURN_MIN || !self.lock_file.is_awaited() {
            return false;
        }
        self.yielded_micros.store(self.now_micros(), Ordering::Relaxed);
        true
    }

    /// Whether the path leads elsewhere; not if that cannot be told.
    pub(in crate::store) fn is_replaced(&self, open: &Open) -> bool {
        matches!(location::is_at(self.disk(), open.file, self.path()), Ok(false))
    }

    fn after<T>(&self, result: &Result<T>) {
        self.note_broken(result);
        self.used_micros.store(self.now_micros(), Ordering::Relaxed);
    }

    /// Has the file opened anew if a call that used it failed over it.
    pub(in crate::store) fn note_broken<T>(&self, result: &Result<T>) {
        // After a failed write the engine refuses work, and its memory may not fit the file.
        if result.as_ref().is_err_and(Error::is_of_engine) {
            self.broken.store(true, Ordering::Release);
        }
    }

    /// Notes that the engine could not sync the file, and writes all of it anew. Until that is done
    /// nobody can use the file, and this process keeps it: others would build on what is not there.
    pub(in crate::store) fn mend(&self, open: &Open) -> Result<()> {
        self.unwritten.store(true, Ordering::Release);
        self.broken.store(true, Ordering::Release);
        self.write_anew(Some(open))
    }

    /// Whether the file is yet to be written anew.
    pub(in crate::store) fn is_unwritten(&self) -> bool {
        self.unwritten.load(Ordering::Acquire)
    }

    /// Writes the file anew if need be, for whoever has it.
    fn write_anew(&self, open: Option<&Open>) -> Result<()> {
        if let Some(open) = open.filter(|_| self.is_unwritten()) {
            // What is not at the path any more, nobody will find.
            if !self.is_replaced(open) {
                file::write_anew(self.disk(), self.path(), open.file).at(self.path())?;
            }
            self.unwritten.store(false, Ordering::Release);
        }
        Ok(())
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
            // Another thread waits for the turn, or has the file for itself.
            if Instant::now() >= until {
                return Err(self.locked(arrived));
            }
            thread::sleep(POLL);
        }
    }

    fn is_ready(&self, open: Option<&Open>, usage: Use) -> bool {
        let suits = |open: &Open| usage == Use::Read || !open.is_in_memory();
        open.is_some_and(suits) && !self.broken.load(Ordering::Acquire)
    }

    /// Opens the file if it is not open, no longer reliable, or in memory while this call writes.
    fn make_ready<'a>(
        &self,
        mut open: RwLockWriteGuard<'a, Option<Open>>,
        (patience, usage): (Patience, Use),
        arrived: Instant,
    ) -> Result<RwLockWriteGuard<'a, Option<Open>>> {
        self.write_anew(open.as_ref())?;
        let is_useless = usage == Use::Write && open.as_ref().is_some_and(Open::is_in_memory);
        if self.broken.swap(false, Ordering::AcqRel) || is_useless {
            // Closing what is damaged may panic too; what it would say has been said.
            let damaged = open.take();
            self.keeper.note_closed();
            let _ = without_panics(self.path(), || {
                drop(damaged);
                Ok(())
            });
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

    fn acquire(&self, patience: Patience, usage: Use) -> Result<Open> {
        let arrived = Instant::now();
        self.give_way();
        let mut announcement = None;
        loop {
            match self.open_for(usage) {
                Ok(open) => return Ok(open),
                Err(Refusal::Freed) => continue,
                Err(Refusal::Held) if announcement.is_none() => {
                    announcement = match self.lock_file.announce() {
                        // Without a lock file on a full disk; it may still be lucky.
                        Err(error) if lacks_room(&error) => None,
                        announced => announced?,
                    };
                }
                Err(Refusal::Held) => {}
                // Making the file takes the lock that an announcement would hold.
                Err(Refusal::Creating) => announcement = None,
                Err(Refusal::Failed(error)) => return Err(error),
            }
            let keeps_waiting = self.options.keeps_waiting.as_ref().is_none_or(|ask| ask());
            let is_over = match patience {
                Patience::Usual => arrived.elapsed() >= self.options.wait,
                Patience::Until(until) => Instant::now() >= until,
            };
            if is_over || !keeps_waiting {
                return Err(self.locked(arrived));
            }
            thread::sleep(pause(arrived.elapsed()));
        }
    }

    /// What whoever waited in vain since `arrived` is told.
    pub(in crate::store) fn locked(&self, arrived: Instant) -> Error {
        Error::Locked {
            path: self.path().to_owned(),
            holder: self.lock_file.holder(),
            waited: arrived.elapsed(),
        }
    }

    /// After letting go for another process, leaves it the time to notice.
    fn give_way(&self) {
        let yielded = self.yielded_micros.swap(0, Ordering::Relaxed);
        if yielded > 0 {
            let since = Duration::from_micros(self.now_micros().saturating_sub(yielded));
            thread::sleep(YIELD.saturating_sub(since));
        }
    }

    fn name(&self) -> String {
        let process = std::process::id();
        match self.options.label.as_str() {
            "" => format!("{SIGNED}{process}"),
            label => format!("{SIGNED}{process} ({label})"),
        }
    }
}
