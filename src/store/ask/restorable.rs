//! Deleted checkpoints that can be restored.

use redb::ReadableTable as _;
use serde::Serialize;

use crate::checkpoint::{Entry, Timestamp};
use crate::codec::decode_deleted;
use crate::error::{Error, Result};
use crate::key::{DeletedBytes, RecordKey, deleted_at};
use crate::store::engine::fault::In;
use crate::store::engine::table::{DELETED, open_if_made};
use crate::store::transaction::snapshot::Snapshot;

/// A checkpoint that was deleted and can be restored.
///
/// ```
/// use waypost::{NewEntry, Query, Store};
///
/// # fn main() -> waypost::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path().join("store.redb"))?;
/// let saved = store.save(NewEntry::issue("42")?, &"state")?;
/// store.delete(&[saved.id.clone()])?;
/// let deleted = store.deleted(&Query::issue("42")?)?;
/// assert_eq!(deleted[0].entry.id, saved.id);
/// store.undelete_operation(deleted[0].operation)?;
/// assert_eq!(store.count()?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Restorable {
    /// The checkpoint.
    #[serde(flatten)]
    pub entry: Entry,
    /// When it was deleted.
    pub deleted_at: Timestamp,
    /// The number of the operation that deleted it.
    pub operation: u64,
}

impl Snapshot<'_> {
    /// What can be restored, in the order of deletion.
    pub(crate) fn restorable(&self) -> Result<Vec<Restorable>> {
        self.restorable_each()?.into_iter().collect()
    }

    /// As [`Snapshot::restorable`], one result each: a damaged one hides no other.
    pub(crate) fn restorable_each(&self) -> Result<Vec<Result<Restorable>>> {
        let Some(table) = open_if_made(self.transaction(), DELETED, self.path)? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for row in table.iter().within(self.path)? {
            let (row, value) = row.within(self.path)?;
            let decode = |key, record: &[u8]| self.decode(key, record);
            match restorable(row.value(), value.value(), decode) {
                Err(error) if error.is_of_engine() => return Err(error),
                each => found.push(each),
            }
        }
        Ok(found)
    }
}

pub(in crate::store) fn restorable(
    row: DeletedBytes,
    value: &[u8],
    decode: impl FnOnce(RecordKey, &[u8]) -> Result<Entry>,
) -> Result<Restorable> {
    let (deleted_at, key) = deleted_at(row);
    let found = decode_deleted(&row, value)
        .ok_or_else(|| Error::corrupt(format!("deleted {key}"), "checksum differs"))?;
    let entry = decode(key, found.record)?;
    Ok(Restorable { entry, deleted_at, operation: found.operation })
}
