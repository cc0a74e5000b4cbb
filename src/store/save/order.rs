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

use redb::ReadableTable as _;

use crate::checkpoint::{Entry, Id, NewEntry, Timestamp};
use crate::codec::encode_entry;
use crate::error::{Error, Result};
use crate::store::engine::fault::In;
use crate::store::engine::table::{FORMAT_KEY, HIGHEST_KEY, LAG_FORMAT, LAG_KEY, META};
use crate::store::save::draft::Draft;
use crate::store::save::write::Writer;

/// Where the date of a draft comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Dated {
    /// The caller stated it.
    Stated,
    /// The clock, when the draft was made. The save may end later.
    ByClock,
    /// The clock, and the caller knows the date: the save was acknowledged when it was spooled.
    Acknowledged,
}

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

/// A new id. When a spooled checkpoint is taken in, its id tells whether the store dated it: then
/// the time in the id is the date. So the id of a checkpoint with a stated date gets another time.
pub(in crate::store) fn generated(now: Timestamp, stated: Option<Timestamp>) -> Id {
    let id = Id::generate(now);
    if stated.is_some_and(|stated| id.is_made_at(stated)) {
        return id.moved_to(Timestamp::from_micros(now.as_micros().max(0).wrapping_add(1000)));
    }
    id
}

/// Refuses `ordered_at` without a date, or before the date.
pub(in crate::store) fn check_order(about: &NewEntry) -> Result<()> {
    let reason = match (about.created_at, about.ordered_at) {
        (_, None) => return Ok(()),
        (Some(created_at), Some(ordered_at)) if created_at <= ordered_at => return Ok(()),
        (Some(_), Some(_)) => "is before created_at",
        (None, Some(_)) => "needs created_at",
    };
    Err(Error::invalid("ordered_at", reason))
}

impl Writer<'_> {
    /// The bytes of a record that this transaction writes.
    pub(in crate::store) fn record(&mut self, entry: &Entry) -> Result<Vec<u8>> {
        if let Some(time) = entry.ordered_at {
            self.note_lag(entry.created_at.micros_until(time))?;
        }
        encode_entry(entry, &mut |kind, name| self.intern(kind, name))
    }

    /// Whether the format of the store allows dates that lag once this transaction is committed.
    pub(in crate::store) fn may_lag(&self) -> bool {
        self.lag_max.is_some()
    }

    /// Notes a lag that is longer than all before. A search by date needs the longest, and the
    /// format keeps builds that do not know lags from opening the store.
    fn note_lag(&mut self, micros: u64) -> Result<()> {
        if self.lag_max.is_some_and(|max| micros <= max) {
            return Ok(());
        }
        let mut meta = self.transaction.open_table(META).within(self.path)?;
        if self.lag_max.is_none() {
            meta.insert(FORMAT_KEY, u64::from(LAG_FORMAT)).within(self.path)?;
        }
        meta.insert(LAG_KEY, micros).within(self.path)?;
        self.lag_max = Some(micros);
        Ok(())
    }

    /// Notes the latest order time of any checkpoint that was ever deleted and could be restored: a
    /// save before it is restored must still be newer than it.
    pub(in crate::store) fn note_put_away(&mut self, entries: &[Entry]) -> Result<()> {
        let latest = entries.iter().map(|entry| entry.order().0).max();
        let Some(latest) = latest else { return Ok(()) };
        let mut meta = self.transaction.open_table(META).within(self.path)?;
        let noted = meta.get(HIGHEST_KEY).within(self.path)?.map(|noted| noted.value());
        if noted.is_none_or(|noted| Timestamp::from_micros(noted.cast_signed()) < latest) {
            let latest = latest.as_micros().cast_unsigned();
            meta.insert(HIGHEST_KEY, latest).within(self.path)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
