//! The tables for reading, opened once for all reads between two commits.
//!
//! Opening them takes about half of a small read. A kept read transaction keeps the engine from
//! reusing the pages of its commit, so every commit drops it.

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
    /// Number of commits when the tables were opened.
    commits: u64,
}

/// The tables of the last commit, if any call has read them.
#[derive(Default)]
pub(in crate::store) struct KeptTables(RwLock<Option<Arc<ReadTables>>>);

impl KeptTables {
    pub(in crate::store) fn forget(&self) {
        *write(&self.0) = None;
    }

    /// The tables of the last of these commits.
    pub(in crate::store) fn get(
        &self,
        (database, commits): (&Database, &AtomicU64),
        path: &Path,
    ) -> Result<Arc<ReadTables>> {
        // Read before the tables are opened: they have every commit counted here, and perhaps a
        // later one.
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
        // Not kept if a commit came meanwhile: that commit has already dropped the kept tables.
        if commits.load(Ordering::Acquire) == before {
            *kept = Some(tables.clone());
        }
        Ok(tables)
    }
}
