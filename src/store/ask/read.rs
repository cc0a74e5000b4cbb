//! Reading: one snapshot of the file, and the questions that can be asked of it.

use std::path::Path;
use std::sync::Arc;

use redb::{
    ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata as _,
};

use crate::checkpoint::{Checkpoint, Entry, Id, Series, Timestamp};
use crate::codec::{FoundFrame, NameKind, decode_dependents, decode_entry, decode_id};
use crate::error::{Error, Result};
use crate::key::{
    FrameBytes, IndexBytes, NameId, Order, RecordBytes, RecordKey, Span, dependents_row, frame_row,
    index_row, indexed_cause, indexed_key,
};
use crate::store::chain::choice::{Chain, STEPS_MAX, is_too_long};
use crate::store::chain::unpack::Unpacker;
use crate::store::engine::fault::{In, OUT_OF_ORDER};
use crate::store::engine::names::{self, Names};
use crate::store::engine::table::{FRAMES, IDS, INDEX, NAMES, RECORDS};
use crate::store::turn::open::Open;
use crate::sync::read;

// So many of a series may be dated ahead of what was saved after them, and that is still found.
const DATED_AHEAD_MAX: usize = 16;

/// A consistent view of the store, for as long as it lives.
pub(crate) struct Snapshot<'a> {
    pub(in crate::store) open: &'a Open,
    pub(in crate::store) path: &'a Path,
    pub(in crate::store) transaction: ReadTransaction,
    records: ReadOnlyTable<RecordBytes, &'static [u8]>,
    names: ReadOnlyTable<&'static [u8], &'static [u8]>,
}

impl<'a> Snapshot<'a> {
    pub(in crate::store) fn take(open: &'a Open, path: &'a Path) -> Result<Self> {
        let transaction = open.database.begin_read().within(path)?;
        let records = transaction.open_table(RECORDS).within(path)?;
        let names = transaction.open_table(NAMES).within(path)?;
        Ok(Self { open, path, transaction, records, names })
    }

    /// The number of a name, or `None` if no checkpoint ever had it.
    pub(crate) fn name(&self, kind: NameKind, name: &str) -> Result<Option<NameId>> {
        self.open.names.find(&self.names, &(kind, Arc::from(name)), self.path)
    }

    /// All names of a kind, with their numbers.
    pub(crate) fn names(&self, kind: NameKind) -> Result<Vec<(String, NameId)>> {
        names::of_kind(&self.names, kind, self.path)
    }

    /// The longest lag of a date behind the order, in microseconds.
    pub(crate) fn lag_max(&self) -> u64 {
        read(&self.open.lag_max).unwrap_or(0)
    }

    /// How many entries there are.
    pub(in crate::store) fn count(&self) -> Result<u64> {
        self.records.len().within(self.path)
    }

    /// The entry at `key`, or `None` if there is none.
    pub(crate) fn entry(&self, key: RecordKey) -> Result<Option<Entry>> {
        let row = self.records.get(key.to_bytes()).within(self.path)?;
        row.map(|row| self.decode(key, row.value())).transpose()
    }

    /// The entries of a span.
    pub(crate) fn entries(&self, span: Span) -> Result<impl Iterator<Item = Result<Entry>>> {
        let Span { from, to, order } = span;
        let rows = self.records.range(from.to_bytes()..to.to_bytes()).within(self.path)?;
        let mut rows = Directed { rows, order };
        Ok(std::iter::from_fn(move || {
            let row = rows.next()?.within(self.path);
            Some(row.and_then(|(key, value)| {
                self.decode(RecordKey::from_bytes(key.value()), value.value())
            }))
        }))
    }

    /// The keys of all entries, from the oldest to the newest.
    pub(in crate::store) fn keys(
        &self,
    ) -> Result<impl DoubleEndedIterator<Item = Result<RecordKey>>> {
        let rows = self.records.iter().within(self.path)?;
        Ok(rows.map(|row| Ok(RecordKey::from_bytes(row.within(self.path)?.0.value()))))
    }

