//! A view: the store as it is now, whatever process has it, for calls that only read.
//!
//! A view opens the last durable commit in memory, without a lock, and puts later saves from the
//! journal and the spool into these tables. So it has everything that was acknowledged before the
//! call began, and no other process notices it. `engine/published.rs` says why its reads are right.
//! The room `ask` completes a view, and makes a new one if a commit has overtaken it.
//!
//! Saves in the journal have final sequences. Saves in the spool get theirs when a process takes
//! them in, so a view gives them provisional ones.
//!
//! Must never lock, write, sync or remove a file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use redb::ReadableDatabase as _;

use crate::codec::{FoundFrame, Frames, Placed};
use crate::error::{At, Result};
use crate::key::frame_row;
use crate::store::engine::disk::StorePath;
use crate::store::engine::fault::{In, without_panics};
use crate::store::engine::location;
use crate::store::engine::overlay::Overlay;
use crate::store::engine::table::FRAMES;
use crate::store::log::journal::{FILE_BYTES_MAX, Followed};
use crate::store::options::Options;
use crate::store::turn::file;
use crate::store::turn::found::StoreFacts;
use crate::store::turn::open::Open;
use crate::sync::{lock, read, write};

/// The store in memory, while another process may have the file.
pub(in crate::store) struct View {
    /// `None` only while this is dropped.
    open: Option<Open>,
    overlay: Overlay,
    place: StorePath,
    /// `None` once the journal has saves that only a new view can show.
    journal: Mutex<Option<Followed>>,
}

/// The view that a handle keeps for its next read.
#[derive(Default)]
pub(in crate::store) struct Views {
    kept: RwLock<Option<Arc<View>>>,
    has_had: AtomicBool,
}

impl View {
    /// Opens a view, without the spool; `None` if the store changes at this moment. The first view
    /// of a handle checks the pages that the engine trusts.
    pub(in crate::store) fn open(
        place: &StorePath,
        options: &Options,
        frames: Arc<Frames>,
        is_first: bool,
    ) -> Result<Option<Self>> {
        let Some((database, id, overlay)) = file::open_view(place, options, is_first)? else {
            return Ok(None);
        };
        let opened = without_panics(&place.path, || {
            let found = StoreFacts::read(&database, &place.path)?;
            let path = location::beside(&place.path, ".journal");
            let (disk, identity, next) = (place.disk.clone(), found.identity, found.next_sequence);
            let (followed, left) = Followed::start(disk, (path, FILE_BYTES_MAX), identity, next)?;
            let opened = (database, id, found);
            let open = Open::view(opened, overlay.clone(), frames, (left, place, options));
            open.provisional_from.store(followed.next_sequence(), Ordering::Release);
            Ok((open, followed))
        });
        match opened {
            Ok((open, followed)) => {
                let (overlay, place) = (overlay.clone(), place.clone());
                let journal = Mutex::new(Some(followed));
                Ok(Some(Self { open: Some(open), overlay, place, journal }))
            }
            // A commit has overtaken this view, and may have started the journal over.
            Err(_) if !overlay.is_current().unwrap_or(false) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(in crate::store) fn open_file(&self) -> &Open {
        self.open.as_ref().expect("it is there until this ends")
    }

    /// Adds what the journal has beyond this view; false if only a new view can show that.
    pub(in crate::store) fn follow(&self) -> Result<bool> {
        let mut journal = lock(&self.journal);
        // Put back only if all new saves get in. Otherwise other threads would miss some.
        let Some(mut followed) = journal.take() else { return Ok(false) };
        let left = followed.news()?;
        // Other threads use these tables already. News of a later commit do not fit them.
        if !left.is_empty() && !self.is_current()? {
            return Ok(false);
        }
        if !left.is_empty() {
            // Held because another thread that uses this view may prune a base.
            let _journal = lock(&self.open_file().journal);
            if !without_panics(&self.place.path, || self.has_bases(&left))? {
                return Ok(false);
            }
            let mut intake = lock(&self.open_file().intake);
            let has_provisional = intake.next_sequence() > self.provisional_from();
            if has_provisional {
                return Ok(false);
            }
            self.open_file().unsettled.fetch_add(left.len(), Ordering::Release);
            intake.follow(left);
            let from = &self.open_file().provisional_from;
            from.store(followed.next_sequence(), Ordering::Release);
        }
        *journal = Some(followed);
        Ok(true)
    }

    /// Whether no durable commit has overtaken this view, and it is still the store at its path.
    pub(in crate::store) fn is_current(&self) -> Result<bool> {
        let path = self.place.path.as_path();
        Ok(self.overlay.is_current().at(path)?
            && location::is_at(self.place.disk.as_ref(), self.open_file().file, path).at(path)?)
    }

    /// Whether a read failed because a commit has overtaken this view. Then no result may be used:
    /// the code that got the failure may have taken it for damage.
    pub(in crate::store) fn is_stale(&self) -> bool {
        self.overlay.is_stale()
    }

    /// Whether this view has the bases of these saves. A view prunes on save, too, and may have
    /// removed a base that the saving process still has.
    fn has_bases(&self, placed: &[Placed]) -> Result<bool> {
        let path = self.place.path.as_path();
        let transaction = self.open_file().database.begin_read().within(path)?;
        let frames = transaction.open_table(FRAMES).within(path)?;
        let first = placed.first().map_or(0, |it| it.entry.sequence);
        for Placed { entry, frame } in placed {
            let base = FoundFrame::parse(frame).and_then(|found| found.base(entry.sequence));
            if let Some(base) = base.ok().flatten().filter(|base| *base < first)
                && frames.get(frame_row(base, 0)).within(path)?.is_none()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn provisional_from(&self) -> u64 {
        self.open_file().provisional_from.load(Ordering::Acquire)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // Closing, the engine would write to the overlay, and panic if pages are damaged.
        self.overlay.end();
        let open = self.open.take();
        let _ = without_panics(&self.place.path, || {
            drop(open);
            Ok(())
        });
    }
}

impl Views {
    pub(in crate::store) fn kept(&self) -> Option<Arc<View>> {
        read(&self.kept).clone()
    }

    /// Whether this handle ever had a view.
    pub(in crate::store) fn has_had(&self) -> bool {
        self.has_had.load(Ordering::Acquire)
    }

    pub(in crate::store) fn keep(&self, view: &Arc<View>) {
        self.has_had.store(true, Ordering::Release);
        *write(&self.kept) = Some(view.clone());
    }

    /// Frees the memory of the kept view once no call uses it.
    pub(in crate::store) fn forget(&self) {
        if read(&self.kept).is_some() {
            *write(&self.kept) = None;
        }
    }
}
