//! Compacting: removes unused names, and gives free pages back to the file system.
//!
//! The engine's compaction commits with one sync and cannot be told otherwise. If that sync fails,
//! the kernel counts pages as written that are not on disk. Then the file is written anew, as it is
//! read, and synced, before any other process can have it; what the last whole commit needs does
//! not change by that. If that fails too, the caller gets the error, and it is tried again before
//! the file is used or let go.

mod contents;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use redb::{
    Durability, Key, ReadableTable as _, ReadableTableMetadata as _, TableDefinition, Value,
};
use serde::Serialize;

use crate::codec::encode_entry;
use crate::error::{At, Error, Result};
use crate::key::{NameId, Span};
use crate::store::Store;
use crate::store::engine::fault::In;
use crate::store::engine::location;
use crate::store::engine::table::{
    ARTIFACTS, BLOBS, FRAMES, HOLDERS, INDEX, RECORDS, SOURCES, begin,
};
use crate::store::transaction::snapshot::Snapshot;
use crate::store::transaction::writer::transact;
use crate::store::turn::enter::Patience;
use crate::store::turn::open::Open;
use crate::store::watch::{Stage, Step, Watch, unwatched};

// When a table is rewritten: its empty room is at least this many bytes, and this part of it.
const WORTH_BYTES: u64 = 16 << 10;
const WORTH_PART: u64 = 3;

/// What [`Store::compact`] achieved.
///
/// ```
/// use waypost::{NewEntry, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::issue("42")?, &"state")?;
/// store.delete(&[saved.id])?;
/// let compacted = store.compact()?; // What was deleted cannot be restored any more.
/// assert_eq!(compacted.purged, 1);
/// assert!(compacted.after_bytes <= compacted.before_bytes);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Compacted {
    /// Length of the file before.
    pub before_bytes: u64,
    /// Length of the file after.
    pub after_bytes: u64,
    /// Number of deleted checkpoints that can no longer be restored.
    pub purged: u64,
}

impl Store {
    /// Gives free space back to the file system. No other call runs meanwhile.
    ///
    /// What was deleted cannot be restored any more.
    ///
    /// Time grows with the size of the store.
    ///
    /// # Errors
    /// If the store cannot be read or written; what it holds is then as it was.
    pub fn compact(&self) -> Result<Compacted> {
        self.compact_with(&mut unwatched)
    }

    /// As [`Store::compact`]; `watch` gets each stage and may end the call; see [`Step`].
    ///
    /// Moving pages is one step for each round, without progress within it.
    ///
    /// # Errors
    /// As [`Store::compact`].
    pub fn compact_with(
        &self,
        watch: &mut dyn FnMut(Step) -> ControlFlow<()>,
    ) -> Result<Compacted> {
        let path = self.path();
        let before_bytes = self.shared.turn.disk().look(path).at(path)?.bytes;
        let mut purged = 0;
        if self.purge(watch, &mut purged)?.is_continue()
            && self.shared.make_room(|| self.squeeze(watch))?.is_continue()
        {
            match self.fill(watch) {
                Ok(()) => {}
                // It needs room that a full disk does not have, and the essential work is done.
                Err(Error::Io { .. }) if !self.shared.turn.is_unwritten() => {}
                Err(error) => return Err(error),
            }
        }
        // Closing writes a few pages more; the length that stays is that of the closed file.
        self.shared.let_go();
        self.close_again();
        self.forget_names()?;
        let after_bytes = self.shared.turn.disk().look(path).at(path)?.bytes;
        Ok(Compacted { before_bytes, after_bytes, purged })
    }

    /// Opens the file and closes it again, so that a later read finds the length that stays.
    ///
    /// Each close records which pages are free, while the record of the last close is still there.
    /// Moving pages removes that record, so the first close after it makes one, and only the second
    /// close finds out how much room two of them take.
    fn close_again(&self) {
        // If another process has the file, its close does the same; if the file cannot be opened,
        // the next call reports that.
        let _ = self.shared.turn.within(Patience::Until(Instant::now()), |_| Ok(()));
        self.shared.let_go();
    }

    /// Makes the removal of the journal and of spool files durable: a power loss could bring them
    /// back, and with them what was deleted, or had another key.
    fn forget_names(&self) -> Result<()> {
        let directory = location::parent(self.path());
        self.shared.turn.disk().sync_directory(directory).at(directory)?;
        self.shared.spool.sync().at(directory)
    }

