//! The tables, and what redb's errors mean to us.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use redb::{
    Database, Key, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable,
    TableDefinition, TableError, Value, WriteTransaction,
};

use crate::checkpoint::Timestamp;
use crate::codec::KeyId;
use crate::error::{Damage, Error, Result};
use crate::key::{
    BlobBytes, DeletedBytes, FrameBytes, HolderBytes, IndexBytes, NameId, RecordBytes, RecordKey,
    SourceBytes, frame_sequence,
};
use crate::store::engine::names;
use crate::store::engine::sectors;

/// Facts about the store itself.
pub(in crate::store) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
/// Entries in their order.
pub(in crate::store) const RECORDS: TableDefinition<'_, RecordBytes, &[u8]> =
    TableDefinition::new("records");
/// Documents in the order of arrival, in chunks.
pub(in crate::store) const FRAMES: TableDefinition<'_, FrameBytes, &[u8]> =
    TableDefinition::new("frames");
/// Which checkpoints have which name, in their order.
pub(in crate::store) const INDEX: TableDefinition<'_, IndexBytes, ()> =
    TableDefinition::new("index");
/// Names to numbers and back.
pub(in crate::store) const NAMES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("names");
/// Ids that do not tell where their record is.
pub(in crate::store) const IDS: TableDefinition<'_, &str, RecordBytes> =
    TableDefinition::new("ids");

/// Which checkpoints came from which file, in their order.
pub(in crate::store) const SOURCES: TableDefinition<'_, SourceBytes, ()> =
    TableDefinition::new("sources");

/// Which checkpoints name another as their parent.
pub(in crate::store) const CHILDREN: TableDefinition<'_, (&str, RecordBytes), ()> =
    TableDefinition::new("children");
/// Entries of checkpoints that were deleted and can be restored, in the order of deletion.
pub(in crate::store) const DELETED: TableDefinition<'_, DeletedBytes, &[u8]> =
    TableDefinition::new("deleted");
/// What was done to the store beside saving.
pub(in crate::store) const OPERATIONS: TableDefinition<'_, u64, &[u8]> =
    TableDefinition::new("operations");
/// How the store is to be treated, whoever opens it.
pub(in crate::store) const SETTINGS: TableDefinition<'_, &str, &[u8]> =
    TableDefinition::new("settings");

/// Files that were captured with checkpoints, in the order of sequences and then of paths.
pub(in crate::store) const ARTIFACTS: TableDefinition<'_, FrameBytes, &[u8]> =
    TableDefinition::new("artifacts");
/// How many checkpoints have a captured content.
pub(in crate::store) const HOLDERS: TableDefinition<'_, HolderBytes, &[u8]> =
    TableDefinition::new("holders");
/// Captured contents by their hashes, in chunks.
pub(in crate::store) const BLOBS: TableDefinition<'_, BlobBytes, &[u8]> =
    TableDefinition::new("blobs");

/// The names of files of the spool whose checkpoints were taken in.
pub(in crate::store) const TAKEN: TableDefinition<'_, &str, ()> = TableDefinition::new("taken");

/// The key in [`META`] of the format that the store is written in.
pub(in crate::store) const FORMAT_KEY: &str = "format";
/// The key in [`META`] of the first sequence not used yet, where the frames do not tell.
pub(in crate::store) const SEQUENCE_KEY: &str = "sequence";

/// The key in [`META`] of the first sequence that pruning on save removes for good.
pub(in crate::store) const RING_KEY: &str = "ring";
/// The day of the last daily prune, counted from 1970 in UTC.
pub(in crate::store) const PRUNED_KEY: &str = "pruned";
/// The key in [`META`] of a number that no other store has.
pub(in crate::store) const IDENTITY_KEY: &str = "identity";

/// The key in [`META`] of the id of the key that everything is sealed with.
pub(in crate::store) const KEY_KEY: &str = "key";
/// The key in [`META`] of a mark: what was there before has not all taken that key yet.
pub(in crate::store) const REKEY_KEY: &str = "rekey";

/// The key in [`META`] of the longest lag of any checkpoint ever written: by how many microseconds
/// its date is behind its place in the order.
pub(in crate::store) const LAG_KEY: &str = "lag";
/// The key in [`META`] of the latest order time of any checkpoint that was ever deleted and could
/// be restored.
pub(in crate::store) const HIGHEST_KEY: &str = "highest";

/// The newest format that this build reads and writes.
pub(in crate::store) const FORMAT: u32 = SOURCES_FORMAT;
/// The format of a store that has [`SOURCES`]; its dates may lag and its frames be sealed, too.
pub(in crate::store) const SOURCES_FORMAT: u32 = 4;
/// The format of a store whose dates may lag behind the order; it may have sealed frames, too.
pub(in crate::store) const LAG_FORMAT: u32 = 3;
/// What a store has that may have sealed frames.
pub(in crate::store) const SEALED_FORMAT: u32 = 2;
/// What a store has that never had any.
pub(in crate::store) const PLAIN_FORMAT: u32 = 1;
/// The oldest format that this build reads.
pub(in crate::store) const FORMAT_OLDEST: u32 = 1;

