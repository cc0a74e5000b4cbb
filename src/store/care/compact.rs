//! Compacting: compresses documents more thoroughly, removes unused names, fills pages, and gives
//! free ones back to the file system.
//!
//! The engine's compaction commits with one sync and cannot be told otherwise. If that sync fails,
//! the kernel counts pages as written that are not on disk. Then the file is written anew, as it is
//! read, and synced, before any other process can have it; what the last whole commit needs does
//! not change by that. If that fails too, the caller gets the error, and it is tried again before
//! the file is used or let go.

mod contents;
mod repack;
mod tighten;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use redb::Durability;
use serde::Serialize;

use crate::codec::encode_entry;
use crate::error::{At, Error, Result};
use crate::key::{NameId, Span};
use crate::store::Store;
use crate::store::engine::fault::In;
use crate::store::engine::location;
use crate::store::transaction::snapshot::Snapshot;
use crate::store::transaction::writer::transact;
use crate::store::turn::enter::Patience;
use crate::store::turn::open::Open;
use crate::store::watch::{Stage, Step, Watch, unwatched};

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
    /// Stores everything in as few bytes as it can, and gives free space back to the file system.
    /// No other call runs meanwhile, except between parts of the compression.
    ///
    /// What was deleted cannot be restored any more. Documents are compressed more thoroughly than
    /// a save has time for: once each, however often this is called.
    ///
    /// Time grows with the size of the store, and with what was saved since the last call: some
    /// 0.3 ms for a document of 25 KB.
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
        let (mut purged, mut filled) = (0, Ok(()));
        if self.purge(watch, &mut purged)?.is_continue()
            && self.shared.make_room(|| self.squeeze(watch))?.is_continue()
        {
            filled = match self.tighten_and_fill(watch) {
                // It needs room that a full disk does not have, and the essential work is done.
                Err(Error::Io { .. }) if !self.shared.turn.is_unwritten() => Ok(()),
                filled => filled,
            };
        }
        // Closing writes a few pages more; the length that stays is that of the closed file.
        self.shared.let_go();
        self.close_again();
        // What was purged must not come back, whatever else failed.
        self.forget_names()?;
        filled?;
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

    fn tighten_and_fill(&self, watch: Watch<'_>) -> Result<()> {
        if self.tighten(watch)?.is_break() {
            return Ok(());
        }
        let takes_in = self.shared.take_in_if_room()?;
        self.shared.alone(|open| {
            // Other processes may have saved since, and a durable commit must include their saves.
            if takes_in {
                self.shared.take_in(open)?;
            }
            self.shared.settle_for_good(open)?;
            if repack::all(open, self.path(), watch)?.is_continue() {
                self.shrink(open, watch).map(drop)
            } else {
                Ok(())
            }
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
