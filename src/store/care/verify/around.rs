//! A store with unreadable sectors: names the damaged checkpoints.
//!
//! The engine gives up at the first failed read. So this reads the store as a repair does, row by
//! row from its pages, but saves nothing.

use std::ops::ControlFlow;

use super::Verifier;
use super::tables::harm_to;
use super::tally::{Defect, Harm};
use crate::error::{Error, Result};
use crate::store::care::remains::Lost;
use crate::store::care::remains::survey::survey;
use crate::store::engine::pages::{Pages, Visited};
use crate::store::engine::sectors::Unreadable;

/// The harm of unreadable bytes of the file.
pub(super) fn harm_of(unreadable: &Unreadable, pages: &Pages, seen: &Visited) -> Harm {
    let Unreadable { at, bytes, .. } = unreadable;
    let hurt = seen.unread.iter().filter(|it| it.bytes.start < at + bytes && *at < it.bytes.end);
    let header = (*at == 0 && !pages.has_header()).then_some(Harm::Reading);
    // Bytes outside of used pages do no harm yet.
    hurt.map(|it| harm_to(&it.table)).chain(header).max().unwrap_or(Harm::Upkeep)
}

impl Verifier<'_> {
    /// Names the checkpoints that are lost because of the unreadable sectors.
    pub(super) fn around(&mut self, pages: Pages) -> Result<ControlFlow<()>> {
        let keys = self.held.frames.keys().clone();
        let place = self.held.place;
        let surveyed = match survey(place, pages, keys, self.watch) {
            Ok(surveyed) => surveyed,
            Err(Error::Corrupt { place, reason, .. }) => {
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
            found.note(Defect { place, reason, harm: Harm::Reading, checkpoint });
        }
        Ok(if surveyed.is_whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}
