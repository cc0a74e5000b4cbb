//! The tables of a held store, and their rows in order; unreadable rows are skipped.

use std::path::Path;

use redb::{Key, ReadOnlyTable, ReadTransaction, TableDefinition, TableHandle as _, Value};

use super::tally::{Harm, Verification};
use crate::checkpoint::Entry;
use crate::codec::{Frames, KeyId};
use crate::error::Result;
use crate::key::{
    BlobBytes, DeletedBytes, FrameBytes, HolderBytes, IndexBytes, RecordBytes, RecordKey,
    SourceBytes,
};
use crate::store::chain::bases::Bases;
use crate::store::chain::unpack::Unpacker;
use crate::store::engine::disk::StorePath;
use crate::store::engine::fault::{In, without_panics};
use crate::store::engine::names::Names;
use crate::store::engine::pages::MASTER;
use crate::store::engine::sealing::Sealing;
use crate::store::engine::table::{
    ARTIFACTS, BLOBS, CHILDREN, DELETED, FORMAT_KEY, FRAMES, HOLDERS, IDS, INDEX, KEY_KEY,
    LAG_FORMAT, LAG_KEY, META, NAMES, RECORDS, SOURCES, SOURCES_FORMAT, open_if_made,
};
use crate::store::options::Limits;
use crate::store::transaction::lookup::Lookup;
use crate::store::turn::held::{Held, Source};

// A damaged page leaves a few gaps; searching for more would never end.
const GAPS_MAX: usize = 64;

/// The tables, as one thread reads them.
pub(super) struct Tables<'a> {
    pub(super) place: &'a StorePath,
    pub(super) path: &'a Path,
    pub(super) known: &'a Names,
    pub(super) bases: &'a Bases,
    pub(super) unpacking: &'a Frames,
    /// The key of the store, if it can be read.
    pub(super) sealing: Sealing,
    /// The longest lag that the store notes; the maximum if it cannot be read, so that any lag
    /// passes.
    pub(super) lag_max: u64,
    pub(super) transaction: ReadTransaction,
    pub(super) records: ReadOnlyTable<RecordBytes, &'static [u8]>,
    pub(super) frames: ReadOnlyTable<FrameBytes, &'static [u8]>,
    pub(super) index: ReadOnlyTable<IndexBytes, ()>,
    pub(super) names: ReadOnlyTable<&'static [u8], &'static [u8]>,
    pub(super) ids: ReadOnlyTable<&'static str, RecordBytes>,
    pub(super) children: Option<ReadOnlyTable<(&'static str, RecordBytes), ()>>,
    /// `None` if the format of the store has no such table.
    pub(super) sources: Option<ReadOnlyTable<SourceBytes, ()>>,
    pub(super) deleted: Option<ReadOnlyTable<DeletedBytes, &'static [u8]>>,
    pub(super) artifacts: Option<ReadOnlyTable<FrameBytes, &'static [u8]>>,
    pub(super) holders: Option<ReadOnlyTable<HolderBytes, &'static [u8]>>,
    pub(super) blobs: Option<ReadOnlyTable<BlobBytes, &'static [u8]>>,
}

/// What a thread needs to open the tables.
#[derive(Clone, Copy)]
pub(super) struct Opener<'a> {
    pub(super) place: &'a StorePath,
    pub(super) path: &'a Path,
    pub(super) source: &'a Source,
    pub(super) known: &'a Names,
    pub(super) bases: &'a Bases,
    pub(super) unpacking: &'a Frames,
}

impl<'a> Opener<'a> {
    pub(super) fn of(held: &'a mut Held<'_>) -> Result<Self> {
        held.source()?;
        let Held { place, path, names, bases, frames, .. } = &*held;
        let source = held.opened().expect("it was opened above");
        Ok(Self { place, path, source, known: names, bases, unpacking: frames })
    }

    pub(super) fn open(self) -> Result<Tables<'a>> {
        let Self { place, path, source, known, bases, unpacking } = self;
        without_panics(path, || {
            let transaction = source.begin(path)?;
            Ok(Tables {
                place,
                path,
                known,
                bases,
                unpacking,
                sealing: sealing_of(&transaction, path),
                lag_max: lag_max_of(&transaction, path),
                records: transaction.open_table(RECORDS).within(path)?,
                frames: transaction.open_table(FRAMES).within(path)?,
                index: transaction.open_table(INDEX).within(path)?,
                names: transaction.open_table(NAMES).within(path)?,
                ids: transaction.open_table(IDS).within(path)?,
                children: open_if_made(&transaction, CHILDREN, path)?,
                sources: sources_of(&transaction, path)?,
                deleted: open_if_made(&transaction, DELETED, path)?,
                artifacts: open_if_made(&transaction, ARTIFACTS, path)?,
                holders: open_if_made(&transaction, HOLDERS, path)?,
                blobs: open_if_made(&transaction, BLOBS, path)?,
                transaction,
            })
        })
    }
}

impl Tables<'_> {
    pub(super) fn lookup(&self) -> Lookup<'_, ReadOnlyTable<&'static [u8], &'static [u8]>> {
        Lookup { known: self.known, path: self.path, names: &self.names }
    }

    /// The entry at a key, or `None` if there is none.
    pub(super) fn entry(&self, key: RecordKey) -> Result<Option<Entry>> {
        let row = self.records.get(key.to_bytes()).within(self.path)?;
        row.map(|row| self.lookup().decode(key, row.value())).transpose()
    }

    /// Reads documents of any length that a store can have.
    pub(super) fn unpacker(&self) -> Unpacker<'_, ReadOnlyTable<FrameBytes, &'static [u8]>> {
        let Self { path, bases, unpacking, frames, .. } = self;
        let limit = Limits::DOCUMENT_BYTES_MAX;
        Unpacker { bases, frames: unpacking, path, table: frames, limit }
    }

    /// A table that may be missing.
    pub(super) fn open<K: Key, V: Value>(
        &self,
        definition: TableDefinition<'_, K, V>,
    ) -> Result<Option<ReadOnlyTable<K, V>>> {
        without_panics(self.path, || open_if_made(&self.transaction, definition, self.path))
    }
}

