//! Entries by their keys and ids, in a read or a write transaction.

use std::path::Path;
use std::sync::Arc;

use redb::ReadableTable;

use crate::checkpoint::{Entry, Id, Timestamp};
use crate::codec::{NameKind, decode_entry, decode_id, may_have_tail};
use crate::error::{Error, Result};
use crate::key::{NameId, RecordBytes, RecordKey, Span};
use crate::store::engine::fault::In;
use crate::store::engine::names::Names;

/// What turns records into entries, in a read or a write transaction.
pub(in crate::store) struct Lookup<'a, N> {
    pub(in crate::store) known: &'a Names,
    pub(in crate::store) path: &'a Path,
    pub(in crate::store) names: &'a N,
}

impl<N: ReadableTable<&'static [u8], &'static [u8]>> Lookup<'_, N> {
    pub(in crate::store) fn decode(&self, key: RecordKey, bytes: &[u8]) -> Result<Entry> {
        let failure = std::cell::Cell::new(None);
        let lookup = |kind, id| match self.known.lookup(self.names, id, self.path) {
            Ok(pair) => pair.filter(|(found, _)| *found == kind).map(|(_, name)| name),
            Err(error) => {
                failure.set(Some(error));
                None
            }
        };
        let entry = decode_entry(key, bytes, &lookup);
        entry.map_err(|reason| {
            failure.take().unwrap_or_else(|| Error::corrupt(key.to_string(), reason))
        })
    }

    /// The text of a name.
    pub(in crate::store) fn name(&self, kind: NameKind, id: NameId) -> Result<Arc<str>> {
        let found = self.known.lookup(self.names, id, self.path)?;
        let name = found.filter(|(found, _)| *found == kind).map(|(_, name)| name);
        name.ok_or_else(|| Error::corrupt(format!("name {id}"), "it is not there"))
    }

    /// The entry of a checkpoint: by the row of its id, else by the time in the id.
    pub(in crate::store) fn find(
        &self,
        ids: &impl ReadableTable<&'static str, RecordBytes>,
        records: &impl ReadableTable<RecordBytes, &'static [u8]>,
        id: &Id,
    ) -> Result<Option<Entry>> {
        if let Some(key) = ids.get(id.as_str()).within(self.path)? {
            let key = RecordKey::from_bytes(key.value());
            let row = records.get(key.to_bytes()).within(self.path)?;
            let row = row.ok_or_else(|| lost(id.as_str()))?;
            let entry = self.decode(key, row.value())?;
            return if entry.id == *id { Ok(Some(entry)) } else { Err(lost(id.as_str())) };
        }
        let Some(((_, tail), (from, to))) = id.parts().zip(id_times(id.as_str())) else {
            return Ok(None);
        };
        let Span { from, to, .. } = Span::of_times(from, to);
        // Many checkpoints may be of the same millisecond, so the first round skips rows that seem
        // to have another id, without checking them. If it finds nothing, the row may be damaged,
        // and the second round checks all.
        for is_unchecked in [true, false] {
            for row in records.range(from.to_bytes()..to.to_bytes()).within(self.path)? {
                let (key, value) = row.within(self.path)?;
                if is_unchecked && !may_have_tail(value.value(), &tail) {
                    continue;
                }
                let key = RecordKey::from_bytes(key.value());
                let found = decode_id(key, value.value());
                if found.map_err(|reason| Error::corrupt(key.to_string(), reason))? == *id {
                    return self.decode(key, value.value()).map(Some);
                }
            }
        }
        Ok(None)
    }
}

// A shorter prefix fits more than a month of checkpoints, and would have to check all of them.
const PREFIX_MIN: usize = 4;

/// Whether `prefix` may start an id made by the store, but is too short.
pub(crate) fn is_too_short(prefix: &str) -> bool {
    prefix.len() < PREFIX_MIN && prefix.bytes().all(is_hex)
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'a'..=b'f')
}

/// The times that an id starting with `prefix` can have if it is a UUIDv7.
pub(super) fn id_times(prefix: &str) -> Option<(Timestamp, Timestamp)> {
    const DIGITS: u32 = 12;
    let digits = prefix.split('-').take(2).flat_map(str::chars).take(DIGITS as usize);
    let digits: String = digits.collect();
    if digits.len() < PREFIX_MIN || !digits.bytes().all(is_hex) {
        return None;
    }
    let missing = 4 * (DIGITS - u32::try_from(digits.len()).ok()?);
    let first = i64::from_str_radix(&digits, 16).ok()? << missing;
    let micros = |millis: i64| millis.checked_mul(1000).map(Timestamp::from_micros);
    let last = first.checked_add(1 << missing)?;
    Some((micros(first)?, micros(last).unwrap_or(Timestamp::from_micros(i64::MAX))))
}

pub(super) fn lost(id: &str) -> Error {
    Error::corrupt(format!("checkpoint {id}"), "the row of its id does not lead to its entry")
}

pub(crate) fn not_found(id: &Id) -> Error {
    Error::NotFound { wanted: id.to_string().into() }
}
