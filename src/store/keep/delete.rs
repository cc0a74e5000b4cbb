//! Deleting checkpoints by their ids: in one transaction, or in small parts on a full disk.
//!
//! Must never give up while the file has space that no checkpoint uses.

use std::collections::BTreeSet;

use crate::checkpoint::{Entry, Id, Timestamp};
use crate::error::Result;
use crate::store::Store;
use crate::store::engine::full::{after, lacks_room};
use crate::store::keep::at_once::{AT_ONCE_IF_FULL, AtOnce};
use crate::store::keep::deleted::{Deleted, Removal};
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
            Err(error)
                if lacks_room(&error) && self.shared.turn.free_space(removal == Removal::Final) =>
            {
                self.delete_in_parts(&ids, removal, now)
            }
            deleted => deleted,
        }
    }

    /// Deletes a few checkpoints at a time, as one operation of the log. The next part can use what
    /// a part frees. Expired checkpoints are not purged here, since that takes room.
    fn delete_in_parts(&self, ids: &[&Id], removal: Removal, now: Timestamp) -> Result<Deleted> {
        let mut total = Deleted::default();
        let (mut left, mut at_once) =
            (ids, AtOnce::new(AT_ONCE_IF_FULL, removal == Removal::Final));
        while !left.is_empty() {
            let (part, rest) = left.split_at(left.len().min(at_once.many));
            let delete = |writer: &mut Writer<'_>| {
                if left.len() == ids.len() {
                    writer.find_each(ids)?;
                }
                // Another process may have deleted one of these meanwhile.
                let found = part.iter().filter_map(|id| writer.find(id).transpose());
                let entries: Vec<Entry> = found.collect::<Result<_>>()?;
                writer.delete_logged(&entries, removal, (now, total.operation))
            };
            let deleted = match self.shared.write(delete) {
                Err(error) if lacks_room(&error) && at_once.can_retry(&self.shared.turn) => {
                    continue;
                }
                deleted => deleted
                    .map_err(|error| after(error, total.checkpoints, ids.len(), "deleted"))?,
            };
            left = rest;
            at_once.has_freed = false;
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