fn sealing_of(transaction: &ReadTransaction, path: &Path) -> Sealing {
    let noted = without_panics(path, || {
        let meta = transaction.open_table(META).within(path)?;
        let key = meta.get(KEY_KEY).within(path)?.map(|id| KeyId::from_number(id.value()));
        Ok(key.into())
    });
    // The reason is reported with the other facts about the store.
    noted.unwrap_or_default()
}

fn sources_of(
    transaction: &ReadTransaction,
    path: &Path,
) -> Result<Option<ReadOnlyTable<SourceBytes, ()>>> {
    let noted = without_panics(path, || {
        let meta = transaction.open_table(META).within(path)?;
        Ok(meta.get(FORMAT_KEY).within(path)?.map_or(0, |format| format.value()))
    });
    if noted.is_ok_and(|format| format < u64::from(SOURCES_FORMAT)) {
        return Ok(None);
    }
    open_if_made(transaction, SOURCES, path)
}

fn lag_max_of(transaction: &ReadTransaction, path: &Path) -> u64 {
    let noted = without_panics(path, || {
        let meta = transaction.open_table(META).within(path)?;
        let format = meta.get(FORMAT_KEY).within(path)?.map_or(0, |format| format.value());
        let lag = meta.get(LAG_KEY).within(path)?.map_or(0, |lag| lag.value());
        Ok(if format >= u64::from(LAG_FORMAT) { lag } else { 0 })
    });
    noted.unwrap_or(u64::MAX)
}

/// The harm of losing a page of a table.
pub(super) fn harm_to(table: &str) -> Harm {
    let read = [
        MASTER,
        META.name(),
        RECORDS.name(),
        FRAMES.name(),
        NAMES.name(),
        DELETED.name(),
        ARTIFACTS.name(),
        BLOBS.name(),
    ];
    let followed = [INDEX.name(), IDS.name(), CHILDREN.name(), SOURCES.name(), HOLDERS.name()];
    match table {
        table if read.contains(&table) => Harm::Reading,
        table if followed.contains(&table) => Harm::Listing,
        _ => Harm::Upkeep,
    }
}

/// Calls `take` with the rows after a key, until it has enough.
///
/// Reports rows that cannot be read, and goes on after them.
pub(super) fn each_after<const N: usize, V: Value>(
    table: &ReadOnlyTable<[u8; N], V>,
    (name, path): (&str, &Path),
    after: Option<[u8; N]>,
    found: &mut Verification,
    mut take: impl FnMut([u8; N], V::SelfType<'_>) -> bool,
) {
    let mut from = match after.map(|after| next(after, 0)) {
        None => [0; N],
        Some(Some(from)) => from,
        Some(None) => return,
    };
    for _ in 0..GAPS_MAX {
        let read = without_panics(path, || {
            for row in table.range(from..).within(path)? {
                let (key, value) = row.within(path)?;
                let key = key.value();
                // A damaged page may have any order.
                if key >= from {
                    let goes_on = take(key, value.value());
                    let Some(behind) = next(key, 0).filter(|_| goes_on) else { return Ok(()) };
                    from = behind;
                }
            }
            Ok(())
        });
        let Err(error) = read else { return };
        found.find(harm_to(name), format!("table {name}"), format!("rows are lost: {error}"));
        match readable_after(table, from, path) {
            Some(readable) => from = readable,
            None => return,
        }
    }
}

/// The first key from which rows can be read again, as far as bisecting finds it.
fn readable_after<const N: usize, V: Value>(
    table: &ReadOnlyTable<[u8; N], V>,
    from: [u8; N],
    path: &Path,
) -> Option<[u8; N]> {
    let is_readable = |key: [u8; N]| {
        let first = without_panics(path, || {
            let first = table.range(key..).within(path)?.next().transpose().within(path)?;
            // The engine reads a value only when it is asked for.
            Ok(first.is_some_and(|(found, value)| {
                let _ = value.value();
                found.value() >= key
            }))
        });
        first.unwrap_or(false)
    };
    let power = (0..8 * N).find(|power| next(from, *power).is_some_and(is_readable))?;
    let mut best = next(from, power)?;
    // The gap below is at most as long as the step that succeeded.
    let mut base = if power == 0 { from } else { next(from, power - 1)? };
    for smaller in (0..power.saturating_sub(1)).rev() {
        let middle = next(base, smaller)?;
        if middle < best && is_readable(middle) {
            best = middle;
        } else {
            base = middle;
        }
    }
    Some(best)
}

/// The key with two to the power of `power` added to it as a number, if there is one.
fn next<const N: usize>(mut key: [u8; N], power: usize) -> Option<[u8; N]> {
    let mut carry = 1_u16 << (power % 8);
    for byte in key[..N.checked_sub(power / 8)?].iter_mut().rev() {
        let sum = u16::from(*byte) + carry;
        *byte = u8::try_from(sum & 0xff).ok()?;
        carry = sum >> 8;
        if carry == 0 {
            return Some(key);
        }
    }
    None
}
