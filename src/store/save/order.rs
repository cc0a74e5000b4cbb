//! The order of checkpoints: which of two is the newer, whatever the clock does.
//!
//! A checkpoint with a stated time is ordered at that time. One that the store dates is ordered
//! after everything saved before it: at its date or, if the clock is behind, at the latest time in
//! the order so far. Its date then *lags* behind its place. The key of a record ([`RecordKey`]) has
//! the place, so everything that reads records in their order follows this rule.
//!
//! Must never change a date that was acknowledged.
//!
//! [`RecordKey`]: crate::key::RecordKey
//!
//! # Dates that differ from the order time
//!
//! The highest order time is in memory. At opening it is that of the last record key or the one
//! noted in `meta`, whichever is later. A checkpoint that the store dates gets its date or the
//! highest order time, whichever is later. The two differ in these cases:
//!
//! - Another save overtook it. The clock is read when a draft is made, and then the draft waits for
//!   its turn. If the clock has passed the highest time when it is saved, the draft gets the
//!   highest time as its date: its save was under way then. Its id changes with the date, unless
//!   the caller has already asked for the id. So competing savers cost nothing on disk.
//! - The clock is behind: it was set back, or a checkpoint in the store is dated ahead.
//!   `created_at` is what the clock showed, and the record holds the lag. The key cannot be derived
//!   from the id, so the id has a row. That costs about 90 bytes a checkpoint until the clock has
//!   caught up. A spooled save was acknowledged with its date, so it also lags if others were saved
//!   before it is taken in.
//! - A revision of an imported file is ordered at its stated time or that of the revision before,
//!   whichever is later.
//!
//! After a save with a stated time in the year 9999, every later save lags behind 9999. Nothing
//! breaks, but the order then says nothing about dates.
//!
//! # What follows from lags
//!
//! `since` and `until` compare dates. A date is never later than the order time, so `since` is the
//! start of a range of keys. The range for `until` ends later by the longest lag that the store
//! ever wrote (`meta`), and each entry is checked by its date. Where no date lags, nothing more is
//! read.
//!
//! Deleted checkpoints that can be restored leave the latest of their order times in `meta`: what
//! is saved before they are restored stays newer. Spool files are taken in by name, and each new
//! name has a later time than all names in the folder, so two spooled saves stay in order even if
//! the clock is set back in between. An export contains `ordered_at` and an import takes it, so a
//! copy has the order of the original.
//!
//! The first record with a lag raises the format of the store (see `FORMAT.md`). It never goes to
//! the journal: the transaction that writes it sets the format.
//!
//! Ages are never negative, and a checkpoint that is dated ahead has none. A clock that runs ahead
//! makes checkpoints look old; what a prune then removes can be restored.

use std::sync::atomic::Ordering;

use crate::checkpoint::Timestamp;
use crate::store::save::draft::{Dated, Draft};

impl Draft {
    /// Orders the draft after everything in the store, whose latest time is `highest`; the clock
    /// shows `now`.
    ///
    /// If the clock has passed `highest`, other saves overtook this one while it waited: the draft
    /// is dated like the last of them, since its own save was under way then. If not, the clock is
    /// behind: the date stays what the clock said, and lags.
    pub(in crate::store) fn follow(&mut self, highest: Timestamp, now: Timestamp) {
        if self.dated != Dated::Stated {
            // The draft may have got a place in another store, which was moved away meanwhile.
            self.entry.ordered_at = None;
        }
        if !self.is_behind(highest) {
            return;
        }
        if self.dated == Dated::Acknowledged || highest > now {
            self.entry.ordered_at = Some(highest);
            return;
        }
        self.entry.created_at = highest;
        // An id of the same time needs no row of its own.
        if !self.has_own_id && !self.is_id_known.load(Ordering::Relaxed) {
            self.entry.id = self.entry.id.moved_to(highest);
        }
    }

    /// Whether the store dated it earlier than something that is already saved.
    pub(in crate::store) fn is_behind(&self, highest: Timestamp) -> bool {
        self.dated != Dated::Stated && self.entry.created_at < highest
    }
}

/// Whether the date of one of these drafts would lag behind its place in the order.
pub(in crate::store) fn any_lags(drafts: &[Draft], mut highest: Timestamp, now: Timestamp) -> bool {
    drafts.iter().any(|draft| {
        let lags = draft.entry.ordered_at.is_some() || (draft.is_behind(highest) && highest > now);
        highest = highest.max(draft.entry.order().0);
        lags
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::NewEntry;
    use crate::store::Store;

    /// The draft kept the place that it got in a store which was moved away before it was
    /// acknowledged, and all later saves lagged behind that place.
    #[test]
    fn a_draft_that_is_saved_elsewhere_forgets_its_first_place() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store.redb")).unwrap();
        let mut draft = store.draft(NewEntry::default(), &1).unwrap();
        let date = draft.entry.created_at;
        let ahead = Timestamp::from_micros(date.as_micros() + 1_000_000);
        draft.follow(ahead, date);
        assert_eq!(draft.entry.order().0, ahead);
        draft.follow(Timestamp::from_micros(0), date);
        assert_eq!((draft.entry.created_at, draft.entry.ordered_at), (date, None));
    }
}
