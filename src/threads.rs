//! Starting threads, which may fail at any time because of a limit on processes or memory.
//!
//! The only file that starts threads; the library and the command each include it. Nothing here
//! panics: with fewer threads the caller does the work itself, or reports what it cannot do.
//!
//! A handle without a keeper thread makes everything durable and closes the file at the end of each
//! call, which costs the syncs of opening and closing. `verify`, `import` and `export` use the
//! threads that did start, or only the caller's. `save --lines` and `import -` then read without a
//! thread that watches for signals, so a signal ends them at once. Only `bench` and the questions
//! to git and gh fail, with an error that names the limits (`ulimit -u`, `ulimit -v`, `pids.max` of
//! a cgroup).

use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// Starts a thread that may outlive the caller.
///
/// If the thread does not start, `work` is dropped. So send what the caller would still need
/// through a channel once the thread runs.
pub(crate) fn start<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    allowed()?;
    Builder::new().name("waypost".to_owned()).spawn(work)
}

/// Starts a thread that ends with `scope`; see [`start`] about `work`.
pub(crate) fn start_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    allowed()?;
    Builder::new().name("waypost".to_owned()).spawn_scoped(scope, work)
}

#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "a test refuses threads here")]
fn allowed() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
use refusing::allowed;
#[cfg(test)]
pub(crate) use refusing::with_at_most;

/// Refuses threads as a limit does, so that tests can make each start fail in turn.
#[cfg(test)]
mod refusing {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        /// How many more threads this one may start.
        static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    /// Runs `work`, which may start at most `threads` threads from the calling one.
    pub(crate) fn with_at_most<T>(threads: usize, work: impl FnOnce() -> T) -> T {
        LEFT.set(threads);
        let done = work();
        LEFT.set(usize::MAX);
        done
    }

    pub(super) fn allowed() -> io::Result<()> {
        let left = LEFT.get().checked_sub(1).ok_or(io::ErrorKind::WouldBlock)?;
        LEFT.set(left);
        Ok(())
    }
}
