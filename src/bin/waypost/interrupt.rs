//! Ctrl-C and SIGTERM, as a flag that long work checks between its steps.
//!
//! The only file that names `signal_hook`. Commands that are quick, or that only read, never call
//! [`listen`]: they end at once, and the store takes no harm.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use waypost::Error;

use crate::exit::Refusal;

// Shorter than the time in which a person presses Ctrl-C again.
const LOOK_EVERY: Duration = Duration::from_millis(50);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static TERMINATED: AtomicBool = AtomicBool::new(false);
/// True once a signal came: the next one ends the process at once.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The signal that asked this process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    Terminate,
}

/// From now on [`check`] reports the first signal, and only the second ends the process.
///
/// Call it once the store is open, where work starts that calls [`check`].
pub(crate) fn listen() -> Result<()> {
    let register = |number, own: &'static AtomicBool| -> io::Result<()> {
        // They run in this order, so that the first signal finds nothing set.
        flag::register_conditional_default(number, &ENDING)?;
        flag::register(number, own)?;
        flag::register(number, &ENDING)?;
        Ok(())
    };
    register(SIGINT, &INTERRUPTED)
        .and_then(|()| register(SIGTERM, &TERMINATED))
        .context("cannot listen for interrupts")
}

/// From now on a signal ends the process at once, as before [`listen`].
pub(crate) fn leave() {
    ENDING.store(true, Ordering::Relaxed);
}

/// From now on Ctrl-C is for the pager: ending before it would leave the terminal to two readers.
pub(crate) fn ignore() {
    // Without it, Ctrl-C ends both.
    let _ = flag::register(SIGINT, Arc::new(AtomicBool::new(false)));
}

/// From now on a write beyond the limit of `ulimit -f` fails, instead of killing the process before
/// it can clean up.
pub(crate) fn outlive_file_limit() {
    // If this fails, such a write kills the process, as it does by default.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// The signal that came, if any.
pub(crate) fn signal() -> Option<Signal> {
    if INTERRUPTED.load(Ordering::Relaxed) {
        return Some(Signal::Interrupt);
    }
    TERMINATED.load(Ordering::Relaxed).then_some(Signal::Terminate)
}

/// Fails after a signal.
pub(crate) fn check() -> Result<()> {
    signal().map_or(Ok(()), |signal| Err(signal.error(String::new())))
}

/// As [`check`], with an error that readers can return; [`caught`] recognises it.
pub(crate) fn check_io() -> io::Result<()> {
    let refusal = |signal| Refusal::Interrupted { signal, told: String::new() };
    signal().map_or(Ok(()), |signal| Err(io::Error::other(refusal(signal))))
}

/// Sleeps until `time` has passed or a signal comes.
pub(crate) fn rest(time: Duration) -> Result<()> {
    let start = Instant::now();
    loop {
        check()?;
        match time.checked_sub(start.elapsed()) {
            Some(left) if !left.is_zero() => thread::sleep(left.min(LOOK_EVERY)),
            _ => return Ok(()),
        }
    }
}

/// Separates interrupted work, which has a report, from work that failed.
pub(crate) fn caught<T>(ended: Result<T>) -> Result<Result<T, Signal>> {
    let error = match ended {
        Ok(value) => return Ok(Ok(value)),
        Err(error) => or_else(error),
    };
    match error.chain().find_map(of_cause) {
        Some(signal) => Ok(Err(signal)),
        None => Err(error),
    }
}

/// Replaces an error by the interruption that caused it.
pub(crate) fn or_else(error: anyhow::Error) -> anyhow::Error {
    match (error.downcast_ref(), signal()) {
        // The signal ended the wait for the store.
        (Some(Error::Locked { .. }), Some(signal)) => signal.error(String::new()),
        _ => error,
    }
}

fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Signal> {
    let of_reader = || cause.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref();
    match cause.downcast_ref().or_else(of_reader) {
        Some(Refusal::Interrupted { signal, .. }) => Some(*signal),
        _ => None,
    }
}

impl Signal {
    /// The error to end with: what was done, and how to go on.
    pub(crate) fn error(self, told: String) -> anyhow::Error {
        Refusal::Interrupted { signal: self, told }.into()
    }
}
