//! What a store holds, in numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use serde::Serialize;

use crate::checkpoint::{Entry, Status, Timestamp, Trigger};
use crate::codec::KeyId;
use crate::error::{At, Error, Result};
use crate::key::Span;
use crate::store::turn::taken::taken;
use crate::store::{Spooled, Store};

/// What a store holds.
///
/// ```
/// use waypost::{NewEntry, Store, Trigger};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// store.save(NewEntry::issue("42")?.trigger(Trigger::Manual), &"state")?;
/// let stats = store.stats()?;
/// assert_eq!((stats.checkpoints, stats.series, stats.spool.checkpoints), (1, 1, 0));
/// assert_eq!(stats.triggers[&Trigger::Manual], 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// Number of series.
    pub series: u64,
    /// Length of all documents in stored form, before compression.
    pub document_bytes: u64,
    /// Length of all documents as compressed.
    pub stored_bytes: u64,
    /// Number of files that were captured with them; each counts once for every checkpoint.
    pub artifacts: u64,
    /// Length of all captured contents as compressed: each counts once, whatever the number of its
    /// checkpoints. Includes those of deleted checkpoints.
    pub artifact_bytes: u64,
    /// Length of the file, indexes and free pages included.
    pub file_bytes: u64,
    /// What waits in the spool.
    pub spool: Spooled,
    /// The key that documents and captured files are encrypted with, if they are.
    pub key: Option<KeyId>,
    /// True while a [`Store::rekey`](crate::Store::rekey) is unfinished: some frames may still use
    /// another key or none.
    pub is_rekeying: bool,
    /// Number of checkpoints that were deleted and can be restored.
    pub deleted: u64,
    /// Length of their documents as compressed.
    pub deleted_bytes: u64,
    /// Number of damaged entries, those of deleted checkpoints included. No other number counts
    /// them.
    pub damaged: u64,
    /// The time of the oldest checkpoint.
    pub oldest: Option<Timestamp>,
    /// The time of the newest checkpoint.
    pub newest: Option<Timestamp>,
    /// Number of checkpoints by trigger.
    pub triggers: BTreeMap<Trigger, u64>,
    /// Number of checkpoints by status.
    pub statuses: BTreeMap<Status, u64>,
}

impl Store {
    /// Counts what the store holds.
    ///
    /// Reads every entry, but no document: about a second for a million checkpoints. Reads two rows
    /// of each captured content.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn stats(&self) -> Result<Stats> {
        let mut stats = self.read(|snapshot| {
            let mut stats = Stats::default();
            let mut series = BTreeSet::new();
            for entry in snapshot.entries(Span::ALL)? {
                let Some(entry) = stats.taken(entry)? else { continue };
                stats.add(&entry);
                series.insert(entry.series);
            }
            stats.series = series.len() as u64;
            for deleted in snapshot.restorable_each()? {
                let Some(deleted) = stats.taken(deleted)? else { continue };
                stats.deleted += 1;
                stats.deleted_bytes += deleted.entry.stored_bytes;
            }
            stats.artifact_bytes = snapshot.blob_bytes()?;
            stats.key = snapshot.open.key();
            stats.is_rekeying = snapshot.open.is_rekeying.load(Ordering::Relaxed);
            Ok(stats)
        })?;
        stats.spool = Spooled::of(self.shared.turn.place(), taken);
        stats.file_bytes = self.shared.turn.disk().look(self.path()).at(self.path())?.bytes;
        Ok(stats)
    }
}

impl Stats {
    /// Counts what is damaged, and goes on.
    fn taken<T>(&mut self, read: Result<T>) -> Result<Option<T>> {
        match read {
            Err(error @ Error::Corrupt { .. }) if !error.is_of_engine() => {
                self.damaged += 1;
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    fn add(&mut self, entry: &Entry) {
        self.checkpoints += 1;
        self.document_bytes += entry.document_bytes;
        self.stored_bytes += entry.stored_bytes;
        self.artifacts += entry.artifact_count;
        self.oldest = self.oldest.or(Some(entry.created_at));
        self.newest = Some(entry.created_at);
        *self.triggers.entry(entry.trigger.clone()).or_default() += 1;
        *self.statuses.entry(entry.status).or_default() += 1;
    }
}
