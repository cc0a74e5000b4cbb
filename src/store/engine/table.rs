//! The tables, and how a transaction on them begins.

use std::path::Path;

use redb::{
    Database, Durability, Key, ReadOnlyTable, ReadTransaction, TableDefinition, TableError, Value,
    WriteTransaction,
};

use crate::codec::KeyId;
use crate::error::Result;
use crate::key::{
    BlobBytes, DeletedBytes, FrameBytes, HolderBytes, IndexBytes, RecordBytes, SourceBytes,
};
use crate::store::engine::fault::In as _;

/// Facts about the store itself.
pub(in crate::store) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
/// Entries in their order.
pub(in crate::store) const RECORDS: TableDefinition<'_, RecordBytes, &[u8]> =
    TableDefinition::new("records");
/// Documents in the order of arrival, in chunks.
pub(in crate::store) const FRAMES: TableDefinition<'_, FrameBytes, &[u8]> =
    TableDefinition::new("frames");
/// Index: which checkpoints have which name, in their order.
pub(in crate::store) const INDEX: TableDefinition<'_, IndexBytes, ()> =
    TableDefinition::new("index");
/// Names to numbers and back.
pub(in crate::store) const NAMES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("names");
/// Ids from which the key of the record cannot be derived.
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
/// How every process must treat the store.
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

/// What was taken in of the spool: up to where of each log, and names of files.
pub(in crate::store) const TAKEN: TableDefinition<'_, &str, ()> = TableDefinition::new("taken");

/// The key in [`META`] of the format that the store is written in.
pub(in crate::store) const FORMAT_KEY: &str = "format";
/// The key in [`META`] of the first unused sequence, if the frames do not show it.
pub(in crate::store) const SEQUENCE_KEY: &str = "sequence";

/// The key in [`META`] of the first sequence that pruning on save removes for good.
pub(in crate::store) const RING_KEY: &str = "ring";
/// The day of the last daily prune, counted from 1970 in UTC.
pub(in crate::store) const PRUNED_KEY: &str = "pruned";
/// The key in [`META`] of a number that no other store has.
pub(in crate::store) const IDENTITY_KEY: &str = "identity";

/// The key in [`META`] of the id of the store's key.
pub(in crate::store) const KEY_KEY: &str = "key";
/// The key in [`META`] of a mark: some older frames do not have that key yet.
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
/// The format of a store that may have sealed frames.
pub(in crate::store) const SEALED_FORMAT: u32 = 2;
/// The format of a store that never had any.
pub(in crate::store) const PLAIN_FORMAT: u32 = 1;
/// The oldest format that this build reads.
pub(in crate::store) const FORMAT_OLDEST: u32 = 1;

/// Makes the tables of a new store, which is sealed with a key if there is one.
pub(in crate::store) fn create_all(
    transaction: &WriteTransaction,
    key: Option<KeyId>,
) -> Result<(), redb::Error> {
    let mut meta = transaction.open_table(META)?;
    // A plain store can be read by builds that do not know encryption.
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

/// A table that is made when it is first needed; `None` if it does not exist.
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

/// Starts a transaction of the engine.
///
/// A durable commit is synced before the header names it, and once more after. With one sync for
/// both, the header may name pages that a failed sync never wrote. The kernel takes such pages for
/// written, so no later sync writes them, and after a power loss the store could not be opened.
pub(in crate::store) fn begin(
    database: &Database,
    durability: Durability,
) -> Result<WriteTransaction, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(durability)?;
    transaction.set_two_phase_commit(true);
    // Each durable commit lists the free pages, so that a store that was not closed opens without a
    // walk through all pages. Readers open such a store often.
    transaction.set_quick_repair(!matches!(durability, Durability::None));
    Ok(transaction)
}
