//! The tables for reading, as one commit left them: opened once for all reads until the next.
//!
//! Opening them takes about half of what a small read costs. The engine cannot use the pages again
//! that a kept commit has, so every commit forgets it.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use redb::{Database, ReadOnlyTable, ReadTransaction, ReadableDatabase as _};

use crate::error::Result;
use crate::key::{FrameBytes, IndexBytes, RecordBytes};
use crate::store::engine::fault::In;
use crate::store::engine::table::{FRAMES, IDS, INDEX, NAMES, RECORDS};
use crate::sync::{read, write};

pub(in crate::store) struct ReadTables {
    pub(in crate::store) transaction: ReadTransaction,
    pub(in crate::store) records: ReadOnlyTable<RecordBytes, &'static [u8]>,
    pub(in crate::store) frames: ReadOnlyTable<FrameBytes, &'static [u8]>,
    pub(in crate::store) index: ReadOnlyTable<IndexBytes, ()>,
    pub(in crate::store) names: ReadOnlyTable<&'static [u8], &'static [u8]>,
    pub(in crate::store) ids: ReadOnlyTable<&'static str, RecordBytes>,
    /// The number of commits before.
    commits: u64,
}

/// The tables of the last commit, if any call has read them.
#[derive(Default)]
pub(in crate::store) struct KeptTables(RwLock<Option<Arc<ReadTables>>>);

impl KeptTables {
    pub(in crate::store) fn forget(&self) {
        *write(&self.0) = None;
    }

    /// The tables as the last of these commits left them.
    pub(in crate::store) fn get(
        &self,
        (database, commits): (&Database, &AtomicU64),
        path: &Path,
    ) -> Result<Arc<ReadTables>> {
        // Asked first: a commit after this may be in the tables, and one before it is.
        let before = commits.load(Ordering::Acquire);
        if let Some(kept) = read(&self.0).as_ref().filter(|kept| kept.commits == before) {
            return Ok(kept.clone());
        }
        let transaction = database.begin_read().within(path)?;
        let tables = Arc::new(ReadTables {
            records: transaction.open_table(RECORDS).within(path)?,
            frames: transaction.open_table(FRAMES).within(path)?,
            index: transaction.open_table(INDEX).within(path)?,
            names: transaction.open_table(NAMES).within(path)?,
            ids: transaction.open_table(IDS).within(path)?,
            transaction,
            commits: before,
        });
        let mut kept = write(&self.0);
        // A commit that came meanwhile must find nothing to forget.
        if commits.load(Ordering::Acquire) == before {
            *kept = Some(tables.clone());
        }
        Ok(tables)
    }
}