    /// The keys of checkpoints that have names.
    pub(crate) fn index(&self) -> Result<Index<'a>> {
        Ok(Index { table: self.transaction.open_table(INDEX).within(self.path)?, path: self.path })
    }

    /// The entry of a checkpoint, or `None` if there is none.
    pub(crate) fn find(&self, id: &Id) -> Result<Option<Entry>> {
        let ids = self.transaction.open_table(IDS).within(self.path)?;
        let lookup = Lookup { known: &self.open.names, path: self.path, names: &self.names };
        lookup.find(&ids, &self.records, id)
    }

    /// Ids that start with `prefix`: all there are, but no more than `limit`.
    pub(crate) fn starting_with(&self, prefix: &str, limit: usize) -> Result<Vec<Entry>> {
        let ids = self.transaction.open_table(IDS).within(self.path)?;
        let mut found = Vec::new();
        for row in ids.range(prefix..).within(self.path)?.take(limit) {
            let (id, key) = row.within(self.path)?;
            if !id.value().starts_with(prefix) {
                break;
            }
            let key = RecordKey::from_bytes(key.value());
            found.push(self.entry(key)?.ok_or_else(|| lost(id.value()))?);
        }
        let Some((from, to)) = id_times(prefix) else {
            return Ok(found);
        };
        for entry in self.entries(Span::of_times(from, to))? {
            let entry = entry?;
            if found.len() >= limit {
                break;
            }
            if entry.id.as_str().starts_with(prefix) && !found.contains(&entry) {
                found.push(entry);
            }
        }
        Ok(found)
    }

    /// The checkpoint with this entry.
    pub(crate) fn load(&self, entry: Entry) -> Result<Checkpoint> {
        let frames = self.frames()?;
        let raw = self.unpacker(&frames).raw(&entry)?;
        Ok(Checkpoint { entry, raw })
    }

    /// The raw bytes at a sequence, for a document of this length to be compressed against.
    pub(in crate::store) fn base_for(
        &self,
        raw_bytes: usize,
        sequence: u64,
    ) -> Result<Option<Arc<Vec<u8>>>> {
        let frames = self.frames()?;
        let unpacker = self.unpacker(&frames);
        let head = unpacker.head(sequence)?;
        let place = || format!("frame {sequence}");
        let found = FoundFrame::parse(&head).map_err(|reason| Error::corrupt(place(), reason))?;
        let base_bytes = usize::try_from(found.raw_bytes).unwrap_or(usize::MAX);
        if is_too_long(base_bytes, raw_bytes) {
            return Ok(None);
        }
        unpacker.raw_at(sequence, &place).map(Some)
    }

    #[cfg(test)]
    pub(in crate::store) fn frame_bytes(&self, sequence: u64) -> Result<usize> {
        Ok(self.unpacker(&self.frames()?).bytes(sequence)?.len())
    }

    pub(in crate::store) fn has_frame(&self, sequence: u64) -> Result<bool> {
        Ok(self.frames()?.get(frame_row(sequence, 0)).within(self.path)?.is_some())
    }

    /// The way to the newest checkpoint of a series, if there is one.
    pub(in crate::store) fn chain(&self, series: &Series) -> Result<Option<Chain>> {
        let Some(newest) = self.newest(series)? else {
            return Ok(None);
        };
        let frames = self.frames()?;
        let unpacker = self.unpacker(&frames);
        let mut sequence = self.last_dependent(&frames, newest)?;
        let mut steps = Vec::new();
        loop {
            let bytes = unpacker.head(sequence)?;
            let damaged = |reason| Error::corrupt(format!("frame {sequence}"), reason);
            let found = FoundFrame::parse(&bytes).map_err(damaged)?;
            let Some((base, link)) = found.base(sequence).map_err(damaged)?.zip(found.link) else {
                steps.reverse();
                let whole_bytes = unpacker.bytes(sequence)?.len();
                return Ok(Some(Chain::found(sequence, whole_bytes, steps)));
            };
            if steps.len() >= STEPS_MAX {
                return Err(damaged("it is too many steps from a whole one"));
            }
            steps.push((sequence, link.rank));
            sequence = base;
        }
    }

    /// What was saved last of a series.
    fn newest(&self, series: &Series) -> Result<Option<u64>> {
        let Some(name) = self.name(NameKind::Series, series.as_str())? else {
            return Ok(None);
        };
        let index = self.index()?;
        let mut newest: Option<RecordKey> = None;
        for cause in index.causes(name)? {
            let span = Span { order: Order::Newest, ..Span::ALL };
            for key in index.keys((name, cause), span)?.take(DATED_AHEAD_MAX) {
                let key = key?;
                newest = newest.filter(|newest| newest.sequence > key.sequence).or(Some(key));
            }
        }
        let Some(key) = newest else {
            return Ok(None);
        };
        // A row may be damaged and lead elsewhere.
        let entry = self.entry(key)?.filter(|entry| entry.series == *series);
        Ok(entry.map(|entry| entry.sequence))
    }

    /// What was saved last of those that stand on a frame.
    ///
    /// If many are dated ahead of what was saved after them, one of these is found instead of it;
    /// and if all that came since stood on it directly, it would have ever more dependents.
    fn last_dependent(
        &self,
        frames: &impl ReadableTable<FrameBytes, &'static [u8]>,
        mut sequence: u64,
    ) -> Result<u64> {
        for _ in 0..STEPS_MAX {
            let Some(row) = frames.get(dependents_row(sequence)).within(self.path)? else {
                break;
            };
            let dependents = decode_dependents(sequence, row.value()).unwrap_or_default();
            let Some(last) = dependents.iter().map(|key| key.sequence).max() else {
                break;
            };
            sequence = last;
        }
        Ok(sequence)
    }

    fn frames(&self) -> Result<ReadOnlyTable<FrameBytes, &'static [u8]>> {
        self.transaction.open_table(FRAMES).within(self.path)
    }

    fn unpacker<'b, T>(&'b self, table: &'b T) -> Unpacker<'b, T> {
        let Open { bases, frames, document_bytes_max, .. } = self.open;
        Unpacker { bases, frames, path: self.path, table, limit: *document_bytes_max }
    }

    pub(in crate::store) fn decode(&self, key: RecordKey, bytes: &[u8]) -> Result<Entry> {
        Lookup { known: &self.open.names, path: self.path, names: &self.names }.decode(key, bytes)
    }
}

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

    /// The entry of a checkpoint: by the row of its id, else by the time in it.
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
        let Some((from, to)) = id.parts().and_then(|_| id_times(id.as_str())) else {
            return Ok(None);
        };
        let Span { from, to, .. } = Span::of_times(from, to);
        for row in records.range(from.to_bytes()..to.to_bytes()).within(self.path)? {
            let (key, value) = row.within(self.path)?;
            let key = RecordKey::from_bytes(key.value());
            let found = decode_id(key, value.value());
            // Many may have been saved within the same millisecond.
            if found.map_err(|reason| Error::corrupt(key.to_string(), reason))? == *id {
                return self.decode(key, value.value()).map(Some);
            }
        }
        Ok(None)
    }
}