    /// Removes what no checkpoint uses any more, and moves the rest together.
    fn squeeze(&self, watch: Watch<'_>) -> Result<ControlFlow<()>> {
        let path = self.path();
        let takes_in = self.shared.take_in_if_room()?;
        self.shared.alone(|open| {
            if watch(Step::named(Stage::Sweep, 0)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if takes_in {
                self.shared.take_in(open)?;
            }
            self.shared.settle_for_good(open)?;
            sweep_names(open, path)?;
            sweep_artifacts(open, path)?;
            self.shrink(open, watch)
        })
    }

    /// Rewrites tables that have enough empty room.
    fn fill(&self, watch: Watch<'_>) -> Result<()> {
        let path = self.path();
        let takes_in = self.shared.take_in_if_room()?;
        self.shared.alone(|open| {
            // Other processes may have saved since, and a durable commit must include their saves.
            if takes_in {
                self.shared.take_in(open)?;
            }
            self.shared.settle_for_good(open)?;
            let has_artifacts = open.has_artifacts.load(Ordering::Relaxed);
            let tables: &[fn(&Open, &Path) -> Result<bool>] = &[
                |open, path| repack(open, RECORDS, path),
                |open, path| repack(open, FRAMES, path),
                |open, path| repack(open, INDEX, path),
                |open, path| repack(open, SOURCES, path),
                |open, path| repack(open, ARTIFACTS, path),
                |open, path| repack(open, HOLDERS, path),
                |open, path| repack(open, BLOBS, path),
            ];
            let tables = if has_artifacts { tables } else { &tables[..4] };
            let mut is_worth = false;
            for (done, repack) in tables.iter().enumerate() {
                if watch(Step::of(Stage::Repack, done, tables.len())).is_break() {
                    return Ok(());
                }
                is_worth |= repack(open, path)?;
            }
            if is_worth { self.shrink(open, watch).map(drop) } else { Ok(()) }
        })
    }

    /// Moves pages together, and truncates the file.
    fn shrink(&self, open: &mut Open, watch: Watch<'_>) -> Result<ControlFlow<()>> {
        let path = self.path();
        for round in 0.. {
            if watch(Step::named(Stage::Shrink, round)).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            // Each round can free what the next one moves; it reports when nothing is left.
            open.tables.forget();
            match open.database.compact().within(path) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    // The engine moves pages by commits with one sync. If that sync failed, nothing
                    // may be built on them. The engine knows of the failure, and writes nothing
                    // more.
                    if matches!(error, Error::Io { .. }) {
                        self.shared.turn.mend(open)?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Rewrites a table that has much empty room; returns whether it did.
///
/// Rows of the index grow at many places, and rows that are removed leave gaps; so pages are half
/// empty, and moving them does not change that.
fn repack<K: Key, V: Value>(
    open: &Open,
    definition: TableDefinition<'static, K, V>,
    path: &Path,
) -> Result<bool> {
    let full = TableDefinition::<K, V>::new("full");
    let transaction = begin(&open.database, Durability::Immediate).within(path)?;
    {
        let table = transaction.open_table(definition).within(path)?;
        let stats = table.stats().within(path)?;
        let (room, used) = (stats.fragmented_bytes(), stats.stored_bytes());
        if room < WORTH_BYTES || room * WORTH_PART < used {
            return Ok(false);
        }
        let mut full = transaction.open_table(full).within(path)?;
        for row in table.iter().within(path)? {
            let (key, value) = row.within(path)?;
            full.insert(key.value(), value.value()).within(path)?;
        }
    }
    transaction.delete_table(definition).within(path)?;
    transaction.rename_table(full, definition).within(path)?;
    transaction.commit().within(path)?;
    Ok(true)
}

/// Removes the names of checkpoints that are gone. Otherwise a store would keep the names of a
/// million deleted loops for ever.
fn sweep_names(open: &Open, path: &Path) -> Result<()> {
    let used = match used_names(open, path) {
        Ok(used) => used,
        // The names of a damaged entry are unknown, so all names stay.
        Err(Error::Corrupt { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    transact(open, path, Durability::Immediate, |writer| writer.retain_names(&used))?;
    open.names.clear();
    Ok(())
}

/// Removes contents without a checkpoint that a damaged `holders` row kept, and mends these rows.
fn sweep_artifacts(open: &Open, path: &Path) -> Result<()> {
    if !open.has_artifacts.load(Ordering::Relaxed) {
        return Ok(());
    }
    let holding = match Snapshot::take(open, path)?.holding() {
        Ok(holding) => holding,
        // The contents of a damaged checkpoint are unknown, so all contents stay.
        Err(Error::Corrupt { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    transact(open, path, Durability::Immediate, |writer| writer.sweep_artifacts(holding))
}

fn used_names(open: &Open, path: &Path) -> Result<HashSet<NameId>> {
    let snapshot = Snapshot::take(open, path)?;
    let mut used = HashSet::new();
    // A checkpoint that damage kept from being purged still needs its names.
    let left = snapshot.restorable()?.into_iter().map(|left| Ok(left.entry));
    for entry in snapshot.entries(Span::ALL)?.chain(left) {
        // Writing an entry looks up each of its names.
        encode_entry(&entry?, &mut |kind, name| {
            let id = snapshot.name(kind, name)?;
            let id = id.ok_or_else(|| Error::corrupt("names", "a name has no number"))?;
            used.insert(id);
            Ok::<_, Error>(id)
        })?;
    }
    Ok(used)
}