/// Makes the tables of a new store, which is sealed with a key if there is one.
pub(in crate::store) fn create_all(
    transaction: &WriteTransaction,
    key: Option<KeyId>,
) -> Result<(), redb::Error> {
    let mut meta = transaction.open_table(META)?;
    // What is not sealed can be read by those who know nothing of it.
    let format = if key.is_some() { SEALED_FORMAT } else { PLAIN_FORMAT };
    meta.insert(FORMAT_KEY, u64::from(format))?;
    if let Some(key) = key {
        meta.insert(KEY_KEY, key.number())?;
    }
    meta.insert(IDENTITY_KEY, uuid::Uuid::new_v4().as_u64_pair().0)?;
    transaction.open_table(RECORDS)?;
    transaction.open_table(FRAMES)?;
    transaction.open_table(INDEX)?;
    transaction.open_table(NAMES)?;
    transaction.open_table(IDS)?;
    Ok(())
}

/// A table that is made only when it is first needed; `None` if it never was.
pub(in crate::store) fn open_if_made<K: Key + 'static, V: Value + 'static>(
    transaction: &ReadTransaction,
    definition: TableDefinition<'_, K, V>,
    path: &Path,
) -> Result<Option<ReadOnlyTable<K, V>>> {
    match transaction.open_table(definition) {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error).within(path),
    }
}

/// What the tables say when the file is opened.
pub(in crate::store) struct Found {
    /// The first sequence that no checkpoint ever had.
    pub(in crate::store) next_sequence: u64,
    pub(in crate::store) next_name: NameId,
    pub(in crate::store) identity: u64,
    /// Whether any file was ever captured.
    pub(in crate::store) has_artifacts: bool,
    /// Whether [`SOURCES`] has the rows of all checkpoints.
    pub(in crate::store) has_sources: bool,
    /// The latest time in the order of checkpoints.
    pub(in crate::store) highest: Timestamp,
    /// The longest lag, in microseconds; `None` if no date lags behind the order.
    pub(in crate::store) lag_max: Option<u64>,
    /// What everything is sealed with.
    pub(in crate::store) key: Option<KeyId>,
    /// Whether some may still be as it was before that.
    pub(in crate::store) is_rekeying: bool,
}

impl Found {
    pub(in crate::store) fn read(database: &Database, path: &Path) -> Result<Self> {
        let transaction = database.begin_read().within(path)?;
        let frames = transaction.open_table(FRAMES).within(path)?;
        let last = frames.last().within(path)?.map(|(key, _)| frame_sequence(key.value()));
        let meta = transaction.open_table(META).within(path)?;
        let noted = |key| Ok(meta.get(key).within(path)?.map(|value| value.value()));
        let identity = noted(IDENTITY_KEY)?.ok_or_else(|| Error::corrupt("meta", "no identity"))?;
        let names = transaction.open_table(NAMES).within(path)?;
        let records = transaction.open_table(RECORDS).within(path)?;
        let newest = records.last().within(path)?;
        let newest = newest.map_or(RecordKey::MIN, |(key, _)| RecordKey::from_bytes(key.value()));
        let reached = noted(HIGHEST_KEY)?.map(u64::cast_signed).map(Timestamp::from_micros);
        let may_lag = noted(FORMAT_KEY)? >= Some(LAG_FORMAT.into());
        let lag_max = noted(LAG_KEY)?.unwrap_or(0);
        Ok(Self {
            highest: reached.map_or(newest.time, |reached| reached.max(newest.time)),
            lag_max: may_lag.then_some(lag_max),
            next_sequence: last.map_or(1, |last| last + 1).max(noted(SEQUENCE_KEY)?.unwrap_or(1)),
            next_name: names::next_id(&names, path)?,
            identity,
            key: noted(KEY_KEY)?.map(KeyId::from_number),
            is_rekeying: noted(REKEY_KEY)?.is_some(),
            has_artifacts: open_if_made(&transaction, ARTIFACTS, path)?.is_some(),
            has_sources: noted(FORMAT_KEY)? >= Some(SOURCES_FORMAT.into()),
        })
    }
}

/// What is said of keys that lead back.
pub(in crate::store) const OUT_OF_ORDER: &str = "its keys are out of order";

/// Names the store that an error of redb is about.
pub(in crate::store) trait In<T> {
    fn within(self, path: &Path) -> Result<T>;
}

impl<T, E: Into<redb::Error>> In<T> for Result<T, E> {
    fn within(self, path: &Path) -> Result<T> {
        self.map_err(|error| engine_error(error.into(), path))
    }
}

pub(in crate::store) fn engine_error(error: redb::Error, path: &Path) -> Error {
    match error {
        redb::Error::Io(source) => sectors::failed(path, source),
        redb::Error::PreviousIo => {
            let source = io::Error::other("an earlier read or write failed; it is opened anew");
            sectors::failed_before(path, source)
        }
        other => Error::corrupt_store(Damage::Engine, path, other),
    }
}

/// Runs `work`, and turns a panic of the engine over damaged pages into an error.
///
/// What the panic says is about the engine's own code, and tells nobody what to do.
pub(in crate::store) fn without_panics<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Error::corrupt_store(Damage::Engine, path, "a page that it takes is damaged"))
    })
}
