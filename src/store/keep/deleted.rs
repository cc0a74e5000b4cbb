//! Deleting and undeleting: a deleted checkpoint can be restored for some time.
//!
//! A deleted checkpoint leaves the records, the index and the ids. Its frame stays, so no delta
//! that is based on it has to change. Purging removes the frame too.
//!
//! Purging happens in `compact`, or after `keep_deleted` at the next delete or prune; it stores
//! anew the frames that depended on the purged ones. Pruning on save purges at once, because a ring
//! must not grow. Two exceptions can be restored: checkpoints saved before pruning on save was set,
//! and checkpoints removed for their age. A clock that is ahead for one save makes a whole series
//! look old; once it is right again, that prune can be undone.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use redb::{ReadableTable as _, ReadableTableMetadata as _};
use serde::Serialize;

use crate::checkpoint::{Checkpoint, Entry, Id, Timestamp};
use crate::codec::encode_deleted;
use crate::error::{Error, Result, unless_damaged};
use crate::key::{DeletedBytes, RecordKey, deleted_at, deleted_row};
use crate::store::Store;
use crate::store::ask::restorable::{Restorable, restorable};
use crate::store::engine::fault::In;
use crate::store::engine::full::lacks_room;
use crate::store::engine::table::{DELETED, open_if_made};
use crate::store::keep::at_once::AtOnce;
use crate::store::keep::operation::{Action, Operation};
use crate::store::save::shared::give_way;
use crate::store::transaction::lookup::not_found;
use crate::store::transaction::snapshot::Snapshot;
use crate::store::transaction::writer::Writer;
use crate::store::watch::{Stage, Step, Watch};
use crate::sync::lock;

// Bounds the length of one transaction.
const PURGED_AT_ONCE: usize = 4096;

/// What [`Store::delete`] removed.
///
/// ```
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::issue("42")?, &"state")?;
/// let deleted = store.delete(&[saved.id])?;
/// assert_eq!((deleted.checkpoints, deleted.is_restorable), (1, true));
/// let number = deleted.operation.expect("something was removed");
/// assert_eq!(store.undelete_operation(number)?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Deleted {
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// By how much less all documents take on disk once they cannot be restored any more; if that
    /// is now, those included that are stored anew because they were differences to what is gone.
    pub stored_bytes: u64,
    /// The number of the operation in the log, if anything was removed.
    pub operation: Option<u64>,
    /// Whether they can be restored.
    pub is_restorable: bool,
}

/// Whether what is removed can be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Removal {
    /// It can be restored for some time.
    Restorable,
    /// It is gone.
    Final,
}

impl Store {
    /// Restores deleted checkpoints: all of them, or none if one cannot be had.
    ///
    /// If one id was deleted more than once, the last one deleted is restored. Looks at all that
    /// can be restored. In a store that prunes on save, the next save may remove it again.
    ///
    /// # Errors
    /// [`Error::NotFound`] names one that is not there to be restored, [`Error::Exists`] one whose
    /// id is taken again.
    pub fn undelete(&self, ids: &[Id]) -> Result<Vec<Entry>> {
        let now = (self.shared.options.clock)();
        let ids: BTreeSet<&Id> = ids.iter().collect();
        self.shared.write(|writer| {
            // In the order of deletion, so that the last one deleted wins.
            let found = writer.restorable()?.into_iter();
            let mut found: HashMap<Id, _> =
                found.map(|(row, it)| (it.entry.id.clone(), (row, it.entry))).collect();
            let wanted = ids.into_iter().map(|id| found.remove(id).ok_or_else(|| not_found(id)));
            let wanted = wanted.collect::<Result<Vec<_>>>()?;
            writer.restore_all(wanted, now)
        })
    }

    /// Returns a deleted checkpoint as it would be restored.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if it is gone for good or damaged.
    pub fn get_deleted(&self, restorable: &Restorable) -> Result<Checkpoint> {
        self.read(|snapshot| snapshot.load(restorable.entry.clone()))
    }

    /// Restores everything that an operation deleted and that can be restored: all of it, or none.
    ///
    /// Looks at all that can be restored.
    ///
    /// # Errors
    /// [`Error::Exists`] names one whose id is taken again.
    pub fn undelete_operation(&self, number: u64) -> Result<Vec<Entry>> {
        let now = (self.shared.options.clock)();
        self.shared.write(|writer| {
            let found = writer.restorable()?.into_iter().filter(|(_, it)| it.operation == number);
            let wanted = found.map(|(row, it)| (row, it.entry)).collect();
            writer.restore_all(wanted, now)
        })
    }

    /// Purges everything that was deleted, and counts it; returns whether to go on.
    pub(in crate::store) fn purge(
        &self,
        watch: Watch<'_>,
        purged: &mut u64,
    ) -> Result<ControlFlow<()>> {
        let now = (self.shared.options.clock)();
        let (mut operation, mut at_once) = (None, AtOnce::new(PURGED_AT_ONCE, true));
        let total = self.read(count_deleted)?;
        loop {
            let step = Step { stage: Stage::Purge, done: *purged, total: Some(total) };
            if watch(step).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let mut noted = operation;
            let purge =
                |writer: &mut Writer<'_>| writer.purge((None, at_once.many), now, &mut noted);
            let count = match self.shared.write(purge) {
                Err(error) if lacks_room(&error) && at_once.can_retry(&self.shared.turn) => {
                    continue;
                }
                count => count?,
            };
            at_once.has_freed = false;
            operation = noted;
            *purged += count as u64;
            if count < at_once.many {
                return Ok(ControlFlow::Continue(()));
            }
            give_way();
        }
    }
}

