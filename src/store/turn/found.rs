//! What the tables say about a store when it is opened.

use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable};

use crate::checkpoint::Timestamp;
use crate::codec::KeyId;
use crate::error::{Error, Result};
use crate::key::{NameId, RecordKey, frame_sequence};
use crate::store::engine::fault::In as _;
use crate::store::engine::names;
use crate::store::engine::table::{
    ARTIFACTS, FORMAT_KEY, FRAMES, HIGHEST_KEY, IDENTITY_KEY, KEY_KEY, LAG_FORMAT, LAG_KEY, META,
    NAMES, RECORDS, REKEY_KEY, SEQUENCE_KEY, SOURCES_FORMAT, open_if_made,
};

/// What the tables say when the file is opened.
pub(in crate::store) struct StoreFacts {
    /// The first sequence that no checkpoint ever had.
    pub(in crate::store) next_sequence: u64,
    pub(in crate::store) next_name: NameId,
    pub(in crate::store) identity: u64,
    /// Whether any file was ever captured.
    pub(in crate::store) has_artifacts: bool,
    /// Whether `SOURCES` has the rows of all checkpoints.
    pub(in crate::store) has_sources: bool,
    /// The latest time in the order of checkpoints.
    pub(in crate::store) highest: Timestamp,
    /// The longest lag, in microseconds; `None` if no date lags behind the order.
    pub(in crate::store) lag_max: Option<u64>,
    /// The key of the store.
    pub(in crate::store) key: Option<KeyId>,
    /// True while a rekey is unfinished: some frames may still use the old key.
    pub(in crate::store) is_rekeying: bool,
}

impl StoreFacts {
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
