//! Deleting checkpoints by their ids: in one transaction, or in small parts on a full disk.
//!
//! Must never use up the reserve for a transaction that may not fit in it: nothing could be removed
//! after that.

use std::collections::BTreeSet;

use crate::checkpoint::{Entry, Id, Timestamp};
use crate::error::Result;
use crate::store::Store;
use crate::store::engine::full::lacks_room;
use crate::store::keep::deleted::{AT_ONCE_IF_FULL, Deleted, Removal};
use crate::store::keep::operation::{Action, Operation};
use crate::store::save::shared::give_way;
use crate::store::transaction::lookup::not_found;
use crate::store::transaction::writer::Writer;

impl Store {
    pub(in crate::store) fn delete_as(&self, ids: &[Id], removal: Removal) -> Result<Deleted> {
        let now = (self.shared.options.clock)();
        let ids: BTreeSet<&Id> = ids.iter().collect();
        let ids: Vec<&Id> = ids.into_iter().collect();
        let delete = |writer: &mut Writer<'_>| {
            let entries = writer.find_each(&ids)?;
            let deleted = writer.delete_logged(&entries, removal, (now, None))?;
            writer.purge_expired(now)?;
            Ok(deleted)
        };
        match self.shared.write(delete) {
            Err(error) if lacks_room(&error) && self.shared.turn.release_reserve() => {
                self.delete_in_parts(&ids, removal, now)
            }
            deleted => deleted,
        }
    }

    /// Deletes a few checkpoints at a time, as one operation of the log. What each part frees is
    /// there for the next. What expired meanwhile stays: purging it takes room.
    fn delete_in_parts(&self, ids: &[&Id], removal: Removal, now: Timestamp) -> Result<Deleted> {
        let mut total = Deleted::default();
        for (number, part) in ids.chunks(AT_ONCE_IF_FULL).enumerate() {
            let delete = |writer: &mut Writer<'_>| {
                let entries = if number == 0 {
                    let mut all = writer.find_each(ids)?;
                    all.truncate(part.len());
                    all
                } else {
                    // Another process may have deleted one of these meanwhile.
                    let found = part.iter().filter_map(|id| writer.find(id).transpose());
                    found.collect::<Result<Vec<Entry>>>()?
                };
                writer.delete_logged(&entries, removal, (now, total.operation))
            };
            let deleted = self.shared.write(delete)?;
            total.checkpoints += deleted.checkpoints;
            total.stored_bytes += deleted.stored_bytes;
            total.operation = total.operation.or(deleted.operation);
            total.is_restorable |= deleted.is_restorable;
            give_way();
        }
        Ok(total)
    }
}

impl Writer<'_> {
    /// The entries of all ids, or an error if one does not exist.
    fn find_each(&mut self, ids: &[&Id]) -> Result<Vec<Entry>> {
        ids.iter().map(|id| self.find(id)?.ok_or_else(|| not_found(id))).collect()
    }

    /// Deletes checkpoints, and notes that in the log: in the operation with this number, or in a
    /// new one.
    fn delete_logged(
        &mut self,
        entries: &[Entry],
        removal: Removal,
        (now, operation): (Timestamp, Option<u64>),
    ) -> Result<Deleted> {
        if entries.is_empty() {
            return Ok(Deleted::default());
        }
        let delete = Operation::new(Action::Delete, now).on(entries);
        let operation = match operation {
            Some(number) => self.log_more(number, &delete).map(|()| number)?,
            None => self.log(delete)?,
        };
        self.delete(entries, removal, (now, operation))
    }
}