impl Writer<'_> {
    /// Removes checkpoints, and returns by how much less all frames take then.
    pub(in crate::store) fn delete(
        &mut self,
        entries: &[Entry],
        removal: Removal,
        (now, operation): (Timestamp, u64),
    ) -> Result<Deleted> {
        let stored_bytes = match removal {
            Removal::Final => self.remove(entries)?,
            Removal::Restorable => {
                self.put_away(entries, now, operation)?;
                entries.iter().map(|entry| entry.stored_bytes).sum()
            }
        };
        Ok(Deleted {
            checkpoints: entries.len() as u64,
            stored_bytes,
            operation: Some(operation),
            is_restorable: removal == Removal::Restorable,
        })
    }

    /// Purges some of the checkpoints that were deleted before the time limit.
    pub(in crate::store) fn purge_expired(&mut self, now: Timestamp) -> Result<()> {
        // Dependents of these frames would have to be stored anew.
        if !self.open.has_key() {
            return Ok(());
        }
        let Some(settings) = self.open.settings() else { return Ok(()) };
        let micros = i64::try_from(settings.keep_deleted.duration().as_micros());
        let before = now.as_micros().saturating_sub(micros.unwrap_or(i64::MAX));
        self.purge((Some(Timestamp::from_micros(before)), PURGED_AT_ONCE), now, &mut None).map(drop)
    }

    pub(in crate::store) fn put_away(
        &mut self,
        entries: &[Entry],
        now: Timestamp,
        operation: u64,
    ) -> Result<()> {
        self.note_put_away(entries)?;
        for entry in entries {
            let key = RecordKey::of(entry);
            let record = self.records.remove(key.to_bytes()).within(self.path)?;
            let record = record.map(|record| record.value().to_owned()).ok_or_else(|| {
                Error::corrupt(format!("checkpoint {}", entry.id), "its record is gone")
            })?;
            self.unlist(entry)?;
            let row = deleted_row(now, key);
            let value = encode_deleted(&row, operation, &record);
            let path = self.path;
            self.deleted()?.insert(row, value.as_slice()).within(path)?;
        }
        Ok(())
    }

    /// What can be restored, in the order of deletion.
    fn restorable(&mut self) -> Result<Vec<(DeletedBytes, Restorable)>> {
        self.deleted()?;
        let Some(table) = &self.deleted else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in table.iter().within(self.path)? {
            let (row, value) = row.within(self.path)?;
            let decode = |key, record: &[u8]| self.lookup().decode(key, record);
            let it = unless_damaged(restorable(row.value(), value.value(), decode))?;
            // A damaged one cannot be restored, but the others can.
            found.extend(it.map(|it| (row.value(), it)));
        }
        Ok(found)
    }

    fn restore_all(
        &mut self,
        wanted: Vec<(DeletedBytes, Entry)>,
        now: Timestamp,
    ) -> Result<Vec<Entry>> {
        let restored = wanted.into_iter().map(|(row, entry)| self.restore(row, entry));
        let restored = restored.collect::<Result<Vec<Entry>>>()?;
        if !restored.is_empty() {
            self.log(Operation::new(Action::Undelete, now).on(&restored))?;
        }
        Ok(restored)
    }

    fn restore(&mut self, row: DeletedBytes, entry: Entry) -> Result<Entry> {
        if self.find(&entry.id)?.is_some() {
            return Err(Error::Exists { id: entry.id.to_string() });
        }
        // Its frame may have been stored anew meanwhile.
        let stored_bytes = self.unpacker().bytes(entry.sequence)?.len() as u64;
        let entry = Entry { stored_bytes, ..entry };
        self.insert_record(&entry)?;
        self.list(&entry)?;
        lock(&self.open.intake).reach(entry.order().0);
        // A caller who asked for this id must get it.
        self.fresh.insert(entry.sequence);
        let path = self.path;
        self.deleted()?.remove(row).within(path)?;
        Ok(entry)
    }

    /// Purges some checkpoints deleted before a time, or at any time; returns how many.
    ///
    /// What cannot be removed because of damage stays.
    pub(in crate::store) fn purge(
        &mut self,
        (before, at_once): (Option<Timestamp>, usize),
        now: Timestamp,
        operation: &mut Option<u64>,
    ) -> Result<usize> {
        self.deleted()?;
        let Some(table) = &self.deleted else { return Ok(0) };
        let end = before.map_or([u8::MAX; 22], |time| deleted_row(time, RecordKey::MIN));
        let mut rows = Vec::new();
        for row in table.range([0; 22]..end).within(self.path)? {
            let row = row.within(self.path)?.0.value();
            let (_, key) = deleted_at(row);
            if self.is_detachable(key.sequence)? {
                rows.push((row, key.sequence));
            }
            if rows.len() == at_once {
                break;
            }
        }
        if rows.is_empty() {
            return Ok(0);
        }
        let sequences: Vec<u64> = rows.iter().map(|(_, sequence)| *sequence).collect();
        self.erase(&sequences)?;
        let path = self.path;
        for (row, _) in &rows {
            self.deleted()?.remove(row).within(path)?;
        }
        let count = rows.len() as u64;
        let purged = Operation { checkpoints: count, ..Operation::new(Action::Purge, now) };
        match operation {
            Some(number) => self.log_more(*number, &purged)?,
            // Expired checkpoints are purged a few at a time, with every delete.
            none if before.is_some() => *none = Some(self.log_summed(purged)?),
            none => *none = Some(self.log(purged)?),
        }
        Ok(rows.len())
    }
}

fn count_deleted(snapshot: &Snapshot<'_>) -> Result<u64> {
    match open_if_made(snapshot.transaction(), DELETED, snapshot.path)? {
        Some(table) => table.len().within(snapshot.path),
        None => Ok(0),
    }
}
