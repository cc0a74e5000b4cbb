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
            // It may have had a place in another store, which was moved away meanwhile.
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

    /// It kept the place that it had got in a store which was moved away before anything was
    /// acknowledged, and all that came after it lagged behind that.
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
