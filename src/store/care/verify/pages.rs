//! Checks the pages of the file by their checksums, without the engine.

use super::tables::harm_to;
use super::tally::Harm;
use super::{Verifier, around};
use crate::error::{At as _, Error, Result};
use crate::store::engine::pages::{Commit, Pages, Visited};

impl Verifier<'_> {
    /// The pages of the file, after every byte was read once.
    pub(super) fn look(&mut self) -> Result<Pages> {
        let path = self.held.path;
        // Locks out other processes. If this process cannot open the file, they cannot either.
        let held = self.held.source().err();
        if let Some(
            error @ (Error::Locked { .. }
            | Error::TooNew { .. }
            | Error::TooOld { .. }
            | Error::Linked { .. }),
        ) = held
        {
            return Err(error);
        }
        let pages = Pages::open(self.held.place.disk.open(path).at(path)?).at(path)?;
        pages.sectors().read_all();
        Ok(pages)
    }

    /// Checks all pages.
    pub(super) fn pages(&mut self, pages: &Pages) -> Visited {
        let mut seen = walk(pages, Commit::Last);
        if pages.is_unclosed() && !seen.bad.is_empty() {
            // A crash may have torn the last commit; then the one before counts.
            let before = walk(pages, Commit::Before);
            seen = if before.bad.is_empty() && before.pages() > 0 { before } else { seen };
        }
        for unreadable in pages.sectors().unreadable(self.held.path) {
            self.found.find_unreadable(around::harm_of(&unreadable, pages, &seen), &unreadable);
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
        seen
    }
}

fn walk(pages: &Pages, commit: Commit) -> Visited {
    let mut seen = Visited::default();
    for table in pages.tables(commit, &mut seen) {
        pages.walk(&table, &mut seen, &mut |_| {});
    }
    seen
}
