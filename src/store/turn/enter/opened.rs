//! Opens the file for a turn: on disk, or in memory if the disk is full.

use std::sync::atomic::Ordering;

use super::Turn;
use crate::error::Result;
use crate::store::engine::full::lacks_room;
use crate::store::engine::sealing::Sealing;
use crate::store::turn::file::{self, Refusal};
use crate::store::turn::found::StoreFacts;
use crate::store::turn::lock::HeldStore;
use crate::store::turn::open::{Open, Use};
use crate::sync::lock;

impl Turn {
    /// Opens the file; in memory if the call only reads and the disk is full.
    pub(super) fn open_for(&self, usage: Use) -> Result<Open, Refusal> {
        let has_no_room = usage == Use::Read && self.has_no_room.swap(false, Ordering::AcqRel);
        let opened = if has_no_room { self.open_in_memory() } else { self.open_on_disk(usage) };
        match opened {
            Err(Refusal::Failed(error))
                if usage == Use::Read && lacks_room(&error) && self.is_there() =>
            {
                self.open_in_memory()
            }
            opened => opened,
        }
    }

    fn open_on_disk(&self, usage: Use) -> Result<Open, Refusal> {
        let is_first = !self.is_known.load(Ordering::Relaxed);
        let (database, file) = file::open(&self.place, &self.lock_file, &self.options, is_first)?;
        self.is_known.store(true, Ordering::Relaxed);
        // The text of the last holder stays valid until the file is ready: a process that is
        // stopped before that keeps nobody from spooling.
        let sealing = Sealing::Unknown;
        let known = self
            .lock_file
            .known()
            .or_else(|| self.identity().map(|identity| HeldStore { identity, file, sealing }));
        self.lock_file.sign(&self.name(), known)?;
        let found = StoreFacts::read(&database, self.path())?;
        *lock(&self.identity) = Some(found.identity);
        let opened = (database, file, found);
        let open = Open::new(
            opened,
            self.frames.clone(),
            (&self.place, &self.options, self.settle),
            usage,
        )?;
        let sealing = open.key().into();
        if known == Some(HeldStore { identity: open.identity, file, sealing }) {
            *lock(&self.sealing) = sealing;
        } else {
            self.note_sealing(&open, sealing)?;
        }
        self.note_opened();
        Ok(open)
    }

    /// Opens the file in memory. The text in the lock file stays.
    pub(in crate::store) fn open_in_memory(&self) -> Result<Open, Refusal> {
        let (database, file, overlay) = file::open_in_memory(&self.place, &self.options)?;
        let found = StoreFacts::read(&database, self.path())?;
        *lock(&self.identity) = Some(found.identity);
        let opened = (database, file, found);
        let open = Open::in_memory(
            opened,
            overlay,
            self.frames.clone(),
            (&self.place, &self.options, self.settle),
        )?;
        self.note_opened();
        Ok(open)
    }

    /// Whether there is a store, or only too little room to make one.
    fn is_there(&self) -> bool {
        self.disk().look(self.path()).is_ok()
    }

    fn note_opened(&self) {
        self.used_micros.store(self.now_micros(), Ordering::Relaxed);
        self.keeper.note_open();
    }
}
