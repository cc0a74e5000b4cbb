//! Checks the pages of the file by their checksums, without the engine.

use std::path::Path;
use std::thread;

use super::tables::harm_to;
use super::tally::Harm;
use super::{Verifier, around};
use crate::error::{At as _, Error, Result};
use crate::store::engine::disk::StorePath;
use crate::store::engine::pages::{Commit, Known, Pages, Visited};
use crate::store::turn::view::{PUBLISHING, VIEWS_MAX};

/// The pages of the file, and what a walk through them has found.
pub(super) struct Looked {
    pub(super) pages: Pages,
    pub(super) seen: Visited,
}

/// One look after the other, until no commit overtakes it.
#[derive(Default)]
struct Looks {
    /// Whether every byte was read once, and the disk could read it.
    is_read: bool,
    /// Subtrees that an overtaken walk has checked.
    known: Known,
}

impl Verifier<'_> {
    /// Checks all pages, after every byte was read once.
    pub(super) fn pages(&mut self) -> Result<Looked> {
        let looked = self.look()?;
        let Looked { pages, seen } = &looked;
        for unreadable in pages.sectors().unreadable(self.held.path) {
            self.found.find_unreadable(around::harm_of(&unreadable, pages, seen), &unreadable);
        }
        for fault in pages.header_faults() {
            self.found.find(Harm::Reading, "header", fault);
        }
        self.found.pages = seen.pages();
        for bad in &seen.bad {
            let place = bad.at.map_or("a page".to_owned(), |at| format!("page at byte {at}"));
            let place = format!("{place}, table {}", bad.table);
            // Reading the checkpoints shows which of them the page damages.
            self.found.find(harm_to(&bad.table), place, bad.reason);
        }
        Ok(looked)
    }

    fn look(&mut self) -> Result<Looked> {
        let (place, mut looks) = (self.held.place, Looks::default());
        for number in 0.. {
            let looked = self.held.settled(|held| {
                let is_view = held.is_view();
                if is_view { looks.in_view(place) } else { looks.locked(place) }
            });
            let looked = match looked {
                Err(
                    error @ (Error::Locked { .. }
                    | Error::TooNew { .. }
                    | Error::TooOld { .. }
                    | Error::Linked { .. }),
                ) => return Err(error),
                // If this process cannot open the file, others cannot either.
                Err(_) => return looks.locked(place),
                Ok(looked) => looked,
            };
            if !self.held.is_view() {
                return Ok(looked);
            }
            let is_read = looks.is_read && looked.seen.unread.is_empty();
            let is_faultless = looked.pages.header_faults().is_empty();
            match (is_read, is_faultless) {
                (true, true) => return Ok(looked),
                // Another process may have been writing the header.
                (_, false) if number < VIEWS_MAX => thread::sleep(PUBLISHING * number),
                // The rows are read around bad sectors, which takes a hold.
                _ => self.held.stop_viewing(),
            }
        }
        unreachable!("the loop ends with a hold at the latest")
    }
}

impl Looks {
    /// Looks at the last commit, which is durable, so the one before does not count.
    fn in_view(&mut self, place: &StorePath) -> Result<Looked> {
        let (pages, mut seen) = (open(place)?, Visited::default());
        if pages.header_faults().is_empty() {
            self.read_all(&pages, &place.path);
            seen = walk(&pages, Commit::Last, &mut self.known);
        }
        Ok(Looked { pages, seen })
    }

    fn locked(&mut self, place: &StorePath) -> Result<Looked> {
        let pages = open(place)?;
        self.read_all(&pages, &place.path);
        let mut seen = walk(&pages, Commit::Last, &mut Known::default());
        if pages.is_unclosed() && !seen.bad.is_empty() {
            // A crash may have torn the last commit; then the one before counts.
            let before = walk(&pages, Commit::Before, &mut Known::default());
            seen = if before.bad.is_empty() && before.pages() > 0 { before } else { seen };
        }
        Ok(Looked { pages, seen })
    }

    fn read_all(&mut self, pages: &Pages, path: &Path) {
        if !self.is_read {
            pages.sectors().read_all();
            self.is_read = pages.sectors().unreadable(path).is_empty();
        }
    }
}

fn open(place: &StorePath) -> Result<Pages> {
    place.disk.open(&place.path).and_then(Pages::open).at(&place.path)
}

fn walk(pages: &Pages, commit: Commit, known: &mut Known) -> Visited {
    let mut seen = Visited::default();
    for table in pages.tables(commit, &mut seen) {
        pages.check(&table, &mut seen, known);
    }
    seen
}
