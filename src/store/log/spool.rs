//! The spool: where saves are durable that could not have the store in time.
//!
//! A folder beside the store, one file for each group of saves. Whoever has the store next puts
//! them into the tables before anything else, and every one of them once. Must never lose or
//! change a file that it cannot read, never keep anybody from the store because of one, and never
//! have in plain what the store has sealed.

pub(in crate::store) mod folder;
mod look;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::store::engine::disk::Place;
use crate::store::options::Limits;
use crate::sync::lock;
use folder::{Folder, Listing, Stamp};
pub use look::Spooled;
pub(in crate::store) use look::lost;

// Documents of more than this go into several files, so that nobody has to take in much at once.
pub(in crate::store) const FILE_BYTES: usize = 4 << 20;
// The longest document there can be, what else a file may have, and room to spare.
pub(in crate::store) const FILE_BYTES_MAX: u64 = 2 * Limits::DOCUMENT_BYTES_MAX as u64;
// No file system dates changes more coarsely.
const STAMP_COARSE: Duration = Duration::from_secs(3);

// What could not be taken in is not tried again at once.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The spool as a handle knows it.
#[derive(Debug)]
pub(in crate::store) struct Spool {
    pub(in crate::store) folder: Folder,
    /// Held while files are taken in, from the listing to the removal. Taken before other locks.
    pub(in crate::store) seen: Mutex<Seen>,
}

/// How the folder was when it was last looked at.
#[derive(Debug, Default)]
pub(in crate::store) struct Seen {
    stamp: Option<Stamp>,
    since: Option<Instant>,
    /// Nothing was there, and whatever comes will change the stamp.
    is_quiet: bool,
    /// Until then nobody tries again what could not be taken in.
    rests_until: Option<Instant>,
}

impl Spool {
    pub(in crate::store) fn of(store: &Place) -> Self {
        Self { folder: Folder::of(store), seen: Mutex::default() }
    }

    /// Forgets how the folder was, so that the next look is a thorough one.
    pub(in crate::store) fn look_anew(&self) {
        *lock(&self.seen) = Seen::default();
    }

    /// Makes it last what was removed, if there is a folder.
    pub(in crate::store) fn sync(&self) -> io::Result<()> {
        if self.folder.stamp().is_some() { self.folder.sync() } else { Ok(()) }
    }
}

impl Seen {
    /// What lies in the folder, unless that is nothing. Costs one look at the folder itself while
    /// nothing comes.
    pub(in crate::store) fn news(&mut self, folder: &Folder) -> Result<Option<Listing>> {
        let stamp = folder.stamp();
        if stamp != self.stamp {
            let is_quiet = stamp.is_none();
            *self = Self { stamp, since: Some(Instant::now()), is_quiet, rests_until: None };
        }
        let rests = self.rests_until.is_some_and(|until| Instant::now() < until);
        if self.is_quiet || rests || stamp.is_none() {
            return Ok(None);
        }
        // Before the folder is read: what comes while it is, or just after, may not be seen and
        // leave the stamp as it is, unless the stamp is old.
        let is_old = self.since.is_some_and(|since| since.elapsed() > STAMP_COARSE);
        folder.check()?;
        let listing = folder.list()?;
        folder.sweep(&listing);
        self.is_quiet = is_old && listing.saved.is_empty();
        Ok((!listing.saved.is_empty()).then_some(listing))
    }

    /// Lets others do their work for a while before the same is tried again.
    pub(in crate::store) fn rest(&mut self) {
        self.rests_until = Some(Instant::now() + RETRY_AFTER);
    }
}
