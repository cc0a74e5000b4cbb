//! A store of which the disk cannot read some: what that hurts.
//!
//! The engine gives up at the first read that fails. So the store is read as a repair reads it,
//! row by row out of its pages, and nothing is saved.

use std::ops::ControlFlow;

use super::Verifier;
use super::tables::harm_to;
use super::tally::{Finding, Harm};
use crate::error::{Error, Result};
use crate::store::pages::{Pages, Seen};
use crate::store::repair::{Lost, survey};
use crate::store::sectors::Unreadable;

/// Whom it hurts that the disk cannot read some bytes of the file.
pub(super) fn harm_of(unreadable: &Unreadable, pages: &Pages, seen: &Seen) -> Harm {
    let Unreadable { at, bytes, .. } = unreadable;
    let hurt = seen.unread.iter().filter(|it| it.bytes.start < at + bytes && *at < it.bytes.end);
    let header = (*at == 0 && !pages.has_header()).then_some(Harm::Reading);
    // What is on no page in use hurts nobody yet.
    hurt.map(|it| harm_to(&it.table)).chain(header).max().unwrap_or(Harm::Upkeep)
}

impl Verifier<'_> {
    /// Names the checkpoints that the disk cannot read.
    pub(super) fn around(&mut self, pages: Pages) -> Result<ControlFlow<()>> {
        let keys = self.held.frames.keys().clone();
        let place = self.held.place;
        let surveyed = match survey(place, pages, keys, self.watch) {
            Ok(surveyed) => surveyed,
            Err(Error::Corrupt { place, reason }) => {
                self.found.find(Harm::Reading, place, reason);
                return Ok(ControlFlow::Continue(()));
            }
            Err(error) => return Err(error),
        };
        let found = &mut self.found;
        found.checkpoints = surveyed.checkpoints;
        found.deleted = surveyed.deleted;
        found.documents = surveyed.documents;
        found.document_bytes = surveyed.document_bytes;
        found.artifacts = surveyed.artifacts;
        found.sealed = surveyed.sealed;
        found.waiting = surveyed.waiting;
        found.is_rekeying = surveyed.is_rekeying;
        for unreadable in &surveyed.unreadable {
            found.find_unreadable(Harm::Reading, unreadable);
        }
        for Lost { place, reason, checkpoint } in surveyed.lost {
            found.note(Finding { place, reason, harm: Harm::Reading, checkpoint });
        }
        Ok(if surveyed.is_whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}
