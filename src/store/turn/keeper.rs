//! The work of a store's keeper thread, and when it is due: release the file, settle, flush.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::store::log::spool::own::IDLE as LOG_IDLE;
use crate::store::options::{Hold, Options};
use crate::sync::lock;

// How soon the keeper notices another waiting process.
const LOOK_EVERY: Duration = Duration::from_millis(5);
// How soon it takes in what others spool, while they do so often.
const LOOK_BUSY_EVERY: Duration = Duration::from_millis(1);
// How soon a sole owner notices spooled saves of others; readers notice at once.
const LOOK_ALONE_EVERY: Duration = Duration::from_millis(250);
// Retrying at once would fail the same way.
const RETRY_AFTER: Duration = Duration::from_secs(1);
// Time for many saves to come together, and a bound for the work.
const SETTLE_WITHIN: Duration = Duration::from_millis(10);

/// The work of the keeper.
#[derive(Debug, Default)]
pub(in crate::store) struct Keeper {
    duty: Mutex<Duty>,
    bell: Condvar,
    /// True if no thread could be started.
    is_absent: AtomicBool,
}

#[derive(Debug, Default)]
struct Duty {
    stop: bool,
    is_open: bool,
    relaxed_since: Option<Instant>,
    pending_since: Option<Instant>,
    /// When to look whether the log of this process is still used.
    log_due: Option<Instant>,
    /// When something last went wrong in the background.
    failed_at: Option<Instant>,
    /// Background errors, for the next call that can report them.
    failure: Option<Error>,
    /// The last trouble reported to `Options::on_trouble`, so that it is not repeated.
    heard: Option<String>,
}

impl Duty {
    /// When relaxed saves are due to become durable, if there are any.
    ///
    /// While the file is closed there is nothing to be done but to open it, as the next call does.
    fn flush_due(&self, flush_within: Duration) -> Option<Instant> {
        let due = self.relaxed_since.filter(|_| self.is_open)?.checked_add(flush_within)?;
        Some(self.failed_at.map_or(due, |failed| due.max(failed + RETRY_AFTER)))
    }
}

impl Keeper {
    pub(in crate::store) fn stop(&self) {
        self.lock().stop = true;
        self.bell.notify_all();
    }

    /// A relaxed save has yet to be made durable.
    pub(in crate::store) fn note_relaxed(&self) {
        let mut duty = self.lock();
        if duty.relaxed_since.is_none() {
            duty.relaxed_since = Some(Instant::now());
            self.bell.notify_all();
        }
    }

    /// A save has yet to be put into the tables.
    pub(in crate::store) fn note_pending(&self) {
        let mut duty = self.lock();
        if duty.pending_since.is_none() {
            duty.pending_since = Some(Instant::now());
            self.bell.notify_all();
        }
    }

    /// This process has a log, which it should let go once it is idle.
    pub(in crate::store) fn note_log(&self) {
        let mut duty = self.lock();
        if duty.log_due.is_none() {
            duty.log_due = Some(Instant::now() + LOG_IDLE);
            self.bell.notify_all();
        }
    }

    /// Whether it is time to look at the log of this process.
    pub(in crate::store) fn is_log_due(&self) -> bool {
        let mut duty = self.lock();
        duty.log_due.take_if(|due| *due <= Instant::now()).is_some()
    }

    /// Everything is durable.
    pub(in crate::store) fn note_durable(&self) {
        self.lock().relaxed_since = None;
    }

    pub(in crate::store) fn is_relaxed(&self) -> bool {
        self.lock().relaxed_since.is_some()
    }

    /// The file is open, and will have to be closed.
    pub(in crate::store) fn note_open(&self) {
        let mut duty = self.lock();
        if !duty.is_open {
            duty.is_open = true;
            self.bell.notify_all();
        }
    }

    pub(in crate::store) fn is_flush_due(&self, flush_within: Duration) -> bool {
        let due = self.lock().flush_due(flush_within);
        due.is_some_and(|due| due <= Instant::now())
    }

    pub(in crate::store) fn is_settling_due(&self) -> bool {
        let mut duty = self.lock();
        let is_due = duty.pending_since.is_some_and(|since| since.elapsed() >= SETTLE_WITHIN);
        if is_due {
            duty.pending_since = None;
        }
        is_due
    }

    pub(in crate::store) fn note_failure(&self, result: Result<()>) {
        if let Err(error) = result {
            let mut duty = self.lock();
            duty.failure = Some(error);
            duty.failed_at = Some(Instant::now());
        }
    }

    /// Whether a retry would hardly succeed.
    pub(in crate::store) fn has_failed_lately(&self) -> bool {
        self.lock().failed_at.is_some_and(|at| at.elapsed() < RETRY_AFTER)
    }

    /// The file is closed.
    pub(in crate::store) fn note_closed(&self) {
        self.lock().is_open = false;
    }

    /// Reports trouble that fails no call: to `Options::on_trouble`, each once in a row, or else as
    /// the error of the next flush or close.
    pub(in crate::store) fn tell(&self, options: &Options, error: Error) {
        let mut duty = self.lock();
        let Some(hear) = &options.on_trouble else {
            duty.failure = Some(error);
            return;
        };
        let text = Some(format!("{error:?}"));
        if duty.heard != text {
            duty.heard = text;
            drop(duty);
            hear(error);
        }
    }

    /// Notes that no thread could be started.
    pub(in crate::store) fn note_absent(&self) {
        self.is_absent.store(true, Ordering::Relaxed);
    }

    /// Whether calls must do the keeper's work, because no thread could be started.
    pub(in crate::store) fn is_absent(&self) -> bool {
        self.is_absent.load(Ordering::Relaxed)
    }

    /// Reports what went wrong in the background since the last call.
    pub(in crate::store) fn take_failure(&self) -> Result<()> {
        self.lock().failure.take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, Duty> {
        lock(&self.duty)
    }

    /// Sleeps until something is due; false if the store is being closed.
    ///
    /// `looked` is when the keeper last checked for another waiting process, and whether others
    /// spool often. The next check is on time, however often the bell rings.
    pub(in crate::store) fn wait(
        &self,
        options: &Options,
        (looked, is_busy): (Instant, bool),
    ) -> bool {
        let mut duty = self.lock();
        loop {
            if duty.stop {
                return false;
            }
            let flush = duty.flush_due(options.flush_within);
            let settle = duty.pending_since.map(|since| since + SETTLE_WITHIN);
            let look_every = match options.hold {
                _ if is_busy => LOOK_BUSY_EVERY,
                Hold::Idle(_) => LOOK_EVERY,
                Hold::Forever => LOOK_ALONE_EVERY,
            };
            let look = duty.is_open.then_some(looked + look_every);
            let log = duty.log_due;
            let Some(due) = flush.into_iter().chain(settle).chain(look).chain(log).min() else {
                duty = self.bell.wait(duty).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let sleep = due.saturating_duration_since(Instant::now());
            if sleep.is_zero() {
                return true;
            }
            let woken = self.bell.wait_timeout(duty, sleep);
            duty = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