fn lost(id: &str) -> Error {
    Error::corrupt(format!("checkpoint {id}"), "the row of its id does not lead to its entry")
}

// Shorter ones fit more than a month of checkpoints, and would have to look at all of them.
const PREFIX_MIN: usize = 4;

/// Whether `prefix` may be the start of an id that the store made up, but says too little.
pub(crate) fn is_too_short(prefix: &str) -> bool {
    prefix.len() < PREFIX_MIN && prefix.bytes().all(is_hex)
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'a'..=b'f')
}

/// The times that an id starting with `prefix` can have if it is a UUIDv7.
fn id_times(prefix: &str) -> Option<(Timestamp, Timestamp)> {
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

/// Which checkpoints have which name, cause by cause.
pub(crate) struct Index<'a> {
    table: ReadOnlyTable<IndexBytes, ()>,
    path: &'a Path,
}

impl<'a> Index<'a> {
    /// The causes that checkpoints with the name were saved for.
    ///
    /// Looks up one row for each of them, however many checkpoints there are.
    pub(crate) fn causes(&self, name: NameId) -> Result<Vec<NameId>> {
        causes(&self.table, name, self.path)
    }

    /// Keys within a span of checkpoints that have the name and the cause.
    pub(crate) fn keys(
        &self,
        (name, cause): (NameId, NameId),
        span: Span,
    ) -> Result<impl Iterator<Item = Result<RecordKey>> + use<'a>> {
        let rows = index_row(name, cause, span.from)..index_row(name, cause, span.to);
        let rows = self.table.range(rows).within(self.path)?;
        let path = self.path;
        let rows = Directed { rows, order: span.order };
        Ok(rows.map(move |row| Ok(indexed_key(row.within(path)?.0.value()))))
    }
}

/// The causes that checkpoints with a name were saved for, in a read or a write transaction.
pub(in crate::store) fn causes(
    index: &impl ReadableTable<IndexBytes, ()>,
    name: NameId,
    path: &Path,
) -> Result<Vec<NameId>> {
    let mut causes = Vec::new();
    let mut next = Some(0);
    while let Some(cause) = next {
        let from = index_row(name, cause, RecordKey::MIN);
        let to = index_row(name, NameId::MAX, RecordKey::MAX);
        let Some(row) = index.range(from..=to).within(path)?.next() else {
            break;
        };
        let found = indexed_cause(row.within(path)?.0.value());
        // A damaged page may have any order, and this would be without end.
        if found < cause {
            return Err(Error::corrupt("table index", OUT_OF_ORDER));
        }
        causes.push(found);
        next = found.checked_add(1);
    }
    Ok(causes)
}

/// A range read from the end that is asked for.
struct Directed<I> {
    rows: I,
    order: Order,
}

impl<I: DoubleEndedIterator> Iterator for Directed<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        match self.order {
            Order::Newest => self.rows.next_back(),
            Order::Oldest => self.rows.next(),
        }
    }
}
