//! A view as the source of a check: the last durable commit, without a lock.
//!
//! Must never lock, write or sync a file.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use redb::Database;

use crate::error::{At, Result};
use crate::store::engine::disk::{FileId, StorePath};
use crate::store::engine::fault::without_panics;
use crate::store::engine::location;
use crate::store::engine::overlay::Overlay;
use crate::store::options::Options;
use crate::store::turn::file;
use crate::store::turn::view::{OVERTAKEN, PUBLISHING, VIEWS_MAX};

/// A file that another process may have.
pub(in crate::store) struct Viewed {
    /// `None` only while this is dropped.
    database: Option<Database>,
    overlay: Overlay,
    id: Option<FileId>,
}

impl Viewed {
    /// `None` if the store changes at this moment.
    fn open(place: &StorePath, cache_bytes: usize, is_first: bool) -> Result<Option<Self>> {
        let options = Options { cache_bytes, ..Options::default() };
        let opened = file::open_view(place, &options, is_first)?;
        Ok(opened.map(|(database, id, overlay)| {
            let database = Some(database);
            Self { database, overlay, id }
        }))
    }

    pub(super) fn database(&self) -> &Database {
        self.database.as_ref().expect("it is there until this ends")
    }

    /// Whether no durable commit has overtaken this, and it is still the store at its path.
    pub(super) fn is_current(&self, place: &StorePath) -> bool {
        let is_there = |path: &Path| location::is_at(place.disk.as_ref(), self.id, path);
        let is_current = self.overlay.is_current().at(&place.path);
        is_current.unwrap_or(false) && is_there(&place.path).unwrap_or(false)
    }
}

impl Drop for Viewed {
    fn drop(&mut self) {
        // Closing, the engine would write to the overlay, and panic if pages are damaged.
        self.overlay.end();
        let database = self.database.take();
        let _ = without_panics(Path::new("the view"), || {
            drop(database);
            Ok(())
        });
    }
}

/// The tries to check one part in a view.
#[derive(Debug, Default)]
pub(super) struct Tries {
    /// How many views commits have overtaken since the last turn was tried.
    count: u32,
    /// Since when; `None` if no commit has overtaken a view of this part.
    since: Option<Instant>,
    /// Whether this call ever had a view.
    has_viewed: bool,
}

impl Tries {
    /// Opens a view; `None` if it takes a turn to continue.
    pub(super) fn view(&mut self, place: &StorePath, cache_bytes: usize) -> Result<Option<Viewed>> {
        while !self.is_enough() {
            if let Some(view) = Viewed::open(place, cache_bytes, !self.has_viewed)? {
                self.has_viewed = true;
                return Ok(Some(view));
            }
            self.overtaken();
        }
        Ok(None)
    }

    /// Notes that a commit has overtaken a view.
    pub(super) fn overtaken(&mut self) {
        self.since.get_or_insert_with(Instant::now);
        thread::sleep(PUBLISHING * self.count);
        self.count += 1;
    }

    /// How long views of this part have been overtaken.
    pub(super) fn elapsed(&self) -> Duration {
        self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// After a turn was tried in vain.
    pub(super) fn restart(&mut self) {
        self.count = 0;
    }

    /// After a part.
    pub(super) fn end(&mut self) {
        (self.count, self.since) = (0, None);
    }

    fn is_enough(&self) -> bool {
        self.count >= VIEWS_MAX || self.count > 1 && self.elapsed() > OVERTAKEN
    }
}
