//! The one wait for a file that another process has: try, announce, pause, try again.
//!
//! Opening for a turn, holding a store for a check, inspecting it and replacing it all wait here.
//! Must never announce a call that does not wait: that would make a lock file and the holder
//! would let go for nothing.

use std::thread;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::store::engine::disk::StorePath;
use crate::store::engine::full::lacks_room;
use crate::store::turn::file::Refusal;
use crate::store::turn::lock::{LockFile, Locked};
use crate::store::turn::pause::pause;

/// What happens if a waiting call cannot lock the lock file to announce itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Announce {
    /// The call fails, except on a full disk: it needs the lock file anyway to use the store.
    Required,
    /// The call waits all the same: the directory may belong to another user.
    Optional,
}

impl Announce {
    fn try_with(self, lock_file: &LockFile) -> Result<Option<Locked>> {
        match (lock_file.announce(), self) {
            (Err(_), Self::Optional) => Ok(None),
            (Err(error), Self::Required) if lacks_room(&error) => Ok(None),
            (announced, _) => announced,
        }
    }
}

/// Tries until the file is free; `None` if the wait is over first.
///
/// After each try that finds the file held, `is_over` hears how long the call has waited.
pub(in crate::store) fn until_free<T>(
    lock_file: &LockFile,
    announce: Announce,
    mut attempt: impl FnMut() -> Result<T, Refusal>,
    mut is_over: impl FnMut(Duration) -> bool,
) -> Result<Option<T>> {
    let arrived = Instant::now();
    let mut announcement = None;
    loop {
        let is_being_made = match attempt() {
            Ok(value) => return Ok(Some(value)),
            Err(Refusal::Failed(error)) => return Err(error),
            Err(Refusal::Freed) => continue,
            Err(Refusal::Held) => false,
            Err(Refusal::Creating) => true,
        };
        let waited = arrived.elapsed();
        if is_over(waited) {
            return Ok(None);
        }
        if is_being_made {
            // Making the file takes the lock that an announcement would hold.
            announcement = None;
        } else if announcement.is_none() {
            announcement = announce.try_with(lock_file)?;
        }
        thread::sleep(pause(waited));
    }
}

/// Tries until another process lets the store go.
///
/// # Errors
/// [`Error::Locked`](crate::Error::Locked) if `wait` is over first.
pub(in crate::store) fn when_free<T>(
    place: &StorePath,
    wait: Duration,
    attempt: impl FnMut() -> Result<T, Refusal>,
) -> Result<T> {
    let lock_file = LockFile::of(place);
    let arrived = Instant::now();
    let free = until_free(&lock_file, Announce::Optional, attempt, |waited| waited >= wait)?;
    free.ok_or_else(|| lock_file.locked(arrived.elapsed()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn place(dir: &tempfile::TempDir) -> StorePath {
        StorePath::real(dir.path().join("store.redb"))
    }

    #[test]
    fn a_call_that_does_not_wait_makes_no_lock_file() {
        let dir = tempfile::tempdir().unwrap();
        let held = || Err::<(), _>(Refusal::Held);
        let waited = when_free(&place(&dir), Duration::ZERO, held);
        assert!(matches!(waited, Err(Error::Locked { .. })), "{waited:?}");
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_waiting_call_is_announced_unless_the_file_is_being_made() {
        let dir = tempfile::tempdir().unwrap();
        let (place, mut seen) = (place(&dir), Vec::new());
        let lock_file = LockFile::of(&place);
        let mut refusals = [Refusal::Held, Refusal::Creating, Refusal::Held].into_iter();
        let attempt = || {
            seen.push(LockFile::of(&place).is_awaited());
            refusals.next().map_or(Ok(7), Err)
        };
        let free = until_free(&lock_file, Announce::Required, attempt, |_| false);
        assert_eq!(free.unwrap(), Some(7));
        assert_eq!(seen, [false, true, false, true]);
        assert!(!lock_file.is_awaited(), "the announcement ends with the wait");
    }

    #[test]
    fn room_that_was_freed_is_tried_at_once_and_a_failure_ends_the_wait() {
        let dir = tempfile::tempdir().unwrap();
        let failure = || Refusal::Failed(Error::corrupt("here", "this"));
        let mut refusals = [Refusal::Freed, Refusal::Freed, failure()].into_iter();
        let attempt = || refusals.next().map_or(Ok(()), Err);
        let lock_file = LockFile::of(&place(&dir));
        let ended = until_free(&lock_file, Announce::Optional, attempt, |_| unreachable!());
        assert!(matches!(ended, Err(Error::Corrupt { .. })), "{ended:?}");
    }
}
