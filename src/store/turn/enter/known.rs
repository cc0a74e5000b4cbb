//! What is known about a store while another process has it, and what this process writes down.

use std::sync::atomic::Ordering;
use std::thread;

use super::{POLL, SIGNING, Turn};
use crate::error::{At as _, Result};
use crate::store::engine::pages::Pages;
use crate::store::engine::sealing::Sealing;
use crate::store::turn::file::{self, Refusal};
use crate::store::turn::lock::{HeldStore, SIGNED};
use crate::store::turn::open::Open;
use crate::sync::{lock, write};

// The page that has the header.
const HEADER_BYTES: usize = 4096;

impl Turn {
    /// The identity of the store, if known.
    pub(in crate::store) fn identity(&self) -> Option<u64> {
        *lock(&self.identity)
    }

    /// Notes the identity of the store that a view has read.
    pub(in crate::store) fn note_identity(&self, of_view: u64) {
        *lock(&self.identity) = Some(of_view);
    }

    /// Whether the identity of the store is known; if not, looks for it in the lock file, where the
    /// process that has the store writes it.
    pub(in crate::store) fn learn_identity(&self) -> bool {
        let mut identity = lock(&self.identity);
        *identity = identity.or_else(|| self.lock_file.known().map(|known| known.identity));
        identity.is_some()
    }

    /// The sealing of the store, by the text that the process that has the store wrote.
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

    /// Writes down that the sealing is unknown, and syncs that: a power loss must not bring the old
    /// text back.
    pub(in crate::store) fn take_back_sealing(&self, open: &Open) -> Result<()> {
        self.note_sealing(open, Sealing::Unknown)?;
        self.lock_file.sync()
    }

    /// Writes down how the store is sealed.
    pub(in crate::store) fn note_sealing(&self, open: &Open, sealing: Sealing) -> Result<()> {
        *lock(&self.sealing) = sealing;
        let known = HeldStore { identity: open.identity, file: open.file, sealing };
        self.lock_file.sign(&self.name(), Some(known))
    }

    pub(super) fn name(&self) -> String {
        let process = std::process::id();
        match self.options.label.as_str() {
            "" => format!("{SIGNED}{process}"),
            label => format!("{SIGNED}{process} ({label})"),
        }
    }

    /// Frees disk space for a call that removes something: the reserve of the lock file, and the
    /// parts of the store file that no checkpoint uses. False if there is neither.
    pub(in crate::store) fn free_space(&self, is_final: bool) -> bool {
        let is_released = self.lock_file.release(is_final);
        self.free_unused() || is_released
    }

    /// Frees the parts of the file that the last commit does not use. Only if the file is closed or
    /// broken: the engine must not have it open.
    pub(in crate::store) fn free_unused(&self) -> bool {
        self.punch().unwrap_or(false)
    }

    fn punch(&self) -> Result<bool, Refusal> {
        let mut open = write(&self.open);
        self.write_anew(open.as_ref())?;
        if open.is_some() && !self.broken.load(Ordering::Acquire) {
            return Ok(false);
        }
        self.close_broken(&mut open);
        let (disk, path) = (self.disk(), self.path());
        let alone = file::lock_alone(&self.place)?;
        let Some(unused) = Pages::open(disk.open(path).at(path)?).at(path)?.unused() else {
            return Ok(false);
        };
        let file = disk.open_to_write(path).at(path)?;
        if file.id().at(path)? != alone.id().at(path)? {
            return Ok(false);
        }
        let free = || {
            // After a failed sync the header on disk may still name the commit before. The kernel
            // takes its page for clean, so the page is written again before the sync.
            let mut header = [0; HEADER_BYTES];
            file.read_at(&mut header, 0)?;
            file.write_at(&header, 0).and_then(|()| file.sync())?;
            let is_freed = file.free(&unused)?;
            file.sync().map(|()| is_freed)
        };
        let is_freed = free();
        drop(alone);
        Ok(is_freed.at(path)?)
    }
}
